import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
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

/** The scenario with rocketmq-client-java: java -cp JAR GrpcScenarioClient.java HOST:PORT SECONDS. */
public class GrpcScenarioClient {
    /** At which check a transaction is committed; at the first if nothing is said. */
    private static final Map<String, Integer> ANSWERS = Map.of("checked-twice", 2, "never-known", Integer.MAX_VALUE);
    private static final Set<String> DELIVERED = Set.of("committed", "checked", "checked-twice", "lost", "plain");
    private static final int CHECKS_OF_NEVER_KNOWN = 3;

    private static final Map<String, Integer> checks = new TreeMap<>();
    private static final Map<String, List<Integer>> deliveries = new TreeMap<>();

    public static void main(String[] arguments) throws Exception {
        ClientServiceProvider provider = ClientServiceProvider.loadService();
        ClientConfiguration configuration = ClientConfiguration.newBuilder().setEndpoints(arguments[0]).enableSsl(false)
            .setRequestTimeout(Duration.ofSeconds(5)).build();
        Producer producer = provider.newProducerBuilder().setClientConfiguration(configuration)
            .setTopics("Orders", "Plain").setTransactionChecker(GrpcScenarioClient::check).build();
        PushConsumer consumer = provider.newPushConsumerBuilder().setClientConfiguration(configuration)
            .setConsumerGroup("readers")
            .setSubscriptionExpressions(Map.of("Orders", FilterExpression.SUB_ALL, "Plain", FilterExpression.SUB_ALL))
            .setMessageListener(GrpcScenarioClient::consume).build();
        for (String key : List.of("committed", "rolled-back", "checked", "checked-twice", "never-known", "lost")) {
            Transaction transaction = producer.beginTransaction();
            producer.send(message(provider, "Orders", key), transaction);
            if (key.equals("committed") || key.equals("lost")) {
                transaction.commit();
            } else if (key.equals("rolled-back")) {
                transaction.rollback();
            }
        }
        for (String key : List.of("plain", "failing", "poison")) {
            producer.send(message(provider, "Plain", key));
        }
        long end = System.currentTimeMillis() + Long.parseLong(arguments[1]) * 1000;
        while (System.currentTimeMillis() < end && !isDone()) {
            Thread.sleep(50);
        }
        Thread.sleep(2000); // what comes too often has this long to come
        System.out.println(outcome());
        consumer.close();
        producer.close();
        System.exit(0);
    }

    private static Message message(ClientServiceProvider provider, String topic, String key) {
        return provider.newMessageBuilder().setTopic(topic).setTag("scenario").setKeys(key)
            .setBody(key.getBytes(StandardCharsets.UTF_8)).build();
    }

    private static synchronized TransactionResolution check(MessageView message) {
        String key = message.getKeys().iterator().next();
        int seen = checks.merge(key, 1, Integer::sum);
        return seen >= ANSWERS.getOrDefault(key, 1) ? TransactionResolution.COMMIT : TransactionResolution.UNKNOWN;
    }

    private static synchronized ConsumeResult consume(MessageView message) {
        String key = message.getKeys().iterator().next();
        List<Integer> attempts = deliveries.computeIfAbsent(key, any -> new CopyOnWriteArrayList<>());
        attempts.add(message.getDeliveryAttempt());
        boolean fails = key.equals("poison") || key.equals("failing") && attempts.size() == 1;
        return fails ? ConsumeResult.FAILURE : ConsumeResult.SUCCESS;
    }

    private static synchronized boolean isDone() {
        return deliveries.keySet().containsAll(DELIVERED)
            && deliveries.getOrDefault("failing", List.of()).size() > 1
            && deliveries.getOrDefault("poison", List.of()).size() > 1
            && checks.getOrDefault("never-known", 0) >= CHECKS_OF_NEVER_KNOWN;
    }

    private static synchronized String outcome() {
        return "{\"checks\": " + json(checks) + ", \"deliveries\": " + json(deliveries) + "}";
    }

    private static String json(Map<String, ?> table) {
        return table.entrySet().stream().map(entry -> "\"" + entry.getKey() + "\": " + entry.getValue())
            .collect(Collectors.joining(", ", "{", "}"));
    }
}
