"""A verdict over a family of instances: broken as soon as one of them breaks a clause, held only if all of them do.

The portfolio is the plan of the table of verdicts. An instance alone says little: `small` has no immunities, so that
nothing there can break what immunities break.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from model_check.check import CheckResult, check, chosen_clauses
from model_check.instances import constants_for, load_instance, unturned
from model_check.judged import Judged, judged_together
from model_check.occurrence import unmet_needs
from model_check.verdicts.environment import faults_of
from model_check.verdicts.known import table_of_verdicts
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.explicit.exploration import Progress
    from model_check.explicit.state_store.resources import Resources
    from spec.language import Property

PortfolioReport = Callable[[str, "Progress"], None]
"""Called now and then with the instance that is being searched, as `odd (2 of 5)`, and how far its search is."""


def search_portfolio(
    profile: str,
    faults: Sequence[str] = (),
    *,
    properties: Sequence[str] = (),
    instances: Sequence[str] = (),
    threads: int | None = None,
    most_states: int | None = None,
    resources: Resources | None = None,
    report: PortfolioReport | None = None,
) -> Judged:
    """Search the instances of the portfolio, smallest first, until each chosen clause is violated, or all of them.

    Where all are violated, an instance is searched only if the table of verdicts has a shorter violation there.

    Parameters
    ----------
    profile, faults, properties, resources
        See `model_check.check.check`; there are no checkpoints.
    instances
        Those of the plan of the table of verdicts when none is given.
    threads
        Of each search; all processors when None. No number and no path depends on it.
    most_states
        Where each search is cut short; where the plan says, when None.

    Raises
    ------
    ModelCheckError
        When a name is unknown.
    EvaluationError
        When a value leaves its declared range, or a counterexample does not replay.
    """
    clauses = chosen_clauses(TRANSACTIONAL_MESSAGES, properties)
    constants_for(profile, faults, load_instance("tiny"))  # an unknown name is named before anything is searched
    names = list(instances) or smallest_first(profile, faults)
    plan, searched, is_interrupted = table_of_verdicts().plan, dict[str, CheckResult](), False
    depths: dict[Property, int] = {}
    for number, name in enumerate(names, start=1):
        still_open = _still_open(clauses, depths, table_of_verdicts().depths(profile, name, faults))
        if is_interrupted or not still_open:
            continue
        most = most_states or (plan[name].most_states if name in plan else None)
        found = searched[name] = check(
            profile,
            faults,
            name,
            properties=properties,
            threads=threads or os.cpu_count() or 1,
            most_states=most,
            until_violated=still_open,
            resources=resources,
            report=None if report is None else partial(report, f"{name} ({number} of {len(names)})"),
        )
        violated = {row.clause: row.depth for row in found.clauses if row.depth is not None}
        depths |= {clause: min(depth, depths.get(clause, depth)) for clause, depth in violated.items()}
        is_at_its_limit = most is not None and found.distinct >= most
        is_interrupted = not (found.complete or is_at_its_limit or violated.keys() >= set(still_open))
    left_out = [name for name in names if name not in searched]
    return judged_together(tuple(searched.values()), left_out, is_interrupted=is_interrupted)


def _still_open(clauses: Sequence[Property], depths: dict[Property, int], known: dict[str, int]) -> list[Property]:
    """The clauses that are not violated yet, and those that the table of verdicts has a shorter violation of."""
    return [c for c in clauses if c not in depths or known.get(f"{c.identifier}.{c.clause}", depths[c]) < depths[c]]


def smallest_first(profile: str, faults: Sequence[str]) -> list[str]:
    """The instances of the plan, by the states that the table of verdicts has for this world, or for a part of it."""
    table = table_of_verdicts()

    def states(instance: str) -> int:
        entries = table.of(unturned(profile), instance)
        parts = (entry.distinct for name, entry in entries.items() if set(faults_of(name)) <= set(faults))
        return max(parts, default=0)

    return sorted(table.plan, key=states)


def instance_that_shows(profile: str, faults: Sequence[str], properties: Sequence[str]) -> str:
    """The one instance to ask: where most of the clauses are known to break, or could; the smallest one of several."""
    clauses = chosen_clauses(TRANSACTIONAL_MESSAGES, properties)
    names = {f"{clause.identifier}.{clause.clause}" for clause in clauses}

    def fitness(instance: str) -> tuple[int, int]:
        constants = constants_for(profile, faults, instance)
        broken = table_of_verdicts().depths(profile, instance, faults)
        return len(names & broken.keys()), sum(not unmet_needs(clause, constants) for clause in clauses)

    return max(smallest_first(profile, faults), key=fitness)
