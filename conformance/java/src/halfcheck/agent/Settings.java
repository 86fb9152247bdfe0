package halfcheck.agent;

/** Constants of the check service that an instance has smaller: they are read here instead. */
public final class Settings {
    private static volatile long maxProcessTimeLimit = 60_000;
    private static volatile int opMsgPullNums = 32;

    private Settings() { }

    public static void set(long processTimeLimit, int pullNums) {
        maxProcessTimeLimit = processTimeLimit;
        opMsgPullNums = pullNums;
    }

    /** TransactionalMessageServiceImpl.MAX_PROCESS_TIME_LIMIT, in milliseconds. */
    public static long maxProcessTimeLimit() {
        return maxProcessTimeLimit;
    }

    /** TransactionalMessageServiceImpl.OP_MSG_PULL_NUMS. */
    public static int opMsgPullNums() {
        return opMsgPullNums;
    }
}
