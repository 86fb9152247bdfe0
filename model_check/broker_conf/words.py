"""A schedule in plain words: who does what, and when, in seconds; rounds that repeat are folded.

A schedule of fifteen equal rounds reads as the first and how many more there are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from files.durations import duration, moment
from model_check.broker_conf.timed_path import ROUND_BEGAN, TICK, place_of_clock
from model_check.errors import EvaluationError
from model_check.wording.actions import wordings
from spec.language import NONE, Machine, Step, take

LEAST_FOLDED = 2
"""Fewer rounds like the one before are shown in full."""


@dataclass(frozen=True, slots=True)
class ScheduleLine:
    """One step that people want to read: when it happens, in milliseconds since the start, and what it is."""

    milliseconds: int
    step: Step
    words: str

    def __str__(self) -> str:
        return f"{moment(self.milliseconds)}  {self.words}"

    def to_json(self) -> dict[str, Any]:
        """The step as plain data."""
        return {
            "milliseconds": self.milliseconds,
            "action": self.step.action.name,
            "parameters": dict(zip(self.step.action.parameters, self.step.arguments, strict=True)),
            "words": self.words,
        }


def schedule_lines(
    machine: Machine, constants: object, path: Sequence[Step], times: Sequence[int]
) -> tuple[ScheduleLine, ...]:
    """The steps in words; that time passes and that a round ends as it should is left out.

    The schedule is one that `model_check.broker_conf.answer` accepts, with constants in milliseconds. Raises
    `EvaluationError` when a guard refuses a step.
    """
    state = machine.initial(constants)
    clock = place_of_clock(state)
    lines: list[ScheduleLine] = []
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
            lines.append(ScheduleLine(time, step, _filled(sentence, step, state.show(), constants)))
    return tuple(lines)


def _filled(sentence: str, step: Step, shown: dict[str, str], constants: object) -> str:
    given = dict(zip(step.action.parameters, step.arguments, strict=True))
    transaction = given.get("t", shown.get(f"half[{given.get('h')}].transaction", ""))
    last = int(shown["half_length"]) - 1
    immunity = given.get("immunity", NONE)
    answer = shown.get(f"half[{given.get('h')}].end")
    passed = int(shown["round.cursor"]) - 1
    return sentence.format(
        t=given.get("t"),
        h=given.get("h"),
        of=transaction,
        first=shown.get(f"transaction[{transaction}].first_half"),
        deliveries=_count(shown.get(f"transaction[{transaction}].deliveries", "")),
        immunity="" if immunity == NONE else f", which is immune for {duration(immunity)}",
        answer=answer if answer in ("commit", "rollback") else "unknown",
        last=last,
        checks=shown.get(f"half[{last}].check_times"),
        cursor=shown["round.cursor"],
        passed=passed,
        why_discarded=_why_discarded(shown.get(f"half[{passed}].check_times", ""), constants),
        o=given.get("o"),
        checks_sent=given.get("checks"),
        records=given.get("records"),
        next_op=shown["round.next_op"],
    )


def _why_discarded(check_times: str, constants: object) -> str:
    """Which question of the round was answered with yes: TransactionalMessageServiceImpl#needDiscard or #needSkip."""
    has_checks = check_times.isdecimal() and int(check_times) < getattr(constants, "check_max", 0)
    return "it is older than fileReservedTime" if has_checks else "its checks are used up"


def _count(times: str) -> str:
    return {"1": "once", "2": "a second time"}.get(times, times)


@dataclass(frozen=True, slots=True)
class FoldedRounds:
    """Rounds that are like the one before them."""

    count: int
    milliseconds: int
    """When the last of them begins."""
    steps: tuple[ScheduleLine, ...]
    """All of their steps."""

    @property
    def words(self) -> str:
        """What stands for them."""
        return f"{self.count} more rounds like this, up to here"


def folded(lines: Sequence[ScheduleLine]) -> list[ScheduleLine | FoldedRounds]:
    """The steps, with each run of rounds that only differ in their numbers folded behind the first of them.

    A round goes from its begin to the next one's; two are alike when the same happens in them at the same distances.
    """
    starts = [number for number, step in enumerate(lines) if step.step.action.event == ROUND_BEGAN]
    if not starts:
        return list(lines)
    ends = [*starts[1:], len(lines)]
    rounds = [tuple(lines[start:end]) for start, end in zip(starts, ends, strict=True)]
    shown: list[ScheduleLine | FoldedRounds] = list(lines[: starts[0]])
    for _, alike in groupby(rounds, key=_shape):
        first, *more = alike
        shown.extend(first)
        if len(more) >= LEAST_FOLDED:
            shown.append(FoldedRounds(len(more), more[-1][0].milliseconds, tuple(s for one in more for s in one)))
        else:
            shown.extend(step for one in more for step in one)
    return shown


def _shape(steps: Sequence[ScheduleLine]) -> tuple[tuple[int, str], ...]:
    """What happens in a round, and how long after its begin; numbers of halves and checks aside."""
    began = steps[0].milliseconds
    return tuple((step.milliseconds - began, re.sub(r"\d+", "n", step.words)) for step in steps)
