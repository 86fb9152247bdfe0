"""What the schedules that are known to break a clause say of a set of repairs, without a search.

A schedule is taken with those repairs in the CPython engine. Only the switches that are read on its way can matter, so
that its answer counts for all sets that agree in them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from model_check.defects.resemblance import still_breaks
from model_check.finding import Violated
from spec.constants import SWITCHES
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.finding import Row
    from spec.constants import Constants
    from spec.language import Property, Step

Repairs = tuple[str, ...]
"""A set of repairs, each as a profile has it: `+settles_once`, `-batches_ops`."""


class KnownCounterexamples:
    """The schedules that are known to break a clause."""

    def __init__(self, clause: Property) -> None:
        self._clause = clause
        self._schedules: list[_KnownCounterexample] = []

    def add(self, row: Row) -> None:
        """Remember the schedule of a violation, if it is one."""
        if isinstance(row, Violated):
            self._schedules.append(_KnownCounterexample(self._clause, row.world.constants, row.path))

    def one_breaks(self, repairs: Repairs) -> bool:
        """Whether one of them still breaks the clause with these repairs."""
        return any(schedule.breaks_with(repairs) for schedule in reversed(self._schedules))


class _KnownCounterexample:
    """One schedule: whether it breaks the clause, as a function of the switches that are read on its way."""

    def __init__(self, clause: Property, constants: Constants, path: tuple[Step, ...]) -> None:
        self._clause, self._constants, self._path = clause, constants, path
        self._known: list[tuple[dict[str, bool], bool]] = []

    def breaks_with(self, repairs: Repairs) -> bool:
        turned: dict[str, Any] = {turn[1:]: turn[0] == "+" for turn in repairs}
        constants = replace(self._constants, **turned)
        for read, breaks in self._known:
            if all(getattr(constants, name) == on for name, on in read.items()):
                return breaks
        listener = _Listening(constants)
        breaks = still_breaks(TRANSACTIONAL_MESSAGES, listener, self._clause, self._path)
        self._known.append((listener.read, breaks))
        return breaks


class _Listening:
    """Constants that remember which switches were read of them, and how they stand."""

    def __init__(self, constants: Constants) -> None:
        self._constants = constants
        self.read: dict[str, bool] = {}

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._constants, name)
        if name in SWITCHES:
            self.read[name] = value
        return value
