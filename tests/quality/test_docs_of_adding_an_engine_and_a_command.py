"""docs/adding-an-engine.md and docs/adding-a-command.md: what they show works as it stands there, in so few files."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

from halfcheck.app import COMMANDS, run
from halfcheck.errors import ExitCode
from model_check.check import check
from model_check.engines import COMPILED, ENGINES
from model_check.question import Question

DOCS: Final = Path(__file__).parents[2] / "docs"
MOST_FILES: Final = 3
NANO: Final = str(Path(__file__).parents[1] / "model_check" / "instances" / "nano.toml")


def shown(page: str) -> tuple[str, str]:
    """The file that a page begins with, and its text."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.search(r"`(\S+\.py)`\n\n```python\n(.+?)```", text, re.DOTALL)
    assert found is not None
    assert len(re.findall(r"^## \d\. ", text, re.MULTILINE)) <= MOST_FILES
    return found[1], found[2]


@pytest.fixture
def module(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    file, text = shown(request.param)
    name = file.removesuffix(".py").replace("/", ".")
    made = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, made)
    exec(compile(text, file, "exec"), vars(made))  # noqa: S102
    return made


@pytest.mark.parametrize("module", ["adding-an-engine.md"], indirect=True)
@pytest.mark.parametrize("instance", [NANO, pytest.param("tiny", marks=pytest.mark.sweep)])
def test_the_engine_counts_what_the_compiled_search_counts(
    module: ModuleType, instance: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = module.CountingSearch()
    question = Question.of("5.3.3", (), instance)
    counted = check(question, engine).numbers
    assert counted.size_to_json() == check(question, COMPILED).numbers.size_to_json()
    assert counted.distinct > 200
    monkeypatch.setitem(ENGINES, engine.name, engine)
    assert run(["check", "--engine", "counting", "--instance", instance, "--property", "S1"]) == ExitCode.OK
    assert "the engine counting judges no state" in capsys.readouterr().out
    assert run(["check", "--engine", "counting", "--instance", "lasting"]) == ExitCode.BAD_OPTION
    assert "knows nothing of coverage" in capsys.readouterr().err


@pytest.mark.parametrize("module", [pytest.param("adding-a-command.md", id="tiny")], indirect=True)
def test_the_command_asks_two_worlds(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(COMMANDS, "beside", module.__name__)
    assert run(["beside", "quiet", "crash", "--profile", "5.3.3"]) == ExitCode.SAFETY_VIOLATED
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(",")[0] for line in lines if line.startswith("S10.")] == [
        "S10.op_entry_dies_with_the_process"
    ]
    assert not any(line.startswith("S1.immune_half,") for line in lines)
    assert run(["beside", "crash", "quiet", "--profile", "5.3.3"]) == ExitCode.SAFETY_VIOLATED
    assert capsys.readouterr().out == ""
