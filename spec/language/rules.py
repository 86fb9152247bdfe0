"""What an action and a property are made of.

An action is one function `f(s, c, *parameters)`: conjuncts of its guard first, one rule each, then the effect.
`require` is a rule of RocketMQ; `assume` is what an environment without faults takes for granted; `within` keeps the
instance finite. Nothing is written before the last conjunct.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise, product
from types import ModuleType
from typing import Any, TypeVar

from spec.language.fields import SpecificationError

REQUIRE, ASSUME, WITHIN = "require", "assume", "within"

F = TypeVar("F", bound=Callable[..., Any])


class Refused(Exception):
    """The guard of an action is false: `Refused(kind, rule)` names the first conjunct that is."""

    __slots__ = ()  # raised for most steps of every state

    @property
    def kind(self) -> str:
        """`require`, `assume` or `within`; a search may have kinds of its own."""
        return str(self.args[0])

    @property
    def rule(self) -> str:
        """The conjunct, in words."""
        return str(self.args[1])

    def __str__(self) -> str:
        return f"{self.kind}: {self.rule}"


def require(condition: bool, rule: str) -> None:
    """A conjunct of the guard: a rule of RocketMQ, in words."""
    if not condition:
        raise Refused(REQUIRE, rule)


def assume(condition: bool, rule: str) -> None:
    """A conjunct of the guard that only the environment gives: it falls with a fault switch."""
    if not condition:
        raise Refused(ASSUME, rule)


def within(condition: bool, rule: str) -> None:
    """A conjunct of the guard that keeps the instance finite; RocketMQ knows nothing of it."""
    if not condition:
        raise Refused(WITHIN, rule)


@dataclass(frozen=True, slots=True)
class Choices:
    """The values that a parameter may take, as an instance constant gives them.

    Attributes
    ----------
    constant : str
        A number, or a list when `listed`.
    listed : bool
        Whether the constant lists the values; otherwise they are the numbers from 0 on.
    is_included : bool
        Whether the constant itself is the last of the numbers, rather than the one before it.
    """

    constant: str
    listed: bool
    is_included: bool = False

    def values(self, constants: object) -> tuple[int, ...]:
        """What the parameter may be in this instance, in the order in which it is tried."""
        given = getattr(constants, self.constant)
        return tuple(given) if self.listed else tuple(range(given + self.is_included))


def each(size: str) -> Choices:
    """Every place of an array whose length is the instance constant `size`."""
    return Choices(size, listed=False)


def upto(most: str) -> Choices:
    """Every number from 0 to the instance constant `most`, which is one of them."""
    return Choices(most, listed=False, is_included=True)


def among(listed: str) -> Choices:
    """Every value that the instance constant `listed` lists."""
    return Choices(listed, listed=True)


@dataclass(frozen=True, slots=True, eq=False)
class Action:
    """A declared action.

    Attributes
    ----------
    parameters : mapping
        The choices of the function's parameters, in order.
    event : str
        What it looks like in a trace.
    place : int
        Where it stands among the actions of its machine, which are tried in ascending order.
    shows : mapping
        Field of the event → function of the state after the action and of its first parameter, if it has one.
    """

    function: Callable[..., None]
    parameters: Mapping[str, Choices]
    event: str = ""
    place: int = 0
    shows: Mapping[str, Callable[..., int]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.__name__

    @property
    def chapter(self) -> str:
        """The name of the file that declares it."""
        return self.function.__module__.rpartition(".")[2]


@dataclass(frozen=True, slots=True, eq=False)
class Property:
    """A declared property of states.

    Attributes
    ----------
    identifier : str
        `S1`, `S2` …: the catalogue's id of the guarantee.
    clause : str
        The cause that this function singles out; together the clauses make the property.
    function : callable
        True in every state (`always`), or in some reachable state (`sometimes`), for every (some) choice of parameters.
    resembles : tuple of str
        Ids of the known defects that a violation looks like.
    needs : tuple of str
        What each violation takes; all of them together. Each is a name, or several of which one will do (`crash or
        power_loss`): a fault, a switch that is on or off (`+batches_ops`, `-keeps_discarded`), or what an instance has
        (`immunity`).
    """

    identifier: str
    clause: str
    function: Callable[..., bool]
    parameters: Mapping[str, Choices]
    resembles: tuple[str, ...] = field(default=())
    needs: tuple[str, ...] = field(default=())

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.__name__

    def arguments(self, constants: object) -> tuple[tuple[int, ...], ...]:
        """Every choice of its parameters in this instance, in order; one without any, if it has none."""
        return _every_choice(*[choices.values(constants) for choices in self.parameters.values()])

    @property
    def sentence(self) -> str:
        """The first sentence of its docstring."""
        return (self.function.__doc__ or self.name).strip().split("\n\n")[0].replace("\n    ", " ")


@lru_cache(maxsize=256)
def _every_choice(*values: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(product(*values))


_ACTIONS: dict[Callable[..., Any], Action] = {}
_ALWAYS: dict[Callable[..., Any], Property] = {}
_SOMETIMES: dict[Callable[..., Any], Property] = {}


def action(
    event: str = "", *, place: int = 0, shows: Mapping[str, Callable[..., int]] | None = None, **parameters: Choices
) -> Callable[[F], F]:
    """Declare a function to be an action: what it looks like in a trace (`spec.events`), and when it is tried."""

    def declare(function: F) -> F:
        _ACTIONS[function] = Action(function, parameters, event, place, shows or {})
        return function

    return declare


def always(
    identifier: str, *, clause: str, resembles: tuple[str, ...] = (), needs: tuple[str, ...] = (), **parameters: Choices
) -> Callable[[F], F]:
    """Declare a function to be a clause of the property `identifier`: true in every reachable state."""

    def declare(function: F) -> F:
        _ALWAYS[function] = Property(identifier, clause, function, parameters, resembles, needs)
        return function

    return declare


def sometimes(identifier: str, **parameters: Choices) -> Callable[[F], F]:
    """Declare a function to be a witness: a reachable state where it is true shows that the property says something."""

    def declare(function: F) -> F:
        _SOMETIMES[function] = Property(identifier, "witness", function, parameters)
        return function

    return declare


def declared_action(function: Callable[..., Any]) -> Action:
    """The declaration of an action."""
    return _declared(_ACTIONS, function, "an action")


def declared_always(function: Callable[..., Any]) -> Property:
    """The declaration of a clause."""
    return _declared(_ALWAYS, function, "a property")


def declared_sometimes(function: Callable[..., Any]) -> Property:
    """The declaration of a witness."""
    return _declared(_SOMETIMES, function, "a witness")


def actions_of(*chapters: ModuleType) -> tuple[Action, ...]:
    """What these modules declare, in the order in which it is tried.

    Raises
    ------
    SpecificationError
        When two have the same place.
    """
    found = sorted(_of(_ACTIONS, chapters), key=lambda one: one.place)
    for one, following in pairwise(found):
        if one.place == following.place:
            msg = f"{one.name} and {following.name} both have place {one.place}: give one of them a place of its own"
            raise SpecificationError(msg)
    return tuple(found)


def clauses_of(*properties: ModuleType) -> tuple[Property, ...]:
    """The clauses that these modules declare, in their order."""
    return _of(_ALWAYS, properties)


def witnesses_of(*properties: ModuleType) -> tuple[Property, ...]:
    """The witnesses that these modules declare, in their order."""
    return _of(_SOMETIMES, properties)


D = TypeVar("D")


def _of(declarations: Mapping[Callable[..., Any], D], modules: Sequence[ModuleType]) -> tuple[D, ...]:
    own = (f for module in modules for f in vars(module).values() if getattr(f, "__module__", "") == module.__name__)
    return tuple(declarations[function] for function in own if function in declarations)


def _declared(declarations: Mapping[Callable[..., Any], D], function: Callable[..., Any], what: str) -> D:
    if function not in declarations:
        msg = f"{function.__name__} is not declared as {what}"
        raise SpecificationError(msg)
    return declarations[function]
