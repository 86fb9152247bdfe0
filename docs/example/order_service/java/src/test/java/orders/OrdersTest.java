package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import halfcheck.junit5.HalfcheckBroker;
import halfcheck.junit5.RocketmqBroker;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same service, tested from JUnit: in this process, with a broker whose clock stands still. */
@RocketmqBroker({"--profile", "5.5.0", "--clock", "virtual"})
class OrdersTest {
    @Test
    void anOrderWhoseCommitIsLostIsShippedWhenItIsChecked(HalfcheckBroker broker, @TempDir Path folder) throws Exception {
        broker.order("topic", Map.of("name", Orders.TOPIC));
        broker.order("fault", Map.of("fault", "lose_end", "key", "order-1"));
        Database database = new Database(folder.resolve("orders").toString());
        Warehouse warehouse = new Warehouse(broker.address(), new ParcelOnce(database));
        Orders orders = new Orders(broker.address(), database);
        try {
            broker.await("producer", "order-service");
            orders.place("order-1");
            assertEquals(0, warehouse.parcels("order-1"));
            broker.order("round");
            broker.await("delivered", "order-1");
            for (int tries = 0; tries < 600 && warehouse.parcels("order-1") == 0; tries++) {
                Thread.sleep(100);
            }
            assertEquals(1, warehouse.parcels("order-1"));
        } finally {
            orders.shutdown();
            warehouse.shutdown();
        }
        broker.order("push_clock", Map.of("ms", 10_000)); // until it is written down that the half is settled
        assertTrue(broker.stop().get("broken").getAsJsonArray().isEmpty());
    }
}
