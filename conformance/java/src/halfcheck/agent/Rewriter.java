package halfcheck.agent;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Sends clock, sleeps, threads and timers to {@link VirtualTime}, and puts stops into the check round and into
 * END_TRANSACTION. Buffers are taken from the heap, where they are given back when a broker is gone. What is done how often is counted, so that a release that is built otherwise is noticed.
 */
final class Rewriter extends ClassVisitor {
    static final Map<String, Integer> COUNTS = new TreeMap<>();
    static final List<String> FAILURES = new CopyOnWriteArrayList<>();

    private static final String PACKAGE = "halfcheck/agent/";
    private static final String TIMER = "Ljava/util/concurrent/ScheduledExecutorService;";
    private static final String FUTURE = "Ljava/util/concurrent/ScheduledFuture;";
    private static final String CHECK_SERVICE =
        "org/apache/rocketmq/broker/transaction/queue/TransactionalMessageServiceImpl";
    private static final Set<String> WITHOUT_BODY = Set.of(
        // They listen on a port.
        "org/apache/rocketmq/store/ha/HAService.start",
        "org/apache/rocketmq/store/ha/DefaultHAService.init",
        "org/apache/rocketmq/store/ha/DefaultHAService.start",
        "org/apache/rocketmq/store/ha/HAService.shutdown",
        "org/apache/rocketmq/store/ha/DefaultHAService.shutdown");
    private static final String SERVICE = "org/apache/rocketmq/common/ServiceThread";
    private static final String STORE = "org/apache/rocketmq/store/DefaultMessageStore";
    private static final String ROCKS_DB = "MessageRocksDBStorage.postLoad";

    private final String className;

    private Rewriter(String className, ClassVisitor next) {
        super(Opcodes.ASM9, next);
        this.className = className;
    }

    static byte[] rewrite(String className, byte[] bytes) {
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(new Rewriter(className, writer), 0);
        return writer.toByteArray();
    }

    private static synchronized void count(String what) {
        COUNTS.merge(what, 1, Integer::sum);
    }

    @Override
    public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] thrown) {
        MethodVisitor next = super.visitMethod(access, name, descriptor, signature, thrown);
        String method = className + "." + name;
        if ((access & Opcodes.ACC_ABSTRACT) == 0 && WITHOUT_BODY.contains(method)) {
            count("left out");
            return returning(next, Opcodes.RETURN);
        }
        if (method.endsWith(ROCKS_DB)) {
            // It is opened whether it is used or not.
            count("left out");
            return returning(next, Opcodes.IRETURN);
        }
        return new Calls(next, className, name);
    }

    /** The method without what it does: it returns at once, true if it gives something. */
    private static MethodVisitor returning(MethodVisitor next, int instruction) {
        next.visitCode();
        if (instruction == Opcodes.IRETURN) {
            next.visitInsn(Opcodes.ICONST_1);
        }
        next.visitInsn(instruction);
        next.visitMaxs(1, 4);
        next.visitEnd();
        return new MethodVisitor(Opcodes.ASM9) { };
    }

    private static final class Calls extends MethodVisitor {
        private final String checkMethod;
        private final boolean closesStore;
        private final boolean isService;
        private final boolean isRun;
        private final boolean isWait;
        private int clockReadings;

        Calls(MethodVisitor next, String className, String method) {
            super(Opcodes.ASM9, next);
            checkMethod = className.equals(CHECK_SERVICE) ? method : "";
            closesStore = className.equals(STORE) && method.equals("shutdown");
            isService = className.equals(SERVICE);
            isRun = method.equals("onWaitEnd");
            isWait = isService && method.equals("waitForRunning");
        }

        @Override
        public void visitCode() {
            super.visitCode();
            if (checkMethod.equals("deletePrepareMessage")) {
                stop("message stored");
            } else if (closesStore) {
                stop(Activity.STORE_CLOSES);
            } else if (isWait) {
                super.visitVarInsn(Opcodes.LLOAD, 1);
                call("VirtualTime", "beforeWait", "(J)V", "stop: before a wait");
            } else if (isRun) {
                call("Activity", "live", "()V", "run of a service");
            }
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            if (owner.equals("java/lang/System") && (name.equals("currentTimeMillis") || name.equals("nanoTime"))) {
                // The head of the loop over the half queue is the second place in which check() reads the clock.
                if (checkMethod.equals("check") && ++clockReadings == 2) {
                    stop("next half");
                }
                if (checkMethod.equals("check")) {
                    count("clock readings in check");
                }
                call("VirtualTime", name, descriptor, "clock");
            } else if (owner.equals("java/lang/Thread") && name.equals("sleep") && descriptor.equals("(J)V")) {
                call("VirtualTime", name, descriptor, "sleep");
            } else if (owner.equals("java/util/concurrent/TimeUnit") && name.equals("sleep")) {
                call("VirtualTime", name, "(Ljava/util/concurrent/TimeUnit;J)V", "sleep");
            } else if (opcode == Opcodes.INVOKEVIRTUAL && owner.equals("java/lang/Thread") && name.equals("start")) {
                call("VirtualTime", name, "(Ljava/lang/Thread;)V", "thread");
            } else if (owner.equals("java/lang/Thread") && name.equals("join") && descriptor.equals("(J)V")) {
                call("VirtualTime", name, "(Ljava/lang/Thread;J)V", "join");
            } else if (isService && name.equals("await")) {
                call("VirtualTime", name, "(Ljava/lang/Object;JLjava/util/concurrent/TimeUnit;)Z", "stop: waiting");
            } else if (isService && name.equals("parkNanos")) {
                call("VirtualTime", name, descriptor, "stop: waiting");
            } else if (isService && name.equals("currentThread")) {
                call("VirtualTime", name, descriptor, "current thread");
            } else if (name.startsWith("schedule") && descriptor.endsWith(FUTURE) && owner.startsWith("java/util/")
                && descriptor.startsWith("(Ljava/lang/Runnable;")) {
                call("VirtualTime", name, "(" + TIMER + descriptor.substring(1), "timer");
            } else if (owner.equals("java/util/Timer") && name.startsWith("schedule")) {
                call("VirtualTime", name, "(Ljava/util/Timer;" + descriptor.substring(1), "timer");
            } else if (name.equals("directBuffer") && owner.startsWith("io/netty/buffer/")) {
                count("buffer on the heap");
                super.visitMethodInsn(opcode, owner, "heapBuffer", descriptor, isInterface);
            } else if (name.equals("allocateDirect") && owner.equals("java/nio/ByteBuffer")) {
                count("buffer on the heap");
                super.visitMethodInsn(opcode, owner, "allocate", descriptor, isInterface);
            } else {
                if (name.equals("error") && owner.endsWith("Logger")) {
                    call("VirtualTime", "error", "()V", "logged error");
                }
                super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
            }
        }

        @Override
        public void visitLdcInsn(Object value) {
            if (checkMethod.equals("check") && value.equals(60_000L)) {
                call("Settings", "maxProcessTimeLimit", "()J", "MAX_PROCESS_TIME_LIMIT");
            } else if (checkMethod.equals("needSkip") && value.equals(3_600L)) {
                call("Settings", "reservedUnit", "()J", "hours of fileReservedTime");
            } else {
                super.visitLdcInsn(value);
            }
        }

        @Override
        public void visitIntInsn(int opcode, int operand) {
            if (checkMethod.equals("fillOpRemoveMap") && opcode == Opcodes.BIPUSH && operand == 32) {
                call("Settings", "opMsgPullNums", "()I", "OP_MSG_PULL_NUMS");
            } else {
                super.visitIntInsn(opcode, operand);
            }
        }

        private void stop(String where) {
            super.visitLdcInsn(where);
            call("Activity", "stop", "(Ljava/lang/String;)V", "stop: " + where);
        }

        private void call(String owner, String name, String descriptor, String what) {
            count(what);
            super.visitMethodInsn(Opcodes.INVOKESTATIC, PACKAGE + owner, name, descriptor, false);
        }
    }
}
