"""What one property of traces consists of."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Kernel = Callable[
    [
        npt.NDArray[np.int64],
        npt.NDArray[np.int16],
        npt.NDArray[np.int32],
        npt.NDArray[np.int8],
        npt.NDArray[np.int16],
        npt.NDArray[np.bool_],
    ],
    None,
]


@dataclass(frozen=True)
class Invariant:
    """One property, judged per trace.

    Attributes
    ----------
    property_id
        Its id in the catalogue: ``S1``.
    sentence
        What it claims of every trace.
    events
        The events that the kernel looks at.
    kernel
        A function that Numba can compile: ``kernel(starts, event, transaction, outcome, codes, violated)``. ``starts``
        (traces + 1 numbers) says at which row each trace begins, and at the end the number of rows; ``codes`` are the
        codes of ``events``, in their order; it sets ``violated[n]`` for each trace that breaks the property.
    query
        Spark SQL over the view ``events`` (the event's fields, and ``run``) that gives a row for each trace that breaks
        the property: ``run``, ``trace``.
    """

    property_id: str
    sentence: str
    events: tuple[str, ...]
    kernel: Kernel
    query: str
