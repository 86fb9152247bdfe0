"""Why something cannot occur is listed up to a few reasons; where there are more, they are counted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from document.console import wide_console
from halfcheck.printing import check


@pytest.mark.parametrize(
    ("number", "everything", "listed"),
    [(check.MOST_REASONS, False, True), (check.MOST_REASONS + 1, False, False), (check.MOST_REASONS + 1, True, True)],
)
def test_reasons_are_listed_up_to_a_few(
    number: int, everything: bool, listed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    reasons = {f"needs the fault f{each}": [SimpleNamespace(name=f"S{each}.one")] for each in range(number)}
    answer: Any = SimpleNamespace(reasons=reasons)
    check._print_cannot_occur(wide_console(), answer, everything=everything)
    told = capsys.readouterr().out
    assert f"{number} cannot occur here" in told
    assert ("S0.one" in told) == listed
    assert ("--all lists them" in told) != listed
