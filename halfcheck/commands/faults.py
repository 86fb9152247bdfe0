"""``halfcheck faults``: what it takes to break each clause."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated, Final

import typer

from halfcheck.errors import ExitCode
from halfcheck.options import (
    PROFILES,
    AsJson,
    Faults,
    InstanceName,
    MostStates,
    Properties,
    Threads,
    environment_of,
    instances_of,
    say_choice,
)

if TYPE_CHECKING:
    from model_check.verdicts.minimal_faults import MinimalFaults

USUAL_INSTANCE: Final = "small"
MOST_STATES: Final = 20_000_000
"""Where a search is cut short unless --max-states says otherwise: two at a time fit into a few gigabytes."""


def command(
    *,
    profile: Annotated[
        list[str] | None,
        typer.Option(metavar="PROFILE", help=f"{PROFILES}, or another release; all when none is given. Repeatable."),
    ] = None,
    instance: InstanceName = None,
    faults: Faults = "",
    properties: Properties = None,
    most: Annotated[int, typer.Option(min=0, max=4, help="How many faults at once are tried.")] = 2,
    max_states: MostStates = None,
    threads: Threads = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Use no search that an earlier run has kept.")] = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Find all minimal sets of faults that break each clause, the quiet world first.

    --faults says of which faults the sets are made, of all if it is not given. Finished searches are kept, so that an
    interrupted run goes on where it stopped. The exit code is 12 when a set breaks a clause, 0 when none does, 255 when
    a search was cut short and none was found.

    Examples
    --------
    halfcheck faults --profile 4.9.7 --profile 5.3.3 --instance tiny --property S1
    halfcheck faults --profile 5.5.1 --faults crash,lose_end,late_end --most 3
    """
    from halfcheck.printing.progress import live_line
    from model_check.asked import asked_for
    from model_check.clauses import chosen_clauses
    from model_check.instances import load_instance
    from model_check.verdicts.minimal_faults import find_minimal_faults
    from model_check.verdicts.searches import CachedSearches, Searches, cache_file
    from model_check.world import ALL_FAULTS, Profile

    profiles = Profile.in_order(asked_for(name).profile for name in profile or ())
    environment, clauses = environment_of(faults) or ALL_FAULTS, chosen_clauses(properties or ())
    (size,) = instances_of(instance) or (load_instance(USUAL_INSTANCE),)
    if instance is None:
        say_choice(size, "as the sets of one are searched; docs/generated/verdicts.md joins several")
    with live_line(wanted=not as_json) as report:
        searches = Searches(
            CachedSearches(cache_file(), fresh=fresh),
            threads=threads or os.cpu_count() or 1,
            most_states=max_states or MOST_STATES,
            report=report,
        )
        found = find_minimal_faults(profiles, size, clauses, searches, most_faults=most, faults=environment)
    if as_json:
        content = {**found.to_json(), "searched": searches.searched, "kept": searches.found}
        print(json.dumps(content, ensure_ascii=False, indent=2))
    else:
        _print(found, searches.searched, searches.found)
    return ExitCode.of_verdict(is_broken=found.is_violated, is_complete=found.complete)


def _print(found: MinimalFaults, searched: int, cached: int) -> None:
    from rich.text import Text

    from document.console import wide_console
    from document.fitting_table import FittingTable
    from document.words import counted, first_of
    from model_check.clauses import name_of
    from model_check.finding import Verdict

    console = wide_console()
    sizes = found.instance
    for profile in found.profiles:
        console.print(
            f"RocketMQ {profile}, instance {sizes.name}: {counted(sizes.transactions, 'transaction')}, "
            f"{sizes.half_slots} half slots, {sizes.op_slots} op slots; at most "
            f"{counted(found.most_faults, 'fault')} at once"
        )
        if found.idle[profile]:
            console.print(f"these do nothing here: {', '.join(found.idle[profile])}")
        table = FittingTable("clause", "breaks with", "depth", "~shortest counterexample")
        for clause in found.clauses:
            for one in found.sets(profile, clause):
                faults = one.environment.in_words(" and ") + ("" if one.certain else ", if not with fewer")
                table.add_row(name_of(clause), faults, str(one.shown.depth), Text(one.shown.steps))
            verdict = found.verdict(profile, clause)
            if verdict is not Verdict.VIOLATED:
                words = "nothing: it holds" if verdict is Verdict.HOLDS else "nothing that was found; some is unknown"
                table.add_row(name_of(clause), Text(words, style="green" if verdict is Verdict.HOLDS else "yellow"))
        console.print(table)
        console.print()
    cut = {str(world) for world, _ in found.unknown()}
    if cut:
        console.print(f"CUT SHORT, so that what they do not violate is unknown: {first_of(sorted(cut), 6)}")
    states = sum(finding.numbers.distinct for finding in found.findings.values())
    console.print(
        f"{counted(len(found.findings), 'environment')}, {states:,} distinct states; "
        f"{searched:,} searched now, {cached:,} kept from before"
    )
