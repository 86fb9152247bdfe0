"""What an operator can do about a transaction; the lines themselves are data (``advice.toml``)."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_FILE = Path(__file__).with_name("advice.toml")


def advice(state: str, resembles: Sequence[str], also: Sequence[str] = ()) -> str:
    """One line: that of the first defect with a line of its own for this state, or else the state's.

    A transaction in which other states hold, too, has the line of two of them together, if there is one.

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
    together = (f"{state} and {other}" for other in also)
    return next((lines[name] for name in together if name in lines), lines[state])


def on_refusal(profile: str, broker_conf: str | None, *, is_complete: bool) -> list[str]:
    """What it means that the specification of a profile does not explain a store, and what to do, a line each.

    Parameters
    ----------
    broker_conf
        The file that the settings were taken from; None for the defaults.
    is_complete
        Whether the search for an explanation ran to its end.
    """
    lines = _content()["refusal"]
    wanted = ["meaning", "release", "settings" if broker_conf else "defaults", "report"]
    if not is_complete and broker_conf:
        wanted.insert(1, "cut_short")
    return [lines[name].format(profile=profile, broker_conf=broker_conf) for name in wanted]


@cache
def _lines() -> dict[str, str]:
    content = _content()
    return {**content["state"], **content["defect"]}


@cache
def _content() -> dict[str, dict[str, str]]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))
