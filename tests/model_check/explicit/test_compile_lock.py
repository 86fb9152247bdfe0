"""Of several processes that want the same kernels, one compiles."""

from __future__ import annotations

import fcntl
import importlib
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pytest

from model_check.explicit.code_generation.compile import HEADER, load_generated
from model_check.explicit.code_generation.compile_lock import cached_njit, with_compile_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LONG_ENOUGH = 0.05


@contextmanager
def locked_by_another(file: Path) -> Iterator[None]:
    """Locks belong to an opened file, so that this is as good as another process."""
    with file.open("rb") as opened:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


class Dispatcher:
    def __init__(self, compiling: Callable[[], object] = lambda: None) -> None:
        self.compiled: list[str] = []
        self._compiling = compiling

    def compile(self, signature: str) -> None:
        self._compiling()
        self.compiled.append(signature)


def test_nothing_is_compiled_while_another_process_compiles_kernels_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    file.touch()
    kernel = with_compile_lock(Dispatcher(), str(file))
    with ThreadPoolExecutor(1) as executor:
        with locked_by_another(file):
            compiling = executor.submit(kernel.compile, "kernel")
            with pytest.raises(NotYet):
                compiling.result(LONG_ENOUGH)
            assert kernel.compiled == []
        compiling.result()
    assert kernel.compiled == ["kernel"]


def named(opened: IO[bytes]) -> Path:
    return Path(f"/proc/self/fd/{opened.fileno()}").readlink()


def test_a_generated_kernel_is_compiled_under_the_lock_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALFCHECK_CACHE", str(tmp_path))
    module = load_generated(HEADER + "\n@compiled\ndef one_more(number):\n    return number + 1\n")
    file, seen = Path(str(module.__file__)), []
    monkeypatch.setattr(fcntl, "flock", lambda opened, how: seen.append((named(opened), how)))
    assert module.one_more(1) == 2
    assert module.one_more(3) == 4
    assert seen == [(file, fcntl.LOCK_EX), (file, fcntl.LOCK_UN)]


def test_a_cached_function_is_compiled_under_the_lock_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, seen = tmp_path / "of_its_own.py", []
    decorated = "@cached_njit\ndef one_more(number):\n    return number + 1\n"
    file.write_text(f"from {cached_njit.__module__} import cached_njit\n\n{decorated}")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("of_its_own")
    monkeypatch.setattr(fcntl, "flock", lambda opened, how: seen.append((named(opened), how)))
    assert module.one_more(1) == 2
    assert module.one_more(3) == 4
    assert seen == [(file, fcntl.LOCK_EX), (file, fcntl.LOCK_UN)]
    assert list((tmp_path / "__pycache__").glob("of_its_own.one_more-*.nbc"))


def test_what_a_kernel_calls_is_compiled_under_the_same_lock_which_then_ends(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    file.touch()

    def compile_what_it_calls() -> None:
        called.compile("called")
        with pytest.raises(BlockingIOError), locked_by_another(file):
            pass

    called = with_compile_lock(Dispatcher(), str(file))
    kernel = with_compile_lock(Dispatcher(compile_what_it_calls), str(file))
    kernel.compile("kernel")
    assert (called.compiled, kernel.compiled) == (["called"], ["kernel"])
    with locked_by_another(file):
        pass


def test_the_lock_ends_where_compiling_fails(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    file.touch()
    kernel = with_compile_lock(Dispatcher(lambda: 1 // 0), str(file))
    with pytest.raises(ZeroDivisionError):
        kernel.compile("kernel")
    with locked_by_another(file):
        pass


def test_without_a_file_to_lock_each_compiles_for_itself(tmp_path: Path) -> None:
    kernel = with_compile_lock(Dispatcher(), str(tmp_path / "gone.py"))
    kernel.compile("kernel")
    assert kernel.compiled == ["kernel"]
