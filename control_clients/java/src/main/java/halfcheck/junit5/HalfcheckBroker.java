package halfcheck.junit5;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;

/** A broker of one test, and the orders to it. */
public final class HalfcheckBroker implements CloseableResource {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final Gson GSON = new Gson();

    private final JsonObject addresses;
    private final Process process;

    private HalfcheckBroker(JsonObject addresses, Process process) {
        this.addresses = addresses;
        this.process = process;
    }

    /**
     * Starts one with options of {@code halfcheck broker}. Under {@code halfcheck broker --exec}, that broker is taken,
     * whatever they are.
     *
     * @throws UncheckedIOException it does not start
     */
    public static HalfcheckBroker start(String... options) {
        if (System.getenv("HALFCHECK_CONTROL") != null) {
            JsonObject given = new JsonObject();
            for (String name : List.of("address", "grpc_address", "control", "token")) {
                given.addProperty(name, System.getenv("HALFCHECK_" + name.toUpperCase()));
            }
            return new HalfcheckBroker(given, null);
        }
        String program = System.getenv().getOrDefault("HALFCHECK", "halfcheck");
        List<String> command = new ArrayList<>(List.of(program, "broker", "--port", "0", "--json", "--exit-with-parent"));
        command.addAll(List.of(options));
        try {
            Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            BufferedReader said = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            String first = said.readLine();
            if (first == null) {
                throw new IOException(program + " broker did not start; it says why on stderr");
            }
            Thread rest = new Thread(() -> said.lines().forEach(line -> { })); // its verdict, which stop() gives
            rest.setDaemon(true);
            rest.start();
            return new HalfcheckBroker(JsonParser.parseString(first).getAsJsonObject(), process);
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
    }

    /** Where clients find broker and name server. */
    public String address() {
        return addresses.get("address").getAsString();
    }

    /** Where gRPC clients connect to, with {@code --grpc-port}. */
    public String grpcAddress() {
        return addresses.get("grpc_address").getAsString();
    }

    /**
     * Gives an order of docs/broker.md; its effect is there when it is answered.
     *
     * @throws IllegalArgumentException it is refused, with the broker's line
     */
    public JsonObject order(String name, Map<String, ?> takes) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + addresses.get("control").getAsString() + "/" + name))
            .header("Authorization", "Bearer " + addresses.get("token").getAsString())
            .POST(HttpRequest.BodyPublishers.ofString(GSON.toJson(takes))).version(HttpClient.Version.HTTP_1_1).build();
        try {
            HttpResponse<String> response = CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
            JsonObject answer = JsonParser.parseString(response.body()).getAsJsonObject();
            if (response.statusCode() != 200) {
                throw new IllegalArgumentException(answer.get("error").getAsString());
            }
            return answer;
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
    }

    /** An order that takes nothing. */
    public JsonObject order(String name) {
        return order(name, Map.of());
    }

    /** Waits for a {@code producer}, so many {@code rounds} or what is {@code delivered}; an error if that does not come. */
    public void await(String what, Object value) {
        JsonObject answer = order("wait", Map.of(what, value));
        if (!answer.get("came").getAsBoolean()) {
            throw new AssertionError(what + " " + value + " did not come; the broker knows " + answer);
        }
    }

    /** Stops it; the verdict on its run. */
    public JsonObject stop() {
        JsonObject verdict = order("stop");
        close();
        return verdict;
    }

    /** Ends it, if it runs and was started here. */
    @Override
    public void close() {
        if (process != null) {
            process.toHandle().destroy();
            process.onExit().join();
        }
    }
}
