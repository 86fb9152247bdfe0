"""``halfcheck switches``: what each switch of a profile is, and what it breaks and mends."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.switch_effects import Effect, SwitchEffects
    from model_check.switches import SwitchRecord


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Such as settles_once; all of them when none is given."),
    ] = None,
    *,
    instance: Annotated[str, typer.Option(help="Where it is searched what a switch breaks and mends.")] = "tiny",
    profiles: Annotated[
        list[str] | None,
        typer.Option("--profile", metavar="V", help="Only in this release, not in all. May be repeated."),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, max=64, help="Searches at a time; all processors.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the switches by which releases and repairs differ, or say what one is, breaks and mends.

    A switch is turned with + or - behind the name of a profile: --profile 5.4.0+settles_once. The list says what is so
    where a switch is on, and in which releases it is. With a NAME, the RocketMQ classes and methods that it models,
    what it needs, and what it breaks and mends: what the catalogue of defects has on record, then what a search of each
    release with it and without it finds, in the quiet world and under each fault alone. Finished searches are kept.

    Examples
    --------
    halfcheck switches
    halfcheck switches heeds_settled_originals
    halfcheck switches batches_ops --profile 5.4.0 --json
    """
    from halfcheck.check.minimal_faults import MOST_STATES
    from halfcheck.printing.search_progress import live_line
    from model_check.switch_effects import find_effects
    from model_check.switches import switch_called, switch_records
    from model_check.verdicts.kept import KeptSearches, kept_file
    from model_check.verdicts.searches import Searches
    from spec.profiles import VERSIONS

    records = [switch_called(name) for name in names] if names else list(switch_records().values())
    if not names:
        if as_json:
            print(json.dumps({one.name: one.to_json() for one in records}, ensure_ascii=False, indent=2))
        else:
            _print_list(records)
        return
    told = {}
    for number, record in enumerate(records):
        if not as_json:
            _print_head(record, is_first=number == 0)
        with live_line(wanted=not as_json) as report:
            searches = Searches(
                KeptSearches(kept_file()),
                threads=threads or os.cpu_count() or 1,
                most_states=MOST_STATES,
                report=report,
            )
            found = find_effects(record, instance, searches, profiles or VERSIONS)
        if as_json:
            told[record.name] = _to_json(record, found)
        else:
            _print_effects(found)
    if as_json:
        print(json.dumps(told, ensure_ascii=False, indent=2))


def _to_json(record: SwitchRecord, found: SwitchEffects) -> dict[str, object]:
    from model_check.switch_effects import on_record

    return {
        **record.to_json(),
        "on_record": [one.to_json() for one in on_record(record.name)],
        "instance": found.instance,
        "searched_profiles": list(found.releases),
        "effects": [one.to_json() for one in found.effects],
        "still_broken": {clause: list(releases) for clause, releases in found.still_broken.items()},
        "cut_short": list(found.cut_short),
    }


def _print_list(records: Sequence[SwitchRecord]) -> None:
    from halfcheck.printing.counterexample_table import wide_console
    from halfcheck.printing.fitting_table import FittingTable

    console = wide_console()
    table = FittingTable("switch", "kind", "~on in", "~what is so where it is on")
    for one in records:
        table.add_row(one.name, one.kind, _where(one), one.says)
    console.print(table)
    console.print(f"{len(records)} switches; halfcheck switches NAME says what one models, needs, breaks and mends")


def _where(record: SwitchRecord) -> str:
    from spec.profiles import PROFILES

    return "all" if len(record.profiles) == len(PROFILES) else ", ".join(record.profiles) or "none"


def _print_head(record: SwitchRecord, *, is_first: bool) -> None:
    from rich.text import Text

    from halfcheck.printing.counterexample_table import wide_console
    from halfcheck.printing.paragraphs import below
    from model_check.defects.catalogue import catalogue
    from model_check.switch_effects import on_record

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
            where = f"{one.clause} in {one.profile}, {one.environment}, {one.instance}"
            below(console, f"{where}: {one.depth} steps; in {one.repaired_in}: {one.absence}")
    for one in (one for one in recorded if not one.mends):
        console.print(Text(f"as a wrong repair, {one.name}: {one.says}"))
        below(console, f"{one.clause} in {one.profile}, {one.environment}, {one.instance}: {one.depth} steps")
    if record.java:
        console.print(Text(f"models: {', '.join(record.java)}"))
    console.print(Text(f"read by: {', '.join(reader.function for reader in record.readers)}"))


def _print_effects(found: SwitchEffects) -> None:
    from rich.text import Text

    from halfcheck.printing.counterexample_table import wide_console
    from halfcheck.printing.fitting_table import FittingTable

    console = wide_console()
    searched = (
        f"searched on {found.instance} in {', '.join(found.releases)}, in the quiet world and with each fault alone"
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
                table.add_row(Text(change, style=style), clause, _places([e for e in effects if e.clause == clause]))
        console.print(table)
    for releases in dict.fromkeys(found.still_broken.values()):
        clauses = [clause for clause, where in found.still_broken.items() if where == releases]
        ask = f"halfcheck check --minimal-repairs --profile {releases[-1]} --property {clauses[0]}"
        console.print(
            Text(
                f"broken with it as well in {', '.join(releases)}: {', '.join(clauses)}; {ask} says what else it takes"
            )
        )
    moved = dict.fromkeys(one.clause for one in found.effects if one.change in ("sooner", "later"))
    if moved:
        console.print(Text(f"it takes more or fewer steps to break {', '.join(moved)}"))
    if found.cut_short:
        console.print(Text(f"CUT SHORT, and not counted: {', '.join(found.cut_short)}", style="yellow"))


def _places(effects: Sequence[Effect]) -> str:
    """Releases with the same environments together: `4.5.1, 4.9.7: quiet (16 steps)`."""
    by_release: dict[str, list[str]] = {}
    for one in effects:
        steps = one.without if one.with_it is None else one.with_it
        by_release.setdefault(one.release, []).append(f"{one.environment} ({steps} steps)")
    together: dict[str, list[str]] = {}
    for release, told in by_release.items():
        together.setdefault(", ".join(told), []).append(release)
    return "; ".join(f"{', '.join(releases)}: {told}" for told, releases in together.items())
