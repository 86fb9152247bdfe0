package orders;

import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.List;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/** Places orders: the row and the message that tells the warehouse of it, both or neither. */
final class Orders implements TransactionListener {
    static final String TOPIC = "Orders";

    private final Database database;
    private final TransactionMQProducer producer = new TransactionMQProducer("order-service");

    Orders(String nameServer, Database database) throws MQClientException {
        this.database = database;
        OrderService.connect(producer, nameServer);
        producer.setTopics(List.of(TOPIC)); // else it looks for the broker, which then knows it, with the first message only
        producer.setSendMsgTimeout(15_000);
        producer.setTransactionListener(this);
        producer.start();
    }

    LocalTransactionState place(String order) throws MQClientException {
        Message message = new Message(TOPIC, "placed", order, order.getBytes(StandardCharsets.UTF_8));
        return producer.sendMessageInTransaction(message, null).getLocalTransactionState();
    }

    boolean isPlaced(String order) throws SQLException {
        return database.count("orders", "id", order) > 0;
    }

    @Override
    public LocalTransactionState executeLocalTransaction(Message message, Object argument) {
        try {
            database.inOneTransaction(connection -> Database.insert(connection, "orders", "id", message.getKeys()));
            return LocalTransactionState.COMMIT_MESSAGE;
        } catch (SQLException problem) {
            return LocalTransactionState.ROLLBACK_MESSAGE;
        }
    }

    @Override
    public LocalTransactionState checkLocalTransaction(MessageExt message) {
        try {
            return isPlaced(message.getKeys()) ? LocalTransactionState.COMMIT_MESSAGE : LocalTransactionState.UNKNOW;
        } catch (SQLException problem) {
            return LocalTransactionState.UNKNOW;
        }
    }

    void shutdown() {
        producer.shutdown();
    }
}
