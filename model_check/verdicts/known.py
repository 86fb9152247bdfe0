"""What the table of verdicts that comes with the project knows of a question."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from model_check.verdicts.table_file import read_table, table_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.verdicts.table import Minimal, Table
    from spec.language import Property


@cache
def table_of_verdicts() -> Table:
    """The table that comes with the project."""
    return read_table(table_file())


def known_violation(profile: str, faults: Sequence[str], clause: Property) -> Minimal | None:
    """The shortest violation of a clause that the table of verdicts has under some of these faults, if any.

    A profile that is not in the table, as one with a switch turned, has none.
    """
    breaking = table_of_verdicts().breaking(profile, f"{clause.identifier}.{clause.clause}")
    mine = [one for names, one in breaking.items() if set(names) <= set(faults)]
    return min(mine, key=lambda one: one.depth, default=None)
