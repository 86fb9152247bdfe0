"""A changed specification is never answered from a stale compile cache."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from model_check.explicit.compile import compile_machine, kernel_cache
from model_check.explicit.search import explore
from model_check.yardsticks.two_phase_commit import TWO_PHASE_COMMIT, Constants

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
def go_on(s, c):
    require(s.count < 5, "there is room")
    s.count += 1


@always("P1", clause="never_six")
def never_six(s, c):
    """Six is never reached."""
    return s.count != 6


@sometimes("P1")
def some(s, c):
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
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "kernels"
    monkeypatch.setenv("HALFCHECK_CACHE", str(folder))
    return folder


def test_an_edited_action_gets_another_file_and_another_verdict(cache: Path, tmp_path: Path) -> None:
    before = edited(tmp_path, "edited_before", "s.count < 5", "s.count < 5")
    found = explore(before.MACHINE, before.Sizes())
    assert (found.distinct, found.path_to(0)) == (6, None)
    (first,) = cache.glob("kernel_*.py")

    after = edited(tmp_path, "edited_after", "s.count < 5", "s.count < 6")
    found = explore(after.MACHINE, after.Sizes())
    path = found.path_to(0)
    assert found.distinct == 7
    assert path is not None
    assert len(path) == 6
    files = set(cache.glob("kernel_*.py"))
    assert len(files) == 2
    assert first in files

    again = edited(tmp_path, "edited_again", "s.count < 5", "s.count < 5")
    assert explore(again.MACHINE, again.Sizes()).distinct == 6
    assert set(cache.glob("kernel_*.py")) == files


def test_a_module_is_loaded_from_its_file_when_it_is_not_in_memory(cache: Path) -> None:
    constants = Constants(resource_managers=2)
    first = compile_machine(TWO_PHASE_COMMIT, constants)
    assert compile_machine(TWO_PHASE_COMMIT, constants).module is first.module
    (path,) = cache.glob("kernel_*.py")
    del sys.modules[first.module.__name__]
    assert compile_machine(TWO_PHASE_COMMIT, constants).module is not first.module
    assert list(cache.glob("kernel_*.py")) == [path]


def test_the_cache_folder_is_the_users_unless_one_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HALFCHECK_CACHE", raising=False)
    assert kernel_cache().parts[-2:] == ("halfcheck", "kernels")
    monkeypatch.setenv("HALFCHECK_CACHE", "somewhere")
    assert kernel_cache() == Path("somewhere")
