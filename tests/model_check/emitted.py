"""The machine code of a machine in an instance, called without the kernels."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from model_check.cache_folder import cache_folder
from model_check.explicit.code_generation.emit import FUNCTIONS, Emitter
from model_check.explicit.code_generation.native import Native, load_native
from model_check.explicit.code_generation.packing import Packing, pack_machine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pytest

    from model_check.front_end.possible_steps import GuardParts
    from spec.language import Machine, Step

Values = tuple[int, ...]


@dataclass
class Emitted:
    """`expand` and `judge` of a machine in an instance, on unpacked states."""

    machine: Machine
    constants: object
    packing: Packing
    native: Native
    steps: tuple[Step, ...]
    verdict_words: int
    guard_parts: GuardParts

    def _call(self, function: str, *arguments: int | npt.NDArray[np.generic]) -> int:
        given = [a if isinstance(a, int) else a.ctypes.data for a in arguments]
        call = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(given))(self.native.addresses[function])
        return int(call(*given))

    def _switches(self) -> npt.NDArray[np.int64]:
        switches = {name: int(getattr(self.constants, name)) for name in self.machine.switches}
        return np.array([*switches.values(), *self.guard_parts.flags(switches, reachable=False)], dtype=np.int64)

    def successors(self, values: Values) -> list[tuple[str, Values]]:
        """The enabled steps and where they lead; `OverflowError` names the step that leaves a declared range."""
        room, width = len(self.steps), self.packing.words
        found, taken, parents = np.zeros(room * width, np.int64), np.zeros(room, np.int32), np.ones(room, np.int64)
        n = self._call("expand", self.packing.pack(values), 0, 1, self._switches(), found, taken, parents)
        if n < 0:
            raise OverflowError(str(self.steps[-1 - n]))
        assert not parents[:n].any()
        return [(str(self.steps[taken[j]]), self.packing.unpack(found[j * width : (j + 1) * width])) for j in range(n)]

    def forgotten(self, states: Sequence[Values]) -> tuple[list[Values], list[Values]]:
        """What is left of the states, and those that were swept as they were; or `OverflowError`, as for a step."""
        width = self.packing.words
        others = np.full(8 * width, -1)  # they are nobody's, and stay as they are
        words = np.concatenate([*(self.packing.pack(values) for values in states), others])
        before = words.copy()
        n = self._call("forget", words, 0, len(states), self._switches(), before)
        if n < 0:
            raise OverflowError
        assert n <= len(states)
        assert (words[-len(others) :] == others).all()
        assert (before[-len(others) :] == others).all()
        rows = (some[: -len(others)].reshape(-1, width) for some in (words, before))
        left, were = ([self.packing.unpack(row) for row in some] for some in rows)
        return left, were[:n]

    def verdict(self, values: Values) -> int:
        """A bit a violated clause, then a bit a witness; for no more of them than one word holds."""
        verdict = np.zeros(self.verdict_words, np.int64)
        self._call("judge", self.packing.pack(values), 0, 1, self._switches(), verdict)
        (word,) = verdict.tolist()
        return int(word)


def emitted(machine: Machine, constants: object) -> Emitted:
    """Compile a machine's code and load it without Numba."""
    packing = pack_machine(machine, constants)
    emitter = Emitter(machine, constants, packing)
    native = load_native(emitter.source(), FUNCTIONS, cache_folder())
    return Emitted(machine, constants, packing, native, emitter.steps, emitter.verdict_words, emitter.guard_parts)


def replace_in_emitter(patch: pytest.MonkeyPatch, function: Callable[..., object], mutant: object) -> None:
    """Let all of the emitter call a mutant in place of one of its functions."""
    for name, module in list(sys.modules.items()):
        is_of_emitter = name.startswith("model_check.explicit.code_generation.")
        if is_of_emitter and getattr(module, function.__name__, None) is function:
            patch.setattr(module, function.__name__, mutant)


def in_cpython(machine: Machine, constants: object, values: Values) -> Iterator[tuple[str, Values]]:
    """The same successors, by the judge of all readings."""
    from spec.language import successors

    state = machine.initial(constants).load(values)
    return ((str(step), after) for step, after in successors(state, constants, machine.steps(constants)))
