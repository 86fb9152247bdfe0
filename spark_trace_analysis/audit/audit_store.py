"""Audits a store directory: reads the log once, groups, links, judges.

What cannot be a store raises; damage inside one is listed beside the table, which then shows what could be read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reference.format.consume_queue import open_consume_queues
from reference.format.cross_check import CrossCheck
from reference.format.errors import CorruptRegion, NotAStoreError
from reference.format.frame import Frame
from spark_trace_analysis.audit.audit import Audit, selected
from spark_trace_analysis.audit.columns.row_tables import rows_chosen
from spark_trace_analysis.audit.opened_store import OpenedStore, StoreQuestion
from spark_trace_analysis.audit.rules.circumstances import LogFacts
from spark_trace_analysis.audit.rules.consistency import Consistency
from spark_trace_analysis.audit.rules.grouping import Grouping
from spark_trace_analysis.audit.rules.history import link_put_backs, passed_by_rounds
from spark_trace_analysis.audit.rules.transaction_row import row_of
from spark_trace_analysis.ingest.store_trace import StoreTrace
from spark_trace_analysis.records.rocksdb_halves import require_halves_in_the_log
from spark_trace_analysis.records.transaction_record import HALF_TOPIC, OP_TOPIC, concerns_a_transaction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from reference.format.store_paths import StorePaths
    from spark_trace_analysis.audit.row_files import RowFiles

_PROGRESS_RECORDS = 10_000


def audit_store(
    store: Path | StorePaths,
    version: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    question: StoreQuestion | None = None,
    row_files: RowFiles | None = None,
) -> Audit:
    """Judge every transaction of a store, and say whether the specification explains it.

    Parameters
    ----------
    version
        The version of the broker that wrote it; without it, the version is inferred.
    on_progress
        Called now and then with the bytes read and the bytes in all.
    question
        Which specification to hold the trace against; the default is the version's own, for stores of some thousand
        records at most.

    Raises
    ------
    reference.format.errors.StoreError
        It is not a store, or its ``broker.conf`` can't be understood.
    StoreNotJudgedError
        Its halves lie in RocksDB.
    """
    opened = OpenedStore(store, version, question or StoreQuestion())
    log_pass, audit = _read(opened, on_progress)
    if audit.damage and opened.is_moving():
        log_pass, audit = _read(opened.cut(), on_progress)
    if row_files is not None:
        row_files.write(rows_chosen(audit.transactions, row_files.selection), log_pass.log)
    return audit


def _read(store: OpenedStore, on_progress: Callable[[int, int], None] | None) -> tuple[_LogPass, Audit]:
    log_pass = _LogPass(store)
    log_pass.read(on_progress)
    return log_pass, log_pass.judge()


class _LogPass:
    """One pass over the log, with the histories and the damage that it gathers."""

    def __init__(self, store: OpenedStore) -> None:
        self.store = store
        self.log = store.log
        self.facts = LogFacts()
        self.grouping = Grouping(store.timeout_ms)
        if store.log.partial is not None:
            self.grouping.half_end |= store.log.partial.ends_of(HALF_TOPIC)
            self.grouping.op_end |= store.log.partial.ends_of(OP_TOPIC)
        self.consistency = Consistency(store.log.start, store.log.is_gone)
        self.trace = StoreTrace(store.timeout_ms)
        self.corrupt: list[CorruptRegion] = []
        self.hidden: set[int] = set()

    def read(self, on_progress: Callable[[int, int], None] | None) -> None:
        facts, total = self.facts, self.log.size_bytes
        cross_check = CrossCheck(self.log, open_consume_queues(self.store.path))
        for entry in self.log.read(concerns_a_transaction):
            if isinstance(entry, CorruptRegion):
                self.corrupt.append(entry)
                continue
            facts.records += 1
            facts.last_offset, facts.last_timestamp = entry.physical_offset, entry.store_timestamp
            cross_check.see(entry)
            if isinstance(entry, Frame):
                require_halves_in_the_log(self.store.path, entry)
            else:
                kind, history = self.grouping.add(entry)
                facts.marks.see(entry, kind)
                self.consistency.see(entry, kind, history)
                self.trace.add(entry, kind)
                facts.events += 1
            if on_progress is not None and facts.records % _PROGRESS_RECORDS == 0:
                on_progress(entry.physical_offset - self.log.start, total)
        if not facts.records and self.corrupt:
            message = f"{self.log.files[0].path} is not a commit log: {self.corrupt[0].reason}"
            raise NotAStoreError(message)
        self.hidden.update(map(self.log.offset_of, self.corrupt))
        self._add_corrupt(cross_check.finish())
        facts.unseen = cross_check.unseen()
        for record, reason in self.grouping.strange_ops:
            self.hidden.add(record.physical_offset)
            self._add_corrupt([CorruptRegion(*self.log.place(record.physical_offset), reason)])

    def judge(self) -> Audit:
        store, facts, saved = self.store, self.facts, self.store.saved
        histories = list(self.grouping.histories.values())
        owner = {copy.commit_log_offset: history for history in histories for copy in history.copies}
        put_backs = self.grouping.put_backs()
        link_put_backs(put_backs, owner)
        self._add_corrupt(
            CorruptRegion(*self.log.place(offset), reason) for offset, reason in self.consistency.finish(histories)
        )
        facts.half_end, facts.op_end = self.grouping.half_end, self.grouping.op_end
        for history in histories:
            discard_checks = [discard.check_times or 0 for discard in history.discards]
            copy_checks = [copy.check_times or 0 for copy in history.copies]
            facts.discard_checks = max(facts.discard_checks, *discard_checks, 0)
            facts.copy_checks = max(facts.copy_checks, *copy_checks, 0)
        circumstances = replace(
            store.circumstances(facts, self.hidden, is_damaged=bool(self.corrupt)),
            passed=passed_by_rounds(put_backs, owner),
        )
        self._add_corrupt(store.foreign_keys())
        self._add_corrupt(store.offsets_ahead(circumstances))
        damage = next(iter(self.corrupt), None)
        if saved.corrupt is not None:
            self._add_corrupt([saved.corrupt])
        rows = tuple(row_of(history, circumstances.of(history.first_offset)) for history in histories)
        counts = selected(rows)
        return Audit(
            store=store.paths.name,
            version=circumstances.version,
            writers=store.writers(facts),
            records=facts.records,
            events=facts.events,
            corrupt=tuple(self.corrupt),
            damage=len(self.corrupt),
            transactions=rows,
            counts=counts.counts,
            plain=counts.plain,
            asked_for=counts,
            notes=store.notes(facts),
            received_checks=store.received_checks(rows),
            trace=store.explain(facts, circumstances, damage, lambda: self.trace),
        )

    def _add_corrupt(self, regions: Iterable[CorruptRegion]) -> None:
        """Add damage, unless something was found in the same place before."""
        known = {(region.file, region.offset) for region in self.corrupt}
        for region in regions:
            if (region.file, region.offset) not in known:
                known.add((region.file, region.offset))
                self.corrupt.append(region)
