"""A clock reading that is not a number yet: comparing two of them asks an oracle, which notes what it has answered.

The actions of the CPython engine run on these as they are. Their guards and effects only ever subtract instants from
each other, and compare the difference with a constant. What was answered constrains a timeline, which has the earliest
instants in milliseconds that satisfy all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast

from model_check.errors import EvaluationError
from spec.language import Bits, Kind, MachineState
from spec.language.fields import Record
from spec.language.memory import Memory, RecordViews


class Oracle(Protocol):
    """Says of a difference whether it is at least zero."""

    def is_at_least_zero(self, terms: dict[int, int], offset: int) -> bool:
        """Whether `sum(factor * instant) + offset >= 0`, where instants are numbered and instant 0 is the start."""


class Moment:
    """`offset` plus a sum of numbered instants, each with a factor."""

    __slots__ = ("offset", "oracle", "terms")

    def __init__(self, oracle: Oracle, terms: dict[int, int], offset: int) -> None:
        self.oracle = oracle
        self.terms = terms
        self.offset = offset

    def __add__(self, other: object) -> Moment:
        return self._plus(other, 1)

    __radd__ = __add__

    def __sub__(self, other: object) -> Moment:
        return self._plus(other, -1)

    def __rsub__(self, other: int) -> Moment:
        return Moment(self.oracle, {i: -factor for i, factor in self.terms.items()}, other - self.offset)

    def __ge__(self, other: object) -> bool:
        return self._plus(other, -1).is_at_least_zero()

    def __lt__(self, other: object) -> bool:
        return not self >= other

    def __le__(self, other: object) -> bool:
        return (-self._plus(other, -1)).is_at_least_zero()

    def __gt__(self, other: object) -> bool:
        return not self <= other

    def __eq__(self, other: object) -> bool:
        return self >= other and self <= other

    def __hash__(self) -> int:
        return hash((tuple(sorted(self.terms.items())), self.offset))

    def __neg__(self) -> Moment:
        return self.__rsub__(0)

    def is_at_least_zero(self) -> bool:
        """What the oracle says; a plain number needs none."""
        return self.oracle.is_at_least_zero(self.terms, self.offset) if self.terms else self.offset >= 0

    def _plus(self, other: object, sign: int) -> Moment:
        if isinstance(other, int):
            return Moment(self.oracle, self.terms, self.offset + sign * other)
        if not isinstance(other, Moment):
            msg = f"an instant and {other!r}"
            raise TypeError(msg)
        terms = dict(self.terms)
        for i, factor in other.terms.items():
            terms[i] = terms.get(i, 0) + sign * factor
            if terms[i] == 0:
                del terms[i]
        return Moment(self.oracle, terms, self.offset + sign * other.offset)


class MomentMemory(Memory):
    """A state's memory that also takes moments where the declaration wants an instant."""

    __slots__ = ()

    def write(self, position: int, value: object) -> None:
        """Change one slot; a moment is stored as it is, and its range is nobody's concern until it is a number."""
        if isinstance(value, Moment) and self.slots[position].kind in (Kind.INSTANT, Kind.CLOCK):
            self.values[position] = cast("int", value)
        else:
            super().write(position, cast("int | Bits", value))


def let_instants_be_moments(state: MachineState) -> None:
    """Replace the memory of a state by one that takes moments; its values stay."""
    memory = MomentMemory(state.memory.arrangement, list(state.memory.values))
    state.memory = memory
    for member in vars(state).values():
        for record in member.values() if isinstance(member, RecordViews) else [member]:
            if isinstance(record, Record):
                record.memory = memory


class DeadEndError(Exception):
    """An answer that was prescribed contradicts earlier ones."""


@dataclass(slots=True)
class Ticks:
    """The oracle of a path in ticks: instant i is tick i, and every answer is written down."""

    answers: list[bool] = field(default_factory=list)

    def is_at_least_zero(self, terms: dict[int, int], offset: int) -> bool:
        """The plain truth."""
        answer = sum(instant * factor for instant, factor in terms.items()) + offset >= 0
        self.answers.append(answer)
        return answer


@dataclass(slots=True)
class Timeline:
    """Instants numbered from 0, which is the start; each constraint says how much one must be later than another.

    `instants` is always the earliest solution: each instant is as early as the constraints allow, all at once (they are
    longest paths from the start).
    """

    instants: list[int] = field(default_factory=lambda: [0])
    _later: list[list[tuple[int, int]]] = field(default_factory=lambda: [[]])
    _added: list[int] = field(default_factory=list)

    def after(self, earlier: int) -> int:
        """A new instant, at least one millisecond after another."""
        self.instants.append(self.instants[earlier] + 1)
        self._later.append([])
        self._later[earlier].append((len(self.instants) - 1, 1))
        self._added.append(earlier)
        return len(self.instants) - 1

    def require(self, later: int, earlier: int, by: int) -> bool:
        """Demand `later - earlier >= by`. False, and nothing changes, when no schedule can meet it."""
        before = list(self.instants)
        self._later[earlier].append((later, by))
        self._added.append(earlier)
        waiting = [earlier]
        while waiting:
            one = waiting.pop()
            for other, least in self._later[one]:
                if self.instants[other] < self.instants[one] + least:
                    if other in (0, earlier):
                        self.instants = before
                        self._later[self._added.pop()].pop()
                        return False
                    self.instants[other] = self.instants[one] + least
                    waiting.append(other)
        return True

    def mark(self) -> tuple[int, list[int]]:
        """A place to go back to."""
        return len(self._added), list(self.instants)

    def back(self, mark: tuple[int, list[int]]) -> None:
        """Drop every constraint and instant since the mark."""
        length, self.instants = mark[0], list(mark[1])
        while len(self._added) > length:
            self._later[self._added.pop()].pop()
        del self._later[len(self.instants) :]


@dataclass(slots=True)
class Milliseconds:
    """The oracle of a path whose instants are still open: each answer becomes a constraint on them."""

    timeline: Timeline
    preferred: Sequence[bool] = ()
    """The answers to give if they contradict nothing: those of the path in ticks."""
    prescribed: list[tuple[bool, bool]] = field(default_factory=list)
    """The first answers, whatever else they would be, each with whether its opposite is still to be tried."""
    answers: list[tuple[bool, bool]] = field(default_factory=list)
    """What was answered, in the same form."""

    def is_at_least_zero(self, terms: dict[int, int], offset: int) -> bool:
        """An answer that contradicts no earlier one; raises `DeadEndError` when there is none."""
        number = len(self.answers)
        if number < len(self.prescribed):
            answer, is_free = self.prescribed[number]
            if not self._demand(answer, terms, offset):
                raise DeadEndError
        else:
            truth = sum(factor * self.timeline.instants[i] for i, factor in terms.items()) + offset >= 0
            answer = self.preferred[number] if number < len(self.preferred) else truth
            is_free = self._demand(answer, terms, offset)
            if not is_free:
                answer = not answer
                if not self._demand(answer, terms, offset):
                    raise DeadEndError
        self.answers.append((answer, is_free))
        return answer

    def begin(self, preferred: Sequence[bool]) -> None:
        """A new step: nothing is answered yet."""
        self.preferred, self.prescribed, self.answers = preferred, [], []

    def turn(self) -> bool:
        """Prescribe the answers so far with the latest one turned that may be; False when all were tried."""
        known = self.answers
        self.answers = []
        while known:
            answer, is_free = known.pop()
            if is_free:
                self.prescribed = [*known, (not answer, False)]
                return True
        return False

    def _demand(self, answer: bool, terms: dict[int, int], offset: int) -> bool:
        """Let the answer hold: `later - earlier >= -offset`, or its contrary."""
        later = [i for i, factor in terms.items() if factor == 1]
        earlier = [i for i, factor in terms.items() if factor == -1]
        if len(later) > 1 or len(earlier) > 1 or len(later) + len(earlier) != len(terms):
            msg = "a guard compares something else than the difference of two instants"
            raise EvaluationError(msg)
        one, other = (later or [0])[0], (earlier or [0])[0]
        return self.timeline.require(one, other, -offset) if answer else self.timeline.require(other, one, offset + 1)
