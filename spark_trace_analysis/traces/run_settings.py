"""To what a broker was set when it wrote the traces of a run, and what they can tell.

A simulated run's parameters say it. Beside recorded traces stands ``world.json``.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from model_check.instances import constants_for
from spark_trace_analysis.errors import BadTracesError
from spark_trace_analysis.traces.manifest import Run

BESIDE_RECORDED = "world.json"


class RunSettings(NamedTuple):
    """What judging must know of a broker: sizes of its instance, and switches as 0 or 1.

    Times are in the unit of the traces' clock: ticks when simulated, milliseconds when real.
    """

    check_max: int
    timeout: int
    keeps_discarded: int
    keeps_flag: int
    flushes_on_stop: int
    ends_at_failed_put: int
    parks_poison: int

    @classmethod
    def of(cls, constants: Any) -> "RunSettings":
        """Those of some constants of the specification."""
        return cls(*(int(getattr(constants, name)) for name in cls._fields))


def settings_of(run: Run) -> RunSettings:
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
        return RunSettings.of(constants_for(parameters.profile, parameters.environment, parameters.instance))
    return told[0]


def write_settings(folder: Path, settings: RunSettings, events: Iterable[str]) -> None:
    """Write what recorded traces are of, and which events there are in them."""
    content = json.dumps({"world": settings._asdict(), "events": list(events)}, indent=2)
    (folder / BESIDE_RECORDED).write_text(content + "\n", encoding="utf-8")


def can_show(run: Run, event: str) -> bool:
    """Whether the run's traces tell of an event, if one is named: a broker's own do not tell what producers do."""
    told = _told(run)
    return told is None or not event or event in told[1]


def _told(run: Run) -> tuple[RunSettings, list[str]] | None:
    path = run.folder / BESIDE_RECORDED
    if not path.exists():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return RunSettings(**content["world"]), list(content["events"])
    except (OSError, ValueError, KeyError, TypeError) as failure:
        message = f"{path}: not readable ({failure})"
        raise BadTracesError(message) from None
