"""Stores whose halves lie in RocksDB: the rules of the half and the op queue do not hold there, so nothing is judged.

RocketMQ 5.4.0 and later, `transRocksDBEnable` without `transWriteOriginTransHalfEnable`: a half is stored in a topic of
its own and checked from a record in `rocksdbstore/`; it is never put back, and no op message is pulled
(TransactionalMessageBridge#parseHalfMessageInner, TransactionalMessageRocksDBService).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spark_trace_analysis.errors import TraceAnalysisError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from reference.format.commit_log import CommitLog
    from reference.format.errors import CorruptRegion
    from reference.format.frame import Frame

ROCKSDB_HALF_TOPIC: Final = b"RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC"


class StoreNotJudgedError(TraceAnalysisError):
    """Nothing may be wrong with the store, but its kind is not known well enough to judge it."""


def require_halves_in_the_log(store: Path, frame: Frame) -> None:
    """Raise `StoreNotJudgedError` for a half in RocksDB, which is no part of a transaction as the queues have them."""
    if frame.topic == ROCKSDB_HALF_TOPIC:
        raise _not_judged(store, f"byte {frame.physical_offset} of the log is one")


def require_no_rocksdb_queue(store: Path) -> None:
    """Raise `StoreNotJudgedError` for a consume queue of halves in RocksDB; a store may lack its consume queues."""
    queue = store / "consumequeue" / ROCKSDB_HALF_TOPIC.decode()
    if queue.is_dir():
        raise _not_judged(store, f"there is a {queue.relative_to(store)}")


def require_deliveries_from_the_queue(store: Path, log: CommitLog, broken_links: Iterable[CorruptRegion]) -> None:
    """Raise `StoreNotJudgedError` if a delivery for which no half was found was committed from one in RocksDB."""
    start = {log.place(file.start)[0]: file.start for file in log.files}
    for region in broken_links:
        half = log.frame_at(log.record_at(start[region.file] + region.offset).prepared_transaction_offset)
        if half is not None:
            require_halves_in_the_log(store, half)


def _not_judged(store: Path, seen: str) -> StoreNotJudgedError:
    message = (
        f"{store}: not judged: its halves lie in RocksDB ({seen}), as transRocksDBEnable=true and "
        f"transWriteOriginTransHalfEnable=false have it; halfcheck knows halves in the half queue only"
    )
    return StoreNotJudgedError(message)
