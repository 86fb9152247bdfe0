"""All minimal sets of repairs with which a clause holds; and what is left of a clause where a profile has some.

Sets are tried in the order of their size. A set that a known schedule still breaks is ruled out without a search
(`KnownSchedule`); what none rules out is searched, and a violation is one more schedule. No repair needs to be
without side effects for that: nothing is inferred from a set about a larger one, except that it is not minimal if a
part of it mends the clause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from model_check.answers.answer import Answer, search_portfolio
from model_check.clauses import name_of
from model_check.defects.catalogue import catalogue
from model_check.defects.resemblance import repaired_by_hand, repairs_of, still_breaks
from model_check.defects.switch_effects import RepairClaim, searched_claims
from model_check.finding import Bounds, Finding, Verdict, Violated
from model_check.switches import switch_called
from model_check.world import Environment, Profile, World
from spec.constants import SWITCHES, Constants, Instance
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.explicit.search import Progress
    from spec.language import Property, Step

Repairs = tuple[str, ...]
"""A set of repairs, each as a profile has it: `+settles_once`, `-batches_ops`."""

MOST_MORE_REPAIRS: Final = 2
"""So many repairs at once are tried beside those that a profile has, to say with which of them a clause holds."""


@dataclass(frozen=True, slots=True)
class RepairsProgress:
    """How far a search for sets of repairs is."""

    clause: Property
    ruled_out: int
    """Sets that a known schedule breaks."""
    searched: int
    """Sets that were searched, the one under way included."""
    under_way: str
    """Its profile, and the instance."""
    distinct: int
    """States of that search."""

    def __str__(self) -> str:
        return (
            f"{name_of(self.clause)}: {self.ruled_out:,} sets ruled out, {self.searched:,} searched · "
            f"{self.under_way} · "
            f"{self.distinct:,} states"
        )


@dataclass(frozen=True, slots=True)
class MinimalRepair:
    """A set of repairs with which the clause holds, and that has no smaller one in it with which it does."""

    repairs: Repairs
    certain: bool
    """False where a search was cut short before all of its states were seen."""

    @property
    def defects(self) -> tuple[str, ...]:
        """The defects of which it contains a repair."""
        mine = {turn[1:]: turn[0] == "+" for turn in self.repairs}
        return tuple(one for one in catalogue() if any(turns.items() <= mine.items() for turns in repairs_of(one)))


@dataclass(frozen=True, slots=True)
class MinimalRepairs:
    """The answer for one clause."""

    profile: Profile
    environment: Environment
    clause: Property
    instances: tuple[Instance, ...]
    """Where the clause was searched."""
    bounds: tuple[Bounds, ...]
    """'holds' is to the bounds of each of them by itself."""
    most_repairs: int
    candidates: Repairs
    """The repairs of which the sets are made."""
    known: Verdict
    """Of the clause in the profile itself."""
    broken: Violated | None
    """How the profile itself breaks it; none where it holds there."""
    sets: tuple[MinimalRepair, ...]
    """The smaller ones first."""
    searched: int
    """Sets that were searched; the empty one is one of them."""
    ruled_out: int
    """Sets that a schedule ruled out."""
    with_all: Verdict | None = None
    """With all candidates together; asked only where no set of at most `most_repairs` was found."""

    def to_json(self) -> dict[str, Any]:
        """The answer as the plain data that scripts rely on (`halfcheck repairs --json`)."""
        broken = self.broken
        return {
            "verdict": self.known.value,
            "depth": None if broken is None else broken.depth,
            "instance": None if broken is None else broken.world.instance.name,
            "resembles": [] if broken is None else list(broken.resembles),
            "replay": None if broken is None else broken.command,
            "sets": [
                {
                    "repairs": list(one.repairs),
                    "profile": self.profile.turn(*one.repairs).name,
                    "defects": list(one.defects),
                    "certain": one.certain,
                }
                for one in self.sets
            ],
            "with_all": None if self.with_all is None else self.with_all.value,
            "bounds": [one.to_json() for one in self.bounds],
            "searched": self.searched,
            "ruled_out": self.ruled_out,
        }


def candidates_of(profile: Profile, also: Sequence[str] = (), among: Sequence[str] = ()) -> Repairs:
    """The repairs of which sets are made: every way in which the profile `fixed` differs from a profile, and more.

    `also` are other switches that are turned, such as a repair that is being judged; with `among`, sets are made of
    these and of `also` alone. Raises `ModelCheckError`, which names what may have been meant, when there is no such
    switch.

    Examples
    --------
    >>> candidates_of(Profile.of("5.4.0"))[:5]
    ('-batches_ops', '-batch_thread_oversleeps', '-refuses_late_end', '+resets_lower_end', '+heeds_settled_originals')
    >>> candidates_of(Profile.of("5.4.0"), ["skips_long_immunities"], ["batches_ops"])
    ('-batches_ops', '+skips_long_immunities')
    """
    mine, fixed = profile.switches, Profile.of("fixed").switches
    named = {switch_called(name).name for name in (*also, *among)}
    differs = set() if among else {name for name in SWITCHES if getattr(fixed, name) != getattr(mine, name)}
    return tuple(f"{'-' if getattr(mine, name) else '+'}{name}" for name in SWITCHES if name in named | differs)


def find_minimal_repairs(
    profile: Profile,
    environment: Environment,
    clause: Property,
    *,
    most_repairs: int = 3,
    among: Repairs | None = None,
    report: Callable[[RepairsProgress], None] | None = None,
    **question: Any,
) -> MinimalRepairs:
    """Find all minimal sets of at most `most_repairs` repairs with which a clause holds.

    The sets are made of the repairs `among`, of `candidates_of` the profile when None; the question is that of
    `model_check.answers.answer.search_portfolio`. Raises `EvaluationError` when a value leaves its declared range, and
    `KeyboardInterrupt` after Ctrl-C in a search.
    """
    candidates = candidates_of(profile) if among is None else among
    ask = _Asking(profile, environment, clause, report, question)
    row = ask.search(()).rows[0]
    broken = row if isinstance(row, Violated) else None
    by_size = (chosen for size in range(1, most_repairs + 1) for chosen in combinations(candidates, size))
    sets = [] if broken is None else _minimal_sets(ask, by_size)
    with_all = None
    if broken is not None and not sets:
        is_broken = ask.knows_to_be_broken(candidates)
        with_all = Verdict.VIOLATED if is_broken else ask.search(candidates).rows[0].verdict
    return MinimalRepairs(
        profile,
        environment,
        clause,
        tuple(ask.instances),
        Bounds.uncovered([one.bounds for one in ask.held.values()]),
        most_repairs,
        candidates,
        row.verdict,
        broken,
        tuple(sets),
        ask.searched,
        ask.ruled_out,
        with_all,
    )


def _minimal_sets(ask: _Asking, sets: Iterator[Repairs]) -> list[MinimalRepair]:
    found: list[MinimalRepair] = []
    for repairs in sets:
        if any(set(one.repairs) <= set(repairs) for one in found):
            continue
        if ask.knows_to_be_broken(repairs):
            ask.ruled_out += 1
            continue
        row = ask.search(repairs).rows[0]
        if not isinstance(row, Violated):
            found.append(MinimalRepair(repairs, certain=row.verdict is Verdict.HOLDS))
    return found


@dataclass
class _Asking:
    """The searches for one clause, counted."""

    profile: Profile
    environment: Environment
    clause: Property
    report: Callable[[RepairsProgress], None] | None
    question: dict[str, Any]
    searched: int = 0
    ruled_out: int = 0
    instances: dict[Instance, None] = field(default_factory=dict)
    held: dict[Instance, Finding] = field(default_factory=dict)
    """Of each instance the search that has seen least of it, of those in which the clause was not violated."""
    schedules: list[KnownSchedule] = field(default_factory=list)
    """Those that are known to break the clause."""

    def knows_to_be_broken(self, repairs: Repairs) -> bool:
        """Whether one of the schedules still breaks the clause with these repairs."""
        return any(schedule.breaks_with(repairs) for schedule in reversed(self.schedules))

    def search(self, repairs: Repairs) -> Answer:
        self.searched += 1
        profile = self.profile.turn(*repairs)

        def show(title: str, progress: Progress) -> None:
            if self.report is not None:
                under_way = f"{profile} on {title}"
                self.report(RepairsProgress(self.clause, self.ruled_out, self.searched, under_way, progress.distinct))

        found = search_portfolio(profile, self.environment, clauses=[self.clause], report=show, **self.question)
        if found.is_interrupted:
            raise KeyboardInterrupt
        self.instances |= dict.fromkeys([*(one.world.instance for one in found.findings), *found.left_out])
        self.schedules += [KnownSchedule(self.clause, row.world.constants, row.path) for row in found.broken]
        if not found.broken:
            for one in found.findings:
                before = self.held.get(one.world.instance)
                if before is None or _seen(one) < _seen(before):
                    self.held[one.world.instance] = one
        return found


def _seen(finding: Finding) -> tuple[bool, int]:
    return finding.numbers.complete, finding.numbers.distinct


class KnownSchedule:
    """One schedule: whether it breaks the clause, as a function of the switches that are read on its way."""

    def __init__(self, clause: Property, constants: Constants, path: tuple[Step, ...]) -> None:
        self._clause, self._constants, self._path = clause, constants, path
        self._known: list[tuple[dict[str, bool], bool]] = []

    def breaks_with(self, repairs: Repairs) -> bool:
        """Whether it still breaks the clause with these repairs."""
        turned: dict[str, Any] = {turn[1:]: turn[0] == "+" for turn in repairs}
        constants = replace(self._constants, **turned)
        for read, breaks in self._known:
            if all(getattr(constants, name) == on for name, on in read.items()):
                return breaks
        recorder = _SwitchRecorder(constants)
        breaks = still_breaks(TRANSACTIONAL_MESSAGES, recorder, self._clause, self._path)
        self._known.append((recorder.read, breaks))
        return breaks


class _SwitchRecorder:
    """Constants that remember which switches were read of them, and how they stand."""

    def __init__(self, constants: Constants) -> None:
        self._constants = constants
        self.read: dict[str, bool] = {}

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._constants, name)
        if name in SWITCHES:
            self.read[name] = value
        return value


@dataclass(frozen=True, slots=True)
class LeftOfRepairs:
    """A clause that is broken with and without the repairs: through which defects, and with which more it holds."""

    clause: Property
    repaired: tuple[str, ...]
    """The defects that are repaired, as a search on record shows."""
    through: tuple[str, ...]
    """The defects through which it is still broken."""
    claims: tuple[RepairClaim, ...]
    """Repairs that the entries of switches claim, and what a search found of each."""
    more: MinimalRepairs
    """The repairs that it takes besides."""

    @property
    def name(self) -> str:
        """Of the clause."""
        return name_of(self.clause)

    def __str__(self) -> str:
        verb = "is" if len(self.repaired) == 1 else "are"
        repaired = [f"{_and(self.repaired)} {verb} repaired"] if self.repaired else []
        through = f"still broken through {_and(self.through)}" if self.through else "still broken"
        return f"{self.name}: {'; '.join([*repaired, *map(str, self.claims), through, self._holds_with])}"

    @property
    def _holds_with(self) -> str:
        certain = [" ".join(one.repairs) for one in self.more.sets if one.certain]
        where = f"(searched in {', '.join(one.name for one in self.more.instances)})"
        if certain:
            return f"holds with {' or '.join(certain)} besides {where}"
        if self.more.sets:
            doubtful = " or ".join(" ".join(one.repairs) for one in self.more.sets)
            return f"no violation is found with {doubtful} besides, CUT SHORT {where}"
        return f"{no_more_than(self.more.most_repairs)} besides mends it"

    def to_json(self) -> dict[str, Any]:
        """The record as plain data."""
        return {
            "repaired": list(self.repaired),
            "claims": [one.to_json() for one in self.claims],
            "broken_through": list(self.through),
            "holds_with": [list(one.repairs) for one in self.more.sets if one.certain],
            "instances": [one.name for one in self.more.instances],
        }


def left_of_repairs(row: Violated, world: World, **question: Any) -> LeftOfRepairs | None:
    """The rest of a broken clause of which a turned switch repairs a defect, or claims to; None where none does.

    `world` has the profile and the environment in which the violation was searched for; the question is that of
    `find_minimal_repairs`. Raises `KeyboardInterrupt` after Ctrl-C in a search.
    """
    repaired = repaired_by_hand(row.clause, world.profile)
    claims = searched_claims(row.clause, world.profile)
    if not (repaired or claims):
        return None
    more = find_minimal_repairs(
        world.profile, world.environment, row.clause, most_repairs=MOST_MORE_REPAIRS, **question
    )
    return LeftOfRepairs(row.clause, repaired, row.resembles, claims, more)


def no_more_than(most: int) -> str:
    """That so many repairs at once do not do, as the subject of a sentence."""
    return "no single repair" if most == 1 else f"no set of at most {most} repairs"


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
