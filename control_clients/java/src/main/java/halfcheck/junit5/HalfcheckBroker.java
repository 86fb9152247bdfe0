package halfcheck.junit5;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;

/** A broker of one test, and the orders to it. */
public final class HalfcheckBroker implements AutoCloseable, CloseableResource {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final Gson GSON = new Gson();

    private final JsonObject addresses;
    private final Process process;
    private final Set<Integer> ordered = new HashSet<>();
    private boolean isStopped;

    private HalfcheckBroker(JsonObject addresses, Process process) {
        this.addresses = addresses;
        this.process = process;
    }

    /**
     * Starts one with options of {@code halfcheck broker}. Under {@code halfcheck broker --exec}, that broker is taken.
     *
     * @throws IllegalStateException it does not start, or the broker of --exec has other options than these
     */
    public static HalfcheckBroker start(String... options) {
        JsonObject given = ofExec(options);
        if (given != null) {
            return new HalfcheckBroker(given, null);
        }
        String program = System.getenv().getOrDefault("HALFCHECK", "halfcheck");
        List<String> command = new ArrayList<>(List.of(program, "broker", "--port", "0", "--json", "--exit-with-parent"));
        command.addAll(List.of(options));
        try {
            Process process = new ProcessBuilder(command).start();
            List<String> complaints = new ArrayList<>();
            Thread stderr = reading(process.errorReader(StandardCharsets.UTF_8), line -> {
                System.err.println(line);
                complaints.add(line);
            });
            BufferedReader said = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            String first = said.readLine();
            if (first == null) {
                stderr.join();
                throw new IllegalStateException(program + " broker did not start: " + String.join("; ", complaints));
            }
            reading(said, line -> { }); // its verdict, which stop() gives
            return new HalfcheckBroker(JsonParser.parseString(first).getAsJsonObject(), process);
        } catch (IOException problem) {
            String remedy = " can't be started: pip install halfcheck, or set HALFCHECK=/path/to/halfcheck";
            throw new IllegalStateException(program + remedy, problem);
        } catch (InterruptedException interrupted) {
            throw interruptedBy(interrupted);
        }
    }

    /** The broker of --exec, by the environment; null without one. */
    private static JsonObject ofExec(String... options) {
        Map<String, String> environment = System.getenv();
        if (environment.get("HALFCHECK_CONTROL") == null) {
            return null;
        }
        JsonObject given = new JsonObject();
        for (String name : List.of("address", "control", "token", "options", "grpc_address")) {
            String variable = "HALFCHECK_" + name.toUpperCase();
            if (environment.get(variable) == null && !name.equals("grpc_address")) {
                throw new IllegalStateException("HALFCHECK_CONTROL is set and " + variable + " is not;"
                    + " halfcheck broker --exec sets both: pass on all of HALFCHECK_*, or none");
            }
            given.addProperty(name, environment.get(variable));
        }
        JsonObject has = JsonParser.parseString(given.get("options").getAsString()).getAsJsonObject();
        for (int at = 0; at < options.length; at++) {
            String name = options[at];
            String value = at + 1 < options.length && !options[at + 1].startsWith("--") ? options[++at] : "";
            JsonElement there = has.get(name);
            if (there == null || !there.isJsonNull() && !there.getAsString().equals(value)) {
                String itsOwn = there == null ? "has none" : "has " + there.getAsString();
                throw new IllegalStateException("this test asks for " + (name + " " + value).strip()
                    + ", the broker of --exec " + itsOwn + "; give it to --exec, or run the test without");
            }
        }
        return given;
    }

    private static Thread reading(BufferedReader from, Consumer<String> to) {
        Thread thread = new Thread(() -> from.lines().forEach(to));
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static IllegalStateException interruptedBy(InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        return new IllegalStateException(interrupted);
    }

    /** Where clients find broker and name server. */
    public String address() {
        return addresses.get("address").getAsString();
    }

    /**
     * Where gRPC clients connect to.
     *
     * @throws IllegalStateException it was started without {@code --grpc-port}
     */
    public String grpcAddress() {
        JsonElement address = addresses.get("grpc_address");
        if (address == null || address.isJsonNull()) {
            throw new IllegalStateException("the broker has no port for gRPC clients; start it with --grpc-port 0");
        }
        return address.getAsString();
    }

    /**
     * Gives an order of docs/broker.md; its effect is there when it is answered.
     *
     * @throws IllegalArgumentException it is refused, with the broker's line
     * @throws IllegalStateException the broker has ended
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
            if (answer.has("ordered") && !answer.get("ordered").isJsonNull()) {
                ordered.add(answer.get("ordered").getAsInt());
            }
            return answer;
        } catch (ConnectException gone) {
            throw new IllegalStateException("order " + name + ": the broker has ended", gone);
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        } catch (InterruptedException interrupted) {
            throw interruptedBy(interrupted);
        }
    }

    /** An order that takes nothing. */
    public JsonObject order(String name) {
        return order(name, Map.of());
    }

    /** Waits for a {@code producer}, so many {@code rounds} or what is {@code delivered}, for a minute. */
    public void await(String what, Object value) {
        await(Map.of(what, value), Duration.ofMinutes(1));
    }

    /**
     * Waits as the order {@code wait} does, such as for {@code consumed}, {@code group} and {@code times}.
     *
     * @throws AssertionError that does not come in so much real time
     */
    public void await(Map<String, ?> what, Duration most) {
        Map<String, Object> takes = new HashMap<>(what);
        takes.put("timeout_ms", most.toMillis());
        JsonObject answer = order("wait", takes);
        if (!answer.get("came").getAsBoolean()) {
            throw new AssertionError(answer.get("says").getAsString());
        }
    }

    /** The state of the transaction whose message has a key, as of {@code transactions}. */
    public String state(String key) {
        JsonArray found = order("transactions", Map.of("key", key)).getAsJsonArray("transactions");
        if (found.size() != 1) {
            throw new AssertionError(found.size() + " transactions have the key " + key + "; one was expected");
        }
        return found.get(0).getAsJsonObject().get("state").getAsString();
    }

    /**
     * Stops it, when op messages that wait in memory are written; the verdict on its run.
     *
     * @throws AssertionError a fault that was ordered befell nothing
     * @throws IllegalStateException there is no verdict, or the broker is that of {@code --exec}
     */
    public JsonObject stop() {
        if (process == null) {
            throw new IllegalStateException("stop: the broker is that of halfcheck broker --exec, and all tests have it;"
                + " its verdict comes behind the command. Ask for state(key) here, or run the test without --exec");
        }
        JsonObject verdict = order("stop", Map.of("settles", true));
        isStopped = true;
        process.onExit().join();
        requireUsed(verdict);
        if (!verdict.get("no_verdict").isJsonNull()) {
            throw new IllegalStateException("no verdict: " + verdict.get("no_verdict").getAsString());
        }
        return verdict;
    }

    /**
     * Ends it, if it runs and was started here.
     *
     * @throws AssertionError a fault that was ordered here befell nothing
     */
    @Override
    public void close() {
        if (isStopped) {
            return;
        }
        isStopped = true;
        try {
            if (process == null || process.isAlive()) {
                requireUsed(order("status"));
            }
        } finally {
            if (process != null) {
                process.toHandle().destroy();
                process.onExit().join();
            }
        }
    }

    private void requireUsed(JsonObject answer) {
        for (JsonElement each : answer.getAsJsonArray("unused_faults")) {
            JsonObject fault = each.getAsJsonObject();
            if (ordered.contains(fault.get("number").getAsInt())) {
                throw new AssertionError(fault.get("says").getAsString());
            }
        }
    }
}
