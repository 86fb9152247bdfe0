"""The pytest file of a counterexample is green as it is, and red when its schedule shows the defect no more."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from model_check.answers.counterexample_files import WrittenFiles, write_files
from model_check.clauses import clauses_by_name
from tests.model_check.checked import checked
from tests.model_check.counterexample import b02

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def written(folder: Path, environment: str, name: str) -> str:
    row = checked("5.3.3", environment, "tiny").violated[clauses_by_name()[name]]
    file = folder / "test_whole.py"
    write_files(row, WrittenFiles(pytest=file))
    return file.read_text(encoding="utf-8")


def outcomes(folder: Path) -> dict[str, str]:
    """File → PASSED or FAILED, as a pytest of its own says."""
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)]
    told = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False).stdout
    return {file: outcome for outcome, file in re.findall(r"^(PASSED|FAILED) (\w+)\.py::", told, re.MULTILINE)}


def test_it_is_green_whole_and_red_without_any_of_its_steps(tmp_path: Path) -> None:
    text = written(tmp_path, "crash", "S10.op_entry_dies_with_the_process")
    lenient = re.sub(r"    assert len\(.*\n", "", text)
    assert lenient != text
    for number, step in enumerate(b02.STEPS, start=1):
        assert lenient.count(f"{step};\n") == 1
        (tmp_path / f"test_without_step_{number}.py").write_text(lenient.replace(f"{step};\n", ""), encoding="utf-8")
    assert outcomes(tmp_path) == {
        "test_whole": "PASSED",
        "test_without_step_1": "FAILED",
        "test_without_step_2": "FAILED",
        "test_without_step_3": "FAILED",
        "test_without_step_4": "FAILED",
    }


def test_it_is_red_in_a_version_that_has_repaired_the_defect(tmp_path: Path) -> None:
    text = written(tmp_path, "crash", "S10.op_entry_dies_with_the_process")
    (tmp_path / "test_whole.py").write_text(text.replace('"5.3.3"', '"4.9.7"'), encoding="utf-8")
    assert outcomes(tmp_path) == {"test_whole": "FAILED"}


def test_it_says_what_is_violated_where_and_by_which_rule(tmp_path: Path) -> None:
    text = written(tmp_path, "quiet", "S1.late_op")
    assert text.startswith('"""S1.late_op is violated in 5.3.3 in the quiet world.\n\nA delivered message is not ')
    assert "def test_s1_late_op_is_violated_in_5_3_3_in_the_quiet_world() -> None:" in text
    assert 'World.of("5.3.3", [], "tiny").constants' in text
    assert "== 11\n" in text
    assert outcomes(tmp_path) == {"test_whole": "PASSED"}
