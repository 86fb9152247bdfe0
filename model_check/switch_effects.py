"""What a switch breaks and mends: the clauses on which searches with it and without it do not agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from model_check.defects.catalogue import catalogue
from model_check.defects.findings import read_findings
from model_check.instances import load_instance, switches_of
from model_check.switches import switch_records
from model_check.verdicts.environment import QUIET, Environment
from model_check.verdicts.searches import Request
from model_check.wording.clauses import clause_names
from spec.constants import FAULTS
from spec.profiles import VERSIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.switches import SwitchRecord
    from model_check.verdicts.environment import Outcome
    from model_check.verdicts.searches import Searches


@dataclass(frozen=True, slots=True)
class Effect:
    """A clause on which two searches differ.

    Attributes
    ----------
    release, environment : str
        Where: `4.9.7`, `quiet`.
    without, with_it : int or None
        Steps of the shortest violation; None where there is none.
    """

    clause: str
    release: str
    environment: str
    without: int | None
    with_it: int | None

    @property
    def change(self) -> str:
        """`mends` or `breaks`; `sooner` or `later` where it is broken in either case."""
        if self.without is not None and self.with_it is not None:
            return "later" if self.with_it > self.without else "sooner"
        return "breaks" if self.without is None else "mends"

    def to_json(self) -> dict[str, Any]:
        """The effect as plain data."""
        return {
            "clause": self.clause,
            "change": self.change,
            "profile": self.release,
            "environment": self.environment,
            "without": self.without,
            "with": self.with_it,
        }


@dataclass(frozen=True, slots=True)
class OnRecord:
    """What the catalogue's searches have found of a switch: two profiles that differ in it alone.

    Attributes
    ----------
    name : str
        The defect, or the wrong repair of it (`A21 #8004`).
    says : str
        What it is.
    mends : bool
        Whether the switch mends the defect as it stands in `repaired_in`; else it is about a wrong repair.
    profile, repaired_in : str
        The two profiles: in the first one the clause is violated after `depth` steps, `absence` says what the search of
        the second found.
    """

    name: str
    says: str
    mends: bool
    clause: str
    profile: str
    repaired_in: str
    environment: str
    instance: str
    depth: int
    absence: str

    def to_json(self) -> dict[str, Any]:
        """The record as plain data."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class SwitchEffects:
    """What was searched, and what came of it.

    Attributes
    ----------
    releases : tuple of str
        Where the switch can do something.
    effects : tuple of Effect
        In the order of the clauses; in an environment with a fault only what the quiet world does not show.
    still_broken : dict
        Clause that it mends somewhere, to the releases in which the same environment breaks it with the switch, too.
    cut_short : tuple of str
        Searches that were, so that what they do not violate counts as neither.
    """

    record: SwitchRecord
    instance: str
    releases: tuple[str, ...]
    effects: tuple[Effect, ...]
    still_broken: dict[str, tuple[str, ...]]
    cut_short: tuple[str, ...]


def on_record(name: str) -> tuple[OnRecord, ...]:
    """What the catalogue has found of a switch: the searches whose two profiles differ in it and in nothing else.

    Examples
    --------
    >>> [(one.name, one.clause, one.depth, one.absence) for one in on_record("heeds_settled_originals")][0]
    ('B01', 'S1.immune_half', 16, 'holds')
    """
    findings, found = read_findings(), []
    for defect in catalogue().values():
        for title, search in defect.questions:
            finding = findings.get(title)
            if finding is None or not search.repaired_in:
                continue
            before, after = vars(switches_of(search.profile)), vars(switches_of(search.repaired_in))
            if [one for one in before if before[one] != after[one]] == [name]:
                wrong = next((w for w in defect.wrong_repairs if defect.recorded_as(w) == title), None)
                says = defect.name if wrong is None else wrong.breaks
                found.append(
                    OnRecord(
                        title,
                        says,
                        wrong is None,
                        search.clause,
                        search.profile,
                        search.repaired_in,
                        search.environment,
                        search.instance,
                        finding.depth,
                        finding.repaired,
                    )
                )
    return tuple(sorted(found, key=lambda one: (not one.mends, one.name not in switch_records()[name].defects)))


def profiles_around(record: SwitchRecord, release: str) -> tuple[str, str] | None:
    """A release without the switch and with it, and with what the switch needs; None where it can do nothing there.

    Examples
    --------
    >>> profiles_around(switch_records()["links_every_copy"], "4.9.7")
    ('4.9.7+heeds_settled_originals', '4.9.7+heeds_settled_originals+links_every_copy')
    >>> profiles_around(switch_records()["batches_ops"], "5.4.0")
    ('5.4.0-batches_ops', '5.4.0')
    >>> profiles_around(switch_records()["escapes_once"], "4.9.7") is None
    True
    """
    have = switches_of(release)
    missing = [name for name in record.needs if not getattr(have, name)]
    if any(switch_records()[name].kind == "version" for name in missing):
        return None
    base = release + "".join(f"+{name}" for name in missing)
    if getattr(have, record.name):
        return f"{base}-{record.name}", base
    return base, f"{base}+{record.name}"


def find_effects(
    record: SwitchRecord, instance: str, searches: Searches, releases: Sequence[str] = VERSIONS
) -> SwitchEffects:
    """Search each release with and without the switch, in the quiet world and under each fault alone.

    Raises
    ------
    ModelCheckError
        When a name is unknown.
    EvaluationError, KeyboardInterrupt
        See `Searches.run`.
    """
    sizes = load_instance(instance)
    around = {release: profiles for release in releases if (profiles := profiles_around(record, release)) is not None}
    environments = [(), *((fault,) for fault in FAULTS)]
    requests = {
        (release, faults, place): Environment(profile, faults, sizes)
        for release, profiles in around.items()
        for faults in environments
        for place, profile in enumerate(profiles)
    }
    outcomes = searches.run([Request(environment) for environment in requests.values()])
    effects: list[Effect] = []
    for clause in clause_names():
        for release in around:
            quiet: set[str] = set()
            for faults in environments:
                sides = [outcomes[requests[release, faults, place]] for place in (0, 1)]
                effect = _effect(clause, release, faults[0] if faults else QUIET, *sides)
                if effect is not None and effect.change not in quiet:
                    effects.append(effect)
                    quiet |= set() if faults else {effect.change}
    mended = {(one.clause, one.environment) for one in effects if one.change == "mends"}
    still: dict[str, tuple[str, ...]] = {}
    for clause, environment in sorted(mended):
        faults = () if environment == QUIET else (environment,)
        both = [r for r in around if all(clause in outcomes[requests[r, faults, place]].violated for place in (0, 1))]
        still[clause] = tuple(dict.fromkeys((*still.get(clause, ()), *both)))
    cut = tuple(str(environment) for environment, outcome in outcomes.items() if not outcome.complete)
    return SwitchEffects(
        record,
        instance,
        tuple(around),
        tuple(effects),
        {clause: where for clause, where in still.items() if where},
        cut,
    )


def _effect(clause: str, release: str, environment: str, without: Outcome, with_it: Outcome) -> Effect | None:
    before, after = without.violated.get(clause), with_it.violated.get(clause)
    is_known = all(depth is not None or side.complete for depth, side in ((before, without), (after, with_it)))
    return Effect(clause, release, environment, before, after) if before != after and is_known else None
