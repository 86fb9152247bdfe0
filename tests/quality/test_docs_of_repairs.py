"""The examples of docs/repairs.md are what the commands print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from halfcheck import app

PAGE = Path(__file__).parents[2] / "docs" / "repairs.md"


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def examples() -> list[tuple[str, list[str]]]:
    """Each command with the parts of its output that the page shows, line breaks taken out."""
    shown = re.findall(r"^\$ halfcheck (.*)\n((?:(?!\$ |```).*\n)+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [
        (command, [" ".join(part.split()) for part in output.split("…\n") if part.strip()]) for command, output in shown
    ]


def test_there_are_examples() -> None:
    assert [command.split()[0] for command, _ in examples()] == ["switches", "check", "check", "check"]
    assert all(parts for _, parts in examples())


@pytest.mark.parametrize(("command", "parts"), examples())
def test_an_example_is_what_the_command_prints(
    command: str, parts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    app.run(command.split())
    printed = " ".join(capsys.readouterr().out.split())
    places = [printed.find(part) for part in parts]
    assert -1 not in places, printed
    assert places == sorted(places)
