"""What must happen in the end, and what is promised to go on: properties of endless runs, and fairness.

A run that ends is one in which nothing happens any more. Fairness speaks of some actions taken together: weak fairness,
that they do not wait for ever while one of them is possible all the time; strong fairness, that they do not while one
of them is possible again and again. Lamport, Specifying Systems, chapter 8.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

from spec.language.rules import Action, Choices, Property

F = TypeVar("F", bound=Callable[..., bool])


@dataclass(frozen=True, slots=True, eq=False)
class Fairness:
    """A promise that one of some actions is taken again and again, as long as that is possible.

    Attributes
    ----------
    is_strong : bool
        Whether it is enough that one of them is possible again and again, and not all the time.
    sentence : str
        Who promises what.
    """

    name: str
    actions: tuple[Action, ...]
    is_strong: bool
    sentence: str


@dataclass(frozen=True, slots=True, eq=False)
class Response:
    """Whenever `given` is true of a state, `wanted` is true of it or of a later one; of every fair run.

    Attributes
    ----------
    identifier, clause : str
        As in `Property`.
    given : callable or None
        None where `wanted` is to come again and again, whatever happens.
    under : tuple of str
        The names of the promises that are needed.
    once : tuple of str
        Events that at some time happen no more: only for such runs something is claimed.
    """

    identifier: str
    clause: str
    given: Callable[..., bool] | None
    wanted: Callable[..., bool]
    parameters: Mapping[str, Choices]
    under: tuple[str, ...]
    once: tuple[str, ...]
    resembles: tuple[str, ...]

    @property
    def name(self) -> str:
        """Such as `P1.settled`."""
        return f"{self.identifier}.{self.clause}"

    @property
    def sentence(self) -> str:
        """The first sentence of the docstring of `wanted`."""
        return self.wanting.sentence

    @property
    def wanting(self) -> Property:
        """`wanted` as a property of states."""
        return Property(self.identifier, self.clause, self.wanted, self.parameters)

    @property
    def giving(self) -> Property | None:
        """`given` as a property of states."""
        return None if self.given is None else Property(self.identifier, self.clause, self.given, self.parameters)


_RESPONSES: dict[Callable[..., Any], Response] = {}


def leads_to(
    identifier: str,
    *,
    clause: str,
    given: Callable[..., bool],
    under: tuple[str, ...],
    once: tuple[str, ...] = (),
    resembles: tuple[str, ...] = (),
    **parameters: Choices,
) -> Callable[[F], F]:
    """Declare a function to be what follows whenever `given` is true, at once or later; `once` as in `Response`."""

    def declare(function: F) -> F:
        _RESPONSES[function] = Response(identifier, clause, given, function, parameters, under, once, resembles)
        return function

    return declare


def infinitely_often(
    identifier: str,
    *,
    clause: str,
    under: tuple[str, ...],
    once: tuple[str, ...] = (),
    resembles: tuple[str, ...] = (),
    **parameters: Choices,
) -> Callable[[F], F]:
    """Declare a function to be true again and again, in runs in which the events `once` come to an end."""

    def declare(function: F) -> F:
        _RESPONSES[function] = Response(identifier, clause, None, function, parameters, under, once, resembles)
        return function

    return declare


def responses_of(*properties: ModuleType) -> tuple[Response, ...]:
    """The responses that these modules declare, in their order."""
    own = (f for module in properties for f in vars(module).values() if getattr(f, "__module__", "") == module.__name__)
    return tuple(_RESPONSES[function] for function in own if function in _RESPONSES)
