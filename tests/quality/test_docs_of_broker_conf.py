"""The example on the page about broker.conf is what the command prints, but for the time that it takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from halfcheck.app import run
from halfcheck.exit_codes import ExitCode

if TYPE_CHECKING:
    import pytest

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


def test_the_page_is_in_the_index_and_in_the_readme() -> None:
    assert "](broker-conf.md)" in (PAGE.parent / "index.md").read_text(encoding="utf-8")
    assert "](docs/broker-conf.md)" in (PAGE.parents[1] / "README.md").read_text(encoding="utf-8")
