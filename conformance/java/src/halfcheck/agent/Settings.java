package halfcheck.agent;

/** Constants of the check service that an instance has smaller: they are read here instead. */
public final class Settings {
    private static volatile long maxProcessTimeLimit = 60_000;
    private static volatile int opMsgPullNums = 32;
    private static volatile long reservedUnit = 3_600;

    private Settings() { }

    public static void set(long processTimeLimit, int pullNums, long secondsOfReservedTime) {
        maxProcessTimeLimit = processTimeLimit;
        opMsgPullNums = pullNums;
        reservedUnit = secondsOfReservedTime;
    }

    /** TransactionalMessageServiceImpl.MAX_PROCESS_TIME_LIMIT, in milliseconds. */
    public static long maxProcessTimeLimit() {
        return maxProcessTimeLimit;
    }

    /** The seconds in one of fileReservedTime, which TransactionalMessageServiceImpl#needSkip counts in hours. */
    public static long reservedUnit() {
        return reservedUnit;
    }

    /** TransactionalMessageServiceImpl.OP_MSG_PULL_NUMS. */
    public static int opMsgPullNums() {
        return opMsgPullNums;
    }
}
