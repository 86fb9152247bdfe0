"""A store as an audit begins with it: its paths, its settings and saved offsets, and the question about it."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from model_check.releases import profile_for
from model_check.world import Profile
from reference.format.broker_conf import BrokerConf, read_broker_conf
from reference.format.commit_log import CommitLog
from reference.format.consumer_offsets import TRANSACTION_GROUP, saved_offsets
from reference.format.errors import CorruptRegion, StoreError
from reference.format.partial_copy import RoleForHalves
from reference.format.store_paths import StorePaths, store_paths
from spark_trace_analysis.audit.audit import unanswered_checks
from spark_trace_analysis.audit.explanation.trace_verdict import (
    TraceVerdict,
    judge_trace,
    profiles_for,
    validation_settings,
    why_judged_by,
)
from spark_trace_analysis.audit.moving_store import signs_of_skew, tail_of
from spark_trace_analysis.audit.rules.circumstances import Circumstances, LogFacts
from spark_trace_analysis.audit.rules.state import UnknownCause
from spark_trace_analysis.ingest.driver_log import find_driver_log, read_driver_log
from spark_trace_analysis.records.transaction_record import HALF_TOPIC, OP_TOPIC
from spark_trace_analysis.records.version import RECORDED_DISCARDS, Writer, is_before, is_since, savers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow
    from spark_trace_analysis.ingest.store_trace import StoreTrace


_OP_BATCHES: Final = 2
"""An op message is written so many intervals behind its END_TRANSACTION at most (A16)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreQuestion:
    """The question to the specification about a store; of a trace with more than so many events it is not asked.

    The profiles are to be asked, `why` these if they were not named; without any, those of the store's version are. The
    settings and their file are others than the store's own broker.conf. `report` is called with the number of events
    explained and of all events.
    """

    profiles: tuple[Profile, ...] = ()
    why: str = ""
    conf: BrokerConf | None = None
    conf_path: Path | None = None
    most_events: int = 6_000
    report: Callable[[int, int], None] | None = None


class OpenedStore:
    """A store as an audit begins with it, and the question about it.

    Attributes
    ----------
    known_conf, conf
        The settings of its ``broker.conf``, None if there is none; and those, or the defaults.
    saved
        The offsets of ``consumerOffset.json``.
    saved_by
        The releases that could have saved its configuration last.
    """

    def __init__(self, store: Path | StorePaths, version: str | None, question: StoreQuestion) -> None:
        self.paths = store_paths(store) if isinstance(store, Path) else store
        path = self.paths.root
        self.path, self.version, self.question = path, version, question
        self.saved = saved_offsets(self.paths)  # before the log, which then holds all that they speak of
        self.log = CommitLog.open(self.paths)
        self._tail = tail_of(self.log)
        self.conf_path = self.paths.conf
        self.known_conf = None if self.conf_path is None else read_broker_conf(self.conf_path)
        self.conf = self.known_conf or BrokerConf()
        self.saved_by = savers_of(path, knows_offsets=not self.paths.rocksdb_offsets)
        self.timeout_ms = self.conf.or_default("transactionTimeOut", version)
        self._signs: list[str] | None = None

    def cut(self) -> OpenedStore:
        """The same store with the log that it had when it was opened, whatever was written since.

        Consume queues may list more, and saved offsets are those of then.
        """
        other = copy(self)
        other.paths = replace(self.paths, end=self._tail.end)
        other.log = CommitLog.open(other.paths)
        return other

    def is_moving(self) -> bool:
        """Whether the log has grown since it was opened, so that damage may be a record that was being written."""
        return not self.log.is_cut and self._tail.end > self.log.start and self._has_grown()

    def _has_grown(self) -> bool:
        return tail_of(CommitLog.open(replace(self.paths, end=None))) != self._tail

    def circumstances(self, facts: LogFacts, hidden: Iterable[int], *, is_damaged: bool) -> Circumstances:
        """The circumstances that the rules need beside each history.

        Hidden are the commit log offsets of damage in which a record may have stood.
        """
        version = self.version or facts.marks.version(self.saved_by)
        writers = self.writers(facts)
        earlier = (writers[0].version, writers[1].start) if writers and self.version is None else None
        # Of a queue whose beginning is gone the end is known only where a record of it is left.
        op_end = facts.op_end if self.log.start else dict.fromkeys(facts.half_end, 0) | facts.op_end
        is_in_rocksdb = self.paths.rocksdb_offsets
        why_no_offset = UnknownCause.OFFSETS_IN_ROCKSDB if is_in_rocksdb else UnknownCause.OFFSETS_UNREADABLE
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
            hidden=tuple(sorted(hidden)),
            is_skewed=bool(self._signs_of_skew(facts)),
            op_was_due_before=facts.last_timestamp - _OP_BATCHES * self._op_batch_ms(version),
            unknown_queues=dict.fromkeys(facts.half_end if self.saved.unknown else (), why_no_offset),
            unknown_halves=dict.fromkeys(facts.unseen, UnknownCause.NOT_IN_ITS_QUEUE),
            hands_on=self._hands_on,
        )

    def _op_batch_ms(self, version: str | None) -> int:
        """How long op messages are gathered; 0 in a release that writes each at once."""
        is_gathered = is_since(version, "5.1.0")
        return self.conf.or_default("transactionOpBatchInterval", version) if is_gathered else 0

    @property
    def _hands_on(self) -> bool:
        """Whether it is a slave's that may act for its master, whose rounds say nothing of what they pass."""
        partial = self.log.partial
        acts = partial is not None and partial.role == RoleForHalves.ACTING
        return acts or (self.conf.broker_role == "SLAVE" and bool(self.conf.enable_slave_acting_master))

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
        """Remarks for a reader: on records that do not look like the version's, and on saved offsets."""
        notes = [self.paths.note] if self.paths.note else []
        if self.log.is_cut or self._has_grown():
            last = self.log.frame_at(facts.last_offset)
            end = self._tail.end if self.log.is_cut or last is None else facts.last_offset + last.total_size
            notes.append(f"the log grew while it was read; it is judged up to offset {end}")
        seen = facts.marks.version(self.saved_by)
        writers = self.writers(facts)
        if writers and self.version is not None:
            notes.append(
                f"two releases wrote it: {writers[0]}, {writers[1]}; --version {self.version} judges all of it"
            )
        elif self.version is not None and seen is not None:
            own = Profile.of(profile_for(self.version)[0])
            if own.switches not in [profile.switches for profile in profiles_for(seen)]:
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
        if self.log.is_cut:
            return []
        if self._signs is None:
            self._signs = list(signs_of_skew(self.path, self.saved, facts))
        return self._signs

    def received_checks(self, rows: Iterable[TransactionRow]) -> frozenset[int] | None:
        """The copies about which a client was asked, as the producer's log in the store says; None without one.

        It is read where a check has no answer.
        """
        path = find_driver_log(self.path)
        if path is None or not unanswered_checks(rows):
            return None
        try:
            return read_driver_log(path).checked
        except StoreError:  # said where the trace is held against it
            return None

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
        for queue_id, half_end in () if self.log.is_cut else at.half_end.items():
            if at.is_half_offset_ahead(queue_id):
                name, offset, end = "half", at.half_of(queue_id), half_end
            elif at.is_op_offset_ahead(queue_id):
                name, offset, end = "op", at.op_of(queue_id), at.op_end[queue_id]
            else:
                continue
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

        The damage is the first piece, if there is any but that the saved offsets had to be read from their backup. The
        trace is asked for if nothing else speaks against it.
        """
        most = self.question.most_events
        if damage is not None and damage.file.startswith("config/"):
            reason = f"the saved offsets are of no such store: {damage}"
        elif damage is not None:
            reason = f"a record is damaged: {damage}"
        elif self.log.start:
            reason = f"the commit log begins at {self.log.start}: what was before is gone"
        elif self.log.partial is not None and self.log.partial.ends:
            reason = "the records of settled transactions were left out"
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
        verdict = self._held(trace.before(second.start), replace(circumstances, version=first.version))
        reason = (
            f"two releases wrote it, {first}, {second}. The first {verdict.events} records are {verdict.sentence()}; "
            f"no record says in which state the other {events - verdict.events} began"
        )
        return TraceVerdict(events, None, reason=reason, broker_conf=verdict.broker_conf)

    def _ask(self, trace: StoreTrace, circumstances: Circumstances) -> TraceVerdict:
        if self.saved.source is not None and self.saved.corrupt is None and not self._hands_on:
            trace.add_saved_offsets(self.saved.get(HALF_TOPIC, 0) or 0, self.saved.get(OP_TOPIC, 0) or 0)
        return self._held(trace, circumstances)

    def _held(self, trace: StoreTrace, circumstances: Circumstances) -> TraceVerdict:
        question, version = self.question, circumstances.version
        events = len(trace.events)
        driver_path = find_driver_log(self.path)
        driver = None if driver_path is None else read_driver_log(driver_path)
        check_max = None if question.conf else circumstances.check_max
        asked = [
            (profile, validation_settings(question.conf or self.conf, _release(version, profile), check_max))
            for profile in question.profiles or profiles_for(version)
        ]
        held = judge_trace(trace, driver, asked, question.report)
        if held.accepted is False and self.known_conf is None and question.conf is None:
            reason = f"its broker.conf is missing, and with the default settings it is {held.sentence()}"
            held = TraceVerdict(events, None, held.profile, reason)
        conf_path = self.conf_path if question.conf is None else question.conf_path
        why = "" if question.profiles or held.profile is None else why_judged_by(held.profile, version)
        return replace(
            held,
            why_profile=question.why or why,
            broker_conf=None if conf_path is None else self.paths.shown(conf_path),
        )


def _release(version: str | None, profile: Profile) -> str:
    """The release whose defaults a store's broker had: its own, or the profile's where a range of releases fits."""
    return profile.name if version is None or "-" in version else version
