"""The faults that were ordered, and what each befell: what it explains in the end, and whether it befell nothing.

It is the one place for both: a fault that befell nothing fails a test, and what one explains fails none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reference.format.properties import KEYS, UNIQUE_KEY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wire.node.broker_node import BrokerNode

_MOST_SEEN: Final = 8
"""So many keys are named that came instead."""


@dataclass(slots=True)
class OrderedFault:
    """One order by which something goes wrong."""

    number: int
    order: str
    """As it was given, such as ``fault double_end key=order-7``."""
    seen_are: str = ""
    """What is named if it befell nothing: ``keys`` or ``producer groups``."""
    befell: int = 0
    """How often it befell something."""
    spared: int = 0
    """How many messages that it was meant for it spared by chance."""
    seen: dict[str, None] = field(default_factory=dict)
    """What came, and was not what it is meant for; the first few."""
    keys: dict[str, int] = field(default_factory=dict)
    """The unique keys of the messages that it befell, and how many rows the trace had then."""
    begins: int | None = None
    """Of one that befalls all that is under way: how many rows the trace had when it began; None for any other."""
    ends: int | None = None
    """And when that was over: at once, or None where it lasts."""

    @property
    def is_unused(self) -> bool:
        """Whether nothing that it is meant for has come."""
        return not self.befell and not self.spared

    def sees(self, name: str) -> None:
        """Something came that it is not meant for; nothing is named where it has no name."""
        if name and len(self.seen) < _MOST_SEEN:
            self.seen[name] = None

    def to_json(self) -> dict[str, Any]:
        """As the control port and the verdict name one that befell nothing; `says` is the line for people."""
        named = ", ".join(self.seen)
        why = f"{self.seen_are} seen: {named}" if named else "nothing came that it could befall"
        return {"number": self.number, "order": self.order, "says": f"{self.order} befell nothing; {why}"}


class OrderedFaults:
    """All of one run, in the order in which they were ordered."""

    def __init__(self, node: BrokerNode) -> None:
        self.all: list[OrderedFault] = []
        self._node = node

    def add(self, order: str, seen_are: str = "") -> OrderedFault:
        """A fault is ordered, and has befallen nothing yet."""
        self.all.append(OrderedFault(len(self.all) + 1, order, seen_are))
        return self.all[-1]

    def befalls_all(self, order: str, *, lasts: bool = False, since: int | None = None) -> OrderedFault:
        """What is ordered befalls now all that is under way, and what comes later, too, if it lasts.

        Parameters
        ----------
        since
            How many rows the trace had when it began, if that was before.
        """
        fault = self.add(order)
        fault.befell += 1
        self.begin(fault, lasts=lasts)
        fault.begins = fault.begins if since is None else since
        return fault

    def begin(self, fault: OrderedFault, *, lasts: bool) -> None:
        """From now on it concerns all that is under way, until :meth:`end` if it lasts, else at this moment alone."""
        fault.begins = self._node.recorder.row_count
        fault.ends = None if lasts else fault.begins

    def strikes(self, fault: OrderedFault, properties: Mapping[str, str]) -> None:
        """It befalls a message of these properties; none where it is not known which."""
        fault.befell += 1
        if UNIQUE_KEY in properties:
            fault.keys.setdefault(properties[UNIQUE_KEY], self._node.recorder.row_count)

    def end(self, order: str) -> None:
        """What lasted of an order that begins so is over."""
        for fault in self.all:
            if fault.order.startswith(order) and fault.begins is not None and fault.ends is None:
                fault.ends = self._node.recorder.row_count

    @property
    def unused(self) -> list[dict[str, Any]]:
        """Those that befell nothing, as :meth:`OrderedFault.to_json` has them."""
        return [fault.to_json() for fault in self.all if fault.is_unused]

    def transactions(self, fault: OrderedFault) -> dict[int, int]:
        """By number in the trace the transactions whose messages it befell, and how many rows there were then."""
        numbers = {self._node.recorder.transaction_of(key): row for key, row in fault.keys.items()}
        return {number: row for number, row in numbers.items() if number is not None}


def seen_in(properties: Mapping[str, str]) -> str:
    """The key by which people know a message: its KEYS, else its UNIQ_KEY."""
    return properties.get(KEYS) or properties.get(UNIQUE_KEY, "")
