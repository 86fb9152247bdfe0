"""An upgrade from one release to another: what is new, what is mended, and what stays broken, gravest first.

The clauses on which searches speak, and with them every defect of the catalogue that one of the two has: also those
that no clause shows, as a core that spins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from model_check.clauses import name_of
from model_check.defects.affected import affects, arises, possible_with
from model_check.defects.catalogue import catalogue
from model_check.defects.resemblance import is_repaired
from model_check.remedies.advice import Situation, by_gravity, gravity_of, is_always_there, remedy, remedy_of
from model_check.wording.clauses import meaning_of
from model_check.world import Asked, Environment
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.comparison.differences import Comparison, ProfileVerdict
    from spec.language import Property


@dataclass(frozen=True, slots=True)
class UpgradeEntry:
    """One thing that is wrong."""

    clause: Property | None
    """That is broken; none for a defect that no clause shows in what is asked."""
    defects: tuple[str, ...]
    """Those that the clause shows, or the one."""
    happens: str
    """What a user sees, in a sentence without a full stop."""
    remedy: str
    """What to do; empty for what is mended."""
    needs: Environment
    """The faults that the catalogue's search of the defect needs."""
    is_always_there: bool
    """Whether a defect needs none, and shows in every run or in the quiet world."""
    gravity: int
    """0 is the gravest."""
    after_ms: int | None = None
    """Of a configuration: when it is broken."""

    @property
    def name(self) -> str:
        """The clause with its defects, or the defect."""
        like = f" ({' '.join(self.defects)})" if self.defects else ""
        return " ".join(self.defects) if self.clause is None else f"{name_of(self.clause)}{like}"

    def to_json(self) -> dict[str, Any]:
        """The entry as plain data."""
        return {
            "clause": None if self.clause is None else name_of(self.clause),
            "defects": list(self.defects),
            "happens": self.happens,
            "remedy": self.remedy,
            "needs": list(self.needs),
            "always": self.is_always_there,
            "gravity": self.gravity,
        }


@dataclass(frozen=True, slots=True)
class UpgradeAnswer:
    """Three groups, each gravest first."""

    new: tuple[UpgradeEntry, ...]
    """What the later one has and the earlier one has not, or not for certain."""
    mended: tuple[UpgradeEntry, ...]
    """The other way round."""
    both: tuple[UpgradeEntry, ...]

    def to_json(self) -> dict[str, Any]:
        """The groups as plain data."""
        return {name: [one.to_json() for one in getattr(self, name)] for name in self.__slots__}


def upgrade_answer(found: Comparison, times: Mapping[str, int] | None = None) -> UpgradeAnswer:
    """Sort what is broken, and what the catalogue knows, into what an upgrade brings, mends and leaves.

    `times` are those of a configuration with which both were judged (`Situation`).
    """
    before, after = found.before, found.after
    situation = Situation.of(after.asked.profile, after.environment, release=after.asked.release, times=times)
    had, has = _has(before.asked), _has(after.asked)
    clauses: dict[str, list[UpgradeEntry]] = {"new": [], "mended": [], "both": []}
    for clause, old in before.sides.items():
        now = after.sides[clause]
        if now.is_violated:
            entry = _of_clause(clause, now, remedy(clause, situation))
            if clause in before.open:
                entry = replace(entry, happens=f"{entry.happens} (in {before.asked.name} that is open)")
            clauses["both" if old.is_violated else "new"].append(entry)
        elif old.is_violated and clause not in after.open:
            gone = tuple(one for one in old.resembles if not has(one))
            clauses["mended"].append(_of_clause(clause, replace(old, resembles=gone), ""))
    asked_about = [name for name in catalogue() if _is_asked_about(name, before.sides)]
    groups = {
        "new": [one for one in asked_about if _comes(one, before.asked, after.asked, had, has)],
        "mended": [one for one in asked_about if had(one) and not has(one)],
        "both": [one for one in asked_about if had(one) and has(one)],
    }
    sorted_groups = {}
    for name, ids in groups.items():
        shown = {one for entry in clauses[name] for one in entry.defects}
        others = {
            one: remedy_of(one, after.asked.release) if name != "mended" else "" for one in ids if one not in shown
        }
        entries = [*clauses[name], *(_of_defect(one, what_to_do) for one, what_to_do in others.items())]
        sorted_groups[name] = tuple(sorted(entries, key=_order))
    return UpgradeAnswer(**sorted_groups)


def _is_asked_about(identifier: str, sides: Mapping[Property, ProfileVerdict]) -> bool:
    """Whether it breaks one of the guarantees that are asked about; what breaks none is of a question about all."""
    clauses = TRANSACTIONAL_MESSAGES.clauses
    broken = set(catalogue()[identifier].properties) & {clause.identifier for clause in clauses}
    asked = {clause.identifier for clause in sides}
    return bool(broken & asked) if broken else len(sides) == len(clauses)


def _has(asked: Asked) -> Callable[[str], bool]:
    """Whether a release has a defect, by the catalogue; where switches are turned, as far as searches have shown."""
    if asked.is_release:
        return lambda one: affects(one, asked.release)
    switches = asked.profile.switches
    return lambda one: possible_with(one, switches) and not is_repaired(one, switches)


def _comes(one: str, before: Asked, after: Asked, had: Callable[[str], bool], has: Callable[[str], bool]) -> bool:
    if before.is_release and after.is_release:
        return arises(one, before.release, after.release)
    return has(one) and not had(one)


def _of_clause(clause: Property, side: ProfileVerdict, what_to_do: str) -> UpgradeEntry:
    meaning = meaning_of(clause)
    return UpgradeEntry(
        clause, side.resembles, meaning.harm, what_to_do, Environment(), True, meaning.gravity, side.after_ms
    )


def _of_defect(identifier: str, what_to_do: str) -> UpgradeEntry:
    defect = catalogue()[identifier]
    needs = Environment() if defect.search is None else defect.search.world.environment
    remark = defect.affected.partition(", ")[2]
    only = f" ({remark})" if remark and not any(letter.isdigit() for letter in remark) else ""
    always, gravity = is_always_there(identifier), gravity_of(identifier)
    return UpgradeEntry(None, (identifier,), f"{defect.effect}{only}", what_to_do, needs, always, gravity)


def _order(entry: UpgradeEntry) -> tuple[object, ...]:
    """Gravest first; of equally grave ones what was searched first, then what needs no fault."""
    return entry.gravity, entry.clause is None, by_gravity(entry.defects[0]) if entry.defects else (), entry.name
