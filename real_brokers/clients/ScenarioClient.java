import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * The Java client of any release with a scenario: a table of messages, each with its phase, its key, what its local
 * transaction comes to, what its checks are answered, and how often the consumer cannot consume it.
 *
 * Arguments: the name server's address and the file of the scenario. A command a line on stdin (consume KIND, beat,
 * phase N, drain TOPIC, send TOPIC KEY END, end), an event a line on stdout. What is sent by its own order, the
 * scenario does not name: orders and answers are those of the clients in {@code grpc}.
 */
public class ScenarioClient {
    static final String TOPIC = "Orders";
    static final int PATIENCE_MS = 15_000;
    /** How long a late commit waits, so that the check's answer comes first. */
    static final int BEHIND_THE_ANSWER_MS = 500;
    static final Map<String, String[]> PLANS = new LinkedHashMap<>();
    static final Map<String, AtomicInteger> CHECKS = new ConcurrentHashMap<>();

    public static void main(String[] arguments) throws Exception {
        String nameServer = arguments[0];
        for (String line : Files.readAllLines(Paths.get(arguments[1]), StandardCharsets.UTF_8)) {
            String[] columns = line.trim().split("\\s+");
            if (columns.length == 5 && !columns[0].startsWith("#")) PLANS.put(columns[1], columns);
        }
        TransactionMQProducer producer = new TransactionMQProducer("order-service");
        producer.setNamesrvAddr(nameServer);
        producer.setInstanceName("producer");
        producer.setTransactionListener(new Planned());
        producer.setSendMsgTimeout(PATIENCE_MS);
        producer.setHeartbeatBrokerInterval(1_000);
        producer.setMqClientApiTimeout(PATIENCE_MS);
        producer.start();
        List<DefaultMQPushConsumer> consumers = new ArrayList<>();
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        say("ready", "", "");
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.trim().split("\\s+");
            try {
                switch (words[0]) {
                    case "phase": send(producer, words[1]); break;
                    case "send": sendOne(producer, words[1], words[2], words[3]); break;
                    case "beat": break; // each has its own heartbeat every second
                    case "consume": consumers.add(consumer(nameServer, words[1])); break;
                    case "drain": drain(nameServer, words[1]); break;
                    case "end":
                        for (DefaultMQPushConsumer consumer : consumers) consumer.shutdown();
                        producer.shutdown();
                        break;
                    default: throw new IllegalArgumentException(line);
                }
                say("done", line, "");
            } catch (Exception problem) {
                say("failed", line, problem.toString().replace('\n', ' '));
            }
            if (words[0].equals("end")) Runtime.getRuntime().halt(0);
        }
    }

    static void send(TransactionMQProducer producer, String phase) throws Exception {
        for (String[] plan : PLANS.values()) {
            if (!plan[0].equals(phase)) continue;
            Message message = new Message(TOPIC, "paid", plan[1], (plan[1] + "|an order").getBytes(StandardCharsets.UTF_8));
            SendResult sent = plan[2].equals("PLAIN") ? producer.send(message)
                : producer.sendMessageInTransaction(message, null);
            say("sent", plan[1], sent.getSendStatus().name());
        }
    }

    static void sendOne(TransactionMQProducer producer, String topic, String key, String end) throws Exception {
        Message message = new Message(topic, "paid", key, (key + "|an order").getBytes(StandardCharsets.UTF_8));
        SendResult sent = producer.sendMessageInTransaction(message, end);
        say("sent", key, sent.getSendStatus().name());
    }

    static DefaultMQPushConsumer consumer(String nameServer, String kind) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("group-" + kind);
        consumer.setNamesrvAddr(nameServer);
        consumer.setInstanceName("consumer-" + kind);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        if (kind.equals("broadcast")) broadcast(consumer);
        consumer.setMaxReconsumeTimes(2);
        consumer.setHeartbeatBrokerInterval(1_000);
        consumer.setMqClientApiTimeout(PATIENCE_MS);
        consumer.subscribe(TOPIC, kind.equals("tagged") ? "unpaid" : "*");
        if (kind.equals("orderly"))
            consumer.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
                for (MessageExt message : messages) consumed(kind, message);
                return ConsumeOrderlyStatus.SUCCESS;
            });
        else
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                boolean fails = false;
                for (MessageExt message : messages) {
                    consumed(kind, message);
                    int failures = kind.equals("cluster") ? Integer.parseInt(PLANS.get(keyOf(message))[4]) : 0;
                    fails |= message.getReconsumeTimes() < failures;
                }
                return fails ? ConsumeConcurrentlyStatus.RECONSUME_LATER : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
        consumer.start();
        return consumer;
    }

    /** {@code setMessageModel(BROADCASTING)}; the enum has moved between releases. */
    static void broadcast(DefaultMQPushConsumer consumer) throws Exception {
        Class<?> model = consumer.getMessageModel().getClass();
        Object broadcasting = model.getMethod("valueOf", String.class).invoke(null, "BROADCASTING");
        consumer.getClass().getMethod("setMessageModel", model).invoke(consumer, broadcasting);
    }

    static void consumed(String kind, MessageExt message) {
        say("consumed", keyOf(message), kind + " " + message.getReconsumeTimes());
    }

    static void drain(String nameServer, String topic) throws Exception {
        DefaultMQPullConsumer consumer = new DefaultMQPullConsumer("group-drain");
        consumer.setNamesrvAddr(nameServer);
        consumer.setInstanceName("drain");
        consumer.setMqClientApiTimeout(PATIENCE_MS);
        consumer.start();
        try {
            List<MessageQueue> queues = new ArrayList<>(consumer.fetchSubscribeMessageQueues(topic));
            Collections.sort(queues);
            for (MessageQueue queue : queues) {
                PullResult pulled = consumer.pull(queue, "*", 0, 32, PATIENCE_MS);
                while (pulled.getPullStatus() == PullStatus.FOUND) {
                    for (MessageExt message : pulled.getMsgFoundList()) say("pulled", keyOf(message), topic);
                    pulled = consumer.pull(queue, "*", pulled.getNextBeginOffset(), 32, PATIENCE_MS);
                }
            }
        } finally {
            consumer.shutdown();
        }
    }

    static final class Planned implements TransactionListener {
        @Override
        public LocalTransactionState executeLocalTransaction(Message message, Object end) {
            if (end == null) return LocalTransactionState.valueOf(PLANS.get(message.getKeys())[2]);
            if (end.equals("late")) {
                while (!CHECKS.containsKey(message.getKeys())) pause(20);
                pause(BEHIND_THE_ANSWER_MS);
            }
            if (end.equals("rollback")) return LocalTransactionState.ROLLBACK_MESSAGE;
            return end.equals("leave") ? LocalTransactionState.UNKNOW : LocalTransactionState.COMMIT_MESSAGE;
        }

        @Override
        public LocalTransactionState checkLocalTransaction(MessageExt message) {
            String[] plan = PLANS.get(keyOf(message));
            String[] answers = plan == null ? new String[] {"COMMIT_MESSAGE"} : plan[3].split(",");
            int check = CHECKS.computeIfAbsent(keyOf(message), key -> new AtomicInteger()).incrementAndGet();
            String answer = answers[Math.min(check, answers.length) - 1];
            say("checked", keyOf(message), answer);
            if (keyOf(message).equals("throws")) throw new IllegalStateException("as ordered");
            if (keyOf(message).equals("hangs")) pause(Long.MAX_VALUE);
            return LocalTransactionState.valueOf(answer);
        }
    }

    static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    static String keyOf(MessageExt message) {
        return new String(message.getBody(), StandardCharsets.UTF_8).split("\\|")[0];
    }

    static synchronized void say(String event, String key, String more) {
        System.out.println(event + "\t" + key + "\t" + more);
        System.out.flush();
    }
}
