import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Transactions by producers of any client until they are told to end, and what became of them.
 *
 * Arguments: the address that clients connect to, how many producers, how many threads send on each, transactions a second of
 * all together (0: as fast as they can), and how many of 1,000 transactions are rolled back, are answered by their check only,
 * and are never answered; whether there is a consumer (1 or 0). On stdin, "count" has the counts printed, "end" ends it.
 */
final class Load {
    static final String TOPIC = "Load", TAG = "paid", READERS = "load-readers";
    private static final int BODY_BYTES = 100;
    private static final byte COMMIT = 'c', ROLLBACK = 'r', BY_CHECK = 'u', NEVER = 'n';
    private static final AtomicLong begun = new AtomicLong(), done = new AtomicLong(), committed = new AtomicLong();
    private static final AtomicLong checked = new AtomicLong(), consumed = new AtomicLong(), failed = new AtomicLong();
    private static volatile boolean goesOn = true;

    enum Outcome { COMMIT, ROLLBACK, UNKNOWN }

    /** A producer: it sends a half, and ends it as {@link #atFirst} says. */
    interface Producer {
        void send(byte[] body) throws Exception;
    }

    /** Both of one kind of client, each with its own connection. */
    interface Client {
        Producer producer(String address, int number) throws Exception;

        void consume(String address) throws Exception;
    }

    static void run(String[] arguments, Client client) throws Exception {
        int producers = Integer.parseInt(arguments[1]), threads = Integer.parseInt(arguments[2]);
        double rate = Double.parseDouble(arguments[3]);
        Kinds kinds = new Kinds(Integer.parseInt(arguments[4]), Integer.parseInt(arguments[5]), Integer.parseInt(arguments[6]));
        List<Producer> started = new ArrayList<>();
        for (int number = 0; number < producers; number++) started.add(client.producer(arguments[0], number));
        if (arguments[7].equals("1")) client.consume(arguments[0]);
        long between = rate > 0 ? (long) (1e9 * producers * threads / rate) : 0;
        for (int number = 0; number < producers * threads; number++) {
            Producer producer = started.get(number % producers);
            long first = System.nanoTime() + between * number / (producers * threads);
            new Thread(() -> send(producer, kinds, first, between), "sender-" + number).start();
        }
        System.out.println("= ready");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null && !line.equals("end"); line = commands.readLine())
            System.out.println("= {\"done\": " + done + ", \"committed\": " + committed + ", \"checked\": " + checked
                + ", \"consumed\": " + consumed + ", \"failed\": " + failed + "}");
        goesOn = false;
        Runtime.getRuntime().halt(0);
    }

    /** What the sender of a message says of it. */
    static Outcome atFirst(byte first) {
        if (first == COMMIT) committed.incrementAndGet();
        return first == COMMIT ? Outcome.COMMIT : first == ROLLBACK ? Outcome.ROLLBACK : Outcome.UNKNOWN;
    }

    /** What a check of a message is answered. */
    static Outcome atCheck(byte first) {
        checked.incrementAndGet();
        if (first == NEVER) return Outcome.UNKNOWN;
        if (first != ROLLBACK) committed.incrementAndGet();
        return first == ROLLBACK ? Outcome.ROLLBACK : Outcome.COMMIT;
    }

    static void haveConsumed(int messages) {
        consumed.addAndGet(messages);
    }

    private static void send(Producer producer, Kinds kinds, long first, long between) {
        for (long due = first; goesOn; due += between) {
            for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) LockSupport.parkNanos(left);
            if (between > 0 && System.nanoTime() - due > 1_000_000_000L) due = System.nanoTime();
            byte[] body = new byte[BODY_BYTES];
            Arrays.fill(body, (byte) 'x');
            body[0] = kinds.next();
            try {
                producer.send(body);
                done.incrementAndGet();
            } catch (Exception problem) {
                if (failed.incrementAndGet() == 1) problem.printStackTrace();
            }
        }
    }

    /** What becomes of a transaction, by its number: the same shares in every thousand. */
    private static final class Kinds {
        private final int rolledBack, byCheck, never;

        Kinds(int rolledBack, int byCheck, int never) {
            this.rolledBack = rolledBack;
            this.byCheck = byCheck;
            this.never = never;
        }

        byte next() {
            long place = begun.getAndIncrement() * 617 % 1_000;
            if (place < rolledBack) return ROLLBACK;
            if (place < rolledBack + byCheck) return BY_CHECK;
            return place < rolledBack + byCheck + never ? NEVER : COMMIT;
        }
    }

    private Load() {}
}
