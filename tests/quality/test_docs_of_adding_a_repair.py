"""What docs/adding-a-repair.md shows stands in the files that it names, and so do the tests and messages."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Final

import pytest

from model_check.switches import switch_records
from reference.versions.switches import BrokerRepairs

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "adding-a-repair.md").read_text(encoding="utf-8")
SWITCH: Final = "distrusts_future"

EXCERPTS: Final = re.findall(r"`([\w/]+\.(?:py|toml))`[^`]*\n\n```(?:python|toml)\n(.+?)```", PAGE, re.DOTALL)
"""Each file that is named before some of its lines, and these."""

TESTS: Final = ("tests/model_check/test_switches.py", "tests/fuzz/lockstep/test_repairs.py")


def test_the_page_shows_the_files_of_a_repair() -> None:
    assert [file for file, _ in EXCERPTS] == [
        "spec/switches.py",
        "spec/rounds.py",
        "reference/versions/switches.py",
        "reference/broker/transaction/half_judge.py",
        "tests/fuzz/lockstep/test_repairs.py",
        "model_check/defects/latent.toml",
    ]
    assert PAGE.count("```python") + PAGE.count("```toml") == len(EXCERPTS)


@pytest.mark.parametrize(("file", "lines"), EXCERPTS, ids=[file for file, _ in EXCERPTS])
def test_the_lines_stand_in_the_file_and_are_about_the_example(file: str, lines: str) -> None:
    assert lines in (ROOT / file).read_text(encoding="utf-8")
    assert SWITCH in lines


def test_the_example_is_a_switch_that_both_read() -> None:
    assert f"`{SWITCH}: bool = False`" in PAGE
    assert f"{SWITCH}: bool = False" in (ROOT / "spec" / "switches.py").read_text(encoding="utf-8")
    assert switch_records()[SWITCH].readers
    assert SWITCH in {field.name for field in fields(BrokerRepairs)}


def test_what_is_said_where_something_is_missing_is_said() -> None:
    tests = "".join((ROOT / file).read_text(encoding="utf-8") for file in TESTS)
    named = re.findall(r"`(test_\w+)`", PAGE)
    assert len(named) == 5
    assert all(f"def {name}(" in tests for name in named)
    for words in ("is read nowhere", "the entry says that the switch repairs these, and no search shows it"):
        assert words in PAGE
        assert words in tests
