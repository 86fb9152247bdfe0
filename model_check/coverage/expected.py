"""The worlds over which coverage is joined, and what may stay uncovered in all of them: `results/uncovered.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from files.content import parse_toml, read_toml
from files.errors import BadContentError
from model_check.errors import BadFile
from model_check.guard_coverage import Uncovered
from model_check.instances import instance_names
from model_check.world import World
from spec.constants import FAULTS, SWITCHES
from spec.profiles import PROFILES, distinct

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from spec.constants import Instance

FILE = "uncovered.toml"


@dataclass(frozen=True, slots=True)
class Accepted:
    """Something that may stay uncovered, and why."""

    what: Uncovered
    reason: str


@dataclass(frozen=True, slots=True)
class Expected:
    """What the file says of one instance.

    Attributes
    ----------
    worlds : tuple of World
        Each profile in the quiet world, with each single fault and with each named pair, of profiles with the same
        switches the first; then more worlds, such as a profile with a repair.
    accepted : tuple of Accepted
    """

    worlds: tuple[World, ...]
    accepted: tuple[Accepted, ...]


def read_expected(instance: Instance, file: Path | None = None) -> Expected:
    """Read the file that comes with the specification, or another one of its form.

    Parameters
    ----------
    instance
        On which each world is that names none.

    Raises
    ------
    BadFile
        When it is not TOML, or names something that does not exist.
    """
    name = f"model_check/verdicts/results/{FILE}" if file is None else str(file)
    try:
        given = parse_toml(_own()) if file is None else read_toml(file)
    except OSError as error:
        msg = f"{name}: {error.strerror}"
        raise BadFile(msg) from error
    except BadContentError as error:
        msg = str(error)
        raise BadFile(msg) from error
    _known(name, "key", given, ("pairs", "world", "accepted"))
    for pair in given.get("pairs", []):
        _known(name, "fault", pair, FAULTS)
    environments = [(), *((fault,) for fault in FAULTS), *given.get("pairs", [])]
    worlds = [World.of(profile, faults, instance) for profile in distinct(PROFILES) for faults in environments]
    worlds += [_world(name, row, instance) for row in given.get("world", [])]
    rows = given.get("accepted", [])
    for row in rows:
        _known(name, "key of what is accepted", row, ("action", "rule", "reason", "instances"))
        if not row.get("action") or not row.get("reason"):
            msg = f"{name}: what is accepted has an action and a reason; this has not: {row}"
            raise BadFile(msg)
    mine = [row for row in rows if instance.name in (row.get("instances") or [instance.name])]
    return Expected(
        tuple(worlds), tuple(Accepted(Uncovered(row["action"], row.get("rule")), row["reason"]) for row in mine)
    )


def _own() -> str:
    return resources.files("model_check.verdicts.results").joinpath(FILE).read_text(encoding="utf-8")


def _world(name: str, row: dict[str, Any], instance: Instance) -> World:
    _known(name, "key of a world", row, ("profile", "faults", "switches", "instance"))
    _known(name, "profile", [row.get("profile")], tuple(PROFILES))
    _known(name, "fault", row.get("faults", []), FAULTS)
    _known(name, "switch", row.get("switches", []), SWITCHES)
    if "instance" in row:
        _known(name, "instance", [row["instance"]], instance_names())
    profile = "+".join([row["profile"], *row.get("switches", [])])
    return World.of(profile, row.get("faults", []), row.get("instance", instance))


def _known(name: str, what: str, given: Iterable[Any], known: tuple[str, ...]) -> None:
    for value in given:
        if value not in known:
            msg = f"{name}: no {what} {value!r}; there are {', '.join(known)}"
            raise BadFile(msg)
