"""The table of verdicts, `results/verdicts.toml`: profile × instance × environment → the verdict on every clause.

An entry names the clauses that are violated, with the steps of the shortest violation, and those that a search which
was cut short left unknown; every other clause holds, to the bound of the instance. The quiet world and each single
fault have an entry; a larger set of faults has one if it breaks (or may break) a clause that no smaller set in it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from files.content import read_toml
from model_check.clauses import clause_names, clauses_by_name, name_of
from model_check.errors import BadFile
from model_check.finding import Finding, Verdict
from model_check.fingerprint import specification_fingerprint
from model_check.instances import load_instance
from model_check.machine_fingerprint import machine_fingerprint
from model_check.world import QUIET, Environment, Profile, World
from spec.constants import FAULTS, Instance
from spec.profiles import PROFILES

if TYPE_CHECKING:
    from spec.language import Property

HEADER = """\
# The verdict on each clause in each environment, by profile and instance.
#
# Written by `halfcheck verdicts --update`; `make verdicts` searches everything again and compares. An entry gives the
# states that were found (distinct), the successors that were looked at (generated) and the steps to the deepest state,
# then the clauses that are violated, each with the steps of its shortest violation. What is not named holds, to the
# bound of the instance; after a search that was cut short it is listed as unknown. The quiet world and each fault have
# an entry; two faults or more have one if they break, or may break, a clause that fewer of them do not. An idle fault
# does nothing in that version. [machines] says what was searched: where a profile does the same in an instance as then,
# `--update` keeps its entries. Only [plan] is written by hand: how many faults at once, where a search is cut short.
"""


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """The limits of the searches in one instance."""

    most_faults: int
    """How many faults at once."""
    most_states: int
    """Where a search is cut short."""
    only: tuple[str, ...] = ()
    """The worlds in which alone it is searched, as `fixed slow_round,acting_slave`, where one among others has led
    there; all with so many faults at most when empty."""

    def worlds(self, instance: Instance) -> tuple[World, ...]:
        """These worlds."""
        named = (one.split() for one in self.only)
        return tuple(World(Profile.of(profile), Environment.named(faults), instance) for profile, faults in named)


class Minimal(NamedTuple):
    """A set of faults that breaks a clause, without a smaller one in it that does, in any instance of the table."""

    environment: Environment
    depth: int
    """Steps of the shortest violation."""
    instance: Instance
    """Where that is; the first one of the plan where several have it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The verdicts of the table on one world."""

    distinct: int
    generated: int
    depth: int
    violated: dict[Property, int]
    """Each violated clause to the steps of its shortest violation."""
    unknown: tuple[Property, ...] = ()
    """The clauses that a search which was cut short has left open."""
    is_idle: bool = False
    """Whether the fault does nothing there."""

    def verdict(self, clause: Property) -> Verdict:
        """Of a clause."""
        if clause in self.violated:
            return Verdict.VIOLATED
        return Verdict.UNKNOWN if clause in self.unknown else Verdict.HOLDS


Entries = dict[Environment, Entry]
"""The entries of one profile in one instance."""


@dataclass(frozen=True, slots=True)
class TableOfVerdicts:
    """The table of verdicts."""

    specification: str
    """The fingerprint of the specification that was searched; it had these profiles, faults and clauses then."""
    profile_names: tuple[str, ...]
    faults: tuple[str, ...]
    clause_names: tuple[str, ...]
    plan: dict[str, SearchPlan]
    entries: dict[str, dict[str, Entries]] = field(default_factory=dict)
    """The name of a profile → that of an instance → environment → entry."""
    machines: dict[str, dict[str, str]] = field(default_factory=dict)
    """The name of a profile → that of an instance → what was searched, as `asked` says it."""

    def of(self, profile: Profile, instance: Instance) -> Entries:
        """The entries of a profile in an instance, none if it was not searched."""
        return self.entries.get(profile.name, {}).get(instance.name, {})

    def asked(self, profile: Profile, instance: Instance) -> str:
        """What a profile does in an instance, and how far the plan searches it."""
        plan = self.plan[instance.name]
        most = " ".join((str(plan.most_faults), str(plan.most_states), *plan.only))
        return f"{machine_fingerprint(profile, instance)} {most}"

    def is_current(self, profile: Profile, instance: Instance) -> bool:
        """Whether a search of a profile in an instance would find what it has found."""
        then = self.machines.get(profile.name, {}).get(instance.name)
        return then is not None and then == self.asked(profile, instance)

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """The profiles; of a stale table those that there still are."""
        return tuple(Profile.of(name) for name in self.profile_names if name in PROFILES)

    @property
    def clauses(self) -> tuple[Property, ...]:
        """The clauses; of a stale table those that there still are."""
        return tuple(clauses_by_name()[name] for name in self.clause_names if name in clauses_by_name())

    @property
    def instances(self) -> tuple[Instance, ...]:
        """The instances of the plan that are searched in all worlds."""
        return tuple(load_instance(name) for name, plan in self.plan.items() if not plan.only)

    @property
    def all_instances(self) -> tuple[Instance, ...]:
        """The instances of the plan, those of some worlds, too."""
        return tuple(map(load_instance, self.plan))

    def oldest_like(self, profile: Profile) -> str:
        """The name of the oldest profile with the same entries, which may be this one."""
        mine = self.entries[profile.name]
        return next(older for older in self.entries if older == profile.name or (mine and self.entries[older] == mine))

    def parts_of(self, world: World) -> Entries:
        """The entries of a world, and of all in which fewer of its faults may happen."""
        entries = self.of(world.profile, world.instance)
        return {environment: one for environment, one in entries.items() if environment.is_within(world.environment)}

    def depths(self, world: World) -> dict[Property, int]:
        """Clause → steps of the shortest violation that a world shows, or a part of it."""
        found: dict[Property, int] = {}
        for entry in self.parts_of(world).values():
            for clause, depth in entry.violated.items():
                found[clause] = min(depth, found.get(clause, depth))
        return found

    def minimal_sets(self, profile: Profile, clause: Property) -> list[Minimal]:
        """The minimal sets of faults that break a clause, of all instances together; the smaller ones first."""
        breaking = self.breaking(profile, clause)
        return sorted(
            (one for one in breaking.values() if not any(part in breaking for part in one.environment.smaller())),
            key=lambda one: one.environment.by_size,
        )

    def undecided(self, profile: Profile, clause: Property) -> list[Environment]:
        """The sets of faults that no instance shows to break a clause, and one was cut short in which they might.

        No smaller set in them breaks it in any instance. Instances that forget are not asked: what they leave open is
        open in runs of any length.
        """
        breaking = self.breaking(profile, clause)
        found = {
            environment
            for instance in self.instances
            if not instance.forgets
            for environment, entry in self.of(profile, instance).items()
            if clause in entry.unknown
        }
        return sorted(
            (one for one in found - breaking.keys() if not any(part in breaking for part in one.smaller())),
            key=lambda one: one.by_size,
        )

    def cut_short(self, profile: Profile) -> dict[str, list[Environment]]:
        """The name of an instance → the sets of faults whose search was cut short there with something to be found."""
        cut = {
            instance.name: [one for one, entry in self.of(profile, instance).items() if entry.unknown]
            for instance in self.instances
        }
        return {instance: sets for instance, sets in cut.items() if sets}

    def idle(self, profile: Profile) -> list[str]:
        """The faults that do nothing in a profile, in no instance."""
        searched = [entries for entries in (self.of(profile, instance) for instance in self.instances) if entries]
        return [
            fault
            for fault in self.faults
            if searched and all((one := entries.get(Environment([fault]))) and one.is_idle for entries in searched)
        ]

    def breaking(self, profile: Profile, clause: Property) -> dict[Environment, Minimal]:
        """All sets of faults that break a clause somewhere, minimal or not, each where it takes the fewest steps."""
        breaking: dict[Environment, Minimal] = {}
        for instance in self.all_instances:
            for environment, entry in self.of(profile, instance).items():
                depth = entry.violated.get(clause)
                if depth is not None and (environment not in breaking or depth < breaking[environment].depth):
                    breaking[environment] = Minimal(environment, depth, instance)
        return breaking

    def known_violation(self, world: World, clause: Property) -> Minimal | None:
        """The shortest violation of a clause that any instance shows under some of a world's faults, if any.

        A profile that is not in the table, as one with a switch turned, has none.
        """
        breaking = self.breaking(world.profile, clause).values()
        mine = [one for one in breaking if one.environment.is_within(world.environment)]
        return min(mine, key=lambda one: one.depth, default=None)

    def contradictions(self, finding: Finding) -> list[str]:
        """Where the search of a world and the table differ, a line each; of what it does not speak it says nothing."""
        entry = self.of(finding.world.profile, finding.world.instance).get(finding.world.environment)
        if entry is None:
            return []
        found = {clause: row.depth for clause, row in finding.violated.items()}
        differing = [c for c in self.clauses if found.get(c) != entry.violated.get(c)]
        lines = [
            f"{name}: {_steps(found.get(clause))} by the search, {_steps(entry.violated.get(clause))} by the table"
            for name, clause in sorted((name_of(clause), clause) for clause in differing)
        ]
        distinct = finding.numbers.distinct
        if not entry.unknown and distinct != entry.distinct:
            lines.append(f"{distinct:,} states by the search, {entry.distinct:,} by the table")
        return lines

    def everything(self) -> Iterator[tuple[str, str, Environment, Entry]]:
        """The names of profile and instance, environment and entry of every entry."""
        for profile, instances in self.entries.items():
            for instance, entries in instances.items():
                for environment, entry in entries.items():
                    yield profile, instance, environment, entry

    def stale(self) -> list[str]:
        """Why the table is not of this specification; nothing if it is."""
        complaints = [
            f"{what} are {', '.join(named)}, and the specification has {', '.join(there)}"
            for what, named, there in (
                ("profiles", self.profile_names, tuple(PROFILES)),
                ("faults", self.faults, FAULTS),
                ("clauses", self.clause_names, clause_names()),
            )
            if named != there
        ]
        now = specification_fingerprint()
        if not complaints and self.specification != now:
            complaints.append(f"it was made from the specification {self.specification}, and this one is {now}")
        return complaints


def _steps(depth: int | None) -> str:
    return "not violated" if depth is None else f"violated in {depth} steps"


# --- the file ---------------------------------------------------------------------------------------------------------


def table_file() -> Path:
    """`results/verdicts.toml`."""
    return Path(__file__).with_name("results") / "verdicts.toml"


def read_table(file: Path) -> TableOfVerdicts:
    """Read a table of verdicts.

    Raises `BadFile` when the file is not TOML, or lacks something, or names what is not a set of faults.
    """
    try:
        content = read_toml(file)
    except (OSError, ValueError) as error:
        msg = f"{file}: {getattr(error, 'strerror', None) or error}; `halfcheck verdicts --update` writes it anew"
        raise BadFile(msg) from error
    try:
        profiles, faults, clauses = (tuple(content.get(name, ())) for name in ("profiles", "faults", "clauses"))
        plan = {
            name: SearchPlan(**{**given, "only": tuple(given.get("only", ()))})
            for name, given in content["plan"].items()
        }
        machines = content.get("machines", {})
        table = TableOfVerdicts(content.get("specification", ""), profiles, faults, clauses, plan, machines=machines)
        for profile, instances in content.get("verdicts", {}).items():
            for instance, environments in instances.items():
                table.entries.setdefault(profile, {})[instance] = _read_entries(environments)
    except (KeyError, TypeError, AttributeError) as error:
        msg = f"{file}: {error!r} is missing or not as `halfcheck verdicts --update` writes it"
        raise BadFile(msg) from error
    return table


def _read_entries(environments: dict[str, Any]) -> Entries:
    """The entries; clauses that the specification has no more are left out, and the table is stale for it."""
    entries: dict[str, Entry] = {}
    clauses = clauses_by_name()
    for name, given in environments.items():
        if given.get("idle"):
            entries[name] = replace(entries[QUIET], is_idle=True)
        else:
            numbers = given["distinct"], given["generated"], given["depth"]
            violated = {clauses[one]: depth for one, depth in given["violated"].items() if one in clauses}
            unknown = tuple(clauses[one] for one in given.get("unknown", ()) if one in clauses)
            entries[name] = Entry(*numbers, violated, unknown)
    return {Environment.named(name): entry for name, entry in entries.items()}


def table_as_toml(table: TableOfVerdicts) -> str:
    """The text of the file; `read_table` reads it back."""
    lines = [HEADER, f'specification = "{table.specification}"']
    lines += [_list("profiles", table.profile_names), _list("faults", table.faults)]
    lines.append(_list("clauses", table.clause_names))
    lines += ["", "[plan]"]
    for name, plan in table.plan.items():
        only = f", {_list('only', plan.only)}" if plan.only else ""
        lines.append(f"{_key(name)} = {{ most_faults = {plan.most_faults}, most_states = {plan.most_states}{only} }}")
    for profile, machines in table.machines.items():
        lines += ["", f'[machines."{profile}"]', *(f'{_key(name)} = "{one}"' for name, one in machines.items())]
    for profile, instance, environment, entry in table.everything():
        lines += ["", f'[verdicts."{profile}".{_key(instance)}.{_key(environment.name)}]', *_entry(entry)]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    """A name as a key of TOML."""
    return name if name.isidentifier() else f'"{name}"'


def _entry(entry: Entry) -> Iterator[str]:
    if entry.is_idle:
        yield "idle = true"
        return
    yield f"distinct = {entry.distinct}"
    yield f"generated = {entry.generated}"
    yield f"depth = {entry.depth}"
    violated = ", ".join(f'"{name_of(clause)}" = {depth}' for clause, depth in entry.violated.items())
    yield f"violated = {{ {violated} }}" if violated else "violated = {}"
    if entry.unknown:
        yield _list("unknown", [name_of(clause) for clause in entry.unknown])


def _list(name: str, values: Sequence[str]) -> str:
    quoted = ", ".join(f'"{value}"' for value in values)
    return f"{name} = [{quoted}]"


@cache
def table_of_verdicts() -> TableOfVerdicts:
    """The table that comes with the project."""
    return read_table(table_file())
