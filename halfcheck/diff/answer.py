"""What ``halfcheck diff`` found, as lines for people and as JSON for scripts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from halfcheck.exit_codes import ExitCode

_LONGEST = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The result of one comparison.

    Attributes
    ----------
    records
        How many records or events both sides have in common; held against the specification, how many there are.
    identical
        Whether both sides agree; None if that could not be asked, and `reason` says why.
    bytes
        How many bytes were compared and are the same; None where one side has none.
    first_difference, trace
        As in `diff_schema.json`.
    lines
        What to print.
    """

    records: int
    identical: bool | None
    lines: tuple[str, ...]
    bytes: int | None = None
    first_difference: dict[str, Any] | None = None
    trace: dict[str, Any] | None = None
    reason: str | None = None

    @property
    def exit_code(self) -> ExitCode:
        """0 where both agree, 12 where they do not, 150 where nobody can say."""
        if self.identical is None:
            return ExitCode.BAD_CONTENT
        return ExitCode.OK if self.identical else ExitCode.SAFETY_VIOLATED

    def to_json(self) -> str:
        """The answer as one JSON object."""
        content = {
            "records": self.records,
            "identical": self.identical,
            "bytes": self.bytes,
            "first_difference": self.first_difference,
            "trace": self.trace,
        }
        return json.dumps(content, ensure_ascii=False, indent=2)


def shortened(text: str | None) -> str:
    r"""A value on one line, not too long.

    Examples
    --------
    >>> shortened("a\x02b"), shortened(None)
    ('a\\x02b', 'nothing')
    """
    if text is None:
        return "nothing"
    printable = text.encode("unicode_escape").decode()
    return printable if len(printable) <= _LONGEST else f"{printable[:_LONGEST]} … ({len(printable)} characters)"
