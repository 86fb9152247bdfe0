"""The output of ``halfcheck audit --broker``: what is wrong first, then the pending halves and what comes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from document.parts import List, Paragraph, Part, tabulated
from document.words import counted
from files.durations import about, duration
from halfcheck.printing.audit import audit_in_words
from reference.format.partial_copy import RoleForHalves
from spark_trace_analysis.audit.rules.transaction_row import local_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from halfcheck.pending_transactions import HalfForecast, UnaskedGroup
    from halfcheck.running_broker import BrokerAudit

_OF_SLAVES: Final = {
    RoleForHalves.SLAVE: (
        "It is a slave: its master checks, discards and knows the producers, so audit that one to learn when. How far "
        "rounds got it asks its master every ten seconds: what they did since may be unknown here."
    ),
    RoleForHalves.ACTING: (
        "It is a slave that acts for its master, which is gone: it asks no producer and discards nothing, but hands "
        "pending halves on to another master of the cluster and goes past them, be they taken there or not, without a "
        "record. What it has passed is unknown here, and may be pending or delivered there: audit the other masters, "
        "and its own once it is back, before anything is sent again."
    ),
}
_TIME: Final = slice(11, 19)
"""Hours to seconds of a local time."""


def broker_in_words(found: BrokerAudit, width: int, *, everything: bool, limit: int) -> Iterator[Part]:
    """An audit of a running broker."""
    copy = found.copy
    if copy.role in _OF_SLAVES:
        yield Paragraph(_OF_SLAVES[RoleForHalves(copy.role)])
    yield from audit_in_words(found.audit, width, everything=everything, limit=limit)
    yield Paragraph("")
    yield Paragraph(
        f"{copy.broker}, {copy.release or 'a release that it does not name'}, at {_clock(copy.read_at_ms)} of its "
        f"clock: {found.pending_total} pending"
    )
    if found.untold and copy.role == RoleForHalves.MASTER:
        yield Paragraph(
            f"It does not tell {', '.join(found.untold)}: when a half is checked or discarded is not foretold, and "
            "RocketMQ's defaults count for the rest."
        )
    yield from _unasked(found.unasked)
    if found.pending:
        yield tabulated(
            "transaction", "~group", ">age", ">checks", "next check", ">left", "discarded", ">producers",
            rows=[
                (
                    one.row.unique_key, one.row.group, about(one.age_ms / 1_000), one.row.checks,
                    *_times(one.forecast), len(one.producers),
                )
                for one in found.pending
            ],
        )  # fmt: skip
    if len(found.pending) < found.pending_total:
        yield Paragraph(f"{found.pending_total - len(found.pending)} more are not shown (--all)")
    if found.producers:
        named = ", ".join(f"{group} {count}" for group, count in found.producers.items())
        yield Paragraph(f"producers that are connected to it now, by group: {named}")
    yield Paragraph(
        f"before the check service lie {counted(found.half_left, 'message')} of the half topic and "
        f"{found.op_left} of the op topic"
    )
    if found.rounds:
        rounds = [
            f"{_clock(one.began_at)}: {counted(one.records, 'record')} in {duration(one.ended_at - one.began_at)}"
            for one in found.rounds
        ]
        yield Paragraph(f"the last rounds that put back or discarded something: {'; '.join(rounds)}")
    yield Paragraph(
        "What a network does not show: damage of the log, records without an entry in their queue, topics that no half "
        "names."
    )


def _unasked(groups: tuple[UnaskedGroup, ...]) -> Iterator[Part]:
    for group in groups:
        more = f" and {group.pending - len(group.keys)} more" if group.pending > len(group.keys) else ""
        yield Paragraph(
            f"No producer of {group.group or 'no group'} is connected here, so that nobody answers: "
            f"{', '.join(group.keys)}{more}"
        )
        yield List(("Start one before they are discarded: a check reaches a producer of the half's own group only.",))


def _times(forecast: HalfForecast | None) -> tuple[str, int | str, str]:
    """Next check, checks left, discard."""
    if forecast is None:
        return "–", "–", "–"
    return _clock(forecast.next_check_at), forecast.checks_left, _clock(forecast.discarded_at)


def _clock(milliseconds: int | None) -> str:
    return (local_time(milliseconds) or "–")[_TIME] or "–"
