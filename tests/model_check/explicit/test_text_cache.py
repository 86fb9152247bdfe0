"""What was written for a machine is found again by a later process, and never for another machine."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks.machines import two_phase_commit
from benchmarks.machines.two_phase_commit import TWO_PHASE_COMMIT, Constants
from model_check.explicit.code_generation import text_cache
from model_check.explicit.code_generation.packing import pack_machine
from model_check.explicit.code_generation.text_cache import cached_value, text_file
from spec.language import declared_action

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from spec.language import Machine

SIZES = Constants(resource_managers=3)


def written(folder: Path, text: str, machine: Machine = TWO_PHASE_COMMIT, sizes: Constants = SIZES) -> str:
    """What is there, or else the text."""
    slots = pack_machine(machine, sizes).slots
    return cached_value(text_file(folder, machine, sizes, machine.steps(sizes), slots), lambda: text)


def test_it_is_found_again(tmp_path: Path) -> None:
    assert [written(tmp_path, text) for text in ("first", "second")] == ["first", "first"]
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    assert written(tmp_path, "third") == "third", "a file that is cut is written again"


def test_other_sizes_other_actions_other_sources_and_another_emitter_have_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert written(tmp_path, "first") == "first"
    assert written(tmp_path, "larger", sizes=Constants(resource_managers=4)) == "larger"
    fewer = replace(TWO_PHASE_COMMIT, actions=TWO_PHASE_COMMIT.actions[1:])
    assert written(tmp_path, "fewer", fewer) == "fewer"
    unclaimed = replace(TWO_PHASE_COMMIT, clauses=())
    assert written(tmp_path, "unclaimed", unclaimed) == "unclaimed"
    with monkeypatch.context() as patch:
        patch.setattr(two_phase_commit, "_a_number_that_a_function_could_read", 1, raising=False)
        assert written(tmp_path, "other names") == "other names"
    for name, answer in (("_sources_of", "# edited"), ("_own_sources", "# edited")):
        with monkeypatch.context() as patch:
            patch.setattr(text_cache, name, lambda *_, answer=answer: answer)
            assert written(tmp_path, name) == name
    assert written(tmp_path, "second") == "first"


def test_a_function_that_stands_in_no_file_is_never_found_again(tmp_path: Path) -> None:
    (first, *others) = TWO_PHASE_COMMIT.actions
    number = first.place

    def enclosing(*given: object) -> None:
        raise AssertionError(number, given)

    names: dict[str, object] = {}
    exec(compile("def made(s, c):\n    pass\n", "<made>", "exec"), names)  # noqa: S102 - such a function is asked about
    for function in (enclosing, names["made"]):
        machine = replace(TWO_PHASE_COMMIT, actions=(replace(first, function=function), *others))  # type: ignore[arg-type]
        assert [written(tmp_path, text, machine) for text in ("first", "second")] == ["first", "second"]
    assert not list(tmp_path.iterdir())
    assert declared_action(first.function) is first


def test_a_set_among_the_global_names_is_the_same_in_every_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its order depends on the hashes of a process: a module of the specification has a set of kinds."""
    text = (
        "from model_check.explicit.code_generation.text_cache import _identity\n"
        "print(_identity(frozenset({'instant', 'clock', 'flag', 'count'})))"
    )
    said = set()
    for seed in range(4):
        monkeypatch.setenv("PYTHONHASHSEED", str(seed))
        said.add(subprocess.check_output([sys.executable, "-c", text], text=True))
    assert len(said) == 1
