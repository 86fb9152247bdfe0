"""Reads the trace of a whole, undamaged store, and the version that wrote it, without judging either."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.format.broker_conf import BrokerConf, find_broker_conf, read_broker_conf
from reference.format.commit_log import CommitLog
from reference.format.errors import CorruptRegion, NotAStoreError
from reference.format.frame import Frame
from spark_trace_analysis.ingest.store_trace import StoreTrace
from spark_trace_analysis.records.record_kind import classify, concerns_a_transaction
from spark_trace_analysis.records.rocksdb_halves import require_halves_in_the_log
from spark_trace_analysis.records.version import RECORDED_DISCARDS, VersionMarks, is_before

if TYPE_CHECKING:
    from pathlib import Path


def read_store_trace(store: Path) -> tuple[StoreTrace, bool]:
    """The trace that a store holds, and whether its version leaves a record of a discard.

    Raises
    ------
    reference.format.errors.StoreError
        It is no store, a record of it is damaged, or its log does not begin with a broker's first start.
    NotJudgedError
        Its halves lie in RocksDB.
    """
    log = CommitLog.open(store)
    conf_path = find_broker_conf(store)
    conf = BrokerConf() if conf_path is None else read_broker_conf(conf_path)
    trace = StoreTrace(conf.or_default("transactionTimeOut", None))
    marks = VersionMarks()
    for entry in log.read(concerns_a_transaction):
        if isinstance(entry, CorruptRegion):
            message = f"{store}: a record is damaged: {entry}"
            raise NotAStoreError(message)
        if isinstance(entry, Frame):
            require_halves_in_the_log(store, entry)
        else:
            kind = classify(entry)
            marks.see(entry, kind)
            trace.add(entry, kind)
    if log.start:
        message = f"{store}: the commit log begins at {log.start}: what was before is gone"
        raise NotAStoreError(message)
    if trace.unfit:
        message = f"{store}: {trace.unfit[0]}"
        raise NotAStoreError(message)
    return trace, not is_before(marks.version(), RECORDED_DISCARDS)
