"""The steps of producers, network and END_TRANSACTION that lead to a record; none of them depends on the check service.

A record of a commit or a rollback needs an END_TRANSACTION that names its half. What explains it with the fewest faults
is tried first: the producer's own outcome, the answer to an open check, a repeated END_TRANSACTION, a wrong one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.trace_validation.forecast import HANDLING_MS, Forecast
from model_check.trace_validation.observed import EventKind, ObservedEvent, ObservedOutcome, Trace
from spec.chapters import end_transaction, network, op_batch, producer
from spec.chapters.end_transaction import is_early_enough, is_refused_as_late, was_checked
from spec.language import Refused
from spec.state import End, Local, Settled

if TYPE_CHECKING:
    from model_check.trace_validation.workspace import Workspace

_END = {ObservedOutcome.COMMIT: End.COMMIT, ObservedOutcome.ROLLBACK: End.ROLLBACK}
_WRONG = {
    (ObservedOutcome.COMMIT, False): network.send_wrong_commit,
    (ObservedOutcome.COMMIT, True): network.answer_with_wrong_commit,
    (ObservedOutcome.ROLLBACK, False): network.send_wrong_rollback,
    (ObservedOutcome.ROLLBACK, True): network.answer_with_wrong_rollback,
}
_DECIDED = {ObservedOutcome.COMMIT: Local.COMMIT, ObservedOutcome.ROLLBACK: Local.ROLLBACK}


class ProducerSide:
    """Walks the state over the records that are not the check service's.

    Attributes
    ----------
    cut_short : dict
        Events that were refused for what a crash would have cut short, each with the event behind which the process
        must have died: an END_TRANSACTION that stored its real message and no op entry, or an entry that was buffered
        after an op message and is not in the next one.
    lingering : dict
        Such op messages to the deliveries whose entries they lack: their END_TRANSACTIONs may still be handled.
    """

    def __init__(self, work: Workspace, trace: Trace, forecast: Forecast) -> None:
        self.work = work
        self.trace = trace
        self.forecast = forecast
        self.cut_short: dict[int, int] = {}
        self.lingering: dict[int, frozenset[int]] = {}

    def explain(self, number: int) -> Refused | None:
        """Take the steps that lead to an event, and the event itself; the refusing conjunct if there are none."""
        event = self.trace.events[number]
        if number in self.forecast.unsent:
            return Refused("driver", "the producer logged an END_TRANSACTION that says so")
        if event.kind is EventKind.HALF_STORED:
            return self._store_half(number, event)
        if event.kind is EventKind.DELIVERED:
            return self._deliver(number, event)
        return self._store_op(number, event)

    def is_answered(self, number: int, half: int) -> bool:
        """Whether an END_TRANSACTION names a half behind an event, while the broker lives on."""
        end = self.forecast.next_end(half, number)
        return end is not None and not self.forecast.dies_between(number, end)

    def buffer_rollbacks(self, number: int) -> None:
        """Handle those rollbacks before an event whose entries the next op message holds, and could not hold before.

        The earliest instant is the best: nothing is late then, and the batch waits from then on.
        """
        if self.work.constants.batches_ops:
            for half in self.forecast.buffered_before.get(number, ()):
                sent = self.forecast.rolled_back_at.get((number, half), 0)
                self._take_in_rollback(number, half, max(self._previous_time(number), sent))

    def answer_before_a_crash(self, gap: int) -> None:
        """Handle rollbacks that answer open checks and come again behind a crash: their entries die in the buffer."""
        s = self.work.state
        for half in range(s.half_length if self.work.constants.batches_ops else 0):
            if (
                s.half[half].check_in_flight
                and self.forecast.next_outcome(half, gap - 1, self.trace) is ObservedOutcome.ROLLBACK
            ):
                self._take_in_rollback(gap - 1, half, self._previous_time(gap))

    def settle_what_was_unknown(self, number: int, transaction: int, now: int) -> None:
        """Before a check: a local transaction whose END is yet to come has sent it, another one is unknown by now.

        An earlier check that no later record answers is over, too: nobody can tell whether it was lost or answered
        UNKNOWN.
        """
        s, work = self.work.state, self.work
        first = s.transaction[transaction].first_half
        if s.transaction[transaction].local == Local.EXECUTING:
            outcome = self.forecast.next_outcome(first, number, self.trace)
            if outcome is None or self._comes_too_late(first, number):
                work.take(producer.leave_it_unknown, transaction, now=now, before=number)
            elif not self._outlives_the_check(first, number):
                self._decide(transaction, outcome, now, number)
        for h in range(s.half_length):
            if s.half[h].transaction != transaction or not s.half[h].check_in_flight:
                continue
            if self.forecast.next_outcome(h, number, self.trace) is None:
                self._forget_check(number, h, now)

    def is_overdue(self, transaction: int, now: int) -> bool:
        """Whether an END_TRANSACTION or an answer is under way for longer than the next check may be waited for.

        Answers that are a few milliseconds old are none of a quiet world's business, though a second copy of the half
        may be checked meanwhile.
        """
        s, c = self.work.state, self.work.constants
        return any(
            s.half[h].transaction == transaction
            and (s.half[h].check_in_flight or s.half[h].end != End.NONE)
            and (s.transaction[transaction].first_half == h or now - s.half[h].stored_at > c.check_interval)
            for h in range(s.half_length)
        )

    def _outlives_the_check(self, first: int, number: int) -> bool:
        """Whether the local transaction ends after a crash only, or commits though a check was answered rollback."""
        end = self.forecast.next_end(first, number)
        if end is None:
            return False
        is_commit = self.trace.events[end].kind is EventKind.DELIVERED
        return self.forecast.dies_between(number, end) or (
            is_commit and self.forecast.rolls_a_copy_back(first, number, end)
        )

    def _comes_too_late(self, half: int, number: int) -> bool:
        """Whether the next END_TRANSACTION for a half is refused if its producer sent it of its own accord."""
        s, end = self.work.state, self.forecast.next_end(half, number)
        if end is None:
            return False
        s.now = self._earliest_reading(end, half)
        return is_refused_as_late(s, self.work.constants, half)

    def _take_in_rollback(self, number: int, half: int, sent: int) -> Refused | None:
        return self._bring(number, half, ObservedOutcome.ROLLBACK, sent, sent) or self.work.take(
            end_transaction.buffer_op, half, now=sent, before=number
        )

    # --- records ------------------------------------------------------------------------------------------------------

    def _store_half(self, number: int, event: ObservedEvent) -> Refused | None:
        s = self.work.state
        if event.half != s.half_length:
            return _wrong("half queue", s.half_length, event.half)
        refused = self.work.take(producer.send_half, event.transaction, event.immunity, now=event.time, before=number)
        if refused is None:
            s.half[event.half].born_at = event.born
        return refused

    def _deliver(self, number: int, event: ObservedEvent) -> Refused | None:
        earliest = self._earliest_reading(number, event.half)
        refused = self._bring(number, event.half, ObservedOutcome.COMMIT, earliest, event.time)
        if refused is not None and self._is_half_handled(event.half):
            self.cut_short[number] = self.forecast.earlier_delivery(event.half, number)
        if refused is None:
            refused = self.work.take(end_transaction.store_real_message, event.half, now=earliest, before=number)
        behind = self.forecast.buffered_behind.get(number)
        is_buffered = self.work.constants.batches_ops and behind is None
        if behind is not None and self.trace.events[behind].time - event.time > HANDLING_MS:
            self.work.assume_late_end(event.transaction)
        if refused is None and is_buffered:
            refused = self.work.take(end_transaction.buffer_op, event.half, now=event.time, before=number)
        return refused

    def _store_op(self, number: int, event: ObservedEvent) -> Refused | None:
        s, c = self.work.state, self.work.constants
        if event.op != s.op_length:
            return _wrong("op queue", s.op_length, event.op)
        for half in event.names:
            if not 0 <= half < s.half_length:
                return Refused("record", f"an op message names a half that is stored: {half} of {s.half_length}")
        return self._store_batch(number, event) if c.batches_ops else self._store_single(number, event)

    def _store_single(self, number: int, event: ObservedEvent) -> Refused | None:
        if event.is_batched or len(event.names) != 1:
            return Refused("record", "the body of an op message is one half offset in this version")
        (half,) = event.names
        earliest = self._earliest_reading(number, half)
        if self.forecast.rollbacks_in[number]:
            refused = self._bring(number, half, ObservedOutcome.ROLLBACK, earliest, event.time)
            if refused is not None:
                return refused
        refused = self.work.take(end_transaction.write_op, half, now=earliest, before=number)
        if refused is None:
            self.work.state.op[event.op].born_at = event.born
        return refused

    def _store_batch(self, number: int, event: ObservedEvent) -> Refused | None:
        s, work = self.work.state, self.work
        if not event.is_batched:
            return Refused("record", "the body of an op message is a list of half offsets in this version")
        earliest = self._previous_time(number)
        for half in self.forecast.rollbacks_in[number]:
            if s.batch.names.has(half) and s.half[half].settled == Settled.ROLLED_BACK:
                continue
            refused = self._take_in_rollback(number, half, earliest)
            if refused is not None:
                return refused
        missing = sorted(set(event.names) - set(s.batch.names))
        surplus = sorted(set(s.batch.names) - set(event.names))
        if missing or surplus:
            if surplus:
                self.cut_short[number] = self.forecast.earlier_op.get(number, -1)
                self.lingering[number] = frozenset(self.forecast.earlier_delivery(half, number) for half in surplus)
            return Refused("record", _batch_differs(missing, surplus))
        refused = work.take(op_batch.write_op_batch, now=self._batch_looked_at(number, event), before=number)
        if refused is None:
            s.op[event.op].born_at = event.born
            self._buffer_the_rest(number)
        return refused

    def _batch_looked_at(self, number: int, event: ObservedEvent) -> int:
        """When the batch thread read its clock: before its op message was born, and no sooner than it may write.

        RocketMQ: TransactionalMessageServiceImpl#batchSendOpMessage compares the start of its pass with the
        lastWriteTimestamp that #getOpMessage noted, and only then is the op message built, and stored when the commit
        log is free. So two of them are stored less than an interval apart when the first had to wait for the log. Since
        5.5.0 the thread wakes up just when the interval is over; before, it mostly came later.
        """
        due = self.work.state.batch.written_at + self.work.constants.op_batch_interval
        return min(max(self._earliest_time(number, event.born), due), event.born)

    def _buffer_the_rest(self, number: int) -> None:
        """Deliveries before this op message whose entries came into the buffer only behind it."""
        for delivery, op in self.forecast.buffered_behind.items():
            if op == number:
                half = self.trace.events[delivery].half
                self.work.take(end_transaction.buffer_op, half, now=self.trace.events[number].time, before=number)

    # --- END_TRANSACTIONs ---------------------------------------------------------------------------------------------

    def _bring(self, number: int, half: int, outcome: ObservedOutcome, now: int, until: int) -> Refused | None:
        """See to it that an END_TRANSACTION with this outcome is under way for a half."""
        s, work = self.work.state, self.work
        if not 0 <= half < s.half_length:
            return Refused("record", f"the half is stored: {half} of {s.half_length}")
        if s.half[half].end == _END[outcome]:
            self._note_if_late(half, until)
            return None
        transaction = s.half[half].transaction
        s.now = now
        is_late = is_refused_as_late(s, work.constants, half)
        is_own = s.transaction[transaction].first_half == half and s.transaction[transaction].local == Local.EXECUTING
        if is_own and not is_late:
            self._decide(transaction, outcome, now, number)
            self._note_if_late(half, until)
            return None
        if s.half[half].check_in_flight and self._answers(number, half, outcome, now):
            if until - s.half[half].stored_at > work.constants.check_interval:
                work.assume_late_end(transaction)
            return None
        settled = Settled.COMMITTED if outcome is ObservedOutcome.COMMIT else Settled.ROLLED_BACK
        if (
            not is_late
            and s.half[half].settled == settled
            and work.take(network.duplicate_end, half, now=now, before=number) is None
        ):
            return None
        return work.take(_WRONG[outcome, is_late], half, now=now, before=number)

    def _decide(self, transaction: int, outcome: ObservedOutcome, now: int, number: int) -> None:
        decide = producer.commit_locally if outcome is ObservedOutcome.COMMIT else producer.roll_back_locally
        self.work.take(decide, transaction, now=now, before=number)

    def _answers(self, number: int, half: int, outcome: ObservedOutcome, now: int) -> bool:
        """Whether the open check of a half can be answered so; if it can, it is."""
        s, work = self.work.state, self.work
        transaction = s.half[half].transaction
        mark = work.mark()
        if s.transaction[transaction].local == Local.EXECUTING:
            if outcome is ObservedOutcome.ROLLBACK and self._outlives_the_check(
                s.transaction[transaction].first_half, number
            ):
                return work.take(producer.answer_check_too_early, half, now=now, before=number) is None
            work.take(producer.leave_it_unknown, transaction, now=now, before=number)
        if s.transaction[transaction].local == Local.UNKNOWN:
            resolve = producer.resolve_to_commit if outcome is ObservedOutcome.COMMIT else producer.resolve_to_rollback
            work.take(resolve, transaction, now=now, before=number)
        decided = s.transaction[transaction].local == _DECIDED[outcome]
        if decided and work.take(producer.answer_check, half, now=now, before=number) is None:
            return True
        work.back(mark)
        return False

    def _forget_check(self, number: int, half: int, now: int) -> None:
        s = self.work.state
        is_open = s.transaction[s.half[half].transaction].local in (Local.UNKNOWN, Local.EXECUTING)
        charged = len(self.work.assumed)
        self.work.take(producer.answer_check if is_open else network.lose_check, half, now=now, before=number)
        del self.work.assumed[charged:]

    def _note_if_late(self, half: int, now: int) -> None:
        """A direct END_TRANSACTION is late when it comes behind a check, or when the half is older than it may get."""
        s, c = self.work.state, self.work.constants
        clock = s.now
        s.now = now - HANDLING_MS
        if was_checked(s, c, s.half[half].transaction) or not is_early_enough(s, c, half):
            self.work.assume_late_end(s.half[half].transaction)
        s.now = clock

    def _is_half_handled(self, half: int) -> bool:
        s = self.work.state
        return 0 <= half < s.half_length and s.half[half].end == End.COMMIT_STORED

    def _earliest_reading(self, number: int, half: int) -> int:
        """When the broker may have read its clock for an END_TRANSACTION that names a half and leads to a record.

        RocketMQ: EndTransactionProcessor#processRequest reads it once, to refuse what is late.
        """
        s = self.work.state
        stored_at = s.half[half].stored_at if 0 <= half < s.half_length else 0
        return max(stored_at, self._earliest_time(number, self.trace.events[number].time))

    def _earliest_time(self, number: int, latest: int) -> int:
        """No sooner than the record before it, unless that was stored while the thread handled what it had read."""
        return min(self._previous_time(number), latest - HANDLING_MS)

    def _previous_time(self, number: int) -> int:
        return self.trace.events[number - 1].time if number else self.trace.events[number].time


def _wrong(queue: str, end: int, claimed: int) -> Refused:
    return Refused("record", f"the record stands at the end of the {queue}: {end}, not {claimed}")


def _batch_differs(missing: list[int], surplus: list[int]) -> str:
    differences = [
        f"{name} {', '.join(map(str, halves))}"
        for name, halves in (("lacks", missing), ("holds also", surplus))
        if halves
    ]
    return f"the op message holds what waits in the batch, which {' and '.join(differences)}"
