"""Traces of the reference broker: a random walk of the specification drives it, and its recorder writes the trace.

The walk draws as `model_check.walks.dice` does, among the steps that both can take (`fuzz.actions`). What the broker
does is in the words of its own recorder. Producers, network and time have none; their events are in the words of
the specification. Specification and broker are compared after each step, as in the lockstep.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from fuzz.lockstep.pairing import DRIVEN, Mismatch, Pair, Pairing, is_excluded
from model_check.errors import EvaluationError
from model_check.walks.choices import step_tables
from model_check.walks.dice import Dice
from spec.events import FIELDS
from spec.language import NONE, Step, take

if TYPE_CHECKING:
    from collections.abc import Sequence


Row = dict[str, int | str]

UNRECORDED: Final = frozenset(
    {
        "half_stored", "local_outcome", "check_answered", "end_sent", "message_lost", "producer_gone", "producer_back",
        "message_delivered", "half_rolled_back", "time_passed", "clock_stepped_back", "op_lost", "op_corrupted",
        "offsets_regressed", "log_flushed", "half_missed",
    }
)  # fmt: skip
"""Events for which the broker's recorder has no word, as it does not know of them, or if they are another broker's."""

_OF_THE_EVENT: Final = ("transaction", "half", "copy", "op", "check_times", "outcome")


@dataclass(frozen=True, slots=True)
class BrokerTrace:
    """Events of the broker and its surroundings, a dictionary each, and the steps that made them."""

    rows: list[Row]
    steps: tuple[Step, ...]


class BrokerTraces:
    """Traces of a pairing's broker, whose steps are chosen as one of `model_check.walks.choices.CHOICES` says."""

    def __init__(self, pairing: Pairing, choice: str) -> None:
        self._pairing = pairing
        self._steps = self._pairing.steps
        self._tables = step_tables(choice, self._steps)
        self._scratch = self._pairing.machine.initial(self._pairing.constants)

    def make(self, seed: int, number: int, length: int) -> BrokerTrace:
        """One trace of at most so many steps; a step may give several events, or none.

        Raises
        ------
        EvaluationError
            Specification and broker disagree; names the step and what differs.
        """
        pair = Pair(self._pairing)
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
            rows += self._rows_of(pair, step, recorder.rows[before:])
        for place, row in enumerate(rows):
            row |= {"trace": number, "step": place}
        return BrokerTrace(rows, tuple(pair.taken))

    def _choose(self, pair: Pair, dice: Dice) -> Step | None:
        before = tuple(pair.state.memory.values)
        enabled = []
        for number, step in enumerate(self._steps):
            is_allowed = take(self._scratch.load(before), self._pairing.constants, step) is None
            if is_allowed and not is_excluded(DRIVEN[step.action.name], pair.side, step):
                enabled.append(number)
        chosen = dice.choose(enabled)
        return None if chosen is None else self._steps[chosen]

    def _rows_of(self, pair: Pair, step: Step, recorded: Sequence[Row]) -> list[Row]:
        """The events of a step: those that the broker recorded, and the step's own where it is not among them."""
        name, event = step.action.name, step.action.event
        rows = [row | {"action": name} for row in recorded]
        if event in UNRECORDED and all(row["event"] != event for row in rows):
            functions = step.action.shows
            seen: dict[str, Any] = {field.name: NONE for field in FIELDS} | {"outcome": 0}
            for field in _OF_THE_EVENT:
                if field in functions:
                    seen[field] = int(functions[field](pair.state, self._pairing.constants, *step.arguments[:1]))
            rows.append(seen | {"time": pair.side.clock.now, "event": event, "action": name})
        return rows
