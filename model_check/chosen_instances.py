"""Which instances are searched for a verdict: the plan of the table of verdicts, and larger ones besides.

Three transactions break what two do not (A02 in the quiet world of 4.5.1, on `trio`), and so do two that have an
immunity and a single check (A03 in 4.9.7, on `large@2x3x2`). The table has searched these two in the quiet world; with
faults, which make them large, they are searched besides. Of a profile that is no release nobody has searched what
larger instances break: a repair that holds with one transaction, or without immunities, may fail with two transactions
that have one. `make bench-portfolio` holds what such profiles are said to give against larger instances.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from model_check.check import chosen_clauses
from model_check.instances import constants_for, load_instance, unturned
from model_check.occurrence import unmet_needs
from model_check.verdicts.environment import faults_of
from model_check.verdicts.table import table_of_verdicts
from spec.profiles import VERSIONS
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

FOR_ALL: Final = {"large@2x3x2": 2_500_000, "trio": 2_500_000}
"""What every profile is searched in besides, and where such a search is cut short; a release without faults nowhere."""

FOR_NO_RELEASE: Final = {"large@2x3x2": 5_000_000, "medium": 5_000_000, "trio": 5_000_000, "large": 5_000_000}
"""The same for profiles that are no releases."""


def portfolio_of(profile: str, faults: Sequence[str] = (), *, compared_with: Sequence[str] = ()) -> dict[str, int]:
    """The instances in which a profile is searched, and the states at which each search is cut short.

    Small ones come first, then those that forget, then those besides.

    Parameters
    ----------
    profile, faults
        See `model_check.instances.constants_for`.
    compared_with
        Other profiles that are searched in the same instances.

    Raises
    ------
    ModelCheckError
        When a profile or a fault is unknown, before anything is searched.

    Examples
    --------
    >>> list(portfolio_of("5.5.1"))
    ['tiny', 'odd', 'deep', 'small', 'skewed', 'lasting', 'pair', 'large@2x3x2', 'trio']
    >>> [*portfolio_of("5.5.1+settles_once")][-4:] == [*portfolio_of("5.5.1", compared_with=["fixed"])][-4:]
    True
    """
    for name in (profile, *compared_with):
        constants_for(name, faults, "tiny")
    plan = table_of_verdicts().plan
    are_releases = {profile, *compared_with} <= set(VERSIONS)
    besides = FOR_ALL if are_releases else FOR_NO_RELEASE
    of_table = {name for name in besides if are_releases and not faults}
    names = [name for name in [*smallest_first(profile, faults), *those_that_forget()] if name not in besides]
    return {name: plan[name].most_states for name in names} | {
        name: plan[name].most_states if name in of_table else most for name, most in besides.items()
    }


def is_besides(instance: str) -> bool:
    """Whether an instance is searched besides: what it does not decide still holds to the bounds of the others."""
    return instance in FOR_NO_RELEASE


def smallest_first(profile: str, faults: Sequence[str]) -> list[str]:
    """The instances of the plan, by the states that the table of verdicts has for this world, or for a part of it.

    Without those that forget.
    """
    table = table_of_verdicts()

    def states(instance: str) -> int:
        entries = table.of(unturned(profile), instance)
        parts = (entry.distinct for name, entry in entries.items() if set(faults_of(name)) <= set(faults))
        return max(parts, default=0)

    return sorted((name for name in table.plan if not load_instance(name).forgets), key=states)


def those_that_forget() -> list[str]:
    """The instances of the plan whose runs have no end."""
    return [name for name in table_of_verdicts().plan if load_instance(name).forgets]


def instance_that_shows(profile: str, faults: Sequence[str], properties: Sequence[str]) -> str:
    """The one instance to ask: where most of the clauses are known to break, or could; the smallest one of several."""
    clauses = chosen_clauses(TRANSACTIONAL_MESSAGES, properties)
    names = {f"{clause.identifier}.{clause.clause}" for clause in clauses}

    def fitness(instance: str) -> tuple[int, int]:
        constants = constants_for(profile, faults, instance)
        broken = table_of_verdicts().depths(profile, instance, faults)
        return len(names & broken.keys()), sum(not unmet_needs(clause, constants) for clause in clauses)

    return max(smallest_first(profile, faults), key=fitness)
