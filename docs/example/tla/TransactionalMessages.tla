----------------------------------- MODULE TransactionalMessages -----------------------------------
\* Written by `halfcheck export`; the source is the specification in Python.
\* Run it with TransactionalMessages.cfg.

EXTENDS Integers, FiniteSets

\* Sizes and times (in ticks of the clock).
CONSTANTS TRANSACTIONS, HALF_SLOTS, OP_SLOTS, CHECK_MAX, TIMEOUT, IMMUNITIES,
          IMMUNITIES_MAY_BE_NONE, CHECK_INTERVAL, ROUND_LIMIT, OP_BATCH_INTERVAL, OP_BATCH_SIZE,
          OP_PULL_SIZE

\* Switches: what a version does, and what may go wrong.
CONSTANTS MARKS_OP_DONE_ON_HIT, OP_END_COMMITS_OFFSET, BATCHES_OPS, KEEPS_DISCARDED,
          REFUSES_LATE_END, EQUAL_AGE_IS_YOUNG, HEEDS_SETTLED_ORIGINALS, SLOW_LOCAL, LOSE_END,
          LOSE_CHECK, DUPLICATE_END, WRONG_END, LATE_END, SLOW_ROUND, SLOW_DISPATCH, CRASH

NONE == -1
HalfSlots == 0..HALF_SLOTS - 1
OpSlots == 0..OP_SLOTS - 1
Transactions == 0..TRANSACTIONS - 1
Immunities == IMMUNITIES \cup (IF IMMUNITIES_MAY_BE_NONE THEN {NONE} ELSE {})
Max(numbers) == CHOOSE n \in numbers : \A m \in numbers : m <= n
LONGEST_IMMUNITY == Max(Immunities \cup {0, NONE})
BIRTH_CUT == Max({TIMEOUT, LONGEST_IMMUNITY}) + 1
ROUND_CUT == ROUND_LIMIT + 1
OP_CUT == ROUND_LIMIT + 1
BATCH_CUT == 2 * OP_BATCH_INTERVAL
HORIZON == Max({BIRTH_CUT, ROUND_CUT, OP_CUT, BATCH_CUT, CHECK_INTERVAL}) + 1

\* One truth value: TLC takes a disjunction that stands alone in an action for several ways to act.
IsTrue(claim) == claim = TRUE
\* The clock stands still, and what was written ages. No guard looks at an age above the cut of its field,
\* so that older instants are one. This makes the number of states finite.
Now == HORIZON
Instants(cut) == HORIZON - cut..HORIZON
LongAgo(cut) == HORIZON - cut
NotBefore(instant, cut) == IF instant < HORIZON - cut THEN HORIZON - cut ELSE instant
Older(instant, cut) == IF instant > HORIZON - cut THEN instant - 1 ELSE instant

----------------------------------------------------------------------------------------------------
\* What a producer knows of a local transaction.
Local == {"NOT_SENT", "EXECUTING", "COMMIT", "ROLLBACK", "UNKNOWN"}

\* Ghost: whether a rollback of the transaction was acknowledged, and whether it was delivered by then.
RolledBack == {"NO", "UNDELIVERED", "DELIVERED"}

\* Ghost: why a settled transaction is asked for or delivered again (the clauses of S1 and S9).
Cause == {"NONE", "DOUBLED_REQUEST", "IMMUNE_HALF", "AFTER_A_CHECK", "LOST_OP", "LATE_OP", "FORKED_COPY", "PASSED_OP"}

\* Ghost: whether an END_TRANSACTION was acknowledged in time and before any check, and whether one came later.
Quiet == {"NO", "ENDED", "CHECKED"}

\* Ghost: whether a half was discarded, and whether all its checks had been sent by then.
Budget == {"NO", "SPENT", "BURNT"}

\* An END_TRANSACTION for a half: under way, or half handled (the real message is stored, the op is not).
End == {"NONE", "COMMIT", "ROLLBACK", "COMMIT_STORED"}

\* Ghost: what the broker did for an END_TRANSACTION that named this half.
Settled == {"NO", "COMMITTED", "ROLLED_BACK"}

\* Ghost: how the check service left a half behind that no op message had named.
Left == {"NO", "FOR_CHECK", "FOR_IMMUNITY", "KEPT_ASIDE", "DROPPED"}

\* One transaction, as its producer and the consumers see it.
Transaction ==
    [local : Local,
     immunity : (0..LONGEST_IMMUNITY) \cup {NONE},
     first_half : HalfSlots \cup {NONE},
     deliveries : 0..2,
     parked : BOOLEAN,
     rolled_back : RolledBack,
     cause : Cause,
     quiet : Quiet,
     discarded : Budget]

\* One message of RMQ_SYS_TRANS_HALF_TOPIC, queue 0; its queue offset is its place in the array.
Half ==
    [transaction : Transactions,
     check_times : 0..CHECK_MAX,
     original : HalfSlots \cup {NONE},
     born_at : Instants(BIRTH_CUT),
     stored_at : Instants(ROUND_CUT),
     check_in_flight : BOOLEAN,
     end : End,
     claims_check : BOOLEAN,
     settled : Settled,
     acknowledged : BOOLEAN,
     checks_sent : 0..CHECK_MAX,
     left : Left]

\* One message of RMQ_SYS_TRANS_OP_HALF_TOPIC, queue 0; its queue offset is its place in the array.
Op ==
    [names : SUBSET HalfSlots,
     born_at : Instants(OP_CUT)]

\* The op buffer of 5.1 and later (MessageQueueOpContext); it lives in memory and dies with the broker.
Batch ==
    [names : SUBSET HalfSlots,
     is_open : BOOLEAN,
     waiting_since : Instants(OP_BATCH_INTERVAL),
     written_at : Instants(BATCH_CUT)]

\* One pass of the check service; it lives in memory and dies with the broker.
Round ==
    [running : BOOLEAN,
     started_at : Instants(ROUND_CUT),
     cursor : 0..HALF_SLOTS,
     first_op : 0..OP_SLOTS,
     next_op : 0..OP_SLOTS,
     op_end_seen : BOOLEAN,
     removed_by : [HalfSlots -> OpSlots \cup {NONE}],
     done : SUBSET OpSlots,
     done_twice : SUBSET OpSlots]

\* opMsgMap of the running round, for one op message (5.1 and later).
PulledOp ==
    [unresolved : SUBSET HalfSlots]

\* Consumer offsets of the group CID_RMQ_SYS_TRANS.
Offsets ==
    [half : 0..HALF_SLOTS,
     op : 0..OP_SLOTS]

VARIABLES
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
    saved                \* Consumer offsets of the group CID_RMQ_SYS_TRANS.

vars == <<transaction, half, half_length, op, op_length, batch, round, pulled_op, round_ended_at, offsets, saved>>

\* Every field lies in its declared range.
TypeOK ==
    /\ transaction \in [Transactions -> Transaction]
    /\ half \in [HalfSlots -> Half]
    /\ half_length \in 0..HALF_SLOTS
    /\ op \in [OpSlots -> Op]
    /\ op_length \in 0..OP_SLOTS
    /\ batch \in Batch
    /\ round \in Round
    /\ pulled_op \in [OpSlots -> PulledOp]
    /\ round_ended_at \in Instants(CHECK_INTERVAL)
    /\ offsets \in Offsets
    /\ saved \in Offsets

\* Nothing, empty, absent, long ago.
Init ==
    /\ transaction = [t \in Transactions |-> [local |-> "NOT_SENT",
                                              immunity |-> NONE,
                                              first_half |-> NONE,
                                              deliveries |-> 0,
                                              parked |-> FALSE,
                                              rolled_back |-> "NO",
                                              cause |-> "NONE",
                                              quiet |-> "NO",
                                              discarded |-> "NO"]]
    /\ half = [h \in HalfSlots |-> [transaction |-> 0,
                                    check_times |-> 0,
                                    original |-> NONE,
                                    born_at |-> LongAgo(BIRTH_CUT),
                                    stored_at |-> LongAgo(ROUND_CUT),
                                    check_in_flight |-> FALSE,
                                    end |-> "NONE",
                                    claims_check |-> FALSE,
                                    settled |-> "NO",
                                    acknowledged |-> FALSE,
                                    checks_sent |-> 0,
                                    left |-> "NO"]]
    /\ half_length = 0
    /\ op = [o \in OpSlots |-> [names |-> {},
                                born_at |-> LongAgo(OP_CUT)]]
    /\ op_length = 0
    /\ batch = [names |-> {},
                is_open |-> FALSE,
                waiting_since |-> LongAgo(OP_BATCH_INTERVAL),
                written_at |-> LongAgo(BATCH_CUT)]
    /\ round = [running |-> FALSE,
                started_at |-> LongAgo(ROUND_CUT),
                cursor |-> 0,
                first_op |-> 0,
                next_op |-> 0,
                op_end_seen |-> FALSE,
                removed_by |-> [h \in HalfSlots |-> NONE],
                done |-> {},
                done_twice |-> {}]
    /\ pulled_op = [o \in OpSlots |-> [unresolved |-> {}]]
    /\ round_ended_at = LongAgo(CHECK_INTERVAL)
    /\ offsets = [half |-> 0,
                  op |-> 0]
    /\ saved = [half |-> 0,
                op |-> 0]

----------------------------------------------------------------------------------------------------
\* Writing to the half queue: a first half, or a put-back copy of an earlier one.

\* How old the message is: born when its producer sent it, not when a copy was stored.
Age(h) == Now - half[h].born_at

\* checkImmunityTime: the message's own, or else the timeout.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check and #getImmunityTime.
Immunity(h) ==
    LET own == transaction[half[h].transaction].immunity
    IN  IF own = NONE THEN TIMEOUT ELSE own

\* The message carries CHECK_IMMUNITY_TIME_IN_SECONDS.
HasImmunity(h) == transaction[half[h].transaction].immunity # NONE

\* The half that the producer's send stored, not a put-back copy.
IsFirstHalf(h) == transaction[half[h].transaction].first_half = h

\* The instance ends where its half queue is full.
RoomForAHalf ==
    \* instance: the half queue of the instance has room
    /\ half_length < HALF_SLOTS

\* RocketMQ: TransactionalMessageBridge#putHalfMessage, #putMessageReturnResult.
AppendHalf(transaction_2, born_at) ==
    /\ half' = [half EXCEPT
                   ![half_length].transaction = transaction_2,
                   ![half_length].born_at = NotBefore(born_at, BIRTH_CUT),
                   ![half_length].stored_at = Now]
    /\ half_length' = half_length + 1

\* Some op message at offset `first` or later names half h.
NamesItFrom(h, first) == \E o \in OpSlots : o >= first /\ h \in op[o].names

\* A settled half is put back as the round knows no op message for it: not written yet, passed over, or lost.
WhyItsOpWasNotSeen(h) ==
    IF h \in batch.names \/ half[h].end # "NONE" \/ NamesItFrom(h, round.next_op)
    THEN "LATE_OP"
    ELSE IF NamesItFrom(h, 0) THEN "PASSED_OP" ELSE "LOST_OP"

----------------------------------------------------------------------------------------------------
\* The producer: sends the half, runs the local transaction, sends END_TRANSACTION, answers checks.
\*
\* RocketMQ: DefaultMQProducerImpl#sendMessageInTransaction, #endTransaction, #checkTransactionState.

\* The producer sends a transactional message, the broker stores it as a half, and the local transaction begins.
\*
\* RocketMQ: SendMessageProcessor → TransactionalMessageBridge#putHalfMessage.
SendHalf(t, immunity) ==
    \* the transaction was not sent yet
    /\ transaction[t].local = "NOT_SENT"
    \* instance: transactions are numbered in the order of their sends
    /\ IsTrue(t = 0 \/ transaction[t - 1].local # "NOT_SENT")
    /\ RoomForAHalf
    /\ AppendHalf(t, Now)
    /\ transaction' = [transaction EXCEPT
                          ![t].local = "EXECUTING",
                          ![t].immunity = immunity,
                          ![t].first_half = half_length]
    /\ UNCHANGED <<op, op_length, batch, round, pulled_op, round_ended_at, offsets, saved>>

\* The instance holds one END_TRANSACTION for a half at a time.
RoomForAnEnd(h) ==
    \* instance: no other END_TRANSACTION for the half is under way or being handled
    /\ half[h].end = "NONE"

\* The local transaction commits, and END_TRANSACTION(commit) is sent for the half that the send stored.
\*
\* RocketMQ: DefaultMQProducerImpl#endTransaction.
CommitLocally(t) ==
    \* the local transaction runs
    /\ transaction[t].local = "EXECUTING"
    /\ RoomForAnEnd(transaction[t].first_half)
    /\ transaction' = [transaction EXCEPT ![t].local = "COMMIT"]
    /\ half' = [half EXCEPT ![transaction[t].first_half].end = "COMMIT"]
    /\ UNCHANGED <<half_length, op, op_length, batch, round, pulled_op, round_ended_at, offsets, saved>>

\* The local transaction rolls back, and END_TRANSACTION(rollback) is sent for the half that the send stored.
\*
\* RocketMQ: DefaultMQProducerImpl#endTransaction.
RollBackLocally(t) ==
    \* the local transaction runs
    /\ transaction[t].local = "EXECUTING"
    /\ RoomForAnEnd(transaction[t].first_half)
    /\ transaction' = [transaction EXCEPT ![t].local = "ROLLBACK"]
    /\ half' = [half EXCEPT ![transaction[t].first_half].end = "ROLLBACK"]
    /\ UNCHANGED <<half_length, op, op_length, batch, round, pulled_op, round_ended_at, offsets, saved>>

\* The listener returns UNKNOW; the broker drops the END_TRANSACTION that says so, and leaves it to the checks.
\*
\* RocketMQ: EndTransactionProcessor#processRequest, TRANSACTION_NOT_TYPE.
LeaveItUnknown(t) ==
    \* the local transaction runs
    /\ transaction[t].local = "EXECUTING"
    /\ transaction' = [transaction EXCEPT ![t].local = "UNKNOWN"]
    /\ UNCHANGED <<half, half_length, op, op_length, batch, round, pulled_op, round_ended_at, offsets,
                   saved>>

\* An unknown local transaction turns out to be committed; only a later check will hear of it.
ResolveToCommit(t) ==
    \* the local transaction's outcome is unknown
    /\ transaction[t].local = "UNKNOWN"
    /\ transaction' = [transaction EXCEPT ![t].local = "COMMIT"]
    /\ UNCHANGED <<half, half_length, op, op_length, batch, round, pulled_op, round_ended_at, offsets,
                   saved>>

\* An unknown local transaction turns out to be rolled back; only a later check will hear of it.
ResolveToRollback(t) ==
    \* the local transaction's outcome is unknown
    /\ transaction[t].local = "UNKNOWN"
    /\ transaction' = [transaction EXCEPT ![t].local = "ROLLBACK"]
    /\ UNCHANGED <<half, half_length, op, op_length, batch, round, pulled_op, round_ended_at, offsets,
                   saved>>

\* The producer answers a check by what it knows; unknown is an answer that the broker drops.
\*
\* RocketMQ: ClientRemotingProcessor#checkTransactionState → DefaultMQProducerImpl#checkTransactionState. The answer
\* names the copy that the check named.
AnswerCheck(h) ==
    \* a check request for this copy arrives
    /\ half[h].check_in_flight
    /\ RoomForAnEnd(h)
    /\ half' = [half EXCEPT
                   ![h].check_in_flight = FALSE,
                   ![h].end =
                       IF transaction[half[h].transaction].local = "COMMIT"
                       THEN "COMMIT"
                       ELSE IF transaction[half[h].transaction].local = "ROLLBACK"
                            THEN "ROLLBACK"
                            ELSE @]
    /\ UNCHANGED <<transaction, half_length, op, op_length, batch, round, pulled_op, round_ended_at,
                   offsets, saved>>

\* A checker that finds no trace of a local transaction that still runs answers rollback (A12).
\*
\* RocketMQ: the user's TransactionListener#checkLocalTransaction.
AnswerCheckTooEarly(h) ==
    \* a check request for this copy arrives
    /\ half[h].check_in_flight
    \* the local transaction still runs
    /\ transaction[half[h].transaction].local = "EXECUTING"
    \* environment: a local transaction is over before its first check
    /\ SLOW_LOCAL
    /\ RoomForAnEnd(h)
    /\ half' = [half EXCEPT ![h].check_in_flight = FALSE, ![h].end = "ROLLBACK"]
    /\ UNCHANGED <<transaction, half_length, op, op_length, batch, round, pulled_op, round_ended_at,
                   offsets, saved>>

----------------------------------------------------------------------------------------------------
\* END_TRANSACTION on the broker: the real message is stored, then the op message is written or buffered.
\*
\* Two writes, so two steps: the process may die between them. The op queue is never read here, so that a repeated or a
\* contradicting request is carried out again (A12, A13). RocketMQ: EndTransactionProcessor#processRequest.

\* A direct END_TRANSACTION of a half whose own immunity, the timeout at least, is over.
\*
\* What says that it answers a check is never late.
\*
\* RocketMQ: EndTransactionProcessor#rejectCommitOrRollback, TransactionalMessageUtil#getImmunityTime (5.1.1, #6401).
IsRefusedAsLate(h) ==
    LET is_over == Age(h) > Immunity(h) /\ Age(h) > TIMEOUT
        is_direct == IsFirstHalf(h) /\ ~half[h].claims_check
    IN  REFUSES_LATE_END /\ is_direct /\ HasImmunity(h) /\ is_over

\* No END_TRANSACTION names half h any more.
ForgetEnd(h) ==
    /\ half' = [half EXCEPT ![h].end = "NONE", ![h].claims_check = FALSE]

\* The broker answers ILLEGAL_OPERATION to a late direct END_TRANSACTION; the producer never looks (A58).
\*
\* RocketMQ: EndTransactionProcessor#rejectCommitOrRollback.
RefuseLateEnd(h) ==
    \* an END_TRANSACTION for this half arrives
    /\ IsTrue(half[h].end = "COMMIT" \/ half[h].end = "ROLLBACK")
    \* it is direct, and the half's immunity is over
    /\ IsRefusedAsLate(h)
    /\ ForgetEnd(h)
    /\ UNCHANGED <<transaction, half_length, op, op_length, batch, round, pulled_op, round_ended_at,
                   offsets, saved>>

\* A commit arrives: the message is stored in its real topic, where consumers see it.
\*
\* RocketMQ: EndTransactionProcessor#sendFinalMessage.
StoreRealMessage(h) ==
    \* a commit for this half arrives
    /\ half[h].end = "COMMIT"
    \* it is not refused as late
    /\ ~IsRefusedAsLate(h)
    /\ LET t == half[h].transaction
           cause_then ==
               IF transaction[t].deliveries = 1 /\ half[h].settled = "COMMITTED"
               THEN "DOUBLED_REQUEST"
               ELSE transaction[t].cause
       IN  /\ transaction' = [transaction EXCEPT
                                 ![t].cause =
                                     IF transaction[t].deliveries < 2
                                     THEN IF cause_then = "NONE"
                                          THEN IF half[h].left = "FOR_CHECK"
                                               THEN "AFTER_A_CHECK"
                                               ELSE IF half[h].left = "FOR_IMMUNITY"
                                                    THEN "IMMUNE_HALF"
                                                    ELSE cause_then
                                          ELSE cause_then
                                     ELSE cause_then,
                                 ![t].deliveries = IF @ < 2 THEN @ + 1 ELSE @]
           /\ half' = [half EXCEPT ![h].end = "COMMIT_STORED", ![h].settled = "COMMITTED"]
    /\ UNCHANGED <<half_length, op, op_length, batch, round, pulled_op, round_ended_at, offsets, saved>>

\* What writing and buffering an op need: there is an END_TRANSACTION to answer, and it is not refused.
AnswersAHandledEnd(h) ==
    \* the real message of a commit is stored, or a rollback arrives
    /\ IsTrue(half[h].end = "COMMIT_STORED" \/ half[h].end = "ROLLBACK")
    \* it is not refused as late
    /\ IsTrue(half[h].end = "COMMIT_STORED" \/ ~IsRefusedAsLate(h))

\* The half is at most as old as the timeout or its immunity, whichever is longer.
IsEarlyEnough(h) == Age(h) <= TIMEOUT \/ Age(h) <= Immunity(h)

\* A check was sent for the transaction.
WasChecked(t) == \E h \in HalfSlots : half[h].transaction = t /\ half[h].left = "FOR_CHECK"

\* SUCCESS was answered to an END_TRANSACTION that named half h.
Acknowledge(h) ==
    /\ LET t == half[h].transaction
       IN  /\ transaction' = [transaction EXCEPT
                                 ![t].cause =
                                     IF half[h].end = "ROLLBACK"
                                     THEN IF @ = "NONE"
                                          THEN IF half[h].left = "FOR_CHECK"
                                               THEN "AFTER_A_CHECK"
                                               ELSE IF half[h].left = "FOR_IMMUNITY" THEN "IMMUNE_HALF" ELSE @
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
                          ![h].end = "NONE",
                          ![h].claims_check = FALSE]

\* The op message that names this half is written at once, and the END_TRANSACTION is answered SUCCESS.
\*
\* RocketMQ: TransactionalMessageServiceImpl#deletePrepareMessage up to 5.0.
WriteOp(h) ==
    /\ AnswersAHandledEnd(h)
    \* this version writes an op message for each END_TRANSACTION
    /\ ~BATCHES_OPS
    \* instance: the op queue of the instance has room
    /\ op_length < OP_SLOTS
    /\ Acknowledge(h)
    /\ op' = [op EXCEPT ![op_length].names = {h}, ![op_length].born_at = Now]
    /\ op_length' = op_length + 1
    /\ UNCHANGED <<half_length, batch, round, pulled_op, round_ended_at, offsets, saved>>

\* The half's offset joins the op batch in memory, and the END_TRANSACTION is answered SUCCESS (B02).
\*
\* RocketMQ: TransactionalMessageServiceImpl#deletePrepareMessage from 5.1.0 on.
BufferOp(h) ==
    /\ AnswersAHandledEnd(h)
    \* this version writes op messages in batches
    /\ BATCHES_OPS
    /\ Acknowledge(h)
    /\ batch' = [batch EXCEPT
                    !.waiting_since = IF batch.names = {} THEN Now ELSE @,
                    !.is_open = IF ~@ THEN TRUE ELSE @,
                    !.written_at = IF ~batch.is_open THEN Now ELSE @,
                    !.names = @ \cup {h}]
    /\ UNCHANGED <<half_length, op, op_length, round, pulled_op, round_ended_at, offsets, saved>>

----------------------------------------------------------------------------------------------------
\* The op batch of 5.1 and later: half offsets wait in memory and are written together by a thread of its own.
\*
\* RocketMQ: TransactionalMessageServiceImpl#batchSendOpMessage, TransactionalOpBatchService.

\* How many half offsets wait.
BatchSize == Cardinality({h \in HalfSlots : h \in batch.names})

\* The waiting half offsets are written as one op message, when the interval is over or when they are many.
\*
\* RocketMQ: TransactionalMessageServiceImpl#batchSendOpMessage → #getOpMessage.
WriteOpBatch ==
    \* half offsets wait in the batch
    /\ batch.names # {}
    \* the batch interval is over since the last write, or the batch is full
    /\ IsTrue(Now - batch.written_at >= OP_BATCH_INTERVAL \/ BatchSize >= OP_BATCH_SIZE)
    \* instance: the op queue of the instance has room
    /\ op_length < OP_SLOTS
    /\ op' = [op EXCEPT ![op_length].names = batch.names, ![op_length].born_at = Now]
    /\ op_length' = op_length + 1
    /\ batch' = [batch EXCEPT
                    !.names = {},
                    !.waiting_since = LongAgo(OP_BATCH_INTERVAL),
                    !.written_at = Now]
    /\ UNCHANGED <<transaction, half, half_length, round, pulled_op, round_ended_at, offsets, saved>>

\* The batch thread, which wakes once an interval, has had its chance to write what waits.
\*
\* An entry waits for the interval since the last write and then for the next wake-up: up to two intervals (A16).
BatchIsOverdue ==
    LET is_waiting_long == Now - batch.waiting_since >= OP_BATCH_INTERVAL
        is_unwritten_long == Now - batch.written_at >= BATCH_CUT
    IN  batch.names # {} /\ is_waiting_long /\ is_unwritten_long

\* The process dies: what waits is gone.
DropBatch ==
    /\ batch' = [batch EXCEPT
                    !.names = {},
                    !.is_open = FALSE,
                    !.waiting_since = LongAgo(OP_BATCH_INTERVAL),
                    !.written_at = LongAgo(BATCH_CUT)]

----------------------------------------------------------------------------------------------------
\* Reading the op queue in a round: which halves are settled, and which op messages are done.
\*
\* RocketMQ: TransactionalMessageServiceImpl#fillOpRemoveMap, #calculateOpOffset.

\* removeMap has the half: an op message that was pulled in this round names it.
IsSettledByAnOp(h) == round.removed_by[h] # NONE

\* Read up to `op_pull_size` op messages from `next_op` on, and enter the halves that they name into removeMap.
\*
\* A name below the half offset at which the round began counts as settled long ago, whatever became of the copies made
\* since (A11, B01). An op message with no other name is done at once. 4.5.1 takes a pull exactly at the end of the
\* queue for an illegal offset and commits the op offset to the end (A02).
PullOpMessages ==
    /\ LET first == round.next_op
           offsets_then ==
               [offsets EXCEPT
                   !.op =
                       IF OP_END_COMMITS_OFFSET /\ round.next_op = op_length THEN op_length ELSE @]
           after_o[o \in -1..OP_SLOTS - 1] ==
               IF o = -1
               THEN [round |-> [round EXCEPT !.op_end_seen = (round.next_op = op_length)],
                     pulled_op |-> pulled_op]
               ELSE LET before_o == after_o[o - 1]
                        unresolved_then ==
                            before_o.pulled_op[o].unresolved
                              \cup {h \in HalfSlots :
                                       /\ h \in op[o].names
                                       /\ \/ h >= offsets_then.half
                                          \/ /\ HEEDS_SETTLED_ORIGINALS
                                             /\ \E k \in HalfSlots :
                                                    /\ k >= offsets_then.half
                                                    /\ k < half_length
                                                    /\ half[k].original = h}
                        when == first <= o /\ o < first + OP_PULL_SIZE /\ o < op_length
                    IN  [round |-> [before_o.round EXCEPT
                                       !.removed_by =
                                           IF when
                                           THEN [h \in HalfSlots |->
                                                    IF /\ h \in op[o].names
                                                       /\ \/ h >= offsets_then.half
                                                          \/ /\ HEEDS_SETTLED_ORIGINALS
                                                             /\ \E k \in HalfSlots :
                                                                    /\ k >= offsets_then.half
                                                                    /\ k < half_length
                                                                    /\ half[k].original = h
                                                    THEN o
                                                    ELSE @[h]]
                                           ELSE @,
                                       !.done_twice =
                                           IF when
                                           THEN IF unresolved_then = {}
                                                THEN IF o \in before_o.round.done
                                                     THEN @ \cup {o}
                                                     ELSE @
                                                ELSE @
                                           ELSE @,
                                       !.done =
                                           IF when
                                           THEN IF unresolved_then = {}
                                                THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                ELSE @
                                           ELSE @,
                                       !.next_op = IF when THEN o + 1 ELSE @],
                         pulled_op |-> [before_o.pulled_op EXCEPT
                                           ![o].unresolved = IF when THEN unresolved_then ELSE @]]
       IN  /\ round' = after_o[OP_SLOTS - 1].round
           /\ pulled_op' = after_o[OP_SLOTS - 1].pulled_op
           /\ offsets' = offsets_then

\* The last op message of the last pull was born so long after the round's start that ops may lag behind.
LastOpPulledCameLate ==
    \E o \in OpSlots : o + 1 = round.next_op /\ op[o].born_at - round.started_at > TIMEOUT

\* The first op offset, from where the round began to read, that is not done, or that follows one listed twice.
\*
\* RocketMQ: TransactionalMessageServiceImpl#calculateOpOffset walks the sorted list and stops at a repeated entry.
OpOffsetAfterRound ==
    round.first_op + Cardinality({o \in OpSlots :
                                     /\ o >= round.first_op
                                     /\ \A i \in 0..o :
                                            \/ i < round.first_op
                                            \/ /\ i \in round.done
                                               /\ i = o \/ i \notin round.done_twice})

----------------------------------------------------------------------------------------------------
\* One round of the check service, a step of its loop an action.
\*
\* For the half at the cursor, in this order: settled by an op that was pulled · no half there · discard · stored in this
\* round · immune or young · check · otherwise pull more op messages and look again. RocketMQ:
\* TransactionalMessageServiceImpl#check.

\* The round has not yet lasted longer than MAX_PROCESS_TIME_LIMIT.
IsWithinLimit == Now - round.started_at <= ROUND_LIMIT

\* The message was stored in this round.
IsFresh(h) == half[h].stored_at >= round.started_at

\* Its timeout or immunity is not over. At exactly that age, versions differ (A19).
IsYoung(h) == Age(h) < Immunity(h) \/ (EQUAL_AGE_IS_YOUNG /\ Age(h) = Immunity(h))

\* It has an immunity of its own, which is not over.
IsImmune(h) == HasImmunity(h) /\ IsYoung(h)

\* removeMap has the offset that an immunity put-back wrote down (TRAN_PREPARED_QUEUE_OFFSET).
OriginalIsSettled(h) == half[h].original # NONE /\ round.removed_by[half[h].original] # NONE

\* isNeedCheck: all op messages are read and the half is old, or they run late, or the clocks disagree.
MayCheck(h) ==
    LET no_more_ops == round.op_end_seen /\ Age(h) > Immunity(h)
        ops_run_late == ~round.op_end_seen /\ LastOpPulledCameLate
        clock_ahead == Age(h) <= -1
    IN  no_more_ops \/ ops_run_late \/ clock_ahead

\* A check request or an END_TRANSACTION of the transaction is under way, or is being handled.
AwaitsItsProducer(t) ==
    \E h \in HalfSlots :
        half[h].transaction = t /\ (half[h].check_in_flight \/ half[h].end # "NONE")

\* What every step of the loop needs: a round in its time, and a half to look at.
StandsOnAHalf ==
    \* a round runs
    /\ round.running
    \* the round is within its time limit
    /\ IsWithinLimit
    \* the cursor stands on a half
    /\ round.cursor < half_length

\* The same, and neither an op message nor the number of checks has the last word on the half.
StandsOnAnUnsettledHalf ==
    /\ StandsOnAHalf
    \* no op message that was pulled names it
    /\ ~IsSettledByAnOp(round.cursor)
    \* it has checks left
    /\ half[round.cursor].check_times < CHECK_MAX

\* The same, and the half was there before the round.
StandsOnAnEarlierHalf ==
    /\ StandsOnAnUnsettledHalf
    \* it was stored before this round
    /\ ~IsFresh(round.cursor)

\* The same, and its time for a check has come.
StandsOnAnOldHalf ==
    /\ StandsOnAnEarlierHalf
    \* its timeout or immunity is over
    /\ ~IsYoung(round.cursor)
    \* no op message that was pulled names its original
    /\ IsTrue(~HEEDS_SETTLED_ORIGINALS \/ ~OriginalIsSettled(round.cursor))

\* The check service wakes up, reads both offsets and pulls the first op messages.
\*
\* RocketMQ: TransactionalMessageCheckService#onWaitEnd → TransactionalMessageServiceImpl#check.
BeginRound ==
    \* no round runs
    /\ ~round.running
    \* the check interval is over since the last round
    /\ Now - round_ended_at >= CHECK_INTERVAL
    /\ LET first == offsets.op
           offsets_then ==
               [offsets EXCEPT
                   !.op = IF OP_END_COMMITS_OFFSET /\ @ = op_length THEN op_length ELSE @]
           after_o[o \in -1..OP_SLOTS - 1] ==
               IF o = -1
               THEN [round |-> [round EXCEPT
                                   !.running = TRUE,
                                   !.started_at = Now,
                                   !.cursor = offsets.half,
                                   !.first_op = offsets.op,
                                   !.next_op = offsets.op,
                                   !.op_end_seen = (offsets.op = op_length)],
                     pulled_op |-> pulled_op]
               ELSE LET before_o == after_o[o - 1]
                        unresolved_then ==
                            before_o.pulled_op[o].unresolved
                              \cup {h \in HalfSlots :
                                       /\ h \in op[o].names
                                       /\ \/ h >= offsets_then.half
                                          \/ /\ HEEDS_SETTLED_ORIGINALS
                                             /\ \E k \in HalfSlots :
                                                    /\ k >= offsets_then.half
                                                    /\ k < half_length
                                                    /\ half[k].original = h}
                        when == first <= o /\ o < first + OP_PULL_SIZE /\ o < op_length
                    IN  [round |-> [before_o.round EXCEPT
                                       !.removed_by =
                                           IF when
                                           THEN [h \in HalfSlots |->
                                                    IF /\ h \in op[o].names
                                                       /\ \/ h >= offsets_then.half
                                                          \/ /\ HEEDS_SETTLED_ORIGINALS
                                                             /\ \E k \in HalfSlots :
                                                                    /\ k >= offsets_then.half
                                                                    /\ k < half_length
                                                                    /\ half[k].original = h
                                                    THEN o
                                                    ELSE @[h]]
                                           ELSE @,
                                       !.done_twice =
                                           IF when
                                           THEN IF unresolved_then = {}
                                                THEN IF o \in before_o.round.done
                                                     THEN @ \cup {o}
                                                     ELSE @
                                                ELSE @
                                           ELSE @,
                                       !.done =
                                           IF when
                                           THEN IF unresolved_then = {}
                                                THEN IF o \in @ THEN @ ELSE @ \cup {o}
                                                ELSE @
                                           ELSE @,
                                       !.next_op = IF when THEN o + 1 ELSE @],
                         pulled_op |-> [before_o.pulled_op EXCEPT
                                           ![o].unresolved = IF when THEN unresolved_then ELSE @]]
       IN  /\ round' = after_o[OP_SLOTS - 1].round
           /\ pulled_op' = after_o[OP_SLOTS - 1].pulled_op
           /\ offsets' = offsets_then
    /\ UNCHANGED <<transaction, half, half_length, op, op_length, batch, round_ended_at, saved>>

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
    /\ UNCHANGED <<transaction, half, half_length, op, op_length, batch, round_ended_at, offsets, saved>>

\* A half without checks left is moved away, before the rest of the op messages is read (A10).
\*
\* RocketMQ: TransactionalMessageServiceImpl#needDiscard, DefaultTransactionalMessageCheckListener#resolveDiscardMsg.
\* Up to 4.5.1 only a log line remains of it (A31).
DiscardHalf ==
    /\ StandsOnAHalf
    \* no op message that was pulled names it
    /\ ~IsSettledByAnOp(round.cursor)
    \* it has no checks left
    /\ half[round.cursor].check_times >= CHECK_MAX
    /\ LET t == half[round.cursor].transaction
       IN  /\ transaction' = [transaction EXCEPT
                                 ![half[round.cursor].transaction].parked = IF KEEPS_DISCARDED THEN TRUE ELSE @,
                                 ![t].discarded =
                                     IF half[round.cursor].checks_sent < CHECK_MAX
                                     THEN "BURNT"
                                     ELSE IF @ = "NO" THEN "SPENT" ELSE @]
           /\ half' = [half EXCEPT ![round.cursor].left = IF KEEPS_DISCARDED THEN "KEPT_ASIDE" ELSE "DROPPED"]
           /\ round' = [round EXCEPT !.cursor = @ + 1]
    /\ UNCHANGED <<half_length, op, op_length, batch, pulled_op, round_ended_at, offsets, saved>>

\* An immune copy is passed because an op message names its original; that op counts as done as a whole (A15).
\*
\* The repair of B01 asks about every copy that knows its original, and marks the op as done with its last half.
\*
\* RocketMQ: TransactionalMessageServiceImpl#checkPrepareQueueOffset.
PassHalfOfSettledOriginal ==
    /\ StandsOnAnEarlierHalf
    \* its immunity is not over
    /\ IsTrue(HEEDS_SETTLED_ORIGINALS \/ IsImmune(round.cursor))
    \* an op message that was pulled names its original
    /\ OriginalIsSettled(round.cursor)
    /\ LET o == round.removed_by[half[round.cursor].original]
           unresolved_then == pulled_op[o].unresolved \ {half[round.cursor].original}
           when == round.removed_by[half[round.cursor].original] \in round.done
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
                        !.removed_by[half[round.cursor].original] = NONE]
               ELSE [round EXCEPT
                        !.done_twice =
                            IF when
                            THEN @ \cup {round.removed_by[half[round.cursor].original]}
                            ELSE @,
                        !.done =
                            IF when
                            THEN @
                            ELSE @ \cup {round.removed_by[half[round.cursor].original]},
                        !.removed_by[half[round.cursor].original] = NONE]
       IN  /\ round' = [round_then EXCEPT !.cursor = @ + 1]
           /\ pulled_op' =
                  IF HEEDS_SETTLED_ORIGINALS
                  THEN [pulled_op EXCEPT ![o].unresolved = unresolved_then]
                  ELSE pulled_op
    /\ UNCHANGED <<transaction, half, half_length, op, op_length, batch, round_ended_at, offsets, saved>>

\* An immune half goes to the end of the queue as a copy that knows its original; that costs it a check (A09).
\*
\* RocketMQ: TransactionalMessageServiceImpl#putImmunityMsgBackToHalfQueue, TransactionalMessageBridge
\* #renewImmunityHalfMessageInner.
PutBackImmuneHalf ==
    /\ StandsOnAnEarlierHalf
    \* its immunity is not over
    /\ IsTrue(IsImmune(round.cursor))
    \* no op message that was pulled names its original
    /\ ~OriginalIsSettled(round.cursor)
    /\ RoomForAHalf
    /\ LET t == half[round.cursor].transaction
       IN  /\ transaction' = [transaction EXCEPT
                                 ![t].cause =
                                     IF @ = "NONE"
                                     THEN IF half[round.cursor].left # "NO"
                                          THEN "FORKED_COPY"
                                          ELSE IF half[round.cursor].settled # "NO"
                                               THEN WhyItsOpWasNotSeen(round.cursor)
                                               ELSE @
                                     ELSE @,
                                 ![t].quiet = IF "FOR_IMMUNITY" = "FOR_CHECK" /\ @ = "ENDED" THEN "CHECKED" ELSE @]
           /\ half' = [half EXCEPT
                          ![round.cursor].left = "FOR_IMMUNITY",
                          ![half_length].check_times = half[round.cursor].check_times + 1,
                          ![half_length].checks_sent = half[round.cursor].checks_sent,
                          ![half_length].transaction = half[round.cursor].transaction,
                          ![half_length].born_at = half[round.cursor].born_at,
                          ![half_length].stored_at = Now,
                          ![half_length].original =
                              IF half[round.cursor].original = NONE
                              THEN round.cursor
                              ELSE half[round.cursor].original]
           /\ half_length' = half_length + 1
           /\ round' = [round EXCEPT !.cursor = @ + 1]
    /\ UNCHANGED <<op, op_length, batch, pulled_op, round_ended_at, offsets, saved>>

\* An old unsettled half goes to the end of the queue as a copy; then its producer is asked about the copy.
\*
\* RocketMQ: TransactionalMessageServiceImpl#putBackHalfMsgQueue, then AbstractTransactionalMessageCheckListener
\* #resolveHalfMsg. The copy is stored before the check is sent and has no link to the half that the producer knows
\* (A11).
PutBackAndCheck ==
    /\ StandsOnAnOldHalf
    \* no more op messages are to be expected for it
    /\ IsTrue(MayCheck(round.cursor))
    \* environment: a local transaction is over before its first check
    /\ IsTrue(SLOW_LOCAL \/ transaction[half[round.cursor].transaction].local # "EXECUTING")
    \* environment: nothing is under way for a transaction when it is checked
    /\ IsTrue(LATE_END \/ ~AwaitsItsProducer(half[round.cursor].transaction))
    /\ RoomForAHalf
    /\ LET t == half[round.cursor].transaction
       IN  /\ transaction' = [transaction EXCEPT
                                 ![t].cause =
                                     IF @ = "NONE"
                                     THEN IF half[round.cursor].left # "NO"
                                          THEN "FORKED_COPY"
                                          ELSE IF half[round.cursor].settled # "NO"
                                               THEN WhyItsOpWasNotSeen(round.cursor)
                                               ELSE @
                                     ELSE @,
                                 ![t].quiet = IF "FOR_CHECK" = "FOR_CHECK" /\ @ = "ENDED" THEN "CHECKED" ELSE @]
           /\ half' = [half EXCEPT
                          ![round.cursor].left = "FOR_CHECK",
                          ![half_length].check_times = half[round.cursor].check_times + 1,
                          ![half_length].original = half[round.cursor].original,
                          ![half_length].transaction = half[round.cursor].transaction,
                          ![half_length].born_at = half[round.cursor].born_at,
                          ![half_length].stored_at = Now,
                          ![half_length].checks_sent = half[round.cursor].checks_sent + 1,
                          ![half_length].check_in_flight = TRUE]
           /\ half_length' = half_length + 1
           /\ round' = [round EXCEPT !.cursor = @ + 1]
    /\ UNCHANGED <<op, op_length, batch, pulled_op, round_ended_at, offsets, saved>>

\* It is too early to check the half at the cursor: more op messages are read, and the same half is looked at again.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check → #fillOpRemoveMap. 5.x sleeps a second when there was none.
PullMoreOps ==
    /\ StandsOnAnOldHalf
    \* more op messages may be expected for it
    /\ ~MayCheck(round.cursor)
    /\ PullOpMessages
    /\ UNCHANGED <<transaction, half, half_length, op, op_length, batch, round_ended_at, saved>>

\* The memory of a round is gone.
ForgetRound ==
    /\ round' = [round EXCEPT
                    !.running = FALSE,
                    !.started_at = LongAgo(ROUND_CUT),
                    !.cursor = 0,
                    !.first_op = 0,
                    !.next_op = 0,
                    !.op_end_seen = FALSE,
                    !.done = {},
                    !.done_twice = {},
                    !.removed_by = [h \in HalfSlots |-> NONE]]
    /\ pulled_op' = [o \in OpSlots |-> [pulled_op[o] EXCEPT !.unresolved = {}]]

\* Both offsets are committed, in memory: the half offset to the cursor, the op offset past what is done.
\*
\* The op offset is left alone when the round moved it nowhere, also where a pull has set it meanwhile (A02).
EndRound ==
    /\ ForgetRound
    /\ round_ended_at' = Now
    /\ offsets' = [offsets EXCEPT
                      !.half = round.cursor,
                      !.op = IF OpOffsetAfterRound # round.first_op THEN OpOffsetAfterRound ELSE @]

\* No half is left to look at.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check, NO_NEW_MSG.
EndRoundAtQueueEnd ==
    \* a round runs
    /\ round.running
    \* the round is within its time limit
    /\ IsWithinLimit
    \* the cursor stands at the end of the half queue
    /\ round.cursor >= half_length
    /\ EndRound
    /\ UNCHANGED <<transaction, half, half_length, op, op_length, batch, saved>>

\* The half at the cursor was stored in this round.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check, "Fresh stored".
EndRoundAtFreshHalf ==
    /\ StandsOnAnUnsettledHalf
    \* it was stored in this round
    /\ IsFresh(round.cursor)
    /\ EndRound
    /\ UNCHANGED <<transaction, half, half_length, op, op_length, batch, saved>>

\* The half at the cursor was stored in this round and is not in the consume queue yet; else it would be discarded.
\*
\* RocketMQ: DefaultMessageStore.ReputMessageService dispatches what the commit log holds, a moment later;
\* TransactionalMessageServiceImpl#check then finds no message. Real 5.4.0 brokers discard in the next round for it,
\* others in the same one.
EndRoundBeforeDispatch ==
    /\ StandsOnAHalf
    \* no op message that was pulled names it
    /\ ~IsSettledByAnOp(round.cursor)
    \* it has no checks left
    /\ half[round.cursor].check_times >= CHECK_MAX
    \* it was stored in this round
    /\ IsFresh(round.cursor)
    \* environment: what is stored is in its consume queue at once
    /\ SLOW_DISPATCH
    /\ EndRound
    /\ UNCHANGED <<transaction, half, half_length, op, op_length, batch, saved>>

\* The half at the cursor has no immunity of its own and is younger than the timeout: those behind it wait, too.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check, "New arrived".
EndRoundAtYoungHalf ==
    /\ StandsOnAnEarlierHalf
    \* it has no immunity of its own
    /\ ~HasImmunity(round.cursor)
    \* it was not born in the future
    /\ Age(round.cursor) >= 0
    \* its timeout is not over
    /\ IsTrue(IsYoung(round.cursor))
    /\ EndRound
    /\ UNCHANGED <<transaction, half, half_length, op, op_length, batch, saved>>

\* The round has lasted too long; the next one goes on from here.
\*
\* RocketMQ: TransactionalMessageServiceImpl#check, MAX_PROCESS_TIME_LIMIT.
EndRoundAtTimeLimit ==
    \* a round runs
    /\ round.running
    \* the round is over its time limit
    /\ ~IsWithinLimit
    /\ EndRound
    /\ UNCHANGED <<transaction, half, half_length, op, op_length, batch, saved>>

----------------------------------------------------------------------------------------------------
\* The broker's process: offsets go to their file now and then, and the process may die and start again.
\*
\* RocketMQ: ConsumerOffsetManager#persist, BrokerController#initialize.

\* config/consumerOffset.json is written.
\*
\* RocketMQ: ConsumerOffsetManager#persist, every flushConsumerOffsetInterval; any moment will do here.
PersistOffsets ==
    \* an offset has moved since the file was written
    /\ IsTrue(saved.half # offsets.half \/ saved.op # offsets.op)
    /\ saved' = [saved EXCEPT !.half = offsets.half, !.op = offsets.op]
    /\ UNCHANGED <<transaction, half, half_length, op, op_length, batch, round, pulled_op, round_ended_at,
                   offsets>>

\* The broker's process is killed and started again. What was written to the page cache stays; memory is lost.
\*
\* Requests under way die with their connections, and those that were being handled with their threads. The op batch
\* dies with its entries (B02).
Crash ==
    \* environment: the broker's process does not die
    /\ CRASH
    /\ DropBatch
    /\ ForgetRound
    /\ half' = [h \in HalfSlots |->
                   [half[h] EXCEPT !.check_in_flight = FALSE, !.end = "NONE", !.claims_check = FALSE]]
    /\ round_ended_at' = Now
    /\ offsets' = [offsets EXCEPT !.half = saved.half, !.op = saved.op]
    /\ UNCHANGED <<transaction, half_length, op, op_length, saved>>

\* The transaction's half is as old as a half may be before its first check.
MustHearFromItsProducer(t) ==
    /\ transaction[t].first_half # NONE
    /\ Age(transaction[t].first_half) >= TIMEOUT
    /\ Age(transaction[t].first_half) >= Immunity(transaction[t].first_half)

\* The clock goes on. Without faults, nothing that is due is overdue.
Tick ==
    \* environment: a local transaction is over before its first check
    /\ IsTrue(\/ SLOW_LOCAL
              \/ \A t \in Transactions : transaction[t].local # "EXECUTING" \/ ~MustHearFromItsProducer(t))
    \* environment: each END_TRANSACTION arrives before the first check of its transaction is due
    /\ IsTrue(LATE_END \/ (\A t \in Transactions : ~AwaitsItsProducer(t) \/ ~MustHearFromItsProducer(t)))
    \* environment: an END_TRANSACTION is handled without a pause
    /\ IsTrue(LATE_END \/ (\A h \in HalfSlots : half[h].end # "COMMIT_STORED"))
    \* environment: a round takes no time
    /\ IsTrue(SLOW_ROUND \/ ~round.running)
    \* environment: the op batch thread wakes up once an interval
    /\ ~BatchIsOverdue
    /\ half' = [h \in HalfSlots |->
                   [half[h] EXCEPT !.born_at = Older(@, BIRTH_CUT), !.stored_at = Older(@, ROUND_CUT)]]
    /\ op' = [o \in OpSlots |-> [op[o] EXCEPT !.born_at = Older(@, OP_CUT)]]
    /\ batch' = [batch EXCEPT
                    !.waiting_since = Older(@, OP_BATCH_INTERVAL),
                    !.written_at = Older(@, BATCH_CUT)]
    /\ round' = [round EXCEPT !.started_at = Older(@, ROUND_CUT)]
    /\ round_ended_at' = Older(round_ended_at, CHECK_INTERVAL)
    /\ UNCHANGED <<transaction, half_length, op_length, pulled_op, offsets, saved>>

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
    /\ ForgetEnd(h)
    /\ UNCHANGED <<transaction, half_length, op, op_length, batch, round, pulled_op, round_ended_at,
                   offsets, saved>>

\* A check request never arrives, or no producer of the group answers it.
LoseCheck(h) ==
    \* a check request for this copy is under way
    /\ half[h].check_in_flight
    \* environment: each check request arrives
    /\ LOSE_CHECK
    /\ half' = [half EXCEPT ![h].check_in_flight = FALSE]
    /\ UNCHANGED <<transaction, half_length, op, op_length, batch, round, pulled_op, round_ended_at,
                   offsets, saved>>

\* An END_TRANSACTION that was handled arrives a second time (A13).
DuplicateEnd(h) ==
    \* an END_TRANSACTION for this half was handled
    /\ half[h].settled # "NO"
    \* none is under way
    /\ half[h].end = "NONE"
    \* environment: each END_TRANSACTION arrives once
    /\ DUPLICATE_END
    /\ half' = [half EXCEPT ![h].end = IF half[h].settled = "COMMITTED" THEN "COMMIT" ELSE "ROLLBACK"]
    /\ UNCHANGED <<transaction, half_length, op, op_length, batch, round, pulled_op, round_ended_at,
                   offsets, saved>>

\* What a wrong END_TRANSACTION needs: a half to name.
MayBeEndedByMistake(h) ==
    \* the half is stored
    /\ h < half_length
    \* none is under way
    /\ half[h].end = "NONE"
    \* environment: each END_TRANSACTION says what its producer decided
    /\ WRONG_END

\* A commit arrives for a half, whatever its producer decided and whether or not it was asked (A12, A36).
\*
\* RocketMQ: EndTransactionProcessor#processRequest compares group and offsets only.
SendWrongCommit(h) ==
    /\ MayBeEndedByMistake(h)
    /\ half' = [half EXCEPT ![h].end = "COMMIT"]
    /\ UNCHANGED <<transaction, half_length, op, op_length, batch, round, pulled_op, round_ended_at,
                   offsets, saved>>

\* A rollback arrives for a half, whatever its producer decided and whether or not it was asked (A12, A36).
\*
\* RocketMQ: EndTransactionProcessor#processRequest compares group and offsets only.
SendWrongRollback(h) ==
    /\ MayBeEndedByMistake(h)
    /\ half' = [half EXCEPT ![h].end = "ROLLBACK"]
    /\ UNCHANGED <<transaction, half_length, op, op_length, batch, round, pulled_op, round_ended_at,
                   offsets, saved>>

\* The same, and the commit says that it answers a check: it is never late.
\*
\* RocketMQ: EndTransactionRequestHeader.fromTransactionCheck.
AnswerWithWrongCommit(h) ==
    /\ MayBeEndedByMistake(h)
    /\ half' = [half EXCEPT ![h].end = "COMMIT", ![h].claims_check = TRUE]
    /\ UNCHANGED <<transaction, half_length, op, op_length, batch, round, pulled_op, round_ended_at,
                   offsets, saved>>

\* The same, and the rollback says that it answers a check: it is never late.
\*
\* RocketMQ: EndTransactionRequestHeader.fromTransactionCheck.
AnswerWithWrongRollback(h) ==
    /\ MayBeEndedByMistake(h)
    /\ half' = [half EXCEPT ![h].end = "ROLLBACK", ![h].claims_check = TRUE]
    /\ UNCHANGED <<transaction, half_length, op, op_length, batch, round, pulled_op, round_ended_at,
                   offsets, saved>>

----------------------------------------------------------------------------------------------------
\* S1, at-most-once resolution: a transaction is delivered at most once, however many END_TRANSACTIONs say commit.
\*
\* One clause a cause, so that a well-known cause does not hide the others.

\* Two real messages of the transaction were stored, or more.
IsDeliveredTwice(t) == transaction[t].deliveries >= 2

\* A commit that arrives twice delivers the message once.
ARepeatedEndDeliversOnce(t) == ~(IsDeliveredTwice(t) /\ transaction[t].cause = "DOUBLED_REQUEST")

\* A commit inside the immunity of a half that was put back for it is the last word: its copy is not delivered.
AnEndInsideTheImmunityDeliversOnce(t) ==
    ~(IsDeliveredTwice(t) /\ transaction[t].cause = "IMMUNE_HALF")

\* A commit for a half that was put back for a check is the last word: its copy is not delivered, too.
AnEndAfterACheckDeliversOnce(t) == ~(IsDeliveredTwice(t) /\ transaction[t].cause = "AFTER_A_CHECK")

\* A delivered message is not delivered again because its op message was lost.
ALostOpDeliversOnce(t) == ~(IsDeliveredTwice(t) /\ transaction[t].cause = "LOST_OP")

\* A delivered message is not delivered again because its op message was written too late for a round to see it.
ALateOpDeliversOnce(t) == ~(IsDeliveredTwice(t) /\ transaction[t].cause = "LATE_OP")

\* A half that was put back twice, after the half offset went back, is delivered once.
AForkedCopyDeliversOnce(t) == ~(IsDeliveredTwice(t) /\ transaction[t].cause = "FORKED_COPY")

\* A delivered message is not delivered again because the op offset passed its op message too early.
APassedOpDeliversOnce(t) == ~(IsDeliveredTwice(t) /\ transaction[t].cause = "PASSED_OP")

\* There is no second delivery that the other clauses do not speak of.
EverySecondDeliveryHasACause(t) == ~(IsDeliveredTwice(t) /\ transaction[t].cause = "NONE")

\* Some transaction is delivered once, from a copy that was put back for a check.
ACheckLedToADelivery(t) ==
    /\ transaction[t].deliveries = 1
    /\ \E h \in HalfSlots :
           half[h].transaction = t /\ half[h].check_times > 0 /\ half[h].acknowledged

----------------------------------------------------------------------------------------------------
\* S2, decision agreement: no transaction is both rolled back, with an acknowledgement, and delivered.

\* A transaction whose rollback was acknowledged before any delivery is never delivered.
ARolledBackTransactionIsNeverDelivered(t) ==
    ~(transaction[t].rolled_back = "UNDELIVERED" /\ transaction[t].deliveries > 0)

\* No rollback is acknowledged for a transaction that was delivered.
ADeliveredTransactionIsNeverRolledBack(t) == transaction[t].rolled_back # "DELIVERED"

\* Some rollback is acknowledged.
ARollbackIsAcknowledged(t) == transaction[t].rolled_back # "NO"

----------------------------------------------------------------------------------------------------
\* S7, op-offset safety: the op offset has not passed an op message that names a half no round has looked at.

\* Between rounds, no op message below the op offset names a half at or above the half offset.
NoPassedOpNamesAHalfAhead(o, h) ==
    round.running \/ o >= offsets.op \/ h \notin op[o].names \/ h < offsets.half

\* No op message below the saved op offset names a half at or above the saved half offset.
NoOpThatARestartPassesNamesAHalfAhead(o, h) ==
    o >= saved.op \/ h \notin op[o].names \/ h < saved.half

\* Some op message is behind the op offset.
TheOpOffsetMoves == offsets.op > 0

----------------------------------------------------------------------------------------------------
\* S8, half-offset safety: the saved half offset passes a half only if it is settled, copied or kept aside.

\* No round will look at the half again, not even after a restart.
IsPassed(h) == h < saved.half

\* A half that was discarded is kept in the discard topic.
ADiscardedHalfLeavesARecord(h) == ~IsPassed(h) \/ half[h].left # "DROPPED" \/ half[h].settled # "NO"

\* A half behind the saved half offset was settled, put back or discarded.
APassedHalfLivesOn(h) == ~IsPassed(h) \/ half[h].settled # "NO" \/ half[h].left # "NO"

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

\* No settled half is checked because its op message was lost.
NoCheckForWantOfALostOp(t) == ~(IsCheckedAllTheSame(t) /\ transaction[t].cause = "LOST_OP")

\* No settled half is checked because its op message was written too late for a round to see it.
NoCheckAheadOfALateOp(t) == ~(IsCheckedAllTheSame(t) /\ transaction[t].cause = "LATE_OP")

\* No copy is checked that was made after the half offset went back over a half that was settled.
NoCheckOfAForkedCopy(t) == ~(IsCheckedAllTheSame(t) /\ transaction[t].cause = "FORKED_COPY")

\* No settled half is checked because the op offset passed its op message too early.
NoCheckBehindAPassedOp(t) == ~(IsCheckedAllTheSame(t) /\ transaction[t].cause = "PASSED_OP")

\* There is no needless check that the other clauses do not speak of.
EveryNeedlessCheckHasACause(t) ==
    LET unexplained ==
            \/ transaction[t].cause = "NONE"
            \/ transaction[t].cause = "AFTER_A_CHECK"
            \/ transaction[t].cause = "DOUBLED_REQUEST"
    IN  ~(IsCheckedAllTheSame(t) /\ unexplained)

\* Some END_TRANSACTION is acknowledged in time and before any check.
AnEndIsAcknowledgedInTime(t) == transaction[t].quiet = "ENDED"

----------------------------------------------------------------------------------------------------
\* S10, honest acknowledgement: SUCCESS to an END_TRANSACTION implies that its op entry survives.

\* The op entry of an acknowledged END_TRANSACTION waits in the batch or stands in the op queue.
AnAcknowledgedEndKeepsItsOpEntry(h) ==
    ~half[h].acknowledged \/ h \in batch.names \/ NamesItFrom(h, 0)

\* Some END_TRANSACTION is acknowledged, and the op queue names its half.
AnAcknowledgedEndHasItsOpMessage(h) == half[h].acknowledged /\ NamesItFrom(h, 0)

----------------------------------------------------------------------------------------------------
\* L2, full budget: a half is discarded only after as many checks as `transactionCheckMax` says were really sent.

\* No half is discarded whose checks were counted for put-backs that sent none.
AHalfIsDiscardedAfterAllItsChecks(t) == transaction[t].discarded # "BURNT"

\* Some half is discarded after all its checks were sent.
AHalfIsDiscardedWithItsBudgetSpent(t) == transaction[t].discarded = "SPENT"

----------------------------------------------------------------------------------------------------
Next ==
    \/ \E t \in Transactions, immunity \in Immunities : SendHalf(t, immunity)
    \/ \E t \in Transactions : CommitLocally(t)
    \/ \E t \in Transactions : RollBackLocally(t)
    \/ \E t \in Transactions : LeaveItUnknown(t)
    \/ \E t \in Transactions : ResolveToCommit(t)
    \/ \E t \in Transactions : ResolveToRollback(t)
    \/ \E h \in HalfSlots : AnswerCheck(h)
    \/ \E h \in HalfSlots : AnswerCheckTooEarly(h)
    \/ \E h \in HalfSlots : StoreRealMessage(h)
    \/ \E h \in HalfSlots : WriteOp(h)
    \/ \E h \in HalfSlots : BufferOp(h)
    \/ \E h \in HalfSlots : RefuseLateEnd(h)
    \/ WriteOpBatch
    \/ BeginRound
    \/ PassSettledHalf
    \/ DiscardHalf
    \/ PassHalfOfSettledOriginal
    \/ PutBackImmuneHalf
    \/ PutBackAndCheck
    \/ PullMoreOps
    \/ EndRoundAtQueueEnd
    \/ EndRoundAtFreshHalf
    \/ EndRoundBeforeDispatch
    \/ EndRoundAtYoungHalf
    \/ EndRoundAtTimeLimit
    \/ PersistOffsets
    \/ \E h \in HalfSlots : LoseEnd(h)
    \/ \E h \in HalfSlots : LoseCheck(h)
    \/ \E h \in HalfSlots : DuplicateEnd(h)
    \/ \E h \in HalfSlots : SendWrongCommit(h)
    \/ \E h \in HalfSlots : SendWrongRollback(h)
    \/ \E h \in HalfSlots : AnswerWithWrongCommit(h)
    \/ \E h \in HalfSlots : AnswerWithWrongRollback(h)
    \/ Crash
    \/ Tick

Spec == Init /\ [][Next]_vars

----------------------------------------------------------------------------------------------------
\* Properties, a clause each.

S1_doubled_request == \A t \in Transactions : ARepeatedEndDeliversOnce(t)

S1_immune_half == \A t \in Transactions : AnEndInsideTheImmunityDeliversOnce(t)

S1_after_a_check == \A t \in Transactions : AnEndAfterACheckDeliversOnce(t)

S1_lost_op == \A t \in Transactions : ALostOpDeliversOnce(t)

S1_late_op == \A t \in Transactions : ALateOpDeliversOnce(t)

S1_forked_copy == \A t \in Transactions : AForkedCopyDeliversOnce(t)

S1_passed_op == \A t \in Transactions : APassedOpDeliversOnce(t)

S1_unexplained == \A t \in Transactions : EverySecondDeliveryHasACause(t)

S2_commit_after_rollback == \A t \in Transactions : ARolledBackTransactionIsNeverDelivered(t)

S2_rollback_after_commit == \A t \in Transactions : ADeliveredTransactionIsNeverRolledBack(t)

S7_in_memory == \A o \in OpSlots, h \in HalfSlots : NoPassedOpNamesAHalfAhead(o, h)

S7_in_the_file == \A o \in OpSlots, h \in HalfSlots : NoOpThatARestartPassesNamesAHalfAhead(o, h)

S8_discarded_without_a_record == \A h \in HalfSlots : ADiscardedHalfLeavesARecord(h)

S8_neither_settled_nor_copied == \A h \in HalfSlots : APassedHalfLivesOn(h)

S9_immune_half == \A t \in Transactions : AnEndInsideTheImmunityEndsTheChecks(t)

S9_lost_op == \A t \in Transactions : NoCheckForWantOfALostOp(t)

S9_late_op == \A t \in Transactions : NoCheckAheadOfALateOp(t)

S9_forked_copy == \A t \in Transactions : NoCheckOfAForkedCopy(t)

S9_passed_op == \A t \in Transactions : NoCheckBehindAPassedOp(t)

S9_unexplained == \A t \in Transactions : EveryNeedlessCheckHasACause(t)

S10_op_entry_dies_with_the_process == \A h \in HalfSlots : AnAcknowledgedEndKeepsItsOpEntry(h)

L2_immunity_burns_checks == \A t \in Transactions : AHalfIsDiscardedAfterAllItsChecks(t)

\* Witnesses: TLC shows one as a violation of the claim that there is none.

S1_never_a_check_led_to_a_delivery == \A t \in Transactions : ~ACheckLedToADelivery(t)

S2_never_a_rollback_is_acknowledged == \A t \in Transactions : ~ARollbackIsAcknowledged(t)

S7_never_the_op_offset_moves == ~TheOpOffsetMoves

S8_never_the_saved_half_offset_passes_a_copied_half == \A h \in HalfSlots : ~TheSavedHalfOffsetPassesACopiedHalf(h)

S9_never_an_end_is_acknowledged_in_time == \A t \in Transactions : ~AnEndIsAcknowledgedInTime(t)

S10_never_an_acknowledged_end_has_its_op_message == \A h \in HalfSlots : ~AnAcknowledgedEndHasItsOpMessage(h)

L2_never_a_half_is_discarded_with_its_budget_spent == \A t \in Transactions : ~AHalfIsDiscardedWithItsBudgetSpent(t)
====================================================================================================
