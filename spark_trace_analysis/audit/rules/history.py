"""The history of one transaction: its half and the copies of it, the ops that name them, deliveries and discards.

A put-back does not say which copy it renews. Its check count leaves one candidate in nearly every history; where the
half offset regressed (a crash before it was saved, B16, or an aborted round, A08) there are several. The check round
visits the half queue in order, so the copies that it puts back have parents in order too, over all transactions: that
settles the rest, and each step back of the scan shows as a parent that lies before the one before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reference.format.record import CommitLogOffset, QueueOffset


class TransactionKey(NamedTuple):
    """The identity of a transaction, by which records are grouped: UNIQ_KEY and producer group.

    A client that sets no UNIQ_KEY leaves ``@`` and the commit log offset of the first record in the log.
    """

    unique_key: str
    group: str


@dataclass(slots=True)
class HalfCopy:
    """One record of the half queue: the half itself, or a copy that a check round put back, made from its `parent`.

    TRANSACTION_CHECK_TIMES is None in a half as it was sent, -1 where it is no number, as the broker reads it. A copy
    that was put back because the half was immune from checks then had no check sent. There is one child, unless the
    half offset regressed. Foreign ops were written for another half at its place of the queue: a round goes by the
    place alone.
    """

    queue_id: int
    queue_offset: QueueOffset
    commit_log_offset: CommitLogOffset
    check_times: int | None
    store_timestamp: int
    flag: int
    is_immunity_put_back: bool
    parent: HalfCopy | None = field(default=None, repr=False)
    children: list[HalfCopy] = field(default_factory=list, repr=False)
    ops: list[OpEntry] = field(default_factory=list, repr=False)
    foreign_ops: list[OpEntry] = field(default_factory=list, repr=False)

    @property
    def next_check_times(self) -> int:
        """The check count of a copy made from this one (``TransactionalMessageServiceImpl#needDiscard``)."""
        return 1 if self.check_times is None else self.check_times + 1

    def link(self, parent: HalfCopy) -> None:
        """Say which copy this one was made from."""
        self.parent = parent
        parent.children.append(self)


@dataclass(frozen=True, slots=True)
class OpEntry:
    """An entry in the body of an op message, which names a copy."""

    op_offset: QueueOffset
    commit_log_offset: CommitLogOffset
    store_timestamp: int


@dataclass(frozen=True, slots=True)
class Delivery:
    """A committed message in its real topic."""

    queue_id: int
    queue_offset: QueueOffset
    commit_log_offset: CommitLogOffset
    prepared_offset: CommitLogOffset
    store_timestamp: int
    flag: int
    check_times: int | None


@dataclass(frozen=True, slots=True)
class Discard:
    """A record in TRANS_CHECK_MAX_TIME_TOPIC."""

    queue_id: int
    queue_offset: QueueOffset
    commit_log_offset: CommitLogOffset
    check_times: int | None
    store_timestamp: int


@dataclass(slots=True)
class History:
    """The records of one transaction in a store, each list in the order of the log.

    Attributes
    ----------
    birth
        Born timestamp and host, and the body's checksum, which even two messages sent in a row seldom share.
    immunity_ms
        CHECK_IMMUNITY_TIME_IN_SECONDS in milliseconds; None if the message does not carry it.
    keys, tags
        KEYS (blanks between them) and TAGS as the producer set them on its first record.
    """

    key: TransactionKey
    topic: str
    born_timestamp: int
    birth: tuple[int, str, int]
    immunity_ms: int | None
    keys: str = ""
    tags: str = ""
    copies: list[HalfCopy] = field(default_factory=list)
    deliveries: list[Delivery] = field(default_factory=list)
    discards: list[Discard] = field(default_factory=list)

    @property
    def ops(self) -> list[OpEntry]:
        """Every op entry that names a copy of this half."""
        return [op for copy in self.copies for op in copy.ops]

    @property
    def size(self) -> int:
        """How many records of it the log holds, ops aside."""
        return len(self.copies) + len(self.deliveries) + len(self.discards)

    @property
    def half_offset(self) -> int:
        """The commit log offset of the half as it was sent, the first one if there are several; -1 if it is gone."""
        return next((copy.commit_log_offset for copy in self.copies if copy.check_times is None), -1)

    @property
    def first_offset(self) -> int:
        """The commit log offset of the earliest record."""
        copies = [copy.commit_log_offset for copy in self.copies]
        deliveries = [delivery.commit_log_offset for delivery in self.deliveries]
        return min((*copies, *deliveries, *(discard.commit_log_offset for discard in self.discards)))

    def source_of(self, delivery: Delivery) -> HalfCopy | None:
        """The copy that a message was committed from; None if its record is gone."""
        for copy in self.copies:
            if copy.commit_log_offset == delivery.prepared_offset:
                return copy
        return None

    def was_resumed(self, copy: HalfCopy) -> bool:
        """Whether an operator has put a copy back that was discarded (``AdminBrokerProcessor#resumeCheckHalfMessage``).

        Its checks begin anew.
        """
        discarded = (discard.commit_log_offset for discard in self.discards)
        return copy.check_times == 0 and any(at < copy.commit_log_offset for at in discarded)

    def deliveries_from(self, copy: HalfCopy) -> list[Delivery]:
        """The messages that were committed from one copy."""
        return [delivery for delivery in self.deliveries if delivery.prepared_offset == copy.commit_log_offset]

    def parents_of(self, copy: HalfCopy) -> list[HalfCopy]:
        """The copies that a put-back could have been made from, in the order of the log."""
        return [
            other
            for other in self.copies
            if other.queue_id == copy.queue_id
            and other.queue_offset < copy.queue_offset
            and other.next_check_times == copy.check_times
        ]


def link_put_backs(put_backs: Iterable[HalfCopy], owner: Mapping[CommitLogOffset, History]) -> None:
    """Set ``parent`` and ``children`` of all copies with a check count, in the order of the log; owners by offset."""
    scan: dict[int, int] = {}
    for copy in put_backs:
        parents = owner[copy.commit_log_offset].parents_of(copy)
        if parents:
            offset = first_behind([other.queue_offset for other in parents], scan.get(copy.queue_id, -1))
            copy.link(next(other for other in parents if other.queue_offset == offset))
            scan[copy.queue_id] = offset


def passed_by_rounds(put_backs: Iterable[HalfCopy], owner: Mapping[CommitLogOffset, History]) -> dict[int, int]:
    """Half queue id to the last half that a round surely passed: the first one that a put-back could be made from."""
    passed: dict[int, int] = {}
    for copy in put_backs:
        parents = owner[copy.commit_log_offset].parents_of(copy)
        if parents:
            passed[copy.queue_id] = max(passed.get(copy.queue_id, -1), parents[0].queue_offset)
    return passed


def first_behind(offsets: Sequence[int], at: int) -> int:
    """The first of some half offsets that lies behind the place of the scan; the first of all if the scan went back."""
    return next((offset for offset in offsets if offset > at), offsets[0])
