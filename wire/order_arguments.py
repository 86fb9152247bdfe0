"""What an order takes: the names, types and ranges of its arguments, and the words for what is expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from files.content import parse_json
from wire.errors import BadOrderError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_WORDS: Final[dict[type, str]] = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}

_MOST_NAMED: Final = 12
"""So many choices are named where one was expected."""


@dataclass(frozen=True, slots=True)
class OrderArgument:
    """One argument of an order."""

    kind: type
    """int, float, str or bool."""
    about: str
    choices: tuple[str, ...] = ()
    """The texts that it may be; none for any."""
    least: int | None = None
    most: int | None = None
    default: Any = None
    """What stands for it where it is left out; None for nothing."""
    is_required: bool = False
    may_be_null: bool = False

    @property
    def expected(self) -> str:
        """What a value must be."""
        if len(self.choices) > _MOST_NAMED:
            return f"{self.about}, such as {self.default}"
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.least is not None and self.most is not None:
            return f"{self.least} to {self.most}: {self.about}"
        return f"{_WORDS[self.kind]}: {self.about}"

    def takes(self, value: object) -> bool:
        """Whether it may have a value."""
        if value is None:
            return self.may_be_null
        kinds = (int, float) if self.kind is float else (self.kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and self.kind is not bool):
            return False
        if self.choices and value not in self.choices:
            return False
        is_low = self.least is not None and isinstance(value, int | float) and value < self.least
        return not is_low and not (self.most is not None and isinstance(value, int | float) and value > self.most)

    def of_text(self, text: str) -> Any:
        """The value that a word of a command line or of a query stands for; what is none stays a text."""
        if self.kind is str:
            return text
        try:
            return parse_json(text)
        except ValueError:
            return text


def checked(order: str, takes: Mapping[str, OrderArgument], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of an order with the defaults of those that are left out.

    Raises
    ------
    BadOrderError
        One is missing, is not what is expected, or is none of them.

    Examples
    --------
    >>> checked("wait", {"rounds": OrderArgument(int, "rounds", least=1, default=1)}, {})
    {'rounds': 1}
    """
    for name, value in given.items():
        argument = takes.get(name)
        if argument is None:
            message = f"{order}: {name!r} is nothing that it takes; it takes {', '.join(takes) or 'nothing'}"
            raise BadOrderError(message)
        if not argument.takes(value):
            message = f"{order}: {name} is {value!r}, expected {argument.expected}"
            raise BadOrderError(message)
    for name, argument in takes.items():
        if argument.is_required and name not in given:
            message = f"{order}: {name} is missing, expected {argument.expected}"
            raise BadOrderError(message)
    return {name: each.default for name, each in takes.items() if each.default is not None} | dict(given)


def of_texts(takes: Mapping[str, OrderArgument], given: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The values of arguments that are texts.

    Examples
    --------
    >>> of_texts({"key": OrderArgument(str, ""), "ms": OrderArgument(int, "")}, [("key", "7"), ("ms", "7")])
    {'key': '7', 'ms': 7}
    """
    return {name: takes[name].of_text(text) if name in takes else text for name, text in given}
