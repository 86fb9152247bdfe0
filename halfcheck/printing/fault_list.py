"""The faults in words, as ``halfcheck switches --faults`` prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from halfcheck.printing.console import counted, say, wide_console
from halfcheck.printing.fitting_table import FittingTable

if TYPE_CHECKING:
    from collections.abc import Mapping


def print_faults(told: Mapping[str, str]) -> None:
    """A row a fault."""
    table = FittingTable("fault", "~what may go wrong")
    for name, words in told.items():
        table.add_row(name, words)
    console = wide_console()
    console.print(table)
    say(console, f"{counted(len(told), 'fault')}; --faults crash,lose_end takes some, nothing is the quiet world")
