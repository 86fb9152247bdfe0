"""The reference broker as a source of traces: what Spark's tasks call, and what they get."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from spark_trace_analysis.traces.event_source import Events, EventSource
from spec.events import EVENTS, FIELDS
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from fuzz.lockstep.broker_trace import BrokerTraces
    from model_check.world import World
    from spark_trace_analysis.traces.manifest import Parameters

_WORDS: Final = {"event": EVENTS, "action": tuple(action.name for action in TRANSACTIONAL_MESSAGES.actions)}
_EVENTS_A_FILE: Final = 5_000
"""A task is at a file for some ten seconds, so that not much is lost with it."""


def run_the_broker(parameters: Parameters, first: int, count: int) -> Events:
    """Give the events of some traces of the reference broker."""
    broker = _broker(parameters.world, parameters.choice)
    rows = [
        row
        for number in range(first, first + count)
        for row in broker.make(parameters.seed, number, parameters.steps).rows
    ]
    columns = {}
    for field in FIELDS:
        codes = {word: code for code, word in enumerate(_WORDS.get(field.name, ()))}
        values = [codes[row[field.name]] if codes else row[field.name] for row in rows]  # type: ignore[index]
        columns[field.name] = np.array(values, dtype=np.int16 if codes else field.kind)
    return Events(columns, _WORDS)


def steps_of_the_broker(parameters: Parameters, number: int) -> str:
    """Give the steps of the specification by which a trace of the broker was driven."""
    broker = _broker(parameters.world, parameters.choice)
    return "; ".join(map(str, broker.make(parameters.seed, number, parameters.steps).steps))


@lru_cache(maxsize=8)
def _broker(world: World, choice: str) -> BrokerTraces:
    from fuzz.lockstep.broker_trace import BrokerTraces
    from fuzz.lockstep.pairing import Pairing

    return BrokerTraces(Pairing.of(world.profile, world.environment, world.instance.name), choice)


BROKER_RUNS: Final = EventSource(
    "broker",
    ("spec", "model_check", "reference", "fuzz"),
    _EVENTS_A_FILE,
    _EVENTS_A_FILE,
    run_the_broker,
    steps_of_the_broker,
)
