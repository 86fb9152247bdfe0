"""Workloads: drawn numbers become moves by weights, so that most draws lead on and deep states are reached.

A uniform choice among all steps hardly ever gets a transaction through two rounds. So a draw chooses a kind of move
first, by weight, and then, from where the draw says, the first step of that kind that the specification allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from fuzz.actions.check_round import pull_more_ops
from fuzz.actions.record import MOVES, Move
from fuzz.lockstep.pairing import DRIVEN, Pairing
from spec.constants import FAULTS, Constants

if TYPE_CHECKING:
    from spec.language import Refused, Step
    from spec.state import State

USUAL_FAULTS: Final = (
    "slow_local", "lose_end", "lose_check", "duplicate_end", "wrong_end", "late_end", "slow_round", "slow_dispatch",
    "crash",
)  # fmt: skip
"""Faults that each workload has its share of."""

Note = Callable[["Step", "Refused | None"], None]
"""Called with each step that was tried, and the rule that refused it."""


class TakesSteps(Protocol):
    """A pair, or whoever else takes steps of the specification."""

    state: State
    taken: list[Step]

    def take(self, step: Step) -> Refused | None:
        """Take a step; gives the conjunct that refuses it."""


CHOICES: Final = 64
"""How many numbers stand for one kind of move: they choose where in its steps the search begins."""

_PASSES: Final = 8
"""The most passes of a whole round."""

COPY_OF_A_SETTLED_ORIGINAL: Final = """
send_half t=0 immunity=3; send_half t=1 immunity=1; send_half t=2 immunity=-1; tick; begin_round; put_back_immune_half;
crash; send_wrong_commit h=2; store_real_message h=2; write_op h=2; buffer_op h=2; tick; write_op_batch;
begin_round; put_back_immune_half; send_wrong_commit h=0; store_real_message h=0; write_op h=0; buffer_op h=0;
send_wrong_commit h=4; store_real_message h=4; write_op h=4; buffer_op h=4; write_op_batch; pull_more_ops
"""
"""Before a round that meets an immune copy whose original an op message names (A15); random moves hardly get there.

Steps that a profile or an environment refuses are passed over.
"""

OP_BORN_LATE_IN_A_ROUND: Final = """
send_half t=0 immunity=-1; send_half t=1 immunity=-1; commit_locally t=1; store_real_message h=1; write_op h=1;
buffer_op h=1; tick; write_op_batch; tick; tick; begin_round; tick; tick; tick; send_wrong_commit h=1;
store_real_message h=1; write_op h=1; buffer_op h=1; write_op_batch
"""
"""In a slow round, before the pull of an op message that is younger than the round by more than the timeout (B06)."""

BEYOND_THE_END: Final = """
send_half t=0 immunity=1; send_half t=1 immunity=1; tick; tick; begin_round; put_back_and_check; put_back_and_check;
end_round_at_fresh_half; persist_offsets; lose_power records=0; send_half t=2 immunity=1
"""
"""After a power loss that leaves the half offset beyond the end, and another half in the place of the first (B10)."""

NO_ROOM: Final = """
send_half_with_checks t=0 immunity=-1 checks=2; send_half t=1 immunity=3; tick; begin_round
"""
"""Before a half is discarded and another put back, neither of which may be stored (B08, B31)."""

ROTTEN_OP: Final = """
send_half t=0 immunity=-1; send_half t=1 immunity=-1; commit_locally t=1; store_real_message h=1; write_op h=1;
buffer_op h=1; tick; write_op_batch; corrupt_op o=0; tick; tick
"""
"""Before a round that can read no op message (B17)."""

DEAD_MASTER: Final = """
send_half t=0 immunity=-1; send_half t=1 immunity=-1; commit_locally t=0; lose_end h=0; roll_back_locally t=1;
lose_end h=1; act_for_dead_master; tick; begin_round
"""
"""Before a round in which halves escape (B20)."""

BELOW_WHAT_IS_LEFT: Final = """
send_half t=0 immunity=3; tick; begin_round; put_back_immune_half; end_round_at_fresh_half; persist_offsets;
act_for_dead_master; tick; delete_oldest_files records=2; move_lower_ends; begin_round
"""
"""In a round whose half is deleted, and the one behind it, too (B24)."""

_STEADY: Final[dict[Move, int]] = {
    "time": 6, "round": 8, "whole round": 3, "end": 8, "send": 4, "decide": 4, "batch": 4, "check": 3, "save": 1,
    "wrong": 1, "again": 1, "lose": 1, "die": 1,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Workload:
    """How an example goes: the weight of each kind of move, and the steps that it begins with.

    It needs some of its faults; without all of them it would be much like another.
    """

    weights: Mapping[Move, int]
    begins_with: str = ""
    needs: tuple[str, ...] = ()

    def may_be(self, constants: Constants) -> bool:
        """Whether one of the faults that it needs is on."""
        return not self.needs or any(getattr(constants, fault) for fault in self.needs)


_CALM: Final[dict[Move, int]] = {"wrong": 0, "again": 0, "lose": 0, "die": 0}
_CHECKS_A_LOT: Final[dict[Move, int]] = _STEADY | {"whole round": 8, "time": 8, "end": 3, "check": 6}

WORKLOADS: Final = (
    Workload(_STEADY),
    Workload(_STEADY | {"whole round": 10, "time": 8} | _CALM),
    Workload(_STEADY | {"whole round": 6, "time": 8, "end": 2, "check": 8, "die": 0}),
    Workload(_STEADY | {"wrong": 4, "again": 3, "end": 12, "batch": 6, "die": 0}),
    Workload(_STEADY | {"whole round": 6, "wrong": 3, "end": 12, "batch": 6, "save": 0, "check": 1}),
    Workload(_STEADY | {"die": 0}, begins_with=COPY_OF_A_SETTLED_ORIGINAL),
    Workload(_STEADY | {"round": 16, "die": 0}, begins_with=OP_BORN_LATE_IN_A_ROUND),
    Workload(_STEADY | {"twice": 6, "end": 12, "unrun": 1}, needs=("reorder", "twin_send", "bad_store_status")),
    Workload(
        _CHECKS_A_LOT | {"leave": 2, "come back": 2, "decide": 2}, needs=("offline_producer", "restarted_producer")
    ),
    Workload(
        _STEADY | {"other send": 6, "send": 1, "clock": 2, "whole round": 6},
        needs=("clock_skew", "clock_step", "preset_original"),
    ),
    Workload(
        _STEADY | {"bad send": 4, "send": 2, "bad put": 6, "whole round": 6, "die": 0},
        needs=("put_failure", "op_write_failure"),
    ),
    Workload(_STEADY | {"bad put": 24, "die": 0}, begins_with=NO_ROOM, needs=("put_failure",)),
    Workload(
        _STEADY | {"bad read": 3, "rot": 3, "whole round": 6, "bad send": 2, "end": 12},
        needs=("null_half", "undecodable_half", "undecodable_op"),
    ),
    Workload(
        _STEADY | {"rot": 2, "bad read": 2, "round": 16, "die": 0},
        begins_with=ROTTEN_OP,
        needs=("undecodable_op",),
    ),
    Workload(_STEADY | {"flush": 1, "power": 2, "late": 3, "save": 4, "die": 0}, needs=("power_loss",)),
    Workload(
        _STEADY | {"power": 1, "late": 12, "decide": 2, "round": 12, "die": 0},
        begins_with=BEYOND_THE_END,
        needs=("power_loss",),
    ),
    Workload(
        _CHECKS_A_LOT | {"shut down": 1, "regress": 2, "resume": 4, "other send": 2, "save": 2},
        needs=("graceful_stop", "offset_regression", "resume_discarded"),
    ),
    Workload(_STEADY | {"role": 2, "back": 3, "slave": 6, "save": 3}, needs=("role_change", "acting_slave")),
    Workload(
        _CHECKS_A_LOT | {"role": 3, "escape": 8, "elsewhere": 3, "back": 2, "save": 3} | _CALM, needs=("acting_slave",)
    ),
    Workload(
        _CHECKS_A_LOT | {"escape": 16, "elsewhere": 8, "back": 2, "save": 3} | _CALM,
        begins_with=DEAD_MASTER,
        needs=("acting_slave",),
    ),
    Workload(_STEADY | {"retain": 3, "save": 4, "whole round": 8, "time": 8}, needs=("retention",)),
    Workload(_CHECKS_A_LOT | {"retain": 2, "back": 1}, begins_with=BELOW_WHAT_IS_LEFT, needs=("retention",)),
    Workload(
        dict.fromkeys(MOVES, 4) | {"time": 12, "whole round": 16, "end": 16, "power": 1, "die": 1, "shut down": 1},
        needs=tuple(name for name in FAULTS if name not in USUAL_FAULTS),
    ),
)
"""An example has one workload from its start to its end."""


@dataclass(frozen=True, slots=True)
class MoveTable:
    """The moves of a machine in an instance."""

    steps: Mapping[Move, tuple[Step, ...]]
    """For each kind its steps, in the order of the machine's actions but for those that `after` moves."""
    probes: tuple[Step, ...]
    """All steps, for questions about what is forbidden."""
    draws: tuple[tuple[Move, ...], ...]
    """For each workload the kinds, each as often as its weight."""
    starts: tuple[tuple[Step, ...], ...]
    """For each workload the steps that an example begins with."""

    @classmethod
    def of(cls, pairing: Pairing) -> MoveTable:
        """The table of a pairing."""
        workloads = [workload for workload in WORKLOADS if workload.may_be(pairing.constants)]
        return cls(
            {move: _steps_of("round" if move == "whole round" else move, pairing) for move in MOVES},
            pairing.steps,
            tuple(tuple(k for k, weight in workload.weights.items() for _ in range(weight)) for workload in workloads),
            tuple(_known_steps(workload.begins_with, pairing) for workload in workloads),
        )

    def kind_of(self, workload: int, draw: int) -> Move:
        """The kind of move that a draw stands for."""
        draws = self.draws[workload % len(self.draws)]
        return draws[draw // CHOICES % len(draws)]

    def move(self, pair: TakesSteps, workload: int, draw: int, note: Note) -> int:
        """Make the move that a draw stands for; how many steps were taken, none where the move is not possible."""
        return self.move_of(pair, self.kind_of(workload, draw), draw % CHOICES, note)

    def move_of(self, pair: TakesSteps, kind: Move, begin: int, note: Note) -> int:
        """Make a move of a kind; the search for a step begins with the one of that number."""
        passes = _PASSES if kind == "whole round" else 1
        taken = 0
        while taken < passes and self._first_allowed(pair, kind, begin, note):
            taken += 1
            if not pair.state.round.running or DRIVEN[pair.taken[-1].action.name] is pull_more_ops:
                break
        return taken

    def _first_allowed(self, pair: TakesSteps, kind: Move, begin: int, note: Note) -> bool:
        half_length = pair.state.half_length
        for step in _rotated(self.steps[kind], begin):
            if "h" in step.action.parameters and step.arguments[0] >= half_length:
                continue
            refused = pair.take(step)
            note(step, refused)
            if refused is None:
                return True
        return False


def _steps_of(move: Move, pairing: Pairing) -> tuple[Step, ...]:
    place = {name: number for number, name in enumerate(DRIVEN)}
    names = [name for name, record in DRIVEN.items() if move in record.moves]
    names.sort(key=lambda name: place[DRIVEN[name].after or name] + 0.5 * bool(DRIVEN[name].after))
    return tuple(step for name in names for step in pairing.steps_of.get(name, ()))


def _rotated(steps: tuple[Step, ...], begin: int) -> tuple[Step, ...]:
    place = begin % max(len(steps), 1)
    return steps[place:] + steps[:place]


def _known_steps(steps: str, pairing: Pairing) -> tuple[Step, ...]:
    """Of steps those that this pairing knows."""
    known = {str(step): step for step in pairing.steps}
    return tuple(known[words] for words in map(str.strip, steps.split(";")) if words in known)
