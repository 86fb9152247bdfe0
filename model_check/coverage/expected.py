"""The worlds over which coverage is joined, and what may stay uncovered in all of them: `results/uncovered.toml`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import resources
from typing import TYPE_CHECKING, Any

from files.content import parse_toml, read_toml
from files.errors import BadContentError
from model_check.coverage.counts import Uncovered
from model_check.errors import BadFile
from model_check.instances import constants_for, instance_names
from spec.constants import FAULTS, SWITCHES
from spec.profiles import PROFILES, distinct

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from spec.constants import Constants, Instance

FILE = "uncovered.toml"


@dataclass(frozen=True, slots=True)
class CoverageWorld:
    """A profile, with some switches turned on, in an environment; on an instance of its own, if it names one."""

    profile: str
    faults: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    instance: str | None = None

    def constants(self, instance: str | Instance) -> Constants:
        """The constants of this world, on an instance where it names none."""
        turned: dict[str, Any] = dict.fromkeys(self.switches, True)
        return replace(constants_for(self.profile, self.faults, self.instance or instance), **turned)

    def __str__(self) -> str:
        on = "" if self.instance is None else f" on {self.instance}"
        return f"{'+'.join((self.profile, *self.switches))} {','.join(self.faults) or 'quiet'}{on}"


@dataclass(frozen=True, slots=True)
class Accepted:
    """Something that may stay uncovered, and why; in the named instances only, if there are any."""

    what: Uncovered
    reason: str
    instances: tuple[str, ...]

    def counts_in(self, instance: str) -> bool:
        """Whether it is accepted in an instance."""
        return not self.instances or instance in self.instances


@dataclass(frozen=True, slots=True)
class Expected:
    """What the file says.

    Attributes
    ----------
    pairs : tuple of tuple of str
        Environments of two faults that every profile is searched in, besides the quiet one and each single fault.
    worlds : tuple of CoverageWorld
        More worlds, such as a profile with a repair.
    accepted : tuple of Accepted
    """

    pairs: tuple[tuple[str, ...], ...]
    worlds: tuple[CoverageWorld, ...]
    accepted: tuple[Accepted, ...]

    def all_worlds(self) -> tuple[CoverageWorld, ...]:
        """Each profile in the quiet world, with each single fault and with each named pair; then the others.

        Of profiles with the same switches the first.
        """
        environments = [(), *((fault,) for fault in FAULTS), *self.pairs]
        profiles = distinct(PROFILES)
        return (*(CoverageWorld(profile, faults) for profile in profiles for faults in environments), *self.worlds)


def read_expected(file: Path | None = None) -> Expected:
    """Read the file that comes with the specification, or another one of its form.

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
    pairs = tuple(tuple(pair) for pair in given.get("pairs", []))
    for pair in pairs:
        _known(name, "fault", pair, FAULTS)
    worlds = tuple(_world(name, row) for row in given.get("world", []))
    return Expected(pairs, worlds, tuple(_accepted(name, row) for row in given.get("accepted", [])))


def _own() -> str:
    return resources.files("model_check.verdicts.results").joinpath(FILE).read_text(encoding="utf-8")


def _world(name: str, row: dict[str, Any]) -> CoverageWorld:
    _known(name, "key of a world", row, ("profile", "faults", "switches", "instance"))
    _known(name, "profile", [row.get("profile")], tuple(PROFILES))
    _known(name, "fault", row.get("faults", []), FAULTS)
    _known(name, "switch", row.get("switches", []), SWITCHES)
    if "instance" in row:
        _known(name, "instance", [row["instance"]], instance_names())
    return CoverageWorld(
        row["profile"], tuple(row.get("faults", [])), tuple(row.get("switches", [])), row.get("instance")
    )


def _accepted(name: str, row: dict[str, Any]) -> Accepted:
    _known(name, "key of what is accepted", row, ("action", "rule", "reason", "instances"))
    if not row.get("action") or not row.get("reason"):
        msg = f"{name}: what is accepted has an action and a reason; this has not: {row}"
        raise BadFile(msg)
    return Accepted(Uncovered(row["action"], row.get("rule")), row["reason"], tuple(row.get("instances", [])))


def _known(name: str, what: str, given: Iterable[Any], known: tuple[str, ...]) -> None:
    for value in given:
        if value not in known:
            msg = f"{name}: no {what} {value!r}; there are {', '.join(known)}"
            raise BadFile(msg)
