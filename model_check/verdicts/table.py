"""The table of verdicts, `spec/verdicts.toml`: profile × instance × environment → the verdict on every clause.

An entry names the clauses that are violated, with the steps of the shortest violation, and those that a search which
was cut short left unknown; every other clause holds, to the bound of the instance. The quiet world and each single
fault have an entry; a larger set of faults has one if it breaks (or may break) a clause that no smaller set in it does.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from importlib import resources
from itertools import combinations
from typing import TYPE_CHECKING, Any

from model_check.check import Verdict
from model_check.errors import BadFile
from model_check.verdicts.environment import QUIET, clause_names, name_of
from model_check.verdicts.fingerprint import specification_fingerprint
from spec.constants import FAULTS
from spec.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from model_check.verdicts.minimal_faults import MinimalFaults

HEADER = """\
# The verdict on each clause in each environment, by profile and instance.
#
# Written by `halfcheck verdicts --update`; `make verdicts` searches everything again and compares. An entry gives the
# states that were found (distinct), the successors that were looked at (generated) and the steps to the deepest state,
# then the clauses that are violated, each with the steps of its shortest violation. What is not named holds, to the
# bound of the instance; after a search that was cut short it is listed as unknown. The quiet world and each fault have
# an entry; two faults or more have one if they break, or may break, a clause that fewer of them do not. An idle fault
# does nothing in that version. Only [plan] is written by hand: how many faults at once, where a search is cut short,
# and whether schedules.toml keeps the schedules.
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is searched in one instance.

    Attributes
    ----------
    most_faults : int
        How many faults at once.
    most_states : int
        Where a search is cut short.
    schedules : bool
        Whether the schedules of the minimal sets are kept, in `spec/schedules.toml`.
    """

    most_faults: int
    most_states: int
    schedules: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One environment of the table; see `model_check.verdicts.environment.Outcome`."""

    distinct: int
    generated: int
    depth: int
    violated: dict[str, int]
    unknown: tuple[str, ...] = ()
    is_idle: bool = False

    def verdict(self, clause: str) -> Verdict:
        """Of a clause, by its name."""
        if clause in self.violated:
            return Verdict.VIOLATED
        return Verdict.UNKNOWN if clause in self.unknown else Verdict.HOLDS


Entries = dict[str, Entry]
"""By the name of the environment."""


@dataclass(frozen=True, slots=True)
class Table:
    """The table of verdicts.

    Attributes
    ----------
    specification : str
        The fingerprint of the specification that was searched.
    entries : dict
        Profile → instance → name of the environment → entry.
    """

    specification: str
    profiles: tuple[str, ...]
    faults: tuple[str, ...]
    clauses: tuple[str, ...]
    plan: dict[str, Plan]
    entries: dict[str, dict[str, Entries]] = field(default_factory=dict)

    def of(self, profile: str, instance: str) -> Entries:
        """The entries of a profile in an instance, none if it was not searched."""
        return self.entries.get(profile, {}).get(instance, {})

    def minimal_sets(self, profile: str, instance: str, clause: str) -> list[tuple[tuple[str, ...], int]]:
        """The minimal sets of faults that break a clause, each with its depth."""
        entries = self.of(profile, instance)
        breaking = {faults_of(name): e.violated[clause] for name, e in entries.items() if clause in e.violated}
        return [
            (faults, depth)
            for faults, depth in breaking.items()
            if not entries[name_of(faults)].is_idle and not any(part in breaking for part in _parts(faults))
        ]

    def everything(self) -> Iterator[tuple[str, str, str, Entry]]:
        """Profile, instance, environment and entry of every entry."""
        for profile, instances in self.entries.items():
            for instance, entries in instances.items():
                for name, entry in entries.items():
                    yield profile, instance, name, entry

    def stale(self) -> list[str]:
        """Why the table is not of this specification; nothing if it is."""
        complaints = [
            f"{what} are {', '.join(named)}, and the specification has {', '.join(there)}"
            for what, named, there in (
                ("profiles", self.profiles, tuple(PROFILES)),
                ("faults", self.faults, FAULTS),
                ("clauses", self.clauses, clause_names()),
            )
            if named != there
        ]
        if not complaints and self.specification != specification_fingerprint():
            complaints.append(
                f"it was made from the specification {self.specification}, and this one is {specification_fingerprint()}"
            )
        return complaints


def faults_of(name: str) -> tuple[str, ...]:
    """The faults of an environment, by its name."""
    return () if name == QUIET else tuple(name.split(","))


def entries_of(found: MinimalFaults, profile: str) -> Entries:
    """The entries of a profile from the searches of its environments.

    Every search must have gone on when its open clauses were violated (`is_hasty` false), or the numbers are of a part.
    """
    mine = {environment.faults: o for environment, o in found.outcomes.items() if environment.profile == profile}
    unknown = {(e.faults, clause) for e, clause in found.unknown() if e.profile == profile}
    entries: Entries = {}
    for faults, outcome in mine.items():
        broken = {clause for part in _parts(faults) if part in mine for clause in mine[part].violated}
        has_news = outcome.violated.keys() - broken or any((faults, clause) in unknown for clause in found.clauses)
        if len(faults) <= 1 or has_news:
            undecided = () if outcome.complete else tuple(c for c in found.clauses if c not in outcome.violated)
            entries[name_of(faults)] = Entry(
                outcome.distinct, outcome.generated, outcome.depth, dict(outcome.violated), undecided
            )
    for fault in found.idle[profile]:
        quiet = entries[QUIET]
        entries[fault] = Entry(
            quiet.distinct, quiet.generated, quiet.depth, dict(quiet.violated), quiet.unknown, is_idle=True
        )
    return dict(sorted(entries.items(), key=lambda item: _order(faults_of(item[0]))))


def differences(profile: str, instance: str, table: Entries, searched: Entries) -> list[str]:
    """What the table says and the searches do not, a line each."""
    lines = []
    for name in sorted(table.keys() | searched.keys(), key=lambda name: _order(faults_of(name))):
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
    for number in ("distinct", "generated", "depth"):
        if getattr(table, number) != getattr(searched, number):
            lines.append(
                f"{number} is {getattr(table, number):,} in the table, and {getattr(searched, number):,} in the search"
            )
    if table.is_idle != searched.is_idle:
        lines.append(f"the fault is {'' if table.is_idle else 'not '}idle in the table only")
    return lines


def _verdict_in_words(entry: Entry, clause: str) -> str:
    verdict = entry.verdict(clause)
    return f"is violated at depth {entry.violated[clause]}" if verdict is Verdict.VIOLATED else (
        "holds" if verdict is Verdict.HOLDS else "is unknown"
    )  # fmt: skip


def table_file() -> Path:
    """`spec/verdicts.toml`."""
    return _in_spec("verdicts.toml")


def _in_spec(name: str) -> Path:
    from pathlib import Path

    return Path(str(resources.files("spec").joinpath(name)))


def read_table(file: Path) -> Table:
    """Read a table of verdicts.

    Raises
    ------
    BadFile
        When the file is not TOML, or lacks something, or names what is not a set of faults.
    """
    try:
        told = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        msg = f"{file}: {getattr(error, 'strerror', None) or error}; `halfcheck verdicts --update` writes it anew"
        raise BadFile(msg) from error
    try:
        lists = (tuple(told.get(name, ())) for name in ("profiles", "faults", "clauses"))
        plan = {name: Plan(**given) for name, given in told["plan"].items()}
        table = Table(told.get("specification", ""), *lists, plan=plan)
        for profile, instances in told.get("verdicts", {}).items():
            for instance, environments in instances.items():
                table.entries.setdefault(profile, {})[instance] = _read_entries(environments)
    except (KeyError, TypeError, AttributeError) as error:
        msg = f"{file}: {error!r} is missing or not as `halfcheck verdicts --update` writes it"
        raise BadFile(msg) from error
    return table


def _read_entries(environments: dict[str, Any]) -> Entries:
    entries: Entries = {}
    for name, given in environments.items():
        if given.get("idle"):
            quiet = entries[QUIET]
            entries[name] = Entry(quiet.distinct, quiet.generated, quiet.depth, quiet.violated, quiet.unknown, True)
        else:
            unknown = tuple(given.get("unknown", ()))
            entries[name] = Entry(given["distinct"], given["generated"], given["depth"], given["violated"], unknown)
    return entries


def written(table: Table) -> str:
    """The text of the file; `read_table` reads it back."""
    lines = [HEADER, f'specification = "{table.specification}"']
    lines += [_list(name, getattr(table, name)) for name in ("profiles", "faults", "clauses")]
    lines += ["", "[plan]"]
    for name, plan in table.plan.items():
        schedules = ", schedules = true" if plan.schedules else ""
        lines.append(f"{name} = {{ most_faults = {plan.most_faults}, most_states = {plan.most_states}{schedules} }}")
    for profile, instance, name, entry in table.everything():
        key = name if "," not in name else f'"{name}"'
        lines += ["", f'[verdicts."{profile}".{instance}.{key}]', *_entry(entry)]
    return "\n".join(lines) + "\n"


def _entry(entry: Entry) -> Iterator[str]:
    if entry.is_idle:
        yield "idle = true"
        return
    yield f"distinct = {entry.distinct}"
    yield f"generated = {entry.generated}"
    yield f"depth = {entry.depth}"
    violated = ", ".join(f'"{clause}" = {depth}' for clause, depth in entry.violated.items())
    yield f"violated = {{ {violated} }}" if violated else "violated = {}"
    if entry.unknown:
        yield _list("unknown", entry.unknown)


def _list(name: str, values: Sequence[str]) -> str:
    return f"{name} = [{', '.join(f'"{value}"' for value in values)}]"


def _parts(faults: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for size in range(len(faults)):
        yield from combinations(faults, size)


def _order(faults: tuple[str, ...]) -> tuple[object, ...]:
    """Fewer faults first, then in their order; those that no longer exist at the end."""
    places = [FAULTS.index(fault) if fault in FAULTS else len(FAULTS) for fault in faults]
    return len(faults), places, faults
