"""A machine in an instance, ready to run: the kernels, compiled by Numba, and its own code, compiled by LLVM.

The kernels know of the machine only how many words a state takes, and call its code by address; their generated file is
named by the hash of its content. So a changed specification can never be answered from a stale compile cache, and the
kernels are not compiled again for it.
"""

from __future__ import annotations

import gc
import hashlib
import importlib.util
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from files.writing import write_whole
from model_check.cache_folder import cache_folder
from model_check.explicit.code_generation.emit import CLAIMS_A_WORD, FUNCTIONS, Emitter
from model_check.explicit.code_generation.native import Native, load_native
from model_check.explicit.code_generation.packing import Packing, pack_machine
from model_check.explicit.code_generation.runs import RUN
from model_check.explicit.code_generation.text_cache import cached_value, text_file
from model_check.explicit.kernel_texts.records import EXPAND, FORGET, JUDGE, OBSERVE, STEPS
from model_check.front_end.memo import memoized_by_instance
from model_check.instances import require_searchable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

    from model_check.front_end.possible_steps import GuardParts
    from spec.language import Machine, Step

PARTS = ("records", "intrinsics", "calls", "hashing", "table", "search", "marking", "edges", "bisimulation", "walks")
"""The files of `kernel_texts` that make a module, in their order."""

# Inlined functions are called by other kernels only, and own no array: without an entry for Python, one for C, and
# reference counts, all kernels compile in three quarters of the time.
HEADER = '''"""Generated from the specification; not to be edited."""
import numpy as np

import numba

from model_check.explicit.code_generation.compile_lock import with_compile_lock

u64, i64 = np.uint64, np.int64
inlined = numba.njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)


def compiled(function):
    return with_compile_lock(numba.njit(cache=True, nogil=True, no_cfunc_wrapper=True)(function), __file__)


'''


@dataclass(frozen=True)
class Compiled:
    """A machine in one instance, ready to run; its code is written and compiled when it is first asked for."""

    machine: Machine
    packing: Packing
    steps: tuple[Step, ...]  # the steps by the numbers that kernels give them
    _constants: object
    _fingerprints: bool

    @cached_property
    def _text(self) -> _EmittedText:
        return emitted_text(self.machine, self._constants)

    @cached_property
    def module(self) -> ModuleType:
        """The generated module with its kernels, each of which compiles when it is first called."""
        return load_generated(_kernels(self.packing, forgets=self._text.forgets, fingerprints=self._fingerprints))

    @cached_property
    def native(self) -> Native:
        """The machine code that the kernels call."""
        return load_native(self._text.source, FUNCTIONS, cache_folder())

    @property
    def verdict_words(self) -> int:
        """The words that the bits of all clauses and witnesses take."""
        return self._text.verdict_words

    @property
    def guard_parts(self) -> GuardParts:
        """The parts of steps whose guards one function of the machine code evaluates."""
        return self._text.guard_parts

    @property
    def text_file(self) -> Path | None:
        """The cached text of the machine code."""
        return self._text.file

    @property
    def clause_masks(self) -> npt.NDArray[np.int64]:
        """The bits of clauses in each word of a verdict; behind them are those of the witnesses."""
        firsts = range(0, CLAIMS_A_WORD * self.verdict_words, CLAIMS_A_WORD)
        bits = (min(max(len(self.machine.clauses) - first, 0), CLAIMS_A_WORD) for first in firsts)
        return np.array([(1 << count) - 1 for count in bits], dtype=np.int64)

    def switches(self, constants: object, *, reachable: bool = True) -> npt.NDArray[np.int64]:
        """The array `K` of the kernels, for a profile and an environment; see `kernel_texts/calls.py`.

        Steps that no run can take are not tried; unless also states are to be expanded that are not reachable.
        """
        switches = {name: int(getattr(constants, name)) for name in self.machine.switches}
        flags = self.guard_parts.flags(switches, reachable=reachable)
        K = np.array([*switches.values(), *flags, *[0] * -STEPS], dtype=np.int64)  # noqa: N806 - as the kernels call it
        K[STEPS] = len(self.steps)
        K[[EXPAND, JUDGE, OBSERVE, FORGET]] = [self.native.addresses[name] for name in FUNCTIONS]
        return K


def compile_machine(machine: Machine, constants: object, *, fingerprints: bool = False) -> Compiled:
    """A machine in an instance, whose code is found or generated when it is first asked for.

    The switches in `constants` do not matter: the code serves all profiles and environments. With `fingerprints`, the
    kernels are those of a search whose table holds hashes in place of states.
    """
    packing, steps = _layout(machine, constants)
    return Compiled(machine, packing, steps, constants, fingerprints)


@memoized_by_instance
def _layout(machine: Machine, constants: object) -> tuple[Packing, tuple[Step, ...]]:
    require_searchable(machine, constants)
    return pack_machine(machine, constants), machine.steps(constants)


@dataclass(frozen=True, slots=True)
class _EmittedText:
    """The text of the machine's own code; see `Compiled`."""

    source: str
    verdict_words: int
    forgets: bool
    guard_parts: GuardParts
    file: Path | None


@memoized_by_instance
def emitted_text(machine: Machine, constants: object) -> _EmittedText:
    """The text of a machine's own code, from the cache or emitted now."""
    packing, steps = _layout(machine, constants)
    emitter = Emitter(machine, constants, packing)

    def emit() -> tuple[str, bool, GuardParts]:
        with _no_garbage_collection():
            return emitter.source(), bool(emitter.forgetting), emitter.guard_parts

    file = text_file(cache_folder(), machine, constants, steps, packing.slots)
    source, forgets, guard_parts = cached_value(file, emit)
    return _EmittedText(source, emitter.verdict_words, forgets, guard_parts, file)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """The search for cycles among millions of terms, which have none, takes a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _kernels(packing: Packing, *, forgets: bool, fingerprints: bool) -> str:
    """The text of the kernels' module; branches that constants rule out are not compiled."""
    whole = packing.fits_into_a_slot and not fingerprints
    constants = {
        "WORDS": packing.words,
        "WHOLE": whole,
        "NUMBERED": not whole and not fingerprints,
        "FORGETS": forgets,
        "CLAIMS_A_WORD": CLAIMS_A_WORD,
        "RUN": RUN,
    }
    lines = [f"{name} = {value}" for name, value in constants.items()]
    return "\n".join([HEADER, *lines, "", *(_text(f"{name}.py") for name in PARTS)])


def load_generated(text: str) -> ModuleType:
    """Import a generated module by its text, through the file that is named by its hash."""
    name = "kernel_" + hashlib.sha256(text.encode()).hexdigest()[:24]
    if name in sys.modules:
        return sys.modules[name]
    path = cache_folder() / f"{name}.py"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise AssertionError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@cache
def _text(file: str) -> str:
    return resources.files("model_check.explicit.kernel_texts").joinpath(file).read_text(encoding="utf-8")
