"""Trace validation: some path of the specification leaves just these records, or none does; which faults does it need.

A path without a crash is searched for first. Where there is none, the broker's process may have died in between: paths
with few crashes are tried before paths with more, as long as another crash may save more faults than it is. Where
crashes were recorded, there are those and no others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from model_check.trace_validation.observed import Trace, constants_of
from model_check.trace_validation.path_search import PathSearch, PathVerdict, Report
from model_check.trace_validation.round_choices import Strategy
from spec.faults import Faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model_check.configuration import Configuration
    from spec.constants import Constants
    from spec.switches import Switches

MOST_CRASHES = 6

MOST_PREFIXES = 4
"""With how many of the searches that got furthest one more crash is tried."""

STRATEGIES = tuple(
    Strategy(heeds_answers, is_thorough) for heeds_answers in (True, False) for is_thorough in (False, True)
)

PATIENCE = 8
"""How many times as long a search goes on that was cut short, before a crash is looked for."""


def validate(
    trace: Trace, configuration: Configuration, switches: Switches, report: Report | None = None
) -> PathVerdict:
    """Search for a path that leaves just the records of a trace, which such a broker is taken to have written.

    `report` is called now and then with the number of events explained and of all events.
    """
    constants = constants_of(trace, configuration, switches, Faults())
    found, is_complete = _with_known_crashes(trace, constants, report)
    if found.accepted or trace.crashes is not None:
        return found.verdict(is_complete=is_complete)
    sofar, levels_left = [found], MOST_CRASHES
    for level in range(1, MOST_CRASHES + 1):
        further = []
        for search in sofar:
            for longer in _with_one_more_misfortune(search, report):
                is_complete &= longer.is_complete
                if longer.accepted and not found.accepted:
                    levels_left = 1
                found = max(found, longer, key=_how_good)
                if found.accepted and found.needed <= level:
                    return found.verdict(is_complete=True)
                if longer.nearness > search.nearness and not longer.accepted:
                    further.append(longer)
        sofar = sorted(further, key=_how_good, reverse=True)[:MOST_PREFIXES]
        if found.accepted and not levels_left:
            break
        levels_left -= 1
    return found.verdict(is_complete=found.accepted or is_complete)


def _how_good(search: PathSearch) -> tuple[int, int]:
    """The order of searches: by how near they came; of those that explain all, by how few faults they need."""
    return (search.reached, -search.needed) if search.accepted else search.nearness


def _with_known_crashes(trace: Trace, constants: Constants, report: Report | None) -> tuple[PathSearch, bool]:
    """The search that gets furthest, and whether those that were made ran to their end."""
    found = PathSearch(trace, constants, report, STRATEGIES[0], trace.crashes or ()).run()
    cut_short = [] if found.is_complete else [STRATEGIES[0]]
    for strategy in STRATEGIES[1:]:
        if found.accepted:
            break
        is_laxer_in_vain = not (strategy.heeds_answers or found.may_be_laxer)
        is_thorough_in_vain = strategy.is_thorough and not found.depends_on_rounds
        if not (is_laxer_in_vain or is_thorough_in_vain):
            search = PathSearch(trace, constants, report, strategy, trace.crashes or ()).run()
            cut_short += [] if search.is_complete else [strategy]
            found = max(found, search, key=_how_good)
    is_complete = True
    for strategy in cut_short:
        if found.accepted:
            break
        patient = replace(strategy, patience=PATIENCE)
        search = PathSearch(trace, constants, report, patient, trace.crashes or ()).run()
        is_complete &= search.is_complete
        found = max(found, search, key=_how_good)
    return found, is_complete


def _with_one_more_misfortune(sofar: PathSearch, report: Report | None) -> Iterator[PathSearch]:
    """The same search with one more crash, or END_TRANSACTIONs handled for longer, where that may help it to go on."""
    if not sofar.a_crash_may_help:
        return
    lingering = sofar.still_lingering
    ways = [(tuple(sorted({*sofar.crashes, *gaps})), sofar.lingering) for gaps in sofar.places_for_a_crash]
    ways += [] if lingering is None else [(sofar.crashes, lingering)]
    may_be_laxer = is_explained = False
    for strategy in STRATEGIES:
        if is_explained or not (strategy.heeds_answers or may_be_laxer):
            break
        for crashes, still in ways:
            search = PathSearch(sofar.trace, sofar.constants, report, strategy, crashes, still).run()
            is_explained |= search.accepted
            may_be_laxer |= search.may_be_laxer
            yield search
