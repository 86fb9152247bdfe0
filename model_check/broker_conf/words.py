"""A schedule in plain words: who does what, and when, in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from model_check.broker_conf.configuration import show_duration
from model_check.broker_conf.timed_path import TICK
from model_check.errors import EvaluationError
from model_check.wording.gathered import wordings
from spec.language import NONE, Kind, Machine, Step, take

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Told:
    """One step that people want to read: when it happens, in milliseconds since the start, and what it is."""

    milliseconds: int
    step: Step
    words: str

    def __str__(self) -> str:
        return f"{self.milliseconds / 1000:.3f} s  {self.words}"

    def to_json(self) -> dict[str, Any]:
        """The step as plain data."""
        return {
            "milliseconds": self.milliseconds,
            "action": self.step.action.name,
            "parameters": dict(zip(self.step.action.parameters, self.step.arguments, strict=True)),
            "words": self.words,
        }


def tell(machine: Machine, constants: object, path: Sequence[Step], times: Sequence[int]) -> tuple[Told, ...]:
    """The steps in words; that time passes and that a round ends as it should is left out.

    Parameters
    ----------
    machine
    constants
        In milliseconds.
    path, times
        A schedule, as `model_check.broker_conf.judge` accepts it.

    Raises
    ------
    EvaluationError
        When a guard refuses a step.
    """
    state = machine.initial(constants)
    clock = next(p for p, slot in enumerate(state.memory.slots) if slot.kind is Kind.CLOCK)
    told = []
    for step, time in zip(path, times, strict=True):
        if step.action.event == TICK:
            state.memory.values[clock] = state.horizon + time
            continue
        refused = take(state, constants, step)
        if refused is not None:
            msg = f"{step} at {time} ms is refused: {refused.rule}"
            raise EvaluationError(msg)
        sentence = wordings()[step.action.name].sentence
        if sentence is not None:
            told.append(Told(time, step, _filled(sentence, step, state.show())))
    return tuple(told)


def _filled(sentence: str, step: Step, shown: dict[str, str]) -> str:
    given = dict(zip(step.action.parameters, step.arguments, strict=True))
    transaction = given.get("t", shown.get(f"half[{given.get('h')}].transaction", ""))
    last = int(shown["half_length"]) - 1
    immunity = given.get("immunity", NONE)
    answer = shown.get(f"half[{given.get('h')}].end")
    return sentence.format(
        t=given.get("t"),
        h=given.get("h"),
        of=transaction,
        first=shown.get(f"transaction[{transaction}].first_half"),
        deliveries=_count(shown.get(f"transaction[{transaction}].deliveries", "")),
        immunity="" if immunity == NONE else f", which is immune for {show_duration(immunity)}",
        answer=answer if answer in ("commit", "rollback") else "unknown",
        last=last,
        checks=shown.get(f"half[{last}].check_times"),
        cursor=shown["round.cursor"],
        passed=int(shown["round.cursor"]) - 1,
        o=given.get("o"),
        checks_sent=given.get("checks"),
        records=given.get("records"),
        next_op=shown["round.next_op"],
    )


def _count(times: str) -> str:
    return {"1": "once", "2": "a second time"}.get(times, times)
