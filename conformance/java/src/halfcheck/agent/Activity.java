package halfcheck.agent;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/** One of the broker's threads at work, which goes on only when it is told to, and then to its next stop. */
public final class Activity {
    private static final ThreadLocal<Activity> CURRENT = new ThreadLocal<>();
    private static final ExecutorService THREADS = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "activity");
        thread.setDaemon(true);
        return thread;
    });

    private final Semaphore mayGo = new Semaphore(0);
    private final Semaphore hasStopped = new Semaphore(0);
    private volatile String at = "";
    private volatile boolean isOver;
    private volatile boolean isKilled;
    private volatile boolean isInterrupted;
    private volatile Throwable thrown;

    public Activity(Runnable work) {
        THREADS.execute(() -> {
            mayGo.acquireUninterruptibly();
            CURRENT.set(this);
            try {
                if (!isKilled) {
                    work.run();
                }
            } catch (Killed killed) {
                // The process is gone.
            } catch (Throwable error) {
                thrown = error;
            }
            CURRENT.remove();
            isOver = true;
            at = "over";
            hasStopped.release();
        });
    }

    static Activity current() {
        return CURRENT.get();
    }

    /** Called where {@link Rewriter} has put a stop into a method of RocketMQ's. */
    public static void stop(String where) {
        Activity activity = CURRENT.get();
        if (activity != null) {
            activity.wait(where);
        }
    }

    void sleep() throws InterruptedException {
        wait("asleep");
        if (isInterrupted) {
            isInterrupted = false;
            throw new InterruptedException("sleep interrupted");
        }
    }

    private void wait(String where) {
        at = where;
        hasStopped.release();
        mayGo.acquireUninterruptibly();
        if (isKilled) {
            throw new Killed();
        }
    }

    /** Goes on to the next stop; gives its name, or "over". */
    public String go() {
        if (!isOver) {
            mayGo.release();
            hasStopped.acquireUninterruptibly();
        }
        return at;
    }

    /** Goes on as if the thread had been interrupted, if it sleeps. */
    public String interrupt() {
        isInterrupted = at.equals("asleep");
        return isInterrupted ? go() : at;
    }

    /** Where it has stopped. */
    public String at() {
        return at;
    }

    public boolean isOver() {
        return isOver;
    }

    /** What ended it, if something was thrown. */
    public Throwable thrown() {
        return thrown;
    }

    /** Ends it where it stands, as the death of its process does. */
    public void kill() {
        if (!isOver) {
            isKilled = true;
            mayGo.release();
            hasStopped.acquireUninterruptibly();
        }
    }

    private static final class Killed extends Error {
        private static final long serialVersionUID = 1;

        Killed() {
            super(null, null, false, false);
        }
    }
}
