"""A counterexample on the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from document.parts import Table, tabulated

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from model_check.counterexample.steps import Event


def counterexample_table(events: Iterable[Event], most_changes: int | None = None) -> Table:
    """A row a step: its number, the clock, the action with its parameters, and the fields that it changed.

    With `most_changes` so many of a step at most, in one line; how many more there are is said.
    """
    rows = []
    for event in events:
        changes = [str(change) for change in event.changes]
        shown = "\n".join(changes) if most_changes is None else _the_first(changes, most_changes)
        rows.append((event.number, event.time, event.step, shown))
    return tabulated(">step", ">tick", "action", "~what changed", rows=rows)


def _the_first(changes: Sequence[str], most: int) -> str:
    """Some changes in a line, and how many more there are.

    Examples
    --------
    >>> _the_first(["half_length: 0 → 1", "a: 1 → 2", "b: 1 → 2"], 1)
    'half_length: 0 → 1 (and 2 more)'
    """
    more = len(changes) - most
    return "; ".join(changes[:most]) + (f" (and {more} more)" if more > 0 else "")
