import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.consumer.ConsumeResult;
import org.apache.rocketmq.client.apis.consumer.FilterExpression;
import org.apache.rocketmq.client.apis.consumer.PushConsumer;
import org.apache.rocketmq.client.apis.message.Message;
import org.apache.rocketmq.client.apis.message.MessageView;
import org.apache.rocketmq.client.apis.producer.Producer;
import org.apache.rocketmq.client.apis.producer.Transaction;
import org.apache.rocketmq.client.apis.producer.TransactionResolution;

/** The scenario's client with rocketmq-client-java: java -cp JAR GrpcScenarioClient.java HOST:PORT. */
public class GrpcScenarioClient {
    /** At which check a transaction is committed; at the first if nothing is said. */
    private static final Map<String, Integer> KNOWN_AT = Map.of("checked-twice", 2, "never-known", Integer.MAX_VALUE);

    private static final ClientServiceProvider provider = ClientServiceProvider.loadService();
    private static final Map<String, Integer> checks = new ConcurrentHashMap<>();
    private static final Map<String, Integer> deliveries = new ConcurrentHashMap<>();
    /** How long a late commit waits, so that the check's answer comes first. */
    private static final int BEHIND_THE_ANSWER_MS = 500;

    public static void main(String[] arguments) throws Exception {
        ClientConfiguration configuration = ClientConfiguration.newBuilder().setEndpoints(arguments[0]).enableSsl(false)
            .setRequestTimeout(Duration.ofSeconds(5)).build();
        Producer producer = provider.newProducerBuilder().setClientConfiguration(configuration)
            .setTopics("Orders", "Plain").setTransactionChecker(GrpcScenarioClient::check).build();
        PushConsumer consumer = provider.newPushConsumerBuilder().setClientConfiguration(configuration)
            .setConsumerGroup("readers")
            .setSubscriptionExpressions(Map.of("Orders", FilterExpression.SUB_ALL, "Plain", FilterExpression.SUB_ALL))
            .setMessageListener(GrpcScenarioClient::consume).build();
        say("ready");
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String order = orders.readLine(); order != null && !order.equals("end"); order = orders.readLine()) {
            try {
                send(producer, order.split(" "));
                say("done", order);
            } catch (Exception problem) {
                say("failed", order, problem.toString().replaceAll("\\s+", " "));
            }
        }
        consumer.close();
        producer.close();
        say("done", "end");
        System.exit(0);
    }

    /** Send a message whose body is its key, plainly or in a transaction, and end that as is said. */
    private static void send(Producer producer, String[] words) throws Exception {
        Message message = provider.newMessageBuilder().setTopic(words[1]).setTag("scenario").setKeys(words[2])
            .setBody(words[2].getBytes(StandardCharsets.UTF_8)).build();
        if (words[3].equals("plain")) {
            producer.send(message);
            return;
        }
        Transaction transaction = producer.beginTransaction();
        producer.send(message, transaction);
        if (words[3].equals("late")) {
            while (!checks.containsKey(words[2])) Thread.sleep(20);
            Thread.sleep(BEHIND_THE_ANSWER_MS);
        }
        if (words[3].equals("commit") || words[3].equals("late")) {
            transaction.commit();
        } else if (words[3].equals("rollback")) {
            transaction.rollback();
        }
    }

    private static TransactionResolution check(MessageView message) {
        String key = message.getKeys().iterator().next();
        int seen = checks.merge(key, 1, Integer::sum);
        boolean isKnown = seen >= KNOWN_AT.getOrDefault(key, 1);
        say("checked", key, isKnown ? "commit" : "unknown");
        if (key.equals("throws")) throw new IllegalStateException("as ordered");
        while (key.equals("hangs")) LockSupport.park();
        return isKnown ? TransactionResolution.COMMIT : TransactionResolution.UNKNOWN;
    }

    private static ConsumeResult consume(MessageView message) {
        String key = message.getKeys().iterator().next();
        int seen = deliveries.merge(key, 1, Integer::sum);
        say("consumed", key, String.valueOf(message.getDeliveryAttempt()));
        boolean fails = key.equals("poison") || key.equals("failing") && seen == 1;
        return fails ? ConsumeResult.FAILURE : ConsumeResult.SUCCESS;
    }

    private static synchronized void say(String... words) {
        System.out.println(String.join("\t", words));
    }
}
