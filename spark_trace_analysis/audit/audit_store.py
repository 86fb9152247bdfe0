"""Audits a store directory: reads the log once, groups, links, judges.

What cannot be a store raises; damage inside one is listed beside the table, which then shows what could be read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from model_check.releases import profile_for
from reference.format.broker_conf import BrokerConf, find_broker_conf, read_broker_conf
from reference.format.commit_log import CommitLog
from reference.format.consume_queue import open_consume_queues
from reference.format.consumer_offsets import TRANSACTION_GROUP, ConsumerOffsets, read_consumer_offsets
from reference.format.corrupt_region import CorruptRegion
from reference.format.cross_check import CrossCheck
from reference.format.errors import NotAStoreError
from reference.format.frame import Frame
from spark_trace_analysis.audit.explanation.trace_verdict import (
    TraceVerdict,
    judge_trace,
    profiles_for,
    settings_of,
    why_judged_by,
)
from spark_trace_analysis.audit.rules.consistency import Consistency
from spark_trace_analysis.audit.rules.grouping import Grouping
from spark_trace_analysis.audit.rules.put_back_parents import link_put_backs
from spark_trace_analysis.audit.rules.resembles import Circumstances
from spark_trace_analysis.audit.rules.rows import row_of
from spark_trace_analysis.audit.rules.state import ScanOffsets
from spark_trace_analysis.audit.table import Audit
from spark_trace_analysis.ingest.driver_log import find_driver_log, read_driver_log
from spark_trace_analysis.ingest.store_trace import StoreTrace
from spark_trace_analysis.records.record_kind import HALF_TOPIC, OP_TOPIC, concerns_a_transaction
from spark_trace_analysis.records.rocksdb_halves import require_halves_in_the_log
from spark_trace_analysis.records.version import RECORDED_DISCARDS, VersionMarks, is_before
from spec.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from spark_trace_analysis.audit.rules.history import History
    from spec.switches import Switches

_PROGRESS_RECORDS = 10_000


def audit_store(
    store: Path,
    version: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    question: Question | None = None,
) -> Audit:
    """Say what became of every transaction in a store, and whether the specification explains it.

    Parameters
    ----------
    store
        The store directory, the one with ``commitlog/`` in it.
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
        It is not a store, or its ``consumerOffset.json`` or ``broker.conf`` can't be understood.
    NotJudgedError
        Its halves lie in RocksDB.
    """
    log = CommitLog.open(store)
    conf_path = find_broker_conf(store)
    conf = None if conf_path is None else read_broker_conf(conf_path)
    saved = read_consumer_offsets(store)
    reading = _Reading(store, log, conf)
    reading.read(on_progress)
    return reading.judge(saved, version, notes_on(saved), question or Question())


def notes_on(saved: ConsumerOffsets) -> list[str]:
    """What a reader should know of the saved offsets."""
    return [] if saved.source else ["no saved consumer offsets: a broker that starts here checks every copy again"]


def notes_on_version(given: str | None, marks: VersionMarks) -> list[str]:
    """What a reader should know where the records do not look like those of the version that was named."""
    seen = marks.version()
    if given is None or seen is None or profile_for(given)[0] in profiles_for(seen):
        return []
    return [f"the records look like those of {seen.replace('-', ' to ')}, and --version names {given}"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What to ask of the specification.

    Attributes
    ----------
    profiles
        The names and switches of the specifications to ask; those of the store's version if there are none.
    why
        Why those are asked, where they were not named as they are.
    conf, conf_path
        Other settings than those of the store's own broker.conf, and the file that holds them.
    most_events
        A longer trace is not asked about.
    report
        Called with the number of events explained and of all events.
    """

    profiles: tuple[tuple[str, Switches], ...] = ()
    why: str = ""
    conf: BrokerConf | None = None
    conf_path: Path | None = None
    most_events: int = 6_000
    report: Callable[[int, int], None] | None = None


class _Reading:
    """One pass over the log, and what it gathers."""

    def __init__(self, store: Path, log: CommitLog, known_conf: BrokerConf | None) -> None:
        conf = known_conf or BrokerConf()
        self.conf_is_known = known_conf is not None
        self.store = store
        self.log = log
        self.conf = conf
        self.grouping = Grouping(conf.or_default("transactionTimeOut", None))
        self.marks = VersionMarks()
        self.consistency = Consistency(log.start)
        self.trace = StoreTrace(conf.or_default("transactionTimeOut", None))
        self.records = 0
        self.events = 0
        self.corrupt: list[CorruptRegion] = []

    def read(self, on_progress: Callable[[int, int], None] | None) -> None:
        cross_check = CrossCheck(self.log, open_consume_queues(self.store))
        total = self.log.size_bytes
        for entry in self.log.read(concerns_a_transaction):
            if isinstance(entry, CorruptRegion):
                self.corrupt.append(entry)
                continue
            self.records += 1
            cross_check.see(entry)
            if isinstance(entry, Frame):
                require_halves_in_the_log(self.store, entry)
            else:
                kind, history = self.grouping.add(entry)
                self.marks.see(entry, kind)
                self.consistency.see(entry, kind, history)
                self.trace.add(entry, kind)
                self.events += 1
            if on_progress is not None and self.records % _PROGRESS_RECORDS == 0:
                on_progress(entry.physical_offset - self.log.start, total)
        if not self.records and self.corrupt:
            message = f"{self.log.files[0].path} is not a commit log: {self.corrupt[0].reason}"
            raise NotAStoreError(message)
        self._add_corrupt(cross_check.finish())
        for record, reason in self.grouping.strange_ops:
            self._add_corrupt([CorruptRegion(*self.log.place(record.physical_offset), reason)])

    def judge(self, saved: ConsumerOffsets, version: str | None, notes: list[str], question: Question) -> Audit:
        grouping = self.grouping
        histories = list(grouping.histories.values())
        owner = {copy.commit_log_offset: history for history in histories for copy in history.copies}
        link_put_backs(grouping.put_backs(), owner)
        if saved.corrupt is not None:
            self._add_corrupt([saved.corrupt])
        self._add_corrupt(
            CorruptRegion(*self.log.place(offset), reason) for offset, reason in self.consistency.finish(histories)
        )
        offsets = scan_offsets(saved, grouping.half_end)
        circumstances = Circumstances(
            version=version or self.marks.version(),
            check_max=self._check_max(histories, version or self.marks.version()),
            check_interval_ms=self.conf.or_default("transactionCheckInterval", version or self.marks.version()),
            half_end=grouping.half_end,
            half_saved=offsets.half,
            log_is_complete=self.log.start == 0 and not self.corrupt,
        )
        self._add_corrupt(foreign_keys(saved))
        self._add_corrupt(offsets_ahead(saved, grouping.half_end))
        return Audit(
            store=str(self.store),
            version=circumstances.version,
            records=self.records,
            events=self.events,
            corrupt=tuple(self.corrupt),
            transactions=tuple(row_of(history, offsets, circumstances) for history in histories),
            notes=(*notes_on_version(version, self.marks), *notes),
            trace=self._trace_verdict(saved, circumstances, question),
        )

    def _trace_verdict(self, saved: ConsumerOffsets, circumstances: Circumstances, question: Question) -> TraceVerdict:
        """Hold the store against the specification, unless there is a reason not to."""
        reason = self._unfit_for_a_trace(question)
        if reason is not None:
            return TraceVerdict(self.events, None, reason=reason)
        known = self.conf if self.conf_is_known else None
        return ask(self.store, self.trace, saved, circumstances, known, question)

    def _unfit_for_a_trace(self, question: Question) -> str | None:
        if self.corrupt:
            return f"a record is damaged: {self.corrupt[0]}"
        if self.log.start:
            return f"the commit log begins at {self.log.start}: what was before is gone"
        if self.trace.unfit:
            return self.trace.unfit[0]
        if self.events > question.most_events:
            return too_many(self.events, question.most_events)
        return None

    def _check_max(self, histories: list[History], version: str | None) -> int:
        """The configured maximum; without a broker.conf the highest count at which the store shows a discard.

        A version that leaves no record of a discard shows the highest count of all.
        """
        if self.conf_is_known:
            return self.conf.or_default("transactionCheckMax", version)
        discarded = [discard.check_times or 0 for history in histories for discard in history.discards]
        if is_before(version, RECORDED_DISCARDS):
            discarded += [copy.check_times or 0 for history in histories for copy in history.copies]
        return max(discarded, default=0) or self.conf.or_default("transactionCheckMax", version)

    def _add_corrupt(self, regions: Iterable[CorruptRegion]) -> None:
        """Add damage, unless something was found in the same place before."""
        known = {(region.file, region.offset) for region in self.corrupt}
        for region in regions:
            if (region.file, region.offset) not in known:
                known.add((region.file, region.offset))
                self.corrupt.append(region)


def ask(
    store: Path,
    trace: StoreTrace,
    saved: ConsumerOffsets,
    circumstances: Circumstances,
    known_conf: BrokerConf | None,
    question: Question,
) -> TraceVerdict:
    """Hold the trace of a store against the specification."""
    if saved.source is not None:
        trace.add_saved_offsets(saved.get(HALF_TOPIC, 0) or 0, saved.get(OP_TOPIC, 0) or 0)
    driver_path = find_driver_log(store)
    driver = None if driver_path is None else read_driver_log(driver_path)
    conf = question.conf or known_conf or BrokerConf()
    check_max = None if question.conf else circumstances.check_max
    profiles = question.profiles or tuple((name, PROFILES[name]) for name in profiles_for(circumstances.version))
    asked = [
        (name, switches, settings_of(conf, _release(circumstances.version, name), check_max))
        for name, switches in profiles
    ]
    events = len(trace.events) - (saved.source is not None)
    told = judge_trace(trace, driver, asked, question.report)
    if told.accepted is False and known_conf is None and question.conf is None:
        reason = f"its broker.conf is missing, and with the default settings it is {told.sentence()}"
        told = TraceVerdict(events, None, told.profile, reason)
    conf_path = find_broker_conf(store) if question.conf is None else question.conf_path
    why = "" if question.profiles or told.profile is None else why_judged_by(told.profile, circumstances.version)
    return replace(told, why_profile=question.why or why, broker_conf=None if conf_path is None else str(conf_path))


def _release(version: str | None, profile: str) -> str:
    """Whose defaults a store's broker had: those of its release, or of the profile where a range of them fits."""
    return profile if version is None or "-" in version else version


def too_many(events: int, most: int) -> str:
    """Why a long trace is not asked about."""
    return f"it holds {events} records, more than {most}; halfcheck diff takes the time"


def scan_offsets(saved: ConsumerOffsets, half_end: Mapping[int, int]) -> ScanOffsets:
    """Where the next round begins in each half queue of a store and in its op queue."""
    return ScanOffsets(
        {queue_id: saved.get(HALF_TOPIC, queue_id) or 0 for queue_id in half_end},
        {queue_id: saved.get(OP_TOPIC, queue_id) or 0 for queue_id in half_end},
    )


def offsets_ahead(saved: ConsumerOffsets, half_end: Mapping[int, int]) -> Iterator[CorruptRegion]:
    """Saved half offsets beyond the end of their queue."""
    for queue_id, end in half_end.items():
        offset = saved.get(HALF_TOPIC, queue_id) or 0
        if offset > end:
            reason = f"the saved half offset is {offset}, the half queue ends at {end} (B14)"
            yield CorruptRegion(saved.source or "", 0, reason)


def foreign_keys(saved: ConsumerOffsets) -> Iterator[CorruptRegion]:
    """Queues that the check service's own group does not read: a name in the file must be wrong."""
    for key in saved.table:
        topic, _, group = key.partition("@")
        if group == TRANSACTION_GROUP and topic not in (HALF_TOPIC, OP_TOPIC) and "ROCKSDB" not in topic:
            yield CorruptRegion(saved.source or "", 0, f"{group} reads {topic!r}, expected {HALF_TOPIC} or {OP_TOPIC}")
