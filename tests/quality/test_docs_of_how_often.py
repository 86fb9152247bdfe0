"""The page about rates shows what its command prints, and lists every key of a workload."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from halfcheck.app import run
from halfcheck.errors import ExitCode
from traffic.simulation import replications
from traffic.workload.reading import SECTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from traffic.simulation.counts import TrafficCounts

PAGE = (Path(__file__).parents[2] / "docs" / "how-often.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_command_of_the_page_says_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run_here(runs: list[replications.Replication], report: Callable[[TrafficCounts], None]) -> None:
        for each in runs:
            report(each.run())

    monkeypatch.setattr(replications, "run_all", run_here)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    (workload,) = blocks("toml")
    Path("shop.toml").write_text(workload, encoding="utf-8")
    assert run(shlex.split(blocks("sh")[-1])[1:]) == ExitCode.OK
    said = capsys.readouterr()
    assert said.err == ""
    (shown,) = blocks("stdout")
    assert [line.rstrip() for line in said.out.splitlines()] == shown.splitlines()


def test_the_page_lists_every_key_of_every_section() -> None:
    rows = dict(re.findall(r"^\| `\[([\w.]+)\]`.*? \| (.*) \|$", PAGE, re.MULTILINE))
    assert {name: re.findall(r"`(\w+)`", keys) for name, keys in rows.items()} == {
        name: list(section.keys) for name, section in SECTIONS.items()
    }
    for name, section in SECTIONS.items():
        assert (f"| `[{name}]` needed: " in PAGE) == section.is_needed
