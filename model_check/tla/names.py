"""Names of the module: operators in CamelCase, constants in capitals, variables and fields as in the source."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORDS = """
    ASSUME ASSUMPTION AXIOM BOOLEAN CASE CHOOSE CONSTANT CONSTANTS DOMAIN ELSE ENABLED EXCEPT EXTENDS FALSE IF IN
    INSTANCE LAMBDA LET LOCAL MODULE OTHER RECURSIVE STRING SUBSET THEN THEOREM TRUE UNCHANGED UNION VARIABLE VARIABLES
    WITH SF_ WF_ Nat Int Cardinality IsFiniteSet
"""
RESERVED = frozenset(_WORDS.split())
"""Words of TLA+, and what the modules that are extended define."""


def camel_case(name: str) -> str:
    """`pull_more_ops` as `PullMoreOps`."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


class Names:
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
