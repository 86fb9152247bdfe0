package orders;

import java.sql.SQLException;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * Buggy: it looks for a parcel only where RocketMQ says that the message is a retry. A transaction that is delivered a second
 * time is a new message, which was never retried.
 */
final class ParcelUnlessRetried extends Parcels {
    ParcelUnlessRetried(Database database) {
        super(database);
    }

    @Override
    void pack(MessageExt message) throws SQLException {
        String order = message.getKeys();
        if (message.getReconsumeTimes() > 0 && count(order) > 0) {
            return;
        }
        database.inOneTransaction(connection -> Database.insert(connection, "parcels", "order_id", order));
    }
}
