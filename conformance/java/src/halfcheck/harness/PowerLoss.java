package halfcheck.harness;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;

/** A loss of power: of the files of a store, what was written behind a place of the log is zero again. */
final class PowerLoss {
    private static final int ENTRY_BYTES = 20;

    private final File folder;
    private final int logFileSize;

    PowerLoss(File folder, int logFileSize) {
        this.folder = folder;
        this.logFileSize = logFileSize;
    }

    /** Takes the log from a place on, and the entries of the queues for it, unless these were flushed. */
    void take(long end, boolean keepsEntries) throws IOException {
        for (File file : files(new File(folder, "commitlog"))) {
            long start = Long.parseLong(file.getName());
            if (start > end && !file.delete()) {
                throw new IOException(file + " can't be deleted");
            }
            if (start <= end && start + logFileSize > end) {
                try (RandomAccessFile bytes = new RandomAccessFile(file, "rw")) {
                    bytes.setLength(end - start);
                    bytes.setLength(logFileSize);
                }
            }
        }
        if (keepsEntries) {
            return;
        }
        for (File topic : files(new File(folder, "consumequeue"))) {
            for (File queue : files(topic)) {
                for (File file : files(queue)) {
                    if (eraseEntries(file, end) && !file.delete()) {
                        throw new IOException(file + " can't be deleted");
                    }
                }
            }
        }
    }

    /** Erases the entries for what is gone; gives whether the first is among them, and the file as good as never made. */
    private static boolean eraseEntries(File file, long end) throws IOException {
        boolean isFirst = false;
        try (RandomAccessFile bytes = new RandomAccessFile(file, "rw")) {
            byte[] entry = new byte[ENTRY_BYTES];
            for (long at = 0; at + ENTRY_BYTES <= bytes.length(); at += ENTRY_BYTES) {
                bytes.seek(at);
                bytes.readFully(entry);
                ByteBuffer read = ByteBuffer.wrap(entry);
                long offset = read.getLong();
                if (read.getInt() == 0) {
                    return isFirst;
                }
                if (offset >= end) {
                    isFirst |= at == 0;
                    bytes.seek(at);
                    bytes.write(new byte[ENTRY_BYTES]);
                }
            }
        }
        return isFirst;
    }

    private static File[] files(File in) {
        File[] found = in.listFiles();
        return found == null ? new File[0] : found;
    }
}
