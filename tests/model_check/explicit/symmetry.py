"""How many states a search has not looked at because it numbers records in the order of their first use.

Transactions could be numbered in any way. A specification that numbers them in the order of their sends (`Machine.
symmetric` names the array) keeps one of all states that differ by the numbers only. Of the T records of a state k are
used, and their numbers could have been any k of T in any order: the state stands for T! / (T - k)! of them. This is so
as long as the state shows in which order its records were used first, as it does when they keep their place in a queue;
a search without the reduction is the check of it. Transactional messages lose that order with `power_loss` only: after
two power losses, or one and a `twin_send`, no half may be left that shows it. The sums are too large there; verdicts
and depths are still what they are without the reduction.
"""

from __future__ import annotations

from itertools import pairwise
from math import perm
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from model_check.errors import EvaluationError, ModelCheckError
from spec.language import layout
from spec.language.fields import RecordDeclaration

if TYPE_CHECKING:
    from model_check.explicit.code_generation.packing import Packing
    from model_check.explicit.search import Exploration
    from spec.language import Machine

Words = npt.NDArray[np.int64]

AT_ONCE = 1 << 18
"""States that are looked at together."""


def orbit_size(machine: Machine, constants: object, values: tuple[int, ...]) -> int:
    """The states that differ from a canonical state by the numbers of the symmetric records only, itself included.

    Raises
    ------
    ModelCheckError
        When the machine declares no symmetric records.
    EvaluationError
        When a record is used and one before it is not.
    """
    name, length = _symmetric_records(machine, constants)
    first = machine.initial(constants).canonical()
    used = [False] * length
    for slot, value, unused in zip(layout(machine.state, constants), values, first, strict=True):
        if slot.path[0] == name and slot.index is not None and value != unused:
            used[slot.index] = True
    _check_order(name, np.array([used]))
    return perm(length, sum(used))


def orbits_by_level(found: Exploration) -> list[int]:
    """For each level of a search, the states that the search would have found there without the reduction.

    Parameters
    ----------
    found : Exploration
        A finished search of a machine that declares symmetric records.

    Raises
    ------
    ModelCheckError
        When the machine declares no symmetric records.
    EvaluationError
        When a record is used and one before it is not.
    """
    machine, packing, store = found.compiled.machine, found.compiled.packing, found.store
    name, length = _symmetric_records(machine, found.constants)
    masks = _masks(packing, name, length)
    unused = packing.pack(machine.initial(found.constants).canonical()) & masks
    size = store.region_count * store.regions.room * store.width
    regions = store.regions.states[:size].reshape(store.region_count, store.regions.room, store.width)
    orbits = []
    for starts, ends in pairwise(found.levels):
        states = np.zeros(length + 1, dtype=np.int64)  # by the number of records that are used
        for region, start, end in zip(regions, starts, ends, strict=True):
            for some in range(int(start), int(end), AT_ONCE):
                words = region[some : min(some + AT_ONCE, int(end))]
                used = ((words[:, None, :] & masks) != unused).any(axis=2)
                _check_order(name, used)
                states += np.bincount(used.sum(axis=1), minlength=length + 1)
        orbits.append(sum(int(count) * perm(length, k) for k, count in enumerate(states)))
    return orbits


def _symmetric_records(machine: Machine, constants: object) -> tuple[str, int]:
    """The name of the array, and how many records it has in this instance."""
    member = machine.state.members.get(machine.symmetric or "")
    if machine.symmetric is None or not isinstance(member, RecordDeclaration) or member.length is None:
        msg = f"{machine.name} declares no array of symmetric records, but {machine.symmetric!r}"
        raise ModelCheckError(msg)
    return machine.symmetric, int(getattr(constants, member.length))


def _masks(packing: Packing, name: str, length: int) -> Words:
    """The bits of each record, shape (length, words)."""
    masks = [[0] * packing.words for _ in range(length)]
    for path, places in packing.places.items():
        for place in places if path[0] == name else ():
            for i in range(place.length):
                masks[place.first + i][place.word] |= ((1 << place.width) - 1) << (place.shift + place.width * i)
    return np.array(masks, dtype=np.uint64).reshape(length, packing.words).view(np.int64)


def _check_order(name: str, used: npt.NDArray[np.bool_]) -> None:
    """Rows of which record is used: no used one follows one that is not."""
    if (used[:, 1:] & ~used[:, :-1]).any():
        msg = f"{name}: a record is used and one before it is not, so that they are not numbered in the order of use"
        raise EvaluationError(msg)
