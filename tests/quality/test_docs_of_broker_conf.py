"""What the page about broker.conf shows is what the command prints, but for the time that it takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode
from model_check.broker_conf.judgement import judge_configuration
from model_check.broker_conf.suggestions import changes_of, suggest
from model_check.clauses import name_of
from model_check.configuration import Configuration
from model_check.world import Environment

if TYPE_CHECKING:
    from model_check.broker_conf.suggestions import Change

PAGE = Path(__file__).parents[2] / "docs" / "broker-conf.md"


def block(language: str) -> str:
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return str(text)


def test_the_command_of_the_page_says_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    Path("broker.conf").write_text(block("properties"))
    assert run(shlex.split(block("sh"))[1:]) == ExitCode.SAFETY_VIOLATED
    said = capsys.readouterr()
    assert said.err == block("stderr")
    shown = re.sub(r"(depth \d+), \d+\.\d{3} s$", r"\1, 0.000 s", said.out, flags=re.MULTILINE)
    assert re.sub(r" +$", "", shown, flags=re.MULTILINE) == block("stdout"), "put what was printed into the page"


QUICK = Configuration.of_release("5.3.3", local_ms=1_000)
"""Of which the page shows suggestions."""


def suggested() -> dict[str, tuple[list[str], str]]:
    """Change to what the page says that it mends and costs."""
    rows = re.findall(
        r"^\| (.+) \| (.+) \| (.+) \|$", PAGE.read_text(encoding="utf-8").partition("## What to")[2], re.MULTILINE
    )
    told: dict[str, tuple[list[str], str]] = {}
    mended: list[str] = []
    for change, mends, cost in rows[1:]:
        mended = mended if mends == "the same" else mends.split(", ")
        told[change.strip("`")] = mended, cost
    return told


def changes() -> list[Change]:
    tried = changes_of(QUICK, Environment())
    return [change for change in tried if str(change) in suggested()]


def test_what_a_suggestion_of_the_page_costs_is_what_the_command_says() -> None:
    assert len(suggested()) == 3
    assert {str(change): change.cost for change in changes()} == {name: cost for name, (_, cost) in suggested().items()}


@pytest.mark.sweep
def test_what_a_suggestion_of_the_page_mends_is_what_the_searches_find() -> None:
    found = suggest(judge_configuration(QUICK, Environment()), changes=changes()).found
    assert {str(one.change): list(map(name_of, one.mends)) for one in found} == {
        name: names for name, (names, _) in suggested().items()
    }
    assert not any(one.breaks for one in found)


def test_the_page_is_in_the_index_and_in_the_readme() -> None:
    assert "](broker-conf.md)" in (PAGE.parent / "index.md").read_text(encoding="utf-8")
    assert "](docs/broker-conf.md)" in (PAGE.parents[1] / "README.md").read_text(encoding="utf-8")
