package halfcheck.agent;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.StringJoiner;

/** Rewrites RocketMQ's classes as they are loaded; the jars stay as they were published. */
public final class Agent implements ClassFileTransformer {
    public static void premain(String arguments, Instrumentation instrumentation) {
        instrumentation.addTransformer(new Agent());
    }

    @Override
    public byte[] transform(
        ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        if (name == null || !name.startsWith("org/apache/rocketmq/")) {
            return null;
        }
        try {
            return Rewriter.rewrite(name, bytes);
        } catch (RuntimeException error) {
            // Whatever a transformer throws is lost.
            Rewriter.FAILURES.add(name + ": " + error);
            return null;
        }
    }

    /** What was rewritten and how often, what RocketMQ wanted to start, and the errors that it logged. */
    public static String report() {
        StringJoiner line = new StringJoiner("|");
        Rewriter.COUNTS.forEach((what, times) -> line.add(what + "=" + times));
        line.add("threads wanted=" + VirtualTime.THREADS).add("timers wanted=" + VirtualTime.TIMERS);
        line.add("errors logged=" + VirtualTime.ERRORS).add("classes left alone=" + Rewriter.FAILURES.size());
        return line.toString();
    }
}
