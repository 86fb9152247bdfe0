"""Moves: what a drawn number makes of a state, so that most draws lead on and deep states are reached.

A uniform choice among all steps hardly ever gets a transaction through two rounds. So a draw chooses a kind of move
first, by weight, and then, from where the draw says, the first step of that kind that the specification allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fuzz.answers import BRANCHES
from spec.constants import FAULTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fuzz.lockstep.pair import Lockstep
    from fuzz.lockstep.pairing import World
    from spec.constants import Constants
    from spec.language import Refused, Step

USUAL_FAULTS: Final = (
    "slow_local", "lose_end", "lose_check", "duplicate_end", "wrong_end", "late_end", "slow_round", "slow_dispatch",
    "crash",
)  # fmt: skip
"""Faults that each weather has its share of."""

CHOICES: Final = 64
"""How many numbers stand for one kind of move: they choose where in its steps the search begins."""

KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "tick": ("tick",),
    "round": ("begin_round", "fail_to_begin_round", *BRANCHES),
    "whole round": ("begin_round", "fail_to_begin_round", *BRANCHES),
    "end": ("store_real_message", "write_op", "buffer_op", "refuse_late_end", "refuse_unreadable"),
    "send": ("send_half",),
    "decide": ("commit_locally", "roll_back_locally", "leave_it_unknown", "resolve_to_commit", "resolve_to_rollback"),
    "batch": ("write_op_batch",),
    "check": ("answer_check", "answer_check_too_early", "lose_check"),
    "save": ("persist_offsets",),
    "wrong": ("send_wrong_commit", "send_wrong_rollback", "answer_with_wrong_commit", "answer_with_wrong_rollback"),
    "again": ("duplicate_end",),
    "lose": ("lose_end",),
    "crash": ("crash",),
    "twice": ("double_end", "overtake", "send_half_again"),
    "unrun": ("roll_back_unrun",),
    "leave": ("lose_all_producers", "restart_producers"),
    "come back": ("connect_again",),
    "other send": ("send_half_by_another_clock", "send_half_with_checks", "send_half"),
    "clock": ("step_clock_back",),
    "bad send": ("send_poison_half", "send_undecodable_half", "send_half"),
    "bad put": (
        "refuse_commit_unstored", "fail_to_write_op", "fail_to_write_op_batch", "spin_at_failed_check",
        "spin_at_failed_immunity", "discard_half_unrecorded",
    ),
    "bad read": ("jump_over_half", "end_round_at_missed_half", "abort_at_null_result"),
    "rot": ("corrupt_op",),
    "flush": ("flush_log",),
    "power": ("lose_power",),
    "late": ("commit_what_is_gone", "commit_another_half"),
    "stop": ("stop",),
    "regress": ("set_half_offset_back", "set_op_offset_back"),
    "resume": ("resume_discarded",),
    "role": ("become_slave", "act_for_dead_master"),
    "back": ("become_master", "bring_master_back", "bring_master_back_with_its_own_offsets"),
    "slave": ("refuse_end_as_slave", "fail_to_write_op", "fail_to_write_op_batch"),
    "escape": ("let_half_escape", "let_half_escape_unclearly", "give_half_up"),
    "elsewhere": ("deliver_escaped", "roll_back_escaped"),
}  # fmt: skip
"""A kind of move and the actions that it may take; each action of the specification is in some kind."""

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

_STEADY: Final = {
    "tick": 6, "round": 8, "whole round": 3, "end": 8, "send": 4, "decide": 4, "batch": 4, "check": 3, "save": 1,
    "wrong": 1, "again": 1, "lose": 1, "crash": 1,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Weather:
    """How an example goes: the weight of each kind of move, and the schedule that it begins with.

    It needs some of its faults; without all of them it would be much like another.
    """

    weights: Mapping[str, int]
    begins_with: str = ""
    needs: tuple[str, ...] = ()

    def may_be(self, constants: Constants) -> bool:
        """Whether one of the faults that it needs is on."""
        return not self.needs or any(getattr(constants, fault) for fault in self.needs)


_CALM: Final = {"wrong": 0, "again": 0, "lose": 0, "crash": 0}
_CHECKS_A_LOT: Final = _STEADY | {"whole round": 8, "tick": 8, "end": 3, "check": 6}

WEATHERS: Final = (
    Weather(_STEADY),
    Weather(_STEADY | {"whole round": 10, "tick": 8} | _CALM),
    Weather(_STEADY | {"whole round": 6, "tick": 8, "end": 2, "check": 8, "crash": 0}),
    Weather(_STEADY | {"wrong": 4, "again": 3, "end": 12, "batch": 6, "crash": 0}),
    Weather(_STEADY | {"whole round": 6, "wrong": 3, "end": 12, "batch": 6, "save": 0, "check": 1}),
    Weather(_STEADY | {"crash": 0}, begins_with=COPY_OF_A_SETTLED_ORIGINAL),
    Weather(_STEADY | {"round": 16, "crash": 0}, begins_with=OP_BORN_LATE_IN_A_ROUND),
    Weather(_STEADY | {"twice": 6, "end": 12, "unrun": 1}, needs=("reorder", "twin_send", "bad_store_status")),
    Weather(
        _CHECKS_A_LOT | {"leave": 2, "come back": 2, "decide": 2}, needs=("offline_producer", "restarted_producer")
    ),
    Weather(_STEADY | {"other send": 6, "send": 1, "clock": 2, "whole round": 6}, needs=("clock_skew", "clock_step")),
    Weather(
        _STEADY | {"bad send": 4, "send": 2, "bad put": 6, "whole round": 6, "crash": 0},
        needs=("put_failure", "op_write_failure"),
    ),
    Weather(_STEADY | {"bad put": 24, "crash": 0}, begins_with=NO_ROOM, needs=("put_failure",)),
    Weather(
        _STEADY | {"bad read": 3, "rot": 3, "whole round": 6, "bad send": 2, "end": 12},
        needs=("null_half", "undecodable_half", "undecodable_op"),
    ),
    Weather(
        _STEADY | {"rot": 2, "bad read": 2, "round": 16, "crash": 0},
        begins_with=ROTTEN_OP,
        needs=("undecodable_op",),
    ),
    Weather(_STEADY | {"flush": 1, "power": 2, "late": 3, "save": 4, "crash": 0}, needs=("power_loss",)),
    Weather(
        _STEADY | {"power": 1, "late": 12, "decide": 2, "round": 12, "crash": 0},
        begins_with=BEYOND_THE_END,
        needs=("power_loss",),
    ),
    Weather(
        _CHECKS_A_LOT | {"stop": 1, "regress": 2, "resume": 4, "other send": 2, "save": 2},
        needs=("graceful_stop", "offset_regression", "resume_discarded"),
    ),
    Weather(_STEADY | {"role": 2, "back": 3, "slave": 6, "save": 3}, needs=("role_change", "acting_slave")),
    Weather(
        _CHECKS_A_LOT | {"role": 3, "escape": 8, "elsewhere": 3, "back": 2, "save": 3} | _CALM, needs=("acting_slave",)
    ),
    Weather(
        _CHECKS_A_LOT | {"escape": 16, "elsewhere": 8, "back": 2, "save": 3} | _CALM,
        begins_with=DEAD_MASTER,
        needs=("acting_slave",),
    ),
    Weather(
        dict.fromkeys(KINDS, 4) | {"tick": 12, "whole round": 16, "end": 16, "power": 1, "crash": 1, "stop": 1},
        needs=tuple(name for name in FAULTS if name not in USUAL_FAULTS),
    ),
)
"""An example has one weather from its start to its end."""


@dataclass(frozen=True, slots=True)
class MoveTable:
    """The moves of a machine in an instance.

    Attributes
    ----------
    steps
        For each kind its steps, in the order of the machine's actions.
    probes
        All steps, for questions about what is forbidden.
    draws
        For each weather the kinds, each as often as its weight.
    starts
        For each weather the steps that an example begins with.
    """

    steps: Mapping[str, tuple[Step, ...]]
    probes: tuple[Step, ...]
    draws: tuple[tuple[str, ...], ...]
    starts: tuple[tuple[Step, ...], ...]

    @classmethod
    def of(cls, world: World) -> MoveTable:
        """The table of a world."""
        weathers = [weather for weather in WEATHERS if weather.may_be(world.constants)]
        return cls(
            {kind: tuple(s for name in names for s in world.steps_of.get(name, ())) for kind, names in KINDS.items()},
            world.steps,
            tuple(tuple(k for k, weight in weather.weights.items() for _ in range(weight)) for weather in weathers),
            tuple(_known_steps(weather.begins_with, world) for weather in weathers),
        )

    def kind_of(self, weather: int, draw: int) -> str:
        """The kind of move that a draw stands for."""
        draws = self.draws[weather % len(self.draws)]
        return draws[draw // CHOICES % len(draws)]

    def move(self, pair: Lockstep, weather: int, draw: int, note: Callable[[Step, Refused | None], None]) -> int:
        """Make the move that a draw stands for; how many steps were taken, none where the move is not possible.

        Parameters
        ----------
        note
            Is told of each step that was tried, and of what refused it.
        """
        kind = self.kind_of(weather, draw)
        passes = _PASSES if kind == "whole round" else 1
        taken = 0
        while taken < passes and self._first_allowed(pair, kind, draw % CHOICES, note):
            taken += 1
            if not pair.state.round.running or pair.taken[-1].action.name == "pull_more_ops":
                break
        return taken

    def _first_allowed(
        self, pair: Lockstep, kind: str, begin: int, note: Callable[[Step, Refused | None], None]
    ) -> bool:
        half_length = pair.state.half_length
        for step in _rotated(self.steps[kind], begin):
            if "h" in step.action.parameters and step.arguments[0] >= half_length:
                continue
            refused = pair.take(step)
            note(step, refused)
            if refused is None:
                return True
        return False


def _rotated(steps: tuple[Step, ...], begin: int) -> tuple[Step, ...]:
    place = begin % max(len(steps), 1)
    return steps[place:] + steps[:place]


def _known_steps(schedule: str, world: World) -> tuple[Step, ...]:
    """The steps of a schedule that this world knows."""
    known = {str(step): step for step in world.steps}
    return tuple(known[words] for words in map(str.strip, schedule.split(";")) if words in known)
