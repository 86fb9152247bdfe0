"""All that is made from the searches of the plan: the table of verdicts and the schedules of the minimal sets."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from model_check.instances import load_instance
from model_check.verdicts.counterexamples import MinimalCounterexample, find_counterexamples
from model_check.verdicts.fingerprint import specification_fingerprint
from model_check.verdicts.minimal_faults import find_minimal_faults
from model_check.verdicts.searches import Searches
from model_check.verdicts.table import entries_of
from model_check.wording.clauses import clause_names
from spec.constants import FAULTS
from spec.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from model_check.verdicts.kept import KeptSearches
    from model_check.verdicts.searches import SearchesProgress
    from model_check.verdicts.table import Table


@dataclass
class Regenerated:
    """What the searches say.

    Attributes
    ----------
    table : Table
        With the entries of the instances that were searched, and no others.
    whole : Table
        With the entries that the table had of the other instances, too.
    schedules : list of MinimalCounterexample
        Of the minimal sets of the whole table that are shortest in an instance that was searched.
    searched, kept, environments, distinct : int
        Searches done, searches found from before, and what both together have found.
    """

    table: Table
    whole: Table
    schedules: list[MinimalCounterexample] = field(default_factory=list)
    searched: int = 0
    kept: int = 0
    environments: int = 0
    distinct: int = 0


def regenerate(
    table: Table,
    instances: Sequence[str],
    kept: KeptSearches,
    *,
    threads: int = 1,
    report: Callable[[SearchesProgress], None] | None = None,
) -> Regenerated:
    """Search the instances as the table's plan says, in all profiles of this specification."""
    empty = replace(
        table,
        specification=specification_fingerprint(),
        profiles=tuple(PROFILES),
        faults=FAULTS,
        clauses=clause_names(),
        entries={profile: {} for profile in PROFILES},
    )
    whole = replace(empty, entries={profile: {} for profile in PROFILES})
    made = Regenerated(empty, whole)
    for instance in instances:
        plan = table.plan[instance]
        searches = Searches(kept, threads=threads, most_states=plan.most_states, report=report)
        found = find_minimal_faults(
            tuple(PROFILES),
            load_instance(instance),
            clause_names(),
            searches,
            most_faults=plan.most_faults,
            is_hasty=False,
            with_schedules=False,
        )
        for profile in PROFILES:
            made.table.entries[profile][instance] = entries_of(found, profile)
        made.searched += searches.searched
        made.kept += searches.found
        made.environments += len(found.outcomes)
        made.distinct += sum(outcome.distinct for outcome in found.outcomes.values())
    for profile in PROFILES:
        for instance in table.plan:
            made.whole.entries[profile][instance] = (made.table if instance in instances else table).of(
                profile, instance
            )
    made.schedules += find_counterexamples(made.whole, instances, kept, threads=threads)
    return made
