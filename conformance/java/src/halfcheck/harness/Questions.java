package halfcheck.harness;

import halfcheck.agent.VirtualTime;
import io.netty.channel.Channel;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Constructor;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.broker.client.ClientChannelInfo;
import org.apache.rocketmq.broker.client.ProducerManager;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.remoting.RemotingClient;
import org.apache.rocketmq.store.TransientStorePool;
import org.apache.rocketmq.store.config.MessageStoreConfig;

/** Questions about single classes, a broker's or a client's, each with an answer in words. */
final class Questions {
    private static final String GROUP = "producers";
    private static final int WATCHED_MS = 1_000;
    private static final int STEP_MS = 10;
    private static final int POOL_BYTES = 4096;
    private static final int MESSAGE_BYTES = 100;

    private final BrokerProcess process;

    Questions(BrokerProcess process) {
        this.process = process;
    }

    String answer(String question, Map<String, String> with) throws Exception {
        switch (question) {
            case "ask whether a thread spins":
                return spins(with.get("of"), with.get("service"));
            case "ask a client's half":
                return half(with);
            case "ask a client whose listener says null":
                return answersToACheck();
            case "ask for a client's channel":
                return channel();
            case "ask how many puts were counted":
                return putsCounted(with.get("topic"));
            case "ask for bytes in the transient pool":
                return inTransientPool(with.get("folder"));
            case "creep":
                VirtualTime.creep(Long.parseLong(with.get("ms")));
                return "";
            default:
                throw new IllegalArgumentException("no such question");
        }
    }

    /** What BrokerStatsManager has counted for a topic. */
    private String putsCounted(String topic) {
        Object item = Reflection.call(process.broker.getBrokerStatsManager(), "getStatsItem", "TOPIC_PUT_NUMS", topic);
        if (item == null) {
            return "0";
        }
        return ((Number) Reflection.get(item, "value")).toString();
    }

    /** A file of the log whose writes go to a buffer of the pool: whether they can be read before and after the commit. */
    private static String inTransientPool(String folder) throws Exception {
        MessageStoreConfig config = new MessageStoreConfig();
        Object pool = null;
        for (Constructor<?> made : TransientStorePool.class.getConstructors()) {
            pool = made.getParameterCount() == 1 ? made.newInstance(config) : made.newInstance(1, POOL_BYTES);
        }
        @SuppressWarnings("unchecked")
        Collection<ByteBuffer> buffers = (Collection<ByteBuffer>) Reflection.get(pool, "availableBuffers");
        buffers.add(ByteBuffer.allocate(POOL_BYTES));
        Object file = null;
        for (Constructor<?> made : mappedFile().getConstructors()) {
            List<Class<?>> given = List.of(made.getParameterTypes());
            if (given.contains(TransientStorePool.class)) {
                Map<Class<?>, Object> known = Map.of(String.class, folder + "/00000000000000000000", int.class, POOL_BYTES,
                    TransientStorePool.class, pool, boolean.class, false);
                file = made.newInstance(given.stream().map(known::get).toArray());
                break;
            }
        }
        Reflection.call(file, "setWrotePosition", MESSAGE_BYTES);
        String before = read(file);
        Reflection.call(file, "commit", 0);
        return before + ", then " + read(file);
    }

    private static String read(Object file) {
        return Reflection.call(file, "selectMappedBuffer", 0, MESSAGE_BYTES) == null ? "nothing" : "found";
    }

    /** An interface from 5.0 on, with one class that implements it. */
    private static Class<?> mappedFile() throws ClassNotFoundException {
        try {
            return Class.forName("org.apache.rocketmq.store.logfile.DefaultMappedFile");
        } catch (ClassNotFoundException error) {
            return Class.forName("org.apache.rocketmq.store.MappedFile");
        }
    }

    /** Lets a service run on a thread of its own while time passes as it does, and looks at how busy a core is with it. */
    private String spins(String of, String name) throws Exception {
        Object service = Reflection.get(of.equals("broker") ? process.broker : process.transactions, name);
        Thread thread = new Thread((Runnable) service);
        thread.setDaemon(true);
        thread.start();
        for (int ms = 0; ms < WATCHED_MS; ms += STEP_MS) {
            Thread.sleep(STEP_MS);
            VirtualTime.advance(STEP_MS);
        }
        long busyNs = ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.getId());
        Reflection.set(service, "stopped", true);
        Reflection.call(service, "wakeup");
        thread.join();
        return TimeUnit.NANOSECONDS.toMillis(busyNs) > WATCHED_MS / 10 ? "spins" : "waits";
    }

    /** A producer sends a half with a property; it is not started, so that the message goes no further than the client. */
    private static String half(Map<String, String> with) {
        TransactionMQProducer producer = producer(with.get("namespace"), LocalTransactionState.UNKNOW);
        Message message = new Message("Orders", "body".getBytes());
        if (with.containsKey("delayLevel")) {
            message.setDelayTimeLevel(Integer.parseInt(with.get("delayLevel")));
        }
        String told = "";
        try {
            producer.sendMessageInTransaction(message, null);
        } catch (Exception error) {
            told = error.toString().split("\\R")[0];
        }
        return message.getTopic() + " " + message.getDelayTimeLevel() + " " + told.replace('|', ' ');
    }

    private static TransactionMQProducer producer(String namespace, LocalTransactionState says) {
        TransactionMQProducer producer = new TransactionMQProducer(GROUP);
        if (namespace != null) {
            Reflection.configure(producer, "namespace", namespace);
        }
        producer.setTransactionListener(new TransactionListener() {
            @Override
            public LocalTransactionState executeLocalTransaction(Message message, Object argument) {
                return says;
            }

            @Override
            public LocalTransactionState checkLocalTransaction(MessageExt message) {
                return says;
            }
        });
        return producer;
    }

    /** A check reaches a client whose listener decides nothing: how many answers it sends, and how many if it says UNKNOW. */
    private static String answersToACheck() throws Exception {
        return sent(null) + " " + sent(LocalTransactionState.UNKNOW);
    }

    private static int sent(LocalTransactionState says) throws Exception {
        int[] sent = {0};
        TransactionMQProducer producer = producer(null, says);
        Object client = Reflection.get(producer, "defaultMQProducerImpl");
        MQClientInstance instance = null;
        for (Constructor<?> made : MQClientInstance.class.getConstructors()) {
            if (made.getParameterCount() == 3) {
                instance = (MQClientInstance) made.newInstance(new ClientConfig(), 0, "client");
            }
        }
        Reflection.set(instance.getMQClientAPIImpl(), "remotingClient", Proxy.newProxyInstance(
            Questions.class.getClassLoader(), new Class<?>[] {RemotingClient.class}, (proxy, method, arguments) -> {
                sent[0] += method.getName().equals("invokeOneway") ? 1 : 0;
                return null;
            }));
        Reflection.set(client, "mQClientFactory", instance);
        ExecutorService executor = Executors.newSingleThreadExecutor();
        Reflection.set(client, "checkExecutor", executor);
        MessageExt message = new MessageExt();
        message.setTopic("Orders");
        message.putUserProperty("UNIQ_KEY_", "K0");
        Object header = headerOfACheck();
        Reflection.call(client, "checkTransactionState", "127.0.0.1:10911", message, header);
        executor.shutdown();
        executor.awaitTermination(5, TimeUnit.SECONDS);
        return sent[0];
    }

    /** Its class is in another package from 5.1 on. */
    private static Object headerOfACheck() throws ReflectiveOperationException {
        String name = "protocol.header.CheckTransactionStateRequestHeader";
        Class<?> found;
        try {
            found = Class.forName("org.apache.rocketmq.remoting." + name);
        } catch (ClassNotFoundException error) {
            found = Class.forName("org.apache.rocketmq.common." + name);
        }
        Object header = found.getConstructor().newInstance();
        Reflection.call(header, "setCommitLogOffset", 0L);
        Reflection.call(header, "setTranStateTableOffset", 0L);
        return header;
    }

    /** A client connects anew before its old connection has expired: whether it is found by its id when that is scanned. */
    private String channel() {
        ProducerManager manager = process.broker.getProducerManager();
        Producers producers = new Producers();
        Channel[] channels = {producers.connection("127.0.0.1:5001"), producers.connection("127.0.0.1:5002")};
        manager.registerProducer("another", new ClientChannelInfo(channels[0], "client", null, 1));
        VirtualTime.advance(TimeUnit.MINUTES.toMillis(3));
        manager.registerProducer("another", new ClientChannelInfo(channels[1], "client", null, 1));
        manager.scanNotActiveChannel();
        return Reflection.call(manager, "findChannel", "client") == channels[1] ? "found" : "not found";
    }
}
