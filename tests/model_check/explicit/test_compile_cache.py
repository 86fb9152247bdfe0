"""A changed specification is never answered from a stale compile cache."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.machines.two_phase_commit import TWO_PHASE_COMMIT, Constants
from model_check.cache_folder import cache_folder
from model_check.errors import ModelCheckError
from model_check.explicit.code_generation import native
from model_check.explicit.code_generation.compile import Compiled, compile_machine
from model_check.explicit.search import explore

if TYPE_CHECKING:
    from types import ModuleType

SOURCE = '''
from dataclasses import dataclass

from spec.language import (
    Machine, MachineState, action, always, declared_action, declared_always, declared_sometimes, number, require,
    sometimes,
)


@dataclass(frozen=True)
class Sizes:
    most: int = 6


class State(MachineState):
    count: int = number(0, "most")


@action()
def go_on(s: State, c: Sizes):
    require(s.count < 5, "there is room")
    s.count += 1


@always("P1", clause="never_six")
def never_six(s: State, c: Sizes):
    """Six is never reached."""
    return s.count != 6


@sometimes("P1")
def some(s: State, c: Sizes):
    """Something was counted."""
    return s.count > 0


CLAUSES, WITNESSES = (declared_always(never_six),), (declared_sometimes(some),)
MACHINE = Machine("edited", State, (declared_action(go_on),), CLAUSES, WITNESSES)
'''


def edited(folder: Path, name: str, old: str, new: str) -> ModuleType:
    """The module above with a text replaced, in the same file."""
    assert old in SOURCE
    path = folder / "edited.py"
    path.write_text(SOURCE.replace(old, new))
    # Of the same size and second, Python would take it for the text that it has compiled.
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache in which the kernels of the machines below are compiled, and nothing else."""
    folder = tmp_path_factory.mktemp("kernels")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HALFCHECK_CACHE", str(folder))
        nothing_in_memory(patch)
        explore(TWO_PHASE_COMMIT, Constants(resource_managers=2))
    for machine_code in folder.glob("steps_*"):
        machine_code.unlink()
    return folder


@pytest.fixture
def cache(tmp_path: Path, kernels: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache without a machine's own code, and nothing in memory."""
    folder = tmp_path / "kernels"
    shutil.copytree(kernels, folder)
    monkeypatch.setenv("HALFCHECK_CACHE", str(folder))
    nothing_in_memory(monkeypatch)
    return folder


def nothing_in_memory(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(native, "_LOADED", {})
    for name in [name for name in sys.modules if name.startswith("kernel_")]:
        patch.delitem(sys.modules, name)


def test_an_edited_action_gets_another_file_and_another_verdict(cache: Path, tmp_path: Path) -> None:
    before = edited(tmp_path, "edited_before", "s.count < 5", "s.count < 5")
    found = explore(before.MACHINE, before.Sizes())
    assert (found.distinct, found.path_to(0)) == (6, None)
    (first,) = cache.glob("steps_*.o")
    kernels = found.compiled.module

    after = edited(tmp_path, "edited_after", "s.count < 5", "s.count < 6")
    found = explore(after.MACHINE, after.Sizes())
    path = found.path_to(0)
    assert found.distinct == 7
    assert path is not None
    assert len(path) == 6
    files = set(cache.glob("steps_*.o"))
    assert len(files) == 2
    assert first in files
    assert found.compiled.module is kernels, "only the machine's own code is compiled again"

    again = edited(tmp_path, "edited_again", "s.count < 5", "s.count < 5")
    assert explore(again.MACHINE, again.Sizes()).distinct == 6
    assert set(cache.glob("steps_*.o")) == files


def forget(compiled: Compiled) -> None:
    """As in a new process."""
    del sys.modules[compiled.module.__name__]
    native._LOADED.clear()


def test_kernels_are_loaded_from_their_file_when_they_are_not_in_memory(cache: Path) -> None:
    constants = Constants(resource_managers=2)
    first = compile_machine(TWO_PHASE_COMMIT, constants)
    assert compile_machine(TWO_PHASE_COMMIT, constants).module is first.module
    forget(first)
    assert compile_machine(TWO_PHASE_COMMIT, constants).module is not first.module
    (path,) = cache.glob("kernel_*.py")
    assert path.stem == first.module.__name__


def test_machine_code_is_loaded_from_its_file_when_it_is_not_in_memory(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    constants = Constants(resource_managers=2)
    first = explore(TWO_PHASE_COMMIT, constants)
    forget(first.compiled)
    (path,) = cache.glob("steps_*.o")
    monkeypatch.setattr(native, "compile_text", None)
    again = explore(TWO_PHASE_COMMIT, constants)
    assert again.compiled.native is not first.compiled.native
    assert again.sizes == first.sizes
    assert list(cache.glob("steps_*")) == [path]


@pytest.mark.parametrize(
    "damage", ["cut", "changed", *(pytest.param(other, marks=pytest.mark.sweep) for other in ("empty", "text"))]
)
def test_a_damaged_file_is_not_run_but_written_again(cache: Path, damage: str) -> None:
    constants = Constants(resource_managers=2)
    first = explore(TWO_PHASE_COMMIT, constants)
    forget(first.compiled)
    (path,) = cache.glob("steps_*.o")
    whole = path.read_bytes()
    middle = len(whole) // 2
    broken = {
        "empty": b"",
        "cut": whole[:middle],
        "changed": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        "text": b"no machine code\n" * 100,
    }[damage]
    path.write_bytes(broken)
    assert explore(TWO_PHASE_COMMIT, constants).sizes == first.sizes
    assert path.read_bytes() == whole
    assert list(cache.glob("steps_*")) == [path]


def test_code_that_was_compiled_quickly_is_kept_apart_and_finds_the_same(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    constants = Constants(resource_managers=2)
    found = []
    for number, way in enumerate(("quick", "well"), start=1):
        monkeypatch.setenv(native.COMPILE, way)
        found.append(explore(TWO_PHASE_COMMIT, constants))
        assert len(list(cache.glob("steps_*"))) == number
    quick, well = found
    assert (quick.sizes, quick.seen_at) == (well.sizes, well.seen_at)
    assert quick.compiled.native.name != well.compiled.native.name


def test_another_way_to_compile_is_refused_before_anything_is_written(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(native.COMPILE, "fast")
    with pytest.raises(ModelCheckError, match=r"^HALFCHECK_COMPILE=fast: expected well or quick$"):
        explore(TWO_PHASE_COMMIT, Constants(resource_managers=2))
    assert list(cache.glob("steps_*")) == []


COMPILES = """
import sys
from pathlib import Path
from model_check.explicit.code_generation.native import load_native
text = "define i64 @answer() {\\n  ret i64 42\\n}\\n"
import ctypes
print("ready", flush=True)
sys.stdin.readline()
address = load_native(text, ("answer",), Path(sys.argv[1])).addresses["answer"]
print(ctypes.CFUNCTYPE(ctypes.c_int64)(address)())
"""


def test_several_processes_may_compile_the_same_at_once(cache: Path) -> None:
    command = [sys.executable, "-c", COMPILES, str(cache)]
    pipe = subprocess.PIPE
    with ExitStack() as running:
        processes = [running.enter_context(subprocess.Popen(command, stdin=pipe, stdout=pipe)) for _ in range(3)]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
        answers = []
        for process in processes:
            assert process.stdin is not None
            process.stdin.write(b"\n")
            process.stdin.flush()
        for process in processes:
            answers.append(process.communicate()[0])
            assert process.returncode == 0
    assert answers == [b"42\n"] * 3
    assert len(list(cache.glob("steps_*"))) == 1


def test_the_cache_folder_is_the_users_unless_one_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HALFCHECK_CACHE", raising=False)
    assert cache_folder().parts[-2:] == ("halfcheck", "kernels")
    monkeypatch.setenv("HALFCHECK_CACHE", "somewhere")
    assert cache_folder() == Path("somewhere")
