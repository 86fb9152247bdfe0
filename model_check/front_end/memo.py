"""Memo caches of a process, keyed by a machine's sources: nothing is derived twice from the same ones.

To lower and to emit a large machine takes half a second, and a process may search it in hundreds of environments. Any
global name of the specification that was bound to something else is noticed.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from dataclasses import fields, is_dataclass
from functools import partial, wraps
from threading import RLock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from spec.language import Machine

T = TypeVar("T")

MOST_INSTANCES = 16
"""Instances that a function memoized by instance remembers."""


class MemoCache(Generic[T]):
    """A memo cache of so many values, those wanted last; for several threads, of which one makes a value."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[Hashable, tuple[list[object], T]] = OrderedDict()
        self._lock = RLock()

    def get(self, key: Hashable, sources: Iterable[object], make: Callable[[], T]) -> T:
        """The value of a key and of the identities of its sources, made now if it is not there.

        The sources are held as long as the value, so that no other object gets their addresses.
        """
        held = list(sources)
        whole_key = key, tuple(map(id, held))
        with self._lock:
            if whole_key not in self._values:
                self._values[whole_key] = held, make()
                if len(self._values) > self._size:
                    self._values.popitem(last=False)
            self._values.move_to_end(whole_key)
            return self._values[whole_key][1]


def memoized_by_instance(make: Callable[[Machine, object], T]) -> Callable[[Machine, object], T]:
    """A function of a machine and constants with a memo cache; the switches in the constants must not matter.

    Constants that are no dataclass cannot be compared: for them nothing is remembered.
    """
    memo = MemoCache[T](MOST_INSTANCES)

    @wraps(make)
    def memoized(machine: Machine, constants: object) -> T:
        if not is_dataclass(constants) or isinstance(constants, type):
            return make(machine, constants)
        sizes = tuple(
            (field.name, getattr(constants, field.name))
            for field in fields(constants)
            if field.name not in machine.switches
        )
        sources = [machine, *global_values(machine)]
        return memo.get((type(constants), sizes), sources, partial(make, machine, constants))

    return memoized


def global_values(machine: Machine) -> list[object]:
    """The values of all global names of the specification, in the modules of `global_names`."""
    return [value for names in global_names(machine) for value in names.values()]


def global_names(machine: Machine) -> list[dict[str, object]]:
    """The global names of each module that a function of the machine stands in, or one that it calls."""
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
