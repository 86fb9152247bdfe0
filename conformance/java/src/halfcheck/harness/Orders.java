package halfcheck.harness;

import halfcheck.agent.Activity;
import halfcheck.agent.Settings;
import halfcheck.agent.VirtualTime;
import java.io.File;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.rocketmq.broker.client.ClientChannelInfo;
import org.apache.rocketmq.broker.processor.AdminBrokerProcessor;
import org.apache.rocketmq.broker.processor.EndTransactionProcessor;
import org.apache.rocketmq.broker.processor.SendMessageProcessor;
import org.apache.rocketmq.remoting.netty.NettyRequestProcessor;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.store.config.BrokerRole;

/** What may be done to a broker, an order each, with the answer in words. */
final class Orders {
    private static final int SEND_MESSAGE = 10;
    private static final int END_TRANSACTION = 37;
    private static final int RESUME_CHECK_HALF_MESSAGE = 323;
    private static final String COMMIT = "8";
    private static final int PORT_IN_RECORD = 52;

    private final Digest digest = new Digest();
    private final Digest digestOfOther = new Digest();
    private Producers producers = new Producers();
    private BrokerProcess process;
    private OtherMaster other;
    private Map<String, String> settings;
    private File folder;
    private int stores;

    /** Carries out an order; the answer is its result and the state after it. */
    String carryOut(String order, Map<String, String> with) throws Exception {
        switch (order) {
            case "advance":
                VirtualTime.advance(number(with, "ms"));
                return "";
            case "step":
                VirtualTime.step(number(with, "ms"));
                return "";
            case "lose power":
                process.die();
                new PowerLoss(folder, Integer.parseInt(settings.get("logFile")))
                    .take(number(with, "end"), with.containsKey("keepsEntries"));
                return "";
            case "die":
                process.die();
                process = null;
                return "";
            case "end shutdown":
                process.endShutdown();
                process.die();
                return "";
            case "network":
                other.network(with.get("takesMessages").equals("true"), with.get("answers").equals("true"));
                return "";
            case "look at other":
                return "|" + digestOfOther.of(other.process(), settings.get("topic"));
            case "end at other":
                return end(other.process(), with) + "|" + digestOfOther.of(other.process(), settings.get("topic"));
            case "go on with end at other":
                return goOn(other.process(), with.get("number")) + "|"
                    + digestOfOther.of(other.process(), settings.get("topic"));
            case "creep":
                return new Questions(process).answer(order, with);
            default:
                if (order.startsWith("ask ")) {
                    return new Questions(process).answer(order, with);
                }
                return result(order, with) + "|" + digest.of(process, settings.get("topic"));
        }
    }

    private String result(String order, Map<String, String> with) throws Exception {
        switch (order) {
            case "open":
                open(with);
                return "";
            case "send":
                return send(with);
            case "end":
                return end(process, with);
            case "go on with end":
                return goOn(process, with.get("number"));
            case "begin round":
                return process.checks.isDue() ? placeInRound(process.checks.go()) : "waits";
            case "oversleep":
                process.checks.oversleep(number(with, "ms"));
                return "";
            case "pass":
                return pass(with.containsKey("stopsInSleep"));
            case "interrupt":
                return placeInRound(process.checks.interrupt());
            case "batch":
                process.writeOpBatches();
                return "";
            case "dispatch":
                process.dispatch();
                return "";
            case "flush":
                process.flush();
                return "";
            case "save offsets":
                process.broker.getConsumerOffsetManager().persist();
                return "";
            case "set offsets":
                setOffset(with.get("topic"), with.get("offset"));
                return "";
            case "connect":
                process.broker.getProducerManager().registerProducer(with.get("group"),
                    new ClientChannelInfo(producers.connection(with.get("client")), with.get("client"), null, 1));
                return "";
            case "disconnect":
                process.broker.getProducerManager().doChannelCloseEvent(with.get("client"), producers.end(with.get("client")));
                return "";
            case "refuse puts":
                process.store.getRunningFlags().getAndMakeDiskFull();
                return "";
            case "take puts":
                process.store.getRunningFlags().getAndMakeDiskOK();
                return "";
            case "miss read":
                process.reads.miss(with.get("gives"), number(with, "next"), number(with, "max"));
                return "";
            case "damage":
                damage(number(with, "place"));
                return "";
            case "roll":
                process.roll();
                return "";
            case "delete files":
                process.deleteFilesBefore(number(with, "before"));
                return "";
            case "move lower ends":
                process.moveLowerEnds();
                return "";
            case "restart":
                process.die();
                process = new BrokerProcess(folder, settings, false, producers);
                return "";
            case "act for master":
                process.die();
                process = new BrokerProcess(folder, settings, true, producers);
                if (other == null) {
                    other = new OtherMaster(new File(folder.getPath() + "-other"), settings);
                }
                other.route(process);
                return "";
            case "begin shutdown":
                process.beginShutdown();
                return placeInRound(process.checks.at());
            case "role":
                process.become(BrokerRole.valueOf(with.get("role")));
                return "";
            case "resume":
                return resume(with.get("id"));
            default:
                return new Operations(process, producers).carryOut(order, with);
        }
    }

    /** Opens a broker on an empty store. */
    private void open(Map<String, String> with) {
        close();
        settings = with;
        folder = with.containsKey("store") ? new File(with.get("store")) : new File(with.get("root"), Integer.toString(stores++));
        VirtualTime.begin(number(with, "now"));
        Settings.set(
            number(with, "timeLimit"), Integer.parseInt(with.get("pullNums")), number(with, "reservedUnit"));
        digest.forget();
        digestOfOther.forget();
        producers = new Producers();
        process = new BrokerProcess(folder, with, false, producers);
    }

    /** Ends the broker, and removes its store. */
    void close() {
        if (process != null) {
            process.die();
            delete(folder);
            process = null;
        }
        if (other != null) {
            other.process().die();
            delete(other.folder());
            other = null;
        }
    }

    static void delete(File file) {
        File[] within = file.listFiles();
        if (within != null) {
            for (File each : within) {
                delete(each);
            }
        }
        file.delete();
    }

    private String send(Map<String, String> with) throws Exception {
        RemotingCommand request = RemotingCommand.createRequestCommand(SEND_MESSAGE, null);
        HashMap<String, String> header = new HashMap<>();
        header.put("producerGroup", with.get("group"));
        header.put("topic", with.get("topic"));
        header.put("defaultTopic", "TBW102");
        header.put("defaultTopicQueueNums", "4");
        header.put("queueId", with.get("queue"));
        header.put("sysFlag", with.get("sysFlag"));
        header.put("bornTimestamp", with.get("born"));
        header.put("flag", with.get("flag"));
        header.put("properties", with.get("properties"));
        header.put("reconsumeTimes", with.get("reconsumeTimes"));
        header.put("unitMode", "false");
        header.put("batch", "false");
        request.setExtFields(header);
        request.setBody(HexFormat.of().parseHex(with.get("body")));
        Producers.Connection from = producers.connection(with.get("client"));
        NettyRequestProcessor processor = new SendMessageProcessor(process.broker);
        RemotingCommand answer = answer(processor, from, request);
        if (answer.getCode() != 0) {
            return Integer.toString(answer.getCode());
        }
        Object found = answer.readCustomHeader();
        return "0 " + Reflection.call(found, "getQueueOffset") + " " + Reflection.call(found, "getMsgId");
    }

    /** What a processor returns or writes; what it throws behind its answer, the remoting server only logs. */
    private static RemotingCommand answer(
        NettyRequestProcessor processor, Producers.Connection from, RemotingCommand request) throws Exception {
        RemotingCommand returned = null;
        Exception thrown = null;
        try {
            returned = processor.processRequest(from.context(), request);
        } catch (Exception error) {
            thrown = error;
        }
        RemotingCommand written = (RemotingCommand) from.lastWritten();
        if (returned == null && written == null && thrown != null) {
            throw thrown;
        }
        return returned == null ? written : returned;
    }

    private String end(BrokerProcess at, Map<String, String> with) throws Exception {
        RemotingCommand request = RemotingCommand.createRequestCommand(END_TRANSACTION, null);
        HashMap<String, String> header = new HashMap<>();
        header.put("producerGroup", with.get("group"));
        header.put("tranStateTableOffset", with.get("half"));
        header.put("commitLogOffset", with.get("place"));
        header.put("commitOrRollback", with.get("says"));
        header.put("fromTransactionCheck", with.get("answersCheck"));
        header.put("msgId", "");
        header.put("transactionId", "");
        request.setExtFields(header);
        Ending ending = new Ending(new EndTransactionProcessor(at.broker), producers.connection(with.get("client")).context(),
            request, with.get("says").equals(COMMIT));
        at.ends.put(with.get("number"), ending);
        return goOn(at, with.get("number"));
    }

    private static String goOn(BrokerProcess at, String number) {
        Ending ending = at.ends.get(number);
        String answer = ending.go();
        if (ending.isOver()) {
            at.ends.remove(number);
        }
        return answer;
    }

    /** A pass of the round: from the head of its loop to the next head, or to the round's end. */
    private String pass(boolean stopsInSleep) {
        Activity checks = process.checks;
        if (checks.at().equals(Activity.ASLEEP)) {
            checks.go();
        }
        do {
            checks.go();
        } while (checks.at().equals(Activity.ASLEEP) && !stopsInSleep);
        return placeInRound(checks.at());
    }

    private String placeInRound(String at) {
        Throwable thrown = process.checks.thrown();
        if (thrown instanceof Error) {
            return "over by an Error";
        }
        if (thrown != null) {
            throw new IllegalStateException(thrown);
        }
        return process.isInRound() ? at : "over";
    }

    private String resume(String messageId) throws Exception {
        RemotingCommand request = RemotingCommand.createRequestCommand(RESUME_CHECK_HALF_MESSAGE, null);
        HashMap<String, String> header = new HashMap<>();
        header.put("msgId", messageId);
        request.setExtFields(header);
        AdminBrokerProcessor processor = new AdminBrokerProcessor(process.broker);
        return Integer.toString(processor.processRequest(null, request).getCode());
    }

    /** Puts a committed offset in place of what is in memory, as an older file does that is synchronized. */
    private void setOffset(String topic, String offset) {
        ConcurrentMap<Integer, Long> offsets = new ConcurrentHashMap<>();
        if (!offset.isEmpty()) {
            offsets.put(0, Long.parseLong(offset));
        }
        process.broker.getConsumerOffsetManager().getOffsetTable()
            .put(topic + "@" + BrokerProcess.CHECK_GROUP, offsets);
    }

    /** Lets a record rot so that it can't be decoded: its producer gets a port that there is not. */
    private void damage(long place) {
        for (Object file : (Iterable<?>) Reflection.call(process.logFiles(), "getMappedFiles")) {
            long at = place + PORT_IN_RECORD - (Long) Reflection.call(file, "getFileFromOffset");
            if (at >= 0 && at < (Integer) Reflection.call(file, "getFileSize")) {
                ((ByteBuffer) Reflection.get(file, "mappedByteBuffer")).put((int) at, (byte) 0xff);
            }
        }
    }

    private static long number(Map<String, String> with, String name) {
        return Long.parseLong(with.get(name));
    }
}
