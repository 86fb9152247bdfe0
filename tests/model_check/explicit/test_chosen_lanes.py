"""Lanes that are chosen of operations on bits are right: by LLVM 22 they are not if it sees that one is a constant."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from model_check.cache_folder import cache_folder
from model_check.explicit.code_generation.expressions import Function, Module
from model_check.explicit.code_generation.native import COMPILE, load_native
from model_check.explicit.code_generation.packing import pack_machine
from model_check.explicit.code_generation.runs import ALIGNMENT, EIGHT, RUN
from tests.model_check.tla.forgetful_machine import FORGETFUL, Constants

pytestmark = pytest.mark.untraced

SOME = (1 << 52) - (1 << 39)


def module_with_one_function(module: Module, lanes: int) -> str:
    """Word 3 becomes word 0, but where word 2 is negative with some bits of word 1, moved up."""
    f = Function(module)
    code = f.code
    code.do("%lane = add i64 0, 0")
    code.jump("each")
    code.start("each")
    if lanes == EIGHT:
        f.look_at_group()
    else:
        f.look_at_run(64)
    moved = f.operation("and", f.operation("shl", f.word(1), 39), SOME)
    joined = f.operation("or", f.operation("and", f.word(0), ~SOME), moved)
    chosen = f.select(f.operation("icmp slt", f.word(2), 0), joined, f.word(0))
    code.do(f"store {f.number_type} {chosen}, ptr {f.column(3)}")
    code.do("ret void")
    return module.text([f"define void @f(ptr %columns) {{\n{code.text()}\n}}"])


@pytest.mark.parametrize("lanes", [EIGHT, RUN])
def test_some_bits_of_another_word_are_taken_in_the_chosen_lanes(lanes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(COMPILE, "well")
    machine, constants = FORGETFUL, Constants(cells=12)
    packing = pack_machine(machine, constants)
    text = module_with_one_function(Module(packing, {}, constants), lanes)
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(load_native(text, ("f",), cache_folder()).addresses["f"])
    room = np.zeros(packing.words * RUN + ALIGNMENT // 8, np.int64)
    begin = -room.ctypes.data % ALIGNMENT // 8
    columns = room[begin : begin + packing.words * RUN].reshape(-1, RUN)
    columns[:] = np.random.default_rng(1).integers(-(1 << 63), (1 << 63) - 1, columns.shape, np.int64)
    call(columns.ctypes.data)
    one, other, chosen = columns[0, :lanes], columns[1, :lanes] << 39, columns[2, :lanes] < 0
    assert (columns[3, :lanes] == np.where(chosen, one & ~SOME | other & SOME, one)).all()
    assert 0 < chosen.sum() < lanes
