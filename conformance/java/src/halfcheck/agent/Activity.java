package halfcheck.agent;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/** One of the broker's threads at work, which goes on only when it is told to, and then to its next stop. */
public final class Activity {
    /** In a sleep. */
    public static final String ASLEEP = "asleep";
    /** Between two runs of a service, until it is woken or its interval is over. */
    public static final String WAITING = "waiting";
    /** Until another thread has ended. */
    public static final String JOINING = "joining";
    /** Before DefaultMessageStore#shutdown does anything. */
    public static final String STORE_CLOSES = "store closes";

    private static final ThreadLocal<Activity> CURRENT = new ThreadLocal<>();
    private static final ExecutorService THREADS = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "activity");
        thread.setDaemon(true);
        return thread;
    });

    private final Semaphore mayGo = new Semaphore(0);
    private final Semaphore hasStopped = new Semaphore(0);
    private final Thread thread;
    private volatile String at = "";
    private volatile boolean isOver;
    private volatile boolean isKilled;
    private volatile boolean isInterrupted;
    private volatile Throwable thrown;
    private volatile long wakesAt;
    private volatile Activity joined;

    public Activity(Runnable work) {
        this(new Thread(work));
    }

    /** What a thread would do, which is not started. */
    Activity(Thread thread) {
        this.thread = thread;
        THREADS.execute(() -> {
            mayGo.acquireUninterruptibly();
            CURRENT.set(this);
            try {
                if (!isKilled) {
                    thread.run();
                }
            } catch (Killed killed) {
                // The process is gone.
            } catch (Throwable error) {
                thrown = error;
            }
            CURRENT.remove();
            VirtualTime.ended(thread);
            isOver = true;
            at = "over";
            hasStopped.release();
        });
    }

    /** The thread that it stands for. */
    Thread thread() {
        return thread;
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
        wait(ASLEEP);
        if (isInterrupted) {
            isInterrupted = false;
            throw new InterruptedException("sleep interrupted");
        }
    }

    /** Waits until it is woken, or until a time that {@link VirtualTime#nanoTime} counts to. */
    void await(long untilMs) {
        wakesAt = untilMs;
        wait(WAITING);
    }

    /** Waits for the end of another one, or until it goes on all the same. */
    void join(Activity other) {
        if (!other.isOver) {
            joined = other;
            wait(JOINING);
            joined = null;
        }
    }

    /** Called before a service does what it waited for: nothing is done by a thread whose process is gone. */
    public static void live() {
        Activity activity = CURRENT.get();
        if (activity != null && activity.isKilled) {
            throw new Killed();
        }
    }

    private void wait(String where) {
        live();
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

    /** Whether it waits, and the time for which it waits is over. */
    public boolean isDue() {
        return at.equals(WAITING) && VirtualTime.elapsedMs() >= wakesAt;
    }

    /** Lets it wake up later than it asked for. */
    public void oversleep(long ms) {
        wakesAt += ms;
    }

    /** Goes on as if the thread had been interrupted, if it sleeps. */
    public String interrupt() {
        isInterrupted = at.equals(ASLEEP);
        return isInterrupted ? go() : at;
    }

    /** Where it has stopped. */
    public String at() {
        return at;
    }

    /** For whose end it waits, if it does. */
    public Activity joined() {
        return joined;
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
