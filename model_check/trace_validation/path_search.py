"""The search for one path, with crashes in given places.

It goes forwards over the records. Those of producers and END_TRANSACTIONs have one way to them; those of the check
service, and crashes, have many, which are tried depth first.

A crash explains two things that nothing else does: a round that visits halves again which an earlier one has left
behind, and an entry of the op buffer that never was written. Nothing else is tried. Which offsets were saved by then is
left to the search.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from model_check.trace_validation.check_thread import CheckThread
from model_check.trace_validation.divergence import Divergence, enabled_beside
from model_check.trace_validation.forecast import Forecast
from model_check.trace_validation.observed import EventKind, Trace
from model_check.trace_validation.producer_side import ProducerSide
from model_check.trace_validation.round_steps import SearchLimitError
from model_check.trace_validation.workspace import PathStep, Workspace
from spec.language import Refused

if TYPE_CHECKING:
    from model_check.trace_validation.round_choices import Strategy
    from spec.constants import Constants

Report = Callable[[int, int], None]

PAUSES = frozenset({"slow_round", "slow_dispatch"})
"""Faults of every real broker, in which nothing takes no time. They are not counted."""

MOST_GAPS = 12
"""How many places for a crash are tried behind the last record that was explained, the longest silences first."""

MOST_EARLIER_GAPS = 12
"""How many places before it."""

MOST_STOPS = 4
"""How many places for the end of a stop are tried behind the record that is to be explained, the next ones."""

SHORTEST_RESTART_MS = 300
"""No broker is back sooner; a shorter silence is no place for a crash."""

_OF_THE_CHECK_SERVICE = (EventKind.PUT_BACK, EventKind.DISCARDED, EventKind.OFFSETS_SAVED)


@dataclass(frozen=True, slots=True)
class PathVerdict:
    """The verdict of a validation."""

    accepted: bool
    # whether the search ran to its end; even a complete one tries no more than likely instants and places of crashes
    is_complete: bool
    events: int  # how many the trace has
    faults: dict[str, int]  # the faults that the path needs, each with how often
    path: tuple[PathStep, ...]  # the steps that explain all events, or the longest prefix
    divergence: Divergence | None  # why the trace is refused
    constants: Constants  # the instance that was walked


class PathSearch:
    """One search.

    The process dies before the events `crashes`; `lingering` is that of `Forecast`.
    """

    def __init__(
        self,
        trace: Trace,
        constants: Constants,
        report: Report | None,
        strategy: Strategy,
        crashes: tuple[int, ...] = (),
        lingering: Mapping[int, int] = MappingProxyType({}),
    ) -> None:
        self.trace = trace
        self.crashes = crashes
        self.lingering = lingering
        self.heeds_answers = strategy.heeds_answers
        self.accepted = False
        self.is_complete = True  # whether the search ran to its end
        self.reached = -1  # the furthest event that was tried
        self.resumable_from = 0  # the event behind the last one of the check service that was explained then
        self._report = report
        self._work = Workspace(constants, trace.wrote_op_at)
        self._forecast = Forecast(trace, crashes, lingering)
        self._producers = ProducerSide(self._work, trace, self._forecast)
        self._checks = CheckThread(self._work, trace, self._producers, crashes, strategy)
        self._prefix: tuple[PathStep, ...] = ()
        self._faults: dict[str, int] = {}
        self._divergence: Divergence | None = None
        self._is_refused = False

    def run(self) -> PathSearch:
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
    def nearness(self) -> tuple[int, int]:
        """How near it came to explaining all: the event at which it failed, and how near it came to that one.

        Where it did not get to the end of a stop, no event is to blame: another place for the end may explain them all.
        """
        attempt = self._checks.attempts.get(self.reached)
        if attempt is not None:
            return self.reached, -attempt.rank
        return (-1, 0) if self._divergence is None else (self.reached, 0)

    @property
    def a_crash_may_help(self) -> bool:
        """Whether the search failed for want of other offsets, or at what a crash would have cut short."""
        number = self.reached
        if number >= len(self.trace.events) or self.trace.events[number].kind is EventKind.OFFSETS_SAVED:
            return False
        is_round = number in self._checks.attempts and number not in self._checks.impossible
        return is_round or number in self._producers.cut_short

    @property
    def places_for_a_crash(self) -> list[tuple[int, ...]]:
        """Events before which further crashes might explain where the search failed; the fewest and likeliest first.

        A crash behind the check service's last record needs no other explanation of what was explained. The process
        must have died behind what a crash would have cut short.
        """
        events, died_behind = self.trace.events, self._producers.cut_short.get(self.reached, 0)
        gaps = range(max(0, died_behind) + 1, self.reached + 1)
        silence = {gap: events[gap].time - events[gap - 1].time for gap in gaps if gap not in self.crashes}
        likely = [gap for gap in silence if silence[gap] >= SHORTEST_RESTART_MS]
        likely.sort(key=lambda gap: -silence[gap])
        behind = [(gap,) for gap in likely if gap >= self.resumable_from]
        before = [(gap,) for gap in likely if gap < self.resumable_from]
        return sorted([*self.ends_of_a_stop, *behind[:MOST_GAPS], *before[:MOST_EARLIER_GAPS]], key=len)

    @property
    def ends_of_a_stop(self) -> list[tuple[int, ...]]:
        """The next events before which a broker may have started again that wrote this one as it stopped (B52).

        It would have written what waits in the batch: whose entry no op message holds, that died in an earlier process,
        or all of it in the one before. Where that came to its end, this event or one before it may be a stop's first.
        """
        if not self.constants.joins_round_first:
            return []
        ends = self._restarts(self.reached + 1, self._checks.latest_end_of_a_stop(self.reached) + 1)[:MOST_STOPS]
        died = {self._restarts(number + 1, self.reached + 1) for number in self._forecast.never_written}
        lost = tuple(sorted(gap for restarts in died for gap in restarts[:1]))
        began = self._restarts(1, self.reached + 1)[-1:]
        return [(*first, end) for first in dict.fromkeys((lost, began)) for end in ends]

    def _restarts(self, first: int, end: int) -> tuple[int, ...]:
        """The events of a range before which a broker may have started."""
        events = self.trace.events
        return tuple(
            gap
            for gap in range(first, end)
            if events[gap].kind is EventKind.OFFSETS_SAVED
            or events[gap].time - events[gap - 1].time >= SHORTEST_RESTART_MS
        )

    @property
    def still_lingering(self) -> dict[int, int] | None:
        """The deliveries that linger if those do that stop the search; None if none do."""
        deliveries = self._producers.lingering.get(self.reached, frozenset())
        if not deliveries or -1 in deliveries:
            return None
        return {**self.lingering, **dict.fromkeys(deliveries, self.reached)}

    @property
    def may_be_laxer(self) -> bool:
        """Whether some END_TRANSACTION that seems to answer a check may be a wrong one instead."""
        return self._checks.choices.left_out

    @property
    def needed(self) -> int:
        """How many faults the path needs."""
        return sum(self._faults.values())

    @property
    def constants(self) -> Constants:
        """The instance that is walked."""
        return self._work.constants

    def verdict(self, *, is_complete: bool) -> PathVerdict:
        """The result, as others see it."""
        return PathVerdict(
            self.accepted,
            is_complete,
            len(self.trace.events),
            self._faults,
            self._prefix,
            None if self.accepted else self._divergence,
            self._work.constants,
        )

    def _search(self) -> bool:
        ways: list[tuple[int, bool, Iterator[None]]] = []
        number, earlier, died = 0, -1, -1
        while True:
            number, earlier = self._explain_records(number, earlier, died)
            if self._is_refused:
                return False
            if number == len(self.trace.events):
                break
            dies = number in self.crashes and died < number
            if dies:
                self._producers.answer_before_a_crash(number)
            ways.append((number, dies, self._ways_to(number, earlier, dies=dies)))
            while ways:
                number, dies, way = ways[-1]
                if next(way, self) is None:
                    break
                if not dies:
                    self._failed_at(number)
                ways.pop()
                if number in self._checks.impossible:
                    return False
            else:
                return False
            died, earlier = number if dies else number - 1, number - dies
            number += not dies
        self._remember(len(self.trace.events), earlier)
        return True

    def _ways_to(self, number: int, earlier: int, *, dies: bool) -> Iterator[None]:
        if dies:
            return self._checks.ways_to_a_crash(number, earlier)
        if self.trace.events[number].kind is EventKind.OFFSETS_SAVED:
            return self._checks.ways_to_saved_offsets(number, earlier)
        return self._checks.ways_to(number, earlier)

    def _explain_records(self, number: int, earlier: int, died: int) -> tuple[int, int]:
        """Walk to the next record of the check service, or to a crash; stop at a record that is refused."""
        while number < len(self.trace.events):
            self._remember(number, earlier)
            if number in self.crashes and died < number:
                break
            if self._clock_went_back(number):
                self._refuse(number, Refused("assume", "the broker's clock does not go back"))
                self._checks.impossible.add(number)
                break
            self._producers.buffer_rollbacks(number)
            if self.trace.events[number].kind in _OF_THE_CHECK_SERVICE:
                break
            refused = self._producers.explain(number)
            if refused is not None:
                self._refuse(number, refused)
                break
            number += 1
        return number, earlier

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

    def _divergence_number(self) -> int:
        return -1 if self._divergence is None else self._divergence.number
