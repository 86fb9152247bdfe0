"""``halfcheck check --minimal-faults``: what it takes to break each clause."""

from __future__ import annotations

import json
import os
from typing import Final

from halfcheck.check.check_options import NOT_OF_MANY_WORLDS, CheckOptions
from halfcheck.errors import ExitCode
from halfcheck.options import say_choice
from halfcheck.printing.progress import live_line
from model_check.clauses import name_of
from model_check.finding import Verdict
from model_check.instances import load_instance
from model_check.verdicts.minimal_faults import MinimalFaults, find_minimal_faults
from model_check.verdicts.searches import CachedSearches, Searches, cache_file
from model_check.world import Environment, Profile
from spec.constants import FAULTS

USUAL_INSTANCE: Final = "small"
MOST_STATES: Final = 20_000_000
"""Where a search is cut short unless --max-states says otherwise: two at a time fit into a few gigabytes."""


def run(options: CheckOptions) -> ExitCode:
    """Search, print, and give the exit code."""
    options.refuse(NOT_OF_MANY_WORLDS, "does not go with --minimal-faults, which searches many environments in memory")
    (instance,) = options.instances or [load_instance(USUAL_INSTANCE)]
    if options.instance is None:
        say_choice(instance, "as --minimal-faults searches one; docs/generated/verdicts.md joins several")
    profiles = Profile.in_order(options.profiles)
    with live_line(wanted=not options.as_json) as report:
        searches = Searches(
            CachedSearches(cache_file(), fresh=options.fresh),
            threads=options.threads or os.cpu_count() or 1,
            most_states=options.max_states or MOST_STATES,
            report=report,
        )
        faults = options.environment or Environment(FAULTS)
        found = find_minimal_faults(
            profiles, instance, options.clauses, searches, most_faults=options.most_faults, faults=faults
        )
    if options.as_json:
        content = {**found.to_json(), "searched": searches.searched, "kept": searches.found}
        print(json.dumps(content, ensure_ascii=False, indent=2))
    else:
        _print(found, searches.searched, searches.found)
    return ExitCode.of_verdict(is_broken=found.is_violated, is_complete=found.complete)


def _print(found: MinimalFaults, searched: int, cached: int) -> None:
    from rich.text import Text

    from halfcheck.printing.console import counted, first_of, wide_console
    from halfcheck.printing.fitting_table import FittingTable

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
                doubt = "" if one.certain else ", if not with fewer"
                faults = one.environment.in_words(" and ") + doubt
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
