"""A real trace with one event removed, added or swapped is refused where the edit shows."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import golden_stores
from model_check.trace_validation.observed import EventKind, ObservedEvent
from model_check.trace_validation.validate import validate
from tests.spark_trace_analysis.audit.golden_traces import golden_trace

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = [store.name for store in golden_stores() if store.scenario != "wide"]
EDITS, EDITS_OF_THE_SWEEP = 36, 200

HALF_QUEUE = (EventKind.HALF_STORED, EventKind.PUT_BACK)
OF_ROUNDS = (EventKind.PUT_BACK, EventKind.DISCARDED, EventKind.OFFSETS_SAVED)


@dataclass(frozen=True)
class Edit:
    """A trace that was changed in one place, and where that shows at the latest; None if it is legal all the same."""

    kind: str
    events: tuple[ObservedEvent, ...]
    at: int
    latest: int | None


def removed(events: Sequence[ObservedEvent], at: int) -> Edit:
    """The next event of the same queue stands in the wrong place, or one that needs the removed one comes first.

    Of the op messages that name a half, one is left over when a delivery is missing: the last of them at the latest.
    """
    gone, left = events[at], (*events[:at], *events[at + 1 :])
    needing = [i for i in range(at, len(left)) if needs(left[i], gone)]
    latest = None if not needing else needing[-1] if gone.kind is EventKind.DELIVERED else needing[0]
    return Edit("removed", left, at, latest)


def needs(event: ObservedEvent, gone: ObservedEvent) -> bool:
    if gone.kind in HALF_QUEUE:
        return event.kind in HALF_QUEUE or event.kind is EventKind.OFFSETS_SAVED
    if gone.kind is EventKind.OP_STORED:
        return event.kind in (EventKind.OP_STORED, EventKind.OFFSETS_SAVED)
    if gone.kind is EventKind.DELIVERED:
        return event.kind is EventKind.OP_STORED and gone.half in event.names
    return gone.kind is EventKind.DISCARDED and event.kind in OF_ROUNDS


def added(events: Sequence[ObservedEvent], at: int) -> Edit:
    """An event that is written twice: the second one stands in the wrong place, or nobody sent for it."""
    is_harmless = events[at].kind is EventKind.OFFSETS_SAVED  # a file may be written twice
    return Edit("added", (*events[: at + 1], events[at], *events[at + 1 :]), at + 1, None if is_harmless else at + 1)


def swapped(events: Sequence[ObservedEvent], at: int) -> Edit:
    """Two neighbours: the clock goes back, or the order of their queue, or a cause comes after its effect."""
    first, second = events[at], events[at + 1]
    is_harmless = first.time == second.time and are_independent(first, second)
    order = (*events[:at], second, first, *events[at + 2 :])
    return Edit("swapped", order, at, None if is_harmless else at + 1)


def are_independent(first: ObservedEvent, second: ObservedEvent) -> bool:
    """Two events of different threads in the same millisecond, neither of which is about what the other wrote."""
    kinds = {first.kind, second.kind}
    ordered = (set(HALF_QUEUE), set(OF_ROUNDS), {EventKind.OP_STORED})
    if EventKind.OFFSETS_SAVED in kinds or any(kinds <= thread for thread in ordered):
        return False
    return second.half != first.half and first.half not in second.names


def edits(count: int) -> list[tuple[str, Edit]]:
    chance = random.Random(8)
    made = []
    for _ in range(count):
        name = chance.choice(NAMES)
        events = golden_trace(name).with_driver.events
        kind = chance.choice((removed, added, swapped))
        made.append((name, kind(events, chance.randrange(len(events) - (kind is swapped)))))
    return made


@pytest.mark.untraced
@pytest.mark.parametrize("count", [EDITS, pytest.param(EDITS_OF_THE_SWEEP, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("kind", ["removed", "added", "swapped"])
def test_an_edited_trace_is_refused_where_the_edit_shows_or_is_another_legal_history(kind: str, count: int) -> None:
    tried = [(name, edit) for name, edit in edits(count) if edit.kind == kind]
    assert len(tried) > count // 5
    refused = 0
    for name, edit in tried:
        golden = golden_trace(name)
        verdict = validate(replace(golden.with_driver, events=edit.events), golden.settings, golden.switches)
        where = f"{name} {kind} at {edit.at}: {verdict.divergence}"
        if edit.latest is None:
            assert verdict.accepted is True, where
            continue
        assert verdict.divergence is not None, where
        assert edit.at <= verdict.divergence.number <= edit.latest, where
        refused += 1
    assert refused > len(tried) * 0.9
