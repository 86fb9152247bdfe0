"""Machine code from LLVM's intermediate representation, cached in a folder from run to run.

A file is named by the hash of the text, of the version of LLVM and of the processor, and begins with the hash of its
own content: one that is cut or damaged is not run but written again. Files appear by rename, and one process compiles a
text while others that want it wait.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import llvmlite.binding as llvm

from files.alone import alone
from files.reading import read_bytes
from files.writing import write_whole
from model_check.errors import ModelCheckError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

COMPILE = "HALFCHECK_COMPILE"
"""The variable for how code is compiled: `well`, which is usual, or `quick`, three times as fast, for short searches.

A search with quickly compiled code takes a fifth to a third longer and finds the same.
"""

_LEVELS = {"well": 2, "quick": 0}

_LOADED: dict[tuple[str, tuple[str, ...]], Native] = {}


@dataclass(frozen=True, slots=True)
class Native:
    """Machine code that has been loaded and stays so."""

    name: str  # the hash of all that the code depends on
    addresses: dict[str, int]  # the address of each function
    _engine: llvm.ExecutionEngine


def load_native(text: str, functions: Sequence[str], folder: Path) -> Native:
    """The machine code of a module's text, without target: from this process, from the folder, or compiled now."""
    level = _level()
    machine = _target_machine(level)
    depends_on = [text, str(level), str(llvm.llvm_version_info), machine.triple, *_processor()]
    name = hashlib.sha256("\0".join(depends_on).encode()).hexdigest()[:24]
    key = name, tuple(functions)
    if key not in _LOADED:
        path = folder / f"steps_{name}.o"
        code = read_summed(path)
        if code is None:
            with alone(path):
                code = read_summed(path)
                if code is None:
                    code = compile_text(text)
                    write_summed(path, code)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine_for_engine(level))
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        _LOADED[key] = Native(name, {f: engine.get_function_address(f) for f in functions}, engine)
    return _LOADED[key]


def compile_text(text: str) -> bytes:
    """The object file of a module, for this processor.

    The text computes no value twice and holds none in memory, so that two passes do nearly as much as LLVM's usual
    ones, in a fifth of their time.
    """
    level = _level()
    machine = _target_machine(level)
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    module.verify()
    if level:
        passes = llvm.create_new_module_pass_manager()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    return bytes(machine.emit_object(module))


def _level() -> int:
    asked = os.environ.get(COMPILE, "well")
    if asked not in _LEVELS:
        message = f"{COMPILE}={asked}: expected {' or '.join(_LEVELS)}"
        raise ModelCheckError(message)
    return _LEVELS[asked]


def machine_for_engine(level: int) -> llvm.TargetMachine:
    """A target machine for an engine, which takes it as its own."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    cpu, features = _processor()
    return target.create_target_machine(cpu=cpu, features=features, opt=level, codemodel="jitdefault", jit=True)


@cache
def _target_machine(level: int) -> llvm.TargetMachine:
    return machine_for_engine(level)


@cache
def _processor() -> tuple[str, str]:
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def read_summed(path: Path) -> bytes | None:
    """The content of a file that `write_summed` wrote, if it is there and whole."""
    try:
        content = read_bytes(path)
    except FileNotFoundError:
        return None
    digest, code = content[:32], content[32:]
    return code if hashlib.sha256(code).digest() == digest else None


def write_summed(path: Path, code: bytes) -> None:
    """Write a file whose content begins with its own hash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, hashlib.sha256(code).digest() + code)
