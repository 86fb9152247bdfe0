"""Traces of the reference broker: a random walk of the specification drives it, and it tells what it does.

The walk draws as `model_check.walks.dice` does, among the steps that both can take (`fuzz.left_out`,
`fuzz.steered`). What the broker does is in the words of its own recorder. Producers, network and time have none; what
they do is told in the words of the specification. Specification and broker are compared after each step, as in the
lockstep.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from fuzz.deeds_around import DEEDS_AROUND
from fuzz.lockstep.mismatch import Mismatch
from fuzz.lockstep.pair import Lockstep
from fuzz.lockstep.pairing import World
from fuzz.steered import is_left_out
from model_check.errors import EvaluationError
from model_check.walks.choices import step_tables
from model_check.walks.dice import Dice
from spec.events import FIELDS
from spec.language import NONE, take

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spec.language import Step

Row = dict[str, int | str]

UNRECORDED: Final = frozenset(
    {"time_passed", "clock_stepped_back", "op_lost", "op_corrupted", "offsets_regressed", "log_flushed", "half_missed"}
)
"""Events for which the broker's recorder has no word, because it does not know of them."""

_OF_THE_EVENT: Final = ("transaction", "half", "copy", "op", "check_times", "outcome")


@dataclass(frozen=True, slots=True)
class BrokerTrace:
    """What the broker and those around it did, a dictionary an event, and the steps that made them."""

    rows: list[Row]
    steps: tuple[Step, ...]


class BrokerTraces:
    """Traces of the broker of one version in one instance and environment.

    Parameters
    ----------
    profile, faults, instance
        As for `fuzz.lockstep.pairing.World.of`.
    choice
        How a step is chosen, one of `model_check.walks.choices.CHOICES`.

    Raises
    ------
    ModelCheckError
        A name is unknown, or there is no such broker.
    """

    def __init__(self, profile: str, faults: Sequence[str], instance: str, choice: str) -> None:
        self._world = World.of(profile, tuple(faults), instance)
        self._steps = self._world.steps
        self._tables = step_tables(choice, self._steps)
        self._scratch = self._world.machine.initial(self._world.constants)

    def make(self, seed: int, number: int, length: int) -> BrokerTrace:
        """One trace of at most so many steps; a step may give several events, or none.

        Raises
        ------
        EvaluationError
            Specification and broker disagree; names the step and what differs.
        """
        pair = Lockstep(self._world)
        dice = Dice(seed, number, self._tables)
        rows: list[Row] = []
        for _ in range(length):
            step = self._choose(pair, dice)
            if step is None:
                break
            recorder = pair.side.broker.recorder
            before = len(recorder.rows)
            try:
                pair.take(step)
            except Mismatch as mismatch:
                msg = f"trace {number}: specification and reference broker disagree: {mismatch}"
                raise EvaluationError(msg) from mismatch
            rows += self._told(pair, step, recorder.rows[before:])
        for place, row in enumerate(rows):
            row |= {"trace": number, "step": place}
        return BrokerTrace(rows, tuple(pair.taken))

    def _choose(self, pair: Lockstep, dice: Dice) -> Step | None:
        before = tuple(pair.state.memory.values)
        enabled = []
        for number, step in enumerate(self._steps):
            if take(self._scratch.load(before), self._world.constants, step) is None and not is_left_out(step, pair):
                enabled.append(number)
        chosen = dice.choose(enabled)
        return None if chosen is None else self._steps[chosen]

    def _told(self, pair: Lockstep, step: Step, recorded: Sequence[Row]) -> list[Row]:
        """The events of a step: those that the broker recorded; where none of them is the step's own, that too."""
        name, event = step.action.name, step.action.event
        told = [row | {"action": name} for row in recorded]
        is_untold = all(row["event"] != event for row in told)
        if is_untold and (name in DEEDS_AROUND or event in UNRECORDED):
            functions = step.action.shows
            seen: dict[str, Any] = {field.name: NONE for field in FIELDS} | {"outcome": 0}
            for field in _OF_THE_EVENT:
                if field in functions:
                    seen[field] = int(functions[field](pair.state, self._world.constants, *step.arguments[:1]))
            told.append(seen | {"time": pair.side.clock.now, "event": event, "action": name})
        return told
