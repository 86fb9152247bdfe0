package halfcheck.agent;

import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** The clock, the sleeps, the threads and the timers of RocketMQ's classes, which {@link Rewriter} sends here. */
public final class VirtualTime {
    private static volatile long wallMs;
    private static volatile long elapsedMs;
    private static volatile Runnable whileOutsideSleeps = () -> { };

    /** How often a class of RocketMQ wanted to start a thread or a timer, and got none. */
    public static final AtomicLong THREADS = new AtomicLong();
    public static final AtomicLong TIMERS = new AtomicLong();
    /** How often RocketMQ logged an error: exceptions in a check round are seen nowhere else. */
    public static final AtomicLong ERRORS = new AtomicLong();

    private VirtualTime() { }

    /** Sets the wall clock; the time since the start goes on from it. */
    public static void begin(long nowMs) {
        wallMs = nowMs;
        elapsedMs = nowMs;
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

    public static long currentTimeMillis() {
        return wallMs;
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
