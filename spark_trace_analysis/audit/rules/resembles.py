"""Resemblance of a history to known defects of the catalogue: one small rule for each id.

A rule reads only what the store holds. It says "looks like", because two causes can leave the same records: B02 and B03
(a crash, a graceful stop), B16 and A08 (a lost offset, an aborted round) differ in the broker's log alone.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from spark_trace_analysis.audit.rules.state import TransactionState, has_used_up_checks
from spark_trace_analysis.records.version import RECORDED_DISCARDS, is_before, is_since

if TYPE_CHECKING:
    from collections.abc import Callable

    from spark_trace_analysis.audit.rules.circumstances import Circumstances
    from spark_trace_analysis.audit.rules.history import Delivery, HalfCopy, History


def catalogue_ids(history: History, states: list[TransactionState], at: Circumstances) -> list[str]:
    """The ids of the defects that a history looks like, in the order of the catalogue."""
    return [identifier for identifier, rule in RULES.items() if rule(history, states, at)]


def _lost_op_offset(history: History, _states: list[TransactionState], at: Circumstances) -> bool:
    """A02: put back although its op stood in the op queue already; the op offset had jumped over it (until 4.5.2)."""
    return is_before(at.version, "4.6.0") and any(_op_before_put_back(copy) for copy in history.copies)


def _never_really_checked(history: History, _states: list[TransactionState], at: Circumstances) -> bool:
    """A09: discarded although every copy was put back by its immunity, so that no check was ever sent."""
    put_backs = [copy for copy in history.copies if copy.check_times is not None]
    return (
        bool(history.discards)
        and len(put_backs) >= at.check_max
        and all(copy.is_immunity_put_back for copy in put_backs)
    )


def _discarded_though_resolved(history: History, _states: list[TransactionState], _at: Circumstances) -> bool:
    """A10: discarded although an op that names the discarded copy was stored before."""
    for discard in history.discards:
        last = [copy for copy in history.copies if copy.commit_log_offset < discard.commit_log_offset][-1:]
        if any(op.commit_log_offset < discard.commit_log_offset for copy in last for op in copy.ops):
            return True
    return False


def _late_commit(history: History, _states: list[TransactionState], at: Circumstances) -> bool:
    """A11: committed from a copy that a check had replaced; the op named the old offset, the new copy lived on."""
    return any(
        _is_superseded(history, delivery)
        and not _is_immune_commit(history, delivery)
        and not _after_discard(history, delivery, at)
        for delivery in history.deliveries
    )


def _commit_after_rollback(history: History, _states: list[TransactionState], _at: Circumstances) -> bool:
    """A12: delivered although a rollback had been accepted: more op entries stood before it than deliveries."""
    return any(
        sum(op.commit_log_offset < delivery.commit_log_offset for op in history.ops) > earlier
        for earlier, delivery in enumerate(history.deliveries)
    )


def _repeated_commit(history: History, _states: list[TransactionState], _at: Circumstances) -> bool:
    """A13: delivered twice from one and the same half record."""
    return any(len(history.deliveries_from(copy)) > 1 for copy in history.copies)


def _commit_after_discard(history: History, _states: list[TransactionState], at: Circumstances) -> bool:
    """A14: delivered after it had been discarded."""
    return any(_after_discard(history, delivery, at) for delivery in history.deliveries)


def _silent_discard(history: History, states: list[TransactionState], at: Circumstances) -> bool:
    """A31: its last copy has used up the checks and is behind the saved offset; 4.5.1 discards without a record."""
    return states[0] is TransactionState.LOST and at.discards_silently and has_used_up_checks(history, at)


def _twin_halves(history: History, _states: list[TransactionState], _at: Circumstances) -> bool:
    """A39: two halves with one UNIQ_KEY and no check count: the producer's send was retried."""
    return sum(copy.check_times is None for copy in history.copies) > 1


def _immune_half(history: History, _states: list[TransactionState], _at: Circumstances) -> bool:
    """B01: committed within its immunity from a half that an immunity put-back had replaced; the copy lived on."""
    return any(_is_immune_commit(history, delivery) for delivery in history.deliveries)


def _lost_op_buffer(history: History, _states: list[TransactionState], at: Circumstances) -> bool:
    """B02: delivered, but no op was ever written, so it was put back or will be: the op buffer died (5.1+)."""
    if not is_since(at.version, "5.1.0"):
        return False
    return any(
        not copy.ops
        and (
            _delivered_before_put_back(history, copy)
            or (copy.queue_offset >= at.half_of(copy.queue_id) and _is_op_overdue(history, copy, at))
        )
        for copy in history.copies
        if not _is_replaced_before_delivery(history, copy)
    )


def _is_op_overdue(history: History, copy: HalfCopy, at: Circumstances) -> bool:
    """Whether the op message of a delivery should be there, so that it does not wait in the memory of a broker."""
    return any(one.store_timestamp < at.op_was_due_before for one in history.deliveries_from(copy))


def _late_op_batch(history: History, _states: list[TransactionState], at: Circumstances) -> bool:
    """B05: put back after it was delivered, while its op still waited in the op buffer (5.1+)."""
    if not is_since(at.version, "5.1.0"):
        return False
    return any(
        bool(copy.ops) and _delivered_before_put_back(history, copy) and not _op_before_put_back(copy)
        for copy in history.copies
    )


def _stale_end_of_ops(history: History, _states: list[TransactionState], at: Circumstances) -> bool:
    """B06: put back although its op stood in the op queue already; the round had looked there before (4.6+)."""
    return is_since(at.version, "4.6.0") and any(
        _op_before_put_back(copy)
        and not copy.children[0].is_immunity_put_back
        and not _is_put_back_twice_in_a_round(copy, at)
        for copy in history.copies
    )


def _unread_op(history: History, _states: list[TransactionState], _at: Circumstances) -> bool:
    """B47: put back for its immunity although its op stood in the op queue already, further on than was read."""
    return any(_op_before_put_back(copy) and copy.children[0].is_immunity_put_back for copy in history.copies)


def _offset_before_copy(history: History, states: list[TransactionState], at: Circumstances) -> bool:
    """B13: behind the saved offset with checks left and no copy: the offset outlived the copy."""
    return states[0] is TransactionState.LOST and at.log_is_complete and not has_used_up_checks(history, at)


def _forked_copies(history: History, _states: list[TransactionState], at: Circumstances) -> bool:
    """B16: one copy was put back twice, or discarded twice: the half offset went back over it."""
    return len(history.discards) > 1 or any(
        len(copy.children) > 1 and not _is_put_back_twice_in_a_round(copy, at) for copy in history.copies
    )


def _check_count_from_producer(history: History, _states: list[TransactionState], at: Circumstances) -> bool:
    """B26: the half came with a check count, which only the broker should set."""
    return at.log_is_complete and bool(history.copies) and history.copies[0].check_times is not None


def _discard_not_written(history: History, states: list[TransactionState], at: Circumstances) -> bool:
    """B31: the checks are used up and it is behind the saved offset, but no discard was stored (4.5.2 and later)."""
    return (
        states[0] is TransactionState.LOST
        and is_since(at.version, RECORDED_DISCARDS)
        and at.log_is_complete
        and has_used_up_checks(history, at)
    )


def _flag_lost(history: History, _states: list[TransactionState], _at: Circumstances) -> bool:
    """B32: the user's flag is 0 in the delivered message, because a put-back does not copy it."""
    flags = [copy.flag for copy in history.copies if copy.check_times is None]
    return any(flag != 0 and delivery.flag == 0 for flag in flags for delivery in history.deliveries)


def _read_for_another(history: History, _states: list[TransactionState], at: Circumstances) -> bool:
    """B50: one copy was put back again and again in one round, in place of halves whose file was deleted."""
    return any(_is_put_back_twice_in_a_round(copy, at) for copy in history.copies)


def _check_at_a_stop(history: History, _states: list[TransactionState], at: Circumstances) -> bool:
    """B52: put back again before the next round was due, by the one that a broker runs as it stops (5.4.0)."""
    return is_since(at.version, "5.4.0") and any(
        child.store_timestamp - copy.store_timestamp < at.check_interval_ms
        for copy in history.copies[1:]
        for child in copy.children
    )


RULES: dict[str, Callable[[History, list[TransactionState], Circumstances], bool]] = {
    "A02": _lost_op_offset,
    "A09": _never_really_checked,
    "A10": _discarded_though_resolved,
    "A11": _late_commit,
    "A12": _commit_after_rollback,
    "A13": _repeated_commit,
    "A14": _commit_after_discard,
    "A31": _silent_discard,
    "A39": _twin_halves,
    "B01": _immune_half,
    "B02": _lost_op_buffer,
    "B05": _late_op_batch,
    "B06": _stale_end_of_ops,
    "B13": _offset_before_copy,
    "B16": _forked_copies,
    "B26": _check_count_from_producer,
    "B31": _discard_not_written,
    "B32": _flag_lost,
    "B47": _unread_op,
    "B50": _read_for_another,
    "B52": _check_at_a_stop,
}
"""Catalogue id to the rule that recognises it."""


def _op_before_put_back(copy: HalfCopy) -> bool:
    """Whether an op named a copy before the copy was put back for the first time."""
    if not copy.children:
        return False
    put_back = copy.children[0].commit_log_offset
    return any(op.commit_log_offset < put_back for op in copy.ops)


def _is_put_back_twice_in_a_round(copy: HalfCopy, at: Circumstances) -> bool:
    """Whether two copies of it stand nearer together than rounds do, each of which meets a half once.

    No file of the log may be missing otherwise: only a half that is gone is given another one's record.
    """
    times = sorted(child.store_timestamp for child in copy.children)
    return not at.log_is_complete and any(later - earlier < at.check_interval_ms for earlier, later in pairwise(times))


def _delivered_before_put_back(history: History, copy: HalfCopy) -> bool:
    """Whether a message was committed from a copy before the copy was put back for the first time."""
    if not copy.children:
        return False
    put_back = copy.children[0].commit_log_offset
    return any(delivery.commit_log_offset < put_back for delivery in history.deliveries_from(copy))


def _is_replaced_before_delivery(history: History, copy: HalfCopy) -> bool:
    """Whether every message that was committed from a copy came after the copy's own put-back."""
    return all(_is_superseded(history, delivery) for delivery in history.deliveries_from(copy))


def _is_superseded(history: History, delivery: Delivery) -> bool:
    """Whether the half that a message was committed from had been put back by then."""
    source = history.source_of(delivery)
    return source is not None and any(child.commit_log_offset < delivery.commit_log_offset for child in source.children)


def _is_immune_commit(history: History, delivery: Delivery) -> bool:
    """Whether a message was committed within its immunity from a half that an immunity put-back had replaced.

    Its age counts from its birth (TransactionalMessageServiceImpl#check, valueOfCurrentMinusBorn). The time of the
    commit is known only by the time at which the message was stored, a little later.
    """
    source = history.source_of(delivery)
    if source is None or history.immunity_ms is None:
        return False
    age_ms = delivery.store_timestamp - history.born_timestamp
    return age_ms <= history.immunity_ms and any(
        child.is_immunity_put_back and child.commit_log_offset < delivery.commit_log_offset for child in source.children
    )


def _after_discard(history: History, delivery: Delivery, at: Circumstances) -> bool:
    """Whether a message was committed after a discard, or, where that leaves no record, after it must have happened.

    A silent discard happens in the round after the one that used up the checks, so two check intervals after the last
    copy it is over.
    """
    if any(discard.commit_log_offset < delivery.commit_log_offset for discard in history.discards):
        return True
    if not at.discards_silently or not has_used_up_checks(history, at):
        return False
    return delivery.store_timestamp - history.copies[-1].store_timestamp > 2 * at.check_interval_ms
