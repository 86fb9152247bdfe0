----------------------------------- MODULE TransactionalMessages -----------------------------------
\* Written by `halfcheck export`; the source is the specification in Python.
\* Run it with TransactionalMessages.cfg.

EXTENDS Integers, FiniteSets

\* Sizes and times (in ticks of the clock).
CONSTANTS TRANSACTIONS, HALF_SLOTS, OP_SLOTS, CHECK_MAX, TIMEOUT, IMMUNITIES, IMMUNITIES_NEGATED,
          CHECK_INTERVAL, ROUND_LIMIT, OP_BATCH_INTERVAL, OP_BATCH_SIZE, OP_PULL_SIZE, FIRST_CHECKS,
          FIRST_CHECKS_NEGATED, SKEWS, SKEWS_NEGATED, RESERVED_TIME, CLOCK_STEPS, MISHAPS,
          STRAY_ENDS, CRASHES, REACH, PERSIST_INTERVAL, FORGETS, EXPIRES, ENDLESS, PROXIES,
          DATA_LIFE, CROWDED

\* Switches: what a version does, and what may go wrong.
CONSTANTS MARKS_OP_DONE_ON_HIT, OP_END_COMMITS_OFFSET, BATCHES_OPS, BATCH_THREAD_OVERSLEEPS,
          KEEPS_DISCARDED, REFUSES_LATE_END, EQUAL_AGE_IS_YOUNG, REWINDS_BEYOND_END,
          UNDECODABLE_THROWS, ESCAPES, JOINS_ROUND_FIRST, LOWER_END_PASSES_ALL, TRUNCATES_RUNNING,
          RESETS_LOWER_END, HEEDS_SETTLED_ORIGINALS, LINKS_EVERY_COPY, SETTLES_ONCE,
          KEEPS_CHECK_OPEN, COUNTS_SENT_CHECKS, DISCARDS_INSTEAD_OF_CHECKING, KEEPS_PROGRESS,
          FLUSHES_BEFORE_SAVING, CLAMPS_OFFSETS, SKIPS_UNDECODABLE_OPS, PARKS_POISON,
          ENDS_AT_FAILED_PUT, RETRIES_DISCARDS, KEEPS_FAILED_OPS, FLUSHES_ON_STOP,
          AWAITS_ENDS_ON_STOP, KEEPS_FLAG, READS_OPS_BEFORE_ESCAPE, INSISTS_ON_ESCAPE, ESCAPES_ONCE,
          ADOPTS_SLAVE_OFFSETS, ONE_IMMUNITY, OWNS_CHECK_TIMES, OWNS_PREPARED_OFFSET,
          AGES_FROM_ARRIVAL, DISTRUSTS_FUTURE, COPIES_ONCE, LEAVES_ESCAPED,
          FLUSHES_BEFORE_ANSWERING, RETRIES_COMMITS, ASKS_THE_OLD, FINISHES_READING,
          PASSES_WHAT_IS_GONE, KEEPS_PENDING_FILES, CORRECTS_OFFSETS_ON_SLAVE,
          SKIPS_WHEN_OPS_ARE_DRAINED, AGES_FROM_STORING, SKIPS_LONG_IMMUNITIES,
          COMMITS_AFTER_EXCEPTION, ORDERS_SENDS, SLOW_LOCAL, LOSE_END, LOSE_CHECK, DUPLICATE_END,
          REORDER, WRONG_END, LATE_END, OFFLINE_PRODUCER, RESTARTED_PRODUCER, BAD_STORE_STATUS,
          TWIN_SEND, PRESET_ORIGINAL, SLOW_ROUND, SLOW_DISPATCH, PUT_FAILURE, OP_WRITE_FAILURE,
          NULL_HALF, UNDECODABLE_HALF, UNDECODABLE_OP, CLOCK_SKEW, CLOCK_STEP, CRASH, POWER_LOSS,
          GRACEFUL_STOP, LATE_PERSIST, OFFSET_REGRESSION, ROLE_CHANGE, ACTING_SLAVE,
          RESUME_DISCARDED, RETENTION, RESTART_PROXY, OTHER_PROXY, SLOW_PROXY, SHARED_TOPIC

NONE == -1
HalfSlots == 0..HALF_SLOTS - 1
OpSlots == 0..OP_SLOTS - 1
Transactions == 0..TRANSACTIONS - 1
Proxies == 0..PROXIES - 1
Immunities == IMMUNITIES \cup {-n : n \in IMMUNITIES_NEGATED}
Skews == SKEWS \cup {-n : n \in SKEWS_NEGATED}
FirstChecks == FIRST_CHECKS \cup {-n : n \in FIRST_CHECKS_NEGATED}
Max(numbers) == CHOOSE n \in numbers : \A m \in numbers : m <= n
LONGEST_IMMUNITY == Max(Immunities \cup {0, NONE})
BIRTH_CUT == Max({TIMEOUT, LONGEST_IMMUNITY, RESERVED_TIME}) + 1
ROUND_CUT == ROUND_LIMIT + 1
STORED_CUT == Max({ROUND_CUT, DATA_LIFE + 1})
OP_CUT == ROUND_LIMIT + 1
BATCH_CUT == 2 * OP_BATCH_INTERVAL
WAITING_CUT == OP_BATCH_INTERVAL + 1
HORIZON == Max({BIRTH_CUT, ROUND_CUT, STORED_CUT, OP_CUT, BATCH_CUT, WAITING_CUT, CHECK_INTERVAL}) + 2
TIME_OF_ALL_CHECKS == CHECK_MAX * CHECK_INTERVAL
LOG_SLOTS == HALF_SLOTS + OP_SLOTS
MOST_IMMUNITY == Max(Immunities \cup {TIMEOUT})
MOST_GONE == FORGETS * (CHECK_MAX + 2)
BIRTH_LEAD == Max(Skews \cup {0, 0}) + CLOCK_STEPS
MOST_MET == CROWDED * HALF_SLOTS
MOST_HELD == CROWDED * OP_SLOTS
MOST_HALVES_DELETED == EXPIRES * HALF_SLOTS
MOST_OPS_DELETED == EXPIRES * OP_SLOTS
MOST_CRASHES == Max({CRASHES, 0})
MOST_UNSAVED == Max({PERSIST_INTERVAL, 0})

\* One truth value: TLC takes a disjunction that stands alone in an action for several ways to act.
IsTrue(claim) == claim = TRUE
\* The clock stands still, and what was written ages. No guard looks at an age above the cut of its field,
\* so that older instants are one. This makes the number of states finite.
Now == HORIZON
\* Where the clock may step back, instants are told apart for one tick more.
Floor(cut, slack) == IF slack THEN cut + 1 ELSE cut
InstantsUpTo(cut, ahead) == HORIZON - cut..HORIZON + ahead
LongAgo(cut) == HORIZON - cut
NotBefore(instant, cut) == IF instant < HORIZON - cut THEN HORIZON - cut ELSE instant
Older(instant, cut) == IF instant > HORIZON - cut THEN instant - 1 ELSE instant

----------------------------------------------------------------------------------------------------
\* What the broker is to its group.
Role == {"MASTER", "SLAVE", "ACTING_MASTER", "STOPPING"}

\* What the broker can reach of the producer group.
Producer == {"ONLINE", "OFFLINE", "UNREGISTERED"}

\* What a producer knows of a local transaction.
Local == {"NOT_SENT", "EXECUTING", "COMMIT", "ROLLBACK", "UNKNOWN", "NEVER_RUN"}

\* What is the matter with the message of a transaction, if anything.
Kind == {"PLAIN", "POISON", "UNDECODABLE"}

\* Ghost: whether a rollback of the transaction was acknowledged, and whether it was delivered by then.
RolledBack == {"NO", "UNDELIVERED", "DELIVERED"}

\* Ghost: why a settled transaction is asked for or delivered again (the clauses of S1 and S9).
Cause == {"NONE", "IMMUNE_HALF", "AFTER_A_CHECK", "LOST_OP", "LATE_OP", "OVERSLEPT_OP", "STALE_OP_END", "UNREAD_OP", "FORKED_COPY", "PASSED_OP", "UNREADABLE_OP", "TWIN_HALF", "RESUMED_HALF", "ESCAPED_SETTLED", "ESCAPED_TWICE", "ESCAPED_AND_KEPT", "SHORT_IMMUNITY", "ENDED_AFTER_ESCAPE", "READ_FOR_ANOTHER"}

\* Ghost: whether an END_TRANSACTION was acknowledged in time and before any check, and whether one came later.
Quiet == {"NO", "ENDED", "CHECKED"}

\* Ghost: whether a half was discarded, and whether all its checks had been sent by then.
Budget == {"NO", "SPENT", "BURNT_BY_IMMUNITY", "NOBODY_TO_ASK", "PRESET", "OVER_AGE", "OLD_ON_ARRIVAL"}

\* Ghost: what kept the commit that the producer sent of its own accord from being carried out.
Direct == {"NOTHING", "LOST", "LATE", "REFUSED"}

\* An END_TRANSACTION for a half: under way, or half handled (the real message is stored, the op is not).
End == {"NONE", "COMMIT", "ROLLBACK", "COMMIT_STORED"}

\* Ghost: what the broker did for an END_TRANSACTION that named this half.
Settled == {"NO", "COMMITTED", "ROLLED_BACK"}

\* Ghost: why a check that TRANSACTION_CHECK_TIMES counts was not sent, the first time.
Burnt == {"NO", "IMMUNITY", "NOBODY_TO_ASK", "PRESET"}

\* Ghost: how the check service left a half behind that no op message had named.
Left == {"NO", "FOR_CHECK", "FOR_IMMUNITY", "KEPT_ASIDE", "DROPPED", "SETTLED_ASIDE", "COPY_LOST", "ESCAPED", "GIVEN_UP", "PASSED_OVER", "RESUMED", "SETTLED_ELSEWHERE", "SKIPPED_BY_EXCEPTION"}

\* What the last pull of op messages gave.
Pull == {"FOUND", "END", "UNREADABLE"}

\* Ghost: what the last rounds were stuck at, if they left the half offset where it was.
Stuck == {"NO", "EXCEPTION", "UNDECODABLE_HALF", "UNDECODABLE_OP", "FAILED_PUT", "POISON", "TIME_LIMIT", "CLOCK"}

\* One transaction, as its producer and the consumers see it.
Transaction ==
    [local : Local,
     kind : Kind,
     immunity : (0..MOST_IMMUNITY) \cup {NONE},
     first_half : HalfSlots \cup {NONE},
     deliveries : 0..2,
     parked : BOOLEAN,
     escaped : 0..2,
     delivered_twice_for_one : BOOLEAN,
     shown_unasked : BOOLEAN,
     committed_aside : BOOLEAN,
     rolled_back : RolledBack,
     cause : Cause,
     quiet : Quiet,
     discarded : Budget,
     direct : Direct,
     halves_gone : 0..MOST_GONE,
     checked_before : BOOLEAN,
     resumed_before : BOOLEAN,
     dropped_before : BOOLEAN,
     unseen_before : BOOLEAN,
     copy_lost_before : BOOLEAN,
     given_up_before : BOOLEAN]

\* One message of RMQ_SYS_TRANS_HALF_TOPIC, queue 0; its queue offset is its place in the array.
Half ==
    [transaction : Transactions,
     check_times : 0..CHECK_MAX,
     original : HalfSlots \cup {NONE},
     born_at : InstantsUpTo(Floor(BIRTH_CUT, CLOCK_STEP), BIRTH_LEAD),
     stored_at : InstantsUpTo(Floor(STORED_CUT, CLOCK_STEP), CLOCK_STEPS),
     check_in_flight : BOOLEAN,
     known_to : 0..PROXIES,
     end : End,
     other_end : End,
     claims_check : BOOLEAN,
     settled : Settled,
     acknowledged : BOOLEAN,
     op_write_failed : BOOLEAN,
     foreign : BOOLEAN,
     burnt : Burnt,
     left : Left,
     copied_for_good : BOOLEAN]

\* One message of RMQ_SYS_TRANS_OP_HALF_TOPIC, queue 0; its queue offset is its place in the array.
Op ==
    [names : SUBSET HalfSlots,
     born_at : InstantsUpTo(Floor(OP_CUT, CLOCK_STEP), CLOCK_STEPS),
     undecodable : BOOLEAN,
     halves_before : 0..HALF_SLOTS]

\* The op buffer of 5.1 and later (MessageQueueOpContext); it lives in memory and dies with the broker.
Batch ==
    [names : SUBSET HalfSlots,
     others : BOOLEAN,
     is_open : BOOLEAN,
     waiting_since : InstantsUpTo(Floor(WAITING_CUT, CLOCK_STEP), CLOCK_STEPS),
     written_at : InstantsUpTo(Floor(BATCH_CUT, CLOCK_STEP), CLOCK_STEPS)]

\* One pass of the check service; it lives in memory and dies with the broker.
Round ==
    [running : BOOLEAN,
     started_at : InstantsUpTo(Floor(ROUND_CUT, CLOCK_STEP), CLOCK_STEPS),
     cursor : 0..HALF_SLOTS,
     null_met : BOOLEAN,
     first_op : 0..OP_SLOTS,
     next_op : 0..OP_SLOTS,
     last_pull : Pull,
     pulls_nothing : BOOLEAN,
     removed_by : [HalfSlots -> OpSlots \cup {NONE}],
     done : SUBSET OpSlots,
     done_twice : SUBSET OpSlots,
     met : 0..MOST_MET,
     held : 0..MOST_HELD]

\* opMsgMap of the running round, for one op message (5.1 and later).
PulledOp ==
    [unresolved : SUBSET HalfSlots]

\* Consumer offsets of the group CID_RMQ_SYS_TRANS.
Offsets ==
    [half : 0..HALF_SLOTS,
     op : 0..OP_SLOTS]

\* How much of the commit log a power loss would leave, at least; kept where there may be one.
Flushed ==
    [halves : 0..HALF_SLOTS,
     ops : 0..OP_SLOTS]

\* So many messages of each queue, from its first on.
Counted ==
    [halves : 0..MOST_HALVES_DELETED,
     ops : 0..MOST_OPS_DELETED]

VARIABLES
    clock_steps,
    mishaps,
    stray_ends,
    crashes,
    role,
    producer,
    transaction,         \* One transaction, as its producer and the consumers see it.
    half,                \* One message of RMQ_SYS_TRANS_HALF_TOPIC, queue 0; its queue offset is its place in the array.
    half_length,
    op,                  \* One message of RMQ_SYS_TRANS_OP_HALF_TOPIC, queue 0; its queue offset is its place in the array.
    op_length,
    batch,               \* The op buffer of 5.1 and later (MessageQueueOpContext); it lives in memory and dies with the broker.
    round,               \* One pass of the check service; it lives in memory and dies with the broker.
    pulled_op,           \* opMsgMap of the running round, for one op message (5.1 and later).
    round_ended_at,
    offsets,             \* Consumer offsets of the group CID_RMQ_SYS_TRANS.
    saved,               \* Consumer offsets of the group CID_RMQ_SYS_TRANS.
    unsaved,
    flushed,             \* How much of the commit log a power loss would leave, at least; kept where there may be one.
    gone,                \* So many messages of each queue, from its first on.
    lower_end,           \* So many messages of each queue, from its first on.
    stuck,
    stuck_rounds,
    op_left_behind,
    had_halves,
    had_ops

vars == <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half, half_length, op, op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* Every field lies in its declared range.
TypeOK ==
    /\ clock_steps \in 0..CLOCK_STEPS
    /\ mishaps \in 0..MISHAPS
    /\ stray_ends \in 0..STRAY_ENDS
    /\ crashes \in 0..MOST_CRASHES
    /\ role \in Role
    /\ producer \in Producer
    /\ transaction \in [Transactions -> Transaction]
    /\ half \in [HalfSlots -> Half]
    /\ half_length \in 0..HALF_SLOTS
    /\ op \in [OpSlots -> Op]
    /\ op_length \in 0..OP_SLOTS
    /\ batch \in Batch
    /\ round \in Round
    /\ pulled_op \in [OpSlots -> PulledOp]
    /\ round_ended_at \in InstantsUpTo(Floor(CHECK_INTERVAL, CLOCK_STEP), CLOCK_STEPS)
    /\ offsets \in Offsets
    /\ saved \in Offsets
    /\ unsaved \in 0..MOST_UNSAVED
    /\ flushed \in Flushed
    /\ gone \in Counted
    /\ lower_end \in Counted
    /\ stuck \in Stuck
    /\ stuck_rounds \in 0..2
    /\ op_left_behind \in BOOLEAN
    /\ had_halves \in BOOLEAN
    /\ had_ops \in BOOLEAN

\* Nothing, empty, absent, long ago.
Init ==
    /\ clock_steps = 0
    /\ mishaps = 0
    /\ stray_ends = 0
    /\ crashes = 0
    /\ role = "MASTER"
    /\ producer = "ONLINE"
    /\ transaction = [t \in Transactions |-> [local |-> "NOT_SENT",
                                              kind |-> "PLAIN",
                                              immunity |-> NONE,
                                              first_half |-> NONE,
                                              deliveries |-> 0,
                                              parked |-> FALSE,
                                              escaped |-> 0,
                                              delivered_twice_for_one |-> FALSE,
                                              shown_unasked |-> FALSE,
                                              committed_aside |-> FALSE,
                                              rolled_back |-> "NO",
                                              cause |-> "NONE",
                                              quiet |-> "NO",
                                              discarded |-> "NO",
                                              direct |-> "NOTHING",
                                              halves_gone |-> 0,
                                              checked_before |-> FALSE,
                                              resumed_before |-> FALSE,
                                              dropped_before |-> FALSE,
                                              unseen_before |-> FALSE,
                                              copy_lost_before |-> FALSE,
                                              given_up_before |-> FALSE]]
    /\ half = [h \in HalfSlots |-> [transaction |-> 0,
                                    check_times |-> 0,
                                    original |-> NONE,
                                    born_at |-> LongAgo(Floor(BIRTH_CUT, CLOCK_STEP)),
                                    stored_at |-> LongAgo(Floor(STORED_CUT, CLOCK_STEP)),
                                    check_in_flight |-> FALSE,
                                    known_to |-> 0,
                                    end |-> "NONE",
                                    other_end |-> "NONE",
                                    claims_check |-> FALSE,
                                    settled |-> "NO",
                                    acknowledged |-> FALSE,
                                    op_write_failed |-> FALSE,
                                    foreign |-> FALSE,
                                    burnt |-> "NO",
                                    left |-> "NO",
                                    copied_for_good |-> FALSE]]
    /\ half_length = 0
    /\ op = [o \in OpSlots |-> [names |-> {},
                                born_at |-> LongAgo(Floor(OP_CUT, CLOCK_STEP)),
                                undecodable |-> FALSE,
                                halves_before |-> 0]]
    /\ op_length = 0
    /\ batch = [names |-> {},
                others |-> FALSE,
                is_open |-> FALSE,
                waiting_since |-> LongAgo(Floor(WAITING_CUT, CLOCK_STEP)),
                written_at |-> LongAgo(Floor(BATCH_CUT, CLOCK_STEP))]
    /\ round = [running |-> FALSE,
                started_at |-> LongAgo(Floor(ROUND_CUT, CLOCK_STEP)),
                cursor |-> 0,
                null_met |-> FALSE,
                first_op |-> 0,
                next_op |-> 0,
                last_pull |-> "FOUND",
                pulls_nothing |-> FALSE,
                removed_by |-> [h \in HalfSlots |-> NONE],
                done |-> {},
                done_twice |-> {},
                met |-> 0,
                held |-> 0]
    /\ pulled_op = [o \in OpSlots |-> [unresolved |-> {}]]
    /\ round_ended_at = LongAgo(Floor(CHECK_INTERVAL, CLOCK_STEP))
    /\ offsets = [half |-> 0,
                  op |-> 0]
    /\ saved = [half |-> 0,
                op |-> 0]
    /\ unsaved = 0
    /\ flushed = [halves |-> 0,
                  ops |-> 0]
    /\ gone = [halves |-> 0,
               ops |-> 0]
    /\ lower_end = [halves |-> 0,
                    ops |-> 0]
    /\ stuck = "NO"
    /\ stuck_rounds = 0
    /\ op_left_behind = FALSE
    /\ had_halves = FALSE
    /\ had_ops = FALSE

----------------------------------------------------------------------------------------------------
\* The half queue: what is written to it, a first half or a put-back copy, and what a read at an offset gives.

\* The instance ends where its half queue is full.
RoomForAHalf ==
    \* instance: the half queue of the instance has room
    /\ half_length < HALF_SLOTS

\* No half was ever stored, as far as no power loss has taken it.
IsEmpty == half_length = 0 /\ ~had_halves

\* Where a round begins: at the half offset, or at the lower end of the queue as long as none was ever committed.
\*
\* RocketMQ: TransactionalMessageBridge#fetchConsumeOffset. No round commits the offset 0.
HalfOffset == IF offsets.half = 0 /\ ~had_halves THEN lower_end.halves ELSE offsets.half

\* Ghost: a round leaves out halves that are there, from `first` on to `end`.
PassOver(first, end) ==
    /\ half' = [h \in HalfSlots |->
                   [half[h] EXCEPT
                       !.left =
                           IF h >= gone.halves /\ h < half_length /\ h >= first /\ h < end /\ @ = "NO"
                           THEN "PASSED_OVER"
                           ELSE @]]

\* The store gives a half for the cursor: the one that stands there, or a later one that retention has left.
\*
\* RocketMQ: DefaultMessageStore#getMessage goes on behind an entry whose record is gone, up to one whose record is
\* there, and answers FOUND. It looks at 16,000 bytes of entries at most (maxFilterMessageSize): 800 halves.
IsHalfGiven == round.cursor >= lower_end.halves /\ gone.halves < half_length

\* The half that the store gives for the cursor, where it gives one.
HalfRead == IF round.cursor >= gone.halves THEN round.cursor ELSE gone.halves

\* A broker that starts looks for the lower ends; where nothing is left of a queue, it stays at 0 (#8753).
\*
\* RocketMQ: DefaultMessageStore#recoverTopicQueueTable.
FindLowerEnds ==
    /\ lower_end' = [lower_end EXCEPT
                        !.halves =
                            IF gone.halves < half_length \/ LOWER_END_PASSES_ALL THEN gone.halves ELSE 0,
                        !.ops = IF gone.ops < op_length \/ LOWER_END_PASSES_ALL THEN gone.ops ELSE 0]

\* The halves of the transaction, as far as no power loss has taken them: the first, copies, and twins.
StoredHalves(t) ==
    transaction[t].halves_gone
      + Cardinality({h \in HalfSlots : h < half_length /\ half[h].transaction = t})

----------------------------------------------------------------------------------------------------
\* The producer: sends the half, runs the local transaction, sends END_TRANSACTION, answers checks.
\*
\* RocketMQ: DefaultMQProducerImpl#sendMessageInTransaction, #endTransaction, #checkTransactionState.

\* What every send needs.
MaySend(t) ==
    \* the transaction was not sent yet
    /\ transaction[t].local = "NOT_SENT"
    \* a producer is connected
    /\ producer # "OFFLINE"
    \* the broker is the master
    /\ role = "MASTER"
    \* instance: transactions are numbered in the order of their sends
    /\ IsTrue(~ORDERS_SENDS \/ t = 0 \/ transaction[t - 1].local # "NOT_SENT")
    \* instance: the transaction that stands among others is sent once
    /\ IsTrue(CROWDED = 0 \/ ~had_halves)
    /\ RoomForAHalf

\* The local transaction begins; the broker knows the producer from now on (ProducerManager#registerProducer).
BeginTransaction(t, immunity) ==
    /\ producer' = "ONLINE"
    /\ transaction' = [transaction EXCEPT
                          ![t].local = "EXECUTING",
                          ![t].immunity = immunity,
                          ![t].first_half = half_length]

\* The half is stored, and its send is answered; a proxy notes where it lies.
StoreHalf(t, born_at) ==
    /\ LET matters == POWER_LOSS /\ mishaps < MISHAPS
       IN  /\ half' = [IF PROXIES > 0 THEN [half EXCEPT ![half_length].known_to = 1] ELSE half EXCEPT
                          ![half_length].transaction = t,
                          ![half_length].born_at = NotBefore(born_at, Floor(BIRTH_CUT, CLOCK_STEP)),
                          ![half_length].stored_at = Now]
           /\ half_length' = half_length + 1
           /\ flushed' = [flushed EXCEPT
                             !.halves =
                                 IF FLUSHES_BEFORE_ANSWERING THEN IF matters THEN half_length + 1 ELSE 0 ELSE @,
                             !.ops = IF FLUSHES_BEFORE_ANSWERING THEN IF matters THEN op_length ELSE 0 ELSE @]

\* The producer sends a transactional message, the broker stores it as a half, and the local transaction begins.
\*
\* RocketMQ: SendMessageProcessor → TransactionalMessageBridge#putHalfMessage.
SendHalf(t, immunity) ==
    /\ MaySend(t)
    /\ BeginTransaction(t, immunity)
    /\ StoreHalf(t, Now)
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, op, op_length, batch, round, pulled_op,
                   round_ended_at, offsets, saved, unsaved, gone, lower_end, stuck, stuck_rounds,
                   op_left_behind, had_halves, had_ops>>

\* The same by a producer whose clock differs: the broker takes the birth from the message (A21, B27).
\*
\* RocketMQ: SendMessageRequestHeader.bornTimestamp.
SendHalfByAnotherClock(t, immunity, skew) ==
    /\ MaySend(t)
    \* the producer's clock differs from the broker's
    /\ skew # 0
    \* environment: all clocks agree
    /\ CLOCK_SKEW
    /\ BeginTransaction(t, immunity)
    /\ StoreHalf(t, IF AGES_FROM_ARRIVAL THEN Now ELSE Now + skew)
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, op, op_length, batch, round, pulled_op,
                   round_ended_at, offsets, saved, unsaved, gone, lower_end, stuck, stuck_rounds,
                   op_left_behind, had_halves, had_ops>>

\* The same with a message that carries TRANSACTION_CHECK_TIMES, as a copy of a consumed one does (B26).
\*
\* RocketMQ: MessageConst.STRING_HASH_SET does not have the property.
SendHalfWithChecks(t, immunity, checks) ==
    /\ MaySend(t)
    \* the message carries a number of checks
    /\ checks > 0
    /\ LET half_then ==
               IF ~OWNS_CHECK_TIMES
               THEN [half EXCEPT
                        ![half_length].check_times = checks,
                        ![half_length].burnt = "PRESET"]
               ELSE half
           matters == POWER_LOSS /\ mishaps < MISHAPS
       IN  /\ BeginTransaction(t, immunity)
           /\ half' = [IF PROXIES > 0
                       THEN [half_then EXCEPT ![half_length].known_to = 1]
                       ELSE half_then EXCEPT
                          ![half_length].transaction = t,
                          ![half_length].born_at = Now,
                          ![half_length].stored_at = Now]
           /\ half_length' = half_length + 1
           /\ flushed' = [flushed EXCEPT
                             !.halves =
                                 IF FLUSHES_BEFORE_ANSWERING THEN IF matters THEN half_length + 1 ELSE 0 ELSE @,
                             !.ops = IF FLUSHES_BEFORE_ANSWERING THEN IF matters THEN op_length ELSE 0 ELSE @]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, op, op_length, batch, round, pulled_op,
                   round_ended_at, offsets, saved, unsaved, gone, lower_end, stuck, stuck_rounds,
                   op_left_behind, had_halves, had_ops>>

\* The same with a message that carries TRAN_PREPARED_QUEUE_OFFSET, as a copy that was delivered does (B56).
\*
\* It carries the immunity for which it was put back, too, here one as long as the timeout. It may name any offset, as
\* it was written for another queue, or long ago; one below the half offset leads to nothing.
\*
\* RocketMQ: EndTransactionProcessor#endMessageTransaction leaves both in what it delivers, and a message that was
\* consumed can be sent as it is.
SendHalfWithOriginal(t, original) ==
    /\ MaySend(t)
    \* environment: no message carries TRAN_PREPARED_QUEUE_OFFSET when it is sent
    /\ PRESET_ORIGINAL
    \* instance: it names a half from the half offset on, itself or the next one
    /\ original >= offsets.half /\ original <= half_length + 1
    /\ LET half_then ==
               IF ~OWNS_PREPARED_OFFSET
               THEN [half EXCEPT ![half_length].original = original]
               ELSE half
           matters == POWER_LOSS /\ mishaps < MISHAPS
       IN  /\ BeginTransaction(t, TIMEOUT)
           /\ half' = [IF PROXIES > 0
                       THEN [half_then EXCEPT ![half_length].known_to = 1]
                       ELSE half_then EXCEPT
                          ![half_length].transaction = t,
                          ![half_length].born_at = Now,
                          ![half_length].stored_at = Now]
           /\ half_length' = half_length + 1
           /\ flushed' = [flushed EXCEPT
                             !.halves =
                                 IF FLUSHES_BEFORE_ANSWERING THEN IF matters THEN half_length + 1 ELSE 0 ELSE @,
                             !.ops = IF FLUSHES_BEFORE_ANSWERING THEN IF matters THEN op_length ELSE 0 ELSE @]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, op, op_length, batch, round, pulled_op,
                   round_ended_at, offsets, saved, unsaved, gone, lower_end, stuck, stuck_rounds,
                   op_left_behind, had_halves, had_ops>>

\* The same with properties so long that a copy, which has more of them, cannot be stored (B07).
\*
\* RocketMQ: CommitLog, PROPERTIES_SIZE_EXCEEDED.
SendPoisonHalf(t, immunity) ==
    /\ MaySend(t)
    \* environment: what is put back is stored
    /\ PUT_FAILURE
    /\ StoreHalf(t, Now)
    /\ producer' = "ONLINE"
    /\ transaction' = [transaction EXCEPT
                          ![t].kind = "POISON",
                          ![t].local = "EXECUTING",
                          ![t].immunity = immunity,
                          ![t].first_half = half_length]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, op, op_length, batch, round, pulled_op,
                   round_ended_at, offsets, saved, unsaved, gone, lower_end, stuck, stuck_rounds,
                   op_left_behind, had_halves, had_ops>>

\* The same, but what is stored cannot be read again (A07).
\*
\* RocketMQ: MessageDecoder#decode returns null.
SendUndecodableHalf(t, immunity) ==
    /\ MaySend(t)
    \* environment: what is stored can be decoded
    /\ UNDECODABLE_HALF
    /\ StoreHalf(t, Now)
    /\ producer' = "ONLINE"
    /\ transaction' = [transaction EXCEPT
                          ![t].kind = "UNDECODABLE",
                          ![t].local = "EXECUTING",
                          ![t].immunity = immunity,
                          ![t].first_half = half_length]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, op, op_length, batch, round, pulled_op,
                   round_ended_at, offsets, saved, unsaved, gone, lower_end, stuck, stuck_rounds,
                   op_left_behind, had_halves, had_ops>>

\* The answer to a send is lost, and the client sends the message once more: the first half will get no END (A39).
\*
\* A client of a proxy does so where the answer takes longer than its patience; the proxy knows both halves.
\*
\* RocketMQ: DefaultMQProducerImpl#sendDefaultImpl; the message and its unique key are the same, its offsets are not.
SendHalfAgain(t) ==
    \* the transaction was sent
    /\ transaction[t].local = "EXECUTING"
    \* the broker is the master
    /\ role = "MASTER"
    \* environment: the answer to a send arrives
    /\ IsTrue(TWIN_SEND \/ (PROXIES > 0 /\ SLOW_PROXY))
    \* instance: no copy and no twin of its half is stored
    /\ StoredHalves(t) < 2
    /\ RoomForAHalf
    /\ StoreHalf(t, Now)
    /\ producer' = IF PROXIES > 0 THEN "ONLINE" ELSE producer
    /\ transaction' = [transaction EXCEPT ![t].first_half = half_length, ![t].cause = "TWIN_HALF"]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, op, op_length, batch, round, pulled_op,
                   round_ended_at, offsets, saved, unsaved, gone, lower_end, stuck, stuck_rounds,
                   op_left_behind, had_halves, had_ops>>

\* The instance holds one END_TRANSACTION for a half at a time.
RoomForAnEnd(h) ==
    \* instance: no other END_TRANSACTION for the half is under way or being handled
    /\ half[h].end = "NONE"

\* No power loss has taken the half of the transaction.
ItsHalfIsThere(t) ==
    LET first == transaction[t].first_half
    IN  first < half_length /\ half[first].transaction = t

\* What a direct END_TRANSACTION needs: a running local transaction, whose producer is connected, and its half.
EndsItsHalf(t) ==
    \* producers speak to the broker itself
    /\ PROXIES = 0
    \* the local transaction runs
    /\ transaction[t].local = "EXECUTING"
    \* the half that the send stored is there
    /\ ItsHalfIsThere(t)
    /\ RoomForAnEnd(transaction[t].first_half)

\* The local transaction commits, and END_TRANSACTION(commit) is sent for the half that the send stored.
\*
\* RocketMQ: DefaultMQProducerImpl#endTransaction.
CommitLocally(t) ==
    /\ EndsItsHalf(t)
    /\ transaction' = [transaction EXCEPT ![t].local = "COMMIT"]
    /\ half' = [half EXCEPT ![transaction[t].first_half].end = "COMMIT"]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The local transaction rolls back, and END_TRANSACTION(rollback) is sent for the half that the send stored.
\*
\* RocketMQ: DefaultMQProducerImpl#endTransaction.
RollBackLocally(t) ==
    /\ EndsItsHalf(t)
    /\ transaction' = [transaction EXCEPT ![t].local = "ROLLBACK"]
    /\ half' = [half EXCEPT ![transaction[t].first_half].end = "ROLLBACK"]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The send is answered with a status other than SEND_OK: the client rolls back what it never ran (A37).
\*
\* RocketMQ: DefaultMQProducerImpl#sendMessageInTransaction, FLUSH_DISK_TIMEOUT and the like.
RollBackUnrun(t) ==
    /\ EndsItsHalf(t)
    \* environment: a half that is stored is answered SEND_OK
    /\ BAD_STORE_STATUS
    /\ transaction' = [transaction EXCEPT ![t].local = "NEVER_RUN"]
    /\ half' = [half EXCEPT ![transaction[t].first_half].end = "ROLLBACK"]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The listener returns UNKNOW; the broker drops the END_TRANSACTION that says so, and leaves it to the checks.
\*
\* RocketMQ: EndTransactionProcessor#processRequest, TRANSACTION_NOT_TYPE.
LeaveItUnknown(t) ==
    \* the local transaction runs
    /\ transaction[t].local = "EXECUTING"
    /\ transaction' = [transaction EXCEPT ![t].local = "UNKNOWN"]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* An unknown local transaction turns out to be committed; only a later check will hear of it.
ResolveToCommit(t) ==
    \* the local transaction's outcome is unknown
    /\ transaction[t].local = "UNKNOWN"
    /\ transaction' = [transaction EXCEPT ![t].local = "COMMIT"]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* An unknown local transaction turns out to be rolled back; only a later check will hear of it.
ResolveToRollback(t) ==
    \* the local transaction's outcome is unknown
    /\ transaction[t].local = "UNKNOWN"
    /\ transaction' = [transaction EXCEPT ![t].local = "ROLLBACK"]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The local transaction commits, and its half is gone with a power loss: END_TRANSACTION finds nothing to commit.
\*
\* RocketMQ: EndTransactionProcessor#processRequest, "Find prepared transaction message failed".
CommitWhatIsGone(t) ==
    \* the local transaction runs
    /\ transaction[t].local = "EXECUTING"
    \* a power loss has taken its half
    /\ ~ItsHalfIsThere(t)
    /\ transaction' = [transaction EXCEPT ![t].local = "COMMIT", ![t].direct = "REFUSED"]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The same, and a half of the same group and size now stands at those offsets: it is committed in its place (B10).
\*
\* RocketMQ: EndTransactionProcessor#checkPrepareMessage compares group and offsets, not the transaction's id.
CommitAnotherHalf(t) ==
    \* the local transaction runs
    /\ transaction[t].local = "EXECUTING"
    \* a power loss has taken its half
    /\ ~ItsHalfIsThere(t)
    \* another half stands in its place
    /\ transaction[t].first_half < half_length
    \* the broker does not compare the transaction's id
    /\ ~SETTLES_ONCE
    /\ RoomForAnEnd(transaction[t].first_half)
    /\ transaction' = [transaction EXCEPT ![t].local = "COMMIT"]
    /\ half' = [half EXCEPT
                   ![transaction[t].first_half].end = "COMMIT",
                   ![transaction[t].first_half].foreign = TRUE]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The producer knows that the transaction is committed, or that it is not.
IsDecided(t) ==
    \/ transaction[t].local = "COMMIT"
    \/ transaction[t].local = "ROLLBACK"
    \/ transaction[t].local = "NEVER_RUN"

\* The producer answers a check by what it knows; unknown is an answer that the broker drops.
\*
\* RocketMQ: ClientRemotingProcessor#checkTransactionState → DefaultMQProducerImpl#checkTransactionState. The answer
\* names the copy that the check named. A transaction that was never run was rolled back.
AnswerCheck(h) ==
    \* a check request for this copy arrives
    /\ half[h].check_in_flight
    \* producers speak to the broker itself, or have nothing to say
    /\ IsTrue(PROXIES = 0 \/ ~IsDecided(half[h].transaction))
    /\ RoomForAnEnd(h)
    /\ half' = [half EXCEPT
                   ![h].check_in_flight = FALSE,
                   ![h].end =
                       IF transaction[half[h].transaction].local = "COMMIT"
                       THEN "COMMIT"
                       ELSE IF \/ transaction[half[h].transaction].local = "ROLLBACK"
                               \/ transaction[half[h].transaction].local = "NEVER_RUN"
                            THEN "ROLLBACK"
                            ELSE @]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* A checker that finds no trace of a local transaction that still runs answers rollback (A12).
\*
\* RocketMQ: the user's TransactionListener#checkLocalTransaction.
AnswerCheckTooEarly(h) ==
    \* producers speak to the broker itself
    /\ PROXIES = 0
    \* a check request for this copy arrives
    /\ half[h].check_in_flight
    \* the local transaction still runs
    /\ transaction[half[h].transaction].local = "EXECUTING"
    \* environment: a local transaction is over before its first check
    /\ SLOW_LOCAL
    /\ RoomForAnEnd(h)
    /\ half' = [half EXCEPT ![h].check_in_flight = FALSE, ![h].end = "ROLLBACK"]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* Running local transactions are cut off, and checks under way are not answered.
ProducersEnd ==
    /\ transaction' = [t \in Transactions |->
                          [transaction[t] EXCEPT !.local = IF @ = "EXECUTING" THEN "UNKNOWN" ELSE @]]
    /\ half' = [h \in HalfSlots |-> [half[h] EXCEPT !.check_in_flight = FALSE]]

\* No producer of the group is connected any more: nobody answers checks (B19).
\*
\* RocketMQ: ProducerManager#doChannelCloseEvent. What they were running is left to a later check.
LoseAllProducers ==
    \* a producer is connected
    /\ producer # "OFFLINE"
    \* environment: producers are online
    /\ OFFLINE_PRODUCER
    /\ ProducersEnd
    /\ producer' = "OFFLINE"
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, half_length, op, op_length, batch,
                   round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone, lower_end,
                   stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The producers of the group start again, and the broker hears of them with their next send (A35).
\*
\* RocketMQ: MQClientInstance#sendHeartbeatToAllBroker knows only brokers of topics that the producer has a route for.
RestartProducers ==
    \* the broker knows a producer of the group
    /\ producer = "ONLINE"
    \* environment: producers do not start again
    /\ RESTARTED_PRODUCER
    /\ ProducersEnd
    /\ producer' = "UNREGISTERED"
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, half_length, op, op_length, batch,
                   round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone, lower_end,
                   stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* A producer of the group is connected again.
ConnectAgain ==
    \* no producer is connected
    /\ producer = "OFFLINE"
    /\ producer' = "ONLINE"
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, transaction, half, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

----------------------------------------------------------------------------------------------------
\* A proxy between producers and the broker: clients that speak gRPC name a transaction, and the proxy its half.
\*
\* It knows where a half lies from the send on, and from each check on that it relays, for `data_life` each time. The
\* first END_TRANSACTION takes the newest entry out, whatever becomes of it then; one that finds none is refused, and the
\* broker never hears of it. What the broker answers to the others nobody asks. The producer group is the topic's name, so
\* that any producer of the topic is asked. Proxies share nothing.
\*
\* RocketMQ: TransactionDataManager, AbstractTransactionService, ProducerProcessor#fillTransactionData,
\* AbstractProxyRelayService#processCheckTransactionState, EndTransactionActivity#endTransaction.

\* Of what proxy p knows of the transaction, half h is the newest: the one that an END_TRANSACTION takes.
\*
\* RocketMQ: TransactionDataManager#pollNoExpireTransactionData.
IsNewestEntry(h, p) ==
    /\ half[h].known_to = p + 1
    /\ ~(\E k \in HalfSlots :
             k > h /\ half[k].known_to = p + 1 /\ half[k].transaction = half[h].transaction)

\* Proxy p has no entry of the transaction.
KnowsNothingOf(t, p) == ~(\E h \in HalfSlots : half[h].known_to = p + 1 /\ half[h].transaction = t)

\* A producer speaks to the first proxy, unless its connection was made anew or something balances requests.
IsReached(p) ==
    \* environment: requests of one producer come to one proxy
    /\ IsTrue(p = 0 \/ OTHER_PROXY)

\* The proxy sends an END_TRANSACTION for half h to the broker, and forgets the half.
TakeEntry(h, says) ==
    /\ half' = [half EXCEPT ![h].known_to = 0, ![h].end = says]

\* What an END_TRANSACTION of a running local transaction needs to be passed on.
EndsThroughProxy(h, p) ==
    \* the local transaction runs
    /\ transaction[half[h].transaction].local = "EXECUTING"
    \* half h is the newest that the proxy knows of it
    /\ IsNewestEntry(h, p)
    /\ IsReached(p)
    /\ RoomForAnEnd(h)

\* The local transaction commits, and proxy p sends END_TRANSACTION(commit) for the half that it knows.
\*
\* OK is answered before the broker knows of it (A48, B41).
\*
\* RocketMQ: EndTransactionActivity#endTransaction, MessageService#endTransactionOneway.
CommitThroughProxy(h, p) ==
    /\ EndsThroughProxy(h, p)
    /\ TakeEntry(h, "COMMIT")
    /\ transaction' = [transaction EXCEPT ![half[h].transaction].local = "COMMIT"]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The local transaction rolls back, and proxy p sends END_TRANSACTION(rollback) for the half that it knows.
\*
\* RocketMQ: EndTransactionActivity#endTransaction, MessageService#endTransactionOneway.
RollBackThroughProxy(h, p) ==
    /\ EndsThroughProxy(h, p)
    /\ TakeEntry(h, "ROLLBACK")
    /\ transaction' = [transaction EXCEPT ![half[h].transaction].local = "ROLLBACK"]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* What it needs to be refused.
EndsUnknownToProxy(t, p) ==
    \* the local transaction runs
    /\ transaction[t].local = "EXECUTING"
    \* the proxy has no entry of the transaction
    /\ KnowsNothingOf(t, p)
    /\ IsReached(p)

\* The local transaction commits, and proxy p has no entry of it: "cannot found transaction data" (A49, B41).
\*
\* RocketMQ: TransactionProcessor#endTransaction, TRANSACTION_DATA_NOT_FOUND.
CommitUnknownToProxy(t, p) ==
    /\ EndsUnknownToProxy(t, p)
    /\ transaction' = [transaction EXCEPT ![t].local = "COMMIT", ![t].direct = "REFUSED"]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The same with a rollback.
\*
\* RocketMQ: TransactionProcessor#endTransaction, TRANSACTION_DATA_NOT_FOUND.
RollBackUnknownToProxy(t, p) ==
    /\ EndsUnknownToProxy(t, p)
    /\ transaction' = [transaction EXCEPT ![t].local = "ROLLBACK"]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The broker's status is not SEND_OK: the proxy notes nothing, the client throws, and the half stays (A37).
\*
\* RocketMQ: ProducerProcessor#sendMessage; FLUSH_DISK_TIMEOUT becomes MASTER_PERSISTENCE_TIMEOUT.
FailAStoredSend(t, p) ==
    \* the first proxy took the send
    /\ p = 0
    \* the local transaction was to run
    /\ transaction[t].local = "EXECUTING"
    \* the send has just been answered
    /\ half[transaction[t].first_half].known_to = p + 1
    \* environment: a half that is stored is answered SEND_OK
    /\ BAD_STORE_STATUS
    /\ transaction' = [transaction EXCEPT ![t].local = "NEVER_RUN"]
    /\ half' = [half EXCEPT ![transaction[t].first_half].known_to = 0]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* What an answer to the check of half h needs to be passed on: proxy p knows a half k of the transaction.
IsAnsweredThrough(k, h, p) ==
    \* a check request for half h arrives
    /\ half[h].check_in_flight
    \* half k is of the same transaction
    /\ half[k].transaction = half[h].transaction
    \* half k is the newest that the proxy knows of it
    /\ IsNewestEntry(k, p)
    /\ IsReached(p)
    /\ RoomForAnEnd(k)

\* The check of half h is answered, and the END_TRANSACTION names half k.
Answer(k, h, says) ==
    /\ half' = [half EXCEPT
                   ![h].check_in_flight = FALSE,
                   ![k].claims_check = TRUE,
                   ![k].known_to = 0,
                   ![k].end = says]

\* The producer answers the check of half h, and proxy p sends an END_TRANSACTION for the newest half that it knows.
\*
\* RocketMQ: EndTransactionActivity#endTransaction with SOURCE_SERVER_CHECK. A client that has nothing to say sends
\* nothing.
AnswerCheckThroughProxy(k, h, p) ==
    /\ IsAnsweredThrough(k, h, p)
    \* its producer knows what became of it
    /\ IsTrue(IsDecided(half[h].transaction))
    /\ Answer(k, h, IF transaction[half[h].transaction].local = "COMMIT" THEN "COMMIT" ELSE "ROLLBACK")
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* A checker that finds no trace of a local transaction that still runs answers rollback (A12).
\*
\* RocketMQ: the user's TransactionChecker#check.
AnswerTooEarlyThroughProxy(k, h, p) ==
    /\ IsAnsweredThrough(k, h, p)
    \* the local transaction still runs
    /\ transaction[half[h].transaction].local = "EXECUTING"
    \* environment: a local transaction is over before its first check
    /\ SLOW_LOCAL
    /\ Answer(k, h, "ROLLBACK")
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* Another service that sends to the topic is asked, finds no trace of the transaction, and answers rollback.
\*
\* RocketMQ: ClientActivity#registerProducer takes the topic for the producer group; ProducerManager
\* #getAvailableChannel asks its producers in turn.
RollBackForAnotherService(k, h, p) ==
    /\ IsAnsweredThrough(k, h, p)
    \* environment: one service sends to the topic
    /\ SHARED_TOPIC
    /\ Answer(k, h, "ROLLBACK")
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* Another service that sends to the topic is asked, and does not answer: it has no checker, or does not know.
\*
\* RocketMQ: the same; a client without a TransactionChecker drops the command.
AskAnotherService(h, p) ==
    \* one of the proxies passes it on
    /\ p = 0
    \* a check request for this copy is under way
    /\ half[h].check_in_flight
    \* environment: one service sends to the topic
    /\ SHARED_TOPIC
    /\ half' = [half EXCEPT ![h].check_in_flight = FALSE]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The producer answers a check, and proxy p has no entry of the transaction: its answer is refused (B41).
\*
\* RocketMQ: TransactionProcessor#endTransaction, TRANSACTION_DATA_NOT_FOUND.
AnswerUnknownToProxy(h, p) ==
    \* a check request for half h arrives
    /\ half[h].check_in_flight
    \* its producer knows what became of it
    /\ IsTrue(IsDecided(half[h].transaction))
    \* the proxy has no entry of the transaction
    /\ KnowsNothingOf(half[h].transaction, p)
    /\ IsReached(p)
    /\ half' = [half EXCEPT ![h].check_in_flight = FALSE]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The broker sends the check through proxy p, not the first one, and p notes where the copy lies.
\*
\* RocketMQ: ProducerManager#getAvailableChannel; each proxy is a client of the group (rmq-proxy-producer-client).
RelayThroughOtherProxy(h, p) ==
    \* the first proxy is the one that is reached otherwise
    /\ p > 0
    \* a check request for this copy is under way
    /\ half[h].check_in_flight
    \* nothing was taken out since
    /\ half[h].known_to = 1
    \* it has just been sent
    /\ half[h].stored_at = Now
    \* environment: requests of one producer come to one proxy
    /\ OTHER_PROXY
    /\ half' = [half EXCEPT ![h].known_to = p + 1]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* A proxy starts again: what it knew is gone, and so are the checks on their way through it (A49).
\*
\* The broker knows no producer of the group until one has connected again. In local mode the broker starts again, too.
\*
\* RocketMQ: TransactionDataManager lives in memory; ProducerManager#doChannelCloseEvent.
RestartProxy(p) ==
    \* it has something to lose
    /\ IsTrue((p = 0 /\ producer = "ONLINE") \/ (\E h \in HalfSlots : half[h].known_to = p + 1))
    \* environment: proxies run on
    /\ RESTART_PROXY
    /\ producer' = IF p = 0 /\ producer = "ONLINE" THEN "OFFLINE" ELSE producer
    /\ half' = [h \in HalfSlots |->
                   [half[h] EXCEPT
                       !.known_to = IF @ = p + 1 THEN 0 ELSE @,
                       !.check_in_flight = IF half[h].known_to = p + 1 THEN FALSE ELSE @]]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, transaction, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

----------------------------------------------------------------------------------------------------
\* What the broker is to its group, as rules ask for it.

\* The broker is the master, also while it is shut down: its store takes messages to the end.
IsMaster == role = "MASTER" \/ role = "STOPPING"

\* A master handles what has arrived; one that stops goes on with what its pool holds, which it does not await.
\*
\* RocketMQ: BrokerController#shutdown, endTransactionExecutor; a repaired one has awaited it.
TakesEnds == role = "MASTER" \/ (role = "STOPPING" /\ ~AWAITS_ENDS_ON_STOP)

----------------------------------------------------------------------------------------------------
\* A message of the half queue: its age, its immunity, its checks, and what can be done with it.

\* How old the message is: born when its producer sent it, not when a copy was stored.
Age(h) == Now - half[h].born_at

\* CHECK_IMMUNITY_TIME_IN_SECONDS of the message, or NONE.
OwnImmunity(h) == transaction[half[h].transaction].immunity

\* checkImmunityTime: the message's own, or else the timeout.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check and #getImmunityTime. END_TRANSACTION never takes it for shorter
\* than the timeout (TransactionalMessageUtil#getImmunityTime), the check service does (B25).
Immunity(h) ==
    LET own == OwnImmunity(h)
    IN  IF own = NONE \/ (ONE_IMMUNITY /\ own < TIMEOUT) THEN TIMEOUT ELSE own

\* The message carries CHECK_IMMUNITY_TIME_IN_SECONDS.
HasImmunity(h) == OwnImmunity(h) # NONE

\* The half that the producer's send stored, not a put-back copy.
IsFirstHalf(h) == transaction[half[h].transaction].first_half = h

\* A copy of the half, which is longer than the half itself, can be stored (B07).
CanBeCopied(h) == transaction[half[h].transaction].kind # "POISON"

\* The half is a message that can be read.
CanBeDecoded(h) == transaction[half[h].transaction].kind # "UNDECODABLE"

\* The commit log has the half, and it can be decoded.
\*
\* RocketMQ: DefaultMessageStore#lookMessageByOffset.
CanBeLookedUp(h) == h >= gone.halves /\ CanBeDecoded(h)

\* A half of the transaction has escaped, and none is left at the half offset or above: the slave passed them all.
\*
\* RocketMQ: SlaveSynchronize; what lies between its own half offset and the slave's has escaped, or was settled.
IsLeftToAnother(t) ==
    /\ LEAVES_ESCAPED
    /\ IsMaster
    /\ transaction[t].escaped > 0
    /\ ~(\E h \in HalfSlots : half[h].transaction = t /\ h >= offsets.half /\ h < half_length)

\* A discarded half of the transaction was put back by an operator.
WasResumed(t) ==
    \/ transaction[t].resumed_before
    \/ \E h \in HalfSlots : half[h].transaction = t /\ half[h].left = "RESUMED"

\* The index of settled transactions has it, where there is one (a repair). Resuming a half opens it again.
IsKnownAsSettled(t) ==
    LET is_put_aside == transaction[t].parked /\ ~WasResumed(t)
    IN  \/ IsLeftToAnother(t)
        \/ /\ SETTLES_ONCE
           /\ transaction[t].deliveries > 0 \/ transaction[t].rolled_back # "NO" \/ is_put_aside

\* A later message of the half queue knows the same original as half h, or h itself as that: it was put back.
\*
\* RocketMQ: PROPERTY_TRANSACTION_PREPARED_QUEUE_OFFSET, TransactionalMessageBridge#renewImmunityHalfMessageInner. A
\* repaired service keeps an index of the copies at the half offset and above, made anew after a start.
HasACopyAhead(h) ==
    LET original == IF half[h].original = NONE THEN h ELSE half[h].original
    IN  /\ COPIES_ONCE
        /\ \E k \in HalfSlots : k > h /\ k < half_length /\ half[k].original = original

\* Its timeout or immunity is not over. At exactly that age, versions differ (A19).
\*
\* RocketMQ: TransactionalMessageServiceImpl#check.
IsYoung(h) == Age(h) < Immunity(h) \/ (EQUAL_AGE_IS_YOUNG /\ Age(h) = Immunity(h))

\* It has an immunity of its own, which is not over.
IsImmune(h) == HasImmunity(h) /\ IsYoung(h)

\* CHECK_IMMUNITY_TIME_IN_SECONDS is longer than `transactionCheckMax` check intervals.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check.
IsTooImmune(h) == SKIPS_LONG_IMMUNITIES /\ IsImmune(h) /\ OwnImmunity(h) > TIME_OF_ALL_CHECKS

\* It is older than fileReservedTime (B45).
\*
\* RocketMQ: TransactionalMessageServiceImpl#needSkip.
IsOverAge(h) == RESERVED_TIME # NONE /\ Age(h) > RESERVED_TIME

\* It was put back `transactionCheckMax` times.
\*
\* RocketMQ: TransactionalMessageServiceImpl#needDiscard.
HasNoChecksLeft(h) == half[h].check_times >= CHECK_MAX

\* needDiscard or needSkip, which the loop asks before it knows all op messages (A10).
\*
\* RocketMQ: TransactionalMessageServiceImpl#check.
MustBeDiscarded(h) ==
    LET can_be_asked == ASKS_THE_OLD /\ producer = "ONLINE"
    IN  (HasNoChecksLeft(h) /\ ~DISCARDS_INSTEAD_OF_CHECKING) \/ (IsOverAge(h) /\ ~can_be_asked)

\* It has no immunity of its own and was born in the future: it is not young, and is checked at once (B27).
BornAhead(h) == ~HasImmunity(h) /\ Age(h) < 0

\* A repaired service knows that an END_TRANSACTION of the half was carried out and its op entry is on its way.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check.
ItsOpIsToCome(h) == KEEPS_CHECK_OPEN /\ (h \in batch.names \/ half[h].end = "COMMIT_STORED")

\* A check request or an END_TRANSACTION of the transaction is under way, or is being handled.
AwaitsItsProducer(t) ==
    \E h \in HalfSlots :
        half[h].transaction = t /\ (half[h].check_in_flight \/ half[h].end # "NONE")

----------------------------------------------------------------------------------------------------
\* The order of the commit log, and what of it is on the disk.

\* All messages survive a power loss. What no power loss can ask for is not kept.
Flush ==
    /\ LET matters == POWER_LOSS /\ mishaps < MISHAPS
       IN  /\ flushed' = [flushed EXCEPT
                             !.halves = IF matters THEN half_length ELSE 0,
                             !.ops = IF matters THEN op_length ELSE 0]

\* Something may ask which of a half and an op message was stored first.
OrderIsAskedFor == POWER_LOSS \/ RETENTION \/ (UNDECODABLE_OP /\ SKIPS_UNDECODABLE_OPS)

\* How many op messages are among the first records of the log: one has its number of records before it.
OpsAmong(records) ==
    Cardinality({o \in OpSlots : o < op_length /\ op[o].halves_before + o < records})

----------------------------------------------------------------------------------------------------
\* The op batch of 5.1 and later: half offsets wait in memory and are written together by a thread of its own.
\*
\* RocketMQ: TransactionalMessageServiceImpl#batchSendOpMessage, TransactionalOpBatchService.

\* How many half offsets wait.
BatchSize == Cardinality({h \in HalfSlots : h \in batch.names})

\* The batch interval is over since the last write, or the batch is full.
BatchIsReady == Now - batch.written_at >= OP_BATCH_INTERVAL \/ BatchSize >= OP_BATCH_SIZE

\* What writing the batch needs: something waits, for long enough or enough of it.
BatchIsDue ==
    \* half offsets wait in the batch
    /\ batch.names # {}
    \* the batch interval is over since the last write, or the batch is full
    /\ IsTrue(BatchIsReady \/ batch.others)

\* An op message at the end of its queue, behind the halves that are there in the commit log.
AppendOp(names) ==
    /\ LET matters == POWER_LOSS /\ mishaps < MISHAPS
       IN  /\ op' = [op EXCEPT
                        ![op_length].names = names,
                        ![op_length].born_at = Now,
                        ![op_length].halves_before =
                            IF FORGETS = 0 \/ OrderIsAskedFor THEN half_length ELSE @]
           /\ op_length' = op_length + 1
           /\ flushed' = [flushed EXCEPT
                             !.halves =
                                 IF FLUSHES_BEFORE_ANSWERING THEN IF matters THEN half_length ELSE 0 ELSE @,
                             !.ops = IF FLUSHES_BEFORE_ANSWERING THEN IF matters THEN op_length + 1 ELSE 0 ELSE @]
           /\ had_ops' = IF FORGETS = 1 /\ ~POWER_LOSS THEN TRUE ELSE had_ops

\* The entries are taken out, and the time is noted.
EmptyBatch ==
    /\ batch' = [batch EXCEPT
                    !.names = {},
                    !.others = FALSE,
                    !.waiting_since = LongAgo(Floor(WAITING_CUT, CLOCK_STEP)),
                    !.written_at = Now]

\* The waiting half offsets are written as one op message, when the interval is over or when they are many.
\*
\* RocketMQ: TransactionalMessageServiceImpl#batchSendOpMessage → #getOpMessage.
WriteOpBatch ==
    /\ BatchIsDue
    \* the broker is the master, so that its store takes messages
    /\ role = "MASTER"
    \* instance: the op queue of the instance has room
    /\ op_length < OP_SLOTS
    /\ AppendOp(batch.names)
    /\ EmptyBatch
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half,
                   half_length, round, pulled_op, round_ended_at, offsets, saved, unsaved, gone, lower_end,
                   stuck, stuck_rounds, op_left_behind, had_halves>>

\* The op message of the batch is not stored; its entries were taken out before, and are gone (B04).
\*
\* RocketMQ: TransactionalMessageServiceImpl#batchSendOpMessage logs what TransactionalMessageBridge#writeOp returns. A
\* slave's store refuses every write.
FailToWriteOpBatch ==
    /\ BatchIsDue
    \* the op batch thread has not ended
    /\ role # "STOPPING"
    \* what was not written does not wait for the next time
    /\ ~KEEPS_FAILED_OPS
    \* environment: op messages are stored
    /\ IsTrue(OP_WRITE_FAILURE \/ role # "MASTER")
    /\ EmptyBatch
    /\ half' = [h \in HalfSlots |->
                   [half[h] EXCEPT !.op_write_failed = IF h \in batch.names THEN TRUE ELSE @]]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The batch thread has had its chance to write what waits.
\*
\* An entry waits for the interval since the last write. Up to 5.4.0 the thread wakes once an interval, and may miss
\* that by a moment: then the entry waits for the next wake-up, for up to two intervals (A16). Later it wakes an
\* interval after the last write, and where that is over it does not sleep (A17).
BatchIsOverdue ==
    LET is_unwritten_long == Now - batch.written_at >= OP_BATCH_INTERVAL
        is_waiting_long == Now - batch.waiting_since >= OP_BATCH_INTERVAL
        is_slept_through == Now - batch.written_at >= BATCH_CUT /\ is_waiting_long
        is_awaited == IF BATCH_THREAD_OVERSLEEPS THEN is_slept_through ELSE is_unwritten_long
    IN  (batch.others \/ batch.names # {}) /\ is_awaited

\* The process is over: what waits is gone.
DropBatch ==
    /\ batch' = [batch EXCEPT
                    !.names = {},
                    !.others = FALSE,
                    !.is_open = FALSE,
                    !.waiting_since = LongAgo(Floor(WAITING_CUT, CLOCK_STEP)),
                    !.written_at = LongAgo(Floor(BATCH_CUT, CLOCK_STEP))]

----------------------------------------------------------------------------------------------------
\* Reading the op queue in a round: which halves are settled, and which op messages are done.
\*
\* RocketMQ: TransactionalMessageServiceImpl#fillOpRemoveMap, #calculateOpOffset.

\* Where a round begins to read: at the op offset, or at the lower end of the queue if none was ever committed.
\*
\* RocketMQ: TransactionalMessageBridge#fetchConsumeOffset.
OpOffset == IF offsets.op = 0 /\ ~had_ops THEN lower_end.ops ELSE offsets.op

\* removeMap has the half: an op message that was pulled in this round names it.
IsSettledByAnOp(h) == round.removed_by[h] # NONE

\* removeMap has the offset that an immunity put-back wrote down (TRAN_PREPARED_QUEUE_OFFSET).
OriginalIsSettled(h) == half[h].original # NONE /\ round.removed_by[half[h].original] # NONE

\* Such a pull reads op message o. What retention has deleted is left out, and more is read for it.
\*
\* RocketMQ: DefaultMessageStore#getMessage.
IsReadFrom(o, first) ==
    LET begin == IF first >= gone.ops THEN first ELSE gone.ops
    IN  o >= begin /\ o < begin + OP_PULL_SIZE /\ o < op_length

\* An op message that such a pull would read cannot be decoded, and that ends the round.
\*
\* RocketMQ 4.5.1: TransactionalMessageBridge#decodeMsgList leaves a null in the list. Later versions leave it out.
PullThrows(first) ==
    /\ UNDECODABLE_THROWS
    /\ ~SKIPS_UNDECODABLE_OPS
    /\ first >= lower_end.ops
    /\ \E o \in OpSlots : IsReadFrom(o, first) /\ op[o].undecodable

\* The offset lies below the lower end of the op queue, or retention has deleted all that stands from it on.
HasNothingFor(offset) == offset < lower_end.ops \/ (offset < op_length /\ gone.ops = op_length)

\* No op message was ever stored, as far as no power loss has taken it.
IsEmptyOpQueue == op_length = 0 /\ ~had_ops

\* Messages, none as the queue is at its end, or only such as cannot be decoded.
WhatAPullGives(first) ==
    IF first >= op_length \/ HasNothingFor(first)
    THEN "END"
    ELSE IF \/ SKIPS_UNDECODABLE_OPS
            \/ \E o \in OpSlots : IsReadFrom(o, first) /\ ~op[o].undecodable
         THEN "FOUND"
         ELSE "UNREADABLE"

\* Read up to `op_pull_size` op messages from `next_op` on, and enter the halves that they name into removeMap.
\*
\* A name below the half offset at which the round began counts as settled long ago, whatever became of the copies made
\* since (A11, B01). An op message with no other name is done at once. 4.5.1 takes a pull exactly at the end of the
\* queue for an illegal offset and commits the op offset to the end (A02). An offset beyond the end is illegal in every
\* version, and corrected to the end or, up to 4.9.3, to the beginning (B15). So is one of which retention has left
\* nothing, to what is left: that pull looks like the end of the op queue (B44).
PullOpMessages ==
    /\ LET goes_back == REWINDS_BEYOND_END /\ lower_end.ops = 0
           begin == IF round.next_op >= gone.ops THEN round.next_op ELSE gone.ops
           offsets_then ==
               [offsets EXCEPT
                   !.op =
                       IF OP_END_COMMITS_OFFSET /\ round.next_op = op_length THEN op_length ELSE @]
           after_o[o \in -1..OP_SLOTS - 1] ==
               IF o = -1
               THEN [round |-> [round EXCEPT !.last_pull = WhatAPullGives(round.next_op)],
                     pulled_op |-> pulled_op]
               ELSE LET before_o == after_o[o - 1]
                        unresolved_then ==
                            before_o.pulled_op[o].unresolved
                              \cup {h \in HalfSlots :
                                       /\ h \in op[o].names
                                       /\ \/ /\ h >= (IF offsets_then.half = 0 /\ ~had_halves
                                                      THEN lower_end.halves
                                                      ELSE offsets_then.half)
                                             /\ ~SETTLES_ONCE \/ h >= before_o.round.cursor
                                          \/ /\ HEEDS_SETTLED_ORIGINALS
                                             /\ \E k \in HalfSlots :
                                                    /\ k >= (IF offsets_then.half = 0 /\ ~had_halves
                                                             THEN lower_end.halves
                                                             ELSE offsets_then.half)
                                                    /\ ~SETTLES_ONCE \/ k >= before_o.round.cursor
                                                    /\ k < half_length
                                                    /\ half[k].original = h}
                        when == begin <= o /\ o < begin + OP_PULL_SIZE /\ o < op_length
                    IN  [round |-> [before_o.round EXCEPT
                                       !.removed_by =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN [h \in HalfSlots |->
                                                         IF /\ h \in op[o].names
                                                            /\ \/ /\ h >= (IF /\ offsets_then.half = 0
                                                                              /\ ~had_halves
                                                                           THEN lower_end.halves
                                                                           ELSE offsets_then.half)
                                                                  /\ \/ ~SETTLES_ONCE
                                                                     \/ h >= before_o.round.cursor
                                                               \/ /\ HEEDS_SETTLED_ORIGINALS
                                                                  /\ \E k \in HalfSlots :
                                                                         /\ k >= (IF /\ offsets_then.half = 0
                                                                                     /\ ~had_halves
                                                                                  THEN lower_end.halves
                                                                                  ELSE offsets_then.half)
                                                                         /\ \/ ~SETTLES_ONCE
                                                                            \/ k >= before_o.round.cursor
                                                                         /\ k < half_length
                                                                         /\ half[k].original = h
                                                         THEN o
                                                         ELSE @[h]]
                                                ELSE @
                                           ELSE @,
                                       !.done_twice =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o \in before_o.round.done
                                                          THEN @ \cup {o}
                                                          ELSE @
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o \in before_o.round.done
                                                          THEN @ \cup {o}
                                                          ELSE @
                                                     ELSE @
                                           ELSE @,
                                       !.done =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                     ELSE @
                                           ELSE @,
                                       !.next_op = IF when THEN o + 1 ELSE @],
                         pulled_op |-> [before_o.pulled_op EXCEPT
                                           ![o].unresolved =
                                               IF when
                                               THEN IF ~op[o].undecodable
                                                    THEN unresolved_then
                                                    ELSE @
                                               ELSE @]]
       IN  /\ round' =
                  IF HasNothingFor(round.next_op) /\ ~IsEmptyOpQueue
                  THEN [round EXCEPT
                           !.last_pull = WhatAPullGives(round.next_op),
                           !.next_op =
                               IF @ >= lower_end.ops
                               THEN op_length
                               ELSE IF IsMaster \/ CORRECTS_OFFSETS_ON_SLAVE THEN lower_end.ops ELSE @]
                  ELSE IF round.next_op > op_length
                       THEN [round EXCEPT
                                !.last_pull = WhatAPullGives(round.next_op),
                                !.next_op = IF goes_back THEN 0 ELSE op_length]
                       ELSE after_o[OP_SLOTS - 1].round
           /\ pulled_op' =
                  IF HasNothingFor(round.next_op) /\ ~IsEmptyOpQueue
                  THEN pulled_op
                  ELSE IF round.next_op > op_length THEN pulled_op ELSE after_o[OP_SLOTS - 1].pulled_op
           /\ offsets' =
                  IF HasNothingFor(round.next_op) /\ ~IsEmptyOpQueue
                  THEN [offsets EXCEPT
                           !.op =
                               IF round.next_op >= lower_end.ops
                               THEN op_length
                               ELSE IF IsMaster \/ CORRECTS_OFFSETS_ON_SLAVE
                                    THEN lower_end.ops
                                    ELSE round.next_op]
                  ELSE IF round.next_op > op_length
                       THEN [offsets EXCEPT
                                !.op = IF ~IsEmptyOpQueue THEN IF goes_back THEN 0 ELSE op_length ELSE @]
                       ELSE offsets_then

\* The last op message of the last pull was born so long after the round's start that ops may lag behind.
LastOpPulledCameLate ==
    \E o \in OpSlots : o + 1 = round.next_op /\ op[o].born_at - round.started_at > TIMEOUT

\* Some op message at offset `first` or later names half h.
NamesItFrom(h, first) == \E o \in OpSlots : o >= first /\ o < op_length /\ h \in op[o].names

----------------------------------------------------------------------------------------------------
\* What only properties read: why a settled transaction goes on, what is left of a half, why a round was stuck.
\*
\* At the end: what became of a transaction, as far as anybody can know.

\* The END_TRANSACTION for half h answers no check: the first half is meant, or the one that a proxy knows.
NamesAHalfUnasked(h) == (PROXIES = 0 /\ IsFirstHalf(h)) \/ (PROXIES > 0 /\ ~half[h].claims_check)

\* Note that a commit which the producer sent of its own accord is not carried out.
RememberRefusal(h, why) ==
    /\ LET t == half[h].transaction
       IN  /\ transaction' = [transaction EXCEPT
                                 ![t].direct =
                                     IF /\ half[h].end = "COMMIT"
                                        /\ NamesAHalfUnasked(h)
                                        /\ transaction[t].local = "COMMIT"
                                        /\ transaction[t].deliveries = 0
                                     THEN why
                                     ELSE @]

\* The round has asked for an earlier half, which retention has deleted, and removeMap was asked for that one.
IsReadForAnother(h) == round.running /\ round.cursor < h

\* Half h was put back or put aside before.
HasAnotherCopy(h) ==
    \/ half[h].left = "FOR_CHECK"
    \/ half[h].left = "FOR_IMMUNITY"
    \/ half[h].left = "KEPT_ASIDE"
    \/ half[h].left = "SETTLED_ASIDE"
    \/ half[h].left = "RESUMED"

\* Some op message that cannot be decoded names half h.
IsNamedUnreadably(h) == \E o \in OpSlots : op[o].undecodable /\ h \in op[o].names

\* The same, where no op entry of the half is still to be written.
WhyItsOpMessageWasNotSeen(h) ==
    IF IsNamedUnreadably(h)
    THEN "UNREADABLE_OP"
    ELSE IF NamesItFrom(h, round.next_op)
         THEN IF round.last_pull = "END" THEN "STALE_OP_END" ELSE "UNREAD_OP"
         ELSE IF NamesItFrom(h, 0) THEN "PASSED_OP" ELSE "LOST_OP"

\* A settled half is put back as the round knows no op message for it: unwritten, unread, passed over, or lost.
WhyItsOpWasNotSeen(h) ==
    IF h \in batch.names
    THEN IF Now - batch.waiting_since > OP_BATCH_INTERVAL THEN "OVERSLEPT_OP" ELSE "LATE_OP"
    ELSE IF half[h].end # "NONE" THEN "LATE_OP" ELSE WhyItsOpMessageWasNotSeen(h)

\* Ghost: half h is passed for the sake of another half.
RememberSettledElsewhere(h) ==
    /\ half' = [half EXCEPT ![h].left = IF @ = "NO" \/ @ = "COPY_LOST" THEN "SETTLED_ELSEWHERE" ELSE @]

\* Ghost: note what is left of the half, and whether it had all its checks.
RememberDiscard(h, how) ==
    /\ LET t == half[h].transaction
           can_be_kept == CanBeCopied(h) /\ CanBeDecoded(h)
           has_just_come == IsFirstHalf(h) /\ half[h].stored_at = Now
       IN  /\ transaction' = [transaction EXCEPT
                                 ![t].cause =
                                     IF @ = "NONE"
                                     THEN IF half[h].left = "ESCAPED"
                                          THEN "ENDED_AFTER_ESCAPE"
                                          ELSE IF IsReadForAnother(h) /\ HasAnotherCopy(h)
                                               THEN "READ_FOR_ANOTHER"
                                               ELSE IF HasAnotherCopy(h) THEN "FORKED_COPY" ELSE @
                                     ELSE @,
                                 ![t].discarded =
                                     IF @ = "NO" \/ @ = "SPENT"
                                     THEN IF ~HasNoChecksLeft(h)
                                          THEN IF IsOverAge(h) /\ (can_be_kept \/ ~ASKS_THE_OLD)
                                               THEN IF has_just_come THEN "OLD_ON_ARRIVAL" ELSE "OVER_AGE"
                                               ELSE @
                                          ELSE IF half[h].burnt = "IMMUNITY"
                                               THEN "BURNT_BY_IMMUNITY"
                                               ELSE IF half[h].burnt = "NOBODY_TO_ASK"
                                                    THEN "NOBODY_TO_ASK"
                                                    ELSE IF half[h].burnt = "PRESET" THEN "PRESET" ELSE "SPENT"
                                     ELSE @]
           /\ half' = [half EXCEPT
                          ![h].left =
                              IF half[h].acknowledged /\ how = "KEPT_ASIDE" THEN "SETTLED_ASIDE" ELSE how]

\* Note whether the round was stuck: it ended where it had begun, for a reason that is not RocketMQ's intention.
RememberEndOfRound(why) ==
    /\ stuck' = IF round.cursor = HalfOffset THEN why ELSE "NO"
    /\ stuck_rounds' =
           IF round.cursor = HalfOffset
           THEN IF why = "NO"
                THEN 0
                ELSE IF stuck # why
                     THEN 1
                     ELSE IF stuck_rounds < 2 THEN stuck_rounds + 1 ELSE stuck_rounds
           ELSE IF "NO" = "NO"
                THEN 0
                ELSE IF stuck # "NO"
                     THEN 1
                     ELSE IF stuck_rounds < 2 THEN stuck_rounds + 1 ELSE stuck_rounds

----------------------------------------------------------------------------------------------------
\* END_TRANSACTION on the broker: the real message is stored, then the op message is written or buffered.
\*
\* Two writes, so two steps: the process may die between them. The op queue is never read here, so that a repeated or a
\* contradicting request is carried out again (A12, A13). RocketMQ: EndTransactionProcessor#processRequest.

\* The broker looks at the age of half h, unless its END_TRANSACTION says that it answers a check.
\*
\* RocketMQ: EndTransactionProcessor#rejectCommitOrRollback (5.1.1, #6401).
MayBeLate(h) == REFUSES_LATE_END /\ (PROXIES > 0 \/ IsFirstHalf(h)) /\ HasImmunity(h)

\* A direct END_TRANSACTION of a half whose own immunity, the timeout at least, is over.
\*
\* What says that it answers a check is never late.
\*
\* RocketMQ: EndTransactionProcessor#rejectCommitOrRollback, TransactionalMessageUtil#getImmunityTime (5.1.1, #6401).
IsRefusedAsLate(h) ==
    LET is_over == Age(h) > Immunity(h) /\ Age(h) > TIMEOUT
    IN  MayBeLate(h) /\ ~half[h].claims_check /\ is_over

\* One END_TRANSACTION is over; another one that names half h may be left.
ForgetEnd(h) ==
    /\ half' = [half EXCEPT
                   ![h].end = half[h].other_end,
                   ![h].other_end = "NONE",
                   ![h].claims_check = IF half[h].other_end = "NONE" THEN FALSE ELSE @]

\* What every refusal needs.
AnEndArrives(h) ==
    \* an END_TRANSACTION for this half arrives
    /\ IsTrue(half[h].end = "COMMIT" \/ half[h].end = "ROLLBACK")

\* The broker answers ILLEGAL_OPERATION to a late direct END_TRANSACTION; the producer never looks (A58).
\*
\* RocketMQ: EndTransactionProcessor#rejectCommitOrRollback.
RefuseLateEnd(h) ==
    /\ AnEndArrives(h)
    \* the broker is the master
    /\ IsTrue(TakesEnds)
    \* it is direct, and the half's immunity is over
    /\ IsTrue(IsRefusedAsLate(h))
    /\ RememberRefusal(h, "LATE")
    /\ ForgetEnd(h)
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* A slave answers SLAVE_NOT_AVAILABLE, also one that acts for the master.
\*
\* RocketMQ: EndTransactionProcessor#processRequest.
RefuseEndAsSlave(h) ==
    /\ AnEndArrives(h)
    \* the broker is a slave
    /\ ~IsMaster
    /\ RememberRefusal(h, "REFUSED")
    /\ ForgetEnd(h)
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The half cannot be read, so that there is nothing to commit or to roll back.
\*
\* RocketMQ: TransactionalMessageServiceImpl#getHalfMessageByOffset, "Find prepared transaction message failed".
RefuseUnreadable(h) ==
    /\ AnEndArrives(h)
    \* the broker is the master
    /\ IsTrue(TakesEnds)
    \* the half is not there, or cannot be decoded
    /\ ~CanBeLookedUp(h)
    /\ RememberRefusal(h, "REFUSED")
    /\ ForgetEnd(h)
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* What it takes to carry an END_TRANSACTION out.
MayBeEnded(h) ==
    \* the broker is the master
    /\ IsTrue(TakesEnds)
    \* it is not refused as late
    /\ ~IsRefusedAsLate(h)
    \* the half is there and can be decoded
    /\ CanBeLookedUp(h)
    \* the broker does not know the transaction as settled
    /\ ~IsKnownAsSettled(half[h].transaction)

\* The same for a commit.
MayBeCommitted(h) ==
    \* a commit for this half arrives
    /\ half[h].end = "COMMIT"
    /\ MayBeEnded(h)

\* The real message cannot be stored; the one-way request is answered with an error, and no op message is written.
\*
\* RocketMQ: EndTransactionProcessor#sendFinalMessage.
RefuseCommitUnstored(h) ==
    /\ MayBeCommitted(h)
    \* what could not be stored is not tried again
    /\ ~RETRIES_COMMITS
    \* environment: real messages are stored
    /\ PUT_FAILURE
    /\ RememberRefusal(h, "REFUSED")
    /\ ForgetEnd(h)
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The transaction is known as settled or left to another broker: END_TRANSACTION changes nothing. A repair.
IgnoreRepeatedEnd(h) ==
    /\ AnEndArrives(h)
    \* the broker is the master
    /\ IsTrue(TakesEnds)
    \* the broker knows the transaction as settled
    /\ IsTrue(IsKnownAsSettled(half[h].transaction))
    /\ LET t == half[h].transaction
       IN  /\ ForgetEnd(h)
           /\ transaction' = [transaction EXCEPT
                                 ![t].direct =
                                     IF IsLeftToAnother(half[h].transaction)
                                     THEN IF /\ half[h].end = "COMMIT"
                                             /\ NamesAHalfUnasked(h)
                                             /\ transaction[t].local = "COMMIT"
                                             /\ transaction[t].deliveries = 0
                                          THEN "REFUSED"
                                          ELSE @
                                     ELSE @]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* A commit arrives: the message is stored in its real topic, where consumers see it.
\*
\* RocketMQ: EndTransactionProcessor#sendFinalMessage.
StoreRealMessage(h) ==
    /\ MayBeCommitted(h)
    /\ LET t == half[h].transaction
           is_in_time == HasImmunity(h) /\ Age(h) <= TIMEOUT
           cause_then ==
               IF transaction[t].cause = "NONE"
               THEN IF half[h].left = "FOR_CHECK"
                    THEN IF is_in_time THEN "SHORT_IMMUNITY" ELSE "AFTER_A_CHECK"
                    ELSE IF half[h].left = "FOR_IMMUNITY"
                         THEN "IMMUNE_HALF"
                         ELSE IF half[h].left = "ESCAPED"
                              THEN "ENDED_AFTER_ESCAPE"
                              ELSE transaction[t].cause
               ELSE transaction[t].cause
           when == transaction[t].deliveries = 1 /\ cause_then = "NONE"
       IN  /\ transaction' = [transaction EXCEPT
                                 ![t].shown_unasked = IF half[h].end # "COMMIT" THEN TRUE ELSE @,
                                 ![t].delivered_twice_for_one =
                                     IF half[h].settled = "COMMITTED"
                                     THEN TRUE
                                     ELSE IF when
                                          THEN IF WasResumed(t)
                                               THEN @
                                               ELSE IF half[h].settled = "ROLLED_BACK" THEN TRUE ELSE @
                                          ELSE @,
                                 ![t].cause =
                                     IF half[h].settled = "COMMITTED"
                                     THEN @
                                     ELSE IF when
                                          THEN IF WasResumed(t) THEN "RESUMED_HALF" ELSE cause_then
                                          ELSE cause_then,
                                 ![t].committed_aside =
                                     IF transaction[t].deliveries = 0 /\ transaction[t].parked THEN TRUE ELSE @,
                                 ![t].deliveries = IF @ < 2 THEN @ + 1 ELSE @]
           /\ half' = [half EXCEPT ![h].settled = "COMMITTED", ![h].end = "COMMIT_STORED"]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* Nothing stands against a rollback of half h: what a commit asks of it one rule a line.
MayBeRolledBack(h) ==
    /\ TakesEnds
    /\ ~IsRefusedAsLate(h)
    /\ CanBeLookedUp(h)
    /\ ~IsKnownAsSettled(half[h].transaction)

\* What writing and buffering an op need: there is an END_TRANSACTION to answer, and it is not refused.
AnswersAHandledEnd(h) ==
    \* the real message of a commit is stored, or a rollback arrives
    /\ IsTrue(half[h].end = "COMMIT_STORED" \/ half[h].end = "ROLLBACK")
    \* a rollback is not refused
    /\ IsTrue(half[h].end = "COMMIT_STORED" \/ MayBeRolledBack(h))

\* The half is at most as old as the timeout or its immunity, whichever is longer.
IsEarlyEnough(h) == Age(h) <= TIMEOUT \/ Age(h) <= Immunity(h)

\* A check was sent for the transaction.
WasChecked(t) ==
    \/ transaction[t].checked_before
    \/ \E h \in HalfSlots : half[h].transaction = t /\ half[h].left = "FOR_CHECK"

\* SUCCESS was answered to an END_TRANSACTION that named half h.
Acknowledge(h) ==
    /\ LET t == half[h].transaction
           is_in_time == HasImmunity(h) /\ Age(h) <= TIMEOUT
       IN  /\ transaction' = [transaction EXCEPT
                                 ![t].cause =
                                     IF half[h].end = "ROLLBACK"
                                     THEN IF @ = "NONE"
                                          THEN IF half[h].left = "FOR_CHECK"
                                               THEN IF is_in_time THEN "SHORT_IMMUNITY" ELSE "AFTER_A_CHECK"
                                               ELSE IF half[h].left = "FOR_IMMUNITY"
                                                    THEN "IMMUNE_HALF"
                                                    ELSE IF half[h].left = "ESCAPED" THEN "ENDED_AFTER_ESCAPE" ELSE @
                                          ELSE @
                                     ELSE @,
                                 ![t].rolled_back =
                                     IF half[h].end = "ROLLBACK"
                                     THEN IF @ = "NO"
                                          THEN IF transaction[t].deliveries = 0 THEN "UNDELIVERED" ELSE "DELIVERED"
                                          ELSE @
                                     ELSE @,
                                 ![t].quiet = IF @ = "NO" /\ IsEarlyEnough(h) /\ ~WasChecked(t) THEN "ENDED" ELSE @]
           /\ half' = [half EXCEPT
                          ![h].settled = IF half[h].end = "ROLLBACK" THEN "ROLLED_BACK" ELSE @,
                          ![h].acknowledged = TRUE,
                          ![h].end = half[h].other_end,
                          ![h].other_end = "NONE",
                          ![h].claims_check = IF half[h].other_end = "NONE" THEN FALSE ELSE @]

\* The op message that names this half is written at once, and the END_TRANSACTION is answered SUCCESS.
\*
\* RocketMQ: TransactionalMessageServiceImpl#deletePrepareMessage up to 5.0.
WriteOp(h) ==
    /\ AnswersAHandledEnd(h)
    \* this version writes an op message for each END_TRANSACTION
    /\ ~BATCHES_OPS
    \* the broker is the master, so that its store takes messages
    /\ IsTrue(IsMaster)
    \* instance: the op queue of the instance has room
    /\ op_length < OP_SLOTS
    /\ AppendOp({h})
    /\ Acknowledge(h)
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, batch, round,
                   pulled_op, round_ended_at, offsets, saved, unsaved, gone, lower_end, stuck,
                   stuck_rounds, op_left_behind, had_halves>>

\* The op message is not stored, and the END_TRANSACTION is answered SUCCESS all the same (B04).
\*
\* RocketMQ: TransactionalMessageBridge#putOpMessage is ignored by #addRemoveTagInTransactionOp up to 5.0.
FailToWriteOp(h) ==
    /\ AnswersAHandledEnd(h)
    \* this version writes an op message for each END_TRANSACTION
    /\ ~BATCHES_OPS
    \* what was not written is not tried again
    /\ ~KEEPS_FAILED_OPS
    \* environment: op messages are stored
    /\ IsTrue(OP_WRITE_FAILURE \/ ~IsMaster)
    /\ LET t == half[h].transaction
           is_in_time == HasImmunity(h) /\ Age(h) <= TIMEOUT
       IN  /\ transaction' = [transaction EXCEPT
                                 ![t].cause =
                                     IF half[h].end = "ROLLBACK"
                                     THEN IF @ = "NONE"
                                          THEN IF half[h].left = "FOR_CHECK"
                                               THEN IF is_in_time THEN "SHORT_IMMUNITY" ELSE "AFTER_A_CHECK"
                                               ELSE IF half[h].left = "FOR_IMMUNITY"
                                                    THEN "IMMUNE_HALF"
                                                    ELSE IF half[h].left = "ESCAPED" THEN "ENDED_AFTER_ESCAPE" ELSE @
                                          ELSE @
                                     ELSE @,
                                 ![t].rolled_back =
                                     IF half[h].end = "ROLLBACK"
                                     THEN IF @ = "NO"
                                          THEN IF transaction[t].deliveries = 0 THEN "UNDELIVERED" ELSE "DELIVERED"
                                          ELSE @
                                     ELSE @,
                                 ![t].quiet = IF @ = "NO" /\ IsEarlyEnough(h) /\ ~WasChecked(t) THEN "ENDED" ELSE @]
           /\ half' = [half EXCEPT
                          ![h].op_write_failed = TRUE,
                          ![h].settled = IF half[h].end = "ROLLBACK" THEN "ROLLED_BACK" ELSE @,
                          ![h].acknowledged = TRUE,
                          ![h].end = half[h].other_end,
                          ![h].other_end = "NONE",
                          ![h].claims_check = IF half[h].other_end = "NONE" THEN FALSE ELSE @]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The half's offset joins the op batch in memory, and the END_TRANSACTION is answered SUCCESS (B02).
\*
\* RocketMQ: TransactionalMessageServiceImpl#deletePrepareMessage from 5.1.0 on.
BufferOp(h) ==
    /\ AnswersAHandledEnd(h)
    \* this version writes op messages in batches
    /\ BATCHES_OPS
    /\ Acknowledge(h)
    /\ batch' = [batch EXCEPT
                    !.waiting_since = IF batch.names = {} /\ ~batch.others THEN Now ELSE @,
                    !.is_open = IF ~@ THEN TRUE ELSE @,
                    !.written_at = IF ~batch.is_open THEN Now ELSE @,
                    !.names = @ \cup {h}]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone, lower_end,
                   stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

----------------------------------------------------------------------------------------------------
\* A check round: its time, what it asks of a half, and its end, where offsets are committed in memory.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check.

\* The round has lasted for MAX_PROCESS_TIME_LIMIT at most. Nothing is compared with the start of a longer one.
HasTimeLeft == Now - round.started_at <= ROUND_LIMIT

\* The round has not yet lasted longer than MAX_PROCESS_TIME_LIMIT; a repaired one settles its first half anyway.
IsWithinLimit ==
    LET is_at_first_half == FINISHES_READING /\ round.cursor = HalfOffset /\ round.cursor < half_length
    IN  HasTimeLeft \/ is_at_first_half

\* The message was stored in this round, as its time says; a repaired round asks only within its time limit.
IsFresh(h) ==
    LET is_from_the_future == half[h].stored_at > Now
        seems_fresh == HasTimeLeft /\ half[h].stored_at >= round.started_at
    IN  seems_fresh /\ ~(DISTRUSTS_FUTURE /\ is_from_the_future)

\* isNeedCheck: all op messages are read and the half is old, or they run late, or the clocks disagree.
\*
\* A repaired service reads on as long as the op queue has a message that names the half, and beyond its time limit, as
\* long as there are op messages at all.
MayCheck(h) ==
    LET no_more_ops == round.last_pull = "END" /\ Age(h) > Immunity(h) /\ ~SKIPS_WHEN_OPS_ARE_DRAINED
        ops_run_late == round.last_pull = "FOUND" /\ HasTimeLeft /\ LastOpPulledCameLate
        clock_ahead == Age(h) <= -1
    IN  /\ no_more_ops \/ ops_run_late \/ clock_ahead
        /\ ~(/\ KEEPS_CHECK_OPEN
             /\ NamesItFrom(h, IF round.next_op >= gone.ops THEN round.next_op ELSE gone.ops))

\* Both offsets are committed, in memory: the half offset to the cursor, the op offset past what is done.
\*
\* The op offset is left alone when the round moved it nowhere, also where a pull has set it meanwhile (A02). `why`
\* tells what kept the round from going on, if something did. A service that knows settled transactions reads what is
\* left of the op queue, which would grow for ever otherwise.
EndRound(why) ==
    /\ LET begin == IF round.next_op >= gone.ops THEN round.next_op ELSE gone.ops
           after_o[o \in -1..OP_SLOTS - 1] ==
               IF o = -1
               THEN [round |-> round, pulled_op |-> pulled_op]
               ELSE LET before_o == after_o[o - 1]
                        unresolved_then ==
                            before_o.pulled_op[o].unresolved
                              \cup {h \in HalfSlots :
                                       /\ h \in op[o].names
                                       /\ \/ /\ h >= HalfOffset
                                             /\ ~SETTLES_ONCE \/ h >= before_o.round.cursor
                                          \/ /\ HEEDS_SETTLED_ORIGINALS
                                             /\ \E k \in HalfSlots :
                                                    /\ k >= HalfOffset
                                                    /\ ~SETTLES_ONCE \/ k >= before_o.round.cursor
                                                    /\ k < half_length
                                                    /\ half[k].original = h}
                        when == begin <= o /\ o < begin + OP_SLOTS /\ o < op_length
                    IN  [round |-> [before_o.round EXCEPT
                                       !.removed_by =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN [h \in HalfSlots |->
                                                         IF /\ h \in op[o].names
                                                            /\ \/ /\ h >= HalfOffset
                                                                  /\ \/ ~SETTLES_ONCE
                                                                     \/ h >= before_o.round.cursor
                                                               \/ /\ HEEDS_SETTLED_ORIGINALS
                                                                  /\ \E k \in HalfSlots :
                                                                         /\ k >= HalfOffset
                                                                         /\ \/ ~SETTLES_ONCE
                                                                            \/ k >= before_o.round.cursor
                                                                         /\ k < half_length
                                                                         /\ half[k].original = h
                                                         THEN o
                                                         ELSE @[h]]
                                                ELSE @
                                           ELSE @,
                                       !.done_twice =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o \in before_o.round.done
                                                          THEN @ \cup {o}
                                                          ELSE @
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o \in before_o.round.done
                                                          THEN @ \cup {o}
                                                          ELSE @
                                                     ELSE @
                                           ELSE @,
                                       !.done =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                     ELSE @
                                           ELSE @,
                                       !.next_op = IF when THEN o + 1 ELSE @],
                         pulled_op |-> [before_o.pulled_op EXCEPT
                                           ![o].unresolved =
                                               IF when
                                               THEN IF ~op[o].undecodable
                                                    THEN unresolved_then
                                                    ELSE @
                                               ELSE @]]
           round_then == IF SETTLES_ONCE THEN after_o[OP_SLOTS - 1].round ELSE round
           has_met_all == round_then.cursor = half_length /\ round_then.next_op = op_length
       IN  /\ RememberEndOfRound(why)
           /\ round' = [round_then EXCEPT
                           !.running = FALSE,
                           !.started_at = LongAgo(Floor(ROUND_CUT, CLOCK_STEP)),
                           !.cursor = 0,
                           !.null_met = FALSE,
                           !.met = 0,
                           !.first_op = 0,
                           !.next_op = 0,
                           !.last_pull = "FOUND",
                           !.pulls_nothing = FALSE,
                           !.done = {},
                           !.done_twice = {},
                           !.held = 0,
                           !.removed_by = [h \in HalfSlots |-> NONE]]
           /\ pulled_op' = [o_2 \in OpSlots |->
                               [(IF SETTLES_ONCE THEN after_o[OP_SLOTS - 1].pulled_op ELSE pulled_op)[o_2] EXCEPT
                                   !.unresolved = {}]]
           /\ round_ended_at' = Now
           /\ offsets' = [offsets EXCEPT
                             !.half = IF round_then.cursor # HalfOffset THEN round_then.cursor ELSE @,
                             !.op =
                                 IF \/ (IF CROWDED = 1 /\ round_then.held # 0
                                        THEN IF round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                      /\ o_2 >= round_then.first_op
                                                                                      /\ \A i \in 0..o_2 :
                                                                                             /\ (/\ i \in round_then.done
                                                                                                 /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                      /\ op[i].undecodable
                                                                                                      /\ op[i].halves_before > round_then.cursor))
                                                                                                  = (i >= round_then.first_op)
                                                                                             /\ \/ i = o_2
                                                                                                \/ ~(i \in round_then.done_twice)})
                                                  <= round_then.held - 1
                                             THEN round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                        /\ o_2 >= round_then.first_op
                                                                                        /\ \A i \in 0..o_2 :
                                                                                               /\ (/\ i \in round_then.done
                                                                                                   /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                        /\ op[i].undecodable
                                                                                                        /\ op[i].halves_before > round_then.cursor))
                                                                                                    = (i >= round_then.first_op)
                                                                                               /\ \/ i = o_2
                                                                                                  \/ ~(i \in round_then.done_twice)})
                                             ELSE round_then.held - 1
                                        ELSE round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                   /\ o_2 >= round_then.first_op
                                                                                   /\ \A i \in 0..o_2 :
                                                                                          /\ (/\ i \in round_then.done
                                                                                              /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                   /\ op[i].undecodable
                                                                                                   /\ op[i].halves_before > round_then.cursor))
                                                                                               = (i >= round_then.first_op)
                                                                                          /\ \/ i = o_2
                                                                                             \/ ~(i \in round_then.done_twice)}))
                                         # round_then.first_op
                                    \/ CROWDED = 1 /\ round_then.held # 0
                                 THEN IF CROWDED = 1 /\ round_then.held # 0
                                      THEN IF round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                    /\ o_2 >= round_then.first_op
                                                                                    /\ \A i \in 0..o_2 :
                                                                                           /\ (/\ i \in round_then.done
                                                                                               /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                    /\ op[i].undecodable
                                                                                                    /\ op[i].halves_before > round_then.cursor))
                                                                                                = (i >= round_then.first_op)
                                                                                           /\ \/ i = o_2
                                                                                              \/ ~(i \in round_then.done_twice)})
                                                <= round_then.held - 1
                                           THEN round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                      /\ o_2 >= round_then.first_op
                                                                                      /\ \A i \in 0..o_2 :
                                                                                             /\ (/\ i \in round_then.done
                                                                                                 /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                      /\ op[i].undecodable
                                                                                                      /\ op[i].halves_before > round_then.cursor))
                                                                                                  = (i >= round_then.first_op)
                                                                                             /\ \/ i = o_2
                                                                                                \/ ~(i \in round_then.done_twice)})
                                           ELSE round_then.held - 1
                                      ELSE round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                 /\ o_2 >= round_then.first_op
                                                                                 /\ \A i \in 0..o_2 :
                                                                                        /\ (/\ i \in round_then.done
                                                                                            /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                 /\ op[i].undecodable
                                                                                                 /\ op[i].halves_before > round_then.cursor))
                                                                                             = (i >= round_then.first_op)
                                                                                        /\ \/ i = o_2
                                                                                           \/ ~(i \in round_then.done_twice)})
                                 ELSE @]
           /\ op_left_behind' =
                  (/\ has_met_all
                   /\ round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                            /\ o_2 >= round_then.first_op
                                                            /\ \A i \in 0..o_2 :
                                                                   /\ (/\ i \in round_then.done
                                                                       /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                            /\ op[i].undecodable
                                                                            /\ op[i].halves_before > round_then.cursor))
                                                                        = (i >= round_then.first_op)
                                                                   /\ \/ i = o_2
                                                                      \/ ~(i \in round_then.done_twice)})
                        < op_length)

\* An exception ends the round, and what it has passed is not committed (A08).
\*
\* RocketMQ: TransactionalMessageServiceImpl#check, the catch around the loop. PR #9523 would commit the half offset in
\* a finally block; a repair commits what was passed one by one, but no jump.
AbortRound(why) ==
    /\ LET half_then ==
               IF COMMITS_AFTER_EXCEPTION
               THEN [h \in HalfSlots |->
                        [half[h] EXCEPT
                            !.left =
                                IF h >= offsets.half /\ h < round.cursor /\ @ = "PASSED_OVER"
                                THEN "SKIPPED_BY_EXCEPTION"
                                ELSE @]]
               ELSE half
           begin == IF round.next_op >= gone.ops THEN round.next_op ELSE gone.ops
           after_o[o \in -1..OP_SLOTS - 1] ==
               IF o = -1
               THEN [round |-> round, pulled_op |-> pulled_op]
               ELSE LET before_o == after_o[o - 1]
                        unresolved_then ==
                            before_o.pulled_op[o].unresolved
                              \cup {h \in HalfSlots :
                                       /\ h \in op[o].names
                                       /\ \/ /\ h >= HalfOffset
                                             /\ ~SETTLES_ONCE \/ h >= before_o.round.cursor
                                          \/ /\ HEEDS_SETTLED_ORIGINALS
                                             /\ \E k \in HalfSlots :
                                                    /\ k >= HalfOffset
                                                    /\ ~SETTLES_ONCE \/ k >= before_o.round.cursor
                                                    /\ k < half_length
                                                    /\ half_then[k].original = h}
                        when == begin <= o /\ o < begin + OP_SLOTS /\ o < op_length
                    IN  [round |-> [before_o.round EXCEPT
                                       !.removed_by =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN [h \in HalfSlots |->
                                                         IF /\ h \in op[o].names
                                                            /\ \/ /\ h >= HalfOffset
                                                                  /\ \/ ~SETTLES_ONCE
                                                                     \/ h >= before_o.round.cursor
                                                               \/ /\ HEEDS_SETTLED_ORIGINALS
                                                                  /\ \E k \in HalfSlots :
                                                                         /\ k >= HalfOffset
                                                                         /\ \/ ~SETTLES_ONCE
                                                                            \/ k >= before_o.round.cursor
                                                                         /\ k < half_length
                                                                         /\ half_then[k].original = h
                                                         THEN o
                                                         ELSE @[h]]
                                                ELSE @
                                           ELSE @,
                                       !.done_twice =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o \in before_o.round.done
                                                          THEN @ \cup {o}
                                                          ELSE @
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o \in before_o.round.done
                                                          THEN @ \cup {o}
                                                          ELSE @
                                                     ELSE @
                                           ELSE @,
                                       !.done =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                     ELSE @
                                           ELSE @,
                                       !.next_op = IF when THEN o + 1 ELSE @],
                         pulled_op |-> [before_o.pulled_op EXCEPT
                                           ![o].unresolved =
                                               IF when
                                               THEN IF ~op[o].undecodable
                                                    THEN unresolved_then
                                                    ELSE @
                                               ELSE @]]
           round_then == IF SETTLES_ONCE THEN after_o[OP_SLOTS - 1].round ELSE round
           has_met_all == round_then.cursor = half_length /\ round_then.next_op = op_length
       IN  /\ half' =
                  IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                  THEN half_then
                  ELSE half
           /\ round' =
                  IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                  THEN [round_then EXCEPT
                           !.running = FALSE,
                           !.started_at = LongAgo(Floor(ROUND_CUT, CLOCK_STEP)),
                           !.cursor = 0,
                           !.null_met = FALSE,
                           !.met = 0,
                           !.first_op = 0,
                           !.next_op = 0,
                           !.last_pull = "FOUND",
                           !.pulls_nothing = FALSE,
                           !.done = {},
                           !.done_twice = {},
                           !.held = 0,
                           !.removed_by = [h \in HalfSlots |-> NONE]]
                  ELSE [round EXCEPT
                           !.running = FALSE,
                           !.started_at = LongAgo(Floor(ROUND_CUT, CLOCK_STEP)),
                           !.cursor = 0,
                           !.null_met = FALSE,
                           !.met = 0,
                           !.first_op = 0,
                           !.next_op = 0,
                           !.last_pull = "FOUND",
                           !.pulls_nothing = FALSE,
                           !.done = {},
                           !.done_twice = {},
                           !.held = 0,
                           !.removed_by = [h \in HalfSlots |-> NONE]]
           /\ pulled_op' =
                  IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                  THEN [o_2 \in OpSlots |->
                           [(IF SETTLES_ONCE THEN after_o[OP_SLOTS - 1].pulled_op ELSE pulled_op)[o_2] EXCEPT
                               !.unresolved = {}]]
                  ELSE [o_2 \in OpSlots |-> [pulled_op[o_2] EXCEPT !.unresolved = {}]]
           /\ round_ended_at' = Now
           /\ offsets' = [offsets EXCEPT
                             !.half =
                                 IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                                 THEN IF round_then.cursor # HalfOffset THEN round_then.cursor ELSE @
                                 ELSE @,
                             !.op =
                                 IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                                 THEN IF \/ (IF CROWDED = 1 /\ round_then.held # 0
                                             THEN IF round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                           /\ o_2 >= round_then.first_op
                                                                                           /\ \A i \in 0..o_2 :
                                                                                                  /\ (/\ i \in round_then.done
                                                                                                      /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                           /\ op[i].undecodable
                                                                                                           /\ op[i].halves_before > round_then.cursor))
                                                                                                       = (i >= round_then.first_op)
                                                                                                  /\ \/ i = o_2
                                                                                                     \/ ~(i \in round_then.done_twice)})
                                                       <= round_then.held - 1
                                                  THEN round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                             /\ o_2 >= round_then.first_op
                                                                                             /\ \A i \in 0..o_2 :
                                                                                                    /\ (/\ i \in round_then.done
                                                                                                        /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                             /\ op[i].undecodable
                                                                                                             /\ op[i].halves_before > round_then.cursor))
                                                                                                         = (i >= round_then.first_op)
                                                                                                    /\ \/ i = o_2
                                                                                                       \/ ~(i \in round_then.done_twice)})
                                                  ELSE round_then.held - 1
                                             ELSE round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                        /\ o_2 >= round_then.first_op
                                                                                        /\ \A i \in 0..o_2 :
                                                                                               /\ (/\ i \in round_then.done
                                                                                                   /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                        /\ op[i].undecodable
                                                                                                        /\ op[i].halves_before > round_then.cursor))
                                                                                                    = (i >= round_then.first_op)
                                                                                               /\ \/ i = o_2
                                                                                                  \/ ~(i \in round_then.done_twice)}))
                                              # round_then.first_op
                                         \/ CROWDED = 1 /\ round_then.held # 0
                                      THEN IF CROWDED = 1 /\ round_then.held # 0
                                           THEN IF round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                         /\ o_2 >= round_then.first_op
                                                                                         /\ \A i \in 0..o_2 :
                                                                                                /\ (/\ i \in round_then.done
                                                                                                    /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                         /\ op[i].undecodable
                                                                                                         /\ op[i].halves_before > round_then.cursor))
                                                                                                     = (i >= round_then.first_op)
                                                                                                /\ \/ i = o_2
                                                                                                   \/ ~(i \in round_then.done_twice)})
                                                     <= round_then.held - 1
                                                THEN round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                           /\ o_2 >= round_then.first_op
                                                                                           /\ \A i \in 0..o_2 :
                                                                                                  /\ (/\ i \in round_then.done
                                                                                                      /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                           /\ op[i].undecodable
                                                                                                           /\ op[i].halves_before > round_then.cursor))
                                                                                                       = (i >= round_then.first_op)
                                                                                                  /\ \/ i = o_2
                                                                                                     \/ ~(i \in round_then.done_twice)})
                                                ELSE round_then.held - 1
                                           ELSE round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                      /\ o_2 >= round_then.first_op
                                                                                      /\ \A i \in 0..o_2 :
                                                                                             /\ (/\ i \in round_then.done
                                                                                                 /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                      /\ op[i].undecodable
                                                                                                      /\ op[i].halves_before > round_then.cursor))
                                                                                                  = (i >= round_then.first_op)
                                                                                             /\ \/ i = o_2
                                                                                                \/ ~(i \in round_then.done_twice)})
                                      ELSE @
                                 ELSE @]
           /\ stuck' =
                  IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                  THEN IF round.cursor = HalfOffset THEN why ELSE "NO"
                  ELSE why
           /\ stuck_rounds' =
                  IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                  THEN IF round.cursor = HalfOffset
                       THEN IF why = "NO"
                            THEN 0
                            ELSE IF stuck # why
                                 THEN 1
                                 ELSE IF stuck_rounds < 2 THEN stuck_rounds + 1 ELSE stuck_rounds
                       ELSE IF "NO" = "NO"
                            THEN 0
                            ELSE IF stuck # "NO"
                                 THEN 1
                                 ELSE IF stuck_rounds < 2 THEN stuck_rounds + 1 ELSE stuck_rounds
                  ELSE IF why = "NO"
                       THEN 0
                       ELSE IF stuck # why
                            THEN 1
                            ELSE IF stuck_rounds < 2 THEN stuck_rounds + 1 ELSE stuck_rounds
           /\ op_left_behind' =
                  IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                  THEN /\ has_met_all
                       /\ round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                /\ o_2 >= round_then.first_op
                                                                /\ \A i \in 0..o_2 :
                                                                       /\ (/\ i \in round_then.done
                                                                           /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                /\ op[i].undecodable
                                                                                /\ op[i].halves_before > round_then.cursor))
                                                                            = (i >= round_then.first_op)
                                                                       /\ \/ i = o_2
                                                                          \/ ~(i \in round_then.done_twice)})
                            < op_length
                  ELSE op_left_behind

\* The memory of a round is gone.
ForgetRound ==
    /\ round' = [round EXCEPT
                    !.running = FALSE,
                    !.started_at = LongAgo(Floor(ROUND_CUT, CLOCK_STEP)),
                    !.cursor = 0,
                    !.null_met = FALSE,
                    !.met = 0,
                    !.first_op = 0,
                    !.next_op = 0,
                    !.last_pull = "FOUND",
                    !.pulls_nothing = FALSE,
                    !.done = {},
                    !.done_twice = {},
                    !.held = 0,
                    !.removed_by = [h \in HalfSlots |-> NONE]]
    /\ pulled_op' = [o \in OpSlots |-> [pulled_op[o] EXCEPT !.unresolved = {}]]

----------------------------------------------------------------------------------------------------
\* The check loop's questions about the half at the cursor, in their order: what each later step takes for granted.
\*
\* | Question | Then |
\* |---|---|
\* | is there a half? | otherwise the round ends, or jumps (`broken_round`) |
\* | is it settled, by an op message that was pulled? | it is passed |
\* | has retention left its record? | otherwise all that follows is asked of the next half that has one (`half_read`) |
\* | can it be decoded? | otherwise an exception ends the round |
\* | does the broker act for a dead master? | it escapes |
\* | are its checks used up, or is it too old? | it is discarded |
\* | was it stored in this round? | the round ends |
\* | is it immune? | it is passed as its original is settled, or put back |
\* | is it young? | the round ends |
\* | may it be checked? | it is put back, and its producer is asked |
\* | otherwise | more op messages are pulled, and the same half is looked at again |
\*
\* RocketMQ: TransactionalMessageServiceImpl#check.

\* What every step of the loop needs: a round in its time, and a half to look at.
StandsOnAHalf ==
    \* a round runs
    /\ round.running
    \* the round is within its time limit
    /\ IsTrue(IsWithinLimit)
    \* the cursor stands on a half
    /\ round.cursor < half_length

\* The same, no op message that was pulled names it, and the store gives it, or a later one for it (B50).
StandsOnAHalfThatIsGiven ==
    /\ StandsOnAHalf
    \* no op message that was pulled names it
    /\ ~IsSettledByAnOp(round.cursor)
    \* the store has a record for it, or for a later half
    /\ IsHalfGiven
    \* what was read is the half that was asked for, or nobody minds
    /\ IsTrue(~PASSES_WHAT_IS_GONE \/ round.cursor >= gone.halves)

\* The same, and nothing that the round has read settles it.
StandsOnAHalfThatNothingSettles ==
    /\ StandsOnAHalfThatIsGiven
    \* the broker does not know its transaction as settled
    /\ ~IsKnownAsSettled(half[HalfRead].transaction)

\* The same, and no copy of it is still to come.
StandsOnAnOpenHalf ==
    /\ StandsOnAHalfThatNothingSettles
    \* no copy of it is known further on in the queue
    /\ ~HasACopyAhead(HalfRead)

\* The same, and the store gives it.
StandsOnAReadableHalf ==
    /\ StandsOnAnOpenHalf
    \* it can be decoded
    /\ CanBeDecoded(HalfRead)

\* The same, and the broker is no acting slave, which would let it escape.
StandsOnTheMastersHalf ==
    /\ StandsOnAReadableHalf
    \* the broker is the master
    /\ IsTrue(IsMaster)

\* The same, and neither the number of checks nor its age has the last word on it.
StandsOnAnUnsettledHalf ==
    /\ StandsOnTheMastersHalf
    \* it has checks left
    /\ ~MustBeDiscarded(HalfRead)

\* The same, and the half was there before the round.
StandsOnAnEarlierHalf ==
    /\ StandsOnAnUnsettledHalf
    \* it was stored before this round
    /\ ~IsFresh(HalfRead)

\* The same, and its time for a check has come.
StandsOnAnOldHalf ==
    /\ StandsOnAnEarlierHalf
    \* its timeout or immunity is over
    /\ IsTrue(~IsYoung(HalfRead) \/ BornAhead(HalfRead))
    \* no op message that was pulled names its original
    /\ IsTrue(~HEEDS_SETTLED_ORIGINALS \/ ~OriginalIsSettled(HalfRead))

\* The same, and no more op messages are read before its producer is asked.
StandsOnAHalfToCheck ==
    /\ StandsOnAnOldHalf
    \* no more op messages are to be expected for it
    /\ IsTrue(MayCheck(HalfRead))
    \* its op entry is not on its way
    /\ ~ItsOpIsToCome(HalfRead)

----------------------------------------------------------------------------------------------------
\* One round of the check service, a step of its loop an action.
\*
\* The order of the loop's questions stands in `spec.check_loop`. What becomes of an unsettled half is in `discarding` and
\* `putting_back`, the escape in `escape`, what goes wrong in `broken_round`. RocketMQ: TransactionalMessageServiceImpl
\* #check.

\* What every round needs: its time has come, and the broker is a master or acts for one.
MayBegin ==
    \* no round runs
    /\ ~round.running
    \* the broker is the master or acts for it, and goes on
    /\ IsTrue(role = "MASTER" \/ role = "ACTING_MASTER")
    \* the check interval is over since the last round
    /\ Now - round_ended_at >= CHECK_INTERVAL

\* The round begins where the last one was committed, and with the first op messages.
ReadOffsets ==
    /\ LET goes_back == REWINDS_BEYOND_END /\ lower_end.ops = 0
           begin == IF OpOffset >= gone.ops THEN OpOffset ELSE gone.ops
           offsets_then ==
               [offsets EXCEPT
                   !.op = IF OP_END_COMMITS_OFFSET /\ OpOffset = op_length THEN op_length ELSE @]
           after_o[o \in -1..OP_SLOTS - 1] ==
               IF o = -1
               THEN [round |-> [round EXCEPT
                                   !.running = TRUE,
                                   !.started_at = Now,
                                   !.cursor = HalfOffset,
                                   !.first_op = OpOffset,
                                   !.next_op = OpOffset,
                                   !.last_pull = WhatAPullGives(OpOffset)],
                     pulled_op |-> pulled_op]
               ELSE LET before_o == after_o[o - 1]
                        unresolved_then ==
                            before_o.pulled_op[o].unresolved
                              \cup {h \in HalfSlots :
                                       /\ h \in op[o].names
                                       /\ \/ /\ h >= (IF offsets_then.half = 0 /\ ~had_halves
                                                      THEN lower_end.halves
                                                      ELSE offsets_then.half)
                                             /\ ~SETTLES_ONCE \/ h >= before_o.round.cursor
                                          \/ /\ HEEDS_SETTLED_ORIGINALS
                                             /\ \E k \in HalfSlots :
                                                    /\ k >= (IF offsets_then.half = 0 /\ ~had_halves
                                                             THEN lower_end.halves
                                                             ELSE offsets_then.half)
                                                    /\ ~SETTLES_ONCE \/ k >= before_o.round.cursor
                                                    /\ k < half_length
                                                    /\ half[k].original = h}
                        when == begin <= o /\ o < begin + OP_PULL_SIZE /\ o < op_length
                    IN  [round |-> [before_o.round EXCEPT
                                       !.removed_by =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN [h \in HalfSlots |->
                                                         IF /\ h \in op[o].names
                                                            /\ \/ /\ h >= (IF /\ offsets_then.half = 0
                                                                              /\ ~had_halves
                                                                           THEN lower_end.halves
                                                                           ELSE offsets_then.half)
                                                                  /\ \/ ~SETTLES_ONCE
                                                                     \/ h >= before_o.round.cursor
                                                               \/ /\ HEEDS_SETTLED_ORIGINALS
                                                                  /\ \E k \in HalfSlots :
                                                                         /\ k >= (IF /\ offsets_then.half = 0
                                                                                     /\ ~had_halves
                                                                                  THEN lower_end.halves
                                                                                  ELSE offsets_then.half)
                                                                         /\ \/ ~SETTLES_ONCE
                                                                            \/ k >= before_o.round.cursor
                                                                         /\ k < half_length
                                                                         /\ half[k].original = h
                                                         THEN o
                                                         ELSE @[h]]
                                                ELSE @
                                           ELSE @,
                                       !.done_twice =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o \in before_o.round.done
                                                          THEN @ \cup {o}
                                                          ELSE @
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o \in before_o.round.done
                                                          THEN @ \cup {o}
                                                          ELSE @
                                                     ELSE @
                                           ELSE @,
                                       !.done =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                     ELSE @
                                           ELSE @,
                                       !.next_op = IF when THEN o + 1 ELSE @],
                         pulled_op |-> [before_o.pulled_op EXCEPT
                                           ![o].unresolved =
                                               IF when
                                               THEN IF ~op[o].undecodable
                                                    THEN unresolved_then
                                                    ELSE @
                                               ELSE @]]
       IN  /\ PassOver(offsets.half, HalfOffset)
           /\ round' =
                  IF HasNothingFor(OpOffset) /\ ~IsEmptyOpQueue
                  THEN [round EXCEPT
                           !.running = TRUE,
                           !.started_at = Now,
                           !.cursor = HalfOffset,
                           !.first_op = OpOffset,
                           !.last_pull = WhatAPullGives(OpOffset),
                           !.next_op =
                               IF OpOffset >= lower_end.ops
                               THEN op_length
                               ELSE IF IsMaster \/ CORRECTS_OFFSETS_ON_SLAVE
                                    THEN lower_end.ops
                                    ELSE OpOffset]
                  ELSE IF OpOffset > op_length
                       THEN [round EXCEPT
                                !.running = TRUE,
                                !.started_at = Now,
                                !.cursor = HalfOffset,
                                !.first_op = OpOffset,
                                !.last_pull = WhatAPullGives(OpOffset),
                                !.next_op = IF goes_back THEN 0 ELSE op_length]
                       ELSE after_o[OP_SLOTS - 1].round
           /\ pulled_op' =
                  IF HasNothingFor(OpOffset) /\ ~IsEmptyOpQueue
                  THEN pulled_op
                  ELSE IF OpOffset > op_length THEN pulled_op ELSE after_o[OP_SLOTS - 1].pulled_op
           /\ offsets' =
                  IF HasNothingFor(OpOffset) /\ ~IsEmptyOpQueue
                  THEN [offsets EXCEPT
                           !.op =
                               IF OpOffset >= lower_end.ops
                               THEN op_length
                               ELSE IF IsMaster \/ CORRECTS_OFFSETS_ON_SLAVE
                                    THEN lower_end.ops
                                    ELSE OpOffset]
                  ELSE IF OpOffset > op_length
                       THEN [offsets EXCEPT
                                !.op = IF ~IsEmptyOpQueue THEN IF goes_back THEN 0 ELSE op_length ELSE @]
                       ELSE offsets_then

\* The check service wakes up, reads both offsets and pulls the first op messages.
\*
\* RocketMQ: TransactionalMessageCheckService#onWaitEnd → TransactionalMessageServiceImpl#check.
BeginRound ==
    /\ MayBegin
    \* the first op messages can be decoded, or left out
    /\ ~PullThrows(OpOffset)
    /\ ReadOffsets
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, round_ended_at, saved, unsaved, flushed, gone, lower_end, stuck,
                   stuck_rounds, op_left_behind, had_halves, had_ops>>

\* An op message names the half at the cursor: it is settled.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check, the `removeMap` branch. 4.5.1 forgets to mark the op as done (A03).
PassSettledHalf ==
    /\ StandsOnAHalf
    \* an op message that was pulled names it
    /\ IsSettledByAnOp(round.cursor)
    /\ LET o == round.removed_by[round.cursor]
           when ==
               /\ MARKS_OP_DONE_ON_HIT
               /\ ~BATCHES_OPS \/ pulled_op[o].unresolved \ {round.cursor} = {}
       IN  /\ round' = [round EXCEPT
                           !.done_twice = IF when THEN IF o \in round.done THEN @ \cup {o} ELSE @ ELSE @,
                           !.done = IF when THEN IF o \in @ THEN @ ELSE @ \cup {o} ELSE @,
                           !.removed_by[round.cursor] = NONE,
                           !.cursor = @ + 1]
           /\ pulled_op' = [pulled_op EXCEPT ![o].unresolved = @ \ {round.cursor}]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half,
                   half_length, op, op_length, batch, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The broker knows the transaction of the half as settled. A repair.
PassHalfOfSettledTransaction ==
    /\ StandsOnAHalfThatIsGiven
    \* the broker knows its transaction as settled
    /\ IsTrue(IsKnownAsSettled(half[HalfRead].transaction))
    /\ LET o == round.removed_by[half[HalfRead].original]
           unresolved_then == pulled_op[o].unresolved \ {half[HalfRead].original}
           round_then ==
               IF OriginalIsSettled(HalfRead)
               THEN [round EXCEPT
                        !.done_twice =
                            IF MARKS_OP_DONE_ON_HIT /\ (~BATCHES_OPS \/ unresolved_then = {})
                            THEN IF o \in round.done THEN @ \cup {o} ELSE @
                            ELSE @,
                        !.done =
                            IF MARKS_OP_DONE_ON_HIT /\ (~BATCHES_OPS \/ unresolved_then = {})
                            THEN IF o \in @ THEN @ ELSE @ \cup {o}
                            ELSE @,
                        !.removed_by[half[HalfRead].original] = NONE]
               ELSE round
       IN  /\ RememberSettledElsewhere(IF round_then.cursor >= gone.halves THEN round_then.cursor ELSE gone.halves)
           /\ round' = [round_then EXCEPT !.cursor = @ + 1]
           /\ pulled_op' =
                  IF OriginalIsSettled(HalfRead)
                  THEN [pulled_op EXCEPT ![o].unresolved = unresolved_then]
                  ELSE pulled_op
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, round_ended_at, offsets, saved, unsaved, flushed, gone, lower_end,
                   stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The half was put back before, and the half offset went back over it: its copy is still to come. A repair.
PassCopiedHalf ==
    /\ StandsOnAHalfThatNothingSettles
    \* a copy of it is known further on in the queue
    /\ IsTrue(HasACopyAhead(HalfRead))
    /\ RememberSettledElsewhere(HalfRead)
    /\ round' = [round EXCEPT !.cursor = @ + 1]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* An immune copy is passed because an op message names its original; that op counts as done as a whole (A15).
\*
\* The repair of B01 asks about every copy that knows its original, and marks the op as done with its last half.
\*
\* RocketMQ: TransactionalMessageServiceImpl#checkPrepareQueueOffset.
PassHalfOfSettledOriginal ==
    /\ StandsOnAnEarlierHalf
    \* its immunity is not over
    /\ IsTrue(HEEDS_SETTLED_ORIGINALS \/ IsImmune(HalfRead))
    \* an op message that was pulled names its original
    /\ OriginalIsSettled(HalfRead)
    /\ LET o == round.removed_by[half[HalfRead].original]
           unresolved_then == pulled_op[o].unresolved \ {half[HalfRead].original}
           when == round.removed_by[half[HalfRead].original] \in round.done
           round_then ==
               IF HEEDS_SETTLED_ORIGINALS
               THEN [round EXCEPT
                        !.done_twice =
                            IF MARKS_OP_DONE_ON_HIT /\ (~BATCHES_OPS \/ unresolved_then = {})
                            THEN IF o \in round.done THEN @ \cup {o} ELSE @
                            ELSE @,
                        !.done =
                            IF MARKS_OP_DONE_ON_HIT /\ (~BATCHES_OPS \/ unresolved_then = {})
                            THEN IF o \in @ THEN @ ELSE @ \cup {o}
                            ELSE @,
                        !.removed_by[half[HalfRead].original] = NONE]
               ELSE [round EXCEPT
                        !.done_twice =
                            IF when THEN @ \cup {round.removed_by[half[HalfRead].original]} ELSE @,
                        !.done =
                            IF when THEN @ ELSE @ \cup {round.removed_by[half[HalfRead].original]},
                        !.removed_by[half[HalfRead].original] = NONE]
       IN  /\ RememberSettledElsewhere(IF round_then.cursor >= gone.halves THEN round_then.cursor ELSE gone.halves)
           /\ round' = [round_then EXCEPT !.cursor = @ + 1]
           /\ pulled_op' =
                  IF HEEDS_SETTLED_ORIGINALS
                  THEN [pulled_op EXCEPT ![o].unresolved = unresolved_then]
                  ELSE pulled_op
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, round_ended_at, offsets, saved, unsaved, flushed, gone, lower_end,
                   stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* An END_TRANSACTION of the half was carried out, and its op entry is on its way. A repair.
PassHalfOfWaitingOp ==
    /\ StandsOnAnOldHalf
    \* its op entry is on its way
    /\ IsTrue(ItsOpIsToCome(HalfRead))
    /\ round' = [round EXCEPT !.cursor = @ + 1]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half,
                   half_length, op, op_length, batch, pulled_op, round_ended_at, offsets, saved, unsaved,
                   flushed, gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* A half that is immune for longer than all its checks would take is left behind. A wrong repair (PR #9321).
PassOverLongImmunity ==
    /\ StandsOnAnEarlierHalf
    \* its immunity is longer than all its checks take
    /\ IsTrue(IsTooImmune(HalfRead))
    /\ half' = [half EXCEPT ![HalfRead].left = "PASSED_OVER"]
    /\ round' = [round EXCEPT !.cursor = @ + 1]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* It is too early to check the half at the cursor: more op messages are read, and the same half is looked at again.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check → #fillOpRemoveMap. 5.x sleeps a second when there was none. At an
\* age of exactly the timeout nothing changes until the clock goes on (A19).
PullMoreOps ==
    /\ StandsOnAnOldHalf
    \* the last pull gave a message that can be decoded, or none
    /\ round.last_pull # "UNREADABLE"
    \* more op messages may be expected for it
    /\ ~MayCheck(HalfRead)
    \* its op entry is not on its way
    /\ ~ItsOpIsToCome(HalfRead)
    \* the next op messages can be decoded, or left out
    /\ ~PullThrows(round.next_op)
    /\ LET goes_back == REWINDS_BEYOND_END /\ lower_end.ops = 0
           begin == IF round.next_op >= gone.ops THEN round.next_op ELSE gone.ops
           offsets_then ==
               [offsets EXCEPT
                   !.op =
                       IF OP_END_COMMITS_OFFSET /\ round.next_op = op_length THEN op_length ELSE @]
           after_o[o \in -1..OP_SLOTS - 1] ==
               IF o = -1
               THEN [round |-> [round EXCEPT
                                   !.pulls_nothing =
                                       IF round.last_pull = "END" /\ round.next_op = op_length
                                       THEN TRUE
                                       ELSE @,
                                   !.last_pull = WhatAPullGives(round.next_op)],
                     pulled_op |-> pulled_op]
               ELSE LET before_o == after_o[o - 1]
                        unresolved_then ==
                            before_o.pulled_op[o].unresolved
                              \cup {h \in HalfSlots :
                                       /\ h \in op[o].names
                                       /\ \/ /\ h >= (IF offsets_then.half = 0 /\ ~had_halves
                                                      THEN lower_end.halves
                                                      ELSE offsets_then.half)
                                             /\ ~SETTLES_ONCE \/ h >= before_o.round.cursor
                                          \/ /\ HEEDS_SETTLED_ORIGINALS
                                             /\ \E k \in HalfSlots :
                                                    /\ k >= (IF offsets_then.half = 0 /\ ~had_halves
                                                             THEN lower_end.halves
                                                             ELSE offsets_then.half)
                                                    /\ ~SETTLES_ONCE \/ k >= before_o.round.cursor
                                                    /\ k < half_length
                                                    /\ half[k].original = h}
                        when == begin <= o /\ o < begin + OP_PULL_SIZE /\ o < op_length
                    IN  [round |-> [before_o.round EXCEPT
                                       !.removed_by =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN [h \in HalfSlots |->
                                                         IF /\ h \in op[o].names
                                                            /\ \/ /\ h >= (IF /\ offsets_then.half = 0
                                                                              /\ ~had_halves
                                                                           THEN lower_end.halves
                                                                           ELSE offsets_then.half)
                                                                  /\ \/ ~SETTLES_ONCE
                                                                     \/ h >= before_o.round.cursor
                                                               \/ /\ HEEDS_SETTLED_ORIGINALS
                                                                  /\ \E k \in HalfSlots :
                                                                         /\ k >= (IF /\ offsets_then.half = 0
                                                                                     /\ ~had_halves
                                                                                  THEN lower_end.halves
                                                                                  ELSE offsets_then.half)
                                                                         /\ \/ ~SETTLES_ONCE
                                                                            \/ k >= before_o.round.cursor
                                                                         /\ k < half_length
                                                                         /\ half[k].original = h
                                                         THEN o
                                                         ELSE @[h]]
                                                ELSE @
                                           ELSE @,
                                       !.done_twice =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o \in before_o.round.done
                                                          THEN @ \cup {o}
                                                          ELSE @
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o \in before_o.round.done
                                                          THEN @ \cup {o}
                                                          ELSE @
                                                     ELSE @
                                           ELSE @,
                                       !.done =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                     ELSE @
                                           ELSE @,
                                       !.next_op = IF when THEN o + 1 ELSE @],
                         pulled_op |-> [before_o.pulled_op EXCEPT
                                           ![o].unresolved =
                                               IF when
                                               THEN IF ~op[o].undecodable
                                                    THEN unresolved_then
                                                    ELSE @
                                               ELSE @]]
       IN  /\ round' =
                  IF HasNothingFor(round.next_op) /\ ~IsEmptyOpQueue
                  THEN [round EXCEPT
                           !.pulls_nothing =
                               IF round.last_pull = "END" /\ round.next_op = op_length THEN TRUE ELSE @,
                           !.last_pull = WhatAPullGives(round.next_op),
                           !.next_op =
                               IF @ >= lower_end.ops
                               THEN op_length
                               ELSE IF IsMaster \/ CORRECTS_OFFSETS_ON_SLAVE THEN lower_end.ops ELSE @]
                  ELSE IF round.next_op > op_length
                       THEN [round EXCEPT
                                !.pulls_nothing =
                                    IF round.last_pull = "END" /\ round.next_op = op_length
                                    THEN TRUE
                                    ELSE @,
                                !.last_pull = WhatAPullGives(round.next_op),
                                !.next_op = IF goes_back THEN 0 ELSE op_length]
                       ELSE after_o[OP_SLOTS - 1].round
           /\ pulled_op' =
                  IF HasNothingFor(round.next_op) /\ ~IsEmptyOpQueue
                  THEN pulled_op
                  ELSE IF round.next_op > op_length THEN pulled_op ELSE after_o[OP_SLOTS - 1].pulled_op
           /\ offsets' =
                  IF HasNothingFor(round.next_op) /\ ~IsEmptyOpQueue
                  THEN [offsets EXCEPT
                           !.op =
                               IF round.next_op >= lower_end.ops
                               THEN op_length
                               ELSE IF IsMaster \/ CORRECTS_OFFSETS_ON_SLAVE
                                    THEN lower_end.ops
                                    ELSE round.next_op]
                  ELSE IF round.next_op > op_length
                       THEN [offsets EXCEPT
                                !.op = IF ~IsEmptyOpQueue THEN IF goes_back THEN 0 ELSE op_length ELSE @]
                       ELSE offsets_then
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half,
                   half_length, op, op_length, batch, round_ended_at, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* No half is left to look at.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check, NO_NEW_MSG. An offset beyond the end of the queue comes here only
\* after one jump, or where the queue is empty.
EndRoundAtQueueEnd ==
    \* a round runs
    /\ round.running
    \* the round is within its time limit
    /\ IsTrue(IsWithinLimit)
    \* the cursor stands at the end of the half queue
    /\ round.cursor >= half_length
    \* it is not below the lower end of the queue
    /\ IsTrue(round.cursor >= lower_end.halves \/ IsEmpty)
    \* it is not beyond the end, or has jumped before
    /\ IsTrue(round.cursor = half_length \/ IsEmpty \/ round.null_met)
    /\ EndRound("NO")
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half,
                   half_length, op, op_length, batch, saved, unsaved, flushed, gone, lower_end, had_halves,
                   had_ops>>

\* The half at the cursor was stored in this round, or seems so as the clock has stepped back (B28).
\*
\* RocketMQ: TransactionalMessageServiceImpl#check, "Fresh stored".
EndRoundAtFreshHalf ==
    /\ StandsOnAnUnsettledHalf
    \* it was stored in this round
    /\ IsFresh(HalfRead)
    /\ LET begin == IF round.next_op >= gone.ops THEN round.next_op ELSE gone.ops
           after_o[o \in -1..OP_SLOTS - 1] ==
               IF o = -1
               THEN [round |-> round, pulled_op |-> pulled_op]
               ELSE LET before_o == after_o[o - 1]
                        unresolved_then ==
                            before_o.pulled_op[o].unresolved
                              \cup {h \in HalfSlots :
                                       /\ h \in op[o].names
                                       /\ \/ /\ h >= HalfOffset
                                             /\ ~SETTLES_ONCE \/ h >= before_o.round.cursor
                                          \/ /\ HEEDS_SETTLED_ORIGINALS
                                             /\ \E k \in HalfSlots :
                                                    /\ k >= HalfOffset
                                                    /\ ~SETTLES_ONCE \/ k >= before_o.round.cursor
                                                    /\ k < half_length
                                                    /\ half[k].original = h}
                        when == begin <= o /\ o < begin + OP_SLOTS /\ o < op_length
                    IN  [round |-> [before_o.round EXCEPT
                                       !.removed_by =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN [h \in HalfSlots |->
                                                         IF /\ h \in op[o].names
                                                            /\ \/ /\ h >= HalfOffset
                                                                  /\ \/ ~SETTLES_ONCE
                                                                     \/ h >= before_o.round.cursor
                                                               \/ /\ HEEDS_SETTLED_ORIGINALS
                                                                  /\ \E k \in HalfSlots :
                                                                         /\ k >= HalfOffset
                                                                         /\ \/ ~SETTLES_ONCE
                                                                            \/ k >= before_o.round.cursor
                                                                         /\ k < half_length
                                                                         /\ half[k].original = h
                                                         THEN o
                                                         ELSE @[h]]
                                                ELSE @
                                           ELSE @,
                                       !.done_twice =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o \in before_o.round.done
                                                          THEN @ \cup {o}
                                                          ELSE @
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o \in before_o.round.done
                                                          THEN @ \cup {o}
                                                          ELSE @
                                                     ELSE @
                                           ELSE @,
                                       !.done =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                     ELSE @
                                           ELSE @,
                                       !.next_op = IF when THEN o + 1 ELSE @],
                         pulled_op |-> [before_o.pulled_op EXCEPT
                                           ![o].unresolved =
                                               IF when
                                               THEN IF ~op[o].undecodable
                                                    THEN unresolved_then
                                                    ELSE @
                                               ELSE @]]
           round_then == IF SETTLES_ONCE THEN after_o[OP_SLOTS - 1].round ELSE round
           has_met_all == round_then.cursor = half_length /\ round_then.next_op = op_length
           after_o_2[o_3 \in -1..OP_SLOTS - 1] ==
               IF o_3 = -1
               THEN [round |-> round, pulled_op |-> pulled_op]
               ELSE LET before_o_2 == after_o_2[o_3 - 1]
                        unresolved_then_2 ==
                            before_o_2.pulled_op[o_3].unresolved
                              \cup {h \in HalfSlots :
                                       /\ h \in op[o_3].names
                                       /\ \/ /\ h >= HalfOffset
                                             /\ ~SETTLES_ONCE \/ h >= before_o_2.round.cursor
                                          \/ /\ HEEDS_SETTLED_ORIGINALS
                                             /\ \E k \in HalfSlots :
                                                    /\ k >= HalfOffset
                                                    /\ \/ ~SETTLES_ONCE
                                                       \/ k >= before_o_2.round.cursor
                                                    /\ k < half_length
                                                    /\ half[k].original = h}
                        when_2 == begin <= o_3 /\ o_3 < begin + OP_SLOTS /\ o_3 < op_length
                    IN  [round |-> [before_o_2.round EXCEPT
                                       !.removed_by =
                                           IF when_2
                                           THEN IF ~op[o_3].undecodable
                                                THEN [h \in HalfSlots |->
                                                         IF /\ h \in op[o_3].names
                                                            /\ \/ /\ h >= HalfOffset
                                                                  /\ \/ ~SETTLES_ONCE
                                                                     \/ h >= before_o_2.round.cursor
                                                               \/ /\ HEEDS_SETTLED_ORIGINALS
                                                                  /\ \E k \in HalfSlots :
                                                                         /\ k >= HalfOffset
                                                                         /\ \/ ~SETTLES_ONCE
                                                                            \/ k >= before_o_2.round.cursor
                                                                         /\ k < half_length
                                                                         /\ half[k].original = h
                                                         THEN o_3
                                                         ELSE @[h]]
                                                ELSE @
                                           ELSE @,
                                       !.done_twice =
                                           IF when_2
                                           THEN IF ~op[o_3].undecodable
                                                THEN IF unresolved_then_2 = {}
                                                     THEN IF o_3 \in before_o_2.round.done
                                                          THEN @ \cup {o_3}
                                                          ELSE @
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o_3 \in before_o_2.round.done
                                                          THEN @ \cup {o_3}
                                                          ELSE @
                                                     ELSE @
                                           ELSE @,
                                       !.done =
                                           IF when_2
                                           THEN IF ~op[o_3].undecodable
                                                THEN IF unresolved_then_2 = {}
                                                     THEN IF o_3 \in @ THEN @ ELSE @ \cup {o_3}
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o_3 \in @ THEN @ ELSE @ \cup {o_3}
                                                     ELSE @
                                           ELSE @,
                                       !.next_op = IF when_2 THEN o_3 + 1 ELSE @],
                         pulled_op |-> [before_o_2.pulled_op EXCEPT
                                           ![o_3].unresolved =
                                               IF when_2
                                               THEN IF ~op[o_3].undecodable
                                                    THEN unresolved_then_2
                                                    ELSE @
                                               ELSE @]]
           round_then_2 == IF SETTLES_ONCE THEN after_o_2[OP_SLOTS - 1].round ELSE round
           has_met_all_2 == round_then_2.cursor = half_length /\ round_then_2.next_op = op_length
       IN  /\ round' =
                  IF half[HalfRead].stored_at > Now
                  THEN [round_then EXCEPT
                           !.running = FALSE,
                           !.started_at = LongAgo(Floor(ROUND_CUT, CLOCK_STEP)),
                           !.cursor = 0,
                           !.null_met = FALSE,
                           !.met = 0,
                           !.first_op = 0,
                           !.next_op = 0,
                           !.last_pull = "FOUND",
                           !.pulls_nothing = FALSE,
                           !.done = {},
                           !.done_twice = {},
                           !.held = 0,
                           !.removed_by = [h \in HalfSlots |-> NONE]]
                  ELSE [round_then_2 EXCEPT
                           !.running = FALSE,
                           !.started_at = LongAgo(Floor(ROUND_CUT, CLOCK_STEP)),
                           !.cursor = 0,
                           !.null_met = FALSE,
                           !.met = 0,
                           !.first_op = 0,
                           !.next_op = 0,
                           !.last_pull = "FOUND",
                           !.pulls_nothing = FALSE,
                           !.done = {},
                           !.done_twice = {},
                           !.held = 0,
                           !.removed_by = [h \in HalfSlots |-> NONE]]
           /\ pulled_op' =
                  IF half[HalfRead].stored_at > Now
                  THEN [o_2 \in OpSlots |->
                           [(IF SETTLES_ONCE THEN after_o[OP_SLOTS - 1].pulled_op ELSE pulled_op)[o_2] EXCEPT
                               !.unresolved = {}]]
                  ELSE [o_2 \in OpSlots |->
                           [(IF SETTLES_ONCE THEN after_o_2[OP_SLOTS - 1].pulled_op ELSE pulled_op)[o_2] EXCEPT
                               !.unresolved = {}]]
           /\ round_ended_at' = Now
           /\ offsets' = [offsets EXCEPT
                             !.half =
                                 IF half[HalfRead].stored_at > Now
                                 THEN IF round_then.cursor # HalfOffset THEN round_then.cursor ELSE @
                                 ELSE IF round_then_2.cursor # HalfOffset THEN round_then_2.cursor ELSE @,
                             !.op =
                                 IF half[HalfRead].stored_at > Now
                                 THEN IF \/ (IF CROWDED = 1 /\ round_then.held # 0
                                             THEN IF round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                           /\ o_2 >= round_then.first_op
                                                                                           /\ \A i \in 0..o_2 :
                                                                                                  /\ (/\ i \in round_then.done
                                                                                                      /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                           /\ op[i].undecodable
                                                                                                           /\ op[i].halves_before > round_then.cursor))
                                                                                                       = (i >= round_then.first_op)
                                                                                                  /\ \/ i = o_2
                                                                                                     \/ ~(i \in round_then.done_twice)})
                                                       <= round_then.held - 1
                                                  THEN round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                             /\ o_2 >= round_then.first_op
                                                                                             /\ \A i \in 0..o_2 :
                                                                                                    /\ (/\ i \in round_then.done
                                                                                                        /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                             /\ op[i].undecodable
                                                                                                             /\ op[i].halves_before > round_then.cursor))
                                                                                                         = (i >= round_then.first_op)
                                                                                                    /\ \/ i = o_2
                                                                                                       \/ ~(i \in round_then.done_twice)})
                                                  ELSE round_then.held - 1
                                             ELSE round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                        /\ o_2 >= round_then.first_op
                                                                                        /\ \A i \in 0..o_2 :
                                                                                               /\ (/\ i \in round_then.done
                                                                                                   /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                        /\ op[i].undecodable
                                                                                                        /\ op[i].halves_before > round_then.cursor))
                                                                                                    = (i >= round_then.first_op)
                                                                                               /\ \/ i = o_2
                                                                                                  \/ ~(i \in round_then.done_twice)}))
                                              # round_then.first_op
                                         \/ CROWDED = 1 /\ round_then.held # 0
                                      THEN IF CROWDED = 1 /\ round_then.held # 0
                                           THEN IF round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                         /\ o_2 >= round_then.first_op
                                                                                         /\ \A i \in 0..o_2 :
                                                                                                /\ (/\ i \in round_then.done
                                                                                                    /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                         /\ op[i].undecodable
                                                                                                         /\ op[i].halves_before > round_then.cursor))
                                                                                                     = (i >= round_then.first_op)
                                                                                                /\ \/ i = o_2
                                                                                                   \/ ~(i \in round_then.done_twice)})
                                                     <= round_then.held - 1
                                                THEN round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                           /\ o_2 >= round_then.first_op
                                                                                           /\ \A i \in 0..o_2 :
                                                                                                  /\ (/\ i \in round_then.done
                                                                                                      /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                           /\ op[i].undecodable
                                                                                                           /\ op[i].halves_before > round_then.cursor))
                                                                                                       = (i >= round_then.first_op)
                                                                                                  /\ \/ i = o_2
                                                                                                     \/ ~(i \in round_then.done_twice)})
                                                ELSE round_then.held - 1
                                           ELSE round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                      /\ o_2 >= round_then.first_op
                                                                                      /\ \A i \in 0..o_2 :
                                                                                             /\ (/\ i \in round_then.done
                                                                                                 /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                      /\ op[i].undecodable
                                                                                                      /\ op[i].halves_before > round_then.cursor))
                                                                                                  = (i >= round_then.first_op)
                                                                                             /\ \/ i = o_2
                                                                                                \/ ~(i \in round_then.done_twice)})
                                      ELSE @
                                 ELSE IF \/ (IF CROWDED = 1 /\ round_then_2.held # 0
                                             THEN IF round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                                             /\ o_2 >= round_then_2.first_op
                                                                                             /\ \A i \in 0..o_2 :
                                                                                                    /\ (/\ i \in round_then_2.done
                                                                                                        /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                             /\ op[i].undecodable
                                                                                                             /\ op[i].halves_before > round_then_2.cursor))
                                                                                                         = (i >= round_then_2.first_op)
                                                                                                    /\ \/ i = o_2
                                                                                                       \/ ~(i \in round_then_2.done_twice)})
                                                       <= round_then_2.held - 1
                                                  THEN round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                                               /\ o_2 >= round_then_2.first_op
                                                                                               /\ \A i \in 0..o_2 :
                                                                                                      /\ (/\ i \in round_then_2.done
                                                                                                          /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                               /\ op[i].undecodable
                                                                                                               /\ op[i].halves_before > round_then_2.cursor))
                                                                                                           = (i >= round_then_2.first_op)
                                                                                                      /\ \/ i = o_2
                                                                                                         \/ ~(i \in round_then_2.done_twice)})
                                                  ELSE round_then_2.held - 1
                                             ELSE round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                                          /\ o_2 >= round_then_2.first_op
                                                                                          /\ \A i \in 0..o_2 :
                                                                                                 /\ (/\ i \in round_then_2.done
                                                                                                     /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                          /\ op[i].undecodable
                                                                                                          /\ op[i].halves_before > round_then_2.cursor))
                                                                                                      = (i >= round_then_2.first_op)
                                                                                                 /\ \/ i = o_2
                                                                                                    \/ ~(i \in round_then_2.done_twice)}))
                                              # round_then_2.first_op
                                         \/ CROWDED = 1 /\ round_then_2.held # 0
                                      THEN IF CROWDED = 1 /\ round_then_2.held # 0
                                           THEN IF round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                                           /\ o_2 >= round_then_2.first_op
                                                                                           /\ \A i \in 0..o_2 :
                                                                                                  /\ (/\ i \in round_then_2.done
                                                                                                      /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                           /\ op[i].undecodable
                                                                                                           /\ op[i].halves_before > round_then_2.cursor))
                                                                                                       = (i >= round_then_2.first_op)
                                                                                                  /\ \/ i = o_2
                                                                                                     \/ ~(i \in round_then_2.done_twice)})
                                                     <= round_then_2.held - 1
                                                THEN round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                                             /\ o_2 >= round_then_2.first_op
                                                                                             /\ \A i \in 0..o_2 :
                                                                                                    /\ (/\ i \in round_then_2.done
                                                                                                        /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                             /\ op[i].undecodable
                                                                                                             /\ op[i].halves_before > round_then_2.cursor))
                                                                                                         = (i >= round_then_2.first_op)
                                                                                                    /\ \/ i = o_2
                                                                                                       \/ ~(i \in round_then_2.done_twice)})
                                                ELSE round_then_2.held - 1
                                           ELSE round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                                        /\ o_2 >= round_then_2.first_op
                                                                                        /\ \A i \in 0..o_2 :
                                                                                               /\ (/\ i \in round_then_2.done
                                                                                                   /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                        /\ op[i].undecodable
                                                                                                        /\ op[i].halves_before > round_then_2.cursor))
                                                                                                    = (i >= round_then_2.first_op)
                                                                                               /\ \/ i = o_2
                                                                                                  \/ ~(i \in round_then_2.done_twice)})
                                      ELSE @]
           /\ stuck' =
                  IF half[HalfRead].stored_at > Now
                  THEN IF round.cursor = HalfOffset THEN "CLOCK" ELSE "NO"
                  ELSE "NO"
           /\ stuck_rounds' =
                  IF half[HalfRead].stored_at > Now
                  THEN IF round.cursor = HalfOffset
                       THEN IF "CLOCK" = "NO"
                            THEN 0
                            ELSE IF stuck # "CLOCK"
                                 THEN 1
                                 ELSE IF stuck_rounds < 2 THEN stuck_rounds + 1 ELSE stuck_rounds
                       ELSE IF "NO" = "NO"
                            THEN 0
                            ELSE IF stuck # "NO"
                                 THEN 1
                                 ELSE IF stuck_rounds < 2 THEN stuck_rounds + 1 ELSE stuck_rounds
                  ELSE IF "NO" = "NO"
                       THEN 0
                       ELSE IF stuck # "NO"
                            THEN 1
                            ELSE IF stuck_rounds < 2 THEN stuck_rounds + 1 ELSE stuck_rounds
           /\ op_left_behind' =
                  IF half[HalfRead].stored_at > Now
                  THEN /\ has_met_all
                       /\ round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                /\ o_2 >= round_then.first_op
                                                                /\ \A i \in 0..o_2 :
                                                                       /\ (/\ i \in round_then.done
                                                                           /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                /\ op[i].undecodable
                                                                                /\ op[i].halves_before > round_then.cursor))
                                                                            = (i >= round_then.first_op)
                                                                       /\ \/ i = o_2
                                                                          \/ ~(i \in round_then.done_twice)})
                            < op_length
                  ELSE /\ has_met_all_2
                       /\ round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                  /\ o_2 >= round_then_2.first_op
                                                                  /\ \A i \in 0..o_2 :
                                                                         /\ (/\ i \in round_then_2.done
                                                                             /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                  /\ op[i].undecodable
                                                                                  /\ op[i].halves_before > round_then_2.cursor))
                                                                              = (i >= round_then_2.first_op)
                                                                         /\ \/ i = o_2
                                                                            \/ ~(i \in round_then_2.done_twice)})
                            < op_length
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half,
                   half_length, op, op_length, batch, saved, unsaved, flushed, gone, lower_end, had_halves,
                   had_ops>>

\* The half at the cursor was stored in this round and is not in the consume queue yet; else it would be discarded.
\*
\* RocketMQ: DefaultMessageStore.ReputMessageService dispatches what the commit log holds, a moment later;
\* TransactionalMessageServiceImpl#check then finds no message. Real 5.4.0 brokers discard in the next round for it,
\* others in the same one.
EndRoundBeforeDispatch ==
    /\ StandsOnTheMastersHalf
    \* it has no checks left
    /\ IsTrue(MustBeDiscarded(HalfRead))
    \* it was stored in this round
    /\ IsFresh(HalfRead)
    \* environment: what is stored is in its consume queue at once
    /\ SLOW_DISPATCH
    /\ EndRound("NO")
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half,
                   half_length, op, op_length, batch, saved, unsaved, flushed, gone, lower_end, had_halves,
                   had_ops>>

\* The half at the cursor has no immunity of its own and is younger than the timeout: those behind it wait, too.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check, "New arrived".
EndRoundAtYoungHalf ==
    /\ StandsOnAnEarlierHalf
    \* it has no immunity of its own
    /\ ~HasImmunity(HalfRead)
    \* it was not born in the future
    /\ Age(HalfRead) >= 0
    \* its timeout is not over
    /\ IsTrue(IsYoung(HalfRead))
    /\ EndRound("NO")
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half,
                   half_length, op, op_length, batch, saved, unsaved, flushed, gone, lower_end, had_halves,
                   had_ops>>

\* There is a half at this place, and it is neither young nor immune.
IsDue(h) == h < half_length /\ ~IsYoung(h)

\* The round has lasted too long; the next one goes on from here.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check, MAX_PROCESS_TIME_LIMIT. What it has read of the op queue is
\* forgotten, so that it may never get further (B29).
EndRoundAtTimeLimit ==
    \* a round runs
    /\ round.running
    \* the round is over its time limit
    /\ ~IsWithinLimit
    /\ LET begin == IF round.next_op >= gone.ops THEN round.next_op ELSE gone.ops
           after_o[o \in -1..OP_SLOTS - 1] ==
               IF o = -1
               THEN [round |-> round, pulled_op |-> pulled_op]
               ELSE LET before_o == after_o[o - 1]
                        unresolved_then ==
                            before_o.pulled_op[o].unresolved
                              \cup {h \in HalfSlots :
                                       /\ h \in op[o].names
                                       /\ \/ /\ h >= HalfOffset
                                             /\ ~SETTLES_ONCE \/ h >= before_o.round.cursor
                                          \/ /\ HEEDS_SETTLED_ORIGINALS
                                             /\ \E k \in HalfSlots :
                                                    /\ k >= HalfOffset
                                                    /\ ~SETTLES_ONCE \/ k >= before_o.round.cursor
                                                    /\ k < half_length
                                                    /\ half[k].original = h}
                        when == begin <= o /\ o < begin + OP_SLOTS /\ o < op_length
                    IN  [round |-> [before_o.round EXCEPT
                                       !.removed_by =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN [h \in HalfSlots |->
                                                         IF /\ h \in op[o].names
                                                            /\ \/ /\ h >= HalfOffset
                                                                  /\ \/ ~SETTLES_ONCE
                                                                     \/ h >= before_o.round.cursor
                                                               \/ /\ HEEDS_SETTLED_ORIGINALS
                                                                  /\ \E k \in HalfSlots :
                                                                         /\ k >= HalfOffset
                                                                         /\ \/ ~SETTLES_ONCE
                                                                            \/ k >= before_o.round.cursor
                                                                         /\ k < half_length
                                                                         /\ half[k].original = h
                                                         THEN o
                                                         ELSE @[h]]
                                                ELSE @
                                           ELSE @,
                                       !.done_twice =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o \in before_o.round.done
                                                          THEN @ \cup {o}
                                                          ELSE @
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o \in before_o.round.done
                                                          THEN @ \cup {o}
                                                          ELSE @
                                                     ELSE @
                                           ELSE @,
                                       !.done =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                     ELSE @
                                           ELSE @,
                                       !.next_op = IF when THEN o + 1 ELSE @],
                         pulled_op |-> [before_o.pulled_op EXCEPT
                                           ![o].unresolved =
                                               IF when
                                               THEN IF ~op[o].undecodable
                                                    THEN unresolved_then
                                                    ELSE @
                                               ELSE @]]
           round_then == IF SETTLES_ONCE THEN after_o[OP_SLOTS - 1].round ELSE round
           has_met_all == round_then.cursor = half_length /\ round_then.next_op = op_length
           after_o_2[o_3 \in -1..OP_SLOTS - 1] ==
               IF o_3 = -1
               THEN [round |-> round, pulled_op |-> pulled_op]
               ELSE LET before_o_2 == after_o_2[o_3 - 1]
                        unresolved_then_2 ==
                            before_o_2.pulled_op[o_3].unresolved
                              \cup {h \in HalfSlots :
                                       /\ h \in op[o_3].names
                                       /\ \/ /\ h >= HalfOffset
                                             /\ ~SETTLES_ONCE \/ h >= before_o_2.round.cursor
                                          \/ /\ HEEDS_SETTLED_ORIGINALS
                                             /\ \E k \in HalfSlots :
                                                    /\ k >= HalfOffset
                                                    /\ \/ ~SETTLES_ONCE
                                                       \/ k >= before_o_2.round.cursor
                                                    /\ k < half_length
                                                    /\ half[k].original = h}
                        when_2 == begin <= o_3 /\ o_3 < begin + OP_SLOTS /\ o_3 < op_length
                    IN  [round |-> [before_o_2.round EXCEPT
                                       !.removed_by =
                                           IF when_2
                                           THEN IF ~op[o_3].undecodable
                                                THEN [h \in HalfSlots |->
                                                         IF /\ h \in op[o_3].names
                                                            /\ \/ /\ h >= HalfOffset
                                                                  /\ \/ ~SETTLES_ONCE
                                                                     \/ h >= before_o_2.round.cursor
                                                               \/ /\ HEEDS_SETTLED_ORIGINALS
                                                                  /\ \E k \in HalfSlots :
                                                                         /\ k >= HalfOffset
                                                                         /\ \/ ~SETTLES_ONCE
                                                                            \/ k >= before_o_2.round.cursor
                                                                         /\ k < half_length
                                                                         /\ half[k].original = h
                                                         THEN o_3
                                                         ELSE @[h]]
                                                ELSE @
                                           ELSE @,
                                       !.done_twice =
                                           IF when_2
                                           THEN IF ~op[o_3].undecodable
                                                THEN IF unresolved_then_2 = {}
                                                     THEN IF o_3 \in before_o_2.round.done
                                                          THEN @ \cup {o_3}
                                                          ELSE @
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o_3 \in before_o_2.round.done
                                                          THEN @ \cup {o_3}
                                                          ELSE @
                                                     ELSE @
                                           ELSE @,
                                       !.done =
                                           IF when_2
                                           THEN IF ~op[o_3].undecodable
                                                THEN IF unresolved_then_2 = {}
                                                     THEN IF o_3 \in @ THEN @ ELSE @ \cup {o_3}
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o_3 \in @ THEN @ ELSE @ \cup {o_3}
                                                     ELSE @
                                           ELSE @,
                                       !.next_op = IF when_2 THEN o_3 + 1 ELSE @],
                         pulled_op |-> [before_o_2.pulled_op EXCEPT
                                           ![o_3].unresolved =
                                               IF when_2
                                               THEN IF ~op[o_3].undecodable
                                                    THEN unresolved_then_2
                                                    ELSE @
                                               ELSE @]]
           round_then_2 == IF SETTLES_ONCE THEN after_o_2[OP_SLOTS - 1].round ELSE round
           has_met_all_2 == round_then_2.cursor = half_length /\ round_then_2.next_op = op_length
       IN  /\ round' =
                  IF IsDue(round.cursor)
                  THEN [round_then EXCEPT
                           !.running = FALSE,
                           !.started_at = LongAgo(Floor(ROUND_CUT, CLOCK_STEP)),
                           !.cursor = 0,
                           !.null_met = FALSE,
                           !.met = 0,
                           !.first_op = 0,
                           !.next_op = 0,
                           !.last_pull = "FOUND",
                           !.pulls_nothing = FALSE,
                           !.done = {},
                           !.done_twice = {},
                           !.held = 0,
                           !.removed_by = [h \in HalfSlots |-> NONE]]
                  ELSE [round_then_2 EXCEPT
                           !.running = FALSE,
                           !.started_at = LongAgo(Floor(ROUND_CUT, CLOCK_STEP)),
                           !.cursor = 0,
                           !.null_met = FALSE,
                           !.met = 0,
                           !.first_op = 0,
                           !.next_op = 0,
                           !.last_pull = "FOUND",
                           !.pulls_nothing = FALSE,
                           !.done = {},
                           !.done_twice = {},
                           !.held = 0,
                           !.removed_by = [h \in HalfSlots |-> NONE]]
           /\ pulled_op' =
                  IF IsDue(round.cursor)
                  THEN [o_2 \in OpSlots |->
                           [(IF SETTLES_ONCE THEN after_o[OP_SLOTS - 1].pulled_op ELSE pulled_op)[o_2] EXCEPT
                               !.unresolved = {}]]
                  ELSE [o_2 \in OpSlots |->
                           [(IF SETTLES_ONCE THEN after_o_2[OP_SLOTS - 1].pulled_op ELSE pulled_op)[o_2] EXCEPT
                               !.unresolved = {}]]
           /\ round_ended_at' = Now
           /\ offsets' = [offsets EXCEPT
                             !.half =
                                 IF IsDue(round.cursor)
                                 THEN IF round_then.cursor # HalfOffset THEN round_then.cursor ELSE @
                                 ELSE IF round_then_2.cursor # HalfOffset THEN round_then_2.cursor ELSE @,
                             !.op =
                                 IF IsDue(round.cursor)
                                 THEN IF \/ (IF CROWDED = 1 /\ round_then.held # 0
                                             THEN IF round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                           /\ o_2 >= round_then.first_op
                                                                                           /\ \A i \in 0..o_2 :
                                                                                                  /\ (/\ i \in round_then.done
                                                                                                      /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                           /\ op[i].undecodable
                                                                                                           /\ op[i].halves_before > round_then.cursor))
                                                                                                       = (i >= round_then.first_op)
                                                                                                  /\ \/ i = o_2
                                                                                                     \/ ~(i \in round_then.done_twice)})
                                                       <= round_then.held - 1
                                                  THEN round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                             /\ o_2 >= round_then.first_op
                                                                                             /\ \A i \in 0..o_2 :
                                                                                                    /\ (/\ i \in round_then.done
                                                                                                        /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                             /\ op[i].undecodable
                                                                                                             /\ op[i].halves_before > round_then.cursor))
                                                                                                         = (i >= round_then.first_op)
                                                                                                    /\ \/ i = o_2
                                                                                                       \/ ~(i \in round_then.done_twice)})
                                                  ELSE round_then.held - 1
                                             ELSE round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                        /\ o_2 >= round_then.first_op
                                                                                        /\ \A i \in 0..o_2 :
                                                                                               /\ (/\ i \in round_then.done
                                                                                                   /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                        /\ op[i].undecodable
                                                                                                        /\ op[i].halves_before > round_then.cursor))
                                                                                                    = (i >= round_then.first_op)
                                                                                               /\ \/ i = o_2
                                                                                                  \/ ~(i \in round_then.done_twice)}))
                                              # round_then.first_op
                                         \/ CROWDED = 1 /\ round_then.held # 0
                                      THEN IF CROWDED = 1 /\ round_then.held # 0
                                           THEN IF round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                         /\ o_2 >= round_then.first_op
                                                                                         /\ \A i \in 0..o_2 :
                                                                                                /\ (/\ i \in round_then.done
                                                                                                    /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                         /\ op[i].undecodable
                                                                                                         /\ op[i].halves_before > round_then.cursor))
                                                                                                     = (i >= round_then.first_op)
                                                                                                /\ \/ i = o_2
                                                                                                   \/ ~(i \in round_then.done_twice)})
                                                     <= round_then.held - 1
                                                THEN round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                           /\ o_2 >= round_then.first_op
                                                                                           /\ \A i \in 0..o_2 :
                                                                                                  /\ (/\ i \in round_then.done
                                                                                                      /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                           /\ op[i].undecodable
                                                                                                           /\ op[i].halves_before > round_then.cursor))
                                                                                                       = (i >= round_then.first_op)
                                                                                                  /\ \/ i = o_2
                                                                                                     \/ ~(i \in round_then.done_twice)})
                                                ELSE round_then.held - 1
                                           ELSE round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                      /\ o_2 >= round_then.first_op
                                                                                      /\ \A i \in 0..o_2 :
                                                                                             /\ (/\ i \in round_then.done
                                                                                                 /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                      /\ op[i].undecodable
                                                                                                      /\ op[i].halves_before > round_then.cursor))
                                                                                                  = (i >= round_then.first_op)
                                                                                             /\ \/ i = o_2
                                                                                                \/ ~(i \in round_then.done_twice)})
                                      ELSE @
                                 ELSE IF \/ (IF CROWDED = 1 /\ round_then_2.held # 0
                                             THEN IF round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                                             /\ o_2 >= round_then_2.first_op
                                                                                             /\ \A i \in 0..o_2 :
                                                                                                    /\ (/\ i \in round_then_2.done
                                                                                                        /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                             /\ op[i].undecodable
                                                                                                             /\ op[i].halves_before > round_then_2.cursor))
                                                                                                         = (i >= round_then_2.first_op)
                                                                                                    /\ \/ i = o_2
                                                                                                       \/ ~(i \in round_then_2.done_twice)})
                                                       <= round_then_2.held - 1
                                                  THEN round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                                               /\ o_2 >= round_then_2.first_op
                                                                                               /\ \A i \in 0..o_2 :
                                                                                                      /\ (/\ i \in round_then_2.done
                                                                                                          /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                               /\ op[i].undecodable
                                                                                                               /\ op[i].halves_before > round_then_2.cursor))
                                                                                                           = (i >= round_then_2.first_op)
                                                                                                      /\ \/ i = o_2
                                                                                                         \/ ~(i \in round_then_2.done_twice)})
                                                  ELSE round_then_2.held - 1
                                             ELSE round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                                          /\ o_2 >= round_then_2.first_op
                                                                                          /\ \A i \in 0..o_2 :
                                                                                                 /\ (/\ i \in round_then_2.done
                                                                                                     /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                          /\ op[i].undecodable
                                                                                                          /\ op[i].halves_before > round_then_2.cursor))
                                                                                                      = (i >= round_then_2.first_op)
                                                                                                 /\ \/ i = o_2
                                                                                                    \/ ~(i \in round_then_2.done_twice)}))
                                              # round_then_2.first_op
                                         \/ CROWDED = 1 /\ round_then_2.held # 0
                                      THEN IF CROWDED = 1 /\ round_then_2.held # 0
                                           THEN IF round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                                           /\ o_2 >= round_then_2.first_op
                                                                                           /\ \A i \in 0..o_2 :
                                                                                                  /\ (/\ i \in round_then_2.done
                                                                                                      /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                           /\ op[i].undecodable
                                                                                                           /\ op[i].halves_before > round_then_2.cursor))
                                                                                                       = (i >= round_then_2.first_op)
                                                                                                  /\ \/ i = o_2
                                                                                                     \/ ~(i \in round_then_2.done_twice)})
                                                     <= round_then_2.held - 1
                                                THEN round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                                             /\ o_2 >= round_then_2.first_op
                                                                                             /\ \A i \in 0..o_2 :
                                                                                                    /\ (/\ i \in round_then_2.done
                                                                                                        /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                             /\ op[i].undecodable
                                                                                                             /\ op[i].halves_before > round_then_2.cursor))
                                                                                                         = (i >= round_then_2.first_op)
                                                                                                    /\ \/ i = o_2
                                                                                                       \/ ~(i \in round_then_2.done_twice)})
                                                ELSE round_then_2.held - 1
                                           ELSE round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                                        /\ o_2 >= round_then_2.first_op
                                                                                        /\ \A i \in 0..o_2 :
                                                                                               /\ (/\ i \in round_then_2.done
                                                                                                   /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                        /\ op[i].undecodable
                                                                                                        /\ op[i].halves_before > round_then_2.cursor))
                                                                                                    = (i >= round_then_2.first_op)
                                                                                               /\ \/ i = o_2
                                                                                                  \/ ~(i \in round_then_2.done_twice)})
                                      ELSE @]
           /\ stuck' =
                  IF IsDue(round.cursor)
                  THEN IF round.cursor = HalfOffset THEN "TIME_LIMIT" ELSE "NO"
                  ELSE "NO"
           /\ stuck_rounds' =
                  IF IsDue(round.cursor)
                  THEN IF round.cursor = HalfOffset
                       THEN IF "TIME_LIMIT" = "NO"
                            THEN 0
                            ELSE IF stuck # "TIME_LIMIT"
                                 THEN 1
                                 ELSE IF stuck_rounds < 2 THEN stuck_rounds + 1 ELSE stuck_rounds
                       ELSE IF "NO" = "NO"
                            THEN 0
                            ELSE IF stuck # "NO"
                                 THEN 1
                                 ELSE IF stuck_rounds < 2 THEN stuck_rounds + 1 ELSE stuck_rounds
                  ELSE IF "NO" = "NO"
                       THEN 0
                       ELSE IF stuck # "NO"
                            THEN 1
                            ELSE IF stuck_rounds < 2 THEN stuck_rounds + 1 ELSE stuck_rounds
           /\ op_left_behind' =
                  IF IsDue(round.cursor)
                  THEN /\ has_met_all
                       /\ round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                /\ o_2 >= round_then.first_op
                                                                /\ \A i \in 0..o_2 :
                                                                       /\ (/\ i \in round_then.done
                                                                           /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                /\ op[i].undecodable
                                                                                /\ op[i].halves_before > round_then.cursor))
                                                                            = (i >= round_then.first_op)
                                                                       /\ \/ i = o_2
                                                                          \/ ~(i \in round_then.done_twice)})
                            < op_length
                  ELSE /\ has_met_all_2
                       /\ round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                  /\ o_2 >= round_then_2.first_op
                                                                  /\ \A i \in 0..o_2 :
                                                                         /\ (/\ i \in round_then_2.done
                                                                             /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                  /\ op[i].undecodable
                                                                                  /\ op[i].halves_before > round_then_2.cursor))
                                                                              = (i >= round_then_2.first_op)
                                                                         /\ \/ i = o_2
                                                                            \/ ~(i \in round_then_2.done_twice)})
                            < op_length
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half,
                   half_length, op, op_length, batch, saved, unsaved, flushed, gone, lower_end, had_halves,
                   had_ops>>

----------------------------------------------------------------------------------------------------
\* What keeps an instance small: how often something may go wrong in it. RocketMQ knows nothing of these bounds.

\* What goes wrong in the broker, but for its process dying, goes wrong so often at most.
RoomForAMishap ==
    \* instance: the instance has mishaps left
    /\ mishaps < MISHAPS

\* The broker's process dies so often at most, where that is counted.
RoomForACrash ==
    \* instance: the instance has crashes left
    /\ IsTrue(CRASHES = NONE \/ crashes < CRASHES)

\* A fault finds what stands at a place below an offset, and is over.
WithinReach(place, offset) ==
    \* instance: the instance lets faults reach so far back
    /\ IsTrue(REACH = NONE \/ place + REACH >= offset)

\* So many END_TRANSACTIONs at most come that no outcome and no check accounts for.
RoomForAStrayEnd ==
    \* instance: the instance has stray END_TRANSACTIONs left
    /\ stray_ends < STRAY_ENDS

----------------------------------------------------------------------------------------------------
\* Retention: the oldest files of the commit log are deleted, and the lower ends of the queues follow later, or never.
\*
\* Between the two, an offset at or above the lower end of its queue finds entries without records, and the store goes on
\* to the next message that has one: the round asks for one half and is given another (`spec.half_queue.half_read`, B50).
\* RocketMQ: DefaultMessageStore.CleanCommitLogService, DefaultMessageStore.CleanConsumeQueueService, ConsumeQueue
\* #correctMinOffset.

\* A round may come to a half of the transaction, or a request that names one is under way.
\*
\* A request takes seconds, and files are kept for hours; a local transaction may take longer, and no broker knows.
IsPending(t) ==
    \E k \in HalfSlots :
        /\ k < half_length
        /\ half[k].transaction = t
        /\ \/ k >= (IF offsets.half <= saved.half THEN offsets.half ELSE saved.half)
           \/ half[k].end # "NONE"
           \/ half[k].check_in_flight

\* No round will ask for the first halves and op messages, and no half of their transactions is pending.
IsOver(halves, ops) ==
    /\ halves <= (IF offsets.half <= saved.half THEN offsets.half ELSE saved.half)
    /\ ops <= (IF offsets.op <= saved.op THEN offsets.op ELSE saved.op)
    /\ ~round.running \/ (halves <= round.cursor /\ ops <= round.first_op)
    /\ ~(\E h \in HalfSlots : h < halves /\ IsPending(half[h].transaction))

\* The oldest files of the commit log go: those with the first `records` halves and op messages, or with none.
\*
\* RocketMQ: DefaultMessageStore.CleanCommitLogService#deleteExpiredFiles, for fileReservedTime, as the disk is full or
\* by hand (DELETE_EXPIRED_COMMITLOG). Nobody asks whether a half in them is pending. A repaired broker keeps what a
\* round may still ask for, or an END_TRANSACTION may still name. What is deleted was flushed long ago.
DeleteOldestFiles(records) ==
    \* environment: the files of the commit log are kept
    /\ RETENTION
    \* instance: files go in the instance
    /\ EXPIRES = 1
    \* what was deleted stays so
    /\ records >= gone.halves + gone.ops
    \* so many were stored
    /\ records <= half_length + op_length
    \* nothing that is pending is deleted, or nobody minds
    /\ IsTrue(~KEEPS_PENDING_FILES \/ IsOver(records - OpsAmong(records), OpsAmong(records)))
    /\ RoomForAMishap
    /\ mishaps' = mishaps + 1
    /\ flushed' = [flushed EXCEPT
                      !.halves =
                          IF POWER_LOSS /\ mishaps + 1 < MISHAPS
                          THEN IF @ >= records - OpsAmong(records) THEN @ ELSE records - OpsAmong(records)
                          ELSE @,
                      !.ops =
                          IF POWER_LOSS /\ mishaps + 1 < MISHAPS
                          THEN IF @ >= OpsAmong(records) THEN @ ELSE OpsAmong(records)
                          ELSE @]
    /\ gone' = [gone EXCEPT !.ops = OpsAmong(records), !.halves = records - OpsAmong(records)]
    /\ UNCHANGED <<clock_steps, stray_ends, crashes, role, producer, transaction, half, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, lower_end,
                   stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The lower end of a queue moves to the first message that is left; up to 4.9.8 there has to be one (#8753).
\*
\* RocketMQ: ConsumeQueue#correctMinOffset.
Follows(gone_2, lower_end_2, length) ==
    lower_end_2 < gone_2 /\ (gone_2 < length \/ LOWER_END_PASSES_ALL)

\* A round may ask for a half or an op message that retention has deleted.
LiesBelowWhatIsLeft ==
    \/ (IF offsets.half <= saved.half THEN offsets.half ELSE saved.half) < gone.halves
    \/ (IF offsets.op <= saved.op THEN offsets.op ELSE saved.op) < gone.ops
    \/ round.running /\ (round.cursor < gone.halves \/ round.next_op < gone.ops)

\* The lower ends of the queues follow.
\*
\* RocketMQ: DefaultMessageStore.CleanConsumeQueueService#deleteExpiredFiles, when all files of the commit log were
\* deleted that were to be, a tenth of a second apart (deleteCommitLogFilesInterval). Nobody asks for a lower end that
\* no offset lies below.
MoveLowerEnds ==
    \* the lower end of a queue stands at a message that is gone, and may leave it
    /\ IsTrue(\/ Follows(gone.halves, lower_end.halves, half_length)
              \/ Follows(gone.ops, lower_end.ops, op_length))
    \* an offset lies below what is left
    /\ IsTrue(LiesBelowWhatIsLeft \/ CROWDED = 1)
    /\ lower_end' = [lower_end EXCEPT
                        !.halves = IF Follows(gone.halves, @, half_length) THEN gone.halves ELSE @,
                        !.ops = IF Follows(gone.ops, @, op_length) THEN gone.ops ELSE @]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half,
                   half_length, op, op_length, batch, round, pulled_op, round_ended_at, offsets, saved,
                   unsaved, flushed, gone, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* A broker that is to follow another master truncates all that it has while it runs, and becomes master again.
\*
\* Its queues begin anew, at 0. Their lower ends stay where they were, if retention has deleted all of the queue's
\* older files, and so do the offsets (B51, #10417). Requests that name what it had are refused.
\*
\* RocketMQ: AutoSwitchHAClient#doTruncate, ConsumeQueue#truncateDirtyLogicFiles, #correctMinOffset.
TruncateAll ==
    \* this version truncates while it runs
    /\ TRUNCATES_RUNNING
    \* the check service has come to its end
    /\ ~round.running
    \* the broker is the master
    /\ role = "MASTER"
    \* there is a half to be truncated
    /\ half_length > 0
    \* the lower end of the half queue has moved
    /\ lower_end.halves > 0
    \* nothing waits in the op batch
    /\ batch.names = {}
    \* environment: roles do not change, or all files of the log are there
    /\ RETENTION /\ ROLE_CHANGE
    \* instance: files go in the instance, and it keeps all places of its queues
    /\ EXPIRES = 1 /\ FORGETS = 0
    /\ LET after_h[h \in -1..HALF_SLOTS - 1] ==
               IF h = -1
               THEN [transaction |-> transaction, half |-> half]
               ELSE LET before_h == after_h[h - 1]
                        t == before_h.half[h].transaction
                    IN  [transaction |-> [before_h.transaction EXCEPT
                                             ![t].cause =
                                                 IF h < half_length
                                                 THEN IF @ = "NONE"
                                                      THEN IF before_h.half[h].settled # "NO"
                                                           THEN "LOST_OP"
                                                           ELSE IF before_h.half[h].left = "ESCAPED"
                                                                THEN "ENDED_AFTER_ESCAPE"
                                                                ELSE @
                                                      ELSE @
                                                 ELSE @],
                         half |-> [before_h.half EXCEPT
                                      ![h].end = IF h < half_length THEN "NONE" ELSE @,
                                      ![h].other_end = IF h < half_length THEN "NONE" ELSE @,
                                      ![h].claims_check = IF h < half_length THEN FALSE ELSE @,
                                      ![h].transaction = IF h < half_length THEN 0 ELSE @,
                                      ![h].check_times = IF h < half_length THEN 0 ELSE @,
                                      ![h].original = IF h < half_length THEN NONE ELSE @,
                                      ![h].born_at =
                                          IF h < half_length
                                          THEN LongAgo(Floor(BIRTH_CUT, CLOCK_STEP))
                                          ELSE @,
                                      ![h].stored_at =
                                          IF h < half_length
                                          THEN LongAgo(Floor(STORED_CUT, CLOCK_STEP))
                                          ELSE @,
                                      ![h].check_in_flight = IF h < half_length THEN FALSE ELSE @,
                                      ![h].settled = IF h < half_length THEN "NO" ELSE @,
                                      ![h].acknowledged = IF h < half_length THEN FALSE ELSE @,
                                      ![h].op_write_failed = IF h < half_length THEN FALSE ELSE @,
                                      ![h].foreign = IF h < half_length THEN FALSE ELSE @,
                                      ![h].burnt = IF h < half_length THEN "NO" ELSE @,
                                      ![h].left = IF h < half_length THEN "NO" ELSE @,
                                      ![h].known_to =
                                          IF h < half_length
                                          THEN IF PROXIES > 0 THEN 0 ELSE @
                                          ELSE @]]
       IN  /\ transaction' = after_h[HALF_SLOTS - 1].transaction
           /\ half' = after_h[HALF_SLOTS - 1].half
           /\ half_length' = 0
           /\ op' = [o \in OpSlots |->
                        [op[o] EXCEPT
                            !.names = {},
                            !.born_at = LongAgo(Floor(OP_CUT, CLOCK_STEP)),
                            !.undecodable = FALSE,
                            !.halves_before = 0]]
           /\ op_length' = 0
           /\ flushed' = [flushed EXCEPT !.halves = 0, !.ops = 0]
           /\ gone' = [gone EXCEPT !.halves = 0, !.ops = 0]
           /\ lower_end' = [lower_end EXCEPT
                               !.halves = IF RESETS_LOWER_END THEN 0 ELSE @,
                               !.ops = IF RESETS_LOWER_END THEN 0 ELSE @]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, batch, round, pulled_op,
                   round_ended_at, offsets, saved, unsaved, stuck, stuck_rounds, op_left_behind,
                   had_halves, had_ops>>

\* The store gives a later half than the one that was asked for: that one is passed. A repair (B50).
PassHalfThatIsGone ==
    /\ StandsOnAHalf
    \* no op message that was pulled names it
    /\ ~IsSettledByAnOp(round.cursor)
    \* the store has a record for it, or for a later half
    /\ IsHalfGiven
    \* the round looks at the offset of what was read
    /\ PASSES_WHAT_IS_GONE
    \* what was read is a later half
    /\ round.cursor < gone.halves
    /\ round' = [round EXCEPT !.cursor = @ + 1]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half,
                   half_length, op, op_length, batch, pulled_op, round_ended_at, offsets, saved, unsaved,
                   flushed, gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* What both need: an offset below the lower end, or entries that have no record, nor has any that follows.
IsToldToGoOn ==
    \* a round runs
    /\ round.running
    \* the round is within its time limit
    /\ IsTrue(IsWithinLimit)
    \* the half queue is not empty
    /\ ~IsEmpty
    \* it is below the lower end of the queue, or no record is left
    /\ IsTrue(round.cursor < lower_end.halves \/ (round.cursor < half_length /\ gone.halves = half_length))
    \* no op message that was pulled names it
    /\ ~(\E h \in HalfSlots : h = round.cursor /\ IsSettledByAnOp(h))

\* The store has nothing at the cursor: the round goes on where the store says, once.
\*
\* That is the lower end of the queue, or the end of all entries where no record is left. The store of a slave leaves
\* an offset below the lower end as it is (B24).
\*
\* RocketMQ: DefaultMessageStore#getMessage, OFFSET_TOO_SMALL and MESSAGE_WAS_REMOVING; #nextOffsetCorrection.
JumpToWhatIsLeft ==
    /\ IsToldToGoOn
    \* the round has not jumped before
    /\ ~round.null_met
    /\ half' =
           IF round.cursor >= lower_end.halves
           THEN half
           ELSE IF IsMaster \/ CORRECTS_OFFSETS_ON_SLAVE
                THEN [h \in HalfSlots |->
                         [half[h] EXCEPT
                             !.left =
                                 IF /\ h >= gone.halves
                                    /\ h < half_length
                                    /\ h >= round.cursor
                                    /\ h < lower_end.halves
                                    /\ @ = "NO"
                                 THEN "PASSED_OVER"
                                 ELSE @]]
                ELSE half
    /\ round' = [round EXCEPT
                    !.null_met = TRUE,
                    !.cursor =
                        IF @ >= lower_end.halves
                        THEN half_length
                        ELSE IF IsMaster \/ CORRECTS_OFFSETS_ON_SLAVE THEN lower_end.halves ELSE @]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The store has nothing at the cursor for the second time in the round.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check, MAX_RETRY_COUNT_WHEN_HALF_NULL.
EndRoundBelowWhatIsLeft ==
    /\ IsToldToGoOn
    \* the round has jumped before
    /\ round.null_met
    /\ EndRound("EXCEPTION")
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half,
                   half_length, op, op_length, batch, saved, unsaved, flushed, gone, lower_end, had_halves,
                   had_ops>>

----------------------------------------------------------------------------------------------------
\* A half of which nothing more is asked: after `transactionCheckMax` checks, or too old, it is moved away.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check, the branch of #needDiscard and #needSkip.

\* The half goes to TRANS_CHECK_MAX_TIME_TOPIC, or only to the log.
Discard(h) ==
    /\ LET t == half[h].transaction
           can_be_kept == CanBeCopied(h) /\ CanBeDecoded(h)
           has_just_come == IsFirstHalf(h) /\ half[h].stored_at = Now
       IN  /\ transaction' = [transaction EXCEPT
                                 ![half[h].transaction].parked = IF KEEPS_DISCARDED THEN TRUE ELSE @,
                                 ![t].cause =
                                     IF @ = "NONE"
                                     THEN IF half[h].left = "ESCAPED"
                                          THEN "ENDED_AFTER_ESCAPE"
                                          ELSE IF IsReadForAnother(h) /\ HasAnotherCopy(h)
                                               THEN "READ_FOR_ANOTHER"
                                               ELSE IF HasAnotherCopy(h) THEN "FORKED_COPY" ELSE @
                                     ELSE @,
                                 ![t].discarded =
                                     IF @ = "NO" \/ @ = "SPENT"
                                     THEN IF ~HasNoChecksLeft(h)
                                          THEN IF IsOverAge(h) /\ (can_be_kept \/ ~ASKS_THE_OLD)
                                               THEN IF has_just_come THEN "OLD_ON_ARRIVAL" ELSE "OVER_AGE"
                                               ELSE @
                                          ELSE IF half[h].burnt = "IMMUNITY"
                                               THEN "BURNT_BY_IMMUNITY"
                                               ELSE IF half[h].burnt = "NOBODY_TO_ASK"
                                                    THEN "NOBODY_TO_ASK"
                                                    ELSE IF half[h].burnt = "PRESET" THEN "PRESET" ELSE "SPENT"
                                     ELSE @]
           /\ half' = [half EXCEPT
                          ![h].left =
                              IF /\ half[h].acknowledged
                                 /\ (IF KEEPS_DISCARDED THEN "KEPT_ASIDE" ELSE "DROPPED") = "KEPT_ASIDE"
                              THEN "SETTLED_ASIDE"
                              ELSE IF KEEPS_DISCARDED THEN "KEPT_ASIDE" ELSE "DROPPED"]
           /\ round' = [round EXCEPT !.cursor = @ + 1]

\* A half without checks left, or too old, is moved away before the rest of the op messages is read (A10).
\*
\* RocketMQ: TransactionalMessageServiceImpl#needDiscard, #needSkip,
\* DefaultTransactionalMessageCheckListener#resolveDiscardMsg. Up to 4.5.1 only a log line remains of it (A31).
DiscardHalf ==
    /\ StandsOnTheMastersHalf
    \* it has no checks left
    /\ IsTrue(MustBeDiscarded(HalfRead))
    /\ Discard(HalfRead)
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone, lower_end,
                   stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The record in the discard topic is not stored, and the half is passed all the same (B31).
\*
\* RocketMQ: DefaultTransactionalMessageCheckListener#resolveDiscardMsg logs what went wrong.
DiscardHalfUnrecorded ==
    /\ StandsOnTheMastersHalf
    \* it has no checks left
    /\ IsTrue(MustBeDiscarded(HalfRead))
    \* nobody looks whether its record was stored
    /\ KEEPS_DISCARDED /\ ~RETRIES_DISCARDS
    \* environment: what is discarded is stored
    /\ PUT_FAILURE
    /\ RememberDiscard(HalfRead, "DROPPED")
    /\ round' = [round EXCEPT !.cursor = @ + 1]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone, lower_end,
                   stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* A half without checks left is discarded where it would be checked: all op messages were read. A repair (A10).
DiscardInsteadOfCheck ==
    /\ StandsOnAHalfToCheck
    \* it has no checks left
    /\ HasNoChecksLeft(HalfRead)
    /\ Discard(HalfRead)
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone, lower_end,
                   stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The half cannot be decoded, or its time has come to be put back and its copy cannot be stored.
IsBeyondKeeping(h) ==
    LET is_to_be_put_back == ~IsFresh(h) /\ (IsImmune(h) \/ ~IsYoung(h))
    IN  ~CanBeDecoded(h) \/ (~CanBeCopied(h) /\ is_to_be_put_back)

\* A half that can be neither copied nor read goes to the discard topic as it is. A repair (A07, B07).
DiscardWhatCannotBeCopied ==
    /\ StandsOnAnOpenHalf
    \* the broker is the master
    /\ IsTrue(IsMaster)
    \* what cannot be copied is put aside
    /\ PARKS_POISON
    \* it cannot be read, or it would be put back and cannot
    /\ IsTrue(IsBeyondKeeping(HalfRead))
    /\ Discard(HalfRead)
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone, lower_end,
                   stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

----------------------------------------------------------------------------------------------------
\* A half that stays open goes to the end of the half queue as a copy: for its immunity, or to be checked.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check, #putBackHalfMsgQueue, #putImmunityMsgBackToHalfQueue.

\* An immune half goes to the end of the queue as a copy that knows its original; that costs it a check (A09).
\*
\* RocketMQ: TransactionalMessageServiceImpl#putImmunityMsgBackToHalfQueue, TransactionalMessageBridge
\* #renewImmunityHalfMessageInner.
PutBackImmuneHalf ==
    /\ StandsOnAnEarlierHalf
    \* its immunity is not over
    /\ IsTrue(IsImmune(HalfRead))
    \* no op message that was pulled names its original
    /\ ~OriginalIsSettled(HalfRead)
    \* its immunity is not longer than all its checks take
    /\ ~IsTooImmune(HalfRead)
    \* a copy of it can be stored
    /\ CanBeCopied(HalfRead)
    /\ RoomForAHalf
    /\ LET t == half[HalfRead].transaction
           half_then ==
               IF COUNTS_SENT_CHECKS \/ DISCARDS_INSTEAD_OF_CHECKING
               THEN [half EXCEPT
                        ![HalfRead].left = IF @ # "ESCAPED" THEN "FOR_IMMUNITY" ELSE @,
                        ![half_length].check_times = half[HalfRead].check_times,
                        ![half_length].original = half[HalfRead].original,
                        ![half_length].burnt = half[HalfRead].burnt,
                        ![half_length].transaction = half[HalfRead].transaction,
                        ![half_length].born_at =
                            IF AGES_FROM_STORING THEN Now ELSE half[HalfRead].born_at,
                        ![half_length].stored_at = Now]
               ELSE [half EXCEPT
                        ![HalfRead].left = IF @ # "ESCAPED" THEN "FOR_IMMUNITY" ELSE @,
                        ![half_length].check_times = half[HalfRead].check_times + 1,
                        ![half_length].original = half[HalfRead].original,
                        ![half_length].transaction = half[HalfRead].transaction,
                        ![half_length].born_at =
                            IF AGES_FROM_STORING THEN Now ELSE half[HalfRead].born_at,
                        ![half_length].stored_at = Now,
                        ![half_length].burnt =
                            IF half[HalfRead].burnt = "NO"
                            THEN "IMMUNITY"
                            ELSE half[HalfRead].burnt]
       IN  /\ transaction' = [transaction EXCEPT
                                 ![t].cause =
                                     IF @ = "NONE"
                                     THEN IF half[HalfRead].left = "ESCAPED"
                                          THEN "ESCAPED_AND_KEPT"
                                          ELSE IF /\ IsReadForAnother(HalfRead)
                                                  /\ HasAnotherCopy(HalfRead) \/ IsSettledByAnOp(HalfRead)
                                               THEN "READ_FOR_ANOTHER"
                                               ELSE IF HasAnotherCopy(HalfRead)
                                                    THEN "FORKED_COPY"
                                                    ELSE IF half[HalfRead].settled # "NO"
                                                         THEN WhyItsOpWasNotSeen(HalfRead)
                                                         ELSE IF /\ "FOR_IMMUNITY" = "FOR_CHECK"
                                                                 /\ transaction[t].quiet = "ENDED"
                                                                 /\ WasResumed(t)
                                                              THEN "RESUMED_HALF"
                                                              ELSE @
                                     ELSE @,
                                 ![t].quiet = IF "FOR_IMMUNITY" = "FOR_CHECK" /\ @ = "ENDED" THEN "CHECKED" ELSE @]
           /\ half' =
                  IF half_then[HalfRead].original = NONE
                  THEN [half_then EXCEPT ![half_length].original = HalfRead]
                  ELSE half_then
           /\ half_length' = half_length + 1
           /\ round' = [round EXCEPT !.cursor = @ + 1]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, op, op_length, batch,
                   pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone, lower_end, stuck,
                   stuck_rounds, op_left_behind, had_halves, had_ops>>

\* What both need: the time for a check has come, and the copy can be stored.
MayPutBackForCheck ==
    /\ StandsOnAHalfToCheck
    \* it has checks left
    /\ ~HasNoChecksLeft(HalfRead)
    \* a copy of it can be stored
    /\ CanBeCopied(HalfRead)

\* No producer of the group is connected; a broker that stops has closed its connections, and its pool for checks.
\*
\* RocketMQ: BrokerController#shutdownBasicService closes the remoting servers first; from 5.4.0 on
\* AbstractTransactionalMessageCheckListener#shutdown closes the pool before the check thread is joined.
NobodyCanBeAsked == producer # "ONLINE" \/ role = "STOPPING"

\* An old unsettled half goes to the end of the queue as a copy; then its producer is asked about the copy.
\*
\* RocketMQ: TransactionalMessageServiceImpl#putBackHalfMsgQueue, then AbstractTransactionalMessageCheckListener
\* #resolveHalfMsg. The copy is stored before the check is sent and has no link to the half that the producer knows
\* (A11).
PutBackAndCheck ==
    /\ MayPutBackForCheck
    \* a producer of its group is connected
    /\ ~NobodyCanBeAsked
    \* environment: a local transaction is over before its first check
    /\ IsTrue(SLOW_LOCAL \/ transaction[half[HalfRead].transaction].local # "EXECUTING")
    \* environment: nothing is under way for a transaction when it is checked
    /\ IsTrue(LATE_END \/ ~AwaitsItsProducer(half[HalfRead].transaction))
    /\ RoomForAHalf
    /\ LET t == half[HalfRead].transaction
           half_then ==
               [half EXCEPT
                   ![HalfRead].left = IF @ # "ESCAPED" THEN "FOR_CHECK" ELSE @,
                   ![half_length].check_times = half[HalfRead].check_times + 1,
                   ![half_length].original = half[HalfRead].original,
                   ![half_length].burnt = half[HalfRead].burnt,
                   ![half_length].transaction = half[HalfRead].transaction,
                   ![half_length].born_at =
                       IF AGES_FROM_STORING THEN Now ELSE half[HalfRead].born_at,
                   ![half_length].stored_at = Now]
           half_then_2 ==
               IF LINKS_EVERY_COPY
               THEN [half_then EXCEPT
                        ![half_length].original =
                            IF half_then[HalfRead].original = NONE THEN HalfRead ELSE @]
               ELSE [half EXCEPT
                        ![HalfRead].left = IF @ # "ESCAPED" THEN "FOR_CHECK" ELSE @,
                        ![half_length].check_times = half[HalfRead].check_times + 1,
                        ![half_length].original = half[HalfRead].original,
                        ![half_length].burnt = half[HalfRead].burnt,
                        ![half_length].transaction = half[HalfRead].transaction,
                        ![half_length].born_at =
                            IF AGES_FROM_STORING THEN Now ELSE half[HalfRead].born_at,
                        ![half_length].stored_at = Now]
       IN  /\ transaction' = [transaction EXCEPT
                                 ![t].cause =
                                     IF @ = "NONE"
                                     THEN IF half[HalfRead].left = "ESCAPED"
                                          THEN "ESCAPED_AND_KEPT"
                                          ELSE IF /\ IsReadForAnother(HalfRead)
                                                  /\ HasAnotherCopy(HalfRead) \/ IsSettledByAnOp(HalfRead)
                                               THEN "READ_FOR_ANOTHER"
                                               ELSE IF HasAnotherCopy(HalfRead)
                                                    THEN "FORKED_COPY"
                                                    ELSE IF half[HalfRead].settled # "NO"
                                                         THEN WhyItsOpWasNotSeen(HalfRead)
                                                         ELSE IF /\ "FOR_CHECK" = "FOR_CHECK"
                                                                 /\ transaction[t].quiet = "ENDED"
                                                                 /\ WasResumed(t)
                                                              THEN "RESUMED_HALF"
                                                              ELSE @
                                     ELSE @,
                                 ![t].quiet = IF "FOR_CHECK" = "FOR_CHECK" /\ @ = "ENDED" THEN "CHECKED" ELSE @]
           /\ half' = [half_then_2 EXCEPT
                          ![half_length].check_in_flight = TRUE,
                          ![half_length].known_to = IF PROXIES > 0 THEN 1 ELSE @]
           /\ half_length' = half_length + 1
           /\ round' = [round EXCEPT !.cursor = @ + 1]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, op, op_length, batch,
                   pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone, lower_end, stuck,
                   stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The same where no producer of the group is connected: no check is sent, and it counts as one (A35, B19, B52).
\*
\* RocketMQ: AbstractTransactionalMessageCheckListener#sendCheckMessage, "Check transaction failed, channel is null".
PutBackUnasked ==
    /\ MayPutBackForCheck
    \* no producer of its group is connected
    /\ IsTrue(NobodyCanBeAsked)
    \* environment: a local transaction is over before its first check
    /\ IsTrue(\/ producer # "ONLINE"
              \/ SLOW_LOCAL
              \/ transaction[half[round.cursor].transaction].local # "EXECUTING")
    \* environment: nothing is under way for a transaction when it is checked
    /\ IsTrue(producer # "ONLINE" \/ LATE_END \/ ~AwaitsItsProducer(half[round.cursor].transaction))
    /\ RoomForAHalf
    /\ LET t == half[HalfRead].transaction
           half_then ==
               IF COUNTS_SENT_CHECKS
               THEN [half EXCEPT
                        ![HalfRead].left = IF @ # "ESCAPED" THEN "FOR_CHECK" ELSE @,
                        ![half_length].check_times = half[HalfRead].check_times,
                        ![half_length].original = half[HalfRead].original,
                        ![half_length].burnt = half[HalfRead].burnt,
                        ![half_length].transaction = half[HalfRead].transaction,
                        ![half_length].born_at =
                            IF AGES_FROM_STORING THEN Now ELSE half[HalfRead].born_at,
                        ![half_length].stored_at = Now]
               ELSE [half EXCEPT
                        ![HalfRead].left = IF @ # "ESCAPED" THEN "FOR_CHECK" ELSE @,
                        ![half_length].check_times = half[HalfRead].check_times + 1,
                        ![half_length].original = half[HalfRead].original,
                        ![half_length].transaction = half[HalfRead].transaction,
                        ![half_length].born_at =
                            IF AGES_FROM_STORING THEN Now ELSE half[HalfRead].born_at,
                        ![half_length].stored_at = Now,
                        ![half_length].burnt =
                            IF half[HalfRead].burnt = "NO"
                            THEN "NOBODY_TO_ASK"
                            ELSE half[HalfRead].burnt]
       IN  /\ transaction' = [transaction EXCEPT
                                 ![t].cause =
                                     IF @ = "NONE"
                                     THEN IF half[HalfRead].left = "ESCAPED"
                                          THEN "ESCAPED_AND_KEPT"
                                          ELSE IF /\ IsReadForAnother(HalfRead)
                                                  /\ HasAnotherCopy(HalfRead) \/ IsSettledByAnOp(HalfRead)
                                               THEN "READ_FOR_ANOTHER"
                                               ELSE IF HasAnotherCopy(HalfRead)
                                                    THEN "FORKED_COPY"
                                                    ELSE IF half[HalfRead].settled # "NO"
                                                         THEN WhyItsOpWasNotSeen(HalfRead)
                                                         ELSE IF /\ "FOR_CHECK" = "FOR_CHECK"
                                                                 /\ transaction[t].quiet = "ENDED"
                                                                 /\ WasResumed(t)
                                                              THEN "RESUMED_HALF"
                                                              ELSE @
                                     ELSE @,
                                 ![t].quiet = IF "FOR_CHECK" = "FOR_CHECK" /\ @ = "ENDED" THEN "CHECKED" ELSE @]
           /\ half' =
                  IF LINKS_EVERY_COPY
                  THEN IF half_then[HalfRead].original = NONE
                       THEN [half_then EXCEPT ![half_length].original = HalfRead]
                       ELSE half_then
                  ELSE half_then
           /\ half_length' = half_length + 1
           /\ round' = [round EXCEPT !.cursor = @ + 1]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, op, op_length, batch,
                   pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone, lower_end, stuck,
                   stuck_rounds, op_left_behind, had_halves, had_ops>>

----------------------------------------------------------------------------------------------------
\* What goes wrong in a check round: halves that are not there, cannot be read or cannot be written, and exceptions.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check, #getHalfMsg, #fillOpRemoveMap; TransactionalMessageBridge#getMessage.

\* The half offset lies beyond the end of its queue: the round goes on where the store says, once.
\*
\* RocketMQ: DefaultMessageStore#getMessage, OFFSET_OVERFLOW_BADLY. Up to 4.9.3 that is the beginning of the queue, and
\* the round judges op messages by the old offset: it takes all of them for settled long ago (B15).
JumpToQueueEnd ==
    \* a round runs
    /\ round.running
    \* the round is within its time limit
    /\ IsTrue(IsWithinLimit)
    \* the cursor stands beyond the end of the half queue
    /\ round.cursor > half_length
    \* the half queue is not empty
    /\ ~IsEmpty
    \* it is not below the lower end of the queue
    /\ round.cursor >= lower_end.halves
    \* the round has not jumped before
    /\ ~round.null_met
    /\ round' = [round EXCEPT
                    !.null_met = TRUE,
                    !.cursor = IF REWINDS_BEYOND_END /\ lower_end.halves = 0 THEN 0 ELSE half_length]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half,
                   half_length, op, op_length, batch, pulled_op, round_ended_at, offsets, saved, unsaved,
                   flushed, gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* What both need: a half that the store does not give, or that cannot be decoded without an exception.
SeesNoHalf ==
    /\ StandsOnAnOpenHalf
    \* there is no exception
    /\ IsTrue(CanBeDecoded(HalfRead) \/ ~UNDECODABLE_THROWS)
    \* what cannot be decoded is not put aside
    /\ IsTrue(CanBeDecoded(HalfRead) \/ ~PARKS_POISON)
    \* environment: the store finds what it has
    /\ IsTrue(NULL_HALF \/ ~CanBeDecoded(HalfRead))
    \* instance: the instance has mishaps left
    /\ IsTrue(~CanBeDecoded(HalfRead) \/ mishaps < MISHAPS)

\* A half that cannot be decoded is missed each time; any other one by mishap.
CountMiss(h) ==
    /\ mishaps' = IF CanBeDecoded(h) THEN mishaps + 1 ELSE mishaps

\* The store gives no message for the half at the cursor, and the round goes on behind it, once.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check, getMessageNullCount; the same for a half that cannot be decoded
\* from 4.9.5 on (A07).
JumpOverHalf ==
    /\ SeesNoHalf
    \* the round has not jumped before
    /\ ~round.null_met
    \* a round may jump over a half
    /\ ~KEEPS_PROGRESS
    /\ CountMiss(HalfRead)
    /\ half' = [half EXCEPT ![HalfRead].left = IF @ = "NO" THEN "PASSED_OVER" ELSE @]
    /\ round' = [round EXCEPT !.null_met = TRUE, !.cursor = HalfRead + 1]
    /\ UNCHANGED <<clock_steps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The store gives no message for the half at the cursor for the second time in the round.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check, MAX_RETRY_COUNT_WHEN_HALF_NULL. A repaired round does not jump.
EndRoundAtMissedHalf ==
    /\ SeesNoHalf
    \* the round has jumped before
    /\ IsTrue(round.null_met \/ KEEPS_PROGRESS)
    /\ CountMiss(HalfRead)
    /\ EndRound("EXCEPTION")
    /\ UNCHANGED <<clock_steps, stray_ends, crashes, role, producer, transaction, half, half_length, op,
                   op_length, batch, saved, unsaved, flushed, gone, lower_end, had_halves, had_ops>>

\* The store answers nothing at all for the half at the cursor: a NullPointerException (A08).
\*
\* RocketMQ: DefaultMessageStore#getMessage returns null when it is not readable or shut down.
AbortAtNullResult ==
    /\ StandsOnAnOpenHalf
    \* it can be decoded
    /\ CanBeDecoded(HalfRead)
    \* environment: the store finds what it has
    /\ NULL_HALF
    /\ RoomForAMishap
    /\ AbortRound("EXCEPTION")
    /\ mishaps' = mishaps + 1
    /\ UNCHANGED <<clock_steps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, saved, unsaved, flushed, gone, lower_end, had_halves, had_ops>>

\* A half that cannot be decoded ends the round, and every later one at the same place (A07).
\*
\* RocketMQ 4.5.1: TransactionalMessageBridge#getMessage reads the store time of a null.
AbortAtUndecodableHalf ==
    /\ StandsOnAnOpenHalf
    \* it cannot be decoded
    /\ ~CanBeDecoded(HalfRead)
    \* that is an exception
    /\ UNDECODABLE_THROWS
    \* what cannot be decoded is not put aside
    /\ ~PARKS_POISON
    /\ AbortRound("UNDECODABLE_HALF")
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, saved, unsaved, flushed, gone, lower_end, had_halves, had_ops>>

\* An op message among the first cannot be decoded: the round ends before it begins (B17).
\*
\* RocketMQ 4.5.1: TransactionalMessageServiceImpl#fillOpRemoveMap.
FailToBeginRound ==
    /\ MayBegin
    \* one of the first op messages cannot be decoded
    /\ IsTrue(PullThrows(OpOffset))
    /\ AbortRound("UNDECODABLE_OP")
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, saved, unsaved, flushed, gone, lower_end, had_halves, had_ops>>

\* An op message among the next cannot be decoded (B17).
\*
\* RocketMQ 4.5.1: TransactionalMessageServiceImpl#fillOpRemoveMap.
AbortAtNextOps ==
    /\ StandsOnAnOldHalf
    \* more op messages may be expected for it
    /\ ~MayCheck(HalfRead)
    \* one of the next op messages cannot be decoded
    /\ IsTrue(PullThrows(round.next_op))
    /\ AbortRound("UNDECODABLE_OP")
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, saved, unsaved, flushed, gone, lower_end, had_halves, had_ops>>

\* The last pull gave only op messages that cannot be decoded, and the loop looks at the last of none (B17).
\*
\* RocketMQ from 4.6.0 on: TransactionalMessageServiceImpl#check, `opMsg.get(opMsg.size() - 1)`.
AbortAtUnreadablePull ==
    /\ StandsOnAnOldHalf
    \* the last pull gave nothing that can be decoded
    /\ round.last_pull = "UNREADABLE"
    /\ AbortRound("UNDECODABLE_OP")
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, saved, unsaved, flushed, gone, lower_end, had_halves, had_ops>>

\* The rest of the round's time goes by without progress; a repaired round ends at once (B08).
Spin ==
    /\ LET begin == IF round.next_op >= gone.ops THEN round.next_op ELSE gone.ops
           after_o[o \in -1..OP_SLOTS - 1] ==
               IF o = -1
               THEN [round |-> round, pulled_op |-> pulled_op]
               ELSE LET before_o == after_o[o - 1]
                        unresolved_then ==
                            before_o.pulled_op[o].unresolved
                              \cup {h \in HalfSlots :
                                       /\ h \in op[o].names
                                       /\ \/ /\ h >= HalfOffset
                                             /\ ~SETTLES_ONCE \/ h >= before_o.round.cursor
                                          \/ /\ HEEDS_SETTLED_ORIGINALS
                                             /\ \E k \in HalfSlots :
                                                    /\ k >= HalfOffset
                                                    /\ ~SETTLES_ONCE \/ k >= before_o.round.cursor
                                                    /\ k < half_length
                                                    /\ half[k].original = h}
                        when == begin <= o /\ o < begin + OP_SLOTS /\ o < op_length
                    IN  [round |-> [before_o.round EXCEPT
                                       !.removed_by =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN [h \in HalfSlots |->
                                                         IF /\ h \in op[o].names
                                                            /\ \/ /\ h >= HalfOffset
                                                                  /\ \/ ~SETTLES_ONCE
                                                                     \/ h >= before_o.round.cursor
                                                               \/ /\ HEEDS_SETTLED_ORIGINALS
                                                                  /\ \E k \in HalfSlots :
                                                                         /\ k >= HalfOffset
                                                                         /\ \/ ~SETTLES_ONCE
                                                                            \/ k >= before_o.round.cursor
                                                                         /\ k < half_length
                                                                         /\ half[k].original = h
                                                         THEN o
                                                         ELSE @[h]]
                                                ELSE @
                                           ELSE @,
                                       !.done_twice =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o \in before_o.round.done
                                                          THEN @ \cup {o}
                                                          ELSE @
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o \in before_o.round.done
                                                          THEN @ \cup {o}
                                                          ELSE @
                                                     ELSE @
                                           ELSE @,
                                       !.done =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                     ELSE @
                                           ELSE @,
                                       !.next_op = IF when THEN o + 1 ELSE @],
                         pulled_op |-> [before_o.pulled_op EXCEPT
                                           ![o].unresolved =
                                               IF when
                                               THEN IF ~op[o].undecodable
                                                    THEN unresolved_then
                                                    ELSE @
                                               ELSE @]]
           round_then == IF SETTLES_ONCE THEN after_o[OP_SLOTS - 1].round ELSE round
           has_met_all == round_then.cursor = half_length /\ round_then.next_op = op_length
           after_o_2[o_3 \in -1..OP_SLOTS - 1] ==
               IF o_3 = -1
               THEN [round |-> round, pulled_op |-> pulled_op]
               ELSE LET before_o_2 == after_o_2[o_3 - 1]
                        unresolved_then_2 ==
                            before_o_2.pulled_op[o_3].unresolved
                              \cup {h \in HalfSlots :
                                       /\ h \in op[o_3].names
                                       /\ \/ /\ h >= HalfOffset
                                             /\ ~SETTLES_ONCE \/ h >= before_o_2.round.cursor
                                          \/ /\ HEEDS_SETTLED_ORIGINALS
                                             /\ \E k \in HalfSlots :
                                                    /\ k >= HalfOffset
                                                    /\ \/ ~SETTLES_ONCE
                                                       \/ k >= before_o_2.round.cursor
                                                    /\ k < half_length
                                                    /\ half[k].original = h}
                        when_2 == begin <= o_3 /\ o_3 < begin + OP_SLOTS /\ o_3 < op_length
                    IN  [round |-> [before_o_2.round EXCEPT
                                       !.removed_by =
                                           IF when_2
                                           THEN IF ~op[o_3].undecodable
                                                THEN [h \in HalfSlots |->
                                                         IF /\ h \in op[o_3].names
                                                            /\ \/ /\ h >= HalfOffset
                                                                  /\ \/ ~SETTLES_ONCE
                                                                     \/ h >= before_o_2.round.cursor
                                                               \/ /\ HEEDS_SETTLED_ORIGINALS
                                                                  /\ \E k \in HalfSlots :
                                                                         /\ k >= HalfOffset
                                                                         /\ \/ ~SETTLES_ONCE
                                                                            \/ k >= before_o_2.round.cursor
                                                                         /\ k < half_length
                                                                         /\ half[k].original = h
                                                         THEN o_3
                                                         ELSE @[h]]
                                                ELSE @
                                           ELSE @,
                                       !.done_twice =
                                           IF when_2
                                           THEN IF ~op[o_3].undecodable
                                                THEN IF unresolved_then_2 = {}
                                                     THEN IF o_3 \in before_o_2.round.done
                                                          THEN @ \cup {o_3}
                                                          ELSE @
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o_3 \in before_o_2.round.done
                                                          THEN @ \cup {o_3}
                                                          ELSE @
                                                     ELSE @
                                           ELSE @,
                                       !.done =
                                           IF when_2
                                           THEN IF ~op[o_3].undecodable
                                                THEN IF unresolved_then_2 = {}
                                                     THEN IF o_3 \in @ THEN @ ELSE @ \cup {o_3}
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o_3 \in @ THEN @ ELSE @ \cup {o_3}
                                                     ELSE @
                                           ELSE @,
                                       !.next_op = IF when_2 THEN o_3 + 1 ELSE @],
                         pulled_op |-> [before_o_2.pulled_op EXCEPT
                                           ![o_3].unresolved =
                                               IF when_2
                                               THEN IF ~op[o_3].undecodable
                                                    THEN unresolved_then_2
                                                    ELSE @
                                               ELSE @]]
           round_then_2 == IF SETTLES_ONCE THEN after_o_2[OP_SLOTS - 1].round ELSE round
           has_met_all_2 == round_then_2.cursor = half_length /\ round_then_2.next_op = op_length
       IN  /\ round' =
                  IF CanBeCopied(HalfRead)
                  THEN [round_then EXCEPT
                           !.running = FALSE,
                           !.started_at = LongAgo(Floor(ROUND_CUT, CLOCK_STEP)),
                           !.cursor = 0,
                           !.null_met = FALSE,
                           !.met = 0,
                           !.first_op = 0,
                           !.next_op = 0,
                           !.last_pull = "FOUND",
                           !.pulls_nothing = FALSE,
                           !.done = {},
                           !.done_twice = {},
                           !.held = 0,
                           !.removed_by = [h \in HalfSlots |-> NONE]]
                  ELSE [round_then_2 EXCEPT
                           !.running = FALSE,
                           !.started_at = LongAgo(Floor(ROUND_CUT, CLOCK_STEP)),
                           !.cursor = 0,
                           !.null_met = FALSE,
                           !.met = 0,
                           !.first_op = 0,
                           !.next_op = 0,
                           !.last_pull = "FOUND",
                           !.pulls_nothing = FALSE,
                           !.done = {},
                           !.done_twice = {},
                           !.held = 0,
                           !.removed_by = [h \in HalfSlots |-> NONE]]
           /\ pulled_op' =
                  IF CanBeCopied(HalfRead)
                  THEN [o_2 \in OpSlots |->
                           [(IF SETTLES_ONCE THEN after_o[OP_SLOTS - 1].pulled_op ELSE pulled_op)[o_2] EXCEPT
                               !.unresolved = {}]]
                  ELSE [o_2 \in OpSlots |->
                           [(IF SETTLES_ONCE THEN after_o_2[OP_SLOTS - 1].pulled_op ELSE pulled_op)[o_2] EXCEPT
                               !.unresolved = {}]]
           /\ round_ended_at' = Now
           /\ offsets' = [offsets EXCEPT
                             !.half =
                                 IF CanBeCopied(HalfRead)
                                 THEN IF round_then.cursor # HalfOffset THEN round_then.cursor ELSE @
                                 ELSE IF round_then_2.cursor # HalfOffset THEN round_then_2.cursor ELSE @,
                             !.op =
                                 IF CanBeCopied(HalfRead)
                                 THEN IF \/ (IF CROWDED = 1 /\ round_then.held # 0
                                             THEN IF round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                           /\ o_2 >= round_then.first_op
                                                                                           /\ \A i \in 0..o_2 :
                                                                                                  /\ (/\ i \in round_then.done
                                                                                                      /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                           /\ op[i].undecodable
                                                                                                           /\ op[i].halves_before > round_then.cursor))
                                                                                                       = (i >= round_then.first_op)
                                                                                                  /\ \/ i = o_2
                                                                                                     \/ ~(i \in round_then.done_twice)})
                                                       <= round_then.held - 1
                                                  THEN round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                             /\ o_2 >= round_then.first_op
                                                                                             /\ \A i \in 0..o_2 :
                                                                                                    /\ (/\ i \in round_then.done
                                                                                                        /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                             /\ op[i].undecodable
                                                                                                             /\ op[i].halves_before > round_then.cursor))
                                                                                                         = (i >= round_then.first_op)
                                                                                                    /\ \/ i = o_2
                                                                                                       \/ ~(i \in round_then.done_twice)})
                                                  ELSE round_then.held - 1
                                             ELSE round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                        /\ o_2 >= round_then.first_op
                                                                                        /\ \A i \in 0..o_2 :
                                                                                               /\ (/\ i \in round_then.done
                                                                                                   /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                        /\ op[i].undecodable
                                                                                                        /\ op[i].halves_before > round_then.cursor))
                                                                                                    = (i >= round_then.first_op)
                                                                                               /\ \/ i = o_2
                                                                                                  \/ ~(i \in round_then.done_twice)}))
                                              # round_then.first_op
                                         \/ CROWDED = 1 /\ round_then.held # 0
                                      THEN IF CROWDED = 1 /\ round_then.held # 0
                                           THEN IF round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                         /\ o_2 >= round_then.first_op
                                                                                         /\ \A i \in 0..o_2 :
                                                                                                /\ (/\ i \in round_then.done
                                                                                                    /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                         /\ op[i].undecodable
                                                                                                         /\ op[i].halves_before > round_then.cursor))
                                                                                                     = (i >= round_then.first_op)
                                                                                                /\ \/ i = o_2
                                                                                                   \/ ~(i \in round_then.done_twice)})
                                                     <= round_then.held - 1
                                                THEN round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                           /\ o_2 >= round_then.first_op
                                                                                           /\ \A i \in 0..o_2 :
                                                                                                  /\ (/\ i \in round_then.done
                                                                                                      /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                           /\ op[i].undecodable
                                                                                                           /\ op[i].halves_before > round_then.cursor))
                                                                                                       = (i >= round_then.first_op)
                                                                                                  /\ \/ i = o_2
                                                                                                     \/ ~(i \in round_then.done_twice)})
                                                ELSE round_then.held - 1
                                           ELSE round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                      /\ o_2 >= round_then.first_op
                                                                                      /\ \A i \in 0..o_2 :
                                                                                             /\ (/\ i \in round_then.done
                                                                                                 /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                      /\ op[i].undecodable
                                                                                                      /\ op[i].halves_before > round_then.cursor))
                                                                                                  = (i >= round_then.first_op)
                                                                                             /\ \/ i = o_2
                                                                                                \/ ~(i \in round_then.done_twice)})
                                      ELSE @
                                 ELSE IF \/ (IF CROWDED = 1 /\ round_then_2.held # 0
                                             THEN IF round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                                             /\ o_2 >= round_then_2.first_op
                                                                                             /\ \A i \in 0..o_2 :
                                                                                                    /\ (/\ i \in round_then_2.done
                                                                                                        /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                             /\ op[i].undecodable
                                                                                                             /\ op[i].halves_before > round_then_2.cursor))
                                                                                                         = (i >= round_then_2.first_op)
                                                                                                    /\ \/ i = o_2
                                                                                                       \/ ~(i \in round_then_2.done_twice)})
                                                       <= round_then_2.held - 1
                                                  THEN round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                                               /\ o_2 >= round_then_2.first_op
                                                                                               /\ \A i \in 0..o_2 :
                                                                                                      /\ (/\ i \in round_then_2.done
                                                                                                          /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                               /\ op[i].undecodable
                                                                                                               /\ op[i].halves_before > round_then_2.cursor))
                                                                                                           = (i >= round_then_2.first_op)
                                                                                                      /\ \/ i = o_2
                                                                                                         \/ ~(i \in round_then_2.done_twice)})
                                                  ELSE round_then_2.held - 1
                                             ELSE round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                                          /\ o_2 >= round_then_2.first_op
                                                                                          /\ \A i \in 0..o_2 :
                                                                                                 /\ (/\ i \in round_then_2.done
                                                                                                     /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                          /\ op[i].undecodable
                                                                                                          /\ op[i].halves_before > round_then_2.cursor))
                                                                                                      = (i >= round_then_2.first_op)
                                                                                                 /\ \/ i = o_2
                                                                                                    \/ ~(i \in round_then_2.done_twice)}))
                                              # round_then_2.first_op
                                         \/ CROWDED = 1 /\ round_then_2.held # 0
                                      THEN IF CROWDED = 1 /\ round_then_2.held # 0
                                           THEN IF round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                                           /\ o_2 >= round_then_2.first_op
                                                                                           /\ \A i \in 0..o_2 :
                                                                                                  /\ (/\ i \in round_then_2.done
                                                                                                      /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                           /\ op[i].undecodable
                                                                                                           /\ op[i].halves_before > round_then_2.cursor))
                                                                                                       = (i >= round_then_2.first_op)
                                                                                                  /\ \/ i = o_2
                                                                                                     \/ ~(i \in round_then_2.done_twice)})
                                                     <= round_then_2.held - 1
                                                THEN round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                                             /\ o_2 >= round_then_2.first_op
                                                                                             /\ \A i \in 0..o_2 :
                                                                                                    /\ (/\ i \in round_then_2.done
                                                                                                        /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                             /\ op[i].undecodable
                                                                                                             /\ op[i].halves_before > round_then_2.cursor))
                                                                                                         = (i >= round_then_2.first_op)
                                                                                                    /\ \/ i = o_2
                                                                                                       \/ ~(i \in round_then_2.done_twice)})
                                                ELSE round_then_2.held - 1
                                           ELSE round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                                        /\ o_2 >= round_then_2.first_op
                                                                                        /\ \A i \in 0..o_2 :
                                                                                               /\ (/\ i \in round_then_2.done
                                                                                                   /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                        /\ op[i].undecodable
                                                                                                        /\ op[i].halves_before > round_then_2.cursor))
                                                                                                    = (i >= round_then_2.first_op)
                                                                                               /\ \/ i = o_2
                                                                                                  \/ ~(i \in round_then_2.done_twice)})
                                      ELSE @]
           /\ stuck' =
                  IF CanBeCopied(HalfRead)
                  THEN IF round.cursor = HalfOffset THEN "FAILED_PUT" ELSE "NO"
                  ELSE IF round.cursor = HalfOffset THEN "POISON" ELSE "NO"
           /\ stuck_rounds' =
                  IF CanBeCopied(HalfRead)
                  THEN IF round.cursor = HalfOffset
                       THEN IF "FAILED_PUT" = "NO"
                            THEN 0
                            ELSE IF stuck # "FAILED_PUT"
                                 THEN 1
                                 ELSE IF stuck_rounds < 2 THEN stuck_rounds + 1 ELSE stuck_rounds
                       ELSE IF "NO" = "NO"
                            THEN 0
                            ELSE IF stuck # "NO"
                                 THEN 1
                                 ELSE IF stuck_rounds < 2 THEN stuck_rounds + 1 ELSE stuck_rounds
                  ELSE IF round.cursor = HalfOffset
                       THEN IF "POISON" = "NO"
                            THEN 0
                            ELSE IF stuck # "POISON"
                                 THEN 1
                                 ELSE IF stuck_rounds < 2 THEN stuck_rounds + 1 ELSE stuck_rounds
                       ELSE IF "NO" = "NO"
                            THEN 0
                            ELSE IF stuck # "NO"
                                 THEN 1
                                 ELSE IF stuck_rounds < 2 THEN stuck_rounds + 1 ELSE stuck_rounds
           /\ op_left_behind' =
                  IF CanBeCopied(HalfRead)
                  THEN /\ has_met_all
                       /\ round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                /\ o_2 >= round_then.first_op
                                                                /\ \A i \in 0..o_2 :
                                                                       /\ (/\ i \in round_then.done
                                                                           /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                /\ op[i].undecodable
                                                                                /\ op[i].halves_before > round_then.cursor))
                                                                            = (i >= round_then.first_op)
                                                                       /\ \/ i = o_2
                                                                          \/ ~(i \in round_then.done_twice)})
                            < op_length
                  ELSE /\ has_met_all_2
                       /\ round_then_2.first_op + Cardinality({o_2 \in OpSlots :
                                                                  /\ o_2 >= round_then_2.first_op
                                                                  /\ \A i \in 0..o_2 :
                                                                         /\ (/\ i \in round_then_2.done
                                                                             /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                  /\ op[i].undecodable
                                                                                  /\ op[i].halves_before > round_then_2.cursor))
                                                                              = (i >= round_then_2.first_op)
                                                                         /\ \/ i = o_2
                                                                            \/ ~(i \in round_then_2.done_twice)})
                            < op_length

\* The copy of a half to be checked cannot be stored: the round tries it over and over until its time limit (B08).
\*
\* RocketMQ: TransactionalMessageServiceImpl#check, `continue` after putBackHalfMsgQueue. All rounds do so for a half
\* whose copy is too long (B07).
SpinAtFailedCheck ==
    /\ StandsOnAHalfToCheck
    \* environment: what is put back is stored
    /\ IsTrue(PUT_FAILURE \/ ~CanBeCopied(HalfRead))
    \* what cannot be copied is not put aside
    /\ IsTrue(~PARKS_POISON \/ CanBeCopied(HalfRead))
    /\ Spin
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half,
                   half_length, op, op_length, batch, saved, unsaved, flushed, gone, lower_end, had_halves,
                   had_ops>>

\* The copy of an immune half cannot be stored: the round reads op messages over and over until its time limit.
\*
\* RocketMQ: TransactionalMessageServiceImpl#checkPrepareQueueOffset returns false.
SpinAtFailedImmunity ==
    /\ StandsOnAnEarlierHalf
    \* its immunity is not over
    /\ IsTrue(IsImmune(HalfRead))
    \* environment: what is put back is stored
    /\ IsTrue(PUT_FAILURE \/ ~CanBeCopied(HalfRead))
    \* what cannot be copied is not put aside
    /\ IsTrue(~PARKS_POISON \/ CanBeCopied(HalfRead))
    /\ Spin
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half,
                   half_length, op, op_length, batch, saved, unsaved, flushed, gone, lower_end, had_halves,
                   had_ops>>

\* An op message can no longer be decoded (B17).
CorruptOp(o) ==
    \* the op message is stored
    /\ o < op_length
    \* it can be decoded
    /\ ~op[o].undecodable
    \* environment: what is stored can be decoded
    /\ UNDECODABLE_OP
    /\ RoomForAMishap
    /\ mishaps' = mishaps + 1
    /\ op' = [op EXCEPT ![o].undecodable = TRUE]
    /\ UNCHANGED <<clock_steps, stray_ends, crashes, role, producer, transaction, half, half_length,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

----------------------------------------------------------------------------------------------------
\* The broker's process and its disk: offsets go to their file now and then, processes die, power goes, operators act.
\*
\* A shutdown is in `shutdown`. RocketMQ: ConsumerOffsetManager, ConfigManager#persist, BrokerController#initialize.

\* An offset has moved since the file was written.
DiffersFromTheFile == saved.half # offsets.half \/ saved.op # offsets.op

\* The file has the offsets of this moment.
SaveOffsets ==
    /\ saved' = [saved EXCEPT !.half = offsets.half, !.op = offsets.op]
    /\ unsaved' = 0

\* config/consumerOffset.json is written.
\*
\* RocketMQ: ConfigManager#persist of the ConsumerOffsetManager, every flushConsumerOffsetInterval; any moment will do
\* here. Nothing ties it to the flush of the commit log (B13); a repaired broker flushes first.
PersistOffsets ==
    \* the broker is not dead
    /\ role # "ACTING_MASTER"
    \* an offset has moved since the file was written
    /\ IsTrue(DiffersFromTheFile)
    /\ LET matters == POWER_LOSS /\ mishaps < MISHAPS
       IN  /\ SaveOffsets
           /\ flushed' = [flushed EXCEPT
                             !.halves = IF FLUSHES_BEFORE_SAVING THEN IF matters THEN half_length ELSE 0 ELSE @,
                             !.ops = IF FLUSHES_BEFORE_SAVING THEN IF matters THEN op_length ELSE 0 ELSE @]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half,
                   half_length, op, op_length, batch, round, pulled_op, round_ended_at, offsets, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The commit log is flushed to disk.
\*
\* RocketMQ: CommitLog.FlushRealTimeService, every flushIntervalCommitLog; copies and op messages do not wait for it.
FlushLog ==
    \* something was written since
    /\ IsTrue(flushed.halves # half_length \/ flushed.ops # op_length)
    \* environment: nobody asks what is on the disk
    /\ POWER_LOSS
    /\ RoomForAMishap
    /\ Flush
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half,
                   half_length, op, op_length, batch, round, pulled_op, round_ended_at, offsets, saved,
                   unsaved, gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* Memory is lost; offsets are read from their file.
StartAgain ==
    /\ DropBatch
    /\ ForgetRound
    /\ FindLowerEnds
    /\ role' = "MASTER"
    /\ half' = [h \in HalfSlots |->
                   [half[h] EXCEPT
                       !.check_in_flight = FALSE,
                       !.end = "NONE",
                       !.other_end = "NONE",
                       !.claims_check = FALSE]]
    /\ round_ended_at' = Now
    /\ offsets' = [offsets EXCEPT !.half = saved.half, !.op = saved.op]
    /\ unsaved' = 0

\* The broker's process is killed and started again. What was written to the page cache stays; memory is lost.
\*
\* Requests under way die with their connections, and those that were being handled with their threads. The op batch
\* dies with its entries (B02).
Crash ==
    \* environment: the broker's process does not die
    /\ CRASH
    \* the broker is the master
    /\ IsTrue(IsMaster)
    /\ RoomForACrash
    /\ StartAgain
    /\ crashes' = IF CRASHES # NONE THEN crashes + 1 ELSE crashes
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, producer, transaction, half_length, op, op_length,
                   saved, flushed, gone, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The machine loses power and starts again: of all halves and op messages only the first `records` are left.
\*
\* RocketMQ: ConfigManager#persist, BrokerController#initialize, #shutdown, with flushDiskType=ASYNC_FLUSH.
\* What was flushed stays, and so does the file of offsets (B13, B14). Consumers have seen what was delivered. A slave
\* that takes over after asynchronous replication looks the same, as far as the master had flushed no more than the
\* slave has fetched.
LosePower(records) ==
    \* environment: the machine keeps its power
    /\ POWER_LOSS
    \* the broker is the master
    /\ IsTrue(IsMaster)
    \* something is lost
    /\ IsTrue(records < half_length + op_length \/ (CROWDED = 1 /\ records = half_length + op_length))
    \* what was flushed stays
    /\ records >= flushed.halves + flushed.ops
    /\ RoomForAMishap
    /\ LET ops == OpsAmong(records)
           halves == records - ops
           after_h[h \in -1..HALF_SLOTS - 1] ==
               IF h = -1
               THEN [transaction |-> transaction, half |-> half]
               ELSE LET before_h == after_h[h - 1]
                        t == before_h.half[h].transaction
                    IN  [transaction |-> [before_h.transaction EXCEPT
                                             ![t].cause =
                                                 IF h >= halves /\ h < half_length
                                                 THEN IF @ = "NONE"
                                                      THEN IF before_h.half[h].settled # "NO"
                                                           THEN "LOST_OP"
                                                           ELSE IF before_h.half[h].left = "ESCAPED"
                                                                THEN "ENDED_AFTER_ESCAPE"
                                                                ELSE @
                                                      ELSE @
                                                 ELSE @],
                         half |-> [before_h.half EXCEPT
                                      ![h].end =
                                          IF h >= halves /\ h < half_length THEN "NONE" ELSE @,
                                      ![h].other_end =
                                          IF h >= halves /\ h < half_length THEN "NONE" ELSE @,
                                      ![h].claims_check =
                                          IF h >= halves /\ h < half_length THEN FALSE ELSE @,
                                      ![h].transaction =
                                          IF h >= halves /\ h < half_length THEN 0 ELSE @,
                                      ![h].check_times =
                                          IF h >= halves /\ h < half_length THEN 0 ELSE @,
                                      ![h].original =
                                          IF h >= halves /\ h < half_length THEN NONE ELSE @,
                                      ![h].born_at =
                                          IF h >= halves /\ h < half_length
                                          THEN LongAgo(Floor(BIRTH_CUT, CLOCK_STEP))
                                          ELSE @,
                                      ![h].stored_at =
                                          IF h >= halves /\ h < half_length
                                          THEN LongAgo(Floor(STORED_CUT, CLOCK_STEP))
                                          ELSE @,
                                      ![h].check_in_flight =
                                          IF h >= halves /\ h < half_length THEN FALSE ELSE @,
                                      ![h].settled =
                                          IF h >= halves /\ h < half_length THEN "NO" ELSE @,
                                      ![h].acknowledged =
                                          IF h >= halves /\ h < half_length THEN FALSE ELSE @,
                                      ![h].op_write_failed =
                                          IF h >= halves /\ h < half_length THEN FALSE ELSE @,
                                      ![h].foreign =
                                          IF h >= halves /\ h < half_length THEN FALSE ELSE @,
                                      ![h].burnt =
                                          IF h >= halves /\ h < half_length THEN "NO" ELSE @,
                                      ![h].left =
                                          IF h >= halves /\ h < half_length THEN "NO" ELSE @,
                                      ![h].known_to =
                                          IF h >= halves /\ h < half_length
                                          THEN IF PROXIES > 0 THEN 0 ELSE @
                                          ELSE @]]
           matters == POWER_LOSS /\ mishaps + 1 < MISHAPS
       IN  /\ DropBatch
           /\ ForgetRound
           /\ mishaps' = mishaps + 1
           /\ role' = "MASTER"
           /\ transaction' = after_h[HALF_SLOTS - 1].transaction
           /\ half' = [h_2 \in HalfSlots |->
                          [[after_h[HALF_SLOTS - 1].half[h_2] EXCEPT
                               !.left =
                                   IF /\ @ = "FOR_CHECK" \/ @ = "FOR_IMMUNITY"
                                      /\ ~(\/ after_h[HALF_SLOTS - 1].half[h_2].copied_for_good
                                           \/ \E k \in HalfSlots :
                                                  /\ k > h_2
                                                  /\ k < halves
                                                  /\ after_h[HALF_SLOTS - 1].half[k].transaction
                                                       = after_h[HALF_SLOTS - 1].half[h_2].transaction)
                                   THEN "COPY_LOST"
                                   ELSE @] EXCEPT
                              !.check_in_flight = FALSE,
                              !.end = "NONE",
                              !.other_end = "NONE",
                              !.claims_check = FALSE]]
           /\ half_length' = halves
           /\ op' = [o \in OpSlots |->
                        [op[o] EXCEPT
                            !.names = IF o >= ops /\ o < op_length THEN {} ELSE @,
                            !.born_at =
                                IF o >= ops /\ o < op_length THEN LongAgo(Floor(OP_CUT, CLOCK_STEP)) ELSE @,
                            !.undecodable = IF o >= ops /\ o < op_length THEN FALSE ELSE @,
                            !.halves_before = IF o >= ops /\ o < op_length THEN 0 ELSE @]]
           /\ op_length' = ops
           /\ round_ended_at' = Now
           /\ offsets' = [offsets EXCEPT
                             !.half =
                                 IF CLAMPS_OFFSETS
                                 THEN IF saved.half <= halves THEN saved.half ELSE halves
                                 ELSE saved.half,
                             !.op =
                                 IF CLAMPS_OFFSETS THEN IF saved.op <= ops THEN saved.op ELSE ops ELSE saved.op]
           /\ saved' = [saved EXCEPT
                           !.half = IF CLAMPS_OFFSETS THEN IF @ <= halves THEN @ ELSE halves ELSE @,
                           !.op = IF CLAMPS_OFFSETS THEN IF @ <= ops THEN @ ELSE ops ELSE @]
           /\ unsaved' = 0
           /\ flushed' = [flushed EXCEPT
                             !.halves = IF matters THEN halves ELSE 0,
                             !.ops = IF matters THEN ops ELSE 0]
           /\ gone' = [gone EXCEPT
                          !.halves = IF @ <= halves THEN @ ELSE halves,
                          !.ops = IF @ <= ops THEN @ ELSE ops]
           /\ lower_end' = [lower_end EXCEPT
                               !.halves =
                                   IF \/ (IF gone.halves <= halves THEN gone.halves ELSE halves) < halves
                                      \/ LOWER_END_PASSES_ALL
                                   THEN IF gone.halves <= halves THEN gone.halves ELSE halves
                                   ELSE 0,
                               !.ops =
                                   IF (IF gone.ops <= ops THEN gone.ops ELSE ops) < ops \/ LOWER_END_PASSES_ALL
                                   THEN IF gone.ops <= ops THEN gone.ops ELSE ops
                                   ELSE 0]
    /\ UNCHANGED <<clock_steps, stray_ends, crashes, producer, stuck, stuck_rounds, op_left_behind,
                   had_halves, had_ops>>

\* The half offset goes back: a slave took over with an older one, or an older file was put in place (B16).
\*
\* RocketMQ: SlaveSynchronize copies the offsets every 10 s (4.x), or a minute after the last full copy (5.x).
SetHalfOffsetBack(h) ==
    \* no round runs
    /\ ~round.running
    \* it was there before
    /\ h < offsets.half
    \* environment: offsets do not go back
    /\ OFFSET_REGRESSION
    /\ WithinReach(h, offsets.half)
    /\ RoomForAMishap
    /\ mishaps' = mishaps + 1
    /\ offsets' = [offsets EXCEPT !.half = h]
    /\ UNCHANGED <<clock_steps, stray_ends, crashes, role, producer, transaction, half, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The op offset goes back.
SetOpOffsetBack(o) ==
    \* no round runs
    /\ ~round.running
    \* it was there before
    /\ o < offsets.op
    \* environment: offsets do not go back
    /\ OFFSET_REGRESSION
    /\ WithinReach(o, offsets.op)
    /\ RoomForAMishap
    /\ mishaps' = mishaps + 1
    /\ offsets' = [offsets EXCEPT !.op = o]
    /\ UNCHANGED <<clock_steps, stray_ends, crashes, role, producer, transaction, half, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* A discarded half goes back to the half queue with no check counted; its record in the discard topic stays (B30).
\*
\* RocketMQ: AdminBrokerProcessor#resumeCheckHalfMessage (from 4.5.2 on).
ResumeDiscarded(h) ==
    \* the half lies in the discard topic
    /\ IsTrue(half[h].left = "KEPT_ASIDE" \/ half[h].left = "SETTLED_ASIDE" \/ half[h].left = "RESUMED")
    \* the broker is the master
    /\ role = "MASTER"
    \* environment: nobody resumes a discarded half
    /\ RESUME_DISCARDED
    /\ WithinReach(h, offsets.half)
    /\ RoomForAHalf
    /\ transaction' = [transaction EXCEPT
                          ![half[h].transaction].cause =
                              IF half[h].left = "RESUMED" /\ @ = "NONE" THEN "RESUMED_HALF" ELSE @]
    /\ half' = [half EXCEPT
                   ![h].left = "RESUMED",
                   ![half_length].original = half[h].original,
                   ![half_length].transaction = half[h].transaction,
                   ![half_length].born_at = half[h].born_at,
                   ![half_length].stored_at = Now]
    /\ half_length' = half_length + 1
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, op, op_length, batch, round,
                   pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone, lower_end, stuck,
                   stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The transaction's half is as old as a half may be before its first check.
MustHearFromItsProducer(t) ==
    /\ transaction[t].first_half # NONE
    /\ Age(transaction[t].first_half) >= TIMEOUT
    /\ Age(transaction[t].first_half) >= Immunity(transaction[t].first_half)

\* The clock goes on. Without faults, nothing that is due is overdue.
\*
\* RocketMQ: TransactionDataManager#cleanExpireTransactionData, for a proxy forgets where a half lies.
Tick ==
    \* environment: a local transaction is over before its first check
    /\ IsTrue(\/ SLOW_LOCAL
              \/ \A t \in Transactions : transaction[t].local # "EXECUTING" \/ ~MustHearFromItsProducer(t))
    \* environment: each END_TRANSACTION arrives before the first check of its transaction is due
    /\ IsTrue(LATE_END \/ (\A t \in Transactions : ~AwaitsItsProducer(t) \/ ~MustHearFromItsProducer(t)))
    \* environment: an END_TRANSACTION is handled without a pause
    /\ IsTrue(LATE_END \/ (\A h \in HalfSlots : half[h].end # "COMMIT_STORED"))
    \* environment: a round takes no time
    /\ IsTrue(SLOW_ROUND \/ ~round.running \/ (ENDLESS = 1 /\ round.pulls_nothing))
    \* environment: the op batch thread wakes up once an interval
    /\ IsTrue(~BatchIsOverdue \/ role = "STOPPING")
    \* environment: a shutdown waits for nothing but its last round
    /\ IsTrue(role # "STOPPING" \/ round.running)
    \* environment: offsets are saved once an interval
    /\ IsTrue(\/ LATE_PERSIST
              \/ PERSIST_INTERVAL = NONE
              \/ unsaved < PERSIST_INTERVAL
              \/ ~DiffersFromTheFile
              \/ role = "ACTING_MASTER")
    /\ half' = [h \in HalfSlots |->
                   [[k \in HalfSlots |-> [half[k] EXCEPT !.known_to = IF PROXIES > 0 /\ @ > 0 /\ Now - half[k].stored_at >= DATA_LIFE THEN 0 ELSE @]][h] EXCEPT
                       !.born_at = Older(@, Floor(BIRTH_CUT, CLOCK_STEP)),
                       !.stored_at = Older(@, Floor(STORED_CUT, CLOCK_STEP))]]
    /\ op' = [o \in OpSlots |-> [op[o] EXCEPT !.born_at = Older(@, Floor(OP_CUT, CLOCK_STEP))]]
    /\ batch' = [batch EXCEPT
                    !.waiting_since = Older(@, Floor(WAITING_CUT, CLOCK_STEP)),
                    !.written_at = Older(@, Floor(BATCH_CUT, CLOCK_STEP))]
    /\ round' = [round EXCEPT !.started_at = Older(@, Floor(ROUND_CUT, CLOCK_STEP))]
    /\ round_ended_at' = Older(round_ended_at, Floor(CHECK_INTERVAL, CLOCK_STEP))
    /\ unsaved' =
           IF PERSIST_INTERVAL # NONE
           THEN IF DiffersFromTheFile
                THEN IF unsaved + 1 <= PERSIST_INTERVAL THEN unsaved + 1 ELSE PERSIST_INTERVAL
                ELSE 0
           ELSE unsaved
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length,
                   op_length, pulled_op, offsets, saved, flushed, gone, lower_end, stuck, stuck_rounds,
                   op_left_behind, had_halves, had_ops>>

\* The broker's clock goes back by a tick (B28).
StepClockBack ==
    \* environment: the clock only goes on
    /\ CLOCK_STEP
    \* instance: the instance has steps of the clock left
    /\ clock_steps < CLOCK_STEPS
    /\ clock_steps' = clock_steps + 1
    /\ half' = [h \in HalfSlots |-> [half[h] EXCEPT !.born_at = @ + 1, !.stored_at = @ + 1]]
    /\ op' = [o \in OpSlots |-> [op[o] EXCEPT !.born_at = @ + 1]]
    /\ batch' = [batch EXCEPT !.waiting_since = @ + 1, !.written_at = @ + 1]
    /\ round' = [round EXCEPT !.started_at = @ + 1]
    /\ round_ended_at' = round_ended_at + 1
    /\ UNCHANGED <<mishaps, stray_ends, crashes, role, producer, transaction, half_length, op_length,
                   pulled_op, offsets, saved, unsaved, flushed, gone, lower_end, stuck, stuck_rounds,
                   op_left_behind, had_halves, had_ops>>

----------------------------------------------------------------------------------------------------
\* The network between producer and broker: what may happen to an END_TRANSACTION or a check request under way.
\*
\* Both are one-way requests: nobody learns of a loss, and nobody compares an END_TRANSACTION with an earlier one.

\* An END_TRANSACTION never arrives.
LoseEnd(h) ==
    \* an END_TRANSACTION for this half is under way
    /\ IsTrue(half[h].end = "COMMIT" \/ half[h].end = "ROLLBACK")
    \* environment: each END_TRANSACTION arrives
    /\ LOSE_END
    /\ RememberRefusal(h, "LOST")
    /\ ForgetEnd(h)
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* A check request never arrives, or no producer of the group answers it.
LoseCheck(h) ==
    \* a check request for this copy is under way
    /\ half[h].check_in_flight
    \* environment: each check request arrives
    /\ LOSE_CHECK
    /\ half' = [half EXCEPT ![h].check_in_flight = FALSE]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* An END_TRANSACTION that was handled arrives a second time (A13).
DuplicateEnd(h) ==
    \* an END_TRANSACTION for this half was handled
    /\ half[h].settled # "NO"
    \* none is under way
    /\ half[h].end = "NONE"
    \* environment: each END_TRANSACTION arrives once
    /\ DUPLICATE_END
    /\ WithinReach(h, offsets.half)
    /\ RoomForAStrayEnd
    /\ stray_ends' = stray_ends + 1
    /\ half' = [half EXCEPT ![h].end = IF half[h].settled = "COMMITTED" THEN "COMMIT" ELSE "ROLLBACK"]
    /\ UNCHANGED <<clock_steps, mishaps, crashes, role, producer, transaction, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* An END_TRANSACTION is sent again before the first is handled, or while a thread handles it.
DoubleEnd(h) ==
    \* an END_TRANSACTION for this half is under way or being handled
    /\ half[h].end # "NONE"
    \* no other one is
    /\ half[h].other_end = "NONE"
    \* environment: END_TRANSACTIONs for one half come one after the other
    /\ REORDER
    /\ RoomForAStrayEnd
    /\ stray_ends' = stray_ends + 1
    /\ half' = [half EXCEPT ![h].other_end = IF half[h].end = "ROLLBACK" THEN "ROLLBACK" ELSE "COMMIT"]
    /\ UNCHANGED <<clock_steps, mishaps, crashes, role, producer, transaction, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* Of two END_TRANSACTIONs for one half the other one goes on first: threads, or the network, swap them.
\*
\* RocketMQ: BrokerController's endTransactionExecutor has at least eight threads.
Overtake(h) ==
    \* two END_TRANSACTIONs name this half
    /\ half[h].other_end # "NONE"
    \* they are not at the same
    /\ half[h].other_end # half[h].end
    \* environment: END_TRANSACTIONs for one half come one after the other
    /\ REORDER
    /\ LET first == half[h].end
       IN  /\ half' = [half EXCEPT ![h].end = half[h].other_end, ![h].other_end = first]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* What a wrong END_TRANSACTION needs: a half to name.
MayBeEndedByMistake(h) ==
    \* the half is stored
    /\ h < half_length
    \* none is under way
    /\ half[h].end = "NONE"
    \* environment: each END_TRANSACTION says what its producer decided
    /\ WRONG_END
    /\ WithinReach(h, offsets.half)
    /\ RoomForAStrayEnd

\* A commit arrives for a half, whatever its producer decided and whether or not it was asked (A12, A36).
\*
\* RocketMQ: EndTransactionProcessor#processRequest compares group and offsets only.
SendWrongCommit(h) ==
    /\ MayBeEndedByMistake(h)
    /\ stray_ends' = stray_ends + 1
    /\ half' = [half EXCEPT ![h].end = "COMMIT"]
    /\ UNCHANGED <<clock_steps, mishaps, crashes, role, producer, transaction, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* A rollback arrives for a half, whatever its producer decided and whether or not it was asked (A12, A36).
\*
\* RocketMQ: EndTransactionProcessor#processRequest compares group and offsets only.
SendWrongRollback(h) ==
    /\ MayBeEndedByMistake(h)
    /\ stray_ends' = stray_ends + 1
    /\ half' = [half EXCEPT ![h].end = "ROLLBACK"]
    /\ UNCHANGED <<clock_steps, mishaps, crashes, role, producer, transaction, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The same, and the commit says that it answers a check: it is never late.
\*
\* RocketMQ: EndTransactionRequestHeader.fromTransactionCheck.
AnswerWithWrongCommit(h) ==
    /\ MayBeEndedByMistake(h)
    \* the broker would look at its age otherwise
    /\ IsTrue(MayBeLate(h))
    /\ stray_ends' = stray_ends + 1
    /\ half' = [half EXCEPT ![h].end = "COMMIT", ![h].claims_check = TRUE]
    /\ UNCHANGED <<clock_steps, mishaps, crashes, role, producer, transaction, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The same, and the rollback says that it answers a check: it is never late.
\*
\* RocketMQ: EndTransactionRequestHeader.fromTransactionCheck.
AnswerWithWrongRollback(h) ==
    /\ MayBeEndedByMistake(h)
    \* the broker would look at its age otherwise
    /\ IsTrue(MayBeLate(h))
    /\ stray_ends' = stray_ends + 1
    /\ half' = [half EXCEPT ![h].end = "ROLLBACK", ![h].claims_check = TRUE]
    /\ UNCHANGED <<clock_steps, mishaps, crashes, role, producer, transaction, half_length, op, op_length,
                   batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

----------------------------------------------------------------------------------------------------
\* A slave that acts for a dead master, and lets unresolved halves escape to another master (5.1.0 and later).
\*
\* The other broker is modelled by what becomes of the halves that it gets: each is checked there and settled for itself:
\* nothing ties it to the half that the producer knows. RocketMQ: TransactionalMessageServiceImpl#check and
\* TransactionalMessageBridge#escapeMessage.

\* Another broker of the group becomes the master: no round begins, END_TRANSACTION is refused, no write succeeds.
\*
\* RocketMQ: BrokerController#changeToSlave. What waits in the op batch will not be stored (B04).
BecomeSlave ==
    \* the broker is the master
    /\ role = "MASTER"
    \* the check service has come to its end
    /\ ~round.running
    \* environment: roles do not change
    /\ ROLE_CHANGE
    /\ RoomForAMishap
    /\ mishaps' = mishaps + 1
    /\ role' = "SLAVE"
    /\ UNCHANGED <<clock_steps, stray_ends, crashes, producer, transaction, half, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The slave becomes the master again.
\*
\* RocketMQ: BrokerController#changeToMaster, ReplicasManager.
BecomeMaster ==
    \* the broker is a slave
    /\ role = "SLAVE"
    /\ role' = "MASTER"
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, producer, transaction, half, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The master dies, and a slave with the same messages and the offsets that were saved acts for it.
\*
\* RocketMQ: BrokerController#changeSpecialServiceStatus, TransactionalMessageBridge#escapeMessage (RIP-32).
ActForDeadMaster ==
    \* this version lets a slave act for the master
    /\ ESCAPES
    \* the broker is the master
    /\ role = "MASTER"
    \* environment: the master lives
    /\ ACTING_SLAVE
    /\ RoomForAMishap
    /\ DropBatch
    /\ ForgetRound
    /\ FindLowerEnds
    /\ mishaps' = mishaps + 1
    /\ role' = "ACTING_MASTER"
    /\ half' = [h \in HalfSlots |->
                   [half[h] EXCEPT
                       !.check_in_flight = FALSE,
                       !.end = "NONE",
                       !.other_end = "NONE",
                       !.claims_check = FALSE]]
    /\ round_ended_at' = Now
    /\ offsets' = [offsets EXCEPT !.half = saved.half, !.op = saved.op]
    /\ UNCHANGED <<clock_steps, stray_ends, crashes, producer, transaction, half_length, op, op_length,
                   saved, unsaved, flushed, gone, stuck, stuck_rounds, op_left_behind, had_halves,
                   had_ops>>

\* The master takes the offsets of the slave that acted for it, and finds its own lower ends as it starts.
\*
\* RocketMQ: SlaveSynchronize, BrokerController#handleSlaveSynchronize.
HandOver ==
    /\ FindLowerEnds
    /\ role' = "MASTER"
    /\ saved' = [saved EXCEPT !.half = offsets.half, !.op = offsets.op]

\* The master is back when no round of the slave that acted for it runs.
BringMasterBack ==
    \* a slave acts for the master
    /\ role = "ACTING_MASTER"
    \* no round runs
    /\ ~round.running
    /\ HandOver
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, producer, transaction, half, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, unsaved, flushed, gone,
                   stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The master is back, thinks its own offsets newer than the slave's, and keeps them (B23).
\*
\* RocketMQ: DataVersion of the offset table moves once in 500 commits.
BringMasterBackWithItsOwnOffsets ==
    \* a slave acts for the master
    /\ role = "ACTING_MASTER"
    \* no round runs
    /\ ~round.running
    \* the master may keep its own offsets
    /\ ~ADOPTS_SLAVE_OFFSETS
    \* the offsets differ
    /\ IsTrue(saved.half # offsets.half \/ saved.op # offsets.op)
    /\ FindLowerEnds
    /\ role' = "MASTER"
    /\ offsets' = [offsets EXCEPT !.half = saved.half, !.op = saved.op]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, producer, transaction, half, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, saved, unsaved, flushed, gone,
                   stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* What the escape needs: an acting slave, and a half that nothing read so far settles (B20).
StandsOnAHalfToEscape ==
    /\ StandsOnAReadableHalf
    \* the broker acts for the master
    /\ role = "ACTING_MASTER"
    \* all op messages were read, or nobody minds
    /\ IsTrue(~READS_OPS_BEFORE_ESCAPE \/ round.next_op >= op_length)

\* The master is back while the slave waits to send a half again: its round ends, and commits nothing (B54).
\*
\* RocketMQ: BrokerController#changeSpecialServiceStatus interrupts the check thread, whose sleep after a try that
\* failed is in the loop of TransactionalMessageServiceImpl#check: what has escaped in the round is not passed.
BringMasterBackAmidEscape ==
    /\ StandsOnAHalfToEscape
    \* an escape that was begun is broken off
    /\ ~INSISTS_ON_ESCAPE
    /\ LET half_then ==
               IF COMMITS_AFTER_EXCEPTION
               THEN [h \in HalfSlots |->
                        [half[h] EXCEPT
                            !.left =
                                IF h >= offsets.half /\ h < round.cursor /\ @ = "PASSED_OVER"
                                THEN "SKIPPED_BY_EXCEPTION"
                                ELSE @]]
               ELSE half
           begin == IF round.next_op >= gone.ops THEN round.next_op ELSE gone.ops
           after_o[o \in -1..OP_SLOTS - 1] ==
               IF o = -1
               THEN [round |-> round, pulled_op |-> pulled_op]
               ELSE LET before_o == after_o[o - 1]
                        unresolved_then ==
                            before_o.pulled_op[o].unresolved
                              \cup {h \in HalfSlots :
                                       /\ h \in op[o].names
                                       /\ \/ /\ h >= HalfOffset
                                             /\ ~SETTLES_ONCE \/ h >= before_o.round.cursor
                                          \/ /\ HEEDS_SETTLED_ORIGINALS
                                             /\ \E k \in HalfSlots :
                                                    /\ k >= HalfOffset
                                                    /\ ~SETTLES_ONCE \/ k >= before_o.round.cursor
                                                    /\ k < half_length
                                                    /\ half_then[k].original = h}
                        when == begin <= o /\ o < begin + OP_SLOTS /\ o < op_length
                    IN  [round |-> [before_o.round EXCEPT
                                       !.removed_by =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN [h \in HalfSlots |->
                                                         IF /\ h \in op[o].names
                                                            /\ \/ /\ h >= HalfOffset
                                                                  /\ \/ ~SETTLES_ONCE
                                                                     \/ h >= before_o.round.cursor
                                                               \/ /\ HEEDS_SETTLED_ORIGINALS
                                                                  /\ \E k \in HalfSlots :
                                                                         /\ k >= HalfOffset
                                                                         /\ \/ ~SETTLES_ONCE
                                                                            \/ k >= before_o.round.cursor
                                                                         /\ k < half_length
                                                                         /\ half_then[k].original = h
                                                         THEN o
                                                         ELSE @[h]]
                                                ELSE @
                                           ELSE @,
                                       !.done_twice =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o \in before_o.round.done
                                                          THEN @ \cup {o}
                                                          ELSE @
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o \in before_o.round.done
                                                          THEN @ \cup {o}
                                                          ELSE @
                                                     ELSE @
                                           ELSE @,
                                       !.done =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                     ELSE @
                                           ELSE @,
                                       !.next_op = IF when THEN o + 1 ELSE @],
                         pulled_op |-> [before_o.pulled_op EXCEPT
                                           ![o].unresolved =
                                               IF when
                                               THEN IF ~op[o].undecodable
                                                    THEN unresolved_then
                                                    ELSE @
                                               ELSE @]]
           round_then == IF SETTLES_ONCE THEN after_o[OP_SLOTS - 1].round ELSE round
           has_met_all == round_then.cursor = half_length /\ round_then.next_op = op_length
       IN  /\ FindLowerEnds
           /\ role' = "MASTER"
           /\ half' =
                  IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                  THEN half_then
                  ELSE half
           /\ round' =
                  IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                  THEN [round_then EXCEPT
                           !.running = FALSE,
                           !.started_at = LongAgo(Floor(ROUND_CUT, CLOCK_STEP)),
                           !.cursor = 0,
                           !.null_met = FALSE,
                           !.met = 0,
                           !.first_op = 0,
                           !.next_op = 0,
                           !.last_pull = "FOUND",
                           !.pulls_nothing = FALSE,
                           !.done = {},
                           !.done_twice = {},
                           !.held = 0,
                           !.removed_by = [h \in HalfSlots |-> NONE]]
                  ELSE [round EXCEPT
                           !.running = FALSE,
                           !.started_at = LongAgo(Floor(ROUND_CUT, CLOCK_STEP)),
                           !.cursor = 0,
                           !.null_met = FALSE,
                           !.met = 0,
                           !.first_op = 0,
                           !.next_op = 0,
                           !.last_pull = "FOUND",
                           !.pulls_nothing = FALSE,
                           !.done = {},
                           !.done_twice = {},
                           !.held = 0,
                           !.removed_by = [h \in HalfSlots |-> NONE]]
           /\ pulled_op' =
                  IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                  THEN [o_2 \in OpSlots |->
                           [(IF SETTLES_ONCE THEN after_o[OP_SLOTS - 1].pulled_op ELSE pulled_op)[o_2] EXCEPT
                               !.unresolved = {}]]
                  ELSE [o_2 \in OpSlots |-> [pulled_op[o_2] EXCEPT !.unresolved = {}]]
           /\ round_ended_at' = Now
           /\ offsets' = [offsets EXCEPT
                             !.half =
                                 IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                                 THEN IF round_then.cursor # HalfOffset THEN round_then.cursor ELSE @
                                 ELSE @,
                             !.op =
                                 IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                                 THEN IF \/ (IF CROWDED = 1 /\ round_then.held # 0
                                             THEN IF round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                           /\ o_2 >= round_then.first_op
                                                                                           /\ \A i \in 0..o_2 :
                                                                                                  /\ (/\ i \in round_then.done
                                                                                                      /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                           /\ op[i].undecodable
                                                                                                           /\ op[i].halves_before > round_then.cursor))
                                                                                                       = (i >= round_then.first_op)
                                                                                                  /\ \/ i = o_2
                                                                                                     \/ ~(i \in round_then.done_twice)})
                                                       <= round_then.held - 1
                                                  THEN round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                             /\ o_2 >= round_then.first_op
                                                                                             /\ \A i \in 0..o_2 :
                                                                                                    /\ (/\ i \in round_then.done
                                                                                                        /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                             /\ op[i].undecodable
                                                                                                             /\ op[i].halves_before > round_then.cursor))
                                                                                                         = (i >= round_then.first_op)
                                                                                                    /\ \/ i = o_2
                                                                                                       \/ ~(i \in round_then.done_twice)})
                                                  ELSE round_then.held - 1
                                             ELSE round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                        /\ o_2 >= round_then.first_op
                                                                                        /\ \A i \in 0..o_2 :
                                                                                               /\ (/\ i \in round_then.done
                                                                                                   /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                        /\ op[i].undecodable
                                                                                                        /\ op[i].halves_before > round_then.cursor))
                                                                                                    = (i >= round_then.first_op)
                                                                                               /\ \/ i = o_2
                                                                                                  \/ ~(i \in round_then.done_twice)}))
                                              # round_then.first_op
                                         \/ CROWDED = 1 /\ round_then.held # 0
                                      THEN IF CROWDED = 1 /\ round_then.held # 0
                                           THEN IF round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                         /\ o_2 >= round_then.first_op
                                                                                         /\ \A i \in 0..o_2 :
                                                                                                /\ (/\ i \in round_then.done
                                                                                                    /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                         /\ op[i].undecodable
                                                                                                         /\ op[i].halves_before > round_then.cursor))
                                                                                                     = (i >= round_then.first_op)
                                                                                                /\ \/ i = o_2
                                                                                                   \/ ~(i \in round_then.done_twice)})
                                                     <= round_then.held - 1
                                                THEN round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                           /\ o_2 >= round_then.first_op
                                                                                           /\ \A i \in 0..o_2 :
                                                                                                  /\ (/\ i \in round_then.done
                                                                                                      /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                           /\ op[i].undecodable
                                                                                                           /\ op[i].halves_before > round_then.cursor))
                                                                                                       = (i >= round_then.first_op)
                                                                                                  /\ \/ i = o_2
                                                                                                     \/ ~(i \in round_then.done_twice)})
                                                ELSE round_then.held - 1
                                           ELSE round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                      /\ o_2 >= round_then.first_op
                                                                                      /\ \A i \in 0..o_2 :
                                                                                             /\ (/\ i \in round_then.done
                                                                                                 /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                      /\ op[i].undecodable
                                                                                                      /\ op[i].halves_before > round_then.cursor))
                                                                                                  = (i >= round_then.first_op)
                                                                                             /\ \/ i = o_2
                                                                                                \/ ~(i \in round_then.done_twice)})
                                      ELSE @
                                 ELSE @]
           /\ saved' = [saved EXCEPT
                           !.half =
                               IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                               THEN IF round_then.cursor # HalfOffset THEN round_then.cursor ELSE offsets.half
                               ELSE offsets.half,
                           !.op =
                               IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                               THEN IF \/ (IF CROWDED = 1 /\ round_then.held # 0
                                           THEN IF round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                         /\ o_2 >= round_then.first_op
                                                                                         /\ \A i \in 0..o_2 :
                                                                                                /\ (/\ i \in round_then.done
                                                                                                    /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                         /\ op[i].undecodable
                                                                                                         /\ op[i].halves_before > round_then.cursor))
                                                                                                     = (i >= round_then.first_op)
                                                                                                /\ \/ i = o_2
                                                                                                   \/ ~(i \in round_then.done_twice)})
                                                     <= round_then.held - 1
                                                THEN round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                           /\ o_2 >= round_then.first_op
                                                                                           /\ \A i \in 0..o_2 :
                                                                                                  /\ (/\ i \in round_then.done
                                                                                                      /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                           /\ op[i].undecodable
                                                                                                           /\ op[i].halves_before > round_then.cursor))
                                                                                                       = (i >= round_then.first_op)
                                                                                                  /\ \/ i = o_2
                                                                                                     \/ ~(i \in round_then.done_twice)})
                                                ELSE round_then.held - 1
                                           ELSE round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                      /\ o_2 >= round_then.first_op
                                                                                      /\ \A i \in 0..o_2 :
                                                                                             /\ (/\ i \in round_then.done
                                                                                                 /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                      /\ op[i].undecodable
                                                                                                      /\ op[i].halves_before > round_then.cursor))
                                                                                                  = (i >= round_then.first_op)
                                                                                             /\ \/ i = o_2
                                                                                                \/ ~(i \in round_then.done_twice)}))
                                            # round_then.first_op
                                       \/ CROWDED = 1 /\ round_then.held # 0
                                    THEN IF CROWDED = 1 /\ round_then.held # 0
                                         THEN IF round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                       /\ o_2 >= round_then.first_op
                                                                                       /\ \A i \in 0..o_2 :
                                                                                              /\ (/\ i \in round_then.done
                                                                                                  /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                       /\ op[i].undecodable
                                                                                                       /\ op[i].halves_before > round_then.cursor))
                                                                                                   = (i >= round_then.first_op)
                                                                                              /\ \/ i = o_2
                                                                                                 \/ ~(i \in round_then.done_twice)})
                                                   <= round_then.held - 1
                                              THEN round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                         /\ o_2 >= round_then.first_op
                                                                                         /\ \A i \in 0..o_2 :
                                                                                                /\ (/\ i \in round_then.done
                                                                                                    /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                         /\ op[i].undecodable
                                                                                                         /\ op[i].halves_before > round_then.cursor))
                                                                                                     = (i >= round_then.first_op)
                                                                                                /\ \/ i = o_2
                                                                                                   \/ ~(i \in round_then.done_twice)})
                                              ELSE round_then.held - 1
                                         ELSE round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                    /\ o_2 >= round_then.first_op
                                                                                    /\ \A i \in 0..o_2 :
                                                                                           /\ (/\ i \in round_then.done
                                                                                               /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                    /\ op[i].undecodable
                                                                                                    /\ op[i].halves_before > round_then.cursor))
                                                                                                = (i >= round_then.first_op)
                                                                                           /\ \/ i = o_2
                                                                                              \/ ~(i \in round_then.done_twice)})
                                    ELSE offsets.op
                               ELSE offsets.op]
           /\ stuck' = "NO"
           /\ stuck_rounds' =
                  IF "NO" = "NO"
                  THEN 0
                  ELSE IF stuck # "NO"
                       THEN 1
                       ELSE IF stuck_rounds < 2 THEN stuck_rounds + 1 ELSE stuck_rounds
           /\ op_left_behind' =
                  IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                  THEN /\ has_met_all
                       /\ round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                /\ o_2 >= round_then.first_op
                                                                /\ \A i \in 0..o_2 :
                                                                       /\ (/\ i \in round_then.done
                                                                           /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                /\ op[i].undecodable
                                                                                /\ op[i].halves_before > round_then.cursor))
                                                                            = (i >= round_then.first_op)
                                                                       /\ \/ i = o_2
                                                                          \/ ~(i \in round_then.done_twice)})
                            < op_length
                  ELSE op_left_behind
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, producer, transaction, half_length, op,
                   op_length, batch, unsaved, flushed, gone, had_halves, had_ops>>

\* One more half of the transaction waits elsewhere; ghost: what may make it one too many.
RememberEscape(h) ==
    /\ LET t == half[h].transaction
           is_known_there == ESCAPES_ONCE /\ half[h].left = "ESCAPED"
           is_beside == IsSettledByAnOp(h) \/ half[h].left = "ESCAPED" \/ HasAnotherCopy(h)
           is_unread == NamesItFrom(h, round.next_op)
       IN  /\ transaction' = [transaction EXCEPT
                                 ![t].escaped = IF ~is_known_there THEN @ + 1 ELSE @,
                                 ![t].cause =
                                     IF @ = "NONE" /\ ~is_known_there
                                     THEN IF IsReadForAnother(h) /\ is_beside
                                          THEN "READ_FOR_ANOTHER"
                                          ELSE IF half[h].settled # "NO"
                                               THEN IF is_unread THEN "ESCAPED_SETTLED" ELSE WhyItsOpWasNotSeen(h)
                                               ELSE IF half[h].left = "ESCAPED"
                                                    THEN "ESCAPED_TWICE"
                                                    ELSE IF HasAnotherCopy(h)
                                                         THEN "FORKED_COPY"
                                                         ELSE IF WasResumed(t) THEN "RESUMED_HALF" ELSE @
                                     ELSE @]
           /\ half' = [half EXCEPT ![h].left = "ESCAPED"]

\* The half is sent to another master as a new half, and passed.
\*
\* RocketMQ: TransactionalMessageBridge#escapeMessage, SEND_OK.
LetHalfEscape ==
    /\ StandsOnAHalfToEscape
    \* instance: at most two halves of it have escaped
    /\ transaction[half[HalfRead].transaction].escaped < 2
    /\ RememberEscape(HalfRead)
    /\ round' = [round EXCEPT !.cursor = @ + 1]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone, lower_end,
                   stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The other master stores the half, and the answer is lost or not SEND_OK: the half is sent once more (B22).
\*
\* RocketMQ: TransactionalMessageBridge#escapeMessage, FLUSH_SLAVE_TIMEOUT and time-outs.
LetHalfEscapeUnclearly ==
    /\ StandsOnAHalfToEscape
    \* instance: at most two halves of it have escaped
    /\ transaction[half[HalfRead].transaction].escaped < 2
    /\ RememberEscape(HalfRead)
    /\ round' = [round EXCEPT !.met = IF CROWDED = 1 THEN round.cursor + 1 ELSE @]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half_length, op, op_length,
                   batch, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone, lower_end,
                   stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The half could not be sent for ten times, and is passed (B21).
\*
\* RocketMQ: TransactionalMessageServiceImpl#check, MAX_RETRY_TIMES_FOR_ESCAPE; its back-off `2 ^ n` is an XOR.
GiveHalfUp ==
    /\ StandsOnAHalfToEscape
    \* a half is given up at last
    /\ ~INSISTS_ON_ESCAPE
    /\ half' = [half EXCEPT ![HalfRead].left = IF @ = "NO" THEN "GIVEN_UP" ELSE @]
    /\ round' = [round EXCEPT !.cursor = @ + 1]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half_length, op,
                   op_length, batch, pulled_op, round_ended_at, offsets, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* An acting slave reads on before it lets a half escape. A repair (B20).
PullMoreOpsBeforeEscape ==
    /\ StandsOnAReadableHalf
    \* the broker acts for the master
    /\ role = "ACTING_MASTER"
    \* op messages are unread
    /\ READS_OPS_BEFORE_ESCAPE /\ round.next_op < op_length
    /\ PullOpMessages
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, transaction, half,
                   half_length, op, op_length, batch, round_ended_at, saved, unsaved, flushed, gone,
                   lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The other broker checks a half that escaped, its producer answers commit, and the message is delivered there.
DeliverEscaped(t) ==
    \* a half of the transaction waits on another broker
    /\ transaction[t].escaped > 0
    \* its producer has committed it
    /\ transaction[t].local = "COMMIT"
    /\ transaction' = [transaction EXCEPT ![t].escaped = @ - 1, ![t].deliveries = IF @ < 2 THEN @ + 1 ELSE @]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

\* The other broker checks a half that escaped, and its producer answers rollback.
RollBackEscaped(t) ==
    \* a half of the transaction waits on another broker
    /\ transaction[t].escaped > 0
    \* its producer has rolled it back
    /\ IsTrue(transaction[t].local = "ROLLBACK" \/ transaction[t].local = "NEVER_RUN")
    /\ transaction' = [transaction EXCEPT
                          ![t].escaped = @ - 1,
                          ![t].rolled_back =
                              IF @ = "NO"
                              THEN IF transaction[t].deliveries = 0 THEN "UNDELIVERED" ELSE "DELIVERED"
                              ELSE @]
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, role, producer, half, half_length, op,
                   op_length, batch, round, pulled_op, round_ended_at, offsets, saved, unsaved, flushed,
                   gone, lower_end, stuck, stuck_rounds, op_left_behind, had_halves, had_ops>>

----------------------------------------------------------------------------------------------------
\* A shutdown: a sequence, which requests that have arrived and a round that runs come between.
\*
\* | up to 5.3.3 | from 5.4.0 on |
\* |---|---|
\* | the remoting servers close: no connection is left, what has arrived waits in its pool | the same |
\* | `TransactionalMessageServiceImpl#close`: the op batch thread writes what is due, and ends (from 5.1.4 on) | the same |
\* | the store closes: it gives and takes nothing any more, and flushes its log | the pool for checks is closed |
\* | offsets are saved (4.x) | the check thread is woken and joined: a round runs to its end |
\* | the check thread is woken and joined: a round that runs, or begins, finds a closed store | `endTransactionExecutor` |
\* | `endTransactionExecutor` is shut down, and not awaited | is shut down, and not awaited |
\* | offsets are saved (5.x) | offsets are saved, and the store closes |
\*
\* `begin_stop` stands for all up to the batch thread's end, `stop` for all from the closing of the store on: what is
\* handled then is not stored, and nobody hears its answer. RocketMQ: BrokerController#shutdown, #shutdownBasicService,
\* ServiceThread#shutdown, AbstractTransactionalMessageCheckListener#shutdown.

\* What the beginning of a shutdown needs.
MayStop ==
    \* the broker is the master
    /\ role = "MASTER"
    \* environment: nobody stops the broker
    /\ GRACEFUL_STOP
    \* the batch thread has written what is due
    /\ IsTrue(batch.names = {} \/ ~BatchIsReady)
    \* no END_TRANSACTION is being handled, or nobody awaits it
    /\ IsTrue(~AWAITS_ENDS_ON_STOP \/ (\A h \in HalfSlots : half[h].end # "COMMIT_STORED"))
    \* instance: the op queue of the instance has room
    /\ IsTrue(~FLUSHES_ON_STOP \/ batch.names = {} \/ op_length < OP_SLOTS)

\* The broker is told to stop: connections are closed, and the op batch thread ends.
\*
\* The batch thread writes what is due and nothing else (B03), and nobody writes what joins the batch from now on. From
\* 5.4.0 on the check thread is woken for one more round, whose checks a closed pool drops.
\*
\* RocketMQ: TransactionalMessageServiceImpl#close; ServiceThread#shutdown wakes the thread, and #waitForRunning runs
\* once more; a pool that was shut down drops what it gets.
BeginStop ==
    /\ MayStop
    /\ LET matters == POWER_LOSS /\ mishaps < MISHAPS
           op_then ==
               IF FLUSHES_ON_STOP /\ batch.names # {}
               THEN [op EXCEPT
                        ![op_length].names = batch.names,
                        ![op_length].born_at = Now,
                        ![op_length].halves_before =
                            IF FORGETS = 0 \/ OrderIsAskedFor THEN half_length ELSE @]
               ELSE op
           next_op_then ==
               IF /\ offsets.op = 0
                  /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                       THEN IF FORGETS = 1 /\ ~POWER_LOSS THEN TRUE ELSE had_ops
                       ELSE had_ops)
               THEN lower_end.ops
               ELSE offsets.op
           goes_back == REWINDS_BEYOND_END /\ lower_end.ops = 0
           begin == IF next_op_then >= gone.ops THEN next_op_then ELSE gone.ops
           op_length_then ==
               IF FLUSHES_ON_STOP /\ batch.names # {} THEN op_length + 1 ELSE op_length
           offsets_then ==
               [offsets EXCEPT
                   !.op =
                       IF /\ OP_END_COMMITS_OFFSET
                          /\ next_op_then = (IF FLUSHES_ON_STOP /\ batch.names # {}
                                             THEN op_length + 1
                                             ELSE op_length)
                       THEN IF FLUSHES_ON_STOP /\ batch.names # {}
                            THEN op_length + 1
                            ELSE op_length
                       ELSE @]
           after_o[o_2 \in -1..OP_SLOTS - 1] ==
               IF o_2 = -1
               THEN [round |-> [round EXCEPT
                                   !.running = TRUE,
                                   !.started_at = Now,
                                   !.cursor = HalfOffset,
                                   !.first_op =
                                       IF /\ offsets.op = 0
                                          /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                               THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                    THEN TRUE
                                                    ELSE had_ops
                                               ELSE had_ops)
                                       THEN lower_end.ops
                                       ELSE offsets.op,
                                   !.next_op = next_op_then,
                                   !.last_pull =
                                       IF \/ (IF /\ offsets.op = 0
                                                 /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                      THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                           THEN TRUE
                                                           ELSE had_ops
                                                      ELSE had_ops)
                                              THEN lower_end.ops
                                              ELSE offsets.op)
                                               >= (IF FLUSHES_ON_STOP /\ batch.names # {}
                                                   THEN op_length + 1
                                                   ELSE op_length)
                                          \/ (IF /\ offsets.op = 0
                                                 /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                      THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                           THEN TRUE
                                                           ELSE had_ops
                                                      ELSE had_ops)
                                              THEN lower_end.ops
                                              ELSE offsets.op)
                                               < lower_end.ops
                                          \/ /\ (IF /\ offsets.op = 0
                                                    /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                         THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                              THEN TRUE
                                                              ELSE had_ops
                                                         ELSE had_ops)
                                                 THEN lower_end.ops
                                                 ELSE offsets.op)
                                                  < (IF FLUSHES_ON_STOP /\ batch.names # {}
                                                     THEN op_length + 1
                                                     ELSE op_length)
                                             /\ gone.ops = (IF FLUSHES_ON_STOP /\ batch.names # {}
                                                            THEN op_length + 1
                                                            ELSE op_length)
                                       THEN "END"
                                       ELSE IF \/ SKIPS_UNDECODABLE_OPS
                                               \/ \E o \in OpSlots :
                                                      /\ o >= (IF (IF /\ offsets.op = 0
                                                                      /\ ~(IF /\ FLUSHES_ON_STOP
                                                                              /\ batch.names # {}
                                                                           THEN IF /\ FORGETS = 1
                                                                                   /\ ~POWER_LOSS
                                                                                THEN TRUE
                                                                                ELSE had_ops
                                                                           ELSE had_ops)
                                                                   THEN lower_end.ops
                                                                   ELSE offsets.op)
                                                                    >= gone.ops
                                                               THEN IF /\ offsets.op = 0
                                                                       /\ ~(IF /\ FLUSHES_ON_STOP
                                                                               /\ batch.names # {}
                                                                            THEN IF /\ FORGETS = 1
                                                                                    /\ ~POWER_LOSS
                                                                                 THEN TRUE
                                                                                 ELSE had_ops
                                                                            ELSE had_ops)
                                                                    THEN lower_end.ops
                                                                    ELSE offsets.op
                                                               ELSE gone.ops)
                                                      /\ o < (IF (IF /\ offsets.op = 0
                                                                     /\ ~(IF /\ FLUSHES_ON_STOP
                                                                             /\ ~(batch.names = {})
                                                                          THEN IF /\ FORGETS = 1
                                                                                  /\ ~(POWER_LOSS)
                                                                               THEN TRUE
                                                                               ELSE had_ops
                                                                          ELSE had_ops)
                                                                  THEN lower_end.ops
                                                                  ELSE offsets.op)
                                                                   >= gone.ops
                                                              THEN IF /\ offsets.op = 0
                                                                      /\ ~(IF /\ FLUSHES_ON_STOP
                                                                              /\ ~(batch.names = {})
                                                                           THEN IF /\ FORGETS = 1
                                                                                   /\ ~(POWER_LOSS)
                                                                                THEN TRUE
                                                                                ELSE had_ops
                                                                           ELSE had_ops)
                                                                   THEN lower_end.ops
                                                                   ELSE offsets.op
                                                              ELSE gone.ops)
                                                               + OP_PULL_SIZE
                                                      /\ o < (IF /\ FLUSHES_ON_STOP
                                                                 /\ batch.names # {}
                                                              THEN op_length + 1
                                                              ELSE op_length)
                                                      /\ ~op_then[o].undecodable
                                            THEN "FOUND"
                                            ELSE "UNREADABLE"],
                     pulled_op |-> pulled_op]
               ELSE LET before_o == after_o[o_2 - 1]
                        unresolved_then ==
                            before_o.pulled_op[o_2].unresolved
                              \cup {h \in HalfSlots :
                                       /\ h \in op_then[o_2].names
                                       /\ \/ /\ h >= (IF offsets_then.half = 0 /\ ~had_halves
                                                      THEN lower_end.halves
                                                      ELSE offsets_then.half)
                                             /\ ~SETTLES_ONCE \/ h >= before_o.round.cursor
                                          \/ /\ HEEDS_SETTLED_ORIGINALS
                                             /\ \E k \in HalfSlots :
                                                    /\ k >= (IF offsets_then.half = 0 /\ ~had_halves
                                                             THEN lower_end.halves
                                                             ELSE offsets_then.half)
                                                    /\ ~SETTLES_ONCE \/ k >= before_o.round.cursor
                                                    /\ k < half_length
                                                    /\ half[k].original = h}
                        when == begin <= o_2 /\ o_2 < begin + OP_PULL_SIZE /\ o_2 < op_length_then
                    IN  [round |-> [before_o.round EXCEPT
                                       !.removed_by =
                                           IF when
                                           THEN IF ~op_then[o_2].undecodable
                                                THEN [h \in HalfSlots |->
                                                         IF /\ h \in op_then[o_2].names
                                                            /\ \/ /\ h >= (IF /\ offsets_then.half = 0
                                                                              /\ ~had_halves
                                                                           THEN lower_end.halves
                                                                           ELSE offsets_then.half)
                                                                  /\ \/ ~SETTLES_ONCE
                                                                     \/ h >= before_o.round.cursor
                                                               \/ /\ HEEDS_SETTLED_ORIGINALS
                                                                  /\ \E k \in HalfSlots :
                                                                         /\ k >= (IF /\ offsets_then.half = 0
                                                                                     /\ ~had_halves
                                                                                  THEN lower_end.halves
                                                                                  ELSE offsets_then.half)
                                                                         /\ \/ ~SETTLES_ONCE
                                                                            \/ k >= before_o.round.cursor
                                                                         /\ k < half_length
                                                                         /\ half[k].original = h
                                                         THEN o_2
                                                         ELSE @[h]]
                                                ELSE @
                                           ELSE @,
                                       !.done_twice =
                                           IF when
                                           THEN IF ~op_then[o_2].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o_2 \in before_o.round.done
                                                          THEN @ \cup {o_2}
                                                          ELSE @
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o_2 \in before_o.round.done
                                                          THEN @ \cup {o_2}
                                                          ELSE @
                                                     ELSE @
                                           ELSE @,
                                       !.done =
                                           IF when
                                           THEN IF ~op_then[o_2].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o_2 \in @ THEN @ ELSE @ \cup {o_2}
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o_2 \in @ THEN @ ELSE @ \cup {o_2}
                                                     ELSE @
                                           ELSE @,
                                       !.next_op = IF when THEN o_2 + 1 ELSE @],
                         pulled_op |-> [before_o.pulled_op EXCEPT
                                           ![o_2].unresolved =
                                               IF when
                                               THEN IF ~op_then[o_2].undecodable
                                                    THEN unresolved_then
                                                    ELSE @
                                               ELSE @]]
           when_2 ==
               next_op_then > (IF FLUSHES_ON_STOP /\ batch.names # {}
                               THEN op_length + 1
                               ELSE op_length)
           when_3 ==
               /\ \/ next_op_then < lower_end.ops
                  \/ /\ next_op_then < (IF FLUSHES_ON_STOP /\ batch.names # {}
                                        THEN op_length + 1
                                        ELSE op_length)
                     /\ gone.ops = (IF FLUSHES_ON_STOP /\ batch.names # {}
                                    THEN op_length + 1
                                    ELSE op_length)
               /\ ~(/\ (IF FLUSHES_ON_STOP /\ batch.names # {} THEN op_length + 1 ELSE op_length)
                         = 0
                    /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                         THEN IF FORGETS = 1 /\ ~POWER_LOSS THEN TRUE ELSE had_ops
                         ELSE had_ops))
       IN  /\ role' = "STOPPING"
           /\ half' =
                  IF /\ JOINS_ROUND_FIRST
                     /\ ~round.running
                     /\ ~(/\ UNDECODABLE_THROWS
                          /\ ~SKIPS_UNDECODABLE_OPS
                          /\ (IF /\ offsets.op = 0
                                 /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                      THEN IF FORGETS = 1 /\ ~POWER_LOSS THEN TRUE ELSE had_ops
                                      ELSE had_ops)
                              THEN lower_end.ops
                              ELSE offsets.op)
                               >= lower_end.ops
                          /\ \E o \in OpSlots :
                                 /\ o >= (IF (IF /\ offsets.op = 0
                                                 /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                      THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                           THEN TRUE
                                                           ELSE had_ops
                                                      ELSE had_ops)
                                              THEN lower_end.ops
                                              ELSE offsets.op)
                                               >= gone.ops
                                          THEN IF /\ offsets.op = 0
                                                  /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                       THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                            THEN TRUE
                                                            ELSE had_ops
                                                       ELSE had_ops)
                                               THEN lower_end.ops
                                               ELSE offsets.op
                                          ELSE gone.ops)
                                 /\ o < (IF (IF /\ offsets.op = 0
                                                /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                     THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                          THEN TRUE
                                                          ELSE had_ops
                                                     ELSE had_ops)
                                             THEN lower_end.ops
                                             ELSE offsets.op)
                                              >= gone.ops
                                         THEN IF /\ offsets.op = 0
                                                 /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                      THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                           THEN TRUE
                                                           ELSE had_ops
                                                      ELSE had_ops)
                                              THEN lower_end.ops
                                              ELSE offsets.op
                                         ELSE gone.ops)
                                          + OP_PULL_SIZE
                                 /\ o < (IF FLUSHES_ON_STOP /\ batch.names # {}
                                         THEN op_length + 1
                                         ELSE op_length)
                                 /\ op_then[o].undecodable)
                  THEN [h \in HalfSlots |->
                           [half[h] EXCEPT
                               !.left =
                                   IF /\ h >= gone.halves
                                      /\ h < half_length
                                      /\ h >= offsets.half
                                      /\ h < HalfOffset
                                      /\ @ = "NO"
                                   THEN "PASSED_OVER"
                                   ELSE @]]
                  ELSE half
           /\ op' = op_then
           /\ op_length' =
                  IF /\ JOINS_ROUND_FIRST
                     /\ ~round.running
                     /\ ~(/\ UNDECODABLE_THROWS
                          /\ ~SKIPS_UNDECODABLE_OPS
                          /\ (IF /\ offsets.op = 0
                                 /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                      THEN IF FORGETS = 1 /\ ~POWER_LOSS THEN TRUE ELSE had_ops
                                      ELSE had_ops)
                              THEN lower_end.ops
                              ELSE offsets.op)
                               >= lower_end.ops
                          /\ \E o \in OpSlots :
                                 /\ o >= (IF (IF /\ offsets.op = 0
                                                 /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                      THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                           THEN TRUE
                                                           ELSE had_ops
                                                      ELSE had_ops)
                                              THEN lower_end.ops
                                              ELSE offsets.op)
                                               >= gone.ops
                                          THEN IF /\ offsets.op = 0
                                                  /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                       THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                            THEN TRUE
                                                            ELSE had_ops
                                                       ELSE had_ops)
                                               THEN lower_end.ops
                                               ELSE offsets.op
                                          ELSE gone.ops)
                                 /\ o < (IF (IF /\ offsets.op = 0
                                                /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                     THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                          THEN TRUE
                                                          ELSE had_ops
                                                     ELSE had_ops)
                                             THEN lower_end.ops
                                             ELSE offsets.op)
                                              >= gone.ops
                                         THEN IF /\ offsets.op = 0
                                                 /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                      THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                           THEN TRUE
                                                           ELSE had_ops
                                                      ELSE had_ops)
                                              THEN lower_end.ops
                                              ELSE offsets.op
                                         ELSE gone.ops)
                                          + OP_PULL_SIZE
                                 /\ o < (IF FLUSHES_ON_STOP /\ batch.names # {}
                                         THEN op_length + 1
                                         ELSE op_length)
                                 /\ op_then[o].undecodable)
                  THEN IF when_3
                       THEN IF FLUSHES_ON_STOP /\ batch.names # {} THEN op_length + 1 ELSE op_length
                       ELSE IF when_2
                            THEN IF FLUSHES_ON_STOP /\ batch.names # {} THEN op_length + 1 ELSE op_length
                            ELSE op_length_then
                  ELSE IF FLUSHES_ON_STOP /\ batch.names # {} THEN op_length + 1 ELSE op_length
           /\ batch' = [batch EXCEPT
                           !.names = IF FLUSHES_ON_STOP /\ @ # {} THEN {} ELSE @,
                           !.others = IF FLUSHES_ON_STOP /\ batch.names # {} THEN FALSE ELSE @,
                           !.waiting_since =
                               IF FLUSHES_ON_STOP /\ batch.names # {}
                               THEN LongAgo(Floor(WAITING_CUT, CLOCK_STEP))
                               ELSE @,
                           !.written_at = IF FLUSHES_ON_STOP /\ batch.names # {} THEN Now ELSE @]
           /\ round' =
                  IF /\ JOINS_ROUND_FIRST
                     /\ ~round.running
                     /\ ~(/\ UNDECODABLE_THROWS
                          /\ ~SKIPS_UNDECODABLE_OPS
                          /\ (IF /\ offsets.op = 0
                                 /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                      THEN IF FORGETS = 1 /\ ~POWER_LOSS THEN TRUE ELSE had_ops
                                      ELSE had_ops)
                              THEN lower_end.ops
                              ELSE offsets.op)
                               >= lower_end.ops
                          /\ \E o \in OpSlots :
                                 /\ o >= (IF (IF /\ offsets.op = 0
                                                 /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                      THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                           THEN TRUE
                                                           ELSE had_ops
                                                      ELSE had_ops)
                                              THEN lower_end.ops
                                              ELSE offsets.op)
                                               >= gone.ops
                                          THEN IF /\ offsets.op = 0
                                                  /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                       THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                            THEN TRUE
                                                            ELSE had_ops
                                                       ELSE had_ops)
                                               THEN lower_end.ops
                                               ELSE offsets.op
                                          ELSE gone.ops)
                                 /\ o < (IF (IF /\ offsets.op = 0
                                                /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                     THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                          THEN TRUE
                                                          ELSE had_ops
                                                     ELSE had_ops)
                                             THEN lower_end.ops
                                             ELSE offsets.op)
                                              >= gone.ops
                                         THEN IF /\ offsets.op = 0
                                                 /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                      THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                           THEN TRUE
                                                           ELSE had_ops
                                                      ELSE had_ops)
                                              THEN lower_end.ops
                                              ELSE offsets.op
                                         ELSE gone.ops)
                                          + OP_PULL_SIZE
                                 /\ o < (IF FLUSHES_ON_STOP /\ batch.names # {}
                                         THEN op_length + 1
                                         ELSE op_length)
                                 /\ op_then[o].undecodable)
                  THEN IF when_3
                       THEN [round EXCEPT
                                !.running = TRUE,
                                !.started_at = Now,
                                !.cursor = HalfOffset,
                                !.first_op =
                                    IF /\ offsets.op = 0
                                       /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                            THEN IF FORGETS = 1 /\ ~POWER_LOSS THEN TRUE ELSE had_ops
                                            ELSE had_ops)
                                    THEN lower_end.ops
                                    ELSE offsets.op,
                                !.last_pull =
                                    IF \/ (IF /\ offsets.op = 0
                                              /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                   THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                        THEN TRUE
                                                        ELSE had_ops
                                                   ELSE had_ops)
                                           THEN lower_end.ops
                                           ELSE offsets.op)
                                            >= (IF FLUSHES_ON_STOP /\ batch.names # {}
                                                THEN op_length + 1
                                                ELSE op_length)
                                       \/ (IF /\ offsets.op = 0
                                              /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                   THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                        THEN TRUE
                                                        ELSE had_ops
                                                   ELSE had_ops)
                                           THEN lower_end.ops
                                           ELSE offsets.op)
                                            < lower_end.ops
                                       \/ /\ (IF /\ offsets.op = 0
                                                 /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                      THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                           THEN TRUE
                                                           ELSE had_ops
                                                      ELSE had_ops)
                                              THEN lower_end.ops
                                              ELSE offsets.op)
                                               < (IF FLUSHES_ON_STOP /\ batch.names # {}
                                                  THEN op_length + 1
                                                  ELSE op_length)
                                          /\ gone.ops = (IF FLUSHES_ON_STOP /\ batch.names # {}
                                                         THEN op_length + 1
                                                         ELSE op_length)
                                    THEN "END"
                                    ELSE IF \/ SKIPS_UNDECODABLE_OPS
                                            \/ \E o \in OpSlots :
                                                   /\ o >= (IF (IF /\ offsets.op = 0
                                                                   /\ ~(IF /\ FLUSHES_ON_STOP
                                                                           /\ batch.names # {}
                                                                        THEN IF /\ FORGETS = 1
                                                                                /\ ~POWER_LOSS
                                                                             THEN TRUE
                                                                             ELSE had_ops
                                                                        ELSE had_ops)
                                                                THEN lower_end.ops
                                                                ELSE offsets.op)
                                                                 >= gone.ops
                                                            THEN IF /\ offsets.op = 0
                                                                    /\ ~(IF /\ FLUSHES_ON_STOP
                                                                            /\ batch.names # {}
                                                                         THEN IF /\ FORGETS = 1
                                                                                 /\ ~POWER_LOSS
                                                                              THEN TRUE
                                                                              ELSE had_ops
                                                                         ELSE had_ops)
                                                                 THEN lower_end.ops
                                                                 ELSE offsets.op
                                                            ELSE gone.ops)
                                                   /\ o < (IF (IF /\ offsets.op = 0
                                                                  /\ ~(IF /\ FLUSHES_ON_STOP
                                                                          /\ batch.names # {}
                                                                       THEN IF /\ FORGETS = 1
                                                                               /\ ~POWER_LOSS
                                                                            THEN TRUE
                                                                            ELSE had_ops
                                                                       ELSE had_ops)
                                                               THEN lower_end.ops
                                                               ELSE offsets.op)
                                                                >= gone.ops
                                                           THEN IF /\ offsets.op = 0
                                                                   /\ ~(IF /\ FLUSHES_ON_STOP
                                                                           /\ batch.names # {}
                                                                        THEN IF /\ FORGETS = 1
                                                                                /\ ~POWER_LOSS
                                                                             THEN TRUE
                                                                             ELSE had_ops
                                                                        ELSE had_ops)
                                                                THEN lower_end.ops
                                                                ELSE offsets.op
                                                           ELSE gone.ops)
                                                            + OP_PULL_SIZE
                                                   /\ o < (IF FLUSHES_ON_STOP /\ batch.names # {}
                                                           THEN op_length + 1
                                                           ELSE op_length)
                                                   /\ ~op_then[o].undecodable
                                         THEN "FOUND"
                                         ELSE "UNREADABLE",
                                !.next_op =
                                    IF next_op_then >= lower_end.ops
                                    THEN IF FLUSHES_ON_STOP /\ batch.names # {}
                                         THEN op_length + 1
                                         ELSE op_length
                                    ELSE IF \/ "STOPPING" = "MASTER"
                                            \/ "STOPPING" = "STOPPING"
                                            \/ CORRECTS_OFFSETS_ON_SLAVE
                                         THEN lower_end.ops
                                         ELSE next_op_then]
                       ELSE IF when_2
                            THEN [round EXCEPT
                                     !.running = TRUE,
                                     !.started_at = Now,
                                     !.cursor = HalfOffset,
                                     !.first_op =
                                         IF /\ offsets.op = 0
                                            /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                 THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                      THEN TRUE
                                                      ELSE had_ops
                                                 ELSE had_ops)
                                         THEN lower_end.ops
                                         ELSE offsets.op,
                                     !.last_pull =
                                         IF \/ (IF /\ offsets.op = 0
                                                   /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                        THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                             THEN TRUE
                                                             ELSE had_ops
                                                        ELSE had_ops)
                                                THEN lower_end.ops
                                                ELSE offsets.op)
                                                 >= (IF FLUSHES_ON_STOP /\ batch.names # {}
                                                     THEN op_length + 1
                                                     ELSE op_length)
                                            \/ (IF /\ offsets.op = 0
                                                   /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                        THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                             THEN TRUE
                                                             ELSE had_ops
                                                        ELSE had_ops)
                                                THEN lower_end.ops
                                                ELSE offsets.op)
                                                 < lower_end.ops
                                            \/ /\ (IF /\ offsets.op = 0
                                                      /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                           THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                                THEN TRUE
                                                                ELSE had_ops
                                                           ELSE had_ops)
                                                   THEN lower_end.ops
                                                   ELSE offsets.op)
                                                    < (IF FLUSHES_ON_STOP /\ batch.names # {}
                                                       THEN op_length + 1
                                                       ELSE op_length)
                                               /\ gone.ops = (IF FLUSHES_ON_STOP /\ batch.names # {}
                                                              THEN op_length + 1
                                                              ELSE op_length)
                                         THEN "END"
                                         ELSE IF \/ SKIPS_UNDECODABLE_OPS
                                                 \/ \E o \in OpSlots :
                                                        /\ o >= (IF (IF /\ offsets.op = 0
                                                                        /\ ~(IF /\ FLUSHES_ON_STOP
                                                                                /\ batch.names # {}
                                                                             THEN IF /\ FORGETS = 1
                                                                                     /\ ~POWER_LOSS
                                                                                  THEN TRUE
                                                                                  ELSE had_ops
                                                                             ELSE had_ops)
                                                                     THEN lower_end.ops
                                                                     ELSE offsets.op)
                                                                      >= gone.ops
                                                                 THEN IF /\ offsets.op = 0
                                                                         /\ ~(IF /\ FLUSHES_ON_STOP
                                                                                 /\ batch.names # {}
                                                                              THEN IF /\ FORGETS = 1
                                                                                      /\ ~POWER_LOSS
                                                                                   THEN TRUE
                                                                                   ELSE had_ops
                                                                              ELSE had_ops)
                                                                      THEN lower_end.ops
                                                                      ELSE offsets.op
                                                                 ELSE gone.ops)
                                                        /\ o < (IF (IF /\ offsets.op = 0
                                                                       /\ ~(IF /\ FLUSHES_ON_STOP
                                                                               /\ batch.names # {}
                                                                            THEN IF /\ FORGETS = 1
                                                                                    /\ ~POWER_LOSS
                                                                                 THEN TRUE
                                                                                 ELSE had_ops
                                                                            ELSE had_ops)
                                                                    THEN lower_end.ops
                                                                    ELSE offsets.op)
                                                                     >= gone.ops
                                                                THEN IF /\ offsets.op = 0
                                                                        /\ ~(IF /\ FLUSHES_ON_STOP
                                                                                /\ batch.names # {}
                                                                             THEN IF /\ FORGETS = 1
                                                                                     /\ ~POWER_LOSS
                                                                                  THEN TRUE
                                                                                  ELSE had_ops
                                                                             ELSE had_ops)
                                                                     THEN lower_end.ops
                                                                     ELSE offsets.op
                                                                ELSE gone.ops)
                                                                 + OP_PULL_SIZE
                                                        /\ o < (IF FLUSHES_ON_STOP /\ batch.names # {}
                                                                THEN op_length + 1
                                                                ELSE op_length)
                                                        /\ ~op_then[o].undecodable
                                              THEN "FOUND"
                                              ELSE "UNREADABLE",
                                     !.next_op =
                                         IF goes_back
                                         THEN 0
                                         ELSE IF FLUSHES_ON_STOP /\ batch.names # {}
                                              THEN op_length + 1
                                              ELSE op_length]
                            ELSE after_o[OP_SLOTS - 1].round
                  ELSE round
           /\ pulled_op' =
                  IF /\ JOINS_ROUND_FIRST
                     /\ ~round.running
                     /\ ~(/\ UNDECODABLE_THROWS
                          /\ ~SKIPS_UNDECODABLE_OPS
                          /\ (IF /\ offsets.op = 0
                                 /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                      THEN IF FORGETS = 1 /\ ~POWER_LOSS THEN TRUE ELSE had_ops
                                      ELSE had_ops)
                              THEN lower_end.ops
                              ELSE offsets.op)
                               >= lower_end.ops
                          /\ \E o \in OpSlots :
                                 /\ o >= (IF (IF /\ offsets.op = 0
                                                 /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                      THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                           THEN TRUE
                                                           ELSE had_ops
                                                      ELSE had_ops)
                                              THEN lower_end.ops
                                              ELSE offsets.op)
                                               >= gone.ops
                                          THEN IF /\ offsets.op = 0
                                                  /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                       THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                            THEN TRUE
                                                            ELSE had_ops
                                                       ELSE had_ops)
                                               THEN lower_end.ops
                                               ELSE offsets.op
                                          ELSE gone.ops)
                                 /\ o < (IF (IF /\ offsets.op = 0
                                                /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                     THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                          THEN TRUE
                                                          ELSE had_ops
                                                     ELSE had_ops)
                                             THEN lower_end.ops
                                             ELSE offsets.op)
                                              >= gone.ops
                                         THEN IF /\ offsets.op = 0
                                                 /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                      THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                           THEN TRUE
                                                           ELSE had_ops
                                                      ELSE had_ops)
                                              THEN lower_end.ops
                                              ELSE offsets.op
                                         ELSE gone.ops)
                                          + OP_PULL_SIZE
                                 /\ o < (IF FLUSHES_ON_STOP /\ batch.names # {}
                                         THEN op_length + 1
                                         ELSE op_length)
                                 /\ op_then[o].undecodable)
                  THEN IF when_3
                       THEN pulled_op
                       ELSE IF when_2 THEN pulled_op ELSE after_o[OP_SLOTS - 1].pulled_op
                  ELSE pulled_op
           /\ offsets' =
                  IF /\ JOINS_ROUND_FIRST
                     /\ ~round.running
                     /\ ~(/\ UNDECODABLE_THROWS
                          /\ ~SKIPS_UNDECODABLE_OPS
                          /\ (IF /\ offsets.op = 0
                                 /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                      THEN IF FORGETS = 1 /\ ~POWER_LOSS THEN TRUE ELSE had_ops
                                      ELSE had_ops)
                              THEN lower_end.ops
                              ELSE offsets.op)
                               >= lower_end.ops
                          /\ \E o \in OpSlots :
                                 /\ o >= (IF (IF /\ offsets.op = 0
                                                 /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                      THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                           THEN TRUE
                                                           ELSE had_ops
                                                      ELSE had_ops)
                                              THEN lower_end.ops
                                              ELSE offsets.op)
                                               >= gone.ops
                                          THEN IF /\ offsets.op = 0
                                                  /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                       THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                            THEN TRUE
                                                            ELSE had_ops
                                                       ELSE had_ops)
                                               THEN lower_end.ops
                                               ELSE offsets.op
                                          ELSE gone.ops)
                                 /\ o < (IF (IF /\ offsets.op = 0
                                                /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                     THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                          THEN TRUE
                                                          ELSE had_ops
                                                     ELSE had_ops)
                                             THEN lower_end.ops
                                             ELSE offsets.op)
                                              >= gone.ops
                                         THEN IF /\ offsets.op = 0
                                                 /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                      THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                           THEN TRUE
                                                           ELSE had_ops
                                                      ELSE had_ops)
                                              THEN lower_end.ops
                                              ELSE offsets.op
                                         ELSE gone.ops)
                                          + OP_PULL_SIZE
                                 /\ o < (IF FLUSHES_ON_STOP /\ batch.names # {}
                                         THEN op_length + 1
                                         ELSE op_length)
                                 /\ op_then[o].undecodable)
                  THEN IF when_3
                       THEN [offsets EXCEPT
                                !.op =
                                    IF next_op_then >= lower_end.ops
                                    THEN IF FLUSHES_ON_STOP /\ batch.names # {}
                                         THEN op_length + 1
                                         ELSE op_length
                                    ELSE IF \/ "STOPPING" = "MASTER"
                                            \/ "STOPPING" = "STOPPING"
                                            \/ CORRECTS_OFFSETS_ON_SLAVE
                                         THEN lower_end.ops
                                         ELSE next_op_then]
                       ELSE IF when_2
                            THEN [offsets EXCEPT
                                     !.op =
                                         IF ~(/\ (IF FLUSHES_ON_STOP /\ batch.names # {}
                                                  THEN op_length + 1
                                                  ELSE op_length)
                                                   = 0
                                              /\ ~(IF FLUSHES_ON_STOP /\ batch.names # {}
                                                   THEN IF FORGETS = 1 /\ ~POWER_LOSS
                                                        THEN TRUE
                                                        ELSE had_ops
                                                   ELSE had_ops))
                                         THEN IF goes_back
                                              THEN 0
                                              ELSE IF FLUSHES_ON_STOP /\ batch.names # {}
                                                   THEN op_length + 1
                                                   ELSE op_length
                                         ELSE @]
                            ELSE offsets_then
                  ELSE offsets
           /\ flushed' = [flushed EXCEPT
                             !.halves =
                                 IF FLUSHES_ON_STOP /\ batch.names # {}
                                 THEN IF FLUSHES_BEFORE_ANSWERING THEN IF matters THEN half_length ELSE 0 ELSE @
                                 ELSE @,
                             !.ops =
                                 IF FLUSHES_ON_STOP /\ batch.names # {}
                                 THEN IF FLUSHES_BEFORE_ANSWERING
                                      THEN IF matters THEN op_length + 1 ELSE 0
                                      ELSE @
                                 ELSE @]
           /\ had_ops' =
                  IF FLUSHES_ON_STOP /\ batch.names # {}
                  THEN IF FORGETS = 1 /\ ~POWER_LOSS THEN TRUE ELSE had_ops
                  ELSE had_ops
    /\ UNCHANGED <<clock_steps, mishaps, stray_ends, crashes, producer, transaction, half_length,
                   round_ended_at, saved, unsaved, gone, lower_end, stuck, stuck_rounds, op_left_behind,
                   had_halves>>

\* The process comes to its end and starts again: offsets are saved, what waits in the op batch is not.
\*
\* The log is flushed to its end (CommitLog.FlushRealTimeService#run, "Normal shutdown"). Up to 5.3.3 the store closes
\* before the check thread is joined: a round that still runs gets no message from it and ends with a
\* NullPointerException, so that what it has put back stays and its offsets are not committed.
\*
\* RocketMQ: DefaultMessageStore#shutdown, ConfigManager#persist.
Stop ==
    \* the broker is being shut down
    /\ role = "STOPPING"
    \* the last round is over, or nobody awaits it
    /\ IsTrue(~JOINS_ROUND_FIRST \/ ~round.running)
    \* a round beyond its time limit has ended
    /\ IsTrue(~round.running \/ IsWithinLimit)
    \* instance: a round that the store fails has not jumped before: it would not throw then
    /\ ~round.null_met
    \* instance: the instance has mishaps left for a round that fails
    /\ IsTrue(~round.running \/ mishaps < MISHAPS)
    /\ LET half_then ==
               IF COMMITS_AFTER_EXCEPTION
               THEN [h \in HalfSlots |->
                        [half[h] EXCEPT
                            !.left =
                                IF h >= offsets.half /\ h < round.cursor /\ @ = "PASSED_OVER"
                                THEN "SKIPPED_BY_EXCEPTION"
                                ELSE @]]
               ELSE half
           begin == IF round.next_op >= gone.ops THEN round.next_op ELSE gone.ops
           after_o[o \in -1..OP_SLOTS - 1] ==
               IF o = -1
               THEN [round |-> round, pulled_op |-> pulled_op]
               ELSE LET before_o == after_o[o - 1]
                        unresolved_then ==
                            before_o.pulled_op[o].unresolved
                              \cup {h \in HalfSlots :
                                       /\ h \in op[o].names
                                       /\ \/ /\ h >= HalfOffset
                                             /\ ~SETTLES_ONCE \/ h >= before_o.round.cursor
                                          \/ /\ HEEDS_SETTLED_ORIGINALS
                                             /\ \E k \in HalfSlots :
                                                    /\ k >= HalfOffset
                                                    /\ ~SETTLES_ONCE \/ k >= before_o.round.cursor
                                                    /\ k < half_length
                                                    /\ half_then[k].original = h}
                        when == begin <= o /\ o < begin + OP_SLOTS /\ o < op_length
                    IN  [round |-> [before_o.round EXCEPT
                                       !.removed_by =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN [h \in HalfSlots |->
                                                         IF /\ h \in op[o].names
                                                            /\ \/ /\ h >= HalfOffset
                                                                  /\ \/ ~SETTLES_ONCE
                                                                     \/ h >= before_o.round.cursor
                                                               \/ /\ HEEDS_SETTLED_ORIGINALS
                                                                  /\ \E k \in HalfSlots :
                                                                         /\ k >= HalfOffset
                                                                         /\ \/ ~SETTLES_ONCE
                                                                            \/ k >= before_o.round.cursor
                                                                         /\ k < half_length
                                                                         /\ half_then[k].original = h
                                                         THEN o
                                                         ELSE @[h]]
                                                ELSE @
                                           ELSE @,
                                       !.done_twice =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o \in before_o.round.done
                                                          THEN @ \cup {o}
                                                          ELSE @
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o \in before_o.round.done
                                                          THEN @ \cup {o}
                                                          ELSE @
                                                     ELSE @
                                           ELSE @,
                                       !.done =
                                           IF when
                                           THEN IF ~op[o].undecodable
                                                THEN IF unresolved_then = {}
                                                     THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                     ELSE @
                                                ELSE IF SKIPS_UNDECODABLE_OPS
                                                     THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                     ELSE @
                                           ELSE @,
                                       !.next_op = IF when THEN o + 1 ELSE @],
                         pulled_op |-> [before_o.pulled_op EXCEPT
                                           ![o].unresolved =
                                               IF when
                                               THEN IF ~op[o].undecodable
                                                    THEN unresolved_then
                                                    ELSE @
                                               ELSE @]]
           round_then == IF SETTLES_ONCE THEN after_o[OP_SLOTS - 1].round ELSE round
           has_met_all == round_then.cursor = half_length /\ round_then.next_op = op_length
           pulled_op_then_2 ==
               IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
               THEN [o_2 \in OpSlots |->
                        [(IF SETTLES_ONCE THEN after_o[OP_SLOTS - 1].pulled_op ELSE pulled_op)[o_2] EXCEPT
                            !.unresolved = {}]]
               ELSE [o_2 \in OpSlots |-> [pulled_op[o_2] EXCEPT !.unresolved = {}]]
           matters == POWER_LOSS /\ (IF round.running THEN mishaps + 1 ELSE mishaps) < MISHAPS
       IN  /\ DropBatch
           /\ FindLowerEnds
           /\ mishaps' = IF round.running THEN mishaps + 1 ELSE mishaps
           /\ role' = "MASTER"
           /\ half' = [h \in HalfSlots |->
                          [(IF round.running THEN IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met) THEN half_then ELSE half ELSE half)[h] EXCEPT
                              !.check_in_flight = FALSE,
                              !.end = "NONE",
                              !.other_end = "NONE",
                              !.claims_check = FALSE]]
           /\ round' = [IF round.running
                        THEN IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                             THEN [round_then EXCEPT
                                      !.running = FALSE,
                                      !.started_at = LongAgo(Floor(ROUND_CUT, CLOCK_STEP)),
                                      !.cursor = 0,
                                      !.null_met = FALSE,
                                      !.met = 0,
                                      !.first_op = 0,
                                      !.next_op = 0,
                                      !.last_pull = "FOUND",
                                      !.pulls_nothing = FALSE,
                                      !.done = {},
                                      !.done_twice = {},
                                      !.held = 0,
                                      !.removed_by = [h \in HalfSlots |-> NONE]]
                             ELSE [round EXCEPT
                                      !.running = FALSE,
                                      !.started_at = LongAgo(Floor(ROUND_CUT, CLOCK_STEP)),
                                      !.cursor = 0,
                                      !.null_met = FALSE,
                                      !.met = 0,
                                      !.first_op = 0,
                                      !.next_op = 0,
                                      !.last_pull = "FOUND",
                                      !.pulls_nothing = FALSE,
                                      !.done = {},
                                      !.done_twice = {},
                                      !.held = 0,
                                      !.removed_by = [h \in HalfSlots |-> NONE]]
                        ELSE round EXCEPT
                           !.running = FALSE,
                           !.started_at = LongAgo(Floor(ROUND_CUT, CLOCK_STEP)),
                           !.cursor = 0,
                           !.null_met = FALSE,
                           !.met = 0,
                           !.first_op = 0,
                           !.next_op = 0,
                           !.last_pull = "FOUND",
                           !.pulls_nothing = FALSE,
                           !.done = {},
                           !.done_twice = {},
                           !.held = 0,
                           !.removed_by = [h \in HalfSlots |-> NONE]]
           /\ pulled_op' = [o_2 \in OpSlots |->
                               [(IF round.running THEN pulled_op_then_2 ELSE pulled_op)[o_2] EXCEPT
                                   !.unresolved = {}]]
           /\ round_ended_at' = Now
           /\ offsets' = [offsets EXCEPT
                             !.half =
                                 IF round.running
                                 THEN IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                                      THEN IF round_then.cursor # HalfOffset THEN round_then.cursor ELSE @
                                      ELSE @
                                 ELSE @,
                             !.op =
                                 IF round.running
                                 THEN IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                                      THEN IF \/ (IF CROWDED = 1 /\ round_then.held # 0
                                                  THEN IF round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                                /\ o_2 >= round_then.first_op
                                                                                                /\ \A i \in 0..o_2 :
                                                                                                       /\ (/\ i \in round_then.done
                                                                                                           /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                                /\ op[i].undecodable
                                                                                                                /\ op[i].halves_before > round_then.cursor))
                                                                                                            = (i >= round_then.first_op)
                                                                                                       /\ \/ i = o_2
                                                                                                          \/ ~(i \in round_then.done_twice)})
                                                            <= round_then.held - 1
                                                       THEN round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                                  /\ o_2 >= round_then.first_op
                                                                                                  /\ \A i \in 0..o_2 :
                                                                                                         /\ (/\ i \in round_then.done
                                                                                                             /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                                  /\ op[i].undecodable
                                                                                                                  /\ op[i].halves_before > round_then.cursor))
                                                                                                              = (i >= round_then.first_op)
                                                                                                         /\ \/ i = o_2
                                                                                                            \/ ~(i \in round_then.done_twice)})
                                                       ELSE round_then.held - 1
                                                  ELSE round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                             /\ o_2 >= round_then.first_op
                                                                                             /\ \A i \in 0..o_2 :
                                                                                                    /\ (/\ i \in round_then.done
                                                                                                        /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                             /\ op[i].undecodable
                                                                                                             /\ op[i].halves_before > round_then.cursor))
                                                                                                         = (i >= round_then.first_op)
                                                                                                    /\ \/ i = o_2
                                                                                                       \/ ~(i \in round_then.done_twice)}))
                                                   # round_then.first_op
                                              \/ CROWDED = 1 /\ round_then.held # 0
                                           THEN IF CROWDED = 1 /\ round_then.held # 0
                                                THEN IF round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                              /\ o_2 >= round_then.first_op
                                                                                              /\ \A i \in 0..o_2 :
                                                                                                     /\ (/\ i \in round_then.done
                                                                                                         /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                              /\ op[i].undecodable
                                                                                                              /\ op[i].halves_before > round_then.cursor))
                                                                                                          = (i >= round_then.first_op)
                                                                                                     /\ \/ i = o_2
                                                                                                        \/ ~(i \in round_then.done_twice)})
                                                          <= round_then.held - 1
                                                     THEN round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                                /\ o_2 >= round_then.first_op
                                                                                                /\ \A i \in 0..o_2 :
                                                                                                       /\ (/\ i \in round_then.done
                                                                                                           /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                                /\ op[i].undecodable
                                                                                                                /\ op[i].halves_before > round_then.cursor))
                                                                                                            = (i >= round_then.first_op)
                                                                                                       /\ \/ i = o_2
                                                                                                          \/ ~(i \in round_then.done_twice)})
                                                     ELSE round_then.held - 1
                                                ELSE round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                           /\ o_2 >= round_then.first_op
                                                                                           /\ \A i \in 0..o_2 :
                                                                                                  /\ (/\ i \in round_then.done
                                                                                                      /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                           /\ op[i].undecodable
                                                                                                           /\ op[i].halves_before > round_then.cursor))
                                                                                                       = (i >= round_then.first_op)
                                                                                                  /\ \/ i = o_2
                                                                                                     \/ ~(i \in round_then.done_twice)})
                                           ELSE @
                                      ELSE @
                                 ELSE @]
           /\ saved' = [saved EXCEPT
                           !.half =
                               IF round.running
                               THEN IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                                    THEN IF round_then.cursor # HalfOffset
                                         THEN round_then.cursor
                                         ELSE offsets.half
                                    ELSE offsets.half
                               ELSE offsets.half,
                           !.op =
                               IF round.running
                               THEN IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                                    THEN IF \/ (IF CROWDED = 1 /\ round_then.held # 0
                                                THEN IF round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                              /\ o_2 >= round_then.first_op
                                                                                              /\ \A i \in 0..o_2 :
                                                                                                     /\ (/\ i \in round_then.done
                                                                                                         /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                              /\ op[i].undecodable
                                                                                                              /\ op[i].halves_before > round_then.cursor))
                                                                                                          = (i >= round_then.first_op)
                                                                                                     /\ \/ i = o_2
                                                                                                        \/ ~(i \in round_then.done_twice)})
                                                          <= round_then.held - 1
                                                     THEN round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                                /\ o_2 >= round_then.first_op
                                                                                                /\ \A i \in 0..o_2 :
                                                                                                       /\ (/\ i \in round_then.done
                                                                                                           /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                                /\ op[i].undecodable
                                                                                                                /\ op[i].halves_before > round_then.cursor))
                                                                                                            = (i >= round_then.first_op)
                                                                                                       /\ \/ i = o_2
                                                                                                          \/ ~(i \in round_then.done_twice)})
                                                     ELSE round_then.held - 1
                                                ELSE round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                           /\ o_2 >= round_then.first_op
                                                                                           /\ \A i \in 0..o_2 :
                                                                                                  /\ (/\ i \in round_then.done
                                                                                                      /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                           /\ op[i].undecodable
                                                                                                           /\ op[i].halves_before > round_then.cursor))
                                                                                                       = (i >= round_then.first_op)
                                                                                                  /\ \/ i = o_2
                                                                                                     \/ ~(i \in round_then.done_twice)}))
                                                 # round_then.first_op
                                            \/ CROWDED = 1 /\ round_then.held # 0
                                         THEN IF CROWDED = 1 /\ round_then.held # 0
                                              THEN IF round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                            /\ o_2 >= round_then.first_op
                                                                                            /\ \A i \in 0..o_2 :
                                                                                                   /\ (/\ i \in round_then.done
                                                                                                       /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                            /\ op[i].undecodable
                                                                                                            /\ op[i].halves_before > round_then.cursor))
                                                                                                        = (i >= round_then.first_op)
                                                                                                   /\ \/ i = o_2
                                                                                                      \/ ~(i \in round_then.done_twice)})
                                                        <= round_then.held - 1
                                                   THEN round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                              /\ o_2 >= round_then.first_op
                                                                                              /\ \A i \in 0..o_2 :
                                                                                                     /\ (/\ i \in round_then.done
                                                                                                         /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                              /\ op[i].undecodable
                                                                                                              /\ op[i].halves_before > round_then.cursor))
                                                                                                          = (i >= round_then.first_op)
                                                                                                     /\ \/ i = o_2
                                                                                                        \/ ~(i \in round_then.done_twice)})
                                                   ELSE round_then.held - 1
                                              ELSE round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                                         /\ o_2 >= round_then.first_op
                                                                                         /\ \A i \in 0..o_2 :
                                                                                                /\ (/\ i \in round_then.done
                                                                                                    /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                                         /\ op[i].undecodable
                                                                                                         /\ op[i].halves_before > round_then.cursor))
                                                                                                     = (i >= round_then.first_op)
                                                                                                /\ \/ i = o_2
                                                                                                   \/ ~(i \in round_then.done_twice)})
                                         ELSE offsets.op
                                    ELSE offsets.op
                               ELSE offsets.op]
           /\ unsaved' = 0
           /\ flushed' = [flushed EXCEPT
                             !.halves = IF matters THEN half_length ELSE 0,
                             !.ops = IF matters THEN op_length ELSE 0]
           /\ stuck' = IF round.running THEN "NO" ELSE stuck
           /\ stuck_rounds' =
                  IF round.running
                  THEN IF "NO" = "NO"
                       THEN 0
                       ELSE IF stuck # "NO"
                            THEN 1
                            ELSE IF stuck_rounds < 2 THEN stuck_rounds + 1 ELSE stuck_rounds
                  ELSE stuck_rounds
           /\ op_left_behind' =
                  IF round.running
                  THEN IF COMMITS_AFTER_EXCEPTION \/ (KEEPS_PROGRESS /\ ~round.null_met)
                       THEN /\ has_met_all
                            /\ round_then.first_op + Cardinality({o_2 \in OpSlots :
                                                                     /\ o_2 >= round_then.first_op
                                                                     /\ \A i \in 0..o_2 :
                                                                            /\ (/\ i \in round_then.done
                                                                                /\ ~(/\ SKIPS_UNDECODABLE_OPS
                                                                                     /\ op[i].undecodable
                                                                                     /\ op[i].halves_before > round_then.cursor))
                                                                                 = (i >= round_then.first_op)
                                                                            /\ \/ i = o_2
                                                                               \/ ~(i \in round_then.done_twice)})
                                 < op_length
                       ELSE op_left_behind
                  ELSE op_left_behind
    /\ UNCHANGED <<clock_steps, stray_ends, crashes, producer, transaction, half_length, op, op_length,
                   gone, had_halves, had_ops>>

----------------------------------------------------------------------------------------------------
\* S1, at-most-once resolution: a transaction is delivered at most once, however many END_TRANSACTIONs say commit.
\*
\* One clause a cause, so that a well-known cause does not hide the others.

\* Two real messages of the transaction were stored, or more.
IsDeliveredTwice(t) == transaction[t].deliveries >= 2

\* A commit that arrives twice delivers the message once.
ARepeatedEndDeliversOnce(t) == ~(IsDeliveredTwice(t) /\ transaction[t].delivered_twice_for_one)

\* A commit inside the immunity of a half that was put back for it is the last word: its copy is not delivered.
AnEndInsideTheImmunityDeliversOnce(t) ==
    ~(IsDeliveredTwice(t) /\ transaction[t].cause = "IMMUNE_HALF")

\* A commit for a half that was put back for a check is the last word: its copy is not delivered, too.
AnEndAfterACheckDeliversOnce(t) == ~(IsDeliveredTwice(t) /\ transaction[t].cause = "AFTER_A_CHECK")

\* A commit before the timeout is the last word, also where the half was checked as its own immunity was shorter.
AnEndBeforeTheTimeoutDeliversOnce(t) ==
    ~(IsDeliveredTwice(t) /\ transaction[t].cause = "SHORT_IMMUNITY")

\* A delivered message is not delivered again because its op message was lost, or cannot be decoded.
ALostOpDeliversOnce(t) ==
    LET is_lost == transaction[t].cause = "LOST_OP" \/ transaction[t].cause = "UNREADABLE_OP"
    IN  ~(IsDeliveredTwice(t) /\ is_lost)

\* A delivered message is not delivered again because its op message was written, or read, too late for a round.
ALateOpDeliversOnce(t) ==
    LET is_late ==
            \/ transaction[t].cause = "LATE_OP"
            \/ transaction[t].cause = "OVERSLEPT_OP"
            \/ transaction[t].cause = "STALE_OP_END"
            \/ transaction[t].cause = "UNREAD_OP"
    IN  ~(IsDeliveredTwice(t) /\ is_late)

\* A half that was put back twice, as the half offset went back or files were deleted, is delivered once.
AForkedCopyDeliversOnce(t) == ~(IsDeliveredTwice(t) /\ transaction[t].cause = "FORKED_COPY")

\* A delivered message is not delivered again because the op offset passed its op message too early.
APassedOpDeliversOnce(t) == ~(IsDeliveredTwice(t) /\ transaction[t].cause = "PASSED_OP")

\* A message of which a retry stored a second half is delivered once.
AMessageThatWasSentTwiceIsDeliveredOnce(t) ==
    ~(IsDeliveredTwice(t) /\ transaction[t].cause = "TWIN_HALF")

\* A message that was put back from the discard topic is delivered once.
AResumedHalfDeliversOnce(t) == ~(IsDeliveredTwice(t) /\ transaction[t].cause = "RESUMED_HALF")

\* A delivered message is not delivered again as an acting slave sent its half elsewhere before it read its op.
ASettledHalfDoesNotEscape(t) == ~(IsDeliveredTwice(t) /\ transaction[t].cause = "ESCAPED_SETTLED")

\* A half whose escape had an unclear result is delivered once.
AHalfEscapesOnce(t) == ~(IsDeliveredTwice(t) /\ transaction[t].cause = "ESCAPED_TWICE")

\* A half that has escaped is not checked by its own master any more.
AnEscapedHalfIsNotKept(t) == ~(IsDeliveredTwice(t) /\ transaction[t].cause = "ESCAPED_AND_KEPT")

\* A half that has escaped is not committed by an END_TRANSACTION that reaches the master when it is back.
AnEndAfterTheEscapeDeliversOnce(t) ==
    ~(IsDeliveredTwice(t) /\ transaction[t].cause = "ENDED_AFTER_ESCAPE")

\* A half that was read in the place of one that retention has deleted is not delivered for that.
AHalfThatIsReadForAnotherDeliversOnce(t) ==
    ~(IsDeliveredTwice(t) /\ transaction[t].cause = "READ_FOR_ANOTHER")

\* There is no second delivery that the other clauses do not speak of.
EverySecondDeliveryHasACause(t) ==
    LET is_explained == transaction[t].cause # "NONE" \/ transaction[t].delivered_twice_for_one
    IN  ~IsDeliveredTwice(t) \/ is_explained

\* Some transaction is delivered once, from a copy that was put back for a check.
ACheckLedToADelivery(t) ==
    /\ transaction[t].deliveries = 1
    /\ \E h \in HalfSlots :
           half[h].transaction = t /\ half[h].check_times > 0 /\ half[h].acknowledged

----------------------------------------------------------------------------------------------------
\* S2, decision agreement: no transaction is both delivered and rolled back, with an acknowledgement, or discarded.

\* A transaction whose rollback was acknowledged before any delivery is never delivered.
ARolledBackTransactionIsNeverDelivered(t) ==
    ~(transaction[t].rolled_back = "UNDELIVERED" /\ transaction[t].deliveries > 0)

\* No rollback is acknowledged for a transaction that was delivered.
ADeliveredTransactionIsNeverRolledBack(t) == transaction[t].rolled_back # "DELIVERED"

\* A transaction that lay in the discard topic before any delivery is never delivered.
ADiscardedTransactionIsNotDelivered(t) == ~transaction[t].committed_aside

\* Some rollback is acknowledged.
ARollbackIsAcknowledged(t) == transaction[t].rolled_back # "NO"

----------------------------------------------------------------------------------------------------
\* S3, no wrong commit: the message that is delivered is one whose producer decided to commit it.

\* No message is delivered whose local transaction is not committed.
WhatIsDeliveredWasCommitted(t) == transaction[t].deliveries = 0 \/ transaction[t].local = "COMMIT"

\* Some transaction is committed and delivered once.
ACommittedTransactionIsDelivered(t) ==
    transaction[t].deliveries = 1 /\ transaction[t].local = "COMMIT"

----------------------------------------------------------------------------------------------------
\* S4, no foreign resolution: an op entry resolves only the half that it was written for.

\* No half is settled by an END_TRANSACTION of another transaction, whose half stood at its place before.
AnOpEntryIsOfItsOwnTransaction(h) == ~(half[h].acknowledged /\ half[h].foreign)

\* No half is passed for an op message of another transaction, which it came to name as that of its original.
AHalfKnowsItsOwnOriginal(h) ==
    ~(/\ half[h].left = "SETTLED_ELSEWHERE"
      /\ half[h].original # NONE
      /\ half[half[h].original].transaction # half[h].transaction)

\* Some half is settled by an END_TRANSACTION of its own transaction.
AHalfIsSettledByItsOwnEnd(h) == half[h].acknowledged /\ ~half[h].foreign

----------------------------------------------------------------------------------------------------
\* S5, half invisibility: consumers see nothing of a message before a commit of it was handled.

\* No message is delivered but for a commit that arrived and named a half of it.
WhatIsVisibleWasAskedFor(t) == ~transaction[t].shown_unasked

\* Some half is stored of a message that is not visible.
AHalfIsStoredAndNotVisible(t) == transaction[t].first_half >= 0 /\ transaction[t].deliveries = 0

----------------------------------------------------------------------------------------------------
\* S6, content fidelity: the message that is delivered is the one that was sent, whichever half of it was committed.

\* No copy is committed that has lost the flag of its message.
\*
\* RocketMQ: TransactionalMessageBridge#renewHalfMessageInner sets everything but the flag.
ACopyKeepsTheFlag(h) == KEEPS_FLAG \/ half[h].settled # "COMMITTED" \/ IsFirstHalf(h)

\* Some half is committed as its producer sent it.
AFirstHalfIsCommitted(h) == half[h].settled = "COMMITTED" /\ IsFirstHalf(h)

----------------------------------------------------------------------------------------------------
\* S7, op-offset safety: the op offset has not passed an op message that names a half no round has looked at.

\* Between rounds, no op message below the op offset names a half that is there, at or above the half offset.
NoPassedOpNamesAHalfAhead(o, h) ==
    LET is_ahead == h >= (IF offsets.half >= gone.halves THEN offsets.half ELSE gone.halves)
    IN  round.running \/ o >= offsets.op \/ h \notin op[o].names \/ ~is_ahead

\* No op message below the saved op offset names a half that is there, at or above the saved half offset.
NoOpThatARestartPassesNamesAHalfAhead(o, h) ==
    \/ o >= saved.op
    \/ h \notin op[o].names
    \/ h < (IF saved.half >= gone.halves THEN saved.half ELSE gone.halves)

\* Some op message is behind the op offset.
TheOpOffsetMoves == offsets.op > 0

----------------------------------------------------------------------------------------------------
\* S8, half-offset safety: the saved half offset passes a half only if it is settled, copied or kept aside.

\* No round will look at the half again, not even after a restart.
IsPassed(h) == h < saved.half

\* The same, and no END_TRANSACTION that named it was carried out.
IsPassedUnsettled(h) == IsPassed(h) /\ h < half_length /\ half[h].settled = "NO"

\* A half that was discarded is kept in the discard topic.
ADiscardedHalfLeavesARecord(h) == ~IsPassedUnsettled(h) \/ half[h].left # "DROPPED"

\* A half behind the saved half offset was settled, put back or discarded: rounds looked at it.
APassedHalfLivesOn(h) == ~IsPassedUnsettled(h) \/ half[h].left # "NO"

\* No half is behind the saved half offset that a round jumped over or skipped.
NoHalfIsPassedOver(h) == ~IsPassedUnsettled(h) \/ half[h].left # "PASSED_OVER"

\* No half is behind the saved half offset that a round jumped over before an exception ended it.
NoHalfIsSkippedByAnException(h) == ~IsPassedUnsettled(h) \/ half[h].left # "SKIPPED_BY_EXCEPTION"

\* No half is behind the saved half offset whose copy a power loss has taken.
ACopySurvivesWithTheOffset(h) == ~IsPassedUnsettled(h) \/ half[h].left # "COPY_LOST"

\* No half is behind the saved half offset that an acting slave could not send elsewhere.
NoHalfIsGivenUp(h) == ~IsPassedUnsettled(h) \/ half[h].left # "GIVEN_UP"

\* No half is discarded for which an END_TRANSACTION was acknowledged before.
ASettledHalfIsNotParked(h) == half[h].left # "SETTLED_ASIDE"

\* Some half that was put back for a check is behind the saved half offset.
TheSavedHalfOffsetPassesACopiedHalf(h) == IsPassed(h) /\ half[h].left = "FOR_CHECK"

----------------------------------------------------------------------------------------------------
\* S9, quiet commit: a half whose END_TRANSACTION was acknowledged in time and before any check is never checked.
\*
\* In time: at an age of at most the timeout or its immunity, whichever is longer. One clause a cause, as for S1.

\* Its END_TRANSACTION was acknowledged in time, and a check was sent afterwards.
IsCheckedAllTheSame(t) == transaction[t].quiet = "CHECKED"

\* An END_TRANSACTION inside the immunity of a half that was put back for it ends the checks of its copy, too.
AnEndInsideTheImmunityEndsTheChecks(t) ==
    ~(IsCheckedAllTheSame(t) /\ transaction[t].cause = "IMMUNE_HALF")

\* No settled half is checked because its op message was lost, or cannot be decoded.
NoCheckForWantOfALostOp(t) ==
    LET is_lost == transaction[t].cause = "LOST_OP" \/ transaction[t].cause = "UNREADABLE_OP"
    IN  ~(IsCheckedAllTheSame(t) /\ is_lost)

\* No settled half is checked because its op message is not written yet.
NoCheckAheadOfALateOp(t) == ~(IsCheckedAllTheSame(t) /\ transaction[t].cause = "LATE_OP")

\* No settled half is checked because its op entry has waited in the op batch for more than an interval.
NoCheckAheadOfAnOversleptOp(t) == ~(IsCheckedAllTheSame(t) /\ transaction[t].cause = "OVERSLEPT_OP")

\* No settled half is checked because its op message was written after the round had seen the end of the queue.
NoCheckOnAStaleEndOfTheOpQueue(t) ==
    ~(IsCheckedAllTheSame(t) /\ transaction[t].cause = "STALE_OP_END")

\* No settled half is checked because the round has not read on to its op message.
NoCheckAheadOfAnUnreadOp(t) == ~(IsCheckedAllTheSame(t) /\ transaction[t].cause = "UNREAD_OP")

\* No copy is checked that was made after the half offset went back over a half that was settled.
NoCheckOfAForkedCopy(t) == ~(IsCheckedAllTheSame(t) /\ transaction[t].cause = "FORKED_COPY")

\* No settled half is checked because the op offset passed its op message too early.
NoCheckBehindAPassedOp(t) == ~(IsCheckedAllTheSame(t) /\ transaction[t].cause = "PASSED_OP")

\* No half is checked beside the one that was settled: a twin, a resumed half, or one that has escaped.
NoCheckOfASecondHalf(t) ==
    LET is_beside ==
            \/ transaction[t].cause = "TWIN_HALF"
            \/ transaction[t].cause = "RESUMED_HALF"
            \/ transaction[t].cause = "ESCAPED_SETTLED"
            \/ transaction[t].cause = "ESCAPED_TWICE"
            \/ transaction[t].cause = "ESCAPED_AND_KEPT"
            \/ transaction[t].cause = "ENDED_AFTER_ESCAPE"
    IN  ~(IsCheckedAllTheSame(t) /\ is_beside)

\* No settled half is checked as it was read in the place of one that retention has deleted.
NoCheckOfAHalfThatIsReadForAnother(t) ==
    ~(IsCheckedAllTheSame(t) /\ transaction[t].cause = "READ_FOR_ANOTHER")

\* There is no needless check that the other clauses do not speak of.
EveryNeedlessCheckHasACause(t) ==
    LET is_unexplained ==
            \/ transaction[t].cause = "NONE"
            \/ transaction[t].cause = "AFTER_A_CHECK"
            \/ transaction[t].cause = "SHORT_IMMUNITY"
    IN  ~(IsCheckedAllTheSame(t) /\ is_unexplained)

\* Some END_TRANSACTION is acknowledged in time and before any check.
AnEndIsAcknowledgedInTime(t) == transaction[t].quiet = "ENDED"

----------------------------------------------------------------------------------------------------
\* S10, honest acknowledgement: SUCCESS to an END_TRANSACTION implies that its op entry survives.

\* An END_TRANSACTION of half h was acknowledged, and its op entry is neither in the batch nor in the op queue.
HasLostItsOpEntry(h) == half[h].acknowledged /\ h \notin batch.names /\ ~NamesItFrom(h, 0)

\* The op entry of an acknowledged END_TRANSACTION waits in the batch or stands in the op queue.
AnAcknowledgedEndKeepsItsOpEntry(h) == half[h].op_write_failed \/ ~HasLostItsOpEntry(h)

\* No END_TRANSACTION is acknowledged whose op message could not be stored.
AnAcknowledgedEndStoresItsOpEntry(h) == ~(half[h].op_write_failed /\ HasLostItsOpEntry(h))

\* Some END_TRANSACTION is acknowledged, and the op queue names its half.
AnAcknowledgedEndHasItsOpMessage(h) == half[h].acknowledged /\ NamesItFrom(h, 0)

----------------------------------------------------------------------------------------------------
\* L1, no orphan: every unresolved transaction is checked in the end, or lands in the discard topic.
\*
\* As a safety property: no transaction is lost for good. It is lost when it is neither delivered nor rolled back nor
\* parked, nothing of it is under way, and no round will ever look at a half of it. One clause a way to be lost.

\* Some half of the transaction is at or above the half offset, or an END_TRANSACTION or a check names one.
IsAheadOfARound(t) ==
    \E h \in HalfSlots :
        /\ h < half_length
        /\ half[h].transaction = t
        /\ h >= offsets.half \/ half[h].end # "NONE" \/ half[h].check_in_flight

\* Nothing more will become of the transaction.
IsLost(t) ==
    LET is_over == transaction[t].deliveries > 0 \/ transaction[t].rolled_back # "NO"
        is_elsewhere == transaction[t].parked \/ transaction[t].escaped > 0
        is_running == transaction[t].local = "NOT_SENT" \/ transaction[t].local = "EXECUTING"
    IN  ~is_over /\ ~is_elsewhere /\ ~is_running /\ ~IsAheadOfARound(t)

\* Some half of the transaction that no END_TRANSACTION settled was left in this way, and is not forgotten.
WasLeft(t, how) ==
    \E h \in HalfSlots :
        /\ h < half_length
        /\ half[h].transaction = t
        /\ half[h].left = how
        /\ half[h].settled = "NO"

\* No transaction is lost as its half was discarded without a record.
NoTransactionEndsAsALogLine(t) ==
    LET was_dropped == WasLeft(t, "DROPPED") \/ transaction[t].dropped_before
    IN  ~(IsLost(t) /\ was_dropped)

\* No transaction is lost as no round looked at its half.
NoTransactionIsPassedOver(t) ==
    LET is_unseen ==
            \/ WasLeft(t, "NO")
            \/ WasLeft(t, "PASSED_OVER")
            \/ WasLeft(t, "SKIPPED_BY_EXCEPTION")
            \/ transaction[t].unseen_before
    IN  ~(IsLost(t) /\ is_unseen)

\* No transaction is lost as a power loss took the copy, and not the offset that passed the half.
NoTransactionIsLostWithItsCopy(t) ==
    LET has_lost_its_copy == WasLeft(t, "COPY_LOST") \/ transaction[t].copy_lost_before
    IN  ~(IsLost(t) /\ has_lost_its_copy)

\* No transaction is lost as an acting slave could not send its half elsewhere.
NoTransactionIsGivenUp(t) ==
    LET was_given_up == WasLeft(t, "GIVEN_UP") \/ transaction[t].given_up_before
    IN  ~(IsLost(t) /\ was_given_up)

\* No transaction is lost as a power loss took its only half, although the send was answered.
NoTransactionIsLostWithItsHalf(t) == ~IsLost(t) \/ StoredHalves(t) > 0

\* Some transaction lands in the discard topic, undelivered.
ATransactionIsParked(t) == transaction[t].parked /\ transaction[t].deliveries = 0

----------------------------------------------------------------------------------------------------
\* L2, full budget: a half is discarded only after as many checks as `transactionCheckMax` says were really sent.

\* No half is discarded whose checks were counted for put-backs that sent none.
AHalfIsDiscardedAfterAllItsChecks(t) == transaction[t].discarded # "BURNT_BY_IMMUNITY"

\* No half is discarded whose checks were all counted for put-backs that sent none.
AHalfIsDiscardedAfterSomeCheck(t) == transaction[t].discarded # "BURNT_BY_IMMUNITY" \/ WasChecked(t)

\* No half is discarded whose checks were counted while no producer was connected.
AHalfIsDiscardedAfterItsProducerWasAsked(t) == transaction[t].discarded # "NOBODY_TO_ASK"

\* No half is discarded for checks that its producer claimed when it sent it.
AHalfIsDiscardedAfterChecksOfItsOwn(t) == transaction[t].discarded # "PRESET"

\* No half is discarded with checks left as it seems older than `fileReservedTime`.
AHalfIsNotDiscardedForItsAge(t) == transaction[t].discarded # "OVER_AGE"

\* No half is discarded as older than `fileReservedTime` the moment that its producer's send has stored it.
AHalfIsNotDiscardedAsItArrives(t) == transaction[t].discarded # "OLD_ON_ARRIVAL"

\* Some half is discarded after all its checks were sent.
AHalfIsDiscardedWithItsBudgetSpent(t) == transaction[t].discarded = "SPENT"

----------------------------------------------------------------------------------------------------
\* L3, head-of-line progress: one bad half or op message delays the others by a bounded time.
\*
\* As a safety property: no two rounds on end leave the half offset where it was for the same reason. One clause a reason.

\* No two rounds on end get nowhere as the store did not find what it has.
ExceptionsDoNotStopTheScan == stuck # "EXCEPTION" \/ stuck_rounds < 2

\* No two rounds on end get nowhere for a half that cannot be decoded.
AnUndecodableHalfDoesNotStopTheScan == stuck # "UNDECODABLE_HALF" \/ stuck_rounds < 2

\* No two rounds on end get nowhere for an op message that cannot be decoded.
AnUndecodableOpDoesNotStopTheScan == stuck # "UNDECODABLE_OP" \/ stuck_rounds < 2

\* No two rounds on end get nowhere as a copy was not stored.
AFailedPutDoesNotStopTheScan == stuck # "FAILED_PUT" \/ stuck_rounds < 2

\* No two rounds on end get nowhere for a half whose copy can never be stored.
APoisonHalfDoesNotStopTheScan == stuck # "POISON" \/ stuck_rounds < 2

\* No two rounds on end reach their time limit at the half at which they began.
TheTimeLimitDoesNotStopTheScan == stuck # "TIME_LIMIT" \/ stuck_rounds < 2

\* No round ends at a half because that seems to be stored in the future.
AStepOfTheClockDoesNotStopTheScan == stuck # "CLOCK" \/ stuck_rounds < 1

\* Some half is behind the half offset.
TheHalfOffsetMoves == offsets.half > 0

----------------------------------------------------------------------------------------------------
\* L4, op progress: if halves get settled, the op offset reaches the end of the op queue.
\*
\* As a safety property: a round that has read all op messages and passed all halves leaves no op message behind.

\* The op offset is that of an op message that cannot be decoded.
StandsAtAnUndecodableOp == \E o \in OpSlots : o = offsets.op /\ op[o].undecodable

\* A round that has read all op messages and passed all halves moves the op offset to the end.
AFullRoundLeavesNoOpBehind == ~op_left_behind \/ StandsAtAnUndecodableOp

\* The op offset does not stay at an op message that cannot be decoded, when a round has met all halves.
AnUndecodableOpDoesNotHoldTheOffset == ~(op_left_behind /\ StandsAtAnUndecodableOp)

\* The op offset stands at the end of a queue that has messages.
TheOpOffsetReachesTheEnd == op_length > 0 /\ offsets.op = op_length

----------------------------------------------------------------------------------------------------
\* L5, commit progress: a commit that the producer sends of its own accord becomes visible without a check.
\*
\* As a safety property: nothing keeps it from being carried out. One clause a reason.

\* No commit that a producer sends is lost: it is one-way, and nobody is told.
NoCommitIsLost(t) == transaction[t].direct # "LOST"

\* No commit that a producer sends is refused as late, which the producer never learns.
NoCommitIsRefusedAsLate(t) == transaction[t].direct # "LATE"

\* No commit that a producer sends is refused: by a slave, by a proxy, or as nothing can be read or stored.
NoCommitIsRefused(t) == transaction[t].direct # "REFUSED"

\* No half is stored whose producer rolls it back without having run the local transaction.
AStoredHalfHasItsLocalTransactionRun(t) == transaction[t].local # "NEVER_RUN"

\* Some transaction is delivered, and its half was never put back.
ACommitIsDeliveredWithoutACheck(t) ==
    transaction[t].deliveries = 1 /\ transaction[t].first_half = half_length - 1

----------------------------------------------------------------------------------------------------
\* R1, bounded work: a round writes no more than it has to, and does not spin.
\*
\* As a safety property, one clause a way to waste work.

\* No round asks for more op messages when it has just seen the end of the queue, and nothing has changed.
NoRoundPullsNothingAgain == ~round.pulls_nothing

\* No round tries to store the same copy over and over.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check, `continue` after #putBackHalfMsgQueue.
NoRoundTriesAWriteUntilItsTimeLimit ==
    LET is_refused == stuck_rounds > 0 /\ (stuck = "FAILED_PUT" \/ stuck = "POISON")
    IN  ENDS_AT_FAILED_PUT \/ ~is_refused

\* No half gets a second copy.
NoHalfIsPutBackTwice(t) == transaction[t].cause # "FORKED_COPY"

\* No half that is settled, or has a copy, is put back in the place of one that retention has deleted.
NoHalfIsPutBackForAnother(t) == transaction[t].cause # "READ_FOR_ANOTHER"

\* A transaction has at most `transactionCheckMax` copies beside its first half.
ATransactionIsWrittenOnceACheck(t) == StoredHalves(t) <= CHECK_MAX + 1

\* Some transaction has a half that is a copy.
ATransactionHasACopy(t) == StoredHalves(t) = 2

----------------------------------------------------------------------------------------------------
Next ==
    \/ \E t \in Transactions, immunity \in Immunities : SendHalf(t, immunity)
    \/ \E t \in Transactions, immunity \in Immunities, skew \in Skews : SendHalfByAnotherClock(t, immunity, skew)
    \/ \E t \in Transactions, immunity \in Immunities, checks \in FirstChecks : SendHalfWithChecks(t, immunity, checks)
    \/ \E t \in Transactions, original \in HalfSlots : SendHalfWithOriginal(t, original)
    \/ \E t \in Transactions, immunity \in Immunities : SendPoisonHalf(t, immunity)
    \/ \E t \in Transactions, immunity \in Immunities : SendUndecodableHalf(t, immunity)
    \/ \E t \in Transactions : SendHalfAgain(t)
    \/ \E t \in Transactions : CommitLocally(t)
    \/ \E t \in Transactions : RollBackLocally(t)
    \/ \E t \in Transactions : RollBackUnrun(t)
    \/ \E t \in Transactions : LeaveItUnknown(t)
    \/ \E t \in Transactions : ResolveToCommit(t)
    \/ \E t \in Transactions : ResolveToRollback(t)
    \/ \E t \in Transactions : CommitWhatIsGone(t)
    \/ \E t \in Transactions : CommitAnotherHalf(t)
    \/ \E h \in HalfSlots, p \in Proxies : CommitThroughProxy(h, p)
    \/ \E h \in HalfSlots, p \in Proxies : RollBackThroughProxy(h, p)
    \/ \E t \in Transactions, p \in Proxies : CommitUnknownToProxy(t, p)
    \/ \E t \in Transactions, p \in Proxies : RollBackUnknownToProxy(t, p)
    \/ \E t \in Transactions, p \in Proxies : FailAStoredSend(t, p)
    \/ \E h \in HalfSlots : AnswerCheck(h)
    \/ \E h \in HalfSlots : AnswerCheckTooEarly(h)
    \/ \E k \in HalfSlots, h \in HalfSlots, p \in Proxies : AnswerCheckThroughProxy(k, h, p)
    \/ \E k \in HalfSlots, h \in HalfSlots, p \in Proxies : AnswerTooEarlyThroughProxy(k, h, p)
    \/ \E k \in HalfSlots, h \in HalfSlots, p \in Proxies : RollBackForAnotherService(k, h, p)
    \/ \E h \in HalfSlots, p \in Proxies : AskAnotherService(h, p)
    \/ \E h \in HalfSlots, p \in Proxies : AnswerUnknownToProxy(h, p)
    \/ \E h \in HalfSlots, p \in Proxies : RelayThroughOtherProxy(h, p)
    \/ \E h \in HalfSlots : StoreRealMessage(h)
    \/ \E h \in HalfSlots : WriteOp(h)
    \/ \E h \in HalfSlots : BufferOp(h)
    \/ \E h \in HalfSlots : FailToWriteOp(h)
    \/ \E h \in HalfSlots : RefuseLateEnd(h)
    \/ \E h \in HalfSlots : RefuseEndAsSlave(h)
    \/ \E h \in HalfSlots : RefuseUnreadable(h)
    \/ \E h \in HalfSlots : RefuseCommitUnstored(h)
    \/ \E h \in HalfSlots : IgnoreRepeatedEnd(h)
    \/ WriteOpBatch
    \/ FailToWriteOpBatch
    \/ BeginRound
    \/ PassSettledHalf
    \/ PassHalfOfSettledTransaction
    \/ PassCopiedHalf
    \/ PassHalfThatIsGone
    \/ DiscardHalf
    \/ DiscardHalfUnrecorded
    \/ DiscardInsteadOfCheck
    \/ DiscardWhatCannotBeCopied
    \/ PassHalfOfSettledOriginal
    \/ PassHalfOfWaitingOp
    \/ PassOverLongImmunity
    \/ PutBackImmuneHalf
    \/ PutBackAndCheck
    \/ PutBackUnasked
    \/ PullMoreOps
    \/ EndRoundAtQueueEnd
    \/ EndRoundAtFreshHalf
    \/ EndRoundBeforeDispatch
    \/ EndRoundAtYoungHalf
    \/ EndRoundAtTimeLimit
    \/ JumpToQueueEnd
    \/ JumpToWhatIsLeft
    \/ JumpOverHalf
    \/ EndRoundAtMissedHalf
    \/ EndRoundBelowWhatIsLeft
    \/ AbortAtNullResult
    \/ AbortAtUndecodableHalf
    \/ FailToBeginRound
    \/ AbortAtNextOps
    \/ AbortAtUnreadablePull
    \/ SpinAtFailedCheck
    \/ SpinAtFailedImmunity
    \/ \E o \in OpSlots : CorruptOp(o)
    \/ PersistOffsets
    \/ FlushLog
    \/ \E h \in HalfSlots : LoseEnd(h)
    \/ \E h \in HalfSlots : LoseCheck(h)
    \/ \E h \in HalfSlots : DuplicateEnd(h)
    \/ \E h \in HalfSlots : DoubleEnd(h)
    \/ \E h \in HalfSlots : Overtake(h)
    \/ \E h \in HalfSlots : SendWrongCommit(h)
    \/ \E h \in HalfSlots : SendWrongRollback(h)
    \/ \E h \in HalfSlots : AnswerWithWrongCommit(h)
    \/ \E h \in HalfSlots : AnswerWithWrongRollback(h)
    \/ LoseAllProducers
    \/ RestartProducers
    \/ \E p \in Proxies : RestartProxy(p)
    \/ ConnectAgain
    \/ BecomeSlave
    \/ BecomeMaster
    \/ ActForDeadMaster
    \/ LetHalfEscape
    \/ LetHalfEscapeUnclearly
    \/ GiveHalfUp
    \/ PullMoreOpsBeforeEscape
    \/ \E t \in Transactions : DeliverEscaped(t)
    \/ \E t \in Transactions : RollBackEscaped(t)
    \/ BringMasterBack
    \/ BringMasterBackWithItsOwnOffsets
    \/ BringMasterBackAmidEscape
    \/ \E h \in HalfSlots : SetHalfOffsetBack(h)
    \/ \E o \in OpSlots : SetOpOffsetBack(o)
    \/ \E h \in HalfSlots : ResumeDiscarded(h)
    \/ BeginStop
    \/ Stop
    \/ Crash
    \/ \E records \in 0..LOG_SLOTS : LosePower(records)
    \/ StepClockBack
    \/ Tick
    \/ \E records \in 0..LOG_SLOTS : DeleteOldestFiles(records)
    \/ MoveLowerEnds
    \/ TruncateAll

Spec == Init /\ [][Next]_vars

----------------------------------------------------------------------------------------------------
\* Properties, a clause each.

S1_doubled_request == \A t \in Transactions : ARepeatedEndDeliversOnce(t)

S1_immune_half == \A t \in Transactions : AnEndInsideTheImmunityDeliversOnce(t)

S1_after_a_check == \A t \in Transactions : AnEndAfterACheckDeliversOnce(t)

S1_short_immunity == \A t \in Transactions : AnEndBeforeTheTimeoutDeliversOnce(t)

S1_lost_op == \A t \in Transactions : ALostOpDeliversOnce(t)

S1_late_op == \A t \in Transactions : ALateOpDeliversOnce(t)

S1_forked_copy == \A t \in Transactions : AForkedCopyDeliversOnce(t)

S1_passed_op == \A t \in Transactions : APassedOpDeliversOnce(t)

S1_twin_half == \A t \in Transactions : AMessageThatWasSentTwiceIsDeliveredOnce(t)

S1_resumed_half == \A t \in Transactions : AResumedHalfDeliversOnce(t)

S1_escaped_settled == \A t \in Transactions : ASettledHalfDoesNotEscape(t)

S1_escaped_twice == \A t \in Transactions : AHalfEscapesOnce(t)

S1_escaped_and_kept == \A t \in Transactions : AnEscapedHalfIsNotKept(t)

S1_end_after_escape == \A t \in Transactions : AnEndAfterTheEscapeDeliversOnce(t)

S1_read_for_another == \A t \in Transactions : AHalfThatIsReadForAnotherDeliversOnce(t)

S1_unexplained == \A t \in Transactions : EverySecondDeliveryHasACause(t)

S2_commit_after_rollback == \A t \in Transactions : ARolledBackTransactionIsNeverDelivered(t)

S2_rollback_after_commit == \A t \in Transactions : ADeliveredTransactionIsNeverRolledBack(t)

S2_commit_after_discard == \A t \in Transactions : ADiscardedTransactionIsNotDelivered(t)

S3_not_decided == \A t \in Transactions : WhatIsDeliveredWasCommitted(t)

S4_same_offsets == \A h \in HalfSlots : AnOpEntryIsOfItsOwnTransaction(h)

S4_foreign_original == \A h \in HalfSlots : AHalfKnowsItsOwnOriginal(h)

S5_no_commit_arrived == \A t \in Transactions : WhatIsVisibleWasAskedFor(t)

S6_flag_of_a_copy == \A h \in HalfSlots : ACopyKeepsTheFlag(h)

S7_in_memory == \A o \in OpSlots, h \in HalfSlots : NoPassedOpNamesAHalfAhead(o, h)

S7_in_the_file == \A o \in OpSlots, h \in HalfSlots : NoOpThatARestartPassesNamesAHalfAhead(o, h)

S8_discarded_without_a_record == \A h \in HalfSlots : ADiscardedHalfLeavesARecord(h)

S8_neither_settled_nor_copied == \A h \in HalfSlots : APassedHalfLivesOn(h)

S8_passed_over == \A h \in HalfSlots : NoHalfIsPassedOver(h)

S8_skipped_by_exception == \A h \in HalfSlots : NoHalfIsSkippedByAnException(h)

S8_copy_lost == \A h \in HalfSlots : ACopySurvivesWithTheOffset(h)

S8_escape_given_up == \A h \in HalfSlots : NoHalfIsGivenUp(h)

S8_parked_although_settled == \A h \in HalfSlots : ASettledHalfIsNotParked(h)

S9_immune_half == \A t \in Transactions : AnEndInsideTheImmunityEndsTheChecks(t)

S9_lost_op == \A t \in Transactions : NoCheckForWantOfALostOp(t)

S9_late_op == \A t \in Transactions : NoCheckAheadOfALateOp(t)

S9_overslept_op == \A t \in Transactions : NoCheckAheadOfAnOversleptOp(t)

S9_stale_op_end == \A t \in Transactions : NoCheckOnAStaleEndOfTheOpQueue(t)

S9_unread_op == \A t \in Transactions : NoCheckAheadOfAnUnreadOp(t)

S9_forked_copy == \A t \in Transactions : NoCheckOfAForkedCopy(t)

S9_passed_op == \A t \in Transactions : NoCheckBehindAPassedOp(t)

S9_second_half == \A t \in Transactions : NoCheckOfASecondHalf(t)

S9_read_for_another == \A t \in Transactions : NoCheckOfAHalfThatIsReadForAnother(t)

S9_unexplained == \A t \in Transactions : EveryNeedlessCheckHasACause(t)

S10_op_entry_dies_with_the_process == \A h \in HalfSlots : AnAcknowledgedEndKeepsItsOpEntry(h)

S10_op_entry_not_stored == \A h \in HalfSlots : AnAcknowledgedEndStoresItsOpEntry(h)

L1_discarded_without_a_record == \A t \in Transactions : NoTransactionEndsAsALogLine(t)

L1_passed_over == \A t \in Transactions : NoTransactionIsPassedOver(t)

L1_copy_lost == \A t \in Transactions : NoTransactionIsLostWithItsCopy(t)

L1_escape_given_up == \A t \in Transactions : NoTransactionIsGivenUp(t)

L1_half_lost == \A t \in Transactions : NoTransactionIsLostWithItsHalf(t)

L2_immunity_burns_checks == \A t \in Transactions : AHalfIsDiscardedAfterAllItsChecks(t)

L2_never_asked == \A t \in Transactions : AHalfIsDiscardedAfterSomeCheck(t)

L2_nobody_to_ask == \A t \in Transactions : AHalfIsDiscardedAfterItsProducerWasAsked(t)

L2_preset_checks == \A t \in Transactions : AHalfIsDiscardedAfterChecksOfItsOwn(t)

L2_over_age == \A t \in Transactions : AHalfIsNotDiscardedForItsAge(t)

L2_old_on_arrival == \A t \in Transactions : AHalfIsNotDiscardedAsItArrives(t)

L3_exception == ExceptionsDoNotStopTheScan

L3_undecodable_half == AnUndecodableHalfDoesNotStopTheScan

L3_undecodable_op == AnUndecodableOpDoesNotStopTheScan

L3_failed_put == AFailedPutDoesNotStopTheScan

L3_poison_half == APoisonHalfDoesNotStopTheScan

L3_time_limit == TheTimeLimitDoesNotStopTheScan

L3_clock_step == AStepOfTheClockDoesNotStopTheScan

L4_left_behind == AFullRoundLeavesNoOpBehind

L4_undecodable_op == AnUndecodableOpDoesNotHoldTheOffset

L5_end_lost == \A t \in Transactions : NoCommitIsLost(t)

L5_refused_late == \A t \in Transactions : NoCommitIsRefusedAsLate(t)

L5_refused == \A t \in Transactions : NoCommitIsRefused(t)

L5_never_run == \A t \in Transactions : AStoredHalfHasItsLocalTransactionRun(t)

R1_pulls_nothing == NoRoundPullsNothingAgain

R1_spins_on_a_write == NoRoundTriesAWriteUntilItsTimeLimit

R1_forks == \A t \in Transactions : NoHalfIsPutBackTwice(t)

R1_read_for_another == \A t \in Transactions : NoHalfIsPutBackForAnother(t)

R1_too_many_copies == \A t \in Transactions : ATransactionIsWrittenOnceACheck(t)

\* Witnesses: TLC shows one as a violation of the claim that there is none.

S1_never_a_check_led_to_a_delivery == \A t \in Transactions : ~ACheckLedToADelivery(t)

S2_never_a_rollback_is_acknowledged == \A t \in Transactions : ~ARollbackIsAcknowledged(t)

S3_never_a_committed_transaction_is_delivered == \A t \in Transactions : ~ACommittedTransactionIsDelivered(t)

S4_never_a_half_is_settled_by_its_own_end == \A h \in HalfSlots : ~AHalfIsSettledByItsOwnEnd(h)

S5_never_a_half_is_stored_and_not_visible == \A t \in Transactions : ~AHalfIsStoredAndNotVisible(t)

S6_never_a_first_half_is_committed == \A h \in HalfSlots : ~AFirstHalfIsCommitted(h)

S7_never_the_op_offset_moves == ~TheOpOffsetMoves

S8_never_the_saved_half_offset_passes_a_copied_half == \A h \in HalfSlots : ~TheSavedHalfOffsetPassesACopiedHalf(h)

S9_never_an_end_is_acknowledged_in_time == \A t \in Transactions : ~AnEndIsAcknowledgedInTime(t)

S10_never_an_acknowledged_end_has_its_op_message == \A h \in HalfSlots : ~AnAcknowledgedEndHasItsOpMessage(h)

L1_never_a_transaction_is_parked == \A t \in Transactions : ~ATransactionIsParked(t)

L2_never_a_half_is_discarded_with_its_budget_spent == \A t \in Transactions : ~AHalfIsDiscardedWithItsBudgetSpent(t)

L3_never_the_half_offset_moves == ~TheHalfOffsetMoves

L4_never_the_op_offset_reaches_the_end == ~TheOpOffsetReachesTheEnd

L5_never_a_commit_is_delivered_without_a_check == \A t \in Transactions : ~ACommitIsDeliveredWithoutACheck(t)

R1_never_a_transaction_has_a_copy == \A t \in Transactions : ~ATransactionHasACopy(t)
====================================================================================================
