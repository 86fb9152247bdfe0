package orders;

import java.sql.SQLException;
import org.apache.rocketmq.common.message.MessageExt;

/** Packs parcels. */
abstract class Parcels {
    protected final Database database;

    Parcels(Database database) {
        this.database = database;
    }

    /** Pack what the message asks for, unless that was done. */
    abstract void pack(MessageExt message) throws SQLException;

    int count(String order) throws SQLException {
        return database.count("parcels", "order_id", order);
    }
}
