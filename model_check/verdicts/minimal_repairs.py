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

from model_check.check import Verdict, chosen_clauses
from model_check.defects.catalogue import catalogue
from model_check.defects.resemblance import repairs_of
from model_check.instances import switches_of
from model_check.portfolio import search_portfolio
from model_check.searched_together import searched_together
from model_check.switches import switch_called
from model_check.verdicts.known_counterexamples import KnownCounterexamples
from spec.constants import SWITCHES
from spec.profiles import PROFILES
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from model_check.check import CheckResult, ClauseResult
    from model_check.explicit.search import Progress
    from model_check.portfolio import Judged
    from model_check.searched_together import SearchedTogether
    from model_check.verdicts.known_counterexamples import Repairs


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

    clause: str
    ruled_out: int
    searched: int
    under_way: str
    distinct: int

    def __str__(self) -> str:
        return (
            f"{self.clause}: {self.ruled_out:,} sets ruled out, {self.searched:,} searched · {self.under_way} · "
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
    instances : tuple of str
        Where the clause was searched.
    bounds : tuple of SearchedTogether
        'holds' is to the bounds of each of them by itself.
    broken : ClauseResult or None
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

    profile: str
    faults: tuple[str, ...]
    clause: str
    instances: tuple[str, ...]
    bounds: tuple[SearchedTogether, ...]
    most_repairs: int
    candidates: tuple[str, ...]
    known: Verdict
    broken: ClauseResult | None
    replay_command: str
    sets: tuple[MinimalRepair, ...]
    searched: int
    ruled_out: int
    with_all: Verdict | None = None

    def to_json(self) -> dict[str, Any]:
        """The answer as the plain data that scripts rely on (`halfcheck check --minimal-repairs --json`)."""
        broken = self.broken
        return {
            "verdict": self.known.value,
            "depth": None if broken is None else broken.depth,
            "instance": None if broken is None or broken.instance is None else broken.instance.name,
            "resembles": [] if broken is None else list(broken.resembles),
            "replay": self.replay_command or None,
            "sets": [
                {
                    "repairs": list(one.repairs),
                    "profile": f"{self.profile}{''.join(one.repairs)}",
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


def candidates_of(profile: str, also: Sequence[str] = (), among: Sequence[str] = ()) -> Repairs:
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
        When there is no such profile or switch; names what may have been meant.

    Examples
    --------
    >>> candidates_of("5.4.0")[:5]
    ('-batches_ops', '-batch_thread_oversleeps', '-refuses_late_end', '+resets_lower_end', '+heeds_settled_originals')
    >>> candidates_of("5.4.0", ["skips_long_immunities"], ["batches_ops"])
    ('-batches_ops', '+skips_long_immunities')
    """
    mine, fixed = switches_of(profile), PROFILES["fixed"]
    named = {switch_called(name).name for name in (*also, *among)}
    differs = set() if among else {name for name in SWITCHES if getattr(fixed, name) != getattr(mine, name)}
    return tuple(f"{'-' if getattr(mine, name) else '+'}{name}" for name in SWITCHES if name in named | differs)


def find_minimal_repairs(
    profile: str,
    faults: Sequence[str],
    clause: str,
    *,
    most_repairs: int = 3,
    among: Repairs | None = None,
    report: Callable[[RepairsProgress], None] | None = None,
    **question: Any,
) -> MinimalRepairs:
    """Find all minimal sets of at most `most_repairs` repairs with which a clause holds.

    Parameters
    ----------
    profile, faults, question
        See `model_check.portfolio.search_portfolio`.
    clause
        A name such as `S1.immune_half`.
    among
        The repairs of which the sets are made; `candidates_of` the profile when None.
    report
        Called now and then.

    Raises
    ------
    ModelCheckError
        When a name is unknown.
    EvaluationError
        When a value leaves its declared range.
    KeyboardInterrupt
        After Ctrl-C in a search.
    """
    (judged_clause,) = chosen_clauses(TRANSACTIONAL_MESSAGES, [clause])
    candidates = candidates_of(profile) if among is None else among
    ask = _Asking(profile, tuple(faults), clause, report, question)
    itself = ask.search(())
    row = itself.result.clauses[0]
    schedules = KnownCounterexamples(judged_clause)
    schedules.add(profile, faults, row)
    sets = [] if row.path is None else _minimal_sets(ask, schedules, _by_size(candidates, most_repairs))
    with_all = None if row.path is None or sets else _with_all(ask, schedules, candidates)
    return MinimalRepairs(
        profile,
        tuple(faults),
        clause,
        tuple(ask.names),
        searched_together(list(ask.held.values())),
        most_repairs,
        candidates,
        row.verdict,
        None if row.path is None else row,
        "" if row.path is None else itself.result.replay_command(row),
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
        row = ask.search(repairs).result.clauses[0]
        schedules.add(f"{ask.profile}{''.join(repairs)}", ask.faults, row)
        if row.path is None:
            found.append(MinimalRepair(repairs, certain=row.verdict is Verdict.HOLDS))
    return found


def _with_all(ask: _Asking, schedules: KnownCounterexamples, candidates: Repairs) -> Verdict:
    return Verdict.VIOLATED if schedules.one_breaks(candidates) else ask.search(candidates).result.clauses[0].verdict


def _by_size(candidates: Repairs, most: int) -> Iterator[Repairs]:
    for size in range(1, most + 1):
        yield from combinations(candidates, size)


@dataclass
class _Asking:
    """The searches for one clause, counted."""

    profile: str
    faults: tuple[str, ...]
    clause: str
    report: Callable[[RepairsProgress], None] | None
    question: dict[str, Any]
    searched: int = 0
    ruled_out: int = 0
    names: dict[str, None] = field(default_factory=dict)
    held: dict[str, CheckResult] = field(default_factory=dict)
    """Of each instance the search that has seen least of it, of those in which the clause was not violated."""

    def search(self, repairs: Repairs) -> Judged:
        self.searched += 1
        name = f"{self.profile}{''.join(repairs)}"

        def tell(instance: str, progress: Progress) -> None:
            if self.report is not None:
                under_way = f"{name} on {instance}"
                self.report(RepairsProgress(self.clause, self.ruled_out, self.searched, under_way, progress.distinct))

        found = search_portfolio(name, self.faults, properties=[self.clause], report=tell, **self.question)
        if found.is_interrupted:
            raise KeyboardInterrupt
        self.names |= dict.fromkeys([one.instance.name for one in found.searched] + list(found.left_out))
        if not found.broken:
            for one in found.searched:
                before = self.held.get(one.instance.name, one)
                if one.instance.name not in self.held or (one.complete, one.distinct) < (
                    before.complete,
                    before.distinct,
                ):
                    self.held[one.instance.name] = one
        return found
