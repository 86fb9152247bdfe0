"""Looks at a source again and again: reads what is new, audits all open transactions, reports what became of them.

The records of open transactions and the new ones are written as a copy of a store from which settled transactions were
left out, and audited as any store is. A transaction is settled once no copy of its half is open and the check service
has passed all of them; a record or an op message that comes for it later brings all its records back.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from files.temporary_folder import temporary_folder
from halfcheck.watching.judged_rows import JudgedRows, shared_places
from halfcheck.watching.memory import half_place
from halfcheck.watching.news import Counters, Look, News, NewsKind
from halfcheck.watching.sources import mark_of
from halfcheck.watching.tally import LookTally
from reference.format.broker_conf import BrokerConf, find_broker_conf, read_broker_conf
from reference.format.frame import read_frame
from reference.format.store_paths import store_paths
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC
from spark_trace_analysis.audit.audit_rows import AuditRows
from spark_trace_analysis.audit.rules.rounds import shown_rounds
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.staged_audit import StagedAuditOptions, audit_in_stages
from spark_trace_analysis.audit.stages.stage_runner import Threads
from spark_trace_analysis.records.transaction_record import concerns_a_transaction, parse_op_body
from wire.copying.moment import ReadSoFar, write_open_copy
from wire.remoting.messages import decode_records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from halfcheck.watching.memory import WatchMemory
    from halfcheck.watching.sources import Reading, WatchedSource
    from wire.copying.moment import StoreMoment

_HALF, _OP = HALF_TOPIC.encode(), OP_TOPIC.encode()


@dataclass(slots=True)
class BrokerWatch:
    """A watch of one source.

    Parameters
    ----------
    version
        The release that writes it, if it does not say so itself.
    hanging_ms
        A transaction that is pending for longer is reported.
    """

    source: WatchedSource
    memory: WatchMemory
    hanging_ms: int
    version: str | None = None

    def look(self) -> Look:
        """Look once; what was found counts only if all of it did.

        Raises
        ------
        WireError, StoreError, BadContentError, OSError
            The source can't be read; the next look begins where the last one did.
        """
        began = time.perf_counter()
        counters = Counters.of(self.memory.get("counters", {}))
        with self.source.look() as reading, temporary_folder() as folder, self.memory.look():
            since, begun_anew = self._since(reading, counters)
            named: set[int] = set()
            moment = reading.moment(since, lambda at, raw: self._take(at, raw, named))
            self._bring_back(reading, counters, (), named if since.end else ())
            self._note_begin(moment)
            store = folder / "store"
            rows = self._audit(store, moment)
            if since.end and self._bring_back(reading, counters, self._keys_of_new(rows, since.end), ()):
                store = folder / "again"
                rows = self._audit(store, moment)
            tally = self._tally(rows, store, moment, since.end, counters)
            self.memory.set("read_so_far", moment.read_so_far.to_json())
            self.memory.set("counters", counters.to_json())
            connected = {group: reading.producers(group) for group in tally.pending}
        return Look(
            source=self.source.name,
            at_ms=moment.read_at_ms,
            news=(*begun_anew, *tally.news),
            counts={state.value: tally.counts[state] + counters.settled[state] for state in TransactionState},
            pending=tally.pending,
            producers={group: len(clients) for group, clients in connected.items() if clients is not None},
            overdue=tally.overdue,
            half_left=moment.left(HALF_TOPIC),
            op_left=moment.left(OP_TOPIC),
            last_round_ms=self.memory.get("last_round_ms"),
            remembered=self.memory.settled,
            counters=counters,
            seconds=time.perf_counter() - began,
        )

    def _since(self, reading: Reading, counters: Counters) -> tuple[ReadSoFar, list[News]]:
        """Where the last look ended, if the log is still the one that it was; else its beginning, and that it is so."""
        values = self.memory.get("read_so_far")
        if values is None:
            return ReadSoFar(), []
        since, mark = ReadSoFar.of(values), self.memory.get("mark")
        if mark is not None:
            at, checksum = mark
            raw = reading.record_at(at)
            if raw is not None and mark_of(raw) == checksum:
                return since, []
        elif not since.end:
            return since, []
        why = f"the record that was read last, at {since.end} of its log, is no longer there: all is read again"
        self.memory.forget_all()
        counters.settled.clear()
        return ReadSoFar(), [News(self.source.name, since.read_at_ms, NewsKind.BEGUN_ANEW, why=why)]

    def _take(self, at: int, raw: bytes, named: set[int]) -> None:
        """Keep a message that is of a transaction, and the places of halves that it stands at or names."""
        frame = read_frame(raw, 0, at)
        if not concerns_a_transaction(frame):
            return
        self.memory.put(at, raw)
        if frame.topic == _HALF:
            named.add(half_place(frame.queue_id, frame.queue_offset))
        elif frame.topic == _OP:
            (record,) = decode_records(raw)
            named.update(half_place(frame.queue_id, offset) for offset in parse_op_body(record.body) or ())

    def _bring_back(self, reading: Reading, counters: Counters, keys: Iterable[int], halves: Iterable[int]) -> bool:
        """Read the records of settled transactions again, whose records or op messages have come."""
        states, places = self.memory.come_back(keys, halves)
        counters.settled.subtract(states)
        for at in places:
            raw = reading.record_at(at)
            if raw is not None:
                self.memory.put(at, raw)
        return bool(places)

    def _note_begin(self, moment: StoreMoment) -> None:
        """Note where the log began at the first look, and the last record, by which the log is known again."""
        if self.memory.get("begin") is None:
            self.memory.set("begin", moment.begin)
        last = self.memory.last_record()
        if last is not None:
            at, raw = last
            self.memory.set("mark", [at, mark_of(raw)])

    def _audit(self, store: Path, moment: StoreMoment) -> AuditRows:
        """Write a copy with all records that the memory has, and audit it."""
        rows = store.with_name(f"{store.name}-rows")
        store.mkdir()
        write_open_copy(moment, store, self.memory.records(), self.memory.get("begin"))
        options = StagedAuditOptions(version=self._release(moment), limit=0, out=rows)
        audit = audit_in_stages(Threads(), store_paths(store).absolute(), options)
        if audit.version is not None and "-" not in audit.version:
            self.memory.set("version", audit.version)
        return AuditRows(rows)

    def _keys_of_new(self, rows: AuditRows, since: int) -> Iterator[int]:
        """The hashes of the transactions of which a record is new."""
        for _, table in rows.tables():
            judged = JudgedRows(table)
            yield from judged.chosen(judged.events.rows_with(judged.events.numbers("at") >= since)).hashes()

    def _tally(self, rows: AuditRows, store: Path, moment: StoreMoment, since: int, counters: Counters) -> LookTally:
        """Go through the rows of the audit of a copy."""
        conf_path = find_broker_conf(store)
        conf = BrokerConf() if conf_path is None else read_broker_conf(conf_path)
        release = self._release(moment)
        tally = LookTally(
            self.memory,
            moment,
            since,
            counters,
            self.hanging_ms,
            shared_places(rows),
            conf.or_default("transactionCheckInterval", release),
            conf.or_default("transactionTimeOut", release),
        )
        for _, table in rows.tables():
            tally.take(JudgedRows(table))
        tally.finish()
        rounds = shown_rounds(np.array(tally.times, np.int64), tally.interval_ms)
        if rounds:
            self.memory.set("last_round_ms", rounds[-1].ended_at - rounds[-1].began_at)
        return tally

    def _release(self, moment: StoreMoment) -> str | None:
        return self.version or moment.release or self.memory.get("version")
