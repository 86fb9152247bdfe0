"""The searches of the plan done again: the table of verdicts and the schedules that they give, and what differs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from model_check.check import Verdict
from model_check.instances import load_instance
from model_check.verdicts.counterexamples import MinimalCounterexample, find_counterexamples
from model_check.verdicts.environment import QUIET, faults_of, name_of, smaller_sets
from model_check.verdicts.fingerprint import specification_fingerprint
from model_check.verdicts.minimal_faults import find_minimal_faults
from model_check.verdicts.same_searches import of_the_oldest_profile
from model_check.verdicts.searches import Searches
from model_check.verdicts.table import Entry, by_size
from model_check.wording.clauses import clause_names
from spec.constants import FAULTS
from spec.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from model_check.verdicts.minimal_faults import MinimalFaults
    from model_check.verdicts.searches import KeptSearches, SearchesProgress
    from model_check.verdicts.table import Entries, Table


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
        outcomes = {e: outcome for e, outcome in found.outcomes.items() if of_the_oldest_profile(e) == e}
        made.environments += len(outcomes)
        made.distinct += sum(outcome.distinct for outcome in outcomes.values())
    for profile in PROFILES:
        for instance in table.plan:
            made.whole.entries[profile][instance] = (made.table if instance in instances else table).of(
                profile, instance
            )
    made.schedules += find_counterexamples(made.whole, instances, kept, threads=threads)
    return made


def entries_of(found: MinimalFaults, profile: str) -> Entries:
    """The entries of a profile from the searches of its environments.

    Every search must have gone on when its open clauses were violated (`is_hasty` false), or the numbers are of a part.
    """
    mine = {environment.faults: o for environment, o in found.outcomes.items() if environment.profile == profile}
    unknown = {(e.faults, clause) for e, clause in found.unknown() if e.profile == profile}
    entries: Entries = {}
    for faults, outcome in mine.items():
        broken = {clause for part in smaller_sets(faults) if part in mine for clause in mine[part].violated}
        has_news = outcome.violated.keys() - broken or any((faults, clause) in unknown for clause in found.clauses)
        if len(faults) <= 1 or has_news:
            undecided = () if outcome.decides else tuple(c for c in found.clauses if c not in outcome.violated)
            entries[name_of(faults)] = Entry(
                outcome.distinct, outcome.generated, outcome.depth, dict(outcome.violated), undecided
            )
    for fault in found.idle[profile]:
        entries[fault] = replace(entries[QUIET], is_idle=True)
    return dict(sorted(entries.items(), key=lambda item: by_size(faults_of(item[0]))))


def differences(profile: str, instance: str, table: Entries, searched: Entries) -> list[str]:
    """What the table says and the searches do not, a line each."""
    lines = []
    for name in sorted(table.keys() | searched.keys(), key=lambda name: by_size(faults_of(name))):
        where = f"{profile} {instance} {name}"
        if name not in searched:
            lines.append(f"{where}: the table has an entry, but the search finds nothing new in this environment")
        elif name not in table:
            news = ", ".join(f"{clause} at depth {depth}" for clause, depth in searched[name].violated.items())
            lines.append(
                f"{where}: the table has no entry, but the search finds violations: {news or 'none, cut short'}"
            )
        else:
            lines += [f"{where}: {line}" for line in differing(table[name], searched[name])]
    return lines


def differing(table: Entry, searched: Entry) -> list[str]:
    """Where one entry says other than the search of its environment."""
    lines = []
    for clause in clause_names():
        said, found = (_verdict_in_words(entry, clause) for entry in (table, searched))
        if said != found:
            lines.append(f"{clause} {said} in the table, and {found} in the search")
    numbers = [(name, getattr(table, name), getattr(searched, name)) for name in ("distinct", "generated", "depth")]
    lines += [f"{name} is {a:,} in the table, and {b:,} in the search" for name, a, b in numbers if a != b]
    if table.is_idle != searched.is_idle:
        lines.append(f"the fault is {'' if table.is_idle else 'not '}idle in the table only")
    return lines


def _verdict_in_words(entry: Entry, clause: str) -> str:
    verdict = entry.verdict(clause)
    if verdict is Verdict.VIOLATED:
        return f"is violated at depth {entry.violated[clause]}"
    return "holds" if verdict is Verdict.HOLDS else "is unknown"
