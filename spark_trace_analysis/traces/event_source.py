"""Sources of the events of a run: walks of the specification, or a source that the caller brings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy.typing as npt

from model_check.walks.guided.walker import walker_for
from model_check.walks.walk import Walker
from spark_trace_analysis.traces.manifest import SPECIFICATION, Parameters
from spec.events import FIELDS


class Events(NamedTuple):
    """Some whole traces, in order: an array of equal length a field; those of words hold places in their ``words``."""

    columns: Mapping[str, npt.NDArray[Any]]
    words: Mapping[str, Sequence[str]]


FILES = 100
"""So many files are enough to share out a run, to go on with it, and to show its progress."""

LARGEST_FILE = 20
"""Of walks this makes 12 million events, some 25 MB: what readers of many files like, and a task holds in memory."""


@dataclass(frozen=True)
class EventSource:
    """A source of the events of traces, which depend on the trace's number and the run's parameters alone.

    Attributes
    ----------
    of, packages
        What the traces are of, as ``Parameters.of`` says it; the project's packages on whose sources the events depend.
    events_a_file, events_a_block
        About how many events a file and a row group should hold, if all traces take all their steps. Files of a run
        that would have more than `FILES` of them are larger, up to `LARGEST_FILE` times.
    make
        Gives traces number ``first`` to ``first + count - 1``; a function of a module, which Spark's workers import.
    steps
        Gives the specification's steps that made one trace, as ``halfcheck replay --steps`` takes them again.
    """

    of: str
    packages: tuple[str, ...]
    events_a_file: int
    events_a_block: int
    make: Callable[[Parameters, int, int], Events]
    steps: Callable[[Parameters, int], str]

    def traces_a_file(self, parameters: Parameters) -> int:
        """How many traces each file but the last one holds."""
        even = parameters.traces * parameters.steps // FILES
        events = min(max(self.events_a_file, even), LARGEST_FILE * self.events_a_file)
        return max(events // parameters.steps, 1)

    def traces_a_block(self, parameters: Parameters) -> int:
        """How many traces each row group but a file's last one holds."""
        return max(self.events_a_block // parameters.steps, 1)


def walk_the_specification(parameters: Parameters, first: int, count: int) -> Events:
    """Give some random walks of the specification."""
    walker = walker_of(parameters)
    columns = walker.walk(parameters.seed, first, count, parameters.steps)
    return Events(columns, {"event": walker.events, "action": walker.actions})


def steps_of_a_walk(parameters: Parameters, number: int) -> str:
    """Give the steps of one walk."""
    walker = walker_of(parameters)
    return "; ".join(map(str, walker.path(parameters.seed, number, parameters.steps)))


def remade_events(parameters: Parameters, number: int, source: "EventSource") -> list[dict[str, Any]]:
    """Make one trace again, without any other one: a dictionary an event; raises `ModelCheckError`."""
    columns, words = source.make(parameters, number, 1)
    rows = zip(*(columns[field.name].tolist() for field in FIELDS), strict=True)
    return [
        {
            field.name: words[field.name][value] if field.name in words else value
            for field, value in zip(FIELDS, row, strict=True)
        }
        for row in rows
    ]


def walker_of(parameters: Parameters) -> Walker:
    """The walker of a run; one for all runs of the same world and choice, as it may have learned. `ModelCheckError`."""
    return _walker(parameters.world, parameters.choice)


_walker = lru_cache(maxsize=8)(walker_for)


WALKS = EventSource(SPECIFICATION, ("spec", "model_check"), 600_000, 60_000, walk_the_specification, steps_of_a_walk)
