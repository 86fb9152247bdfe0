"""What is fixed while a machine runs: the instance (sizes, times), the profile (a version), the environment (faults).

Actions see one object `c` with all of it. Times are ticks of the broker's clock.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from spec.language import NONE


@dataclass(frozen=True, kw_only=True)
class Instance:
    """Sizes and times of one instance.

    Attributes
    ----------
    transactions, half_slots, op_slots : int
        T, H and O: how many transactions are sent, and how long the half queue and the op queue may become.
    check_max : int
        `transactionCheckMax`: a half that was put back so often is discarded.
    timeout : int
        `transactionTimeOut` in ticks: a half without an immunity is young up to this age.
    immunities : tuple of int
        What CHECK_IMMUNITY_TIME_IN_SECONDS may be, in ticks; `NONE` for a message without that property.
    check_interval : int
        `transactionCheckInterval` in ticks: between the end of a round and the start of the next.
    round_limit : int
        `MAX_PROCESS_TIME_LIMIT` in ticks: a round that lasted longer stops.
    op_batch_interval : int
        `transactionOpBatchInterval` in ticks (5.1 and later).
    op_batch_size : int
        How many half offsets fit into one op message before it is written at once (`transactionOpMsgMaxSize`).
    op_pull_size : int
        `OP_MSG_PULL_NUMS`, scaled down: how many op messages one pull may read.
    """

    name: str
    transactions: int
    half_slots: int
    op_slots: int
    check_max: int
    timeout: int
    immunities: tuple[int, ...]
    check_interval: int
    round_limit: int
    op_batch_interval: int
    op_batch_size: int
    op_pull_size: int

    @property
    def longest_immunity(self) -> int:
        """The largest immunity that a message may carry, 0 if none may."""
        return max(*self.immunities, 0, NONE)

    @property
    def birth_cut(self) -> int:
        """No guard compares the age of a half with more than this."""
        return max(self.timeout, self.longest_immunity) + 1

    @property
    def round_cut(self) -> int:
        """No guard compares the duration of a round, or an instant with the start of a round, beyond this."""
        return self.round_limit + 1

    @property
    def op_cut(self) -> int:
        """No guard looks at the age of an op message beyond this: a round that could be late enough is over by then."""
        return self.round_limit + 1

    @property
    def batch_cut(self) -> int:
        """The op batch thread is at most one interval late, so that older ages are the same to it."""
        return 2 * self.op_batch_interval

    @property
    def horizon(self) -> int:
        """A clock reading that no age reaches; explorers move the clock back to it."""
        return max(self.birth_cut, self.round_cut, self.op_cut, self.batch_cut, self.check_interval) + 1


@dataclass(frozen=True, kw_only=True)
class Switches:
    """What differs between RocketMQ versions, one named switch a difference. The defaults are those of 5.3.3.

    Attributes
    ----------
    marks_op_done_on_hit : bool
        A half found in `removeMap` marks its op as done (from 4.6.0 on; A03).
    op_end_commits_offset : bool
        A pull exactly at the end of the op queue is taken as an illegal offset, and the op offset is committed to the
        end at once (up to 4.5.2; A02).
    batches_ops : bool
        Op messages are buffered and written in batches (from 5.1.0 on).
    keeps_discarded : bool
        A discarded half goes to TRANS_CHECK_MAX_TIME_TOPIC (from 4.5.2 on; before, it only left a log line, A31).
    refuses_late_end : bool
        A direct END_TRANSACTION of a half with an immunity that is over is answered ILLEGAL_OPERATION (from 5.1.1 on).
    equal_age_is_young : bool
        An age equal to the timeout or the immunity still counts as young (after 5.3.3; A19).
    heeds_settled_originals : bool
        An op message that names a half counts for the copies that were put back for its immunity, too: the repair of
        B01, in no version yet.
    """

    marks_op_done_on_hit: bool = True
    op_end_commits_offset: bool = False
    batches_ops: bool = True
    keeps_discarded: bool = True
    refuses_late_end: bool = True
    equal_age_is_young: bool = False
    heeds_settled_originals: bool = False


@dataclass(frozen=True, kw_only=True)
class Faults:
    """What may go wrong, one switch a fault. With none of them the world is quiet.

    In the quiet world each END is sent, arrives and is handled once, before any check of its transaction and at an age
    of at most max(timeout, immunity); producers answer checks before the transaction is checked again; rounds take no
    time.

    Attributes
    ----------
    slow_local : bool
        A local transaction may outlive the first check of its half; a check then finds it undecided.
    lose_end, lose_check : bool
        An END_TRANSACTION or a check request may vanish.
    duplicate_end : bool
        An END_TRANSACTION that was handled may arrive again.
    wrong_end : bool
        An END_TRANSACTION may arrive that its producer's outcome or an open check does not account for: it contradicts
        an earlier one, or names a copy that nobody asked about (A12, A36).
    late_end : bool
        An END_TRANSACTION, a check request or its answer may be under way for any time, or be handled slowly.
    slow_round : bool
        Time may pass while a round runs.
    slow_dispatch : bool
        A copy may not be in its consume queue yet when the round that stored it comes to it.
    crash : bool
        The broker's process may die (and start again): memory is lost, what was written stays.
    """

    slow_local: bool = False
    lose_end: bool = False
    lose_check: bool = False
    duplicate_end: bool = False
    wrong_end: bool = False
    late_end: bool = False
    slow_round: bool = False
    slow_dispatch: bool = False
    crash: bool = False


@dataclass(frozen=True, kw_only=True)
class Constants(Faults, Switches, Instance):
    """An instance under a profile in an environment: the `c` of every action."""


SWITCHES = tuple(f.name for f in fields(Switches))
FAULTS = tuple(f.name for f in fields(Faults))
