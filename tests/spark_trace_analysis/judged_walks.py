"""The third way to judge: walks of the specification, each state of which is judged by the specification's own clauses.

Walks are weighted: for each of them, each action is drawn to be common or rare, so that what is rare is met, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from model_check.counterexample.steps import TICKS
from model_check.explicit.code_generation.compile import HEADER, _text, compile_machine, load_generated
from model_check.explicit.code_generation.emit import CLAIMS_A_WORD, OBSERVED
from model_check.world import World
from spark_trace_analysis.traces.runs import RunSettings
from spark_trace_analysis.traces.schema import ACTIONS
from spark_trace_analysis.traces.whole_traces import WholeTraces
from spec.events import EVENTS
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

_WALK = """
@compiled
def judged_walk(initial, seed, count, length, tick, action_of, K, found, steps, parents,
                walks, times, taken, rows, verdicts):
    n = 0
    here = np.empty(WORDS, dtype=np.int64)
    weights = np.empty(steps.shape[0], dtype=np.int64)
    for number in range(count):
        draw = scrambled(u64(seed) * u64(0x9E3779B97F4A7C15) + u64(number))
        here[:] = initial
        now = 0
        for place in range(length):
            m, _ = expand(here, 0, 1, K, found, steps, parents, steps.shape[0])
            if m < 0:
                return m
            if m == 0:
                break
            total = 0
            for j in range(m):
                lot = scrambled(u64(seed + number) * u64(1000) + u64(action_of[steps[j]])) % u64(8)
                weights[j] = 1 if lot < u64(3) else (12 if lot < u64(6) else 60)
                total += weights[j]
            draw = scrambled(draw + u64(place))
            left = i64(draw % u64(total))
            j = 0
            while left >= weights[j]:
                left -= weights[j]
                j += 1
            for i in range(WORDS):
                here[i] = found[j * WORDS + i]
            now += tick[steps[j]]
            walks[n] = number
            times[n] = now
            taken[n] = steps[j]
            observe(here, 0, steps[j], K, rows[n])
            judge(here, 0, K, verdicts[n])
            n += 1
    return n
"""


@dataclass(frozen=True)
class JudgedWalks:
    """Some walks, and what the specification says of them.

    Attributes
    ----------
    broken_at
        Property → for each walk the number of events up to the first state that violates it, 0 where there is none.
    """

    traces: WholeTraces
    settings: RunSettings
    broken_at: dict[str, npt.NDArray[np.int32]]


@cache
def _generated(instance: str) -> Any:
    machine = TRANSACTIONAL_MESSAGES
    compiled = compile_machine(machine, World.of("5.3.3", instance=instance).constants)
    claims = len(machine.clauses) + len(machine.witnesses)
    sizes = [
        f"WORDS = {compiled.packing.words}",
        f"CLAIMS_A_WORD = {CLAIMS_A_WORD}",
        f"VERDICT_WORDS = {-(-claims // CLAIMS_A_WORD)}",
        "",
    ]
    texts = [_text(name) for name in ("records.py", "intrinsics.py", "calls.py", "hashing.py")]
    scrambled = _text("walks.py").split("@inlined")[1].split("@compiled")[0]
    return compiled, load_generated("\n".join([HEADER, *sizes, *texts, "@inlined" + scrambled, _WALK]))


def judged_walks(
    profile: str, faults: tuple[str, ...], instance: str, *, walks: int, steps: int, seed: int
) -> JudgedWalks:
    """Walk and judge."""
    machine = TRANSACTIONAL_MESSAGES
    constants = World.of(profile, faults, instance).constants
    compiled, module = _generated(instance)
    names = tuple(action.name for action in machine.actions)
    action_of = np.array([names.index(step.action.name) for step in compiled.steps], np.int16)
    event_of = np.array([EVENTS.index(step.action.event) for step in compiled.steps], np.int16)
    tick = np.array([TICKS.get(step.action.event, 0) for step in compiled.steps], np.int64)
    most, room = walks * steps, len(compiled.steps)
    number, times, taken = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int32)
    rows = np.empty((most, len(OBSERVED)), np.int32)
    verdicts = np.zeros((most, module.VERDICT_WORDS), np.int64)
    n = int(
        module.judged_walk(
            compiled.packing.pack(machine.initial(constants).canonical()), seed, walks, steps, tick, action_of,
            compiled.switches(constants), np.empty(room * compiled.packing.words, np.int64), np.empty(room, np.int32),
            np.empty(room, np.int64), number, times, taken, rows, verdicts,
        )
    )  # fmt: skip
    assert n > 0
    number, verdicts = number[:n], verdicts[:n]
    starts = np.flatnonzero(np.diff(number, prepend=-1, append=-1)).astype(np.int64)
    observed: dict[str, Any] = {name: rows[:n, place].copy() for place, name in enumerate(OBSERVED)}
    observed["outcome"] = observed["outcome"].astype(np.int8)
    actions = np.array([ACTIONS.index(name) for name in names], np.int16)
    traces = WholeTraces(
        starts=starts, trace=number, event=event_of[taken[:n]], action=actions[action_of[taken[:n]]], time=times[:n],
        **observed,
    )  # fmt: skip
    broken_at: dict[str, npt.NDArray[np.int32]] = {}
    place = np.arange(n) - np.repeat(starts[:-1], np.diff(starts))
    for bit, clause in enumerate(machine.clauses):
        word, shift = divmod(bit, CLAIMS_A_WORD)
        is_broken = (verdicts[:, word] >> shift) & 1
        first = np.minimum.reduceat(np.where(is_broken, place + 1, most + 1), starts[:-1])
        first = np.where(first > steps, 0, first).astype(np.int32)
        before = broken_at.get(clause.identifier)
        broken_at[clause.identifier] = first if before is None else _earlier(before, first)
    return JudgedWalks(traces, RunSettings.of(constants), broken_at)


def _earlier(left: npt.NDArray[np.int32], right: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    return np.where(left == 0, right, np.where(right == 0, left, np.minimum(left, right)))
