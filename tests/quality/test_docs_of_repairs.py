"""The examples of docs/repairs.md and docs/upgrade.md are what the commands print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from halfcheck import app

DOCS = Path(__file__).parents[2] / "docs"
CONF = "transactionTimeOut=6000\ntransactionOpBatchInterval=3000\n"
"""The broker.conf of docs/upgrade.md, which names the line of its second setting."""


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def examples(page: str) -> list[tuple[str, list[str]]]:
    """Each command with the parts of its output that a page shows, line breaks taken out."""
    text = (DOCS / page).read_text(encoding="utf-8")
    shown = re.findall(r"^\$ halfcheck (.*)\n((?:(?!\$ |```).*\n)+)", text, re.MULTILINE)
    return [
        (command, [" ".join(part.split()) for part in output.split("…\n") if part.strip()]) for command, output in shown
    ]


def test_there_are_examples() -> None:
    assert [command.split()[0] for command, _ in examples("repairs.md")] == ["switches", "check", "compare", "repairs"]
    assert [command.split()[0] for command, _ in examples("upgrade.md")] == ["compare", "compare"]
    assert all(parts for page in ("repairs.md", "upgrade.md") for _, parts in examples(page))


@pytest.mark.parametrize(("command", "parts"), [*examples("repairs.md"), *examples("upgrade.md")])
def test_an_example_is_what_the_command_prints(
    command: str,
    parts: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broker.conf").write_text(CONF, encoding="utf-8")
    app.run(command.split())
    printed = " ".join(capsys.readouterr().out.split())
    places = [printed.find(part) for part in parts]
    assert -1 not in places, printed
    assert places == sorted(places)
