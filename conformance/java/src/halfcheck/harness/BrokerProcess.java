package halfcheck.harness;

import static halfcheck.harness.Reflection.configure;

import halfcheck.agent.Activity;
import halfcheck.agent.VirtualTime;
import io.netty.channel.EventLoopGroup;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.MixAll;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.remoting.RemotingServer;
import org.apache.rocketmq.remoting.netty.NettyClientConfig;
import org.apache.rocketmq.remoting.netty.NettyServerConfig;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.config.BrokerRole;
import org.apache.rocketmq.store.config.FlushDiskType;
import org.apache.rocketmq.store.config.MessageStoreConfig;

/** One process of a broker: RocketMQ's own objects on a store, none of whose threads run. */
final class BrokerProcess {
    static final String HALF_TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC";
    static final String OP_TOPIC = "RMQ_SYS_TRANS_OP_HALF_TOPIC";
    static final String DISCARD_TOPIC = "TRANS_CHECK_MAX_TIME_TOPIC";
    static final String CHECK_GROUP = "CID_RMQ_SYS_TRANS";

    private static final long ACTING_ID = 1;
    private static final int ALL_OF_THEM = 3;
    private static final int BLANK_MAGIC = -875286124;
    /** Bytes; a broker has buffers as long as that. */
    private static final int MAX_MESSAGE_SIZE = 1 << 17;

    final BrokerController broker;
    final DefaultMessageStore store;
    final Object checkService;
    final Object transactions;
    /** The check requests that were sent since they were last taken. */
    final List<String> checkRequests = new ArrayList<>();
    /** END_TRANSACTIONs of which the real message is stored, by the number that the order gave them. */
    final Map<String, Ending> ends = new TreeMap<>();
    final MissedReads reads;
    /** The thread of TransactionalMessageCheckService, which waits or is in a round. */
    Activity checks;
    /** The pool that the release has made for sending checks: up to 5.3 one for all brokers of a process. */
    static ThreadPoolExecutor checkPoolOfRelease;

    private final Object dispatcher;
    private final EventLoopGroup clientThreads;
    private final Producers producers;
    private final Activity opBatches;
    private Activity shutdown;
    private boolean hasShutDown;
    private boolean isDead;

    /** Opens a broker on what is in a folder; as a slave that acts for its master, if it is told to. */
    BrokerProcess(File folder, Map<String, String> settings, boolean isActing, Producers producers) {
        this.producers = producers;
        BrokerConfig brokerConfig = new BrokerConfig();
        configure(brokerConfig, "brokerIP1", "127.0.0.1");
        configure(brokerConfig, "brokerName", "broker-a");
        configure(brokerConfig, "brokerClusterName", "DefaultCluster");
        configure(brokerConfig, "brokerId", isActing ? ACTING_ID : MixAll.MASTER_ID);
        configure(brokerConfig, "enableSlaveActingMaster", isActing);
        configure(brokerConfig, "enableRemoteEscape", isActing);
        configure(brokerConfig, "skipPreOnline", true);
        configure(brokerConfig, "asyncSendEnable", false);
        configure(brokerConfig, "enableDetailStat", false);
        configure(brokerConfig, "transactionCheckInterval", Long.parseLong(settings.get("checkInterval")));
        configure(brokerConfig, "transactionTimeOut", Long.parseLong(settings.get("timeout")));
        configure(brokerConfig, "transactionCheckMax", Integer.parseInt(settings.get("checkMax")));
        configure(brokerConfig, "transactionOpBatchInterval", Integer.parseInt(settings.get("batchInterval")));
        configure(brokerConfig, "transactionOpMsgMaxSize", Integer.parseInt(settings.get("batchSize")));
        MessageStoreConfig storeConfig = new MessageStoreConfig();
        configure(storeConfig, "storePathRootDir", folder.getPath());
        configure(storeConfig, "storePathCommitLog", new File(folder, "commitlog").getPath());
        for (String spelling : List.of("mappedFileSize", "mapedFileSize")) {
            configure(storeConfig, spelling + "CommitLog", Integer.parseInt(settings.get("logFile")));
            configure(storeConfig, spelling + "ConsumeQueue", Integer.parseInt(settings.get("queueFile")));
        }
        configure(storeConfig, "fileReservedTime", Integer.parseInt(settings.get("reservedTime")));
        configure(storeConfig, "maxMessageSize", MAX_MESSAGE_SIZE);
        configure(storeConfig, "maxHashSlotNum", 100);
        configure(storeConfig, "maxIndexNum", 400);
        configure(storeConfig, "messageIndexEnable", false);
        storeConfig.setBrokerRole(isActing ? BrokerRole.SLAVE : BrokerRole.ASYNC_MASTER);
        storeConfig.setFlushDiskType(FlushDiskType.ASYNC_FLUSH);
        configure(storeConfig, "osPageCacheBusyTimeOutMills", Long.MAX_VALUE);
        configure(storeConfig, "timerWheelEnable", settings.containsKey("hasTimers"));
        configure(storeConfig, "enableLmq", settings.containsKey("hasLightQueues"));
        configure(storeConfig, "enableMultiDispatch", settings.containsKey("hasLightQueues"));
        configure(storeConfig, "enableCompaction", false);
        NettyServerConfig serverConfig = new NettyServerConfig();
        serverConfig.setListenPort(10911);
        broker = new BrokerController(brokerConfig, serverConfig, new NettyClientConfig(), storeConfig);
        Object client = Reflection.get(broker.getBrokerOuterAPI(), "remotingClient");
        clientThreads = (EventLoopGroup) Reflection.get(client, "eventLoopGroupWorker");
        if (isActing) {
            Reflection.set(broker, "minBrokerIdInGroup", ACTING_ID);
        }
        loadTables();
        for (String topic : List.of(HALF_TOPIC, settings.get("topic"))) {
            broker.getTopicConfigManager().getTopicConfigTable().putIfAbsent(topic, new TopicConfig(topic, 1, 1, 6));
        }
        store = makeStore(storeConfig, brokerConfig);
        if (Reflection.hasMethod(broker, "registerMessageStoreHook", 0)) {
            Reflection.call(broker, "registerMessageStoreHook");
        }
        // No other thread makes files beforehand.
        Reflection.set(logFiles(), "allocateMappedFileService", null);
        if (!store.load()) {
            throw new IllegalStateException("the store can't be loaded");
        }
        if (Reflection.hasField(broker, "scheduleMessageService")) {
            Reflection.call(Reflection.get(broker, "scheduleMessageService"), "load");
        }
        if (settings.containsKey("hasTimers") && Reflection.hasMethod(broker, "getTimerMessageStore", 0)) {
            makeTimers(storeConfig);
        }
        dispatcher = Reflection.get(store, "reputMessageService");
        if (Reflection.hasField(broker, "brokerMetricsManager")) {
            Reflection.set(broker, "brokerMetricsManager", made("org.apache.rocketmq.broker.metrics.BrokerMetricsManager"));
        }
        VirtualTime.whileOutsideSleeps(this::dispatch);
        Reflection.call(store, "start");
        dispatch();
        Reflection.call(broker, "initialTransaction");
        transactions = broker.getTransactionalMessageService();
        checkService = Reflection.get(broker, "transactionalMessageCheckService");
        runChecksInTheCallersThread();
        takeCheckRequests();
        startChecks();
        opBatches = Reflection.hasField(transactions, "transactionalOpBatchService")
            ? begun(Reflection.get(transactions, "transactionalOpBatchService")) : null;
        Object bridge = Reflection.get(transactions, "transactionalMessageBridge");
        reads = new MissedReads(store);
        Reflection.set(bridge, "store", reads.store());
    }

    private static Activity begun(Object service) {
        return VirtualTime.activityOf((Thread) Reflection.get(service, "thread"));
    }

    private void startChecks() {
        Reflection.call(checkService, "start");
        checks = begun(checkService);
    }

    /** The tables of topics, offsets and groups, as BrokerController#initialize loads them. */
    private void loadTables() {
        if (Reflection.hasMethod(broker, "initializeMetadata", 0)) {
            Reflection.call(broker, "initializeMetadata");
            return;
        }
        for (String table : List.of("topicConfigManager", "consumerOffsetManager", "subscriptionGroupManager")) {
            Reflection.call(Reflection.get(broker, table), "load");
        }
    }

    /** The store, as BrokerController#initialize makes it. */
    private DefaultMessageStore makeStore(MessageStoreConfig storeConfig, BrokerConfig brokerConfig) {
        if (Reflection.hasMethod(broker, "initializeMessageStore", 0)) {
            Reflection.call(broker, "initializeMessageStore");
        } else {
            try {
                Reflection.set(broker, "messageStore", DefaultMessageStore.class.getConstructors()[0].newInstance(
                    storeConfig, broker.getBrokerStatsManager(), Reflection.get(broker, "messageArrivingListener"),
                    brokerConfig));
            } catch (ReflectiveOperationException error) {
                throw new IllegalStateException(error);
            }
        }
        return (DefaultMessageStore) broker.getMessageStore();
    }

    /** The store of timers, as BrokerController#initialize makes it up to 5.1, and initializeMessageStore later. */
    private void makeTimers(MessageStoreConfig storeConfig) {
        if (Reflection.call(broker, "getTimerMessageStore") != null) {
            return;
        }
        String in = "org.apache.rocketmq.store.timer.";
        try {
            Object checkpoint = Class.forName(in + "TimerCheckpoint").getConstructor(String.class)
                .newInstance(storeConfig.getStorePathRootDir() + "/config/timercheck");
            Object metrics = Class.forName(in + "TimerMetrics").getConstructor(String.class)
                .newInstance(storeConfig.getStorePathRootDir() + "/config/timermetrics");
            Reflection.set(broker, "timerMessageStore", Class.forName(in + "TimerMessageStore").getConstructors()[0]
                .newInstance(store, storeConfig, checkpoint, metrics, broker.getBrokerStatsManager()));
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    private Object made(String className) {
        try {
            return Class.forName(className).getConstructor(BrokerController.class).newInstance(broker);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    /** AbstractTransactionalMessageCheckListener sends requests by threads of a pool; here the round sends them. */
    private void runChecksInTheCallersThread() {
        Object listener = broker.getTransactionalMessageCheckListener();
        if (Reflection.get(listener, "executorService") instanceof ThreadPoolExecutor) {
            checkPoolOfRelease = (ThreadPoolExecutor) Reflection.get(listener, "executorService");
        }
        Reflection.set(listener, "executorService", new CallersThread());
    }

    /** What Broker2Client would send to a producer is kept. */
    private void takeCheckRequests() {
        Object server = Proxy.newProxyInstance(
            BrokerProcess.class.getClassLoader(), new Class<?>[] {RemotingServer.class}, (proxy, method, arguments) -> {
                if (method.getName().equals("invokeOneway")) {
                    checkRequests.add(inWords((RemotingCommand) arguments[1]));
                } else if (method.getName().equals("shutdown")) {
                    producers.leave(broker.getProducerManager());
                }
                return null;
            });
        if (Reflection.hasMethod(broker, "setRemotingServer", 1)) {
            Reflection.call(broker, "setRemotingServer", server);
        } else {
            Reflection.set(broker, "remotingServer", server);
        }
    }

    private static String inWords(RemotingCommand request) {
        Object header = request.readCustomHeader();
        return Reflection.get(header, "tranStateTableOffset") + "@" + Reflection.get(header, "commitLogOffset") + "="
            + Reflection.get(header, "transactionId");
    }

    /** Enters each record into its queue that is still missing there. */
    void dispatch() {
        Reflection.call(dispatcher, "doReput");
    }

    Object logFiles() {
        return Reflection.get(store.getCommitLog(), "mappedFileQueue");
    }

    /** A part of the broker, up to 4.x of its store. */
    Object owner(String part) {
        return Reflection.get(Reflection.hasField(broker, part) ? broker : store, part);
    }

    /** A service for queues, of the store up to 5.3, of its queue store later. */
    private Object queueService(String name) {
        return Reflection.get(Reflection.hasField(store, name) ? store : queueStore(), name);
    }

    private Object queueStore() {
        return Reflection.hasField(store, "consumeQueueStore") ? Reflection.get(store, "consumeQueueStore") : store;
    }

    Collection<Object> consumeQueues() {
        Object in = queueStore();
        List<Object> found = new ArrayList<>();
        for (Object queues : ((Map<?, ?>) Reflection.get(in, "consumeQueueTable")).values()) {
            found.addAll(((Map<?, ?>) queues).values());
        }
        return found;
    }

    /** Flushes log and queues. */
    void flush() {
        Reflection.call(logFiles(), "flush", 0);
        long stored = (Long) Reflection.get(logFiles(), "storeTimestamp");
        if (stored > 0) {
            Reflection.call(store.getStoreCheckpoint(), "setPhysicMsgTimestamp", stored);
        }
        Reflection.call(queueService("flushConsumeQueueService"), "doFlush", ALL_OF_THEM);
    }

    /** Goes on in a new file of the log: what is left of the last becomes an end-of-file record. */
    void roll() {
        Object last = Reflection.call(logFiles(), "getLastMappedFile");
        int wrote = last == null ? 0 : (Integer) Reflection.call(last, "getWrotePosition");
        if (wrote == 0) {
            return;
        }
        int left = (Integer) Reflection.call(last, "getFileSize") - wrote;
        if (left > 0) {
            ByteBuffer blank = ByteBuffer.wrap(messageMemory());
            blank.putInt(left).putInt(BLANK_MAGIC).rewind().limit(Math.min(left, blank.capacity()));
            ByteBuffer bytes = ((ByteBuffer) Reflection.get(last, "mappedByteBuffer")).duplicate();
            bytes.position(wrote);
            bytes.put(blank);
            Reflection.call(last, "setWrotePosition", wrote + left);
        }
        Reflection.call(logFiles(), "getLastMappedFile", 0L, true);
    }

    /** The memory in which the log builds an end-of-file record; where it builds messages there, too, it is longer. */
    private byte[] messageMemory() {
        Object callback = Reflection.get(store.getCommitLog(), "appendMessageCallback");
        return ((ByteBuffer) Reflection.get(callback, "msgStoreItemMemory")).array();
    }

    /** Lets the files of the log expire that end at a place or before. */
    void deleteFilesBefore(long end) {
        List<?> files = (List<?>) Reflection.call(logFiles(), "getMappedFiles");
        int expired = 0;
        for (Object file : files) {
            long fileEnd = (Long) Reflection.call(file, "getFileFromOffset") + (Integer) Reflection.call(file, "getFileSize");
            File onDisk = new File((String) Reflection.call(file, "getFileName"));
            expired += fileEnd <= end ? 1 : 0;
            if (!onDisk.setLastModified(fileEnd <= end ? 0 : Long.MAX_VALUE / 2)) {
                throw new IllegalStateException(onDisk + " takes no time");
            }
        }
        for (int i = 0; i < expired; i++) {
            store.getCommitLog().deleteExpiredFile(0, 0, 0, false);
        }
    }

    /** Lets the queues follow what the log has lost. */
    void moveLowerEnds() {
        Reflection.call(queueService("cleanConsumeQueueService"), "run");
    }

    /** The process is gone: nothing is flushed or saved, and the page cache stays. */
    void die() {
        if (isDead) {
            return;
        }
        isDead = true;
        for (Activity each : Arrays.asList(checks, opBatches, shutdown)) {
            if (each != null) {
                each.kill();
            }
        }
        ends.values().forEach(Ending::kill);
        unmap(logFiles());
        for (Object queue : consumeQueues()) {
            unmap(Reflection.get(queue, "mappedFileQueue"));
        }
        if (!hasShutDown) {
            close(Reflection.get(store, "lockFile"));
            Object checkpoint = store.getStoreCheckpoint();
            Memory.unmap((ByteBuffer) Reflection.get(checkpoint, "mappedByteBuffer"));
            close(Reflection.get(checkpoint, "randomAccessFile"));
        }
        // The selectors of what has never been started are open.
        Object replication = store.getHaService();
        Object replicationClient = replication == null ? null : Reflection.get(replication, "haClient");
        if (replicationClient != null) {
            close(Reflection.get(replicationClient, "selector"));
        }
        clientThreads.shutdownGracefully(0, 0, TimeUnit.MILLISECONDS);
    }

    private static void unmap(Object files) {
        for (Object file : (List<?>) Reflection.call(files, "getMappedFiles")) {
            Memory.unmap((ByteBuffer) Reflection.get(file, "mappedByteBuffer"));
            close(Reflection.get(file, "fileChannel"));
        }
    }

    private static void close(Object resource) {
        try {
            ((Closeable) resource).close();
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
    }

    /**
     * Takes a role. A slave's check thread is gone, behind the round that it is in; that ServiceThread#shutdown wakes
     * one that waits, for a last round, is left out.
     */
    void become(BrokerRole role) {
        store.getMessageStoreConfig().setBrokerRole(role);
        if (isInRound()) {
            Reflection.set(checkService, "stopped", role == BrokerRole.SLAVE);
            return;
        }
        checks.kill();
        if (role != BrokerRole.SLAVE) {
            if (Reflection.hasField(checkService, "started")) {
                ((AtomicBoolean) Reflection.get(checkService, "started")).set(false);
            }
            startChecks();
        }
    }

    /** What TransactionalOpBatchService does when its interval is over, unless its thread has ended. */
    void writeOpBatches() {
        if (!opBatches.isOver()) {
            Reflection.call(transactions, "batchSendOpMessage");
        }
    }

    /** BrokerController#shutdown, up to where it waits for the last check round, or else closes the store. */
    void beginShutdown() {
        shutdown = new Activity(broker::shutdown);
        shutdown.go();
        while (!shutdown.at().equals(Activity.STORE_CLOSES) && !(shutdown.joined() == checks && isInRound())) {
            goOnWithShutdown();
            requireNothingThrown();
        }
    }

    /** The rest of it. Where the store is closed, a round that still runs has come to its end. */
    void endShutdown() {
        while (!shutdown.isOver()) {
            if (shutdown.joined() == checks && !isClosing()) {
                shutdown.go();
            } else {
                goOnWithShutdown();
            }
        }
        requireNothingThrown();
        hasShutDown = true;
    }

    private void requireNothingThrown() {
        if (shutdown.thrown() != null) {
            throw new IllegalStateException(shutdown.thrown());
        }
    }

    private void goOnWithShutdown() {
        if (shutdown.joined() != null && !shutdown.joined().isOver()) {
            shutdown.joined().go();
            return;
        }
        if (isClosing()) {
            dispatch();
        }
        shutdown.go();
    }

    private boolean isClosing() {
        return (Boolean) Reflection.get(store, "shutdown");
    }

    boolean isInRound() {
        return !checks.isOver() && !checks.at().equals(Activity.WAITING);
    }

    /** An executor that does at once what it is given, until it is shut down; then it drops it. */
    private static final class CallersThread extends AbstractExecutorService {
        private boolean isShutdown;

        @Override
        public void execute(Runnable work) {
            if (!isShutdown) {
                work.run();
            }
        }

        @Override
        public void shutdown() {
            isShutdown = true;
        }

        @Override
        public List<Runnable> shutdownNow() {
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return isShutdown;
        }

        @Override
        public boolean isTerminated() {
            return isShutdown;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return true;
        }
    }
}
