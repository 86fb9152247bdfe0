"""What the portfolio says of a profile, held against larger instances that it has not."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from time import process_time
from typing import TYPE_CHECKING, Any, Final

from model_check.answers.answer import search_portfolio
from model_check.answers.chosen_instances import is_besides
from model_check.check import check
from model_check.finding import Holds, Unknown
from model_check.instances import load_instance
from model_check.question import Question
from model_check.world import NO_FAULTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from model_check.finding import Finding
    from model_check.world import Profile

MUST_BE_SEARCHED: Final = ("medium", "trio", "large")
"""What breaks here must be broken in the portfolio's answer, whether or not it has searched them itself."""

LARGER: Final = ("large@2x5x3",)
"""Two transactions that may have an immunity, on longer queues, with a single check."""

MOST_STATES: Final = 5_000_000
"""Where each search of a larger instance is cut short."""


@dataclass(frozen=True, slots=True)
class Held:
    """What was found of one profile in the quiet world.

    Attributes
    ----------
    holding : tuple of str
        Clauses that the portfolio does not break: they hold, or are said to be impossible.
    unknown : tuple of str
        Clauses that it leaves open.
    found_besides : dict
        Clauses that the table's plan alone would not have broken, and the instance besides that did.
    false : dict
        Clauses among those that hold, and where a larger instance breaks them.
    states : dict
        States of each instance, of which all were seen if the number is positive.
    seconds : tuple of float
        Of the processor: the portfolio, and the larger instances.
    """

    profile: str
    holding: tuple[str, ...]
    unknown: tuple[str, ...]
    found_besides: Mapping[str, str]
    false: Mapping[str, str]
    states: Mapping[str, int]
    seconds: tuple[float, float]

    def to_json(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self)


def held_against(
    profile: Profile,
    *,
    instances: Sequence[str] = (),
    larger_ones: Sequence[str] = (*MUST_BE_SEARCHED, *LARGER),
    most_states: int = MOST_STATES,
    threads: int = 1,
) -> Held:
    """Ask the portfolio, then each larger instance whether it breaks what the portfolio does not.

    Parameters
    ----------
    instances
        In place of the portfolio.
    larger_ones
        Those that the portfolio has searched as far are not searched again.
    """
    began = process_time()
    answer = search_portfolio(profile, NO_FAULTS, instances=[*map(load_instance, instances)], threads=threads)
    between = process_time()
    searched = {one.world.instance.name: one for one in answer.findings}
    larger = {}
    for name in larger_ones:
        known = searched.get(name)
        if known is None or not (known.numbers.complete or known.numbers.distinct >= most_states):
            larger[name] = check(Question.of(profile, (), name, most_states=most_states), threads=threads)
    plan = {name for one in answer.findings if not is_besides(one.world.instance) for name in _broken(one)}
    holding = tuple(row.name for row in answer.rows if isinstance(row, Holds))
    return Held(
        profile.name,
        holding,
        tuple(row.name for row in answer.rows if isinstance(row, Unknown)),
        {
            clause: one.world.instance.name
            for one in reversed(answer.findings)
            for clause in _broken(one)
            if is_besides(one.world.instance) and clause not in plan
        },
        {clause: name for name, one in larger.items() for clause in _broken(one) if clause in holding},
        {name: _states(one) for name, one in (searched | larger).items()},
        (round(between - began, 1), round(process_time() - between, 1)),
    )


def _broken(search: Finding) -> list[str]:
    return [row.name for row in search.violated.values()]


def _states(search: Finding) -> int:
    return search.numbers.distinct if search.numbers.complete else -search.numbers.distinct
