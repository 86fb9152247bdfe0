"""The generated part of a module run by plain Python: what the emitter wrote, with no compiler in between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from model_check.explicit.emit import Emitter
from model_check.explicit.packing import Packing, pack_machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spec.language import Machine, Step

Values = tuple[int, ...]


class Words(list[int]):
    """Words of 64 bits: what is stored wraps around, as in the compiled module."""

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, (value + (1 << 63)) % (1 << 64) - (1 << 63))


@dataclass
class Emitted:
    """`expand` and `judge` of a machine in an instance, on unpacked states."""

    machine: Machine
    constants: object
    packing: Packing
    module: dict[str, Any]
    steps: tuple[Step, ...]

    def _switches(self) -> list[int]:
        return [int(getattr(self.constants, name)) for name in self.machine.switches]

    def _words(self, values: Values) -> Words:
        return Words(int(word) for word in self.packing.pack(values))

    def successors(self, values: Values) -> list[tuple[str, Values]]:
        """The enabled steps and where they lead; `OverflowError` names the step that leaves a declared range."""
        room, width = len(self.steps), self.packing.words
        found, taken, parents = Words([0] * (room * width)), [0] * room, [0] * room
        words = self._words(values)
        n, _ = self.module["expand"](words, 0, 1, self._switches(), found, taken, parents, room)
        if n < 0:
            raise OverflowError(str(self.steps[-1 - n]))
        return [(str(self.steps[taken[j]]), self._unpack(found[j * width : (j + 1) * width])) for j in range(n)]

    def verdict(self, values: Values) -> int:
        """A bit a violated clause, then a bit a witness."""
        return int(self.module["judge"](self._words(values), 0, self._switches()))

    def _unpack(self, words: list[int]) -> Values:
        import numpy as np

        return self.packing.unpack(np.array(words, dtype=np.int64))


def emitted(machine: Machine, constants: object, emitter: type[Emitter] = Emitter) -> Emitted:
    """Generate the module of a machine and load it without Numba."""
    packing = pack_machine(machine, constants)
    text = emitter(machine, constants, packing).source()
    module: dict[str, Any] = {"inlined": lambda f: f, "compiled": lambda f: f}
    exec(compile(text, f"<emitted {machine.name}>", "exec"), module)  # noqa: S102
    return Emitted(machine, constants, packing, module, machine.steps(constants))


def in_cpython(machine: Machine, constants: object, values: Values) -> Iterator[tuple[str, Values]]:
    """The same successors, by the judge of all readings."""
    from spec.language import successors

    state = machine.initial(constants).load(values)
    return ((str(step), after) for step, after in successors(state, constants, machine.steps(constants)))
