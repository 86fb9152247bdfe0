"""Which instances are searched for a verdict: the plan of the table of verdicts, and larger ones besides.

Three transactions break what two do not (A02 in the quiet world of 4.5.1, on `trio`), and so do two that have an
immunity and a single check (A03 in 4.9.7, on `large@2x3x2`). The table has searched these two in the quiet world; with
faults, which make them large, they are searched besides. Of a profile that is no release nobody has searched what
larger instances break: a repair that holds with one transaction, or without immunities, may fail with two transactions
that have one. `make bench-portfolio` holds what such profiles are said to give against larger instances.

Where one transaction among others stands for any number of them, two instances of it come first, and decide what holds
(`model_check.any_number`). Of the others only those are left that show a violation that the table of verdicts has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from model_check.any_number.claims import why_no_claim
from model_check.any_number.compared_instances import AMONG_OTHERS
from model_check.instances import load_instance
from model_check.occurrence import unmet_needs
from model_check.verdicts.table import table_of_verdicts
from model_check.world import Environment, Profile, World

if TYPE_CHECKING:
    from spec.constants import Instance
    from spec.language import Property

FOR_ALL: Final = {"large@2x3x2": 2_500_000, "trio": 2_500_000}
"""Instances in which every profile is searched besides → where that is cut short; a release without faults nowhere."""

MOST_AMONG_OTHERS: Final = 2_500_000
"""Where each of them is cut short."""

FOR_NO_RELEASE: Final = {"large@2x3x2": 5_000_000, "medium": 5_000_000, "trio": 5_000_000, "large": 5_000_000}
"""The same for profiles that are no releases."""


def portfolio_of(
    profile: Profile, environment: Environment, *, compared_with: Sequence[Profile] = ()
) -> dict[Instance, int]:
    """The instances in which a profile is searched, and the states at which each search is cut short.

    Small ones come first, then those that forget, then those besides. The profiles of `compared_with` are searched in
    the same instances.

    Examples
    --------
    >>> [size.name for size in portfolio_of(Profile.of("5.5.1"), Environment())]
    ['tiny', 'odd', 'deep', 'small', 'skewed', 'proxied', 'lasting', 'pair', 'large@2x3x2', 'trio']
    """
    plan = table_of_verdicts().plan
    are_releases = all(one.is_version for one in (profile, *compared_with))
    besides = FOR_ALL if are_releases else FOR_NO_RELEASE
    of_table = {name for name in besides if are_releases and not environment}
    sizes = [size for size in [*smallest_first(profile, environment), *those_that_forget()] if size.name not in besides]
    return {size: plan[size.name].most_states for size in sizes} | {
        load_instance(name): plan[name].most_states if name in of_table else most for name, most in besides.items()
    }


def those_among_others(profile: Profile, environment: Environment) -> list[Instance]:
    """The instances of one transaction among others; none where nothing is claimed of any number.

    Nor of a profile that the table of verdicts does not have, which is to show what they break.
    """
    is_known = profile.name in table_of_verdicts().entries
    return [load_instance(name) for name in AMONG_OTHERS] if is_known and not why_no_claim(profile, environment) else []


def those_that_show(
    profile: Profile, environment: Environment, clauses: Sequence[Property]
) -> dict[Instance, list[Property]]:
    """The instances in which the table of verdicts has the shortest violations, each with its clauses.

    Of several that have one, the first in the order in which a portfolio is searched.
    """
    depths = {
        size: table_of_verdicts().depths(World(profile, environment, size))
        for size in portfolio_of(profile, environment)
    }
    shown: dict[Instance, list[Property]] = {}
    for clause in clauses:
        with_it = [size for size, found in depths.items() if clause in found]
        if with_it:
            shown.setdefault(min(with_it, key=lambda size: depths[size][clause]), []).append(clause)
    return {size: shown[size] for size in depths if size in shown}


def is_besides(instance: Instance) -> bool:
    """Whether an instance is searched besides: what it does not decide still holds to the bounds of the others."""
    return instance.name in FOR_NO_RELEASE


def smallest_first(profile: Profile, environment: Environment) -> list[Instance]:
    """The instances of the plan, by the states that the table of verdicts has for this world, or for a part of it.

    Without those that forget. Those with a proxy come last: what breaks without one is shown without one.
    """
    table, unturned = table_of_verdicts(), Profile.of(profile.unturned)

    def place(instance: Instance) -> tuple[int, int]:
        parts = table.parts_of(World(unturned, environment, instance)).values()
        return instance.proxies, max((entry.distinct for entry in parts), default=0)

    return sorted((size for size in table.instances if not size.forgets), key=place)


def those_that_forget() -> list[Instance]:
    """The instances of the plan whose runs have no end."""
    return [size for size in table_of_verdicts().instances if size.forgets]


def instance_that_shows(profile: Profile, environment: Environment, clauses: Sequence[Property]) -> Instance:
    """The one instance to ask: where most of the clauses are known to break, or could; the smallest one of several."""

    def fitness(instance: Instance) -> tuple[int, int]:
        world = World(profile, environment, instance)
        broken = table_of_verdicts().depths(world)
        return len(set(clauses) & broken.keys()), sum(not unmet_needs(clause, world.constants) for clause in clauses)

    return max(smallest_first(profile, environment), key=fitness)
