import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.client.producer.TransactionSendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageClientExt;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.RemotingClient;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/**
 * The Java client of any release, led by real_brokers/rocketmq/client.py: a command a line on stdin (a verb and fields in the
 * form of a URL's query), an answer a line on stdout behind "= ", and each thing the client did or got in driver.jsonl.
 *
 * Arguments: the name server's address, the broker's, and the file for driver.jsonl.
 */
public class Driver {
    private static final int SEND = 10, SEND_V2 = 310, END_TRANSACTION = 37, CHECK = 39;
    private static final int REQUEST_MS = 5_000;

    private static final Map<String, Plan> PLANS = new ConcurrentHashMap<>();
    private static final Map<String, TransactionMQProducer> PRODUCERS = new HashMap<>();
    private static final ThreadLocal<Boolean> BY_HAND = ThreadLocal.withInitial(() -> false);
    private static volatile Map<String, String> storedHalf;
    private static volatile long lastEvent = System.currentTimeMillis();
    private static String nameServer, broker;
    private static PrintWriter events;
    private static long sequence;

    public static void main(String[] arguments) throws Exception {
        nameServer = arguments[0];
        broker = arguments[1];
        events = new PrintWriter(
            new OutputStreamWriter(new FileOutputStream(arguments[2], true), StandardCharsets.UTF_8));
        log("begin", "java", System.getProperty("java.version"));
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] parts = line.split(" ", 2);
            try {
                answer("ok", perform(parts[0], fieldsOf(parts.length > 1 ? parts[1] : "")));
            } catch (Throwable problem) {
                answer("error", map("error", problem.toString(), "cause", String.valueOf(problem.getCause())));
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private static Map<String, Object> perform(String verb, Map<String, String> fields) throws Exception {
        switch (verb) {
            case "producer": return producer(fields.get("name"), fields.get("group"));
            case "expect": return expect(fields);
            case "send": return send(fields);
            case "send_plain": return sendPlain(fields);
            case "end": return end(fields);
            case "request": return request(fields);
            case "checks": return checks(fields.get("key"));
            case "settle": return settle(number(fields, "most_ms"), number(fields, "interval_ms"), (int) number(fields, "check_max"));
            case "drain": return drain(fields.get("topics").split(","));
            case "note": log(fields.remove("event"), fields); return map();
            case "shutdown": PRODUCERS.remove(fields.get("name")).shutdown(); return map();
            case "halt": events.flush(); Runtime.getRuntime().halt(0); return map();
            default: throw new IllegalArgumentException("no command " + verb);
        }
    }

    // --- commands ---------------------------------------------------------------------------------------------------

    private static Map<String, Object> producer(String name, String group) throws Exception {
        TransactionMQProducer producer = new TransactionMQProducer(group, new Recording(name));
        producer.setNamesrvAddr(nameServer);
        producer.setInstanceName(name);
        producer.setTransactionListener(new Planned(name));
        producer.setSendMsgTimeout(15_000);
        producer.setRetryTimesWhenSendFailed(0);
        producer.start();
        PRODUCERS.put(name, producer);
        log("producer.start", "who", name, "group", group);
        return map();
    }

    /** What its listener shall answer for a message, also for one that another process has sent. */
    private static Map<String, Object> expect(Map<String, String> fields) {
        Plan before = PLANS.get(fields.get("key"));
        PLANS.put(fields.get("key"), new Plan(fields, before == null ? 0 : before.checks.get()));
        return map();
    }

    private static Map<String, Object> send(Map<String, String> fields) throws Exception {
        Message message = messageOf(fields);
        Plan plan = new Plan(fields, 0);
        PLANS.put(keyOf(message.getBody()), plan);
        storedHalf = null;
        try {
            TransactionSendResult sent = PRODUCERS.get(fields.get("producer")).sendMessageInTransaction(message, plan);
            log("send", "id", plan.id, "status", sent.getSendStatus().name(), "msgId", sent.getMsgId(), "offsetMsgId",
                sent.getOffsetMsgId(), "transactionId", sent.getTransactionId(), "queueOffset", sent.getQueueOffset(),
                "queueId", sent.getMessageQueue().getQueueId(), "topic", sent.getMessageQueue().getTopic(), "local",
                String.valueOf(sent.getLocalTransactionState()), "regionId", sent.getRegionId(), "properties",
                pairs(message));
            String place = storedHalf.get("msgId").split(",")[0];
            return map("queue_offset", storedHalf.get("queueOffset"), "commit_log_offset",
                Long.parseLong(place.substring(place.length() - 16), 16), "transaction_id", sent.getMsgId());
        } catch (Exception problem) {
            PLANS.remove(keyOf(message.getBody()));
            log("send.error", "id", plan.id, "err", problem.toString(), "cause", String.valueOf(problem.getCause()));
            throw problem;
        }
    }

    /** A message without a transaction. */
    private static Map<String, Object> sendPlain(Map<String, String> fields) throws Exception {
        SendResult sent = PRODUCERS.get(fields.get("producer")).send(messageOf(fields));
        log("sendPlain", "status", sent.getSendStatus().name(), "msgId", sent.getMsgId(), "queueOffset", sent.getQueueOffset());
        return map("queue_offset", sent.getQueueOffset());
    }

    private static Message messageOf(Map<String, String> fields) {
        Message message = new Message(fields.get("topic"), bytes(fields.get("body")));
        if (fields.containsKey("tags")) message.setTags(fields.get("tags"));
        if (fields.containsKey("keys")) message.setKeys(fields.get("keys"));
        message.setFlag((int) number(fields, "flag"));
        if ("false".equals(fields.get("wait"))) message.setWaitStoreMsgOK(false);
        for (Map.Entry<String, String> field : fields.entrySet())
            if (field.getKey().startsWith("p."))
                message.getProperties().put(field.getKey().substring(2), field.getValue());
        return message;
    }

    private static Map<String, Object> end(Map<String, String> fields) throws Exception {
        boolean oneway = "true".equals(fields.remove("oneway"));
        String name = fields.remove("producer"), label = fields.remove("label");
        Map<String, String> header = new TreeMap<>(fields);
        RemotingCommand response = invoke(name, END_TRANSACTION, header, null, oneway);
        Integer code = response == null ? null : response.getCode();
        String remark = response == null ? null : response.getRemark();
        log("rawEnd", "label", label, "req", header, "oneway", oneway, "respCode", code, "respRemark", remark);
        return response == null ? map() : map("code", code, "remark", String.valueOf(remark));
    }

    private static Map<String, Object> request(Map<String, String> fields) throws Exception {
        int code = (int) number(fields, "code");
        Map<String, String> header = new TreeMap<>();
        for (Map.Entry<String, String> field : fields.entrySet())
            if (field.getKey().startsWith("h.")) header.put(field.getKey().substring(2), field.getValue());
        RemotingCommand response = invoke(fields.get("producer"), code, header, bytes(fields.get("body")), false);
        log("request", "code", code, "respCode", response.getCode(), "respRemark", response.getRemark());
        return map("code", response.getCode(), "remark", String.valueOf(response.getRemark()));
    }

    private static Map<String, Object> checks(String key) {
        Plan plan = PLANS.get(key);
        MessageExt last = plan.lastCheck;
        return last == null ? map("count", plan.checks.get()) : map("count", plan.checks.get(), "queue_offset",
            last.getQueueOffset(), "commit_log_offset", last.getCommitLogOffset());
    }

    /** Waits until every plan is answered, one that never will be is checked for the last time, or nothing happens. */
    private static Map<String, Object> settle(long most, long interval, int checkMax) throws Exception {
        long start = System.currentTimeMillis(), patience = Math.max(40_000, 3 * interval);
        while (System.currentTimeMillis() - start < most && System.currentTimeMillis() - lastEvent < patience
            && !PLANS.values().stream().allMatch(plan -> plan.isOver(checkMax))) Thread.sleep(50);
        for (Plan plan : PLANS.values())
            log("plan.final", "id", plan.id, "exec", plan.local.name(), "checksSeen", plan.checks.get(), "answered",
                plan.isAnswered);
        long quiet = Math.max(5_000, 4 * interval), from = System.currentTimeMillis();
        while (System.currentTimeMillis() - lastEvent < quiet && System.currentTimeMillis() - from < 60_000)
            Thread.sleep(50);
        log("quiet", "ms", quiet);
        return map();
    }

    /** Pulls all that a consumer gets of some topics. */
    private static Map<String, Object> drain(String[] topics) throws Exception {
        DefaultMQPullConsumer consumer = new DefaultMQPullConsumer("drain-group");
        consumer.setNamesrvAddr(nameServer);
        consumer.setInstanceName("drain");
        consumer.start();
        int delivered = 0;
        for (String topic : topics) {
            List<MessageQueue> queues = new ArrayList<>();
            try {
                queues.addAll(consumer.fetchSubscribeMessageQueues(topic));
            } catch (Exception noSuchTopic) {
                log("drain.err", "topic", topic, "err", noSuchTopic.toString());
            }
            Collections.sort(queues);
            for (MessageQueue queue : queues) {
                PullResult pulled = consumer.pull(queue, "*", 0, 32, REQUEST_MS);
                while (pulled.getPullStatus() == PullStatus.FOUND) {
                    for (MessageExt message : pulled.getMsgFoundList()) log("delivered", "msg", fieldsOf(message));
                    delivered += pulled.getMsgFoundList().size();
                    pulled = consumer.pull(queue, "*", pulled.getNextBeginOffset(), 32, REQUEST_MS);
                }
                log("drain.end", "mq", topic + "/" + queue.getQueueId(), "status", pulled.getPullStatus().name(), "min",
                    pulled.getMinOffset(), "max", pulled.getMaxOffset());
            }
        }
        consumer.shutdown();
        return map("delivered", delivered);
    }

    /** One request to the broker over a producer's connection, with the header that it is given. */
    private static RemotingCommand invoke(
        String name, int code, Map<String, String> header, byte[] body, boolean oneway) throws Exception {
        RemotingCommand command = RemotingCommand.createRequestCommand(code, null);
        command.setExtFields(new HashMap<>(header));
        command.setBody(body);
        BY_HAND.set(true);
        try {
            if (!oneway) return remoting(PRODUCERS.get(name)).invokeSync(broker, command, REQUEST_MS);
            remoting(PRODUCERS.get(name)).invokeOneway(broker, command, REQUEST_MS);
            return null;
        } finally {
            BY_HAND.remove();
        }
    }

    private static RemotingClient remoting(TransactionMQProducer producer) throws Exception {
        Object owner = producer.getDefaultMQProducerImpl(), factory;
        try {
            factory = owner.getClass().getMethod("getMqClientFactory").invoke(owner);
        } catch (NoSuchMethodException oldSpelling) {
            factory = owner.getClass().getMethod("getmQClientFactory").invoke(owner);
        }
        Object api = factory.getClass().getMethod("getMQClientAPIImpl").invoke(factory);
        return (RemotingClient) api.getClass().getMethod("getRemotingClient").invoke(api);
    }

    // --- listener and hook ------------------------------------------------------------------------------------------

    /** What the local transaction comes to, and what its checks are answered; the last answer repeats. */
    private static final class Plan {
        final String id;
        final LocalTransactionState local;
        final LocalTransactionState[] answers;
        final AtomicInteger checks;
        volatile boolean isAnswered;
        volatile MessageExt lastCheck;

        Plan(Map<String, String> fields, int checksBefore) {
            id = fields.get("id");
            local = LocalTransactionState.valueOf(fields.get("local"));
            String given = fields.getOrDefault("answers", "");
            answers = given.isEmpty() ? new LocalTransactionState[] {local}
                : Arrays.stream(given.split(",")).map(LocalTransactionState::valueOf).toArray(LocalTransactionState[]::new);
            checks = new AtomicInteger(checksBefore);
            isAnswered = local != LocalTransactionState.UNKNOW || "true".equals(fields.get("answered"));
        }

        LocalTransactionState next(int check) {
            LocalTransactionState state = answers[Math.min(check, answers.length) - 1];
            if (state != LocalTransactionState.UNKNOW) isAnswered = true;
            return state;
        }

        boolean isOver(int checkMax) {
            return answers[answers.length - 1] == LocalTransactionState.UNKNOW ? checks.get() >= checkMax : isAnswered;
        }
    }

    private static final class Planned implements TransactionListener {
        private final String who;

        Planned(String who) {
            this.who = who;
        }

        @Override
        public LocalTransactionState executeLocalTransaction(Message message, Object argument) {
            Plan plan = (Plan) argument;
            try {
                for (int waited = 0; storedHalf == null && waited < 200; waited++) Thread.sleep(5);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
            log("execLocal", "who", who, "id", plan.id, "transactionId", message.getTransactionId(), "properties",
                pairs(message), "result", plan.local.name());
            return plan.local;
        }

        @Override
        public LocalTransactionState checkLocalTransaction(MessageExt message) {
            Plan plan = PLANS.get(keyOf(message.getBody()));
            int check = plan == null ? -1 : plan.checks.incrementAndGet();
            LocalTransactionState state = plan == null ? LocalTransactionState.UNKNOW : plan.next(check);
            if (plan != null) plan.lastCheck = message;
            log("check", "who", who, "id", plan == null ? "?" : plan.id, "n", check, "answer", state.name(), "msg",
                fieldsOf(message));
            return state;
        }
    }

    /** Records the requests of a transaction and what was answered; 4.x calls it on the sender's thread, 5.x on Netty's. */
    private static final class Recording implements RPCHook {
        private final String who;

        Recording(String who) {
            this.who = who;
        }

        @Override
        public void doBeforeRequest(String address, RemotingCommand request) {
            if (!isOfTransactions(request.getCode()) || request.getCode() == END_TRANSACTION && BY_HAND.get()) return;
            log("rpc.req", "who", who, "code", request.getCode(), "oneway", request.isOnewayRPC(), "remark",
                request.getRemark(), "header", declaredFields(request.readCustomHeader()), "ext",
                sorted(request.getExtFields()), "bodyLen", request.getBody() == null ? 0 : request.getBody().length);
        }

        @Override
        public void doAfterResponse(String address, RemotingCommand request, RemotingCommand response) {
            if (response == null || !isOfTransactions(request.getCode())) return;
            log("rpc.resp", "who", who, "code", request.getCode(), "respCode", response.getCode(), "remark",
                response.getRemark(), "ext", sorted(response.getExtFields()));
            boolean isSend = request.getCode() == SEND || request.getCode() == SEND_V2;
            if (isSend && response.getExtFields() != null && response.getExtFields().get("msgId") != null)
                storedHalf = new HashMap<>(response.getExtFields());
        }

        private static boolean isOfTransactions(int code) {
            return code == SEND || code == SEND_V2 || code == END_TRANSACTION || code == CHECK;
        }
    }

    // --- what is written --------------------------------------------------------------------------------------------

    /** What a body says before its first stroke, by which a plan is found again. */
    private static String keyOf(byte[] body) {
        String text = new String(body, StandardCharsets.UTF_8);
        return text.substring(0, Math.min(40, text.length())).split("\\|")[0];
    }

    private static byte[] bytes(String hexadecimal) {
        byte[] bytes = new byte[hexadecimal.length() / 2];
        for (int i = 0; i < bytes.length; i++) bytes[i] = (byte) Integer.parseInt(hexadecimal.substring(2 * i, 2 * i + 2), 16);
        return bytes;
    }

    private static long number(Map<String, String> fields, String name) {
        return Long.parseLong(fields.getOrDefault(name, "0"));
    }

    private static Map<String, String> fieldsOf(String query) throws Exception {
        Map<String, String> fields = new LinkedHashMap<>();
        for (String field : query.isEmpty() ? new String[0] : query.split("&")) {
            String[] parts = field.split("=", 2);
            fields.put(URLDecoder.decode(parts[0], "UTF-8"), URLDecoder.decode(parts[1], "UTF-8"));
        }
        return fields;
    }

    private static void answer(String word, Map<String, Object> fields) throws Exception {
        StringBuilder line = new StringBuilder("= ").append(word).append(' ');
        for (Map.Entry<String, Object> field : fields.entrySet())
            line.append(field.getKey()).append('=').append(URLEncoder.encode(String.valueOf(field.getValue()), "UTF-8")).append('&');
        System.out.println(line);
        System.out.flush();
    }

    private static Map<String, Object> fieldsOf(MessageExt message) {
        return map("topic", message.getTopic(), "queueId", message.getQueueId(), "queueOffset", message.getQueueOffset(),
            "commitLogOffset", message.getCommitLogOffset(), "msgId", message.getMsgId(), "offsetMsgId",
            message instanceof MessageClientExt ? ((MessageClientExt) message).getOffsetMsgId() : null, "transactionId",
            message.getTransactionId(), "sysFlag", message.getSysFlag(), "flag", message.getFlag(), "bornTimestamp",
            message.getBornTimestamp(), "storeTimestamp", message.getStoreTimestamp(), "reconsumeTimes",
            message.getReconsumeTimes(), "preparedTransactionOffset", message.getPreparedTransactionOffset(), "storeSize",
            message.getStoreSize(), "bodyCRC", message.getBodyCRC(), "tags", message.getTags(), "keys", message.getKeys(),
            "body", new String(message.getBody(), StandardCharsets.UTF_8), "properties", pairs(message));
    }

    private static List<Object> pairs(Message message) {
        List<Object> pairs = new ArrayList<>();
        for (Map.Entry<String, String> property : message.getProperties().entrySet())
            pairs.add(Arrays.asList(property.getKey(), property.getValue()));
        return pairs;
    }

    private static Map<String, String> sorted(Map<String, String> fields) {
        return fields == null ? null : new TreeMap<>(fields);
    }

    private static Map<String, Object> declaredFields(Object header) {
        Map<String, Object> found = new TreeMap<>();
        for (Class<?> type = header == null ? null : header.getClass(); type != null && type != Object.class; type = type.getSuperclass())
            for (Field field : type.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers())) continue;
                try {
                    field.setAccessible(true);
                    Object value = field.get(header);
                    if (value != null) found.put(field.getName(), String.valueOf(value));
                } catch (ReflectiveOperationException hidden) {
                    found.put(field.getName(), "?");
                }
            }
        return found;
    }

    private static Map<String, Object> map(Object... keysAndValues) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) map.put((String) keysAndValues[i], keysAndValues[i + 1]);
        return map;
    }

    private static void log(String event, Object... keysAndValues) {
        log(event, map(keysAndValues));
    }

    private static synchronized void log(String event, Map<String, ?> what) {
        Map<String, Object> line = map("seq", sequence++, "t", System.currentTimeMillis(), "ev", event);
        line.putAll(what);
        events.println(json(line));
        events.flush();
        lastEvent = System.currentTimeMillis();
    }

    private static String json(Object value) {
        if (value == null || value instanceof Number || value instanceof Boolean) return String.valueOf(value);
        List<String> parts = new ArrayList<>();
        if (value instanceof Map) {
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet())
                parts.add(json(String.valueOf(entry.getKey())) + ":" + json(entry.getValue()));
            return "{" + String.join(",", parts) + "}";
        }
        if (value instanceof Collection) {
            for (Object item : (Collection<?>) value) parts.add(json(item));
            return "[" + String.join(",", parts) + "]";
        }
        StringBuilder text = new StringBuilder("\"");
        for (char c : value.toString().toCharArray())
            if (c == '"' || c == '\\') text.append('\\').append(c);
            else if (c < 32) text.append(String.format("\\u%04x", (int) c));
            else text.append(c);
        return text.append('"').toString();
    }
}
