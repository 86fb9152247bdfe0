"""A schedule as orders to a client outside the broker: requests, waits for visible effects, and restarts.

Halves are named as in the schedule: by their place in its half queue. The player knows which message of the real queue
stands for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import gcd

from wire.client.transactions import COMMIT


@dataclass(frozen=True, slots=True)
class SendHalf:
    """Send the half of a transaction."""

    transaction: int
    half: int
    immunity: int | None = None
    """CHECK_IMMUNITY_TIME_IN_SECONDS in ticks; None for a message without."""
    skew: int = 0
    """How far the producer's clock is ahead, in ticks."""
    is_too_old: bool = False
    """Whether it is so far behind that the half is older than `fileReservedTime`, in hours."""

    def __str__(self) -> str:
        immune = "" if self.immunity is None else f" with an immunity of {self.immunity} ticks"
        skewed = f", born {self.skew} ticks ahead" if self.skew else ""
        return f"send half {self.half} of transaction {self.transaction}{immune}{skewed}"


@dataclass(frozen=True, slots=True)
class SendEnd:
    """Send END_TRANSACTION for a half, and wait for its answer."""

    transaction: int
    half: int
    outcome: int
    answers_check: bool

    def __str__(self) -> str:
        says = "commit" if self.outcome == COMMIT else "roll back"
        return f"{says} half {self.half} of transaction {self.transaction}{' as a check asks' * self.answers_check}"


@dataclass(frozen=True, slots=True)
class AwaitCopy:
    """Wait until a further copy of a transaction's half is in the half queue."""

    transaction: int
    half: int

    def __str__(self) -> str:
        return f"await copy {self.half} of transaction {self.transaction}"


@dataclass(frozen=True, slots=True)
class AwaitCheck:
    """Wait for a check of a transaction that was not heard before; its copy is the half."""

    transaction: int
    half: int

    def __str__(self) -> str:
        return f"await a check of transaction {self.transaction}, for half {self.half}"


@dataclass(frozen=True, slots=True)
class AwaitDiscard:
    """Wait until a transaction's half is in the discard topic; where that keeps none, until the offset is past it."""

    transaction: int
    half: int

    def __str__(self) -> str:
        return f"await that half {self.half} of transaction {self.transaction} is discarded"


@dataclass(frozen=True, slots=True)
class AwaitOp:
    """Wait until the op queue has a further message."""

    def __str__(self) -> str:
        return "await an op message"


@dataclass(frozen=True, slots=True)
class AwaitTick:
    """Wait until so many ticks are over since the schedule began."""

    ticks: int

    def __str__(self) -> str:
        return f"await tick {self.ticks}"


@dataclass(frozen=True, slots=True)
class AwaitRound:
    """Wait for the first round behind so many ticks."""

    ticks: int

    def __str__(self) -> str:
        return f"await the round behind tick {self.ticks}"


@dataclass(frozen=True, slots=True)
class AwaitSaved:
    """Wait for so long that the broker has saved its offsets."""

    def __str__(self) -> str:
        return "await that the offsets are saved"


@dataclass(frozen=True, slots=True)
class Kill:
    """Kill the broker's process, and start it again."""

    def __str__(self) -> str:
        return "kill the broker and start it again"


@dataclass(frozen=True, slots=True)
class Stop:
    """Shut the broker down, and start it again."""

    def __str__(self) -> str:
        return "stop the broker and start it again"


@dataclass(frozen=True, slots=True)
class Disconnect:
    """Producers end their connections; the next send connects again."""

    def __str__(self) -> str:
        return "producers disconnect"


Order = (
    SendHalf | SendEnd | AwaitCopy | AwaitCheck | AwaitDiscard | AwaitOp | AwaitTick | AwaitRound | AwaitSaved | Kill
    | Stop | Disconnect
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """A schedule as orders."""

    orders: tuple[Order, ...]
    finer: tuple[str, ...] = ()
    """The parts of the schedule's order that nobody can choose from outside, in words; empty if all of it can be."""

    @property
    def rounds(self) -> tuple[int, ...]:
        """Behind how many ticks its rounds begin."""
        return tuple(order.ticks for order in self.orders if isinstance(order, AwaitRound))

    @property
    def ticks(self) -> int:
        """How many ticks it takes."""
        return max((order.ticks for order in self.orders if isinstance(order, AwaitTick)), default=0)

    @property
    def interval(self) -> int:
        """The longest check interval in ticks at which no other rounds come than the schedule has, and all of these."""
        gaps = [after - before for before, after in pairwise(self.rounds) if after > before]
        return gcd(*gaps) if gaps else max(self.ticks, 3) + 1

    @property
    def restarts(self) -> bool:
        """Whether the broker's process has to end in it."""
        return any(isinstance(order, Kill | Stop) for order in self.orders)
