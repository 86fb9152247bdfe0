"""``halfcheck check --compare``: two profiles side by side, and only what differs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from halfcheck.check.check_options import NOT_OF_MANY_WORLDS, CheckOptions
from halfcheck.check.minimal_repairs import what_is_left
from halfcheck.check.search import say_turned_in_vain
from halfcheck.errors import ExitCode
from halfcheck.printing.progress import portfolio_progress
from model_check.check import Verdict
from model_check.comparison import Change, Comparison, Side, compare, counted

if TYPE_CHECKING:
    from collections.abc import Sequence


def run(options: CheckOptions) -> ExitCode:
    """Search, print, and give the exit code."""
    options.refuse(
        (*NOT_OF_MANY_WORLDS, "fresh", "minimal_faults", "profile", "minimal_repairs"),
        "does not go with --compare, which searches many worlds in memory",
    )
    profiles = options.compare or ("", "")
    for profile in profiles:
        say_turned_in_vain(profile)
    instances = () if options.instance is None else (options.instance,)
    with portfolio_progress(" and ".join(profiles), wanted=not options.as_json) as report:
        found = compare(
            *profiles,
            options.environment,
            properties=options.clauses,
            instances=instances,
            threads=options.threads,
            most_states=options.max_states,
            report=report,
        )
    left = []
    if options.max_states is None:
        left = what_is_left(found.after, instances, threads=options.threads, wanted=not options.as_json)
    if options.as_json:
        content = {**found.to_json(), "left": {one.clause: one.to_json() for one in left}}
        print(json.dumps(content, ensure_ascii=False, indent=2))
    else:
        _print(found, [str(one) for one in left])
    result = found.after.result
    return ExitCode.of_verdict(is_broken=result.is_violated, is_complete=result.complete)


def _print(found: Comparison, left: Sequence[str]) -> None:
    from rich.text import Text

    from halfcheck.printing.console import wide_console
    from halfcheck.printing.fitting_table import FittingTable
    from model_check.wording.faults import in_world

    console = wide_console()
    before, after = found.before.result, found.after.result
    numbers = counted(found.differences)
    told = ", ".join(f"{number} {change.value}" for change, number in numbers.items()) or "nothing differs"
    console.print(Text(f"{after.profile} against {before.profile} {in_world(before.faults)}: {told}", style="bold"))
    if found.differences:
        colours = {
            Change.BROKEN: "bold red",
            Change.SOONER: "red",
            Change.LATER: "yellow",
            Change.THROUGH: "yellow",
            Change.MENDED: "green",
        }
        rules = {row.name: row.clause.sentence for row in after.clauses}
        table = FittingTable("clause", "change", "~rule", f"~{before.profile}", f"~{after.profile}")
        for one in found.differences:
            change = Text(one.change.value, style=colours.get(one.change, ""))
            table.add_row(one.clause, change, rules[one.clause], _words(one.before), _words(one.after))
        console.print(table)
    for sentence in left:
        console.print(Text(sentence, style="yellow"))
    same = "; ".join(f"{len(clauses)} {_verb(verdict, len(clauses))}" for verdict, clauses in found.same.items())
    total = sum(len(clauses) for clauses in found.same.values())
    if total:
        console.print(Text(f"{total} {'are' if total > 1 else 'is'} the same in both: {same}"))
    states, seconds = before.distinct + after.distinct, before.seconds + after.seconds
    console.print(Text(f"searched: {', '.join(found.instances)}; {states:,} states, {seconds:.3f} s"))
    if any(row.verdict is Verdict.UNKNOWN for row in (*before.clauses, *after.clauses)):
        console.print(Text("CUT SHORT: what is unknown was not searched to its end", style="yellow"))


def _words(side: Side) -> str:
    if side.depth is None:
        return side.verdict
    like = f" ({' '.join(side.resembles)})" if side.resembles else ""
    return f"{side.verdict}, {side.depth} steps in {side.instance}{like}"


def _verb(verdict: str, number: int) -> str:
    forms = {"violated": "violated", "holds": "holds" if number == 1 else "hold"}
    return forms.get(verdict, verdict)
