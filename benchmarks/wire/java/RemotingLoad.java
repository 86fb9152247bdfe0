import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/** The load by the Java client of any release; a producer has its own instance name, and so its own connection. */
public class RemotingLoad implements Load.Client {
    public static void main(String[] arguments) throws Exception {
        Load.run(arguments, new RemotingLoad());
    }

    @Override
    public Load.Producer producer(String nameServer, int number) throws Exception {
        TransactionMQProducer producer = new TransactionMQProducer("load-service");
        producer.setNamesrvAddr(nameServer);
        producer.setInstanceName("load-" + number);
        producer.setTransactionListener(new Planned());
        producer.setSendMsgTimeout(15_000);
        gatherNothing(producer);
        producer.start();
        return body -> producer.sendMessageInTransaction(new Message(Load.TOPIC, Load.TAG, body), null);
    }

    /**
     * {@code batchMaxDelayMs}, which 4.x has not: in 5.x two threads of each producer wake every half of it, 5 ms by default, to
     * look for messages to send together, also where none are ever (ProduceAccumulator). With 100 producers that is 40,000 times
     * a second, and more than what sending takes.
     */
    private static void gatherNothing(TransactionMQProducer producer) throws Exception {
        try {
            producer.getClass().getMethod("batchMaxDelayMs", int.class).invoke(producer, 30_000);
        } catch (NoSuchMethodException none) {
            // 4.x gathers nothing by itself
        }
    }

    @Override
    public void consume(String nameServer) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(Load.READERS);
        consumer.setNamesrvAddr(nameServer);
        consumer.setInstanceName("reader");
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(Load.TOPIC, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            Load.haveConsumed(messages.size());
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
    }

    private static LocalTransactionState stateOf(Load.Outcome outcome) {
        switch (outcome) {
            case COMMIT: return LocalTransactionState.COMMIT_MESSAGE;
            case ROLLBACK: return LocalTransactionState.ROLLBACK_MESSAGE;
            default: return LocalTransactionState.UNKNOW;
        }
    }

    private static final class Planned implements TransactionListener {
        @Override
        public LocalTransactionState executeLocalTransaction(Message message, Object argument) {
            return stateOf(Load.atFirst(message.getBody()[0]));
        }

        @Override
        public LocalTransactionState checkLocalTransaction(MessageExt message) {
            return stateOf(Load.atCheck(message.getBody()[0]));
        }
    }
}
