package orders;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import org.apache.rocketmq.client.ClientConfig;

/**
 * The service: POST /orders/ID places an order, GET /orders/ID says what became of it, POST /printer/jam lets the next label
 * fail.
 *
 * Arguments: the name server's address, the file of the database, and which warehouse, buggy or mended.
 */
public final class OrderService {
    private final Orders orders;
    private final Warehouse warehouse;

    private OrderService(Orders orders, Warehouse warehouse) {
        this.orders = orders;
        this.warehouse = warehouse;
    }

    public static void main(String[] arguments) {
        if (arguments.length != 3 || !arguments[2].matches("buggy|mended")) {
            System.err.println("usage: OrderService NAME_SERVER DATABASE buggy|mended");
            System.exit(2);
        }
        try {
            serve(arguments);
        } catch (Exception problem) {
            System.err.println("orders: " + problem);
            System.exit(1);
        }
    }

    private static void serve(String[] arguments) throws Exception {
        Database database = new Database(arguments[1]);
        Parcels parcels = arguments[2].equals("buggy") ? new ParcelUnlessRetried(database) : new ParcelOnce(database);
        Warehouse warehouse = new Warehouse(arguments[0], parcels);
        Orders orders = new Orders(arguments[0], database);
        OrderService service = new OrderService(orders, warehouse);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.createContext("/orders/", exchange -> answer(exchange, service::order));
        server.createContext("/printer/jam", exchange -> answer(exchange, service::jam));
        server.start();
        System.out.println("http://127.0.0.1:" + server.getAddress().getPort());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            server.stop(0);
            orders.shutdown();
            warehouse.shutdown();
        }));
    }

    static void connect(ClientConfig client, String nameServer) {
        client.setNamesrvAddr(nameServer);
        client.setHeartbeatBrokerInterval(1_000);
        client.setPollNameServerInterval(1_000);
        client.setMqClientApiTimeout(15_000);
    }

    private String order(HttpExchange exchange) throws Exception {
        String order = exchange.getRequestURI().getPath().substring("/orders/".length());
        if (exchange.getRequestMethod().equals("POST")) {
            return "{\"state\": \"" + orders.place(order) + "\"}";
        }
        return String.format("{\"placed\": %b, \"received\": %d, \"parcels\": %d}",
            orders.isPlaced(order), warehouse.received(order), warehouse.parcels(order));
    }

    private String jam(HttpExchange exchange) {
        warehouse.jam();
        return "{}";
    }

    private interface Does {
        String answer(HttpExchange exchange) throws Exception;
    }

    private static void answer(HttpExchange exchange, Does does) throws IOException {
        int status = 200;
        String text;
        try {
            text = does.answer(exchange);
        } catch (Exception problem) {
            status = 500;
            text = "{\"error\": \"" + problem.toString().replaceAll("[\"\\\\\\p{Cntrl}]", " ") + "\"}";
        }
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }
}
