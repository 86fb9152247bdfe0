"""Effects of a switch: the clauses on which searches with it and without it do not agree, and what it claims to repair.

The entry of a repair switch is written by whoever proposes the repair. A defect counts as repaired only where the
catalogue names the profile that is rid of it (`repaired_in`, `also_repaired_in`), which a test searches; else it is a
claim, which is searched here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from model_check.check import check
from model_check.clauses import name_of
from model_check.defects.catalogue import DefectSearch, catalogue
from model_check.defects.findings import SEARCH_FINDINGS
from model_check.defects.resemblance import repairs_of
from model_check.question import Question
from model_check.switches import SwitchRecord, switch_records
from model_check.world import Environment, Profile, World
from spec.constants import FAULTS, Instance
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.finding import Finding
    from model_check.verdicts.searches import Searches
    from spec.language import Property


@dataclass(frozen=True, slots=True)
class ClauseEffect:
    """A clause on which two searches differ."""

    clause: Property
    release: Profile
    """Where: `4.9.7`."""
    environment: Environment
    without: int | None
    """Steps of the shortest violation without the switch; None where there is none."""
    with_it: int | None
    """The same with it."""

    @property
    def change(self) -> str:
        """`mends` or `breaks`; `sooner` or `later` where it is broken in either case."""
        if self.without is not None and self.with_it is not None:
            return "later" if self.with_it > self.without else "sooner"
        return "breaks" if self.without is None else "mends"

    def to_json(self) -> dict[str, Any]:
        """The effect as plain data."""
        return {
            "clause": name_of(self.clause),
            "change": self.change,
            "profile": self.release.name,
            "environment": self.environment.name,
            "without": self.without,
            "with": self.with_it,
        }


@dataclass(frozen=True, slots=True)
class EffectOnRecord:
    """A finding of the catalogue about a switch: the two profiles of its search differ in it alone."""

    name: str
    """The defect, or the wrong repair of it (`A21 #8004`)."""
    says: str
    """The defect, or what the wrong repair breaks, in words."""
    mends: bool
    """Whether the switch mends the defect as it stands in `repaired_in`; else it is about a wrong repair."""
    search: DefectSearch
    """Its clause is violated in its world after `depth` steps; `absence` says what was found where it is repaired."""
    depth: int
    absence: str

    @property
    def where(self) -> str:
        """The clause and the world, in words."""
        world = self.search.world
        return f"{self.search.subject} in {world.profile}, {world.environment.name}, {world.instance.name}"

    def to_json(self) -> dict[str, Any]:
        """The record as plain data."""
        world = self.search.world
        return {
            "name": self.name,
            "says": self.says,
            "mends": self.mends,
            "clause": self.search.subject,
            "profile": world.profile.name,
            "repaired_in": str(self.search.repaired_in),
            "environment": world.environment.name,
            "instance": world.instance.name,
            "depth": self.depth,
            "absence": self.absence,
        }


@dataclass(frozen=True, slots=True)
class SwitchEffects:
    """The effects of a switch on the clauses, and the searches that show them."""

    record: SwitchRecord
    instance: Instance
    releases: tuple[Profile, ...]
    """Where the switch can do something."""
    effects: tuple[ClauseEffect, ...]
    """In the order of the clauses; in an environment with a fault only what the quiet world does not show."""
    still_broken: dict[Property, tuple[Profile, ...]]
    """Clause that it mends somewhere, to the releases in which the same environment breaks it with the switch, too."""
    cut_short: tuple[World, ...]
    """Searches that were, so that what they do not violate counts as neither."""


def on_record(name: str) -> tuple[EffectOnRecord, ...]:
    """The findings of the catalogue about a switch: of searches whose two profiles differ in it and in nothing else.

    Examples
    --------
    >>> [(one.name, one.where, one.depth, one.absence) for one in on_record("heeds_settled_originals")][0]
    ('B01', 'S1.immune_half in 4.9.7, quiet, tiny', 16, 'holds')
    """
    findings, found = SEARCH_FINDINGS.read(), []
    for defect in catalogue().values():
        wrong = {defect.recorded_as(one): one.breaks for one in defect.wrong_repairs}
        for title, search in defect.questions:
            finding = findings.get(title)
            if finding is None or search.repaired_in is None:
                continue
            before, after = vars(search.world.profile.switches), vars(search.repaired_in.switches)
            if [one for one in before if before[one] != after[one]] == [name]:
                says = wrong.get(title, defect.name)
                found.append(EffectOnRecord(title, says, title not in wrong, search, finding.depth, finding.repaired))
    return tuple(sorted(found, key=lambda one: (not one.mends, one.name not in switch_records()[name].defects)))


def profiles_around(record: SwitchRecord, release: Profile) -> tuple[Profile, Profile] | None:
    """A release without the switch and with it, and with what the switch needs; None where it can do nothing there.

    Examples
    --------
    >>> older, newer = Profile.of("4.9.7"), Profile.of("5.4.0")
    >>> [str(one) for one in profiles_around(switch_records()["links_every_copy"], older)]
    ['4.9.7+heeds_settled_originals', '4.9.7+heeds_settled_originals+links_every_copy']
    >>> [str(one) for one in profiles_around(switch_records()["batches_ops"], newer)]
    ['5.4.0-batches_ops', '5.4.0']
    >>> profiles_around(switch_records()["escapes_once"], older) is None
    True
    """
    have = release.switches
    missing = [name for name in record.needs if not getattr(have, name)]
    if any(switch_records()[name].kind == "version" for name in missing):
        return None
    base = release.turn(*(f"+{name}" for name in missing))
    if getattr(have, record.name):
        return base.turn(f"-{record.name}"), base
    return base, base.turn(f"+{record.name}")


def find_effects(
    record: SwitchRecord, instance: Instance, searches: Searches, releases: Sequence[Profile] = ()
) -> SwitchEffects:
    """Search each release with and without the switch, in the quiet world and under each fault alone.

    Raises `EvaluationError` and `KeyboardInterrupt` as `Searches.run` does. The releases are all versions of RocketMQ
    when none is given.
    """
    around = {
        release: profiles
        for release in releases or Profile.versions()
        if (profiles := profiles_around(record, release)) is not None
    }
    environments = [Environment(), *(Environment.of((fault,)) for fault in FAULTS)]
    worlds = {
        (release, environment): [World(profile, environment, instance) for profile in profiles]
        for release, profiles in around.items()
        for environment in environments
    }
    findings = searches.run([Question(world=world, paths=()) for both in worlds.values() for world in both])
    effects: list[ClauseEffect] = []
    for clause in TRANSACTIONAL_MESSAGES.clauses:
        for release in around:
            quiet: set[str] = set()
            for environment in environments:
                sides = [findings[world] for world in worlds[release, environment]]
                effect = _effect(clause, release, environment, *sides)
                if effect is not None and effect.change not in quiet:
                    effects.append(effect)
                    quiet |= set() if environment else {effect.change}
    mended = {(name_of(one.clause), one.environment.name): one for one in effects if one.change == "mends"}
    still: dict[Property, tuple[Profile, ...]] = {}
    for _, one in sorted(mended.items()):
        both = [r for r in around if all(one.clause in findings[w].violated for w in worlds[r, one.environment])]
        still[one.clause] = tuple(dict.fromkeys((*still.get(one.clause, ()), *both)))
    return SwitchEffects(
        record,
        instance,
        tuple(around),
        tuple(effects),
        {clause: where for clause, where in still.items() if where},
        tuple(world for world, finding in findings.items() if not finding.numbers.complete),
    )


def _effect(
    clause: Property, release: Profile, environment: Environment, without: Finding, with_it: Finding
) -> ClauseEffect | None:
    before, after = without[clause].depth, with_it[clause].depth
    is_known = all(depth is not None or side.numbers.complete for depth, side in ((before, without), (after, with_it)))
    return ClauseEffect(clause, release, environment, before, after) if before != after and is_known else None


@dataclass(frozen=True, slots=True)
class RepairClaim:
    """The claim of a switch that it repairs a defect, tried where the catalogue finds the defect."""

    switch: str
    defect: str
    world: World | None = None
    """The world in which the catalogue finds the defect, with the switch; None where no search of the catalogue is
    about it."""
    clause: Property | None = None
    """The clause that was searched there."""
    depth: int | None = None
    """Steps after which the clause is broken there all the same."""

    def __str__(self) -> str:
        says = f"{self.switch} says that it repairs {self.defect}"
        if self.world is None or self.clause is None:
            return f"{says}, which no search finds"
        world = self.world
        where = f"{name_of(self.clause)} in {world.profile}, {world.environment.name}, on {world.instance.name}"
        if self.depth is None:
            return f"{says}, and is not on record for it; {where}: not broken"
        return f"{says}, and does not; {where}: broken after {self.depth} steps"

    def to_json(self) -> dict[str, Any]:
        """The claim as plain data."""
        world = self.world
        return {
            "switch": self.switch,
            "defect": self.defect,
            "profile": "" if world is None else world.profile.name,
            "instance": "" if world is None else world.instance.name,
            "environment": "" if world is None else world.environment.name,
            "clause": "" if self.clause is None else name_of(self.clause),
            "depth": self.depth,
        }


def unshown_claims(switch: str) -> tuple[str, ...]:
    """The defects that the entry of a switch names as repaired by it, although no search on record has shown that.

    Examples
    --------
    >>> unshown_claims("heeds_settled_originals"), unshown_claims("keeps_check_open")
    ((), ())
    """
    record = switch_records()[switch]
    if record.kind != "repair":
        return ()
    mine = dict.fromkeys((*_needed(switch), switch), True)
    return tuple(one for one in record.defects if not any(turns.items() <= mine.items() for turns in repairs_of(one)))


def searched_claims(clause: Property, profile: Profile) -> tuple[RepairClaim, ...]:
    """The claims of the switches that a profile turns on, about defects that the clause resembles, each searched."""
    before, after = asdict(Profile.of(profile.unturned).switches), asdict(profile.switches)
    turned = [name for name in after if after[name] and not before[name]]
    return tuple(
        _searched(name, defect) for name in turned for defect in unshown_claims(name) if defect in clause.resembles
    )


def _searched(switch: str, defect: str) -> RepairClaim:
    search = catalogue()[defect].search
    if search is None:
        return RepairClaim(switch, defect)
    world = search.world.in_profile(search.world.profile.turn(*(f"+{name}" for name in (*_needed(switch), switch))))
    found = check(Question(world=world, clauses=(search.clause,), until=(search.clause,)))
    return RepairClaim(switch, defect, world, search.clause, found[search.clause].depth)


def _needed(switch: str) -> list[str]:
    """The repairs without which it does nothing."""
    return [name for name in switch_records()[switch].needs if switch_records()[name].kind == "repair"]
