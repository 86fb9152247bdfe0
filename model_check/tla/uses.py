"""Which fields a function of the specification reads and writes, the functions that it calls included."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from model_check.front_end.open_terms import (
    Call,
    OpenApply,
    OpenLetIn,
    OpenRead,
    OpenRemove,
    OpenWrite,
    Over,
    Run,
    Statement,
    Term,
)
from model_check.front_end.source import declared_fields
from model_check.front_end.terms import Path, Tick, parts
from spec.language import Kind, Machine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from model_check.front_end.open_functions import OpenReader
    from spec.language.fields import Field


class Uses:
    """Answers for the functions that a reader knows."""

    def __init__(self, reader: OpenReader) -> None:
        self._reader = reader
        self._fields = tuple(declared_fields(reader.machine.state))
        self._instants = frozenset(path for path, field, _ in self._fields if field.kind is Kind.INSTANT)
        self._known: dict[Callable[..., Any], tuple[frozenset[Path], frozenset[Path]]] = {}

    def reads(self, function: Callable[..., Any]) -> frozenset[Path]:
        """The fields that a function reads."""
        return self._of(function)[0]

    def writes(self, function: Callable[..., Any]) -> frozenset[Path]:
        """The fields that a function writes."""
        return self._of(function)[1]

    def of(self, terms: Iterable[Statement | Term | None]) -> tuple[frozenset[Path], frozenset[Path]]:
        """The fields that statements and terms read, and those that they write."""
        reads: set[Path] = set()
        writes: set[Path] = set()
        for part in parts(tuple(terms)):
            match part:
                case OpenRead(path=path):
                    reads.add(path)
                case OpenWrite(path=path):
                    writes.add(path)
                case Tick():
                    reads |= self._instants
                    writes |= self._instants
                case OpenRemove(array=array):
                    moved = {
                        path for path, field, _ in self._fields if is_moved(self._reader.machine, path, field, array)
                    }
                    reads |= moved
                    writes |= moved
                case Call(function=function) | Run(function=function):
                    reads |= self._of(function)[0]
                    writes |= self._of(function)[1]
        return frozenset(reads), frozenset(writes)

    def removes(self, statements: Iterable[Statement]) -> bool:
        """Whether statements, or functions that they call, take places out of arrays."""
        return any(
            isinstance(part, OpenRemove)
            or (isinstance(part, Run) and self.removes(self._reader.function(part.function).effect))
            for part in parts(tuple(statements))
        )

    def branches(self, term: object) -> bool:
        """Whether TLC would take a condition for several ways to take a step: a disjunction shows in it."""
        match term:
            case OpenApply("or", _):
                return True
            case OpenApply("and", arguments) | OpenApply("if", (_, *arguments)):
                return any(self.branches(argument) for argument in arguments)
            case Call(function=function):
                return self.branches(self._reader.function(function).value)
            case OpenLetIn(body=body):
                return self.branches(body)
            case Over(fold="all", body=body):
                return self.branches(body)
        return isinstance(term, Over) and term.fold == "any"

    def _of(self, function: Callable[..., Any]) -> tuple[frozenset[Path], frozenset[Path]]:
        if function not in self._known:
            opened = self._reader.function(function)
            self._known[function] = self.of((*opened.guard, *opened.effect, opened.value))
        return self._known[function]


def is_moved(machine: Machine, path: Path, field: Field, array: str) -> bool:
    """Whether a field lies in the arrays of a length, or refers to their places."""
    member = machine.state.members[path[0]]
    return array in (member.length, field.length, field.places)
