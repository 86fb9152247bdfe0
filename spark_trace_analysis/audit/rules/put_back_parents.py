"""Finds the copy that each put-back was made from, and the places where the scan of the half queue went back.

A put-back does not say which copy it renews. Its check count leaves one candidate in nearly every history; where the
half offset regressed (a crash before it was saved, B16, or an aborted round, A08) there are several. The check round
visits the half queue in order, so the copies that it puts back have parents in order too, over all transactions: that
settles the rest, and each step back of the scan shows as a parent that lies before the one before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reference.format.record import CommitLogOffset
    from spark_trace_analysis.audit.rules.history import HalfCopy, History


def link_put_backs(put_backs: Iterable[HalfCopy], owner: Mapping[CommitLogOffset, History]) -> None:
    """Set ``parent`` and ``children`` of every copy.

    Parameters
    ----------
    put_backs
        All copies with a check count, in the order of the log.
    owner
        Commit log offset of a copy to its history.
    """
    scan: dict[int, int] = {}
    for copy in put_backs:
        candidates = candidates_of(copy, owner[copy.commit_log_offset])
        if not candidates:
            continue
        offset = first_behind([other.queue_offset for other in candidates], scan.get(copy.queue_id, -1))
        parent = next(other for other in candidates if other.queue_offset == offset)
        scan[copy.queue_id] = offset
        link(copy, parent)


def candidates_of(copy: HalfCopy, history: History) -> list[HalfCopy]:
    """The copies that a put-back could have been made from, in the order of the log."""
    return [
        other
        for other in history.copies
        if other.queue_id == copy.queue_id
        and other.queue_offset < copy.queue_offset
        and other.next_check_times == copy.check_times
    ]


def first_behind(offsets: Sequence[int], at: int) -> int:
    """The first of some half offsets that lies behind the place of the scan; the first of all if the scan went back."""
    return next((offset for offset in offsets if offset > at), offsets[0])


def link(copy: HalfCopy, parent: HalfCopy) -> None:
    """Make one copy the other's parent."""
    copy.parent = parent
    parent.children.append(copy)
