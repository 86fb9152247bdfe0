"""What was written for a machine in this process, and what it was made of: the same is not written twice.

To lower and to emit a large machine takes half a second, and a process may search it in hundreds of environments. A
function of the specification that was replaced by another one is noticed.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from dataclasses import dataclass, fields, is_dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from spec.language import Machine

T = TypeVar("T")

MOST_KEPT = 16
"""Instances of which the text is kept, those that were wanted last."""


@dataclass(frozen=True, slots=True)
class _Kept(Generic[T]):
    made_of: list[object]
    """Holds what the key names by its address, so that no other object can have that address."""
    written: T


class WrittenOnce(Generic[T]):
    """Keeps what a function writes for a machine in an instance, whatever the switches.

    Parameters
    ----------
    write
        From a machine and constants; the switches in the constants must not matter.
    """

    def __init__(self, write: Callable[[Machine, object], T]) -> None:
        self._write = write
        self._kept: OrderedDict[Hashable, _Kept[T]] = OrderedDict()
        self._lock = Lock()

    def __call__(self, machine: Machine, constants: object) -> T:
        """What was written; now, if it was not yet, or if the constants are no dataclass, which could be compared."""
        if not is_dataclass(constants) or isinstance(constants, type):
            return self._write(machine, constants)
        made_of = [machine, *names_of(machine)]
        sizes = tuple(
            (field.name, getattr(constants, field.name))
            for field in fields(constants)
            if field.name not in machine.switches
        )
        key = (type(constants), sizes, tuple(map(id, made_of)))
        with self._lock:
            if key not in self._kept:
                self._kept[key] = _Kept(made_of, self._write(machine, constants))
                if len(self._kept) > MOST_KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key].written


def names_of(machine: Machine) -> list[object]:
    """All that the global names of the specification mean, in the modules that the machine's functions come from."""
    return [value for names in modules_of(machine) for value in names.values()]


def modules_of(machine: Machine) -> list[dict[str, object]]:
    """The global names of the modules that the machine's functions come from, and of those that these call."""
    todo: list[Callable[..., Any]] = [
        *(action.function for action in machine.actions),
        *(claim.function for claim in (*machine.clauses, *machine.witnesses)),
        *(observe for action in machine.actions for observe in action.shows.values()),
        *([] if machine.forget is None else [machine.forget]),
    ]
    packages = {_package(function) for function in todo}
    seen: dict[int, dict[str, object]] = {}
    while todo:
        names = todo.pop().__globals__
        if id(names) not in seen:
            seen[id(names)] = names
            todo += [value for value in names.values() if inspect.isfunction(value) and _package(value) in packages]
    return list(seen.values())


def _package(function: Callable[..., Any]) -> str:
    return function.__module__.split(".")[0]
