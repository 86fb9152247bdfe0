"""Scenarios of defects: a story that a broker of any version plays, and its symptoms in two versions."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Final, Self

from fuzz import defects
from fuzz.broker_side.broker_process import BrokerProcess, MakeProcess
from reference.versions.versions import switches_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reference.versions.switches import ReleaseSwitches

Fact = int | str | tuple[int, ...] | tuple[str, ...] | None


class ScenarioError(Exception):
    """A scenario went another way than its story: the broker refused a message, a round was not due or did not end."""

    exit_code: int = 75


@dataclass(frozen=True, slots=True)
class BrokerProfile:
    """A version of the reference broker, possibly with switches turned: ``5.3.3+heeds_stop``."""

    name: str
    switches: ReleaseSwitches
    makes: Callable[[str], MakeProcess] = field(default=lambda _: BrokerProcess, compare=False)
    """Makes, for a release, what makes what is done to its brokers: perhaps with the real classes beside them."""

    @classmethod
    def of(cls, name: str) -> Self:
        """The profile of this name, see :func:`reference.versions.versions.switches_of`."""
        return cls(name, switches_of(name))

    @property
    def release(self) -> str:
        """The version, without turned switches."""
        return re.split(r"[+-]", self.name, maxsplit=1)[0]

    @property
    def make_process(self) -> MakeProcess:
        """Makes what is done to its brokers."""
        return self.makes(self.name)

    def of_release(self, name: str) -> Self:
        """The profile of another name, whose brokers are made in the same way."""
        return replace(self, name=name, switches=switches_of(name))

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Seen:
    """The symptom and the facts that were seen when a scenario was played."""

    symptom: bool
    """Whether a user would suffer the defect."""
    facts: Mapping[str, Fact]
    """The measurements, in words and numbers: the store's records, the broker's answers, the branches of a round."""


@dataclass(frozen=True, slots=True)
class DefectScenario:
    """One defect as a story."""

    identifier: str
    story: str
    """In a sentence or two."""
    property_id: str
    play: Callable[[BrokerProfile], Seen]
    """Plays it on a new broker of a profile."""
    affected: BrokerProfile
    repaired_in: BrokerProfile
    """The profile that has the defect, and one that is rid of it."""
    also_in: tuple[BrokerProfile, ...] = ()


def scenario(
    identifier: str, property_id: str, *, affected: str, repaired_in: str, also_in: str = "", story: str = ""
) -> Callable[[Callable[[BrokerProfile], Seen]], DefectScenario]:
    """Make a scenario of a function that plays it; the first line of its docstring is the story, if none is given."""

    def declare(play: Callable[[BrokerProfile], Seen]) -> DefectScenario:
        what = story or (play.__doc__ or "").partition("\n")[0]
        has, mended, *others = map(BrokerProfile.of, (affected, repaired_in, *also_in.split()))
        return DefectScenario(identifier, what, property_id, play, has, mended, tuple(others))

    return declare


TEST: Final = "tests/defects/test_in_the_broker.py::test_the_broker_shows_the_defect_and_not_where_it_is_repaired"


@dataclass(frozen=True, slots=True)
class PlayedScenario:
    """A scenario as it was played."""

    scenario: DefectScenario
    affected: Seen
    repaired: Seen
    """Observations in the profile that has the defect, and in the one that is rid of it."""
    seconds: float

    @property
    def rows(self) -> tuple[tuple[str, str, str], ...]:
        """Each fact with what was seen of it in the two profiles, as text."""
        return tuple(
            (fact, text_of(value), text_of(self.repaired.facts[fact])) for fact, value in self.affected.facts.items()
        )

    @property
    def test(self) -> str:
        """The test that asks for it."""
        return f"{TEST}[{self.scenario.identifier}]"

    @property
    def command(self) -> str:
        """The command that shows it."""
        return f"halfcheck defects {self.scenario.identifier}"


def play(scenario: DefectScenario) -> PlayedScenario:
    """Play a scenario on two new brokers; `ScenarioError` if the symptom is not in the affected one alone."""
    started = time.perf_counter()
    affected, repaired = scenario.play(scenario.affected), scenario.play(scenario.repaired_in)
    seconds = time.perf_counter() - started
    for seen, profile, wanted in ((affected, scenario.affected, True), (repaired, scenario.repaired_in, False)):
        if seen.symptom is not wanted:
            facts = "; ".join(f"{fact}: {text_of(value)}" for fact, value in seen.facts.items())
            message = f"the broker of {profile} {'does not show' if wanted else 'shows'} the defect: {facts}"
            raise ScenarioError(message)
    return PlayedScenario(scenario, affected, repaired, seconds)


def text_of(value: Fact) -> str:
    """A fact's value as text.

    Examples
    --------
    >>> text_of((1, 2)), text_of(None), text_of("settled"), text_of(())
    ('1, 2', '-', 'settled', 'none')
    """
    if value is None:
        return "-"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return str(value)


def listed() -> list[DefectScenario]:
    """Every scenario, in the order of the files."""
    files = [file.name for file in iter_modules(defects.__path__, f"{defects.__name__}.") if "__" not in file.name]
    values = [value for file in files for value in vars(import_module(file)).values()]
    return [value for value in values if isinstance(value, DefectScenario)]


@cache
def scenarios() -> Mapping[str, DefectScenario]:
    """The scenarios in the order of their ids, one a defect.

    Examples
    --------
    >>> scenarios()["A06"].affected.name
    '4.5.1'
    """
    return {scenario.identifier: scenario for scenario in sorted(listed(), key=lambda scenario: scenario.identifier)}
