"""The names of a machine's functions, constants and classes in its module, and which of them the module needs.

Operators are in CamelCase, constants in capitals, variables and fields as in the source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from model_check.errors import NotInTheLanguage
from model_check.front_end.open_terms import Named
from model_check.front_end.source import declared_fields
from model_check.tla.constants import Derived, given_constants
from spec.language import NONE, Action, Kind, Machine, Property, Record
from spec.language.fields import RecordDeclaration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from enum import IntEnum


_WORDS = """
    ASSUME ASSUMPTION AXIOM BOOLEAN CASE CHOOSE CONSTANT CONSTANTS DOMAIN ELSE ENABLED EXCEPT EXTENDS FALSE IF IN
    INSTANCE LAMBDA LET LOCAL MODULE OTHER RECURSIVE STRING SUBSET THEN THEOREM TRUE UNCHANGED UNION VARIABLE VARIABLES
    WITH SF_ WF_ Nat Int Cardinality IsFiniteSet
"""
RESERVED = frozenset(_WORDS.split())
"""Words of TLA+, and what the modules that are extended define."""

NOTES: Final[dict[str, tuple[str, ...]]] = {
    "Max": (r"Max(numbers) == CHOOSE n \in numbers : \A m \in numbers : m <= n",),
    "IsTrue": (
        r"\* One truth value: TLC takes a disjunction that stands alone in an action for several ways to act.",
        "IsTrue(claim) == claim = TRUE",
    ),
    "Now": (
        r"\* The clock stands still, and what was written ages. No guard looks at an age above the cut of its field,",
        r"\* so that older instants are one. This makes the number of states finite.",
        "Now == {horizon}",
    ),
    "Floor": (
        r"\* Where the clock may step back, instants are told apart for one tick more.",
        "Floor(cut, slack) == IF slack THEN cut + 1 ELSE cut",
    ),
    "Instants": ("Instants(cut) == {horizon} - cut..{horizon}",),
    "InstantsUpTo": ("InstantsUpTo(cut, ahead) == {horizon} - cut..{horizon} + ahead",),
    "LongAgo": ("LongAgo(cut) == {horizon} - cut",),
    "NotBefore": ("NotBefore(instant, cut) == IF instant < {horizon} - cut THEN {horizon} - cut ELSE instant",),
    "MovedUp": (
        r"\* What is left of an array without a place: what is behind it moves up, and the last place is as at first.",
        r"MovedUp(array, place, first) ==",
        r"    [i \in DOMAIN array |->",
        r"        IF i < place THEN array[i] ELSE IF i + 1 \in DOMAIN array THEN array[i + 1] ELSE first[i]]",
    ),
    "Follow": (
        r"\* What refers to a place when one is taken out; a reference to that one is gone.",
        "Follow(reference, place, gone) ==",
        "    IF reference > place THEN reference - 1 ELSE IF reference = place THEN gone ELSE reference",
    ),
    "FollowPosition": (
        r"\* A position on the place that is taken out is now one on the next.",
        "FollowPosition(position, place) == IF position > place THEN position - 1 ELSE position",
    ),
    "FollowMembers": (r"FollowMembers(members, place) == {IF m > place THEN m - 1 ELSE m : m \in members \ {place}}",),
    "Older": ("Older(instant, cut) == IF instant > {horizon} - cut THEN instant - 1 ELSE instant",),
}
"""Definitions that a module has when it uses them, in this order."""


def camel_case(name: str) -> str:
    """`pull_more_ops` as `PullMoreOps`."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


class TakenNames:
    """Names that are taken, and the next free one like a given one."""

    def __init__(self) -> None:
        self._taken = set(RESERVED)

    @property
    def all(self) -> frozenset[str]:
        """All names that are taken."""
        return frozenset(self._taken)

    def give(self, wanted: str) -> str:
        """The wanted name, or that name with a number behind it, which is taken from now on."""
        name = free_name(wanted, self._taken)
        self._taken.add(name)
        return name


def free_name(wanted: str, *taken: Iterable[str]) -> str:
    """The wanted name, with a number behind it where it is among those that are taken."""
    used = set().union(*taken)
    name, number = wanted, 1
    while name in used:
        number += 1
        name = f"{wanted}_{number}"
    return name


class LocalNames:
    """The names within one definition.

    A name that a LET gives is known in the whole definition, so that nothing else there may have it; a bound variable
    is known in its own expression only, and two that stand side by side may have the same name.
    """

    def __init__(self, module: frozenset[str]) -> None:
        self._module = module
        self._whole: set[str] = set()
        self._active: list[str] = []
        self._seen: set[str] = set()

    def give(self, wanted: str) -> str:
        """A name for the whole definition."""
        name = free_name(wanted, self._module, self._whole, self._seen)
        self._whole.add(name)
        self._seen.add(name)
        return name

    def enter(self, wanted: str) -> str:
        """A name for a bound variable, until `leave`."""
        name = free_name(wanted, self._module, self._whole, self._active)
        self._active.append(name)
        self._seen.add(name)
        return name

    def seen(self) -> frozenset[str]:
        """All names that were given so far."""
        return frozenset(self._seen)

    def forget_since(self, seen: frozenset[str]) -> None:
        """Names that were entered and left since may be given again: what they were for is not written."""
        self._seen = set(seen)

    def leave(self) -> None:
        """The expression of the last bound variable ends."""
        self._active.pop()


class Vocabulary:
    """Gives names; what was asked for is what the module defines."""

    def __init__(
        self, machine: Machine, constants: object, functions: Iterable[Callable[..., Any]], reserved: Iterable[str] = ()
    ) -> None:
        self._constants = constants
        self._given = given_constants(constants)
        self._derive = Derived(constants, self.constant, self.note)
        self.names = TakenNames()
        for note in (*NOTES, "Init", "Next", "Spec", "TypeOK", "vars", *reserved):
            self.names.give(note)
        if any(self.names.give(name) != name for name in machine.state.members):
            msg = f"a field of {machine.state.__name__} has a name that TLA+ keeps for itself"
            raise NotInTheLanguage(msg)
        known = [*self._given, *(n for n, v in vars_of(type(constants)) if isinstance(v, property))]
        self._constant_names = {name: self.names.give(name.upper()) for name in known}
        self._negated = {
            name: self.names.give(f"{name.upper()}_NEGATED")
            for name, value in self._given.items()
            if isinstance(value, tuple)
        }
        self._lengths = frozenset(_lengths(machine))
        self._sets = {
            name: self.names.give(camel_case(name)) for name in (*sorted(self._lengths), *sorted(self._negated))
        }
        kinds: tuple[type, ...] = (*enumerations(machine), *records(machine))
        self._classes = {kind: self.names.give(kind.__name__) for kind in kinds}
        self._operators = {f: self.names.give(camel_case(f.__name__)) for f in functions}
        self._removals = {name: self.names.give(f"RemoveFrom{camel_case(name)}") for name in sorted(self._lengths)}
        self._named: dict[Named, str] = {}
        # names that the configuration gives → those in the source, and values
        self.constants_used: dict[str, tuple[str, object]] = {}
        self.derived: dict[str, str] = {}  # names of derived constants → what they are, each behind those that it uses
        self.index_sets: dict[str, str] = {}  # names of sets of places → the constant that is their number
        # names of sets of choices → the constants that list them: those from 0 on, and the others without their sign,
        # since a configuration of TLC knows no negative numbers
        self.listed: dict[str, tuple[str, str]] = {}
        self.numbers: dict[str, int] = {}  # names of numbers → the numbers
        self.removals: dict[str, str] = {}  # lengths of arrays from which something is removed → definitions
        self.notes: set[str] = set()  # see `NOTES`
        self.needed: dict[Callable[..., Any], None] = {}  # functions used since it was last emptied

    def operator(self, function: Callable[..., Any]) -> str:
        """The definition of a function."""
        self.needed[function] = None
        return self._operators[function]

    def constant(self, name: str) -> str:
        """A constant of the instance, or a switch; the set of what it lists when it is a list."""
        own = self._constant_names[name]
        if name in self._negated:
            listed, negated = self._given[name], self._negated[name]
            signed = [value for value in listed if isinstance(value, int) and value < 0]
            self.constants_used[own] = (name, tuple(value for value in listed if value not in signed))
            self.constants_used[negated] = (name, tuple(-value for value in signed))
            self.listed[self._sets[name]] = (own, negated)
            return self._sets[name]
        if name in self._given:
            self.constants_used[own] = (name, self._given[name])
            if self._given[name] == NONE:
                self.named(Named("NONE", NONE))
        elif own not in self.derived:
            self.derived[own] = self._derive.expression(name)
        return own

    def named(self, named: Named) -> str:
        """A number with a name."""
        if named not in self._named:
            self._named[named] = self.names.give(named.name)
            self.numbers[self._named[named]] = named.value
        return self._named[named]

    def index_set(self, constant: str) -> str | None:
        """The set of the places of an array of that length, where it has a name."""
        if constant not in self._lengths:
            return None
        self.index_sets[self._sets[constant]] = self.constant(constant)
        return self._sets[constant]

    def removal(self, array: str) -> str:
        """The definition that takes a place out of all arrays of a length."""
        self.removals[array] = self._removals[array]
        return self._removals[array]

    def kind(self, kind: type[IntEnum] | type[Record]) -> str:
        """The set of the members of an enumeration, or of the records of a class."""
        return self._classes[kind]

    def note(self, operator: str) -> str:
        """One of the definitions of `NOTES`, or a number of the language, by its name."""
        if operator == "NONE":
            return self.named(Named("NONE", NONE))
        if operator in NOTES:
            self.notes.add(operator)
            if any("{horizon}" in line for line in NOTES[operator]):
                self.constant("horizon")
        return operator


def vars_of(kind: type) -> list[tuple[str, object]]:
    """The attributes of a class and of those that it inherits from, the oldest first."""
    found: dict[str, object] = {}
    for base in reversed(kind.__mro__[:-1]):
        found.update(vars(base))
    return list(found.items())


def _lengths(machine: Machine) -> Iterable[str]:
    declared: list[Action | Property] = [*machine.actions, *machine.clauses, *machine.witnesses]
    for each in declared:
        given = each.parameters.values()
        yield from (choices.constant for choices in given if not choices.listed and not choices.is_included)
    for member in machine.state.members.values():
        if member.length is not None:
            yield member.length
        for field in member.kind.fields.values() if isinstance(member, RecordDeclaration) else (member,):
            if field.length is not None:
                yield field.length
            is_place = field.kind is Kind.BITS or field.high.offset < 0
            if is_place and field.high.constant is not None:
                yield field.high.constant


def enumerations(machine: Machine) -> dict[type[IntEnum], None]:
    """The enumerations of the state's fields, each once, in the order of declaration."""
    return dict.fromkeys(field.choices for _, field, _ in declared_fields(machine.state) if field.choices is not None)


def records(machine: Machine) -> dict[type[Record], None]:
    """The classes of the state's records, likewise."""
    members = machine.state.members.values()
    return dict.fromkeys(member.kind for member in members if isinstance(member, RecordDeclaration))
