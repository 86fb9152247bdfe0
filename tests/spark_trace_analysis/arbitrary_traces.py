"""Arbitrary event sequences, most of them impossible, judged both ways: ``make arbitrary-traces ARGS="100000 SEED"``.

Hypothesis gives numbers; from each follows what may occur (some events, some actions, how many transactions and half
offsets, how long sequences are), what the broker was set to, and a handful of sequences of that kind. Where the ways
differ on one, its rows are taken away one by one as long as they still do.
"""

from __future__ import annotations

import inspect
import re
import sys
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from spark_trace_analysis.judge.by_expressions import find_broken, read_rows
from spark_trace_analysis.judge.by_kernel import find_violations
from spark_trace_analysis.judge.properties import ALL, Invariant, kernel_room
from spark_trace_analysis.traces.runs import RunSettings
from spark_trace_analysis.traces.schema import ACTIONS, EVENT_SCHEMA, to_batch
from spark_trace_analysis.traces.whole_traces import read_whole_traces
from spec.events import EVENTS, OUTCOMES
from tests.spark_trace_analysis.traces_by_hand import BY_HAND, fields_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

SEQUENCES = 20
"""That many of one kind."""

_EPOCH = 1_700_000_000_000
_WORDS = ("", *ACTIONS, "by_hand")

_EDITED = ("time", "event", "action", "transaction", "half", "copy", "check_times", "outcome")

Columns = dict[str, Any]
Found = dict[tuple[str, int], int]
"""Property and trace to the events up to the violation."""


def drawn(number: int) -> tuple[Columns, RunSettings]:
    """Sequences of one kind."""
    random = np.random.default_rng(number)
    columns = _edited(random) if random.random() < 0.5 else _of_nothing(random)
    columns["time"] = columns["time"] + random.choice([0, _EPOCH])
    return columns, RunSettings(*random.integers(0, [4, 5, 2, 2, 2, 2, 2]).tolist())


@cache
def _by_hand() -> list[Columns]:
    """The traces by hand, words as numbers."""
    traces = [[fields_of(0, step, event) for step, event in enumerate(trace)] for trace, _ in BY_HAND]
    words = {"event": EVENTS, "action": _WORDS}
    return [
        {
            name: np.array([words[name].index(row[name]) if name in words else row[name] for row in rows])
            for name in (*_EDITED, "op")
        }
        for rows in traces
    ]


def events_of(invariant: Invariant) -> list[str]:
    """The events that a property's kernel looks for, each by itself or in a group."""
    source = inspect.getsource(invariant.kernel)
    groups = [codes for name, codes in vars(kernel_room).items() if name.isupper() and name in source]
    named = [EVENTS[code] for codes in groups for code in codes] + re.findall(r"\bevents\.(\w+)", source)
    return sorted(set(named), key=EVENTS.index)


def _of_nothing(random: np.random.Generator) -> Columns:
    """What one property looks at, or some of it, and a few other things."""
    looked_at = ALL[random.integers(len(ALL))]
    its_events = events_of(looked_at)
    most = len(its_events)
    events = [
        *random.permutation(its_events)[: random.integers(min(4, most), min(9, most) + 1)],
        *random.choice(EVENTS, 2),
    ]
    asked_for = [*(action.__name__ for action in looked_at.actions), "", *random.choice(_WORDS, 2)]
    words = np.array([(EVENTS.index(event), _WORDS.index(random.choice(asked_for))) for event in events])
    counts = random.integers(1, random.integers(2, 60), SEQUENCES)
    rows = int(counts.sum())
    event, action = random.choice(words, rows).T
    return _numbered(_fields(random, event, action, int(random.integers(1, 4)), int(random.integers(1, 5))), counts)


def _fields(random: np.random.Generator, event: Any, action: Any, transactions: int, halves: int) -> Columns:
    """Rows of these events, all else by lot."""
    rows = len(event)
    return {
        "time": np.cumsum(random.integers(-1, 3, rows)),
        "event": event,
        "action": action,
        "transaction": random.integers(-1, transactions, rows),
        "half": random.integers(-1, halves, rows),
        "copy": np.where(random.random(rows) < 0.2, random.integers(-1, halves, rows), -1),
        "op": np.full(rows, -1),
        "check_times": random.integers(-1, 4, rows),
        "outcome": random.integers(0, len(OUTCOMES), rows),
    }


def _edited(random: np.random.Generator) -> Columns:
    """Traces by hand, in which rows are missing, doubled, exchanged and changed."""
    parts, counts = [], []
    for _ in range(SEQUENCES):
        rows = _by_hand()[random.integers(len(BY_HAND))]
        chosen = np.arange(len(rows["event"]))
        for _ in range(random.integers(4)):
            at, other = random.integers(len(chosen), size=2)
            edit = random.integers(3)
            if edit == 0 and len(chosen) > 1:
                chosen = np.delete(chosen, at)
            elif edit == 1:
                chosen = np.insert(chosen, other, chosen[at])
            else:
                chosen[[at, other]] = chosen[[other, at]]
        part = {name: column[chosen] for name, column in rows.items()}
        lots = _fields(random, part["event"], part["action"], 2, 3)
        lots |= {"event": random.integers(len(EVENTS), size=len(chosen)), "action": random.permutation(part["action"])}
        for _ in range(random.integers(3)):
            name, at = _EDITED[random.integers(len(_EDITED))], random.integers(len(chosen))
            part[name][at] = lots[name][at]
        parts.append(part)
        counts.append(len(chosen))
    return _numbered({name: np.concatenate([part[name] for part in parts]) for name in parts[0]}, np.array(counts))


def _numbered(columns: Columns, counts: Any) -> Columns:
    steps = np.concatenate([np.arange(count) for count in counts])
    return {**columns, "trace": np.repeat(np.arange(len(counts)), counts), "step": steps}


def as_parquet(columns: Mapping[str, Any]) -> pa.Buffer:
    """The rows as a file."""
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, EVENT_SCHEMA) as writer:
        writer.write_batch(to_batch(columns, {"event": EVENTS, "action": _WORDS}))
    return sink.getvalue()


def judged(columns: Mapping[str, Any], settings: RunSettings) -> tuple[Found, Found]:
    """What the kernels and the expressions say."""
    content = as_parquet(columns)
    broken = find_broken(read_rows(content), ALL, settings)
    by_expressions = {(row["property"], row["trace"]): row["events"] for row in broken.to_dicts()}
    by_kernels: Found = {}
    for traces in read_whole_traces(pa.BufferReader(content)):
        numbers = traces.trace[traces.starts[:-1]]
        for invariant in ALL:
            at = find_violations(traces, invariant, settings)
            by_kernels |= {(invariant.property_id, int(numbers[n])): int(at[n]) for n in np.flatnonzero(at)}
    return by_kernels, by_expressions


def difference(columns: Mapping[str, Any], settings: RunSettings) -> str:
    """The shortest sequence on which the ways differ as they do on one of these; empty if they agree."""
    by_kernels, by_expressions = judged(columns, settings)
    apart = [key for key in sorted(by_kernels | by_expressions) if by_kernels.get(key) != by_expressions.get(key)]
    if not apart:
        return ""
    name, trace = apart[0]
    chosen = np.flatnonzero(columns["trace"] == trace)
    row = 0
    while row < len(chosen):
        fewer = np.delete(chosen, row)
        found = judged(_rows(columns, fewer), settings) if len(fewer) else ({}, {})
        if found[0].get((name, 0)) != found[1].get((name, 0)):
            chosen = fewer
        else:
            row += 1
    shortest = _rows(columns, chosen)
    ways = [found.get((name, 0)) for found in judged(shortest, settings)]
    lines = [
        f"{EVENTS[shortest['event'][n]]} {_WORDS[shortest['action'][n]]} "
        + " ".join(
            f"{field}={shortest[field][n]}" for field in ("transaction", "half", "copy", "check_times", "outcome")
        )
        for n in range(len(chosen))
    ]
    return "\n".join([f"{name}: after {ways[0]} events by the kernel, {ways[1]} by the expression; {settings}", *lines])


def _rows(columns: Mapping[str, Any], rows: Any) -> Columns:
    """Some rows of one sequence as a sequence."""
    chosen = {name: column[rows] for name, column in columns.items()}
    return {**chosen, "trace": np.zeros(len(rows), np.int64), "step": np.arange(len(rows))}


def judge_arbitrary(sequences: int, number: int, progress: Callable[[int], None] = lambda _: None) -> dict[str, int]:
    """Judge so many sequences and give how many of them break each property.

    Raises
    ------
    AssertionError
        The two ways differ.
    """
    broken = dict.fromkeys((each.property_id for each in ALL), 0)
    examples = -(-sequences // SEQUENCES)
    seen = 0

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.randoms(use_true_random=True))
    def both_ways_agree(random: Random) -> None:
        nonlocal seen
        columns, settings = drawn(random.getrandbits(64))
        found = difference(columns, settings)
        assert not found, found
        for name, _ in judged(columns, settings)[0]:
            broken[name] += 1
        seen += SEQUENCES
        progress(seen)

    both_ways_agree()
    assert seen >= sequences, f"only {seen} sequences were drawn"
    return broken


if __name__ == "__main__":
    given_numbers = [int(argument) for argument in sys.argv[1:]]
    wanted, first = [*given_numbers, *(100_000, 7)[len(given_numbers) :]]
    began = perf_counter()

    def tell(count: int) -> None:
        """A line now and then."""
        if count % 10_000 == 0:
            print(f"{count:,} sequences", file=sys.stderr)

    found = judge_arbitrary(wanted, first, tell)
    listed = ", ".join(f"{name} {count:,}" for name, count in found.items())
    print(f"{wanted:,} sequences, {perf_counter() - began:.0f} s: both ways agree. Broken: {listed}")
