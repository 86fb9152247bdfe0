"""A scenario is played where the defect is and where it is repaired, and the two must differ by the symptom."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fuzz.defects.scenario import ScenarioError

if TYPE_CHECKING:
    from fuzz.defects.scenario import Fact, Scenario, Seen

TEST: Final = "tests/defects/test_in_the_broker.py::test_the_broker_shows_the_defect_and_not_where_it_is_repaired"


@dataclass(frozen=True, slots=True)
class Played:
    """What was seen of a scenario.

    Attributes
    ----------
    scenario
        The scenario.
    affected, repaired
        What was seen in the profile that has the defect, and in the one that is rid of it.
    seconds
        How long both took.
    """

    scenario: Scenario
    affected: Seen
    repaired: Seen
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


def play(scenario: Scenario) -> Played:
    """Play a scenario on two new brokers.

    Raises
    ------
    ScenarioError
        The symptom is not there where it should be, or is where it should not be.
    """
    started = time.perf_counter()
    affected, repaired = scenario.play(scenario.affected), scenario.play(scenario.repaired_in)
    seconds = time.perf_counter() - started
    for seen, profile, wanted in (
        (affected, scenario.affected, True),
        (repaired, scenario.repaired_in, False),
    ):
        if seen.symptom is not wanted:
            facts = "; ".join(f"{fact}: {text_of(value)}" for fact, value in seen.facts.items())
            message = f"the broker of {profile} {'does not show' if wanted else 'shows'} the defect: {facts}"
            raise ScenarioError(message)
    return Played(scenario, affected, repaired, seconds)


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
