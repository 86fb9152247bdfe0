package orders;

import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import org.apache.rocketmq.common.message.MessageExt;

/** Mended: that the order was handled is written with the parcel, in one transaction, under a key that stands only once. */
final class ParcelOnce extends Parcels {
    ParcelOnce(Database database) {
        super(database);
    }

    @Override
    void pack(MessageExt message) throws SQLException {
        String order = message.getKeys();
        try {
            database.inOneTransaction(connection -> {
                Database.insert(connection, "handled", "order_id", order);
                Database.insert(connection, "parcels", "order_id", order);
            });
        } catch (SQLIntegrityConstraintViolationException handledBefore) {
            return;
        }
    }
}
