"""To what a broker was set when it wrote the traces of a run, and what they can tell.

A simulated run's parameters say it. Beside recorded traces stands ``world.json``.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from model_check.instances import constants_for
from spark_trace_analysis.errors import BadTracesError
from spark_trace_analysis.judge.properties import Invariant, World
from spark_trace_analysis.traces.manifest import Run

WORLD = "world.json"


def world_of(run: Run) -> World:
    """The sizes and switches of a run.

    Raises
    ------
    BadTracesError
        What stands beside recorded traces is damaged.
    ModelCheckError
        The profile, a fault or the instance is unknown.
    """
    told = _told(run)
    if told is None:
        parameters = run.parameters
        return World.of(constants_for(parameters.profile, parameters.environment, parameters.instance))
    return World(**told[0])


def write_world(folder: Path, world: World, events: Iterable[str]) -> None:
    """Write what recorded traces are of, and which events there are in them."""
    content = json.dumps({"world": world._asdict(), "events": list(events)}, indent=2)
    (folder / WORLD).write_text(content + "\n", encoding="utf-8")


def can_show(run: Run, invariant: Invariant) -> bool:
    """Whether the run's traces tell of what the property is about: a broker's own do not tell what producers do."""
    told = _told(run)
    return told is None or not invariant.needs or invariant.needs in told[1]


def _told(run: Run) -> tuple[dict[str, int], list[str]] | None:
    path = run.folder / WORLD
    if not path.exists():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        world, events = dict(content["world"]), list(content["events"])
        World(**world)
    except (OSError, ValueError, KeyError, TypeError) as failure:
        message = f"{path}: not readable ({failure})"
        raise BadTracesError(message) from None
    return world, events
