package halfcheck.agent;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.Timer;
import java.util.TimerTask;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** The clock, the sleeps, the threads and the timers of RocketMQ's classes, which {@link Rewriter} sends here. */
public final class VirtualTime {
    private static volatile long wallMs;
    private static volatile long elapsedMs;
    private static volatile long creepsMs;
    private static volatile Runnable whileOutsideSleeps = () -> { };

    /** How often a class of RocketMQ wanted to start a thread or a timer, and got none. */
    public static final AtomicLong THREADS = new AtomicLong();
    public static final AtomicLong TIMERS = new AtomicLong();
    /** How often RocketMQ logged an error: exceptions in a check round are seen nowhere else. */
    public static final AtomicLong ERRORS = new AtomicLong();

    private static final Set<Thread> STARTED = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
    private static final Map<Thread, Activity> ACTIVITIES = new ConcurrentHashMap<>();

    private VirtualTime() { }

    /** Sets the wall clock; the time since the start goes on from it. */
    public static void begin(long nowMs) {
        wallMs = nowMs;
        elapsedMs = nowMs;
        creepsMs = 0;
    }

    /** Lets time pass. */
    public static void advance(long ms) {
        wallMs += ms;
        elapsedMs += ms;
    }

    /** Sets the wall clock forth or back, which no thread notices that waits. */
    public static void step(long ms) {
        wallMs += ms;
    }

    /** Lets so much time pass whenever the clock is read: a thread does not see the same time twice. */
    public static void creep(long ms) {
        creepsMs = ms;
    }

    public static long currentTimeMillis() {
        if (creepsMs > 0) {
            advance(creepsMs);
        }
        return wallMs;
    }

    static long elapsedMs() {
        return elapsedMs;
    }

    public static long nanoTime() {
        return TimeUnit.MILLISECONDS.toNanos(elapsedMs);
    }

    /** What happens while the thread sleeps that drives everything: for RocketMQ's start, dispatching. */
    public static void whileOutsideSleeps(Runnable work) {
        whileOutsideSleeps = work;
    }

    /** A sleep takes no time; an activity stops in it, so that who steps it says how much time has passed. */
    public static void sleep(long ms) throws InterruptedException {
        if (Activity.current() == null) {
            whileOutsideSleeps.run();
        } else {
            Activity.current().sleep();
        }
    }

    public static void sleep(TimeUnit unit, long time) throws InterruptedException {
        sleep(unit.toMillis(time));
    }

    public static void start(Thread thread) {
        THREADS.incrementAndGet();
        STARTED.add(thread);
    }

    /** A thread that RocketMQ has started, as an activity at its first stop. */
    public static Activity activityOf(Thread thread) {
        Activity activity = new Activity(thread);
        ACTIVITIES.put(thread, activity);
        activity.go();
        return activity;
    }

    static void ended(Thread thread) {
        ACTIVITIES.remove(thread);
    }

    /** Who joins a thread stops until it has ended; one that is no activity has done nothing, and runs to its end. */
    public static void join(Thread thread, long ms) {
        Activity joined = ACTIVITIES.get(thread);
        if (joined != null) {
            Activity.current().join(joined);
        } else if (STARTED.remove(thread)) {
            thread.run();
        }
    }

    /** An interval of none is a stop, too: RocketMQ does not wait then, and the service would run for ever. */
    public static void beforeWait(long ms) {
        if (ms <= 0 && Activity.current() != null) {
            Activity.current().await(elapsedMs);
        }
    }

    /** A service waits for its next run (ServiceThread#waitForRunning; up to 5.5.0); one that is no activity really. */
    public static boolean await(Object waitPoint, long time, TimeUnit unit) {
        if (Activity.current() == null) {
            LockSupport.parkNanos(waitPoint, unit.toNanos(time));
        } else if (time > 0) {
            Activity.current().await(elapsedMs + unit.toMillis(time));
        }
        return false;
    }

    /** The same from 5.5.1 on. */
    public static void parkNanos(Object waitPoint, long nanos) {
        await(waitPoint, nanos, TimeUnit.NANOSECONDS);
    }

    /** The thread that RocketMQ has started, as a service knows its own. */
    public static Thread currentThread() {
        return Activity.current() == null ? Thread.currentThread() : Activity.current().thread();
    }

    public static ScheduledFuture<?> scheduleAtFixedRate(
        ScheduledExecutorService timer, Runnable work, long delay, long period, TimeUnit unit) {
        TIMERS.incrementAndGet();
        return null;
    }

    public static ScheduledFuture<?> scheduleWithFixedDelay(
        ScheduledExecutorService timer, Runnable work, long delay, long period, TimeUnit unit) {
        TIMERS.incrementAndGet();
        return null;
    }

    public static ScheduledFuture<?> schedule(
        ScheduledExecutorService timer, Runnable work, long delay, TimeUnit unit) {
        TIMERS.incrementAndGet();
        return null;
    }

    public static void schedule(Timer timer, TimerTask task, long delay) {
        TIMERS.incrementAndGet();
    }

    public static void schedule(Timer timer, TimerTask task, long delay, long period) {
        TIMERS.incrementAndGet();
    }

    public static void scheduleAtFixedRate(Timer timer, TimerTask task, long delay, long period) {
        TIMERS.incrementAndGet();
    }

    public static void error() {
        ERRORS.incrementAndGet();
    }
}
