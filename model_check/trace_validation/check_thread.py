"""The search for the steps of the check service before a record that it wrote.

Rounds begin and end, op messages are pulled and settled halves are passed without a trace; only put-backs and discards
are seen. All that a round reads beside its own memory are the two queues, which only grow: so a step that took place
earlier is taken on the queues as long as they were then. What matters is which op messages a pull could see, hence a
view: a stretch of the log without a new op message.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from model_check.trace_validation.divergence import Attempt, attempt_at
from model_check.trace_validation.observed import EventKind, ObservedEvent, Trace
from model_check.trace_validation.round_choices import (
    RoundChoices,
    Strategy,
    differs,
    impossible,
    may_come_from,
    sources,
)
from model_check.trace_validation.round_steps import SILENT_ENDS, RoundSteps, View, views_between
from spec.chapters import broker, check_round, putting_back, shutdown
from spec.half import immunity
from spec.language import Refused
from spec.state import Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from model_check.trace_validation.producer_side import ProducerSide
    from model_check.trace_validation.workspace import ActionFunction, Workspace
    from spec.constants import Constants

LEAST_TRIES = 3_000
TRIES_PER_EVENT = 5
"""How many steps a search may try before it is given up; a path that exists takes about two for each event."""
TRIES_FOR_SAVED_OFFSETS = 500
"""How many more are worth it when all records are explained, but not how far the saved offsets are."""

_OWN = frozenset({"round", "pulled_op", "offsets"})
"""The fields of the state that are the check service's own."""


@dataclass(frozen=True, slots=True)
class Goal:
    """Where the search goes."""

    number: int  # to this event, or to a crash right before it
    event: ObservedEvent | None = None  # the record of the check service; None for a crash and for saved offsets
    offsets: tuple[int, int] | None = None  # the half and the op offset that were saved; None for records and crashes

    @property
    def is_crash(self) -> bool:
        """Whether the process is to die."""
        return self.event is None and self.offsets is None


class CheckThread:
    """Finds the ways to a record of the check service, one after the other.

    The process dies before the events `crashes`.
    """

    def __init__(
        self, work: Workspace, trace: Trace, producers: ProducerSide, crashes: tuple[int, ...], strategy: Strategy
    ) -> None:
        self.work = work
        self.trace = trace
        self.producers = producers
        self.choices = RoundChoices(work, trace, producers, strategy)
        # takes the silent steps, and knows the instant of the latest one
        self.steps = RoundSteps(work, trace, strategy.patience * (LEAST_TRIES + TRIES_PER_EVENT * len(trace.events)))
        self.attempts: dict[int, Attempt] = {}  # event number → the attempt at it that came closest
        self.impossible: set[int] = set()  # events that no rounds whatever explain
        self._crashes = crashes
        self._last_crash = max(crashes, default=-1)
        self._masters = _records_of_a_master(trace, work.constants)
        self._tried = TriedStates(work, trace, self._last_crash)
        self._died: dict[tuple[int, int, int], list[int]] = {}

    def ways_to(self, number: int, earlier: int) -> Iterator[None]:
        """Go to a record of the check service, in one way after the other.

        After each item the state stands right behind the record; before the next one is asked for, it has to stand
        there again.

        `earlier` is the check service's record before it, or the crash: an event number, -1 for the start.

        Raises
        ------
        SearchLimitError
            After too many steps.
        """
        refused = impossible(self.work.state, self.work.constants, self.trace.events[number])
        if refused is not None:
            self.impossible.add(number)
            self._note(number, 0, refused)
            return
        goal = Goal(number, self.trace.events[number])
        yield from self._go_on(goal, views_between(self.trace, earlier, number), 0, self.steps.clock)

    def ways_to_a_crash(self, gap: int, earlier: int) -> Iterator[None]:
        """Have the process die before an event, with offsets saved that were true at some time since the last crash.

        They may be those of a round without a record, or of a pull in the middle of one (4.5.1).
        """
        yield from self._go_on(Goal(gap), views_between(self.trace, earlier, gap), 0, self.steps.clock)

    def ways_to_saved_offsets(self, number: int, earlier: int) -> Iterator[None]:
        """Go to the offsets that a file holds: those of an earlier moment, or those after more rounds without a record.

        A file that is older than the last records holds no more than the offsets came to; no more is asked of it.
        """
        event = self.trace.events[number]
        if self._were_saved(event.half, event.op):
            yield
            return
        goal = Goal(number, offsets=(event.half, event.op))
        self.steps.allow(LEAST_TRIES)
        yield from self._go_on(goal, self._views_until_all_are_old(earlier, number), 0, self.steps.clock)
        self.steps.hurry(TRIES_FOR_SAVED_OFFSETS)

    def _views_until_all_are_old(self, earlier: int, number: int) -> list[View]:
        """The broker may have lived on behind the last record, for as long as it takes that no half is young."""
        views = views_between(self.trace, earlier, number)
        if all(event.kind is EventKind.OFFSETS_SAVED for event in self.trace.events[number:]):
            c = self.work.constants
            while_young = max(c.timeout, *c.immunities) + c.check_interval + c.round_limit
            views[-1] = replace(views[-1], latest=views[-1].latest + while_young)
        return views

    def _were_saved(self, half: int, op: int) -> bool:
        """Whether the offsets have come so far since the last crash, or did when they were saved before it."""
        return any(half <= reached[0] and op <= reached[1] for reached in self.work.offsets_since_crash())

    # --- the search ---------------------------------------------------------------------------------------------------

    def _go_on(self, goal: Goal, views: Sequence[View], at: int, clock: int) -> Iterator[None]:
        if self._tried.is_dominated(goal, at, clock):
            return
        start = self.work.mark()
        self.steps.look(views[at])
        if goal.offsets is not None:
            self._note_offsets(goal.number)
            if self._were_saved(*goal.offsets):
                self.steps.look_at(goal.number)
                self.steps.clock = clock
                yield
                self.work.back(start)
                return
        if goal.is_crash:
            yield from self._die(goal.number, clock)
            self.steps.look(views[at])
        if not self.work.state.round.running:
            yield from self._begin(goal, views, at, clock)
        else:
            self._pass_what_leaves_no_record(goal, views[at].before, clock)
            waited = goal.event is None or goal.event.time - clock >= self.work.constants.check_interval
            if waited:
                yield from self._end(goal, views, at, clock)
            if goal.event is not None:
                yield from self._write(goal.number, goal.event, views[at], clock)
            if not waited:
                yield from self._end(goal, views, at, clock)
            yield from self._pull(goal, views, at, clock)
            yield from self._wait(goal, views, at, clock)
            yield from self._run_out_of_time(goal, views, at, clock)
        self.work.back(start)

    def _die(self, gap: int, clock: int) -> Iterator[None]:
        """The process dies; what follows depends on nothing of its check service but the offsets that were saved."""
        now = max(clock, self.trace.events[gap - 1].time)
        if self.work.state.role == Role.STOPPING:
            mark = self.work.mark()
            if self.work.take(shutdown.stop, now=now, before=gap) is None:
                self.steps.clock = now
                yield
            self.work.back(mark)
        for half, op in self.work.offsets_since_crash():
            if any(now >= then for then in self._died.get((gap, half, op), ())):
                continue
            self._died.setdefault((gap, half, op), []).append(now)
            mark = self.work.mark()
            self.steps.look_at(gap)
            self.work.save_offsets_of_then(half, op)
            self.work.take(broker.crash, now=now, before=gap)
            self.steps.clock = now
            yield
            self.work.back(mark)

    def _pass_what_leaves_no_record(self, goal: Goal, before: int, clock: int) -> None:
        s, event = self.work.state, goal.event
        while (action := self.steps.silent_pass()) is not None:
            if event is not None and may_come_from(s, self.work.constants, event, s.round.cursor):
                for wanted, now in self.choices.ways(goal.number, event, clock):
                    self._note(goal.number, 0, self.work.refusal(wanted, now=now))
            if not self.steps.take(action, clock, before):
                return

    def _begin(self, goal: Goal, views: Sequence[View], at: int, clock: int) -> Iterator[None]:
        s, c = self.work.state, self.work.constants
        due = max(clock, s.round_ended_at + c.check_interval)
        likely = 0
        if goal.event is not None:
            if not sources(s, c, goal.event, range(s.offsets.half, views[-1].halves)):
                rule = "a half of the transaction with that check count lies ahead"
                self._note(goal.number, 1, Refused("record", rule))
                return
            likely = self.choices.likely_start(goal.number, views)
            if due > views[-1].latest:
                self._note(goal.number, 3, Refused("require", "the check interval is over since the last round"))
        elif goal.offsets is not None and goal.offsets[0] < views[-1].halves:
            likely = s.half[goal.offsets[0]].stored_at
        places = self.choices.views_in_order(views, at, likely)
        if goal.offsets is not None:
            places.sort(key=lambda place: not views[place].earliest <= likely <= views[place].latest)
        begins = [(check_round.begin_round, due, places)]
        if self._may_stop(goal):  # then it runs one more round at once (B52)
            first, earliest = self._behind_the_last_of_a_master(goal.number)
            in_time = [place for place in places if views[place].before >= first]
            begins.append((shutdown.begin_stop, max(clock, earliest), in_time))
        for begin, earliest, possible in begins:
            for place, now in self.choices.starts(views, possible, earliest, likely):
                mark = self.work.mark()
                self.steps.look(views[place])
                if self.steps.take(begin, now, views[place].before):
                    yield from self._go_on(goal, views, place, now)
                self.work.back(mark)

    def _may_stop(self, goal: Goal) -> bool:
        """Whether a process that is still to die may be told to stop before a goal."""
        if not self.work.constants.joins_round_first or self.work.state.role != Role.MASTER:
            return False
        end = next((gap for gap in self._crashes if gap > goal.number or (gap == goal.number and goal.is_crash)), None)
        return end is not None and end <= self.latest_end_of_a_stop(goal.number)

    def latest_end_of_a_stop(self, number: int) -> int:
        """The event before which a process has died at the latest that was told to stop before event `number`."""
        at = bisect_left(self._masters, number)
        return self._masters[at] if at < len(self._masters) else len(self.trace.events) - 1

    def _behind_the_last_of_a_master(self, number: int) -> tuple[int, int]:
        """The first event before which a stop may begin that lasts until event `number`, and the earliest instant."""
        at = bisect_left(self._masters, number)
        return (self._masters[at - 1] + 1, self.trace.events[self._masters[at - 1]].time) if at else (0, 0)

    def _write(self, number: int, event: ObservedEvent, view: View, clock: int) -> Iterator[None]:
        """The record itself, if the cursor stands on a half that it may come from."""
        s = self.work.state
        if s.round.cursor >= s.half_length:
            return
        if not may_come_from(s, self.work.constants, event, s.round.cursor):
            self._note(number, 2, None)
            return
        for action, now in self.choices.ways(number, event, clock):
            mark = self.work.mark()
            self.steps.look_at(number)
            if action in (putting_back.put_back_and_check, putting_back.put_back_unasked):
                self.producers.settle_what_was_unknown(number, event.transaction, now)
            is_late = self.producers.is_overdue(event.transaction, now)
            charged = len(self.work.assumed)
            refused = self._stop_unless_asked(number, event, action, now)
            refused = refused or self.work.take(action, now=now, before=number) or differs(s, event)
            if not is_late:
                self.work.assumed[charged:] = [need for need in self.work.assumed[charged:] if need[0] != "late_end"]
            if refused is None:
                if event.kind is EventKind.PUT_BACK:
                    s.half[event.half].stored_at = event.time
                self.steps.clock = now
                yield
            else:
                self.work.back(mark)
                self._note(number, 0, refused)
            self.work.back(mark)
            self.steps.look(view)

    def _stop_unless_asked(self, number: int, event: ObservedEvent, action: ActionFunction, now: int) -> Refused | None:
        """Where a copy shows that nobody was asked, the broker has begun to stop in the middle of the round."""
        if action != putting_back.put_back_unasked or self.work.state.role == Role.STOPPING:
            return None
        if not self._may_stop(Goal(number, event)):
            return Refused("require", "the broker is being shut down")
        return self.work.take(shutdown.begin_stop, now=now, before=number)

    def _end(self, goal: Goal, views: Sequence[View], at: int, clock: int) -> Iterator[None]:
        s = self.work.state
        leaves_all = s.round.cursor == s.offsets.half and s.round.first_op == s.offsets.op and not list(s.round.done)
        if leaves_all and s.role != Role.STOPPING:
            return  # it would be as it was, only later
        is_at_a_half = s.round.cursor < s.half_length
        now = max(clock, s.half[s.round.cursor].stored_at) if is_at_a_half else clock
        for action in SILENT_ENDS:
            mark = self.work.mark()
            if self.steps.take(action, now, views[at].before):
                yield from self._go_on(goal, views, at, now)
            self.work.back(mark)

    def _pull(self, goal: Goal, views: Sequence[View], at: int, clock: int) -> Iterator[None]:
        s, c = self.work.state, self.work.constants
        if s.round.cursor >= s.half_length:
            return
        old = s.half[s.round.cursor].born_at + immunity(s, c, s.round.cursor) + c.equal_age_is_young
        for place in self.choices.views_in_order(views, at):
            now = max(clock, views[place].earliest, old)
            if now > views[place].latest:
                continue
            mark = self.work.mark()
            self.steps.look(views[place])
            if self.steps.take(check_round.pull_more_ops, now, views[place].before):
                yield from self._go_on(goal, views, place, now)
            self.work.back(mark)

    def _wait(self, goal: Goal, views: Sequence[View], at: int, clock: int) -> Iterator[None]:
        """Until the half at the cursor is known as settled, where the broker knows that without its op message."""
        if not self.work.constants.settles_once:
            return
        passes = check_round.pass_half_of_settled_transaction
        for place in range(at + 1, len(views)):
            mark = self.work.mark()
            self.steps.look(views[place])
            now = max(clock, views[place].earliest)
            if self.steps.silent_pass() is passes and self.steps.take(passes, now, views[place].before):
                yield from self._go_on(goal, views, place, now)
                self.work.back(mark)
                break
            self.work.back(mark)
        self.steps.look(views[at])

    def _run_out_of_time(self, goal: Goal, views: Sequence[View], at: int, clock: int) -> Iterator[None]:
        now = max(clock, self.work.state.round.started_at + self.work.constants.round_limit + 1)
        if now <= views[-1].latest:
            mark = self.work.mark()
            if self.steps.take(check_round.end_round_at_time_limit, now, views[at].before):
                yield from self._go_on(goal, views, at, now)
            self.work.back(mark)

    def _note_offsets(self, number: int) -> None:
        """How far a search for saved offsets has come."""
        half, op = self.work.state.offsets.half, self.work.state.offsets.op
        rule = f"no round gets the offsets further than half {half} and op {op}"
        self._note(number, -(half + op), Refused("record", rule))

    def _note(self, number: int, rank: int, refused: Refused | None) -> None:
        if refused is None and not rank:
            return
        known = self.attempts.get(number)
        if known is None or rank < known.rank:
            self.attempts[number] = attempt_at(self.work, self.trace.events[number], rank, refused)


def _records_of_a_master(trace: Trace, c: Constants) -> list[int]:
    """The events that are stored for clients, and by the op batch thread: never by a broker that is being shut down."""
    kinds = {EventKind.HALF_STORED}
    if c.batches_ops or c.awaits_ends_on_stop:
        kinds.add(EventKind.OP_STORED)
    if c.awaits_ends_on_stop:
        kinds.add(EventKind.DELIVERED)
    return [number for number, event in enumerate(trace.events) if event.kind in kinds]


class TriedStates:
    """The states that a search for rounds has tried: none is tried again from which no more can follow.

    Before the event `last_crash` the process dies for the last time; -1 if it does not.
    """

    def __init__(self, work: Workspace, trace: Trace, last_crash: int) -> None:
        self._work = work
        self._trace = trace
        self._last_crash = last_crash
        slots = work.state.memory.slots
        self._own = [p for p, slot in enumerate(slots) if slot.path[0] in _OWN and slot.label != "round.started_at"]
        self._tried: dict[tuple[object, ...], list[tuple[int, int, int]]] = {}

    def is_dominated(self, goal: Goal, at: int, clock: int) -> bool:
        """Whether the same state was tried no later: whatever can follow could have followed then.

        `at` is the place of the view that the round has.
        """
        values = self._work.state.memory.values
        when = (at, clock, self._work.state.round_ended_at)
        may_be_saved = frozenset(self._work.offsets_since_crash()) if goal.number <= self._last_crash else None
        own = (values[p] for p in self._own)
        role = self._work.state.role
        key = (goal.number, goal.is_crash, role, may_be_saved, self._freshness(goal.number), *own)
        tried = self._tried.setdefault(key, [])
        if any(all(a <= b for a, b in zip(earlier, when, strict=True)) for earlier in tried):
            return True
        tried.append(when)
        return False

    def _freshness(self, number: int) -> tuple[int, int, int]:
        """The marks of a round's start: fresh halves, late op messages, and how far its time limit is."""
        s = self._work.state
        c, started = self._work.constants, s.round.started_at
        fresh = next((h for h in range(s.round.cursor, s.half_length) if s.half[h].stored_at >= started), s.half_length)
        ops = range(s.offsets.op, views_between(self._trace, number - 1, number)[-1].ops)
        late = bisect_right(ops, started + c.timeout, key=lambda o: s.op[o].born_at)
        return fresh, late, started // max(c.timeout, 1)
