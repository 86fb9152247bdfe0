"""What an instance has, as what was searched together: no two instances lend each other a transaction or an immunity.

What holds in several instances holds in each by itself. The largest sizes of all of them together were never searched.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.check import CheckResult
    from spec.constants import Instance

SIZES = ("transactions", "half_slots", "op_slots", "checks", "ticks")
"""What is counted."""


@dataclass(frozen=True, slots=True)
class SearchedTogether:
    """The sizes of one instance that was searched, and how much of it was.

    Attributes
    ----------
    instance : str
        Its name.
    checks : int
        transactionCheckMax.
    ticks : int
        The longest of its times.
    immunities : bool
        Whether a message may have one.
    any_length : bool
        Whether what is over is forgotten, so that runs have any length: `transactions` is how many are alive at a time,
        the slots hold what is not forgotten.
    reach, crashes : int
        How many places back faults reach, and how often the broker may crash; -1 where nothing bounds it.
    states : int
        So many were seen.
    complete : bool
        Whether these are all.
    """

    instance: str
    transactions: int
    half_slots: int
    op_slots: int
    checks: int
    ticks: int
    immunities: bool
    any_length: bool
    reach: int
    crashes: int
    states: int
    complete: bool

    @classmethod
    def in_search(cls, search: CheckResult) -> SearchedTogether:
        """Of one search."""
        size = search.instance
        return cls(
            size.name,
            size.transactions,
            size.half_slots,
            size.op_slots,
            size.check_max,
            longest_time(size),
            size.longest_immunity > 0,
            bool(size.forgets),
            size.reach,
            size.crashes,
            search.distinct,
            search.complete,
        )

    def covers(self, other: SearchedTogether) -> bool:
        """Whether all that can be said of the other in sizes can be said of this one."""
        return (
            (self.any_length, self.complete) == (other.any_length, other.complete)
            and self.immunities >= other.immunities
            and all(getattr(self, name) >= getattr(other, name) for name in SIZES)
        )

    def in_words(self, faults: Sequence[str] = ()) -> str:
        """The sizes, and what bounds these faults."""
        most = [f"the first {self.states:,} states of it"] if not self.complete else []
        alive = " alive at a time, in runs of any length" if self.any_length else ""
        parts = [*most, f"{_counted(self.transactions, 'transaction')}{alive}"]
        if not self.any_length:
            parts += [_counted(self.half_slots, "half slot"), _counted(self.op_slots, "op slot")]
        parts += [_counted(self.checks, "check"), f"times of up to {_counted(self.ticks, 'tick')}"]
        parts.append("with immunities" if self.immunities else "no immunities")
        if self.any_length and faults and self.reach >= 0:
            parts.append(f"faults that reach {_counted(self.reach, 'place')} back")
        if "crash" in faults and self.crashes >= 0:
            parts.append(f"at most {_counted(self.crashes, 'crash', 'crashes')}")
        return ", ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """The sizes as plain data."""
        return asdict(self)


def searched_together(searches: Sequence[CheckResult]) -> tuple[SearchedTogether, ...]:
    """The sizes of each search but of those that another one covers."""
    sizes = list(enumerate(map(SearchedTogether.in_search, searches)))
    return tuple(
        size
        for number, size in sizes
        if not any(
            other.covers(size) and (at < number or not size.covers(other)) for at, other in sizes if at != number
        )
    )


def largest(searches: Sequence[CheckResult]) -> dict[str, int]:
    """The largest of each size over several searches, which were not searched together."""
    sizes = list(map(SearchedTogether.in_search, searches))
    return {name: max(getattr(size, name) for size in sizes) for name in SIZES}


def longest_time(size: Instance) -> int:
    """The longest of an instance's times, in ticks."""
    return max(size.timeout, *size.immunities, size.check_interval, size.reserved_time)


def _counted(number: int, what: str, plural: str = "") -> str:
    return f"{number} {what if number == 1 else plural or f'{what}s'}"
