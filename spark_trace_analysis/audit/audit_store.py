"""Audits a store directory: reads the log once, groups, links, judges.

What cannot be a store raises; damage inside one is listed beside the table, which then shows what could be read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from model_check.releases import profile_for
from reference.format.broker_conf import BrokerConf, read_broker_conf
from reference.format.commit_log import CommitLog
from reference.format.consume_queue import open_consume_queues
from reference.format.consumer_offsets import TRANSACTION_GROUP, saved_offsets
from reference.format.cross_check import CrossCheck
from reference.format.errors import CorruptRegion, NotAStoreError
from reference.format.frame import Frame
from reference.format.store_paths import StorePaths, store_paths
from spark_trace_analysis.audit.audit import Audit, selected
from spark_trace_analysis.audit.columns.row_tables import rows_chosen
from spark_trace_analysis.audit.explanation.trace_verdict import (
    TraceVerdict,
    judge_trace,
    profiles_for,
    validation_settings,
    why_judged_by,
)
from spark_trace_analysis.audit.rules.circumstances import Circumstances, LogFacts
from spark_trace_analysis.audit.rules.consistency import Consistency
from spark_trace_analysis.audit.rules.grouping import Grouping
from spark_trace_analysis.audit.rules.history import link_put_backs, passed_by_rounds
from spark_trace_analysis.audit.rules.skewed_copy import signs_of_skew
from spark_trace_analysis.audit.rules.transaction_row import row_of
from spark_trace_analysis.audit.rules.unknown_cause import UnknownCause
from spark_trace_analysis.ingest.driver_log import find_driver_log, read_driver_log
from spark_trace_analysis.ingest.store_trace import StoreTrace
from spark_trace_analysis.records.rocksdb_halves import require_halves_in_the_log
from spark_trace_analysis.records.transaction_record import HALF_TOPIC, OP_TOPIC, concerns_a_transaction
from spark_trace_analysis.records.version import RECORDED_DISCARDS, Writer, is_before, savers_of
from spec.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spark_trace_analysis.audit.row_files import RowFiles
    from spec.switches import Switches

_PROGRESS_RECORDS = 10_000


def audit_store(
    store: Path | StorePaths,
    version: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    question: Question | None = None,
    row_files: RowFiles | None = None,
) -> Audit:
    """Say what became of every transaction in a store, and whether the specification explains it.

    Parameters
    ----------
    store
        The store directory, or where its files lie.
    version
        The version of the broker that wrote it; without it, the version is inferred.
    on_progress
        Called now and then with the bytes read and the bytes in all.
    question
        Which specification to hold the trace against; the default is the version's own, for stores of some thousand
        records at most.
    row_files
        Files that take a line for each transaction of a selection.

    Raises
    ------
    reference.format.errors.StoreError
        It is not a store, or its ``broker.conf`` can't be understood.
    NotJudgedError
        Its halves lie in RocksDB.
    """
    reading = _Reading(OpenedStore(store, version, question or Question()))
    reading.read(on_progress)
    audit = reading.judge()
    if row_files is not None:
        row_files.write(rows_chosen(audit.transactions, row_files.selection), reading.log)
    return audit


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


class OpenedStore:
    """A store as an audit begins with it, and what is asked about it.

    Parameters
    ----------
    store
        The store directory, or where its files lie.
    version
        The version of the broker that wrote it, if it was named.

    Attributes
    ----------
    paths, path
        Where its files lie, and the directory.
    known_conf, conf
        The settings of its ``broker.conf``, None if there is none; and those, or the defaults.
    saved
        The offsets of ``consumerOffset.json``.
    saved_by
        The releases that could have saved its configuration last.
    """

    def __init__(self, store: Path | StorePaths, version: str | None, question: Question) -> None:
        self.paths = store_paths(store) if isinstance(store, Path) else store
        path = self.paths.root
        self.path, self.version, self.question = path, version, question
        self.log = CommitLog.open(self.paths)
        self.conf_path = self.paths.conf
        self.known_conf = None if self.conf_path is None else read_broker_conf(self.conf_path)
        self.conf = self.known_conf or BrokerConf()
        self.saved = saved_offsets(self.paths)
        self.saved_by = savers_of(path, knows_offsets=not self.paths.rocksdb_offsets)
        self.timeout_ms = self.conf.or_default("transactionTimeOut", version)
        self._signs: list[str] | None = None

    def circumstances(self, facts: LogFacts, *, is_damaged: bool, hides_records: bool) -> Circumstances:
        """What the rules must know beside each history.

        Parameters
        ----------
        is_damaged, hides_records
            Whether anything is damaged, and whether a record may have stood there.
        """
        version = self.version or facts.marks.version(self.saved_by)
        writers = self.writers(facts)
        earlier = (writers[0].version, writers[1].start) if writers and self.version is None else None
        # Of a queue whose beginning is gone the end is known only where a record of it is left.
        op_end = facts.op_end if self.log.start else dict.fromkeys(facts.half_end, 0) | facts.op_end
        return Circumstances(
            version=version,
            earlier=earlier,
            check_max=self._check_max(facts, version),
            check_interval_ms=self.conf.or_default("transactionCheckInterval", version),
            half_end=facts.half_end,
            op_end=op_end,
            half_saved={queue_id: self.saved.get(HALF_TOPIC, queue_id) or 0 for queue_id in facts.half_end},
            op_saved={queue_id: self.saved.get(OP_TOPIC, queue_id) or 0 for queue_id in facts.half_end},
            has_offsets=self.saved.source is not None,
            log_is_complete=self.log.start == 0 and not is_damaged,
            hides_records=hides_records,
            is_skewed=bool(self._signs_of_skew(facts)),
            unknown_queues=dict.fromkeys(facts.half_end, UnknownCause.OFFSETS_UNREADABLE)
            if self.paths.rocksdb_offsets
            else {},
            unknown_halves=dict.fromkeys(facts.unseen, UnknownCause.NOT_IN_ITS_QUEUE),
        )

    def writers(self, facts: LogFacts) -> tuple[Writer, ...]:
        """The releases that wrote a store one after the other; empty if one did."""
        return facts.marks.writers(self.saved_by)

    def _check_max(self, facts: LogFacts, version: str | None) -> int:
        """The configured maximum; without a broker.conf the highest count at which the store shows a discard.

        A version that leaves no record of a discard shows the highest count of all.
        """
        if self.known_conf is not None:
            return self.conf.or_default("transactionCheckMax", version)
        highest = facts.discard_checks
        if is_before(version, RECORDED_DISCARDS):
            highest = max(highest, facts.copy_checks)
        return highest or self.conf.or_default("transactionCheckMax", version)

    def notes(self, facts: LogFacts) -> tuple[str, ...]:
        """What a reader should know: of the records, where they do not look like the version's; of saved offsets."""
        notes = [self.paths.note] if self.paths.note else []
        seen = facts.marks.version(self.saved_by)
        writers = self.writers(facts)
        if writers and self.version is not None:
            notes.append(
                f"two releases wrote it: {writers[0]}, {writers[1]}; --version {self.version} judges all of it"
            )
        elif self.version is not None and seen is not None:
            own, theirs = PROFILES[profile_for(self.version)[0]], [PROFILES[name] for name in profiles_for(seen)]
            if own not in theirs:
                looks = seen.replace("-", " to ")
                notes.append(f"it looks like a store of {looks}, and --version names {self.version}")
        signs = self._signs_of_skew(facts)
        if signs:
            notes.append(f"its files are of different moments: {signs[0]}")
        if self.saved.unknown:
            notes.append(self.saved.unknown)
        elif not self.saved.source:
            notes.append("no saved consumer offsets: a broker that starts here checks every copy again")
        return tuple(notes)

    def _signs_of_skew(self, facts: LogFacts) -> list[str]:
        if self._signs is None:
            self._signs = list(signs_of_skew(self.path, self.saved, facts))
        return self._signs

    def foreign_keys(self) -> Iterator[CorruptRegion]:
        """Queues that the check service's own group does not read: a name in the file must be wrong."""
        for key in self.saved.table:
            topic, _, group = key.partition("@")
            if group == TRANSACTION_GROUP and topic not in (HALF_TOPIC, OP_TOPIC) and "ROCKSDB" not in topic:
                reason = f"{group} reads {topic!r}, expected {HALF_TOPIC} or {OP_TOPIC}"
                yield CorruptRegion(self.saved.source or "", 0, reason)

    def offsets_ahead(self, circumstances: Circumstances) -> Iterator[CorruptRegion]:
        """Saved offsets beyond the end of their queue."""
        at = circumstances
        for queue_id, end in at.half_end.items():
            offset, name = at.half_of(queue_id), "half"
            if not at.is_half_offset_ahead(queue_id):
                if not at.is_op_offset_ahead(queue_id):
                    continue
                offset, end, name = at.op_of(queue_id), at.op_end[queue_id], "op"  # noqa: PLW2901
            reason = (
                f"the saved {name} offset is {offset}, the {name} queue ends at {end}: the log is older than this file"
            )
            yield CorruptRegion(self.saved.source or "", 0, f"{reason}, or its end was lost (B14)")

    def explain(
        self,
        facts: LogFacts,
        circumstances: Circumstances,
        damage: CorruptRegion | None,
        trace_of: Callable[[], StoreTrace],
    ) -> TraceVerdict:
        """Hold the store against the specification, unless there is a reason not to.

        Parameters
        ----------
        damage
            The first piece of it, if there is any but that the saved offsets had to be read from their backup.
        trace_of
            Gives the store's trace, if nothing else speaks against it.
        """
        most = self.question.most_events
        if damage is not None and damage.file.startswith("config/"):
            reason = f"the saved offsets are of no such store: {damage}"
        elif damage is not None:
            reason = f"a record is damaged: {damage}"
        elif self.log.start:
            reason = f"the commit log begins at {self.log.start}: what was before is gone"
        elif facts.events > most:
            reason = f"it holds {facts.events} records, more than {most}; halfcheck diff takes the time"
        elif (trace := trace_of()).unfit:
            reason = trace.unfit[0]
        elif (writers := self.writers(facts)) and not self.question.profiles:
            return self._ask_of_earlier(trace, circumstances, writers)
        else:
            return self._ask(trace, circumstances)
        return TraceVerdict(facts.events, None, reason=reason)

    def _ask_of_earlier(
        self, trace: StoreTrace, circumstances: Circumstances, writers: tuple[Writer, ...]
    ) -> TraceVerdict:
        """Hold the part of the earlier release against it; no file shows the state in which the later one began."""
        first, second = writers
        events = len(trace.events)
        told = self._held(trace.before(second.start), replace(circumstances, version=first.version))
        reason = (
            f"two releases wrote it, {first}, {second}. The first {told.events} records are {told.sentence()}; no "
            f"record says in which state the other {events - told.events} began"
        )
        return TraceVerdict(events, None, reason=reason, broker_conf=told.broker_conf)

    def _ask(self, trace: StoreTrace, circumstances: Circumstances) -> TraceVerdict:
        if self.saved.source is not None and self.saved.corrupt is None:
            trace.add_saved_offsets(self.saved.get(HALF_TOPIC, 0) or 0, self.saved.get(OP_TOPIC, 0) or 0)
        return self._held(trace, circumstances)

    def _held(self, trace: StoreTrace, circumstances: Circumstances) -> TraceVerdict:
        question, version = self.question, circumstances.version
        events = len(trace.events)
        driver_path = find_driver_log(self.path)
        driver = None if driver_path is None else read_driver_log(driver_path)
        check_max = None if question.conf else circumstances.check_max
        profiles = question.profiles or tuple((name, PROFILES[name]) for name in profiles_for(version))
        asked = [
            (name, switches, validation_settings(question.conf or self.conf, _release(version, name), check_max))
            for name, switches in profiles
        ]
        told = judge_trace(trace, driver, asked, question.report)
        if told.accepted is False and self.known_conf is None and question.conf is None:
            reason = f"its broker.conf is missing, and with the default settings it is {told.sentence()}"
            told = TraceVerdict(events, None, told.profile, reason)
        conf_path = self.conf_path if question.conf is None else question.conf_path
        why = "" if question.profiles or told.profile is None else why_judged_by(told.profile, version)
        return replace(told, why_profile=question.why or why, broker_conf=None if conf_path is None else str(conf_path))


def _release(version: str | None, profile: str) -> str:
    """Whose defaults a store's broker had: those of its release, or of the profile where a range of them fits."""
    return profile if version is None or "-" in version else version


class _Reading:
    """One pass over the log, and what it gathers."""

    def __init__(self, store: OpenedStore) -> None:
        self.store = store
        self.log = store.log
        self.facts = LogFacts()
        self.grouping = Grouping(store.timeout_ms)
        self.consistency = Consistency(store.log.start, store.log.is_gone)
        self.trace = StoreTrace(store.timeout_ms)
        self.corrupt: list[CorruptRegion] = []
        self.hides_records = False

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
        self.hides_records = bool(self.corrupt or self.grouping.strange_ops)
        self._add_corrupt(cross_check.finish())
        facts.unseen = cross_check.unseen()
        for record, reason in self.grouping.strange_ops:
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
            store.circumstances(facts, is_damaged=bool(self.corrupt), hides_records=self.hides_records),
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
            store=str(store.path),
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
            trace=store.explain(facts, circumstances, damage, lambda: self.trace),
        )

    def _add_corrupt(self, regions: Iterable[CorruptRegion]) -> None:
        """Add damage, unless something was found in the same place before."""
        known = {(region.file, region.offset) for region in self.corrupt}
        for region in regions:
            if (region.file, region.offset) not in known:
                known.add((region.file, region.offset))
                self.corrupt.append(region)
