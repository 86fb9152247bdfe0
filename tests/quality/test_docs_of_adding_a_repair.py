"""What docs/adding-a-repair.md shows stands in the files that it names, and so do the tests and messages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from model_check.switches import switch_records

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "adding-a-repair.md").read_text(encoding="utf-8")
SWITCH: Final = "keeps_flag"


def test_the_example_is_a_switch_as_it_stands_there() -> None:
    (entry,) = re.findall(r"```python\n(.+?)```", PAGE, re.DOTALL)
    declared = (ROOT / "spec" / "switches.py").read_text(encoding="utf-8")
    assert entry in declared
    assert f"{SWITCH}: bool = False" in declared
    assert switch_records()[SWITCH].readers
    assert f"{SWITCH}: bool = False" in (ROOT / "reference" / "versions" / "switches.py").read_text(encoding="utf-8")


def test_what_is_said_where_something_is_missing_is_said() -> None:
    tests = (ROOT / "tests" / "model_check" / "test_switches.py").read_text(encoding="utf-8")
    named = re.findall(r"`(test_\w+)`", PAGE)
    assert named
    assert all(f"def {name}(" in tests for name in named)
    for words in ("is read nowhere", "the entry says that the switch repairs these, and no search shows it"):
        assert words in PAGE
        assert words in tests
