"""Two releases or profiles side by side: the clauses on which they differ, by the table of verdicts or by searches.

The table says what searches of the same instances found, as long as it is of this specification. Where more faults are
asked for than were searched at once in an instance, what fewer of them break is broken, and the rest is searched there.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any

from model_check.answers.answer import Answer, search_portfolio
from model_check.clauses import name_of
from model_check.defects.affected import affects
from model_check.defects.resemblance import resembled
from model_check.finding import Row, Verdict, Violated
from model_check.occurrence import why_it_cannot_occur
from model_check.verdicts.among_others import for_any_number
from model_check.verdicts.counterexamples import MinimalCounterexample, read_counterexamples
from model_check.verdicts.table import table_file, table_of_verdicts
from model_check.world import Asked, Environment, Profile, World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.broker_conf.judgement import ConfJudgement
    from spec.constants import Instance
    from spec.language import Property

CANNOT_OCCUR = "cannot occur"
"""The verdict on a clause that nothing can break in any instance that was searched."""

MOST_STATES = 2_000_000
"""Where a search of an instance is cut short that the table knows with fewer faults at once."""


class ClauseChange(Enum):
    """The change of a clause from the first profile to the second, the worst first."""

    BROKEN = "broken now"
    FOUND = "broken, and open before"
    SOONER = "broken sooner"
    OTHER = "not the same"
    THROUGH = "broken through others"
    LATER = "broken later"
    MENDED = "mended"


@dataclass(frozen=True, slots=True)
class ProfileVerdict:
    """One profile's verdict on a clause."""

    verdict: str
    """`violated`, `holds`, `unknown` or `cannot occur`."""
    depth: int | None = None
    """Steps of the shortest violation."""
    instance: Instance | None = None
    """Where that is."""
    resembles: tuple[str, ...] = ()
    """The defects that it shows."""
    after_ms: int | None = None
    """Of a configuration: when it is broken, in milliseconds since the start."""

    @property
    def is_violated(self) -> bool:
        """Whether it is broken."""
        return self.verdict == Verdict.VIOLATED.value

    @property
    def when(self) -> int | None:
        """When it is broken: in milliseconds, or in steps, which of ticks that differ say nothing of each other."""
        return self.depth if self.after_ms is None else self.after_ms

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain data."""
        content = {
            "verdict": self.verdict,
            "depth": self.depth,
            "instance": None if self.instance is None else self.instance.name,
            "resembles": list(self.resembles),
        }
        return content if self.after_ms is None else {**content, "after_ms": self.after_ms}


@dataclass(frozen=True, slots=True)
class Difference:
    """A clause on which two profiles differ."""

    clause: Property
    before: ProfileVerdict
    after: ProfileVerdict

    def to_json(self) -> dict[str, Any]:
        """The difference as plain data."""
        return {"change": self.change.value, "before": self.before.to_json(), "after": self.after.to_json()}

    @property
    def change(self) -> ClauseChange:
        """Its kind."""
        if self.before.when is not None and self.after.when is not None:
            if self.after.when == self.before.when:
                return ClauseChange.THROUGH
            return ClauseChange.LATER if self.after.when > self.before.when else ClauseChange.SOONER
        if self.after.is_violated:
            return ClauseChange.FOUND if self.before.verdict == Verdict.UNKNOWN.value else ClauseChange.BROKEN
        is_mended = self.before.is_violated and self.after.verdict != Verdict.UNKNOWN.value
        return ClauseChange.MENDED if is_mended else ClauseChange.OTHER


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The verdicts on one side of a comparison."""

    asked: Asked
    environment: Environment
    sides: Mapping[Property, ProfileVerdict]
    """Clause → verdict, in the order of the machine."""
    known: tuple[Instance, ...] = ()
    """Those that the table of verdicts has answered for."""
    searched: tuple[Instance, ...] = ()
    """Those that were searched."""
    cut_short: tuple[Instance, ...] = ()
    """Which of these were not searched to their end."""
    distinct: int = 0
    seconds: float = 0.0
    """Of both, as the number of distinct states is."""
    answer: Answer | None = field(default=None, compare=False)
    """The search, where there was one of all that is asked."""
    is_in_seconds: bool = False
    """Whether a configuration was judged, with times of its own."""

    @property
    def open(self) -> tuple[Property, ...]:
        """Clauses that a search which was cut short has left open."""
        return tuple(clause for clause, side in self.sides.items() if side.verdict == Verdict.UNKNOWN.value)

    @property
    def is_violated(self) -> bool:
        """Whether anything is broken."""
        return any(side.is_violated for side in self.sides.values())


@dataclass(frozen=True, slots=True)
class Comparison:
    """The verdicts on two profiles in the same environment, side by side."""

    before: Verdicts
    after: Verdicts
    differences: tuple[Difference, ...]
    """What became worse first."""
    same: dict[str, tuple[Property, ...]]
    """Each verdict with the clauses that have it in both, as soon and through the same defects."""

    @property
    def instances(self) -> tuple[Instance, ...]:
        """Those that either verdict is of."""
        sides = (self.before, self.after)
        return tuple(dict.fromkeys(one for side in sides for one in (*side.known, *side.searched)))

    @property
    def for_any_number(self) -> tuple[Property, ...]:
        """What neither breaks and both are known to hold for any number of transactions, in runs of any length."""
        sides = (self.before, self.after)
        return tuple(
            clause
            for clause in self.same.get(Verdict.HOLDS.value, ())
            if not any(one.is_in_seconds for one in sides)
            and all(for_any_number(one.asked.profile, one.environment, clause).holds for one in sides)
        )

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left open."""
        return not (self.before.open or self.after.open)

    def to_json(self) -> dict[str, Any]:
        """The comparison as the plain data that scripts rely on (`halfcheck compare A B --json`)."""
        return {
            "profiles": [self.before.asked.name, self.after.asked.name],
            "environment": list(self.before.environment),
            "instances": [instance.name for instance in self.instances],
            "complete": self.is_complete,
            "differences": {name_of(one.clause): one.to_json() for one in self.differences},
            "same": {verdict: list(map(name_of, clauses)) for verdict, clauses in self.same.items()},
            "any_number": list(map(name_of, self.for_any_number)),
            "open": {"before": list(map(name_of, self.before.open)), "after": list(map(name_of, self.after.open))},
            "judged_by": {side.asked.name: side.asked.profile.name for side in (self.before, self.after)},
        }


def compared(before: Verdicts, after: Verdicts) -> Comparison:
    """The comparison of two sides that were asked about the same clauses."""
    differences: list[Difference] = []
    same: dict[str, list[Property]] = {}
    for clause, mine in before.sides.items():
        other = after.sides[clause]
        if (mine.verdict, mine.when, mine.resembles) == (other.verdict, other.when, other.resembles):
            same.setdefault(mine.verdict, []).append(clause)
        else:
            differences.append(Difference(clause, mine, other))
    order = list(ClauseChange)
    differences.sort(key=lambda one: order.index(one.change))
    return Comparison(before, after, tuple(differences), {verdict: tuple(clauses) for verdict, clauses in same.items()})


def verdicts_of(
    asked: Asked,
    environment: Environment,
    *,
    clauses: Sequence[Property] = TRANSACTIONAL_MESSAGES.clauses,
    instances: Sequence[Instance] = (),
    most_states: int | None = None,
    **question: Any,
) -> Verdicts:
    """One side: what the table knows, and searches of what it does not; with `most_states`, searches alone.

    Raises `EvaluationError` as `search_portfolio` does, and `KeyboardInterrupt` after Ctrl-C in a search: half a
    comparison is none. `question` is what `search_portfolio` takes besides.
    """
    known = None if most_states is not None else _known(asked, environment, clauses, instances)
    if known is None:
        answer = _search(asked, environment, clauses=clauses, instances=instances, most_states=most_states, **question)
        return of_search(asked, answer)
    found, to_search = known
    left = [one for one, side in found.sides.items() if not side.is_violated and side.verdict != CANNOT_OCCUR]
    if not (left and to_search):
        return found
    answer = _search(asked, environment, clauses=left, instances=to_search, most_states=MOST_STATES, **question)
    more = of_search(asked, answer)
    of_table = tuple(one for one in found.known if one not in to_search)
    is_decided = any(not one.forgets for one in (*of_table, *more.searched) if one not in more.cut_short)
    rows = {clause: _with(found.sides[clause], side, is_decided) for clause, side in more.sides.items()}
    return replace(
        found,
        sides={**found.sides, **rows},
        known=of_table,
        searched=more.searched,
        cut_short=more.cut_short,
        distinct=found.distinct + more.distinct,
        seconds=more.seconds,
    )


def needs_a_search(
    asked: Asked,
    environment: Environment,
    *,
    clauses: Sequence[Property] = TRANSACTIONAL_MESSAGES.clauses,
    instances: Sequence[Instance] = (),
    most_states: int | None = None,
) -> bool:
    """Whether the table does not know all that `verdicts_of` is asked."""
    known = None if most_states is not None else _known(asked, environment, clauses, instances)
    return known is None or bool(known[1])


def of_judgement(asked: Asked, judgement: ConfJudgement) -> Verdicts:
    """One side, of a configuration in seconds."""
    whole, numbers = judgement.whole, judgement.whole.numbers
    sides = {row.clause: _side(row, judgement.cannot_occur) for row in whole.rows}
    for clause, row in whole.violated.items():
        base, after_ms = judgement.shown_by[clause].base, judgement.after_ms(row)
        sides[clause] = replace(sides[clause], instance=base, after_ms=after_ms)
    environment, bases, cut = whole.world.environment, judgement.bases, judgement.cut_short
    numbered = numbers.distinct, numbers.seconds
    return Verdicts(asked, environment, sides, (), bases, cut, *numbered, is_in_seconds=True)


def of_search(asked: Asked, answer: Answer) -> Verdicts:
    """One side, of a search of all that is asked."""
    world, numbers = answer.whole.world, answer.whole.numbers
    sides = {row.clause: _side(row, answer.cannot_occur) for row in answer.rows}
    searched = tuple(one.world.instance for one in answer.findings)
    cut = tuple(one.world.instance for one in answer.findings if not one.numbers.complete and one.undecided)
    return Verdicts(asked, world.environment, sides, (), searched, cut, numbers.distinct, numbers.seconds, answer)


def _search(asked: Asked, environment: Environment, **question: Any) -> Answer:
    answer = search_portfolio(asked.profile, environment, release=asked.stood_for, **question)
    if answer.is_interrupted:
        raise KeyboardInterrupt
    return answer


def _known(
    asked: Asked, environment: Environment, clauses: Sequence[Property], instances: Sequence[Instance]
) -> tuple[Verdicts, tuple[Instance, ...]] | None:
    """The answer of the table, if it has the profile and the instances, and the instances that are to be searched."""
    table, profile = table_of_verdicts(), asked.profile
    sizes = tuple(instances or table.instances)
    if profile.name not in table.entries or any(not table.of(profile, size) for size in sizes) or _is_stale():
        return None
    found: dict[Property, tuple[int, Instance]] = {}
    unknown: set[Property] = set()
    distinct = 0
    for size in sizes:
        world = World(profile, environment, size)
        parts = table.parts_of(world).values()
        distinct += max(one.distinct for one in parts)
        for clause, depth in table.depths(world).items():
            found[clause] = min(found.get(clause, (depth, size)), (depth, size), key=lambda at: at[0])
        if not size.forgets:
            unknown |= {clause for one in parts for clause in one.unknown}
    bounded = [one for one in sizes if not one.forgets] or sizes
    worlds = [World(profile, environment, size).constants for size in bounded]
    sides = {}
    for clause in clauses:
        if clause in found:
            ids = tuple(one for one in _resembles(profile, environment, clause) if affects(one, asked.release))
            sides[clause] = ProfileVerdict(Verdict.VIOLATED.value, *found[clause], ids)
        elif clause in unknown:
            sides[clause] = ProfileVerdict(Verdict.UNKNOWN.value)
        else:
            is_impossible = why_it_cannot_occur(clause, *worlds)
            sides[clause] = ProfileVerdict(CANNOT_OCCUR if is_impossible else Verdict.HOLDS.value)
    is_open = not all(side.is_violated for side in sides.values())
    left = tuple(size for size in sizes if is_open and len(environment) > table.plan[size.name].most_faults)
    return Verdicts(asked, environment, sides, sizes, distinct=distinct), left


@cache
def _is_stale() -> bool:
    return bool(table_of_verdicts().stale())


@cache
def _schedules() -> dict[tuple[Property, Profile], list[MinimalCounterexample]]:
    found: dict[tuple[Property, Profile], list[MinimalCounterexample]] = {}
    for one in read_counterexamples(table_file().with_name("schedules.toml"))[0]:
        for profile in one.profiles:
            found.setdefault((one.clause, profile), []).append(one)
    return found


@cache
def _resembles(profile: Profile, environment: Environment, clause: Property) -> tuple[str, ...]:
    """The defects that the schedules of the smallest sets of these faults show."""
    shown = dict[str, None]()
    for one in _schedules().get((clause, profile), ()):
        if one.environment.is_within(environment):
            constants = one.world(profile).constants
            shown |= dict.fromkeys(resembled(TRANSACTIONAL_MESSAGES, constants, clause, one.path(profile)))
    return tuple(shown)


def _with(known: ProfileVerdict, found: ProfileVerdict, is_decided: bool) -> ProfileVerdict:
    """The verdict of the table with fewer faults, and of a search with all: what neither breaks holds if one ended."""
    if found.is_violated or not is_decided or known.verdict == Verdict.UNKNOWN.value:
        return found if found.is_violated else ProfileVerdict(Verdict.UNKNOWN.value)
    return known


def _side(row: Row, cannot_occur: Container[Property]) -> ProfileVerdict:
    if isinstance(row, Violated):
        return ProfileVerdict(row.verdict.value, row.depth, row.world.instance, row.resembles)
    return ProfileVerdict(CANNOT_OCCUR if row.clause in cannot_occur else row.verdict.value)
