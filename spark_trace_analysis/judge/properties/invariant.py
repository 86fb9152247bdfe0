"""What one property of traces consists of."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from spark_trace_analysis.judge.properties.running import Broken

Kernel = Callable[..., None]
"""``kernel(starts, rows, events, actions, world, at)``, a function that Numba can compile; see `Invariant`."""


class Rows(NamedTuple):
    """Columns of consecutive traces, one number a row.

    Events are their places in ``spec.events.EVENTS``; actions are their places among the machine's, -1 where a trace
    does not name one.
    """

    event: npt.NDArray[np.int16]
    action: npt.NDArray[np.int16]
    transaction: npt.NDArray[np.int32]
    half: npt.NDArray[np.int32]
    copy: npt.NDArray[np.int32]
    check_times: npt.NDArray[np.int32]
    outcome: npt.NDArray[np.int8]
    time: npt.NDArray[np.int64]


class World(NamedTuple):
    """What a broker was set to when it wrote the traces of a run: sizes of its instance, and switches as 0 or 1.

    Times are in the unit of the traces' clock: ticks when simulated, milliseconds when real.
    """

    check_max: int
    timeout: int
    keeps_discarded: int
    keeps_flag: int
    flushes_on_stop: int
    ends_at_failed_put: int
    parks_poison: int

    @classmethod
    def of(cls, constants: Any) -> "World":
        """The world of some constants of the specification."""
        return cls(*(int(getattr(constants, name)) for name in cls._fields))


@dataclass(frozen=True)
class Invariant:
    """One property, judged per trace.

    A trace breaks it from some event on; both ways of judging give the number of events up to that one.

    Attributes
    ----------
    property_id
        Its id in the catalogue: ``S1``.
    sentence
        What it claims of every trace.
    shows
        How far a trace shows it, in words.
    is_exact
        Whether a trace that names its actions shows every violation; otherwise each one shown is real, and some are
        not.
    needs
        An event without which a run shows nothing of the property (what producers do, say); empty if there is none.
    events, actions
        The events and the actions whose codes the kernel gets, in this order.
    kernel
        ``starts`` (traces + 1 numbers) says at which row each trace begins, and at the end the number of rows;
        ``rows`` is a `Rows`, ``world`` a `World`; ``at[n]`` is set to the number of events up to the first violation
        in trace n, and left at 0 if there is none.
    broken
        The other way: from which rows on a trace is broken, as expressions, for a `World`.
    """

    property_id: str
    sentence: str
    shows: str
    is_exact: bool
    events: tuple[str, ...]
    kernel: Kernel
    broken: Callable[[World], Broken]
    actions: tuple[str, ...] = ()
    needs: str = ""
