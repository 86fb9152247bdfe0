"""Coverage of a finished search, counted over its states: by the compiled engine, and by CPython, which judges that."""

from __future__ import annotations

import ctypes
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from model_check.coverage.counts import Coverage, coverage_of
from model_check.explicit.code_generation.compile import kernel_cache
from model_check.explicit.code_generation.coverage import coverage_source
from model_check.explicit.code_generation.native import load_native
from model_check.front_end.source import place_of_refusal
from spec.language import Machine, holds, is_witnessed, take

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from model_check.coverage.counts import Place
    from model_check.explicit.code_generation.compile import Compiled
    from model_check.explicit.code_generation.coverage import Counted
    from model_check.explicit.search import Exploration
    from model_check.explicit.state_store.store import StateStore
    from spec.language import Machine

RUN = 1 << 18
"""States that one call of the kernel looks at: how often an interruption is heard."""


def cover_by_numba(found: Exploration) -> Coverage:
    """Ask the compiled guards once more about every state that a search stored, with as many threads as it had."""
    compiled, constants = found.compiled, found.constants
    address, counted = _counting(compiled, constants)
    count_states = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 5)(address)
    switches = compiled.switches(constants)
    claims = len(compiled.machine.clauses) + len(compiled.machine.witnesses)

    def count(run: tuple[int, int]) -> npt.NDArray[np.int64]:
        counts = np.zeros(len(counted) + claims, dtype=np.int64)
        count_states(found.store.found.states.ctypes.data, *run, switches.ctypes.data, counts.ctypes.data)
        return counts

    total = np.zeros(len(counted) + claims, dtype=np.int64)
    with ThreadPoolExecutor(found.store.threads) as executor:
        for counts in executor.map(count, _runs(found.store)):
            total += counts
    enabled: Counter[str] = Counter()
    first_false: Counter[Place] = Counter()
    for what, number in zip(counted, total[: len(counted)].tolist(), strict=True):
        if what.place is None:
            enabled[what.action] += number
        else:
            first_false[what.action, what.place] += number
    return coverage_of(compiled.machine, found.distinct, enabled, first_false, total[len(counted) :].tolist())


_LOADED: dict[tuple[Machine, str], tuple[int, tuple[Counted, ...]]] = {}


def _counting(compiled: Compiled, constants: object) -> tuple[int, tuple[Counted, ...]]:
    """Where the counting code is; one serves all profiles and environments of a machine's instance, as the search's."""
    key = (compiled.machine, compiled.native.name)
    if key not in _LOADED:
        source, counted = coverage_source(compiled.machine, constants, compiled.packing)
        _LOADED[key] = load_native(source, ("cover",), kernel_cache()).addresses["cover"], counted
    return _LOADED[key]


def _runs(store: StateStore) -> Iterator[tuple[int, int]]:
    """Where the stored states lie, region by region, in pieces."""
    for region, count in enumerate(store.counts.tolist()):
        start = region * store.found.room
        for first in range(start, start + count, RUN):
            yield first, min(first + RUN, start + count)


def cover_by_cpython(machine: Machine, constants: object, states: Iterable[tuple[int, ...]]) -> Coverage:
    """Run the actions themselves on canonical states, each of them once.

    Raises
    ------
    SpecificationError
        When an action writes a value outside its field's declared range.
    """
    steps = machine.steps(constants)
    state = machine.initial(constants)
    enabled: Counter[str] = Counter()
    first_false: Counter[Place] = Counter()
    claims = [0] * (len(machine.clauses) + len(machine.witnesses))
    number = 0
    for values in states:
        number += 1
        state.load(values)
        for bit, clause in enumerate(machine.clauses):
            claims[bit] += not holds(state, constants, clause)
        for bit, witness in enumerate(machine.witnesses, len(machine.clauses)):
            claims[bit] += is_witnessed(state, constants, witness)
        for step in steps:
            refused = take(state, constants, step)
            if refused is None:
                enabled[step.action.name] += 1
                state.load(values)
            else:
                first_false[step.action.name, place_of_refusal(refused)] += 1
    return coverage_of(machine, number, enabled, first_false, claims)
