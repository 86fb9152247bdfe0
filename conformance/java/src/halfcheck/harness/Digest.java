package halfcheck.harness;

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.zip.CRC32;

/** The state of a broker in one line: all that its files and its check service hold, as far as it is new. */
final class Digest {
    private static final String[] TOPICS = {
        BrokerProcess.HALF_TOPIC, BrokerProcess.OP_TOPIC, BrokerProcess.DISCARD_TOPIC};
    private long seen;

    /** Forgets what it has seen: the log is a new one. */
    void forget() {
        seen = 0;
    }

    /**
     * Beginning and end of the log and a checksum of what is new in it, the committed offsets, both ends of the queues, the
     * offsets that wait for a batch, and the check requests that were sent since the last time.
     */
    String of(BrokerProcess process, String topic) {
        StringJoiner line = new StringJoiner("|");
        long end = process.store.getMaxPhyOffset();
        seen = Math.min(seen, end);
        line.add(Long.toString(Math.max(process.store.getCommitLog().getMinOffset(), 0)));
        line.add(Long.toString(end)).add(checksum(process, seen, end));
        seen = end;
        for (String each : new String[] {BrokerProcess.HALF_TOPIC, BrokerProcess.OP_TOPIC}) {
            line.add("" + process.broker.getConsumerOffsetManager().queryOffset(BrokerProcess.CHECK_GROUP, each, 0));
        }
        for (String each : TOPICS) {
            line.add(queueEnd(process, each));
        }
        line.add(queueEnd(process, topic));
        for (String each : new String[] {BrokerProcess.HALF_TOPIC, BrokerProcess.OP_TOPIC}) {
            line.add(Long.toString(Math.max((Long) Reflection.call(process.store, "getMinOffsetInQueue", each, 0), 0)));
        }
        line.add(batch(process));
        line.add(String.join(",", process.checkRequests));
        process.checkRequests.clear();
        return line.toString();
    }

    private static String queueEnd(BrokerProcess process, String topic) {
        return Reflection.call(process.store, "getMaxOffsetInQueue", topic, 0).toString();
    }

    private static String checksum(BrokerProcess process, long from, long end) {
        CRC32 checksum = new CRC32();
        long at = from;
        for (Object file : (List<?>) Reflection.call(process.logFiles(), "getMappedFiles")) {
            long start = (Long) Reflection.call(file, "getFileFromOffset");
            int size = (Integer) Reflection.call(file, "getFileSize");
            if (at < end && start <= at && at < start + size) {
                ByteBuffer bytes = ((ByteBuffer) Reflection.get(file, "mappedByteBuffer")).duplicate();
                bytes.limit((int) (Math.min(end, start + size) - start));
                bytes.position((int) (at - start));
                at = start + bytes.limit();
                checksum.update(bytes);
            }
        }
        return Long.toHexString(checksum.getValue());
    }

    private static String batch(BrokerProcess process) {
        if (!Reflection.hasField(process.transactions, "deleteContext")) {
            return "";
        }
        Object context = ((Map<?, ?>) Reflection.get(process.transactions, "deleteContext")).get(0);
        StringBuilder entries = new StringBuilder();
        if (context != null) {
            entries.append(Reflection.get(context, "lastWriteTimestamp")).append(' ');
            ((Collection<?>) Reflection.get(context, "contextQueue")).forEach(entries::append);
        }
        return entries.toString();
    }
}
