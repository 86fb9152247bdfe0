import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * Producers of the Java client of any release, each with its own instance name and so with its own connection, and a push
 * consumer, which send transactions until they are told to end.
 *
 * Arguments: the name server's address, how many producers, how many threads send on each, transactions a second of all
 * together (0: as fast as they can), and how many of 1,000 transactions are rolled back, are answered by their check only,
 * and are never answered; whether there is a consumer (1 or 0). On stdin, "count" has the counts printed, "end" ends it.
 */
public class WireLoad {
    static final String TOPIC = "Load";
    static final int BODY_BYTES = 100;
    static final AtomicLong BEGUN = new AtomicLong(), DONE = new AtomicLong(), COMMITTED = new AtomicLong();
    static final AtomicLong CHECKED = new AtomicLong(), CONSUMED = new AtomicLong(), FAILED = new AtomicLong();
    static volatile boolean goesOn = true;

    public static void main(String[] arguments) throws Exception {
        String nameServer = arguments[0];
        int producers = Integer.parseInt(arguments[1]), threads = Integer.parseInt(arguments[2]);
        double rate = Double.parseDouble(arguments[3]);
        Kinds kinds = new Kinds(Integer.parseInt(arguments[4]), Integer.parseInt(arguments[5]), Integer.parseInt(arguments[6]));
        List<TransactionMQProducer> started = new ArrayList<>();
        for (int number = 0; number < producers; number++) started.add(producer(nameServer, number));
        if (arguments[7].equals("1")) consume(nameServer);
        long between = rate > 0 ? (long) (1e9 * producers * threads / rate) : 0;
        for (int number = 0; number < producers * threads; number++) {
            TransactionMQProducer producer = started.get(number % producers);
            long first = System.nanoTime() + between * number / (producers * threads);
            new Thread(() -> send(producer, kinds, first, between), "sender-" + number).start();
        }
        System.out.println("= ready");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null && !line.equals("end"); line = commands.readLine())
            System.out.println("= {\"done\": " + DONE + ", \"committed\": " + COMMITTED + ", \"checked\": " + CHECKED
                + ", \"consumed\": " + CONSUMED + ", \"failed\": " + FAILED + "}");
        goesOn = false;
        Runtime.getRuntime().halt(0);
    }

    static TransactionMQProducer producer(String nameServer, int number) throws Exception {
        TransactionMQProducer producer = new TransactionMQProducer("load-service");
        producer.setNamesrvAddr(nameServer);
        producer.setInstanceName("load-" + number);
        producer.setTransactionListener(new Planned());
        producer.setSendMsgTimeout(15_000);
        gatherNothing(producer);
        producer.start();
        return producer;
    }

    /**
     * {@code batchMaxDelayMs}, which 4.x has not: in 5.x two threads of each producer wake every half of it, 5 ms by default, to
     * look for messages to send together, also where none are ever (ProduceAccumulator). With 100 producers that is 40,000 times
     * a second, and more than what sending takes.
     */
    static void gatherNothing(TransactionMQProducer producer) throws Exception {
        try {
            producer.getClass().getMethod("batchMaxDelayMs", int.class).invoke(producer, 30_000);
        } catch (NoSuchMethodException none) {
            // 4.x gathers nothing by itself
        }
    }

    static void consume(String nameServer) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("load-readers");
        consumer.setNamesrvAddr(nameServer);
        consumer.setInstanceName("reader");
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(TOPIC, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            CONSUMED.addAndGet(messages.size());
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
    }

    static void send(TransactionMQProducer producer, Kinds kinds, long first, long between) {
        for (long due = first; goesOn; due += between) {
            for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) LockSupport.parkNanos(left);
            if (between > 0 && System.nanoTime() - due > 1_000_000_000L) due = System.nanoTime();
            byte[] body = new byte[BODY_BYTES];
            Arrays.fill(body, (byte) 'x');
            body[0] = kinds.next();
            try {
                producer.sendMessageInTransaction(new Message(TOPIC, "paid", body), null);
                DONE.incrementAndGet();
            } catch (Exception problem) {
                if (FAILED.incrementAndGet() == 1) problem.printStackTrace();
            }
        }
    }

    /** What becomes of a transaction, by its number: the same shares in every thousand. */
    static final class Kinds {
        static final byte COMMIT = 'c', ROLLBACK = 'r', BY_CHECK = 'u', NEVER = 'n';
        private final int rolledBack, byCheck, never;

        Kinds(int rolledBack, int byCheck, int never) {
            this.rolledBack = rolledBack;
            this.byCheck = byCheck;
            this.never = never;
        }

        byte next() {
            long place = BEGUN.getAndIncrement() * 617 % 1_000;
            if (place < rolledBack) return ROLLBACK;
            if (place < rolledBack + byCheck) return BY_CHECK;
            return place < rolledBack + byCheck + never ? NEVER : COMMIT;
        }
    }

    static final class Planned implements TransactionListener {
        @Override
        public LocalTransactionState executeLocalTransaction(Message message, Object argument) {
            switch (message.getBody()[0]) {
                case Kinds.COMMIT: COMMITTED.incrementAndGet(); return LocalTransactionState.COMMIT_MESSAGE;
                case Kinds.ROLLBACK: return LocalTransactionState.ROLLBACK_MESSAGE;
                default: return LocalTransactionState.UNKNOW;
            }
        }

        @Override
        public LocalTransactionState checkLocalTransaction(MessageExt message) {
            CHECKED.incrementAndGet();
            if (message.getBody()[0] == Kinds.NEVER) return LocalTransactionState.UNKNOW;
            if (message.getBody()[0] != Kinds.ROLLBACK) COMMITTED.incrementAndGet();
            return message.getBody()[0] == Kinds.ROLLBACK ? LocalTransactionState.ROLLBACK_MESSAGE
                : LocalTransactionState.COMMIT_MESSAGE;
        }
    }
}
