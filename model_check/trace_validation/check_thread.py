"""The search for what the check service did, unseen, before a record that it wrote.

Rounds begin and end, op messages are pulled and settled halves are passed without a trace; only put-backs and discards
are seen. All that a round reads beside its own memory are the two queues, which only grow: so a step that took place
earlier is taken on the queues as long as they were then. What matters is which op messages a pull could see, hence a
view: a stretch of the log without a new op message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.trace_validation.divergence import Attempt, attempt_at
from model_check.trace_validation.observed import Kind, ObservedEvent, Trace
from model_check.trace_validation.round_steps import SILENT_ENDS, RoundSteps
from model_check.trace_validation.sources import differs, impossible, may_come_from, sources
from model_check.trace_validation.views import View, last_in_a_row, ops_seen_too_late, views_between
from spec.half_queue import immunity
from spec.language import NONE, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from model_check.trace_validation.producer_side import ProducerSide
    from model_check.trace_validation.workspace import Workspace
    from spec.constants import Constants

LEAST_TRIES = 3_000
TRIES_PER_EVENT = 5
"""How many steps a search may try before it is given up; a path that exists takes about two for each event."""
TRIES_FOR_SAVED_OFFSETS = 500
"""How many more are worth it when all records are explained, but not how far the saved offsets are."""

_OWN = frozenset({"round", "pulled_op", "offsets"})


class CheckThread:
    """Finds the ways to a record of the check service, one after the other.

    Attributes
    ----------
    steps : RoundSteps
        Takes the silent steps, and knows the instant of the latest one.
    attempts : dict
        Event number to the attempt at it that came closest.
    impossible : set
        Events that no rounds whatever explain.

    Parameters
    ----------
    thorough
        Whether rounds may read the op queue in every view. Else they read it as late as they can, or just before an op
        message whose half is looked at again afterwards: what comes late sees most, and only such a message is better
        not seen.
    """

    def __init__(self, work: Workspace, trace: Trace, producers: ProducerSide, *, thorough: bool) -> None:
        self.work = work
        self.trace = trace
        self.producers = producers
        self._thorough = thorough
        self._better_not_seen = ops_seen_too_late(trace)
        self._last_in_a_row = last_in_a_row(trace, work.constants.check_interval)
        self.steps = RoundSteps(work, trace, LEAST_TRIES + TRIES_PER_EVENT * len(trace.events))
        self.attempts: dict[int, Attempt] = {}
        self.impossible: set[int] = set()
        self._tried: dict[tuple[object, ...], list[tuple[int, int, int]]] = {}
        slots = work.state.memory.slots
        self._own = [p for p, slot in enumerate(slots) if slot.path[0] in _OWN and slot.label != "round.started_at"]

    def ways_to(self, number: int, earlier: int) -> Iterator[None]:
        """Go to a record of the check service, in one way after the other.

        After each item the state stands right behind the record; before the next one is asked for, it has to stand
        there again.

        Parameters
        ----------
        number
            The record's event.
        earlier
            The check service's record before it, or the crash: an event number, -1 for the start.

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
        yield from self._go_on(number, views_between(self.trace, earlier, number), 0, self.steps.clock)

    def ways_to_saved_offsets(self, number: int, earlier: int) -> Iterator[None]:
        """Go to the offsets that a file holds: those of an earlier moment, or those after more rounds without a record.

        A file that is older than the last records holds no more than the offsets came to; no more is asked of it.
        """
        event = self.trace.events[number]
        reached = [step.offsets for step in self.work.path]
        if any(half >= event.half and op >= event.op for half, op in reached):
            yield
            return
        for offsets in self.steps.rest(number, earlier):
            reached.append(offsets)
            if offsets[0] >= event.half and offsets[1] >= event.op:
                yield
                return
        self.steps.hurry(TRIES_FOR_SAVED_OFFSETS)
        half, op = max(reached, default=(0, 0))
        self._note(number, 0, Refused("record", f"no round gets the offsets further than half {half} and op {op}"))

    # --- the search ---------------------------------------------------------------------------------------------------

    def _go_on(self, number: int, views: Sequence[View], at: int, clock: int) -> Iterator[None]:
        if self._is_dominated(number, at, clock):
            return
        start = self.work.mark()
        self.steps.look(views[at])
        if not self.work.state.round.running:
            yield from self._begin(number, views, at, clock)
        else:
            self._pass_what_leaves_no_record(number, views[at].before, clock)
            event = self.trace.events[number]
            waited = event.time - clock >= self.work.constants.check_interval
            if waited:
                yield from self._end(number, views, at, clock)
            yield from self._write(number, views[at], clock)
            if not waited:
                yield from self._end(number, views, at, clock)
            yield from self._pull(number, views, at, clock)
            yield from self._run_out_of_time(number, views, at, clock)
        self.work.back(start)

    def _is_dominated(self, number: int, at: int, clock: int) -> bool:
        """Whether the same state was tried no later: whatever can follow could have followed then."""
        values = self.work.state.memory.values
        when = (at, clock, self.work.state.round_ended_at)
        tried = self._tried.setdefault((number, self._freshness(), *(values[p] for p in self._own)), [])
        if any(all(a <= b for a, b in zip(earlier, when, strict=True)) for earlier in tried):
            return True
        tried.append(when)
        return False

    def _freshness(self) -> tuple[int, int]:
        """What the start of a round tells: which halves are fresh, and how far its time limits are."""
        s = self.work.state
        started = s.round.started_at
        fresh = next((h for h in range(s.round.cursor, s.half_length) if s.half[h].stored_at >= started), s.half_length)
        return fresh, started // max(self.work.constants.timeout, 1)

    def _pass_what_leaves_no_record(self, number: int, before: int, clock: int) -> None:
        s, event = self.work.state, self.trace.events[number]
        while (name := self.steps.silent_pass()) is not None:
            if may_come_from(s, self.work.constants, event, s.round.cursor):
                for wanted, now in _ways(
                    self.work.constants, event, clock, is_checked=event.half in self.trace.checked
                ):
                    self._note(number, 0, self.work.refusal(wanted, now=now))
            if not self.steps.take(name, clock, before):
                return

    def _begin(self, number: int, views: Sequence[View], at: int, clock: int) -> Iterator[None]:
        s, c = self.work.state, self.work.constants
        candidates = sources(s, c, self.trace.events[number], range(s.offsets.half, views[-1].halves))
        if not candidates:
            self._note(number, 1, Refused("record", "a half of the transaction with that check count lies ahead"))
            return
        due = max(clock, s.round_ended_at + c.check_interval)
        last = sources(s, c, self.trace.events[self._last_in_a_row[number]], range(views[-1].halves))
        likely = s.half[last[-1]].stored_at + 1 if last else 0
        places = self._order(views, at, likely)
        for place, now in self._starts(views, places, due, likely):
            mark = self.work.mark()
            self.steps.look(views[place])
            if self.steps.take("begin_round", now, views[place].before):
                yield from self._go_on(number, views, place, now)
            self.work.back(mark)

    def _starts(self, views: Sequence[View], places: Sequence[int], due: int, likely: int) -> Iterator[tuple[int, int]]:
        """When the round may have begun: what matters is which halves were stored before, and which are fresh to it.

        In each view the latest start comes first, then the likely one, which makes the halves fresh that stand behind
        the last one put back in a row with this one; all others come behind those of all views.
        """
        s = self.work.state
        others = []
        for place in places:
            view = views[place]
            first = max(due, view.earliest)
            edges = {s.half[h].stored_at + 1 for h in range(s.offsets.half, view.halves)} | {first}
            for now in dict.fromkeys([view.latest, likely, *sorted(edges, reverse=True)]):
                if first <= now <= view.latest:
                    if now in (view.latest, likely):
                        yield place, now
                    else:
                        others.append((place, now))
        yield from others

    def _write(self, number: int, view: View, clock: int) -> Iterator[None]:
        """The record itself, if the cursor stands on a half that it may come from."""
        s, event = self.work.state, self.trace.events[number]
        if s.round.cursor >= s.half_length:
            return
        if not may_come_from(s, self.work.constants, event, s.round.cursor):
            self._note(number, 2, None)
            return
        for name, now in _ways(self.work.constants, event, clock, is_checked=event.half in self.trace.checked):
            mark = self.work.mark()
            self.steps.look_at(number)
            if name == "put_back_and_check":
                self.producers.settle_what_was_unknown(number, event.transaction, now)
            is_late = self.producers.is_overdue(event.transaction, now)
            charged = len(self.work.assumed)
            refused = self.work.take(name, now=now, before=number) or differs(s, event)
            if not is_late:
                self.work.assumed[charged:] = [need for need in self.work.assumed[charged:] if need[0] != "late_end"]
            if refused is None:
                if event.kind is Kind.PUT_BACK:
                    s.half[event.half].stored_at = event.time
                self.steps.clock = now
                yield
            else:
                self.work.back(mark)
                self._note(number, 0, refused)
            self.work.back(mark)
            self.steps.look(view)

    def _end(self, number: int, views: Sequence[View], at: int, clock: int) -> Iterator[None]:
        s = self.work.state
        if s.round.cursor == s.offsets.half and s.round.first_op == s.offsets.op and not list(s.round.done):
            return  # it would leave all as it was, only later
        for name in SILENT_ENDS:
            mark = self.work.mark()
            if self.steps.take(name, clock, views[at].before):
                yield from self._go_on(number, views, at, clock)
            self.work.back(mark)

    def _pull(self, number: int, views: Sequence[View], at: int, clock: int) -> Iterator[None]:
        s, c = self.work.state, self.work.constants
        if s.round.cursor >= s.half_length:
            return
        old = s.half[s.round.cursor].born_at + immunity(s, c, s.round.cursor) + c.equal_age_is_young
        for place in self._order(views, at):
            now = max(clock, views[place].earliest, old)
            if now > views[place].latest:
                continue
            mark = self.work.mark()
            self.steps.look(views[place])
            if self.steps.take("pull_more_ops", now, views[place].before):
                yield from self._go_on(number, views, place, now)
            self.work.back(mark)

    def _run_out_of_time(self, number: int, views: Sequence[View], at: int, clock: int) -> Iterator[None]:
        now = max(clock, self.work.state.round.started_at + self.work.constants.round_limit + 1)
        if now <= self.trace.events[number].time:
            mark = self.work.mark()
            if self.steps.take("end_round_at_time_limit", now, views[at].before):
                yield from self._go_on(number, views, at, now)
            self.work.back(mark)

    def _order(self, views: Sequence[View], at: int, likely: int = 0) -> list[int]:
        """The order in which views are tried.

        The latest first; then those that end with an op message which is better not seen, and that of a likely instant;
        then the others.
        """
        places = range(len(views) - 1, at - 1, -1)
        telling = [
            p
            for p in places[1:]
            if views[p].ops in self._better_not_seen or views[p].earliest <= likely <= views[p].latest
        ]
        others = [p for p in places[1:] if p not in telling] if self._thorough else []
        return [*places[:1], *telling, *others]

    def _note(self, number: int, rank: int, refused: Refused | None) -> None:
        if refused is None and not rank:
            return
        known = self.attempts.get(number)
        if known is None or rank < known.rank:
            self.attempts[number] = attempt_at(self.work, self.trace.events[number], rank, refused)


def _ways(c: Constants, event: ObservedEvent, clock: int, *, is_checked: bool) -> list[tuple[str, int]]:
    """The actions that may write the record, and the instants that favour them most."""
    if event.kind is Kind.DISCARDED:
        return [("discard_instead_of_check", event.time) if c.discards_instead_of_checking else ("discard_half", clock)]
    check = ("put_back_and_check", event.time)
    return [check] if is_checked or event.original == NONE else [("put_back_immune_half", clock), check]
