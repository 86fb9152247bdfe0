package halfcheck.harness;

import java.lang.reflect.Constructor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.rocketmq.broker.processor.AdminBrokerProcessor;
import org.apache.rocketmq.broker.processor.ConsumerManageProcessor;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/** What operators, clients and other threads than the check service do, which defects take: an order each. */
final class Operations {
    private static final int UPDATE_CONSUMER_OFFSET = 15;
    private static final int DELETE_TOPIC = 215;
    private static final int READ_AND_WRITE = 6;

    private final BrokerProcess process;
    private final Producers producers;

    Operations(BrokerProcess process, Producers producers) {
        this.process = process;
        this.producers = producers;
    }

    String carryOut(String order, Map<String, String> with) throws Exception {
        switch (order) {
            case "set consumer offset":
                return updateConsumerOffset(with);
            case "delete topic":
                return deleteTopic(with.get("topic"));
            case "update topic":
                int queues = Integer.parseInt(with.get("queues"));
                process.broker.getTopicConfigManager().updateTopicConfig(
                    new TopicConfig(with.get("topic"), queues, queues, READ_AND_WRITE));
                return "";
            case "map topic":
                mapTopic(with.get("topic"), Long.parseLong(with.get("beginsAt")));
                return "";
            case "set channel":
                producers.connection(with.get("client")).become(
                    Boolean.parseBoolean(with.get("isActive")), Boolean.parseBoolean(with.get("isWritable")));
                return "";
            case "stall checks":
                stallChecks(Integer.parseInt(with.get("room")));
                return "";
            case "drop stalled checks":
                ((StalledPool) checkPool()).waiting = 0;
                return "";
            case "deliver delayed":
                deliverDelayed();
                return "";
            case "deliver timers":
                return deliverTimers(with.get("places").split(","), with.get("enqueued").split(","));
            case "count of halves":
                Object metrics = Reflection.call(process.transactions, "getTransactionMetrics");
                return Reflection.call(metrics, "getTransactionCount", with.get("topic")).toString();
            case "end of queue":
                return Reflection.call(process.store, "getMaxOffsetInQueue", with.get("topic"), 0).toString();
            default:
                throw new IllegalArgumentException("no such order");
        }
    }

    private String updateConsumerOffset(Map<String, String> with) throws Exception {
        RemotingCommand request = request(UPDATE_CONSUMER_OFFSET);
        request.addExtField("consumerGroup", BrokerProcess.CHECK_GROUP);
        request.addExtField("topic", with.get("topic"));
        request.addExtField("queueId", "0");
        request.addExtField("commitOffset", with.get("offset"));
        return code(new ConsumerManageProcessor(process.broker).processRequest(anybody().context(), request));
    }

    private String deleteTopic(String topic) throws Exception {
        RemotingCommand request = request(DELETE_TOPIC);
        request.addExtField("topic", topic);
        return code(new AdminBrokerProcessor(process.broker).processRequest(anybody().context(), request));
    }

    private Producers.Connection anybody() {
        return new Producers().connection("127.0.0.1:4243");
    }

    private static RemotingCommand request(int code) {
        RemotingCommand request = RemotingCommand.createRequestCommand(code, null);
        request.setExtFields(new HashMap<>());
        return request;
    }

    private static String code(RemotingCommand answer) {
        return Integer.toString(answer.getCode());
    }

    /** A static topic of one queue, whose part on this broker begins at a logic offset. */
    private void mapTopic(String topic, long beginsAt) throws ReflectiveOperationException {
        Object mappings = Reflection.call(process.broker, "getTopicQueueMappingManager");
        String brokerName = process.broker.getBrokerConfig().getBrokerName();
        Object item = null;
        for (Constructor<?> made : statically("LogicQueueMappingItem").getConstructors()) {
            if (made.getParameterCount() == 8) {
                item = made.newInstance(0, 0, brokerName, beginsAt, 0L, -1L, -1L, -1L);
            }
        }
        Object detail = statically("TopicQueueMappingDetail")
            .getConstructor(String.class, int.class, String.class, long.class).newInstance(topic, 1, brokerName, 1L);
        @SuppressWarnings("unchecked")
        Map<Object, Object> hosted = (Map<Object, Object>) Reflection.get(detail, "hostedQueues");
        hosted.put(0, List.of(item));
        @SuppressWarnings("unchecked")
        Map<Object, Object> table = (Map<Object, Object>) Reflection.get(mappings, "topicQueueMappingTable");
        table.put(topic, detail);
    }

    /** A class of static topics: from 5.1 on in another package than before. */
    private static Class<?> statically(String name) throws ClassNotFoundException {
        for (String in : List.of("org.apache.rocketmq.remoting.protocol.statictopic.", "org.apache.rocketmq.common.statictopic.")) {
            try {
                return Class.forName(in + name);
            } catch (ClassNotFoundException error) {
                // It is in the other one.
            }
        }
        throw new ClassNotFoundException(name);
    }

    private Object checkPool() {
        return Reflection.get(process.broker.getTransactionalMessageCheckListener(), "executorService");
    }

    private void stallChecks(int room) {
        Reflection.set(process.broker.getTransactionalMessageCheckListener(), "executorService",
            new StalledPool(room, BrokerProcess.checkPoolOfRelease));
    }

    /** What DeliverDelayedMessageTimerTask does, for each level once. */
    private void deliverDelayed() throws Exception {
        Object service = process.owner("scheduleMessageService");
        Map<?, ?> levels = (Map<?, ?>) Reflection.get(service, "delayLevelTable");
        ((AtomicBoolean) Reflection.get(service, "started")).set(true);
        Map<?, ?> offsets = (Map<?, ?>) Reflection.get(service, "offsetTable");
        for (Object level : new TreeMap<>(levels).keySet()) {
            Class<?> task = Class.forName(service.getClass().getName() + "$DeliverDelayedMessageTimerTask");
            Constructor<?> made = task.getDeclaredConstructor(service.getClass(), int.class, long.class);
            made.setAccessible(true);
            Object at = offsets.get(level);
            Object delivery = made.newInstance(service, level, at == null ? 0L : at);
            Reflection.call(delivery, Reflection.hasMethod(delivery, "executeOnTimeUp", 0) ? "executeOnTimeUp" : "executeOnTimeup");
        }
    }

    /** What TimerMessageStore does with messages whose time is over; its wheel is not asked. */
    private String deliverTimers(String[] places, String[] enqueued) {
        Object timers = Reflection.get(process.broker, "timerMessageStore");
        StringBuilder put = new StringBuilder();
        for (int i = 0; i < places.length; i++) {
            MessageExt message = process.store.lookMessageByOffset(Long.parseLong(places[i]));
            Object converted = Reflection.call(timers, "convert", message, Long.parseLong(enqueued[i]), false);
            put.append(Reflection.call(timers, "doPut", converted, false));
        }
        return put.toString();
    }

    /** The pool for checks while its threads wait for channels: it has room for some, and refuses as the release does. */
    private static final class StalledPool extends AbstractExecutorService {
        private final int room;
        private final ThreadPoolExecutor ofRelease;
        private int waiting;

        StalledPool(int room, ThreadPoolExecutor ofRelease) {
            this.room = room;
            this.ofRelease = ofRelease;
        }

        @Override
        public void execute(Runnable work) {
            if (waiting < room) {
                waiting++;
                return;
            }
            RejectedExecutionHandler handler = ofRelease.getRejectedExecutionHandler();
            handler.rejectedExecution(work, ofRelease);
        }

        @Override
        public void shutdown() { }

        @Override
        public List<Runnable> shutdownNow() {
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return true;
        }
    }
}
