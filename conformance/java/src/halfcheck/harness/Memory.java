package halfcheck.harness;

import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import sun.misc.Unsafe;

/** Mapped memory, which a process that goes on must give back when one of its brokers dies. */
final class Memory {
    private static final Unsafe UNSAFE = unsafe();

    private Memory() { }

    static void unmap(ByteBuffer buffer) {
        UNSAFE.invokeCleaner(buffer);
    }

    private static Unsafe unsafe() {
        try {
            Field field = Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (Unsafe) field.get(null);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }
}
