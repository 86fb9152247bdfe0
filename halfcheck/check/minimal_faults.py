"""``halfcheck check --minimal-faults``: what it takes to break each clause."""

from __future__ import annotations

import json
import os
from typing import Final

from halfcheck.check.check_options import NOT_OF_MANY_WORLDS, CheckOptions
from halfcheck.errors import ExitCode
from halfcheck.options import say_choice
from halfcheck.printing.progress import live_line
from model_check.check import Verdict, chosen_clauses
from model_check.instances import load_instance, named_profiles
from model_check.verdicts.environment import in_words
from model_check.verdicts.minimal_faults import MinimalFaults, find_minimal_faults
from model_check.verdicts.searches import KeptSearches, Searches, kept_file
from spec.constants import FAULTS
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

USUAL_INSTANCE: Final = "small"
MOST_STATES: Final = 20_000_000
"""Where a search is cut short unless --max-states says otherwise: two at a time fit into a few gigabytes."""


def run(options: CheckOptions) -> ExitCode:
    """Search, print, and give the exit code."""
    options.refuse(NOT_OF_MANY_WORLDS, "does not go with --minimal-faults, which searches many environments in memory")
    instance = options.instance or USUAL_INSTANCE
    if options.instance is None:
        say_choice(instance, "as --minimal-faults searches one; docs/generated/verdicts.md joins several")
    clauses = [f"{c.identifier}.{c.clause}" for c in chosen_clauses(TRANSACTIONAL_MESSAGES, options.clauses)]
    sizes, profiles = load_instance(instance), named_profiles(options.profiles)
    with live_line(wanted=not options.as_json) as report:
        searches = Searches(
            KeptSearches(kept_file(), fresh=options.fresh),
            threads=options.threads or os.cpu_count() or 1,
            most_states=options.max_states or MOST_STATES,
            report=report,
        )
        faults = options.environment or FAULTS
        found = find_minimal_faults(profiles, sizes, clauses, searches, most_faults=options.most_faults, faults=faults)
    if options.as_json:
        content = {**found.to_json(), "searched": searches.searched, "kept": searches.found}
        print(json.dumps(content, ensure_ascii=False, indent=2))
    else:
        _print(found, searches.searched, searches.found)
    return ExitCode.of_verdict(is_broken=found.is_violated, is_complete=found.complete)


def _print(found: MinimalFaults, searched: int, kept: int) -> None:
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
                table.add_row(clause, in_words(one.faults, " and ") + doubt, str(one.depth), Text(one.schedule))
            verdict = found.verdict(profile, clause)
            if verdict is not Verdict.VIOLATED:
                words = "nothing: it holds" if verdict is Verdict.HOLDS else "nothing that was found; some is unknown"
                table.add_row(clause, Text(words, style="green" if verdict is Verdict.HOLDS else "yellow"))
        console.print(table)
        console.print()
    cut = {str(environment) for environment, _ in found.unknown()}
    if cut:
        console.print(f"CUT SHORT, so that what they do not violate is unknown: {first_of(sorted(cut), 6)}")
    states = sum(outcome.distinct for outcome in found.outcomes.values())
    console.print(
        f"{counted(len(found.outcomes), 'environment')}, {states:,} distinct states; "
        f"{searched:,} searched now, {kept:,} kept from before"
    )
