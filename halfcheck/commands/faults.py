"""``halfcheck faults``: what it takes to break each clause."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Final

import typer

from document.console import show
from document.parts import Paragraph, Part, Tone, tabulated
from document.words import counted, first_of
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
    print_json,
    say_choice,
)
from halfcheck.printing.progress import live_line

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    from model_check.clauses import chosen_clauses
    from model_check.instances import load_instance
    from model_check.verdicts.minimal_faults import find_minimal_faults
    from model_check.verdicts.searches import CachedSearches, Searches, cache_file
    from model_check.world import ALL_FAULTS, Profile, asked_for

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
        print_json(content)
    else:
        show(_in_parts(found, searches.searched, searches.found))
    return ExitCode.of_verdict(is_broken=found.is_violated, is_complete=found.complete)


def _in_parts(found: MinimalFaults, searched: int, cached: int) -> Iterator[Part]:
    from model_check.clauses import name_of
    from model_check.finding import Verdict

    size = found.instance
    among = " among any number of others" if size.crowded else ""
    sizes = (
        f"{counted(size.transactions, 'transaction')}{among}, {size.half_slots} half slots, {size.op_slots} op slots"
    )
    otherwise = {
        Verdict.HOLDS: Paragraph("nothing: it holds", Tone.GOOD),
        Verdict.UNKNOWN: Paragraph("nothing that was found; some is unknown", Tone.WARNING),
    }
    for profile in found.profiles:
        most = f"at most {counted(found.most_faults, 'fault')} at once"
        yield Paragraph(f"RocketMQ {profile}, instance {size.name}: {sizes}; {most}")
        if found.idle[profile]:
            yield Paragraph(f"these do nothing here: {', '.join(found.idle[profile])}")
        rows: list[tuple[object, ...]] = []
        for clause in found.clauses:
            for one in found.sets(profile, clause):
                faults = one.environment.in_words(" and ") + ("" if one.certain else ", if not with fewer")
                rows.append((name_of(clause), faults, one.shown.depth, one.shown.steps))
            verdict = found.verdict(profile, clause)
            if verdict in otherwise:
                rows.append((name_of(clause), otherwise[verdict]))
        yield tabulated("clause", "breaks with", "depth", "~shortest counterexample", rows=rows)
        yield Paragraph("")
    cut = {str(world) for world, _ in found.unknown()}
    if cut:
        why = "UNDECIDED" if size.crowded else "CUT SHORT"
        yield Paragraph(f"{why}, so that what they do not violate is unknown: {first_of(sorted(cut), 6)}")
    states = sum(finding.numbers.distinct for finding in found.findings.values())
    yield Paragraph(
        f"{counted(len(found.findings), 'environment')}, {states:,} distinct states; "
        f"{searched:,} searched now, {cached:,} kept from before"
    )
