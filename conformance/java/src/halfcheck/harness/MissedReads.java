package halfcheck.harness;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.GetMessageResult;
import org.apache.rocketmq.store.GetMessageStatus;
import org.apache.rocketmq.store.MessageStore;

/** The store as the check service sees it, whose next reads may find nothing. */
final class MissedReads {
    private final DefaultMessageStore store;
    private final Deque<String> missed = new ArrayDeque<>();
    private long nextBeginOffset;
    private long maxOffset;

    MissedReads(DefaultMessageStore store) {
        this.store = store;
    }

    /** The next read gives nothing at all, or that the message is being removed. */
    void miss(String answer, long next, long max) {
        missed.push(answer);
        nextBeginOffset = next;
        maxOffset = max;
    }

    MessageStore store() {
        return (MessageStore) Proxy.newProxyInstance(
            MissedReads.class.getClassLoader(), new Class<?>[] {MessageStore.class}, (proxy, method, arguments) -> {
                if (method.getName().equals("getMessage") && !missed.isEmpty()) {
                    return answer(missed.pop());
                }
                try {
                    return method.invoke(store, arguments);
                } catch (InvocationTargetException error) {
                    throw error.getCause();
                }
            });
    }

    private Object answer(String answer) {
        if (answer.equals("error")) {
            throw new OutOfMemoryError();
        }
        if (answer.equals("nothing")) {
            return null;
        }
        GetMessageResult found = new GetMessageResult();
        found.setStatus(GetMessageStatus.valueOf(answer));
        found.setNextBeginOffset(nextBeginOffset);
        found.setMaxOffset(maxOffset);
        return found;
    }
}
