"""Comparisons of instants in the rules, read off the specification's terms.

The machine is lowered for the switches and faults that are on, with times of which each is a power of a large base, so
that a number in a comparison says which times it adds up. Each outcome of a comparison that a run may rest on bounds
the distance of two instants from below: `later - earlier >= times`, or a tick more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from model_check.broker_conf.assumed_times import with_assumed_times
from model_check.errors import EvaluationError
from model_check.front_end.lower import Lowering
from model_check.front_end.possible_steps import occasions_of, possible_steps
from model_check.front_end.terms import Apply, If, Int, Let, LocalTerm, Read, Tick, Write, statements_of
from model_check.instances import load_instance
from spec.constants import FAULTS, SWITCHES, Constants
from spec.language import NONE, Kind, Machine
from spec.language.fields import Field
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.front_end.terms import Expression, LoweredAction, Path, Statement

OWN_IMMUNITY = "immunity"
"""The time that a message asks for; each of the configuration's stands in its place."""

_BASE = 10_000
_TIMES = (
    "timeout",
    "check_interval",
    "op_batch_interval",
    "round_limit",
    "checks_time",
    "reserved_time",
    "local_limit",
)
_IMMUNITY = ("transaction", "immunity")
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}

Times = tuple[tuple[str, int], ...]
"""Constants of the instance, each with its factor."""


@dataclass(frozen=True, slots=True, order=True)
class InstantBound:
    """`later - earlier >= times + strict`: what an outcome of a comparison says of two instants."""

    later: str
    earlier: str
    """Both are fields of the state, as `half.born_at`, or `now`, the clock; empty where a rule compares times alone."""
    times: Times
    """With factors below zero where the comparison bounds a distance from above."""
    strict: int
    """1 where the distance is longer than that, by a tick at least."""

    @property
    def references(self) -> tuple[str, ...]:
        """The fields from which time is taken."""
        return tuple(name for name in (self.later, self.earlier) if name not in ("now", ""))

    @property
    def is_upper(self) -> bool:
        """It says that an instant is not long after another."""
        return any(factor < 0 for _, factor in self.times)

    def __str__(self) -> str:
        times = " + ".join(name if factor == 1 else f"{factor} * {name}" for name, factor in self.times) or "0"
        return f"{self.later or 0} - {self.earlier or 0} {'>' if self.strict else '>='} {times}"


@cache
def bounds_of(
    on: frozenset[str],
    *,
    may_be_over_age: bool = False,
    is_limited: bool = False,
    machine: Machine = TRANSACTIONAL_MESSAGES,
) -> frozenset[InstantBound]:
    """Every bound that a run of the machine may rest on.

    A guard must be true, so that only this outcome of it counts; of a test in an effect or a property both do. What no
    possible step does, and instants that none sets, bound nothing.

    `on` names the switches and faults that are on; halves may grow older than `fileReservedTime` where they
    `may_be_over_age`, and local transactions have a limit with `is_limited`. Raises `EvaluationError` when a rule
    compares something else with times than the distance of two instants, or with something else than times.
    """
    tiny = load_instance("tiny")
    sizes = {name: getattr(tiny, name) for name in tiny.__dataclass_fields__}
    times = {name: _BASE**power for power, name in enumerate(_TIMES, start=1)}
    local_limit, checks_time = times.pop("local_limit"), times.pop("checks_time")
    if not may_be_over_age:
        times["reserved_time"] = NONE
    given: dict[str, Any] = {
        "immunities": (NONE, _BASE ** (len(_TIMES) + 1)),
        "skews": (0,),
        "first_checks": (0,),
        "clock_steps": 0,
    }
    given |= {name: name in on for name in (*SWITCHES, *FAULTS)}
    constants = Constants(**sizes | times | given)
    limit = local_limit if is_limited else NONE
    timed = with_assumed_times(
        replace(machine, switches=()), constants, local_limit=limit, checks_time=checks_time, stands_for_more=1
    )
    return _Reader(*timed).bounds()


class _Distance(NamedTuple):
    """A sum of instants with factors, and a number."""

    instants: tuple[tuple[str, int], ...]
    number: int


class _Reader:
    def __init__(self, machine: Machine, constants: Constants) -> None:
        self.machine = machine
        self.constants = constants
        self.instants = frozenset(path for path, kind in _kinds(machine) if kind in (Kind.INSTANT, Kind.CLOCK))
        self.locals: dict[str, Expression] = {}
        self.set_by_steps: set[str] = set()
        self.found: set[InstantBound] = set()

    def bounds(self) -> frozenset[InstantBound]:
        """The bounds in the terms of all steps that are possible, and of the properties."""
        lowering = Lowering(self.machine, self.constants)
        actions = [lowering.action(step) for step in self.machine.steps(self.constants)]
        forgetting = lowering.forgetting()
        slots = self.machine.initial(self.constants).memory.slots
        for number in possible_steps(occasions_of(actions, forgetting, slots), {}):
            self._action(actions[number])
        self._statements(forgetting)
        for claim in self.machine.clauses:
            for arguments in claim.arguments(self.constants):
                self._term(lowering.claim(claim, arguments), (True, False), 0)
        return frozenset(bound for bound in self.found if self.set_by_steps.issuperset(bound.references))

    def _action(self, action: LoweredAction) -> None:
        self.locals = {s.name: s.value for s in statements_of(action.effect) if isinstance(s, Let)}
        ends_later = int(Tick() in action.effect)
        for conjunct in action.guard:
            self._term(conjunct.condition, (True,), ends_later)
        self._statements(action.effect)

    def _statements(self, block: Iterable[Statement]) -> None:
        for statement in statements_of(block):
            match statement:
                case If(test, _, _):
                    self._term(test, (True, False), 0)
                case Write(path, _, value):
                    self._term(value, (True, False), 0)
                    if path in self.instants and not isinstance(value, Int):
                        self.set_by_steps.add(".".join(path))
                case Let(_, value):
                    self._term(value, (True, False), 0)

    def _term(self, term: Expression, outcomes: Sequence[bool], ends_later: int) -> None:
        """Note the comparisons in a term of which these outcomes count."""
        match term:
            case Apply("not", (inner,)):
                self._term(inner, [not outcome for outcome in outcomes], ends_later)
            case Apply("and" | "or", several):
                for one in several:
                    self._term(one, outcomes, ends_later)
            case Apply("if", (test, then, otherwise)):
                self._term(test, (True, False), ends_later)
                self._term(then, outcomes, ends_later)
                self._term(otherwise, outcomes, ends_later)
            case Apply(operator, (left, right)) if operator in _OPPOSITE:
                for before, behind in product(self._sums(left), self._sums(right)):
                    self._compare(operator, _added(before, behind, -1), outcomes, ends_later)
                self._term(left, (True, False), ends_later)
                self._term(right, (True, False), ends_later)
            case Apply(_, several):
                for one in several:
                    self._term(one, (True, False), ends_later)

    def _sums(self, term: Expression) -> Iterator[_Distance]:
        """The values of a side of a comparison, as far as it is a sum of instants and times."""
        match term:
            case Int(value):
                yield _Distance((), value)
            case LocalTerm(name) if name in self.locals:
                yield from self._sums(self.locals[name])
            case Read(path, _) if path in self.instants:
                yield _Distance(((".".join(path), 1),), 0)
            case Read(path, _) if path == _IMMUNITY:
                yield _Distance((), _BASE ** (len(_TIMES) + 1))
            case Apply("if", (_, then, otherwise)):
                yield from self._sums(then)
                yield from self._sums(otherwise)
            case Apply("+" | "-" as operator, (left, right)):
                for before, behind in product(self._sums(left), self._sums(right)):
                    yield _added(before, behind, -1 if operator == "-" else 1)

    def _compare(self, operator: str, distance: _Distance, outcomes: Iterable[bool], ends_later: int) -> None:
        """Note what the outcomes of `distance operator 0` say."""
        instants = dict(distance.instants)
        if instants and sorted(instants.values()) != [-1, 1]:
            msg = f"a rule compares something else than the distance of two instants: {sorted(instants)}"
            raise EvaluationError(msg)
        later = next((name for name, factor in instants.items() if factor == 1), "")
        earlier = next((name for name, factor in instants.items() if factor == -1), "")
        for outcome in outcomes:
            relation = operator if outcome else _OPPOSITE[operator]
            if relation in (">=", ">", "==", "!="):
                self._note(later, earlier, -distance.number, int(relation in (">", "!=")), ends_later)
            if relation in ("<=", "<", "==", "!="):
                self._note(earlier, later, distance.number, int(relation in ("<", "!=")), ends_later)

    def _note(self, later: str, earlier: str, number: int, strict: int, ends_later: int) -> None:
        """A stretch of time ends a tick later than the last instant at which its guard was asked."""
        times, rest = _times_in(number)
        if not later and len(times) <= 1:
            return  # an immunity compared with a number is only asked whether it is there
        least = rest + strict - (ends_later if earlier == "now" else 0)
        if least not in (0, 1):
            msg = f"a rule compares {later} - {earlier} with {least}, which is no time of a configuration"
            raise EvaluationError(msg)
        self.found.add(InstantBound(later, earlier, times, least))


def _times_in(number: int) -> tuple[Times, int]:
    """The times that a number adds up, and what is left."""
    digits, rest = list[int](), number
    for _ in range(len(_TIMES) + 2):
        digits.append((rest + _BASE // 2) % _BASE - _BASE // 2)
        rest = (rest - digits[-1]) // _BASE
    names = (*_TIMES, OWN_IMMUNITY)
    return tuple((name, digit) for name, digit in zip(names, digits[1:], strict=True) if digit), digits[0]


def _kinds(machine: Machine) -> Iterator[tuple[Path, Kind]]:
    for name, member in machine.state.members.items():
        if isinstance(member, Field):
            yield (name,), member.kind
        else:
            yield from (((name, field), declared.kind) for field, declared in member.kind.fields.items())


def _added(one: _Distance, other: _Distance, sign: int) -> _Distance:
    instants = dict(one.instants)
    for name, factor in other.instants:
        instants[name] = instants.get(name, 0) + sign * factor
    return _Distance(tuple((n, f) for n, f in instants.items() if f), one.number + sign * other.number)
