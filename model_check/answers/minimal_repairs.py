"""All minimal sets of repairs with which a clause holds.

Sets are tried in the order of their size. A set that a known schedule still breaks is ruled out without a search
(`known_counterexamples.py`); what none rules out is searched, and a violation is one more schedule. No repair needs to
be without side effects for that: nothing is inferred from a set about a larger one, except that it is not minimal if a
part of it mends the clause.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

from model_check.answers.answer import search_portfolio
from model_check.answers.known_counterexamples import KnownCounterexamples
from model_check.clauses import name_of
from model_check.defects.catalogue import catalogue
from model_check.defects.resemblance import repairs_of
from model_check.finding import Bounds, Verdict, Violated
from model_check.switches import switch_called
from model_check.world import Profile
from spec.constants import SWITCHES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from model_check.answers.answer import Answer
    from model_check.answers.known_counterexamples import Repairs
    from model_check.explicit.search import Progress
    from model_check.finding import Finding
    from model_check.world import Environment
    from spec.constants import Instance
    from spec.language import Property


@dataclass(frozen=True, slots=True)
class RepairsProgress:
    """How far a search for sets of repairs is.

    Attributes
    ----------
    ruled_out : int
        Sets that a known schedule breaks.
    searched : int
        Sets that were searched, the one under way included.
    under_way : str
        Its profile, and the instance.
    distinct : int
        States of that search.
    """

    clause: Property
    ruled_out: int
    searched: int
    under_way: str
    distinct: int

    def __str__(self) -> str:
        return (
            f"{name_of(self.clause)}: {self.ruled_out:,} sets ruled out, {self.searched:,} searched · "
            f"{self.under_way} · "
            f"{self.distinct:,} states"
        )


@dataclass(frozen=True, slots=True)
class MinimalRepair:
    """A set of repairs with which the clause holds, and that has no smaller one in it with which it does.

    Attributes
    ----------
    certain : bool
        False where a search was cut short before all of its states were seen.
    """

    repairs: Repairs
    certain: bool

    @property
    def defects(self) -> tuple[str, ...]:
        """The defects of which it contains a repair."""
        mine = {turn[1:]: turn[0] == "+" for turn in self.repairs}
        return tuple(one for one in catalogue() if any(turns.items() <= mine.items() for turns in repairs_of(one)))


@dataclass(frozen=True, slots=True)
class MinimalRepairs:
    """The answer for one clause.

    Attributes
    ----------
    clause : Property
    instances : tuple of Instance
        Where the clause was searched.
    bounds : tuple of Bounds
        'holds' is to the bounds of each of them by itself.
    broken : Violated or None
        How the profile itself breaks it; none where it holds there.
    known : Verdict
        Of the clause in the profile itself.
    candidates : tuple of str
        The repairs of which the sets are made.
    sets : tuple of MinimalRepair
        The smaller ones first.
    searched, ruled_out : int
        Sets that were searched, and that a schedule ruled out; the empty set is one of them.
    with_all : Verdict or None
        With all candidates together; asked only where no set of at most `most_repairs` was found.
    """

    profile: Profile
    environment: Environment
    clause: Property
    instances: tuple[Instance, ...]
    bounds: tuple[Bounds, ...]
    most_repairs: int
    candidates: Repairs
    known: Verdict
    broken: Violated | None
    sets: tuple[MinimalRepair, ...]
    searched: int
    ruled_out: int
    with_all: Verdict | None = None

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

    Parameters
    ----------
    also
        Other switches that are turned, such as a repair that is being judged.
    among
        If some are given, these switches and those of `also` alone.

    Raises
    ------
    ModelCheckError
        When there is no such switch; names what may have been meant.

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

    Parameters
    ----------
    profile, environment, question
        See `model_check.answers.answer.search_portfolio`.
    among
        The repairs of which the sets are made; `candidates_of` the profile when None.
    report
        Called now and then.

    Raises
    ------
    EvaluationError
        When a value leaves its declared range.
    KeyboardInterrupt
        After Ctrl-C in a search.
    """
    candidates = candidates_of(profile) if among is None else among
    ask = _Asking(profile, environment, clause, report, question)
    row = ask.search(()).rows[0]
    schedules = KnownCounterexamples(clause)
    schedules.add(row)
    broken = row if isinstance(row, Violated) else None
    sets = [] if broken is None else _minimal_sets(ask, schedules, _by_size(candidates, most_repairs))
    with_all = None if broken is None or sets else _with_all(ask, schedules, candidates)
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


def _minimal_sets(ask: _Asking, schedules: KnownCounterexamples, sets: Iterator[Repairs]) -> list[MinimalRepair]:
    found: list[MinimalRepair] = []
    for repairs in sets:
        if any(set(one.repairs) <= set(repairs) for one in found):
            continue
        if schedules.one_breaks(repairs):
            ask.ruled_out += 1
            continue
        row = ask.search(repairs).rows[0]
        schedules.add(row)
        if not isinstance(row, Violated):
            found.append(MinimalRepair(repairs, certain=row.verdict is Verdict.HOLDS))
    return found


def _with_all(ask: _Asking, schedules: KnownCounterexamples, candidates: Repairs) -> Verdict:
    return Verdict.VIOLATED if schedules.one_breaks(candidates) else ask.search(candidates).rows[0].verdict


def _by_size(candidates: Repairs, most: int) -> Iterator[Repairs]:
    for size in range(1, most + 1):
        yield from combinations(candidates, size)


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
        if not found.broken:
            for one in found.findings:
                before = self.held.get(one.world.instance)
                if before is None or _seen(one) < _seen(before):
                    self.held[one.world.instance] = one
        return found


def _seen(finding: Finding) -> tuple[bool, int]:
    return finding.numbers.complete, finding.numbers.distinct
