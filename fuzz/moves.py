"""Moves: what a drawn number makes of a state, so that most draws lead on and deep states are reached.

A uniform choice among all steps hardly ever gets a transaction through two rounds. So a draw chooses a kind of move
first, by weight, and then, from where the draw says, the first step of that kind that the specification allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fuzz.answers import BRANCHES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from fuzz.lockstep import Lockstep
    from fuzz.world import World
    from spec.language import Refused, Step

CHOICES: Final = 64
"""How many numbers stand for one kind of move: they choose where in its steps the search begins."""

KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "tick": ("tick",),
    "round": ("begin_round", *BRANCHES),
    "whole round": ("begin_round", *BRANCHES),
    "end": ("store_real_message", "write_op", "buffer_op", "refuse_late_end"),
    "send": ("send_half",),
    "decide": ("commit_locally", "roll_back_locally", "leave_it_unknown", "resolve_to_commit", "resolve_to_rollback"),
    "batch": ("write_op_batch",),
    "check": ("answer_check", "answer_check_too_early", "lose_check"),
    "save": ("persist_offsets",),
    "wrong": ("send_wrong_commit", "send_wrong_rollback", "answer_with_wrong_commit", "answer_with_wrong_rollback"),
    "again": ("duplicate_end",),
    "lose": ("lose_end",),
    "crash": ("crash",),
}
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

_STEADY: Final = {
    "tick": 6, "round": 8, "whole round": 3, "end": 8, "send": 4, "decide": 4, "batch": 4, "check": 3, "save": 1,
    "wrong": 1, "again": 1, "lose": 1, "crash": 1,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Weather:
    """How an example goes: the weight of each kind of move, and the schedule that it begins with."""

    weights: Mapping[str, int]
    begins_with: str = ""


WEATHERS: Final = (
    Weather(_STEADY),
    Weather(_STEADY | {"whole round": 10, "tick": 8, "wrong": 0, "again": 0, "lose": 0, "crash": 0}),
    Weather(_STEADY | {"whole round": 6, "tick": 8, "end": 2, "check": 8, "crash": 0}),
    Weather(_STEADY | {"wrong": 4, "again": 3, "end": 12, "batch": 6, "crash": 0}),
    Weather(_STEADY | {"whole round": 6, "wrong": 3, "end": 12, "batch": 6, "save": 0, "check": 1}),
    Weather(_STEADY | {"crash": 0}, begins_with=COPY_OF_A_SETTLED_ORIGINAL),
    Weather(_STEADY | {"round": 16, "crash": 0}, begins_with=OP_BORN_LATE_IN_A_ROUND),
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
        return cls(
            {kind: tuple(s for name in names for s in world.steps_of.get(name, ())) for kind, names in KINDS.items()},
            world.steps,
            tuple(tuple(k for k, weight in weather.weights.items() for _ in range(weight)) for weather in WEATHERS),
            tuple(_known_steps(weather.begins_with, world) for weather in WEATHERS),
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
        for step in _rotated(self.steps[kind], begin):
            if "h" in step.action.parameters and step.arguments[0] >= pair.state.half_length:
                continue
            refused = pair.take(step)
            note(step, refused)
            if refused is None:
                return True
        return False


def _rotated(steps: tuple[Step, ...], begin: int) -> Iterator[Step]:
    for place in range(len(steps)):
        yield steps[(begin + place) % len(steps)]


def _known_steps(schedule: str, world: World) -> tuple[Step, ...]:
    """The steps of a schedule that this world knows."""
    known = {str(step): step for step in world.steps}
    return tuple(known[words] for words in map(str.strip, schedule.split(";")) if words in known)
