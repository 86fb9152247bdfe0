"""Counterexamples on the page, as steps and as messages; and a simulation's minimal violating traces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from model_check.counterexample.sequence_diagram import DiagramStep, drawn_path
from model_check.counterexample.steps import Event, replay, write_path
from model_check.defects.resemblance import resembled
from model_check.wording.sentences import as_sentence
from model_check.world import QUIET, Environment, World
from spark_trace_analysis.judge.properties import ALL
from spark_trace_analysis.traces.event_source import walker_of
from spark_trace_analysis.traces.manifest import SPECIFICATION, TraceRun
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spark_trace_analysis.judge.both_ways import Count
    from spec.language import Property


@dataclass(frozen=True)
class Counterexample:
    """A counterexample: its steps in words, and its messages as a drawing.

    The clause is the broken one, None where the specification does not say so; the rule says in words what is broken.
    """

    property_id: str
    clause: Property | None
    rule: str
    world: World
    resembles: tuple[str, ...]
    events: tuple[Event, ...]

    @property
    def messages(self) -> tuple[DiagramStep, ...]:
        """The steps of the drawing."""
        return drawn_path(self.events)

    @property
    def command(self) -> str:
        """The command that takes the steps again."""
        return f'halfcheck replay {self.world.options} --steps "{write_path(event.step for event in self.events)}"'


def minimal_traces(runs: Sequence[TraceRun], counts: Sequence[Count]) -> tuple[Counterexample, ...]:
    """Render, for each property and environment, the trace of all runs that breaks it after the fewest events.

    Runs that are not walks of the specification have traces with numbers, but no steps that could be shown. The counts
    are of all properties of the first run, then those of the second, and so on, as ``judge`` gives them.

    Raises
    ------
    ModelCheckError
        A trace is not the walk that its run's parameters say.
    """
    shortest: dict[tuple[str, str], tuple[TraceRun, Count]] = {}
    of_a_run = len(counts) // max(len(runs), 1)
    for place, count in enumerate(counts):
        run = runs[place // of_a_run]
        if count.shortest_events is None or run.parameters.of != SPECIFICATION:
            continue
        key = (count.property_id, count.parameters.environment_name)
        if key not in shortest or count.shortest_events < (shortest[key][1].shortest_events or 0):
            shortest[key] = (run, count)
    in_order = [one.property_id for one in ALL]
    keys = sorted(shortest, key=lambda key: (in_order.index(key[0]), key[1] != QUIET, key[1]))
    return tuple(_counterexample(*shortest[key]) for key in keys)


def _counterexample(run: TraceRun, count: Count) -> Counterexample:
    of = run.parameters
    path = walker_of(of).path(of.seed, count.shortest_trace or 0, of.steps)[: count.shortest_events]
    constants = of.world.constants
    replayed = replay(TRANSACTIONAL_MESSAGES, constants, path)
    clause = next((clause for clause in replayed.violated if clause.identifier == count.property_id), None)
    sentence = next((one.sentence for one in ALL if one.property_id == count.property_id), "")
    return Counterexample(
        property_id=count.property_id,
        clause=clause,
        rule=f"{as_sentence(sentence)} Trace {count.shortest_trace:,} of the run, seed {of.seed}.",
        world=of.world.under(Environment(of.faults)),
        resembles=() if clause is None else resembled(TRANSACTIONAL_MESSAGES, constants, clause, path),
        events=replayed.events,
    )
