package halfcheck.harness;

import halfcheck.agent.Agent;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Carries out orders from standard input, a line each, and answers with a line each on standard output.
 *
 * <p>An order is its name and its fields as {@code name=value}, separated by tabs. The first line that is written says
 * what was rewritten in RocketMQ's classes, which is known when a broker was opened.
 */
public final class Main {
    /** Its stores are in it; whoever gave the orders may have been killed, and removes nothing any more. */
    private static final File FOLDER = new File(System.getProperty("rocketmq.home.dir"));

    private Main() { }

    public static void main(String[] arguments) throws IOException {
        PrintStream answers = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), false, "UTF-8");
        System.setOut(System.err);
        Runtime.getRuntime().addShutdownHook(new Thread(Main::deleteFolder));
        Orders orders = new Orders();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            answers.println(answer(orders, line));
            if (!lines.ready()) {
                answers.flush();
            }
        }
        orders.close();
        answers.flush();
        Orders.delete(FOLDER);
        Runtime.getRuntime().halt(0);
    }

    /** An order may still be carried out, and make files. */
    private static void deleteFolder() {
        for (int tries = 0; tries < 20 && FOLDER.exists(); tries++) {
            Orders.delete(FOLDER);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    private static String answer(Orders orders, String line) {
        String[] fields = line.split("\t", -1);
        if (fields[0].equals("report")) {
            return Agent.report();
        }
        Map<String, String> with = new HashMap<>();
        for (int i = 1; i < fields.length; i++) {
            int equals = fields[i].indexOf('=');
            with.put(fields[i].substring(0, equals), fields[i].substring(equals + 1));
        }
        try {
            return orders.carryOut(fields[0], with);
        } catch (Throwable error) {
            error.printStackTrace();
            Throwable cause = error;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            return "thrown: " + cause.toString().replace('\n', ' ');
        }
    }
}
