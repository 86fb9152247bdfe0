import java.time.Duration;
import java.util.Map;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.consumer.ConsumeResult;
import org.apache.rocketmq.client.apis.consumer.FilterExpression;
import org.apache.rocketmq.client.apis.message.MessageView;
import org.apache.rocketmq.client.apis.producer.Producer;
import org.apache.rocketmq.client.apis.producer.Transaction;
import org.apache.rocketmq.client.apis.producer.TransactionResolution;

/** The load by rocketmq-client-java, which speaks gRPC; each of its clients has a connection of its own. */
public class GrpcLoad implements Load.Client {
    private final ClientServiceProvider provider = ClientServiceProvider.loadService();

    public static void main(String[] arguments) throws Exception {
        Load.run(arguments, new GrpcLoad());
    }

    @Override
    public Load.Producer producer(String address, int number) throws Exception {
        Producer producer = provider.newProducerBuilder().setClientConfiguration(configuration(address))
            .setTopics(Load.TOPIC).setTransactionChecker(GrpcLoad::check).build();
        return body -> {
            Transaction transaction = producer.beginTransaction();
            producer.send(
                provider.newMessageBuilder().setTopic(Load.TOPIC).setTag(Load.TAG).setBody(body).build(), transaction);
            switch (Load.atFirst(body[0])) {
                case COMMIT: transaction.commit(); break;
                case ROLLBACK: transaction.rollback(); break;
                default: break;
            }
        };
    }

    @Override
    public void consume(String address) throws Exception {
        provider.newPushConsumerBuilder().setClientConfiguration(configuration(address)).setConsumerGroup(Load.READERS)
            .setSubscriptionExpressions(Map.of(Load.TOPIC, FilterExpression.SUB_ALL)).setMessageListener(message -> {
                Load.haveConsumed(1);
                return ConsumeResult.SUCCESS;
            }).build();
    }

    private static TransactionResolution check(MessageView message) {
        switch (Load.atCheck(message.getBody().get(0))) {
            case COMMIT: return TransactionResolution.COMMIT;
            case ROLLBACK: return TransactionResolution.ROLLBACK;
            default: return TransactionResolution.UNKNOWN;
        }
    }

    private static ClientConfiguration configuration(String address) {
        return ClientConfiguration.newBuilder().setEndpoints(address).enableSsl(false)
            .setRequestTimeout(Duration.ofSeconds(15)).build();
    }
}
