"""``halfcheck verdicts``: the table of verdicts, searched again and compared, or written anew."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from halfcheck.errors import CommandLineError, ExitCode
from halfcheck.options import AsJson, Threads, print_json
from halfcheck.printing.progress import live_line

if TYPE_CHECKING:
    from halfcheck.verdicts.files import VerdictFiles
    from model_check.verdicts.regeneration import Regenerated
    from model_check.verdicts.table import TableOfVerdicts
    from spec.constants import Instance

MOST_LINES = 40
"""Differences that are printed, unless as JSON."""


def command(
    *,
    update: Annotated[bool, typer.Option("--update", help="Write the table, the schedules and the page anew.")] = False,
    instances: Annotated[
        list[str] | None,
        typer.Option("--instance", metavar="NAME", help="Only this instance of the plan. May be repeated."),
    ] = None,
    threads: Threads = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Use no search that an earlier run has kept.")] = False,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="List the implications that the table shows and nobody has declared.")
    ] = False,
    folder: Annotated[
        Path | None, typer.Option("--folder", metavar="DIR", help="What holds model_check/ and docs/, if not this one.")
    ] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Compare model_check/verdicts/results/verdicts.toml with what the searches say, or write it anew.

    Every profile is searched in every environment of the plan, which stands in that file. Each verdict, depth and
    number of states that differs is said in a line; so is a declared implication (results/implications.toml) that the
    table refutes, and a page that is not made from the table. The exit code is then 255. A table of another
    specification exits with 150 before anything is searched. Finished searches are kept for the next run. --update
    leaves the entries of a profile that does in an instance what it did when that was searched; --fresh does not.

    Examples
    --------
    halfcheck verdicts --instance tiny
    halfcheck verdicts --update
    halfcheck verdicts --suggest
    """
    from halfcheck.verdicts.files import VerdictFiles
    from model_check.clauses import name_of
    from model_check.verdicts.implications import suggested
    from model_check.verdicts.regeneration import regenerate
    from model_check.verdicts.searches import CachedSearches, cache_file

    files = VerdictFiles(folder)
    if update and files.is_installed:
        message = "--update writes the project's sources and docs/: run it in a checkout, or give one with --folder DIR"
        raise CommandLineError(message)
    table = files.table()
    chosen, stale = _chosen(table, instances), table.stale()
    if stale and not (update and chosen == table.all_instances):
        _refuse(files, stale)
    if suggest:
        for violated, implied in suggested(table, files.implications()):
            print(f"{name_of(violated)} implies {name_of(implied)}")
        return ExitCode.OK
    with live_line(wanted=not as_json) as report:
        cached = CachedSearches(cache_file(), fresh=fresh)
        made = regenerate(
            table,
            chosen,
            cached,
            threads=threads or os.cpu_count() or 1,
            report=report,
            schedules=files.all_counterexamples(),
            keeps_current=update and not fresh,
        )
    lines = [] if stale else _differences(table, made)
    if update:
        files.write(made)
    else:
        lines += files.differences(made)
    lines += files.refuted(made.whole)
    _print(made, lines, updated=update, as_json=as_json)
    is_wrong = bool(files.refuted(made.whole)) if update else bool(lines)
    return ExitCode.OTHER if is_wrong else ExitCode.OK


def _refuse(files: VerdictFiles, stale: list[str]) -> None:
    from model_check.errors import BadFile

    message = f"{files.verdicts}: {'; '.join(stale)}; `halfcheck verdicts --update` writes it anew"
    raise BadFile(message)


def _chosen(table: TableOfVerdicts, instances: list[str] | None) -> tuple[Instance, ...]:
    for name in instances or ():
        if name not in table.plan:
            message = f"--instance {name}: the plan of verdicts.toml has {', '.join(table.plan)}"
            raise CommandLineError(message)
    return tuple(one for one in table.all_instances if not instances or one.name in instances)


def _differences(table: TableOfVerdicts, made: Regenerated) -> list[str]:
    from model_check.verdicts.regeneration import differences

    return [
        line
        for profile, searched in made.table.entries.items()
        for instance, entries in searched.items()
        for line in differences(f"{profile} {instance}", table.entries.get(profile, {}).get(instance, {}), entries)
    ]


def _print(made: Regenerated, lines: list[str], *, updated: bool, as_json: bool) -> None:
    entries = sum(1 for _ in made.table.everything())
    if as_json:
        content = {
            "environments": made.worlds,
            "distinct": made.distinct,
            "searched": made.searched,
            "kept": made.cached,
            "entries": entries,
            "schedules": len(made.schedules),
            "differences": lines,
        }
        print_json(content)
        return
    for line in lines[:MOST_LINES]:
        print(line)
    if len(lines) > MOST_LINES:
        print(f"and {len(lines) - MOST_LINES:,} more; --json lists them all")
    print(
        f"{made.worlds:,} environments with {made.distinct:,} states ({made.searched:,} searched now, "
        f"{made.cached:,} kept from before): {entries:,} entries, "
        f"{'written; ' if updated else ''}{len(lines):,} differences"
    )
