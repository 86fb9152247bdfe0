"""Print the way of the question of some commands, a stay a line: `python -m benchmarks.flow`."""

from __future__ import annotations

from typing import Any, Final

from benchmarks.flow.question_flow import followed
from halfcheck.commands.check import command

QUESTIONS: Final[dict[str, dict[str, Any]]] = {
    "of the portfolio": {"profile": ["5.3.3+heeds_settled_originals"], "faults": "crash"},
    "of one instance": {"profile": ["5.3.3"], "instance": "small", "faults": "crash,lose_end", "properties": ["S1"]},
}
"""Options of `halfcheck check`."""


def main() -> None:
    """Follow each."""
    for name, options in QUESTIONS.items():
        with followed() as way:
            command(**options)
        print(f"{name}: {len(way.modules)} modules, {len(way.stays)} stays, {way.returns} returns")
        print("".join(f"  {module}\n" for module in way.stays), end="")


if __name__ == "__main__":
    main()
