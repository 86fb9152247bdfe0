"""What an operator can do about a transaction; the lines themselves are data (``advice.toml``)."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_FILE = Path(__file__).with_name("advice.toml")


def advice(state: str, resembles: Sequence[str]) -> str:
    """One line: that of the first defect with a line of its own for this state, or else the state's.

    Examples
    --------
    >>> advice("pending", ())
    'Wait: the next check rounds ask its producer. If it stays, see that a producer of its group is online.'
    """
    lines = _lines()
    for defect in resembles:
        for name in (f"{defect}.{state}", defect):
            if name in lines:
                return lines[name]
    return lines[state]


@cache
def _lines() -> dict[str, str]:
    content = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {**content["state"], **content["defect"]}
