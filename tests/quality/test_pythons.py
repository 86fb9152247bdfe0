"""The Pythons that are promised are the same everywhere, and their tests can't be passed over."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from tests import pythons

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[2]


def test_the_machine_check_names_the_pythons_that_the_project_promises() -> None:
    requires = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    names = [".".join(map(str, version)) for version in pythons.promised(requires)]
    check = (ROOT / "setup" / "check_machine.sh").read_text(encoding="utf-8")
    assert f'python_needed="Python {", ".join(names[:-1])} or {names[-1]}"' in check
    assert f"Python {names[0]} to {names[-1]}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_continuous_integration_asks_them() -> None:
    assert "make test-pythons </dev/null\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert all((ROOT / each).exists() for each in pythons.QUICK)


def test_no_other_python_is_a_failure_of_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pythons, "find", lambda _: None)
    assert pythons.main() == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("halfcheck: no Python but ")


def test_the_oldest_and_the_newest_that_are_there_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pythons, "find", lambda version: None if version == (3, 14) else "python")
    asked: list[tuple[int, int]] = []

    def ask(version: tuple[int, int], _: str) -> int:
        asked.append(version)
        return len(asked) - 1

    monkeypatch.setattr(pythons, "_test", ask)
    assert pythons.main((3, 12)) == 1
    assert asked == [(3, 11), (3, 13)]
