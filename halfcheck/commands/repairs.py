"""``halfcheck repairs``: what it takes to mend each clause that is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from document.console import beside, wide_console
from document.fitting_table import FittingTable
from document.words import counted
from halfcheck.errors import ExitCode
from halfcheck.options import (
    NO_TURNED_SWITCHES,
    AsJson,
    Faults,
    InstanceName,
    MostStates,
    Properties,
    Release,
    Threads,
    asked_aloud,
    environment_of,
    instances_of,
    print_json,
)
from halfcheck.printing.progress import live_line, portfolio_progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from model_check.answers.answer import Answer
    from model_check.answers.minimal_repairs import MinimalRepairs


def command(
    *,
    profile: Release = None,
    faults: Faults = "",
    instance: InstanceName = None,
    properties: Properties = None,
    most: Annotated[int, typer.Option(min=1, max=5, help="How many repairs at once are tried.")] = 3,
    also: Annotated[
        list[str] | None, typer.Option("--with", metavar="SWITCH", help="Try this switch, too. May be repeated.")
    ] = None,
    among: Annotated[
        list[str] | None, typer.Option(metavar="SWITCH", help="Try these switches alone. May be repeated.")
    ] = None,
    max_states: MostStates = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Find all minimal sets of repairs with which each clause holds that is broken.

    The exit code is 12 when a clause is broken, 0 when none is.

    Examples
    --------
    halfcheck repairs --profile 5.4.0 --property S1.immune_half
    halfcheck repairs --with skips_long_immunities --profile 5.5.1 --property L2
    """
    from model_check.answers.answer import search_portfolio
    from model_check.answers.minimal_repairs import candidates_of, find_minimal_repairs
    from model_check.clauses import chosen_clauses

    asked, environment = asked_aloud(profile), environment_of(faults)
    candidates = candidates_of(asked.profile, also or (), among or ())
    searched: dict[str, Any] = {
        "instances": instances_of(instance, NO_TURNED_SWITCHES),
        "threads": threads,
        "most_states": max_states,
    }
    clauses = chosen_clauses(properties or ())
    with portfolio_progress(asked.profile.name, wanted=not as_json) as report_search:
        itself = search_portfolio(asked.profile, environment, clauses=clauses, report=report_search, **searched)
    if itself.is_interrupted:
        raise KeyboardInterrupt
    with live_line("looking for repairs", wanted=not as_json) as report:
        found = [
            find_minimal_repairs(
                asked.profile, environment, row.clause, most_repairs=most, among=candidates, report=report, **searched
            )
            for row in itself.broken
        ]
    if as_json:
        print_json(_to_json(itself, found, most))
    else:
        _print(itself, found, most)
    return ExitCode.of_verdict(is_broken=bool(found), is_complete=itself.whole.numbers.complete)


def _to_json(itself: Answer, found: Sequence[MinimalRepairs], most_repairs: int) -> dict[str, object]:
    from model_check.clauses import name_of
    from model_check.finding import Verdict

    return {
        "profile": itself.whole.world.profile.name,
        "environment": list(itself.whole.world.environment),
        "instances": list(dict.fromkeys(size.name for one in found for size in one.instances)),
        "most_repairs": most_repairs,
        "clauses": {name_of(one.clause): one.to_json() for one in found},
        "not_violated": [row.name for row in itself.rows if row.verdict is not Verdict.VIOLATED],
    }


def _print(itself: Answer, found: Sequence[MinimalRepairs], most_repairs: int) -> None:
    console = wide_console()
    world, rest = itself.whole.world, len(itself.rows) - len(found)
    violated = f"{len(found)} of {counted(len(itself.rows), 'clause')} violated"
    console.print(Text(f"RocketMQ {world.profile} {world.environment.beside_a_profile}: {violated}", style="bold"))
    for one in found:
        _print_one(console, one)
    console.print()
    if rest:
        console.print(Text(f"the other {rest} are not violated there" if found else "there is nothing to repair"))
    if found:
        bounds = {size.instance: size for one in found for size in one.bounds}
        searched, ruled_out = sum(one.searched for one in found), sum(one.ruled_out for one in found)
        console.print(
            Text(
                f"all sets of at most {most_repairs} of {len(found[0].candidates)} repairs: {searched:,} searched, "
                f"{ruled_out:,} ruled out by a counterexample"
            )
        )
        if bounds:
            console.print(Text("'holds' is to the bounds of what was searched, each by itself:"))
        for size in bounds.values():
            beside(console, f"  {size.instance}: ", size.in_words(world.environment))


def _print_one(console: Console, one: MinimalRepairs) -> None:
    from model_check.answers.minimal_repairs import no_more_than
    from model_check.finding import Verdict

    row = one.broken
    if row is None:
        return
    like = f", {' '.join(row.resembles)}" if row.resembles else ""
    console.print()
    console.print(Text(f"{row.name} ({row.depth} steps in {row.world.instance.name}{like}): {row.clause.sentence}"))
    if one.sets:
        table = FittingTable("holds with", "~repairs of")
        for found in one.sets:
            doubt = "" if found.certain else " (cut short: no violation was found)"
            table.add_row(Text(" ".join(found.repairs), style="green"), f"{' '.join(found.defects)}{doubt}")
        console.print(table)
        return
    all_of_them = {
        Verdict.HOLDS: f"all {len(one.candidates)} together mend it; --most {one.most_repairs + 1} tries more",
        Verdict.VIOLATED: "all together do not mend it either",
        Verdict.UNKNOWN: "all together broke it nowhere before the search was cut short",
        None: "",
    }[one.with_all]
    console.print(Text(f"{no_more_than(one.most_repairs)} mends it; {all_of_them}", style="yellow"))
