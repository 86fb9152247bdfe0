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
    from collections.abc import Iterator, Mapping

    from model_check.configuration import Configuration
    from spec.constants import Constants
    from spec.switches import Switches

    Deaths = tuple[int, ...]  # events before which the process dies, in their order
    Ways = list[tuple[Deaths, Mapping[int, int]]]  # deaths, each time with the deliveries that linger

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
    misfortunes = Misfortunes(trace, constants, report, found)
    sofar, levels_left = [found], MOST_CRASHES
    for level in range(1, MOST_CRASHES + 1):
        further = []
        for search in sofar:
            for longer in misfortunes.one_more(search):
                is_complete &= longer.is_complete
                if longer.accepted and not misfortunes.best.accepted:
                    levels_left = 1
                misfortunes.best = max(misfortunes.best, longer, key=_how_good)
                if misfortunes.best.accepted and misfortunes.best.needed <= level:
                    return misfortunes.best.verdict(is_complete=True)
                if longer.nearness > search.nearness and longer.a_crash_may_help:
                    further.append(longer)
        sofar = sorted(further, key=_how_good, reverse=True)[:MOST_PREFIXES]
        if misfortunes.best.accepted and not levels_left:
            break
        levels_left -= 1
    return misfortunes.best.verdict(is_complete=misfortunes.best.accepted or is_complete)


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


class Misfortunes:
    """The searches in which the process dies, or END_TRANSACTIONs are handled for long; each is made once.

    Attributes
    ----------
    best
        The one that came furthest, or explains all with the fewest faults.
    """

    def __init__(self, trace: Trace, constants: Constants, report: Report | None, best: PathSearch) -> None:
        self.best = best
        self._trace = trace
        self._constants = constants
        self._report = report
        self._known: set[tuple[Strategy, Deaths, tuple[tuple[int, int], ...]]] = set()

    def one_more(self, sofar: PathSearch) -> Iterator[PathSearch]:
        """The same search with one more death, or END_TRANSACTIONs handled for longer, where that may help it to go on.

        Where a stop helps, stops are added as long as they do: a broker may be stopped again and again.
        """
        if not sofar.a_crash_may_help:
            return
        lingering = sofar.still_lingering
        ways = [(_joined(sofar, gaps), sofar.lingering) for gaps in sofar.places_for_a_crash]
        ways += [] if lingering is None else [(sofar.crashes, lingering)]
        may_be_laxer = is_explained = False
        for strategy in STRATEGIES:
            if is_explained or not (strategy.heeds_answers or may_be_laxer):
                break
            for search in self._in_one_strategy(sofar, strategy, ways):
                is_explained |= search.accepted
                may_be_laxer |= search.may_be_laxer
                yield search

    def _in_one_strategy(self, sofar: PathSearch, strategy: Strategy, ways: Ways) -> Iterator[PathSearch]:
        """The searches of all ways, and behind them those with more stops."""
        stops = {crashes for crashes, _ in _with_a_stop(sofar)}
        helped = []
        for search in self._made(strategy, ways):
            yield search
            if search.crashes in stops and search.nearness > sofar.nearness:
                helped.append(search)
        for search in sorted(helped, key=_how_good, reverse=True):
            yield from self._with_more_stops(search, strategy)

    def _made(self, strategy: Strategy, ways: Ways) -> Iterator[PathSearch]:
        """The searches, but for those that were made before, or can't do with fewer faults than the best one."""
        for crashes, lingering in ways:
            made = strategy, crashes, tuple(lingering.items())
            if made not in self._known and not (self.best.accepted and len(crashes) >= self.best.needed):
                self._known.add(made)
                yield PathSearch(self._trace, self._constants, self._report, strategy, crashes, lingering).run()

    def _with_more_stops(self, sofar: PathSearch, strategy: Strategy) -> Iterator[PathSearch]:
        """The same search with one stop more, and one more, as long as they help."""
        if not sofar.a_crash_may_help:
            return
        for longer in self._made(strategy, _with_a_stop(sofar)):
            yield longer
            if longer.nearness > sofar.nearness:
                yield from self._with_more_stops(longer, strategy)
                return


def _with_a_stop(sofar: PathSearch) -> Ways:
    return [(_joined(sofar, gaps), sofar.lingering) for gaps in sofar.ends_of_a_stop]


def _joined(search: PathSearch, gaps: Deaths) -> Deaths:
    return tuple(sorted({*search.crashes, *gaps}))
