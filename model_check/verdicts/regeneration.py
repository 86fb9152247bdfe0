"""The searches of the plan done again: the table of verdicts and the schedules that they give, and what differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from model_check.clauses import clause_names, clauses_by_name, name_of
from model_check.finding import Finding, Unknown, Verdict
from model_check.fingerprint import specification_fingerprint
from model_check.question import Question
from model_check.verdicts.counterexamples import MinimalCounterexample, with_missing
from model_check.verdicts.minimal_faults import MinimalFaults, find_minimal_faults
from model_check.verdicts.same_searches import of_the_oldest_profile
from model_check.verdicts.searches import CachedSearches, Searches, SearchesProgress
from model_check.verdicts.table import Entries, Entry, TableOfVerdicts
from model_check.world import Environment, Profile
from spec.constants import FAULTS, Instance

if TYPE_CHECKING:
    from spec.language import Property


@dataclass
class Regenerated:
    """The table and the schedules, made again from searches."""

    table: TableOfVerdicts
    """With the entries of the instances that were searched, and no others."""
    whole: TableOfVerdicts
    """With the entries that the table had of the other instances, too."""
    schedules: list[MinimalCounterexample] = field(default_factory=list)
    """Of the minimal sets of the whole table that are shortest in an instance that was searched."""
    searched: int = 0
    """Searches done."""
    cached: int = 0
    """Searches found from before."""
    worlds: int = 0
    distinct: int = 0
    """States that both together have found, in so many worlds."""

    def count(self, searches: Searches, findings: Sequence[Finding]) -> None:
        """Add the numbers of an instance's searches."""
        self.searched += searches.searched
        self.cached += searches.found
        self.worlds += len(findings)
        self.distinct += sum(finding.numbers.distinct for finding in findings)


def regenerate(
    table: TableOfVerdicts,
    instances: Sequence[Instance],
    cached: CachedSearches,
    *,
    threads: int = 1,
    report: Callable[[SearchesProgress], None] | None = None,
    schedules: Sequence[MinimalCounterexample] = (),
    keeps_current: bool = False,
) -> Regenerated:
    """Search the instances as the table's plan says, in all profiles of this specification.

    Where it `keeps_current`, entries stay of profiles that do in an instance what they did then. Of what is not
    searched the `schedules` stay, which are those of the table.
    """
    profiles, clauses = Profile.all(), tuple(clauses_by_name().values())
    stays = {
        (profile, instance)
        for instance in table.all_instances
        for profile in profiles
        if instance not in instances or (keeps_current and table.is_current(profile, instance))
    }
    made = Regenerated(_without_entries(table), _without_entries(table))
    for instance in instances:
        plan = table.plan[instance.name]
        searches = Searches(cached, threads=threads, most_states=plan.most_states, report=report)
        asked = tuple(profile for profile in profiles if (profile, instance) not in stays)
        if plan.only:
            worlds = [world for world in plan.worlds(instance) if world.profile in asked]
            findings = searches.run([Question(world=world, paths=()) for world in worlds])
            for profile in asked:
                mine = {world.environment: one for world, one in findings.items() if world.profile == profile}
                made.table.entries[profile.name][instance.name] = {faults: _entry(one) for faults, one in mine.items()}
            made.count(searches, list(findings.values()))
            continue
        found = find_minimal_faults(
            asked, instance, clauses, searches, most_faults=plan.most_faults, is_hasty=False, with_schedules=False
        )
        for profile in asked:
            made.table.entries[profile.name][instance.name] = entries_of(found, profile)
        made.count(searches, [one for world, one in found.findings.items() if of_the_oldest_profile(world) == world])
    for profile in profiles:
        for instance in table.all_instances:
            is_kept = (profile, instance) in stays
            entries = _with_idle(table, profile, instance) if is_kept else made.table.of(profile, instance)
            made.whole.entries[profile.name][instance.name] = entries
            made.whole.machines[profile.name][instance.name] = table.asked(profile, instance)
    kept = [
        replace(one, profiles=those)
        for one in schedules
        if (those := tuple(profile for profile in one.profiles if (profile, one.instance) in stays))
    ]
    made.schedules += with_missing(made.whole, kept, instances, cached, threads=threads)
    return made


def _without_entries(table: TableOfVerdicts) -> TableOfVerdicts:
    """The plan of a table, for what this specification has."""
    profiles = tuple(map(str, Profile.all()))
    return replace(
        table,
        specification=specification_fingerprint(),
        profile_names=profiles,
        faults=FAULTS,
        clause_names=clause_names(),
        entries={profile: {} for profile in profiles},
        machines={profile: {} for profile in profiles},
    )


def _with_idle(table: TableOfVerdicts, profile: Profile, instance: Instance) -> Entries:
    """The entries of a table, where faults that it does not know do nothing."""
    entries = table.of(profile, instance)
    if Environment() not in entries:
        return entries
    idle = replace(entries[Environment()], is_idle=True)
    more = {Environment([fault]): idle for fault in FAULTS if fault not in table.faults}
    return dict(sorted({**entries, **more}.items(), key=lambda item: item[0].by_size))


def entries_of(found: MinimalFaults, profile: Profile) -> Entries:
    """The entries of a profile from the searches of its environments.

    Every search must have gone on when its open clauses were violated (`is_hasty` false), or the numbers are of a part.
    """
    mine = {world.environment: one for world, one in found.findings.items() if world.profile == profile}
    unknown = {world.environment for world, _ in found.unknown() if world.profile == profile}
    entries: Entries = {}
    for environment, finding in mine.items():
        broken = {clause for part in environment.smaller() if part in mine for clause in mine[part].violated}
        if len(environment) <= 1 or finding.violated.keys() - broken or environment in unknown:
            entries[environment] = _entry(finding)
    for fault in found.idle[profile]:
        entries[Environment([fault])] = replace(entries[Environment()], is_idle=True)
    return dict(sorted(entries.items(), key=lambda item: item[0].by_size))


def _entry(finding: Finding) -> Entry:
    numbers = finding.numbers
    return Entry(
        numbers.distinct,
        numbers.generated,
        numbers.depth,
        {clause: row.depth for clause, row in finding.violated.items()},
        tuple(row.clause for row in finding.rows if isinstance(row, Unknown)),
    )


def differences(where: str, table: Entries, searched: Entries) -> list[str]:
    """Differences between the table and the searches about a profile in an instance, a line each."""
    lines = []
    for environment in sorted(table.keys() | searched.keys(), key=lambda one: one.by_size):
        here = f"{where} {environment.name}"
        if environment not in searched:
            lines.append(f"{here}: the table has an entry, but the search finds nothing new in this environment")
        elif environment not in table:
            violated = searched[environment].violated
            news = ", ".join(f"{name_of(clause)} at depth {depth}" for clause, depth in violated.items())
            lines.append(
                f"{here}: the table has no entry, but the search finds violations: {news or 'none, cut short'}"
            )
        else:
            lines += [f"{here}: {line}" for line in differing(table[environment], searched[environment])]
    return lines


def differing(table: Entry, searched: Entry) -> list[str]:
    """Where one entry says other than the search of its environment."""
    lines = []
    for name, clause in clauses_by_name().items():
        recorded, found = (_verdict_in_words(entry, clause) for entry in (table, searched))
        if recorded != found:
            lines.append(f"{name} {recorded} in the table, and {found} in the search")
    numbers = [(name, getattr(table, name), getattr(searched, name)) for name in ("distinct", "generated", "depth")]
    lines += [f"{name} is {a:,} in the table, and {b:,} in the search" for name, a, b in numbers if a != b]
    if table.is_idle != searched.is_idle:
        lines.append(f"the fault is {'' if table.is_idle else 'not '}idle in the table only")
    return lines


def _verdict_in_words(entry: Entry, clause: Property) -> str:
    verdict = entry.verdict(clause)
    if verdict is Verdict.VIOLATED:
        return f"is violated at depth {entry.violated[clause]}"
    return "holds" if verdict is Verdict.HOLDS else "is unknown"
