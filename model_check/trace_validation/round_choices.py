"""What the search for rounds chooses among, and in which order: what they saw, when they began, what wrote a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from model_check.trace_validation.observed import EventKind, ObservedEvent, Trace
from model_check.trace_validation.sources import sources
from model_check.trace_validation.views import View, last_in_a_row, ops_seen_too_late
from spec.chapters import discarding, putting_back
from spec.language import NONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from model_check.trace_validation.producer_side import ProducerSide
    from model_check.trace_validation.workspace import ActionFunction, Workspace


@dataclass(frozen=True, slots=True)
class Manner:
    """How to search.

    Attributes
    ----------
    heeds_answers
        Whether a copy that an END_TRANSACTION names was put back for a check. Else that may be a wrong one.
    is_thorough
        Whether rounds may read the op queue in every view. Else they read it as late as they can, or just before an op
        message whose half is looked at again afterwards: what comes late sees most, and only such a message is better
        not seen.
    """

    heeds_answers: bool
    is_thorough: bool


class RoundChoices:
    """The choices of one search.

    Attributes
    ----------
    left_out : bool
        Whether something was not tried as an END_TRANSACTION answers the check of a copy.
    """

    def __init__(self, work: Workspace, trace: Trace, producers: ProducerSide, manner: Manner) -> None:
        self.work = work
        self.trace = trace
        self.producers = producers
        self.manner = manner
        self.left_out = False
        self._better_not_seen = ops_seen_too_late(trace)
        self._last_in_a_row = last_in_a_row(trace, work.constants.check_interval)

    def likely_start(self, number: int, views: Sequence[View]) -> int:
        """The instant behind which halves were stored that come after the last one put back in a row with this."""
        s, c = self.work.state, self.work.constants
        last = sources(s, c, self.trace.events[self._last_in_a_row[number]], range(views[-1].halves))
        return s.half[last[-1]].stored_at + 1 if last else 0

    def starts(self, views: Sequence[View], places: Sequence[int], due: int, likely: int) -> Iterator[tuple[int, int]]:
        """When the round may have begun: what matters is which halves are fresh to it, and which op messages late.

        In each view the latest start comes first, then the likely one, which makes the halves fresh that stand behind
        the last one put back in a row with this one; all others come behind those of all views.
        """
        s, c = self.work.state, self.work.constants
        others = []
        for place in places:
            view = views[place]
            first = max(due, view.earliest)
            edges = {s.half[h].stored_at + 1 for h in range(s.offsets.half, view.halves)} | {first}
            edges |= {s.op[o].born_at - c.timeout for o in range(s.offsets.op, views[-1].ops)}
            for now in dict.fromkeys([view.latest, likely, *sorted(edges, reverse=True)]):
                if first <= now <= view.latest:
                    if now in (view.latest, likely):
                        yield place, now
                    else:
                        others.append((place, now))
        yield from others

    def views_in_order(self, views: Sequence[View], at: int, likely: int = 0) -> list[int]:
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
        others = [p for p in places[1:] if p not in telling] if self.manner.is_thorough else []
        return [*places[:1], *telling, *others]

    def ways(self, number: int, event: ObservedEvent, clock: int) -> list[tuple[ActionFunction, int]]:
        """The actions that may write the record, and the instants that favour them most, the likelier first."""
        c = self.work.constants
        if event.kind is EventKind.DISCARDED:
            late = c.discards_instead_of_checking
            return [(discarding.discard_instead_of_check, event.time) if late else (discarding.discard_half, clock)]
        check: tuple[ActionFunction, int] = putting_back.put_back_and_check, event.time
        immune: tuple[ActionFunction, int] = putting_back.put_back_immune_half, clock
        if event.half in self.trace.checked or event.original == NONE:
            return [check]
        if not self.producers.is_answered(number, event.half):
            return [immune, check]
        self.left_out = self.left_out or self.manner.heeds_answers
        return [check] if self.manner.heeds_answers else [check, immune]
