"""The examples of docs/trace-validation.md, docs/diff.md, docs/audit.md and docs/commands.md are what is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.golden_stores import GOLDEN
from halfcheck import app

ROOT = Path(__file__).parents[2]
PAGES = ("docs/trace-validation.md", "docs/diff.md", "docs/audit.md", "docs/commands.md")


def examples() -> list[tuple[str, str]]:
    """Each `halfcheck diff` or `halfcheck audit` in a page with the output below it, line breaks taken out."""
    found = []
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        shown = re.findall(r"^\$ halfcheck ((?:diff|audit) .*)\n((?:(?!\$ |```).*\n)+)", text, re.MULTILINE)
        found += [(command, " ".join(output.split())) for command, output in shown]
    return found


def test_there_are_examples() -> None:
    assert len(examples()) == 6


@pytest.mark.parametrize(("command", "output"), examples())
def test_an_example_is_what_the_command_prints(command: str, output: str, capfd: pytest.CaptureFixture[str]) -> None:
    app.run([word.replace("conformance/golden", str(GOLDEN)) for word in command.split()])
    printed = " ".join(capfd.readouterr().out.replace(str(GOLDEN), "conformance/golden").split())
    begins, *ends = output.split("… ")
    assert printed.startswith(begins)
    assert printed.endswith(ends[0] if ends else output)
    assert ends or printed == output
