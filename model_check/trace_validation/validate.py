"""Trace validation: some path of the specification leaves just these records, or none does; which faults does it need.

The walk goes forwards over the records. Those of producers and END_TRANSACTIONs have one way to them; those of the
check service have many, which are tried depth first. Where all of them fail, the broker's process may have died in
between: paths with few crashes are tried before paths with more.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from model_check.trace_validation.check_thread import CheckThread
from model_check.trace_validation.crashes import Crash, crashes_that_may_explain
from model_check.trace_validation.divergence import Divergence, enabled_beside
from model_check.trace_validation.forecast import Forecast
from model_check.trace_validation.observed import Kind, Settings, Trace, constants_of
from model_check.trace_validation.producer_side import ProducerSide
from model_check.trace_validation.round_steps import SearchLimitError
from model_check.trace_validation.workspace import PathStep, Workspace
from spec.faults import Faults
from spec.language import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spec.constants import Constants
    from spec.switches import Switches

    Report = Callable[[int, int], None]

MOST_CRASHES = 6
PAUSES = frozenset({"slow_round", "slow_dispatch"})
"""What the quiet world does without, but no real broker: nothing takes no time. They are not counted as faults."""
_OF_THE_CHECK_SERVICE = (Kind.PUT_BACK, Kind.DISCARDED, Kind.OFFSETS_SAVED)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What validation found.

    Attributes
    ----------
    accepted : bool
    is_complete : bool
        Whether the search ran to its end; a refusal by one that was cut short says less. Even a complete search does
        not try every path: producers' records are explained in one way each, instants and places of crashes are chosen
        among likely ones.
    events : int
        How many the trace has.
    faults : dict
        The faults that the path needs, each with how often.
    path : tuple of PathStep
        The steps that explain all events, or the longest prefix.
    divergence : Divergence or None
        Why the trace is refused.
    constants : Constants
        The instance that was walked.
    """

    accepted: bool
    is_complete: bool
    events: int
    faults: dict[str, int]
    path: tuple[PathStep, ...]
    divergence: Divergence | None
    constants: Constants


def validate(trace: Trace, settings: Settings, switches: Switches, report: Report | None = None) -> Verdict:
    """Search for a path that leaves just the records of a trace.

    Parameters
    ----------
    trace
        What to explain.
    settings, switches
        Those of the broker that is taken to have written it.
    report
        Called now and then with the number of events explained and of all events.
    """
    constants = constants_of(trace, settings, switches, Faults())
    walks = _walks(trace, constants, report)
    best = next(walks)
    is_complete = best.is_complete
    while not best.accepted and (walk := next(walks, None)) is not None:
        is_complete &= walk.is_complete
        if walk.accepted or walk.reached > best.reached:
            best = walk
    return best.verdict(is_complete=best.accepted or is_complete)


def _walks(trace: Trace, constants: Constants, report: Report | None) -> Iterator[_Walk]:
    """The searches to try, one after the other, until one accepts: without a crash first, then with more and more."""
    walk = _Walk(trace, constants, (), report).run()
    yield walk
    best = walk
    if walk.depends_on_rounds:
        thorough = _Walk(trace, constants, (), report, thorough=True).run()
        yield thorough
        best = thorough if thorough.reached > walk.reached else walk
    for most in range(1, MOST_CRASHES + 1):
        yield from _with_crashes(trace, constants, best, most, report)


def _with_crashes(
    trace: Trace, constants: Constants, sofar: _Walk, most: int, report: Report | None
) -> Iterator[_Walk]:
    """Walks with up to `most` more crashes, each placed where the walk before it failed."""
    if not most or not sofar.a_crash_may_help:
        return
    first = max(sofar.resumable_from, *(crash.before + 1 for crash in sofar.crashes), 0)
    for crash in crashes_that_may_explain(trace, constants, sofar.reached, first, sofar.offsets_seen):
        walk = _Walk(trace, constants, (*sofar.crashes, crash), report).run()
        yield walk
        if walk.reached > sofar.reached:
            yield from _with_crashes(trace, constants, walk, most - 1, report)


class _Walk:
    """One search, with crashes in given places.

    Attributes
    ----------
    reached : int
        The furthest event that was tried.
    resumable_from : int
        The event behind the last one of the check service that was explained then.
    is_complete : bool
        Whether the search ran to its end.
    """

    def __init__(
        self,
        trace: Trace,
        constants: Constants,
        crashes: tuple[Crash, ...],
        report: Report | None,
        *,
        thorough: bool = False,
    ) -> None:
        self.trace = trace
        self.crashes = crashes
        self.accepted = False
        self.is_complete = True
        self.reached = -1
        self.resumable_from = 0
        self._report = report
        self._work = Workspace(constants)
        self._forecast = Forecast(trace)
        self._producers = ProducerSide(self._work, trace, self._forecast)
        self._checks = CheckThread(self._work, trace, self._producers, thorough=thorough)
        self._prefix: tuple[PathStep, ...] = ()
        self._faults: dict[str, int] = {}
        self._divergence: Divergence | None = None
        self._is_refused = False
        self._crash_before = {crash.before: crash for crash in crashes}

    def run(self) -> _Walk:
        """Search; afterwards `accepted` says how it ended."""
        try:
            self.accepted = self._search()
        except SearchLimitError:
            self.is_complete = False
            if self.reached in self._checks.attempts:
                self._failed_at(self.reached)
        return self

    @property
    def depends_on_rounds(self) -> bool:
        """Whether other rounds before it might have explained the event at which the search failed."""
        number = self.reached
        return self.trace.events[number].kind in _OF_THE_CHECK_SERVICE and number not in self._checks.impossible

    @property
    def a_crash_may_help(self) -> bool:
        """Whether the search failed for want of other offsets, or for an entry too many in the op buffer."""
        number = self.reached
        if number >= len(self.trace.events) or self.trace.events[number].kind is Kind.OFFSETS_SAVED:
            return False
        if self.trace.events[number].kind is Kind.OP_STORED:
            return self._producers.has_surplus(number)
        attempt = self._checks.attempts.get(number)
        return attempt is not None and attempt.may_be_a_crash

    @property
    def offsets_seen(self) -> list[tuple[int, int, int]]:
        """Event, half and op offset, wherever an offset moved on the way to the furthest event."""
        return list(dict.fromkeys((step.before, *step.offsets) for step in self._prefix))

    def verdict(self, *, is_complete: bool) -> Verdict:
        """The result, as others see it."""
        return Verdict(
            self.accepted,
            is_complete,
            len(self.trace.events),
            self._faults,
            self._prefix,
            None if self.accepted else self._divergence,
            self._work.constants,
        )

    def _search(self) -> bool:
        ways: list[tuple[int, Iterator[None]]] = []
        number, earlier = 0, -1
        while number < len(self.trace.events):
            number, earlier = self._explain_records(number, earlier)
            if self._is_refused:
                return False
            if number == len(self.trace.events):
                break
            ways.append((number, self._ways_to(number, earlier)))
            while ways:
                number, way = ways[-1]
                if next(way, self) is None:
                    break
                self._failed_at(number)
                ways.pop()
                if number in self._checks.impossible:
                    return False
            else:
                return False
            number, earlier = number + 1, number
        self._remember(len(self.trace.events), earlier)
        return True

    def _ways_to(self, number: int, earlier: int) -> Iterator[None]:
        if self.trace.events[number].kind is Kind.OFFSETS_SAVED:
            return self._checks.ways_to_saved_offsets(number, earlier)
        return self._checks.ways_to(number, earlier)

    def _explain_records(self, number: int, earlier: int) -> tuple[int, int]:
        """Walk to the next record of the check service, over crashes too; stop at a record that is refused."""
        while number < len(self.trace.events):
            self._remember(number, earlier)
            if number in self._crash_before:
                self._die(self._crash_before[number], earlier)
                earlier = max(earlier, number - 1)
                if self._is_refused:
                    break
            if self._clock_went_back(number):
                self._refuse(number, Refused("assume", "the broker's clock does not go back"))
                self._checks.impossible.add(number)
                break
            if self.trace.events[number].kind in _OF_THE_CHECK_SERVICE:
                break
            refused = self._producers.explain(number)
            if refused is not None:
                self._refuse(number, refused)
                break
            number += 1
        return number, earlier

    def _die(self, crash: Crash, earlier: int) -> None:
        s, work = self._work.state, self._work
        now = self.trace.events[crash.before - 1].time
        if crash.rests:
            for _ in self._checks.steps.rest(crash.before, earlier):
                pass
            work.take("persist_offsets", now=now, before=crash.before)
        elif (crash.half, crash.op) != (s.saved.half, s.saved.op):
            self._is_refused = not work.save_offsets_of_then(crash.half, crash.op)
            self.is_complete = not self._is_refused  # another way to the same place may have had those offsets
        work.take("crash", now=now, before=crash.before)
        self._checks.steps.clock = now

    def _remember(self, number: int, earlier: int) -> None:
        """Keep what is known at the furthest event so far."""
        if number <= self.reached:
            return
        self.reached = number
        self.resumable_from = earlier + 1
        self._prefix = tuple(self._work.path)
        counted = Counter(fault for fault, _ in dict.fromkeys(self._work.assumed) if fault not in PAUSES)
        self._faults = dict(sorted(counted.items()))
        if self._report is not None:
            self._report(number, len(self.trace.events))

    def _failed_at(self, number: int) -> None:
        attempt = self._checks.attempts.get(number)
        if attempt is not None and number == self.reached and self._divergence_number() < number:
            self._divergence = Divergence(number, self.trace.events[number], attempt.guard, attempt.nearest)

    def _clock_went_back(self, number: int) -> bool:
        return number > 0 and self.trace.events[number].time < self.trace.events[number - 1].time

    def _refuse(self, number: int, refused: Refused) -> None:
        self._is_refused = True
        if number == self.reached and self._divergence_number() < number:
            event = self.trace.events[number]
            guard = f"{refused.kind}: {refused.rule}"
            self._divergence = Divergence(number, event, guard, enabled_beside(self._work, event))
            self.resumable_from = min(self.resumable_from, self._forecast.earlier_op.get(number, -1) + 1)

    def _divergence_number(self) -> int:
        return -1 if self._divergence is None else self._divergence.number
