"""Why a settled transaction is checked or delivered again: ids of the catalogue, by the rules of the specification.

`spec/ghosts.py` has them as clauses of S1 and S9 (`remember_end`, `remember_put_back`, `why_its_op_was_not_seen`); here
they are asked of what a simulation knows for sure, so that each has one id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from traffic.simulation.ledger import LocalDecision, OpState

if TYPE_CHECKING:
    from reference.broker.broker_settings import BrokerSettings
    from reference.broker.transaction.check_round import CheckRound
    from reference.versions.switches import ReleaseSwitches
    from traffic.simulation.ledger import TrackedHalf

RUNNING: Final = "its local transaction still runs"
ON_ITS_WAY: Final = "its END_TRANSACTION is on its way"
UNEXPLAINED: Final = "unexplained"
POWER: Final = "loss of power"
_LOST: Final = {
    OpState.DIED_WITH_CRASH: "B02",
    OpState.DIED_WITH_STOP: "B03",
    OpState.NOT_STORED: "B04",
    OpState.LOST_WITH_POWER: POWER,
}


class Attribution:
    """The rules, for a broker of one release.

    Attributes
    ----------
    fork
        The id of what makes a half be put back twice, since the last start of a process.
    clocks_differ
        Whether producers' clocks may be ahead.
    """

    def __init__(self, switches: ReleaseSwitches, settings: BrokerSettings, *, clocks_differ: bool) -> None:
        self.fork = UNEXPLAINED
        self._switches = switches
        self._settings = settings
        self._clocks_differ = clocks_differ

    def of_put_back(self, half: TrackedHalf, check_round: CheckRound, now: float, *, for_immunity: bool) -> str:
        """Why a half is put back although its transaction is settled; '' where it is not."""
        if half.cause:
            return half.cause
        if half.copies:
            return self.fork
        if half.is_named:
            return self._why_its_op_was_not_seen(half, check_round, now, for_immunity=for_immunity)
        ancestor = half.parent
        while ancestor is not None:
            if ancestor.is_named:
                return self.of_superseded(ancestor)
            ancestor = ancestor.parent
        return "A39" if half.transaction.settled_at >= 0 and half.transaction.halves > 1 else ""

    def of_superseded(self, named: TrackedHalf) -> str:
        """What an END_TRANSACTION leads to that names a half of which there is a copy already (`remember_end`)."""
        return "B01" if named.left_for_immunity else "A11"

    def of_second_delivery(self, first: TrackedHalf | None, second: TrackedHalf) -> str:
        """Why a message was stored a second time."""
        if first is None:
            return UNEXPLAINED
        if first is second:
            return "A13"
        if first.root is not second.root:
            return "A39"
        if second.cause:
            return second.cause
        for named in (first, second):
            if named.copies > 1:
                return self.fork
        for named in (first, second):
            if named.copies:
                return self.of_superseded(named)
        return UNEXPLAINED

    def of_discard(self, half: TrackedHalf, *, is_too_old: bool) -> str:
        """Why a half is given up."""
        transaction = half.transaction
        if half.is_named:
            return "A10"
        if half.cause:
            return half.cause
        if is_too_old:
            return "B45" if not self._clocks_differ else "A21"
        if transaction.settled_at >= 0:
            return UNEXPLAINED
        if transaction.decision is LocalDecision.NEVER and transaction.has_run:
            return "its local transaction hangs"
        wasted = _wasted_check(half)
        if wasted:
            return wasted
        return "no answer to its checks" if transaction.has_run else "its local transaction never ran"

    def _why_its_op_was_not_seen(
        self, half: TrackedHalf, check_round: CheckRound, now: float, *, for_immunity: bool
    ) -> str:
        if half.op is OpState.BUFFERED:
            has_overslept = now - half.buffered_at > self._settings.op_batch_interval_ms
            return "A16" if has_overslept and not self._switches.wakes_by_last_write else "B05"
        if half.op is not OpState.STORED:
            return _LOST.get(half.op, UNEXPLAINED)
        ops = check_round.op_remove_map
        if half.op_offset < ops.next_op_offset:
            return "A02" if self._switches.op_end_commits_offset else "A15"
        if for_immunity or ops.pull_result.found is not None:
            return "B27" if self._clocks_differ and not for_immunity else "B47"
        return "B06"


def _wasted_check(half: TrackedHalf) -> str:
    """Why one of the put-backs that count as checks asked nobody; '' where all did (A09, B19, B52)."""
    copy: TrackedHalf | None = half
    while copy is not None and copy.parent is not None:
        if copy.is_immune_copy:
            return "A09"
        if not copy.is_asked:
            return "B52" if copy.is_of_a_stop else "B19"
        copy = copy.parent
    return ""
