"""What a switch is, breaks and mends, and what may go wrong with a fault, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from halfcheck.printing.console import below, counted, say, wide_console
from halfcheck.printing.fitting_table import FittingTable
from model_check.clauses import name_of
from model_check.defects.catalogue import catalogue
from model_check.defects.claims import unshown_claims
from model_check.defects.switch_effects import on_record
from spec.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from model_check.defects.switch_effects import ClauseEffect, SwitchEffects
    from model_check.switches import SwitchRecord


def print_list(records: Sequence[SwitchRecord]) -> None:
    """A row a switch."""
    console = wide_console()
    table = FittingTable("switch", "kind", "~on in", "~what is so where it is on")
    for one in records:
        table.add_row(one.name, one.kind, _where(one), one.says)
    console.print(table)
    console.print(f"{len(records)} switches; halfcheck switches NAME says what one models, needs, breaks and mends")


def print_faults(told: Mapping[str, str]) -> None:
    """A row a fault."""
    table = FittingTable("fault", "~what may go wrong")
    for name, words in told.items():
        table.add_row(name, words)
    console = wide_console()
    console.print(table)
    say(console, f"{counted(len(told), 'fault')}; --faults crash,lose_end takes some, nothing is the quiet world")


def _where(record: SwitchRecord) -> str:
    return "all" if len(record.profiles) == len(PROFILES) else ", ".join(map(str, record.profiles)) or "none"


def print_head(record: SwitchRecord, *, is_first: bool) -> None:
    """What is known of a switch without a search."""
    console = wide_console()
    if not is_first:
        console.print()
    console.print(Text(f"{record.name}, a {record.kind} switch: {record.says}", style="bold"))
    console.print(Text(f"on in: {_where(record)}"))
    if record.needs:
        console.print(Text(f"needs: {', '.join(record.needs)}"))
    recorded = on_record(record.name)
    names = dict.fromkeys((*record.defects, *(one.name for one in recorded if one.mends)))
    for name in names:
        console.print(Text(f"{name}: {catalogue()[name].name}"))
        for one in (one for one in recorded if one.name == name):
            below(console, f"{one.where}: {one.depth} steps; in {one.search.repaired_in}: {one.absence}")
        if name in unshown_claims(record.name):
            below(console, "so its entry says; no search on record shows it")
    for one in (one for one in recorded if not one.mends):
        console.print(Text(f"as a wrong repair, {one.name}: {one.says}"))
        below(console, f"{one.where}: {one.depth} steps")
    if record.java:
        console.print(Text(f"models: {', '.join(record.java)}"))
    console.print(Text(f"read by: {', '.join(reader.function for reader in record.readers)}"))


def print_effects(found: SwitchEffects) -> None:
    """What a switch breaks and mends."""
    console = wide_console()
    searched = (
        f"searched on {found.instance.name} in {', '.join(map(str, found.releases))}, in the quiet world and with each "
        "fault alone"
    )
    if not found.releases:
        console.print(Text("searched nowhere: no release has what it needs"))
        return
    rows = {change: [one for one in found.effects if one.change == change] for change in ("breaks", "mends")}
    if not any(rows.values()):
        console.print(Text(f"{searched}: it breaks and mends nothing"))
    else:
        console.print(Text(f"{searched}, without it and with it:"))
        table = FittingTable("", "clause", "~where")
        for change, effects in rows.items():
            for clause in dict.fromkeys(one.clause for one in effects):
                style = "bold red" if change == "breaks" else "green"
                rows_of_clause = _places([e for e in effects if e.clause == clause])
                table.add_row(Text(change, style=style), name_of(clause), rows_of_clause)
        console.print(table)
    for releases in dict.fromkeys(found.still_broken.values()):
        clauses = [name_of(clause) for clause, where in found.still_broken.items() if where == releases]
        ask = f"halfcheck repairs --profile {releases[-1]} --property {clauses[0]}"
        console.print(
            Text(
                f"broken with it as well in {', '.join(map(str, releases))}: {', '.join(clauses)}; {ask} says what "
                "else it takes"
            )
        )
    moved = dict.fromkeys(name_of(one.clause) for one in found.effects if one.change in ("sooner", "later"))
    if moved:
        console.print(Text(f"it takes more or fewer steps to break {', '.join(moved)}"))
    if found.cut_short:
        console.print(Text(f"CUT SHORT, and not counted: {', '.join(map(str, found.cut_short))}", style="yellow"))


def _places(effects: Sequence[ClauseEffect]) -> str:
    """Releases with the same environments together: `4.5.1, 4.9.7: quiet (16 steps)`."""
    by_release: dict[str, list[str]] = {}
    for one in effects:
        steps = one.without if one.with_it is None else one.with_it
        by_release.setdefault(one.release.name, []).append(f"{one.environment.name} ({steps} steps)")
    together: dict[str, list[str]] = {}
    for release, told in by_release.items():
        together.setdefault(", ".join(told), []).append(release)
    return "; ".join(f"{', '.join(releases)}: {told}" for told, releases in together.items())
