"""What is fixed while a machine runs: the instance (sizes, times), the profile (a version), the environment (faults).

Actions see one object `c` with all of it. Times are ticks of the broker's clock.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from spec.faults import Faults
from spec.language import NONE
from spec.switches import Switches


@dataclass(frozen=True, kw_only=True)
class Instance:
    """Sizes and times of one instance, and what its messages may carry.

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
    first_checks : tuple of int
        What TRANSACTION_CHECK_TIMES a producer may send with a message (B26); 0 is a message without that property.
    skews : tuple of int
        How far the clock of a producer may be ahead of the broker's, in ticks; less than 0 where it is behind.
    reserved_time : int
        `fileReservedTime` in ticks: a half that is older is discarded, however often it was checked. `NONE`: longer
        than any run.
    clock_steps : int
        How often the broker's clock may step back, by a tick each.
    mishaps : int
        How often something may go wrong in the broker, other than its process dying.
    stray_ends : int
        How many END_TRANSACTIONs may be repeated, or say what they should not.
    crashes : int
        How often the broker's process may die. `NONE`: as often as it likes.
    reach : int
        How many places below the half offset (the op offset) a fault finds halves (op messages) that are over: so far
        offsets go back, ENDs are repeated or wrong, and discarded halves are resumed. `NONE`: all.
    persist_interval : int
        `flushConsumerOffsetInterval` in ticks: so long an offset may be ahead of its file. `NONE`: for ever.
    forgets : int
        1 where what is over is forgotten (`spec.forgetting`), so that runs go on for ever; else 0.
    expires : int
        1 where retention may delete files of the commit log; 0 where nobody asks for it, and states are smaller.
    endless : int
        1 where it is asked what must happen in the end; else 0. A transaction is not forgotten before it has an outcome
        (`spec.ghosts`), so that one that is lost waits for ever; and a round that pulls nothing again takes time.
    proxies : int
        How many proxies stand between the producers and the broker (`spec.chapters.proxy`); 0 where there is none.
    data_life : int
        `transactionDataExpireMillis` in ticks: so long a proxy knows where a half lies.
    crowded : int
        1 where any number of other transactions may stand between the halves and op messages of the one that is here
        (`spec.chapters.others`); else 0.
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
    first_checks: tuple[int, ...] = (0,)
    skews: tuple[int, ...] = (0,)
    reserved_time: int = NONE
    clock_steps: int = 0
    mishaps: int = 2
    stray_ends: int = 1
    crashes: int = NONE
    reach: int = NONE
    persist_interval: int = NONE
    forgets: int = 0
    expires: int = 1
    endless: int = 0
    proxies: int = 0
    data_life: int = 0
    crowded: int = 0

    @property
    def most_crashes(self) -> int:
        """So many deaths of the broker's process are counted."""
        return max(self.crashes, 0)

    @property
    def farthest_reach(self) -> int:
        """How many places back faults find something when an offset has gone back as often as it may."""
        return self.reach * (self.mishaps + 1)

    @property
    def most_unsaved(self) -> int:
        """For how many ticks an offset may have been ahead of its file, as far as anybody asks."""
        return max(self.persist_interval, 0)

    @property
    def most_gone(self) -> int:
        """So many halves of a transaction that were forgotten are told apart; all, as far as a property asks."""
        return self.forgets * (self.check_max + 2)

    @property
    def most_halves_deleted(self) -> int:
        """So many halves at most has retention deleted, of those that are not forgotten."""
        return self.expires * self.half_slots

    @property
    def most_ops_deleted(self) -> int:
        """The same of op messages."""
        return self.expires * self.op_slots

    @property
    def most_held(self) -> int:
        """Op messages before which one of another transaction may hold the op offset back."""
        return self.crowded * self.op_slots

    @property
    def most_met(self) -> int:
        """Places at which a round is known to stand on a half that is here."""
        return self.crowded * self.half_slots

    @property
    def log_slots(self) -> int:
        """Halves and op messages that there may be."""
        return self.half_slots + self.op_slots

    @property
    def longest_immunity(self) -> int:
        """The largest immunity that a producer asks for, 0 if none does."""
        return max(*self.immunities, 0, NONE)

    @property
    def most_immunity(self) -> int:
        """The largest immunity that there may be, whatever goes wrong: one that is sent on has that of the timeout."""
        return max(*self.immunities, self.timeout)

    @property
    def time_of_all_checks(self) -> int:
        """How long `check_max` rounds take at least."""
        return self.check_max * self.check_interval

    @property
    def birth_cut(self) -> int:
        """No guard compares the age of a half with more than this."""
        return max(self.timeout, self.longest_immunity, self.reserved_time) + 1

    @property
    def birth_lead(self) -> int:
        """So far in the future a half may be born."""
        return max(*self.skews, 0, 0) + self.clock_steps

    @property
    def round_cut(self) -> int:
        """No guard compares the duration of a round, or an instant with the start of a round, beyond this.

        Only a repaired round lasts longer, and it then compares nothing with its start
        (`spec.check_loop.has_time_left`).
        """
        return self.round_limit + 1

    @property
    def stored_cut(self) -> int:
        """No guard asks for how long a half has been stored beyond this."""
        return max(self.round_cut, self.data_life + 1)

    @property
    def op_cut(self) -> int:
        """No guard looks at the age of an op message beyond this: where it matters, the round is within its limit."""
        return self.round_limit + 1

    @property
    def batch_cut(self) -> int:
        """The op batch thread is at most one interval late, so that older ages are the same to it."""
        return 2 * self.op_batch_interval

    @property
    def waiting_cut(self) -> int:
        """No guard asks whether a half offset has waited in the op batch for longer than this."""
        return self.op_batch_interval + 1

    @property
    def horizon(self) -> int:
        """A clock reading that no age reaches; explorers move the clock back to it."""
        return (
            max(
                self.birth_cut,
                self.round_cut,
                self.stored_cut,
                self.op_cut,
                self.batch_cut,
                self.waiting_cut,
                self.check_interval,
            )
            + 2
        )


@dataclass(frozen=True, kw_only=True)
class Constants(Faults, Switches, Instance):
    """An instance under a profile in an environment: the `c` of every action."""


SWITCHES = tuple(f.name for f in fields(Switches))
FAULTS = tuple(f.name for f in fields(Faults))
