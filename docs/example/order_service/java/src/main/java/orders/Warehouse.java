package orders;

import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageExt;

/** Packs a parcel for an order that comes in, and prints its label. */
final class Warehouse {
    private final Parcels parcels;
    private final DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("warehouse");
    private final Map<String, Integer> received = new ConcurrentHashMap<>();
    private final AtomicBoolean isJammed = new AtomicBoolean();

    Warehouse(String nameServer, Parcels parcels) throws MQClientException {
        this.parcels = parcels;
        OrderService.connect(consumer, nameServer);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(Orders.TOPIC, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> consume(messages));
        consumer.start();
    }

    private ConsumeConcurrentlyStatus consume(List<MessageExt> messages) {
        for (MessageExt message : messages) {
            try {
                parcels.pack(message);
            } catch (SQLException problem) {
                return ConsumeConcurrentlyStatus.RECONSUME_LATER;
            }
            received.merge(message.getKeys(), 1, Integer::sum);
            if (isJammed.getAndSet(false)) {
                return ConsumeConcurrentlyStatus.RECONSUME_LATER;
            }
        }
        return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
    }

    /** How often the warehouse has heard of an order. */
    int received(String order) {
        return received.getOrDefault(order, 0);
    }

    int parcels(String order) throws SQLException {
        return parcels.count(order);
    }

    /** The next label is not printed, and its message comes again. */
    void jam() {
        isJammed.set(true);
    }

    void shutdown() {
        consumer.shutdown();
    }
}
