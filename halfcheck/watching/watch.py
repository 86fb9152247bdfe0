"""Looks at a source again and again: reads what is new, audits all open transactions, tells what became of them.

The records of open transactions and the new ones are written as a copy of a store from which settled transactions were
left out, and audited as any store is. A transaction is settled once no copy of its half is open and the check service
has passed all of them; a record or an op message that comes for it later brings all its records back.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from files.durations import about
from files.temporary_folder import temporary_folder
from halfcheck.watching.judged_rows import OF_HALF_QUEUE, JudgedRows, row_groups, shared_places
from halfcheck.watching.memory import half_place
from halfcheck.watching.news import AGES_S, TOLD_OF_TRANSACTIONS, TOLD_STATES, Ages, Counters, Look, News, NewsKind
from halfcheck.watching.sources import mark_of
from reference.format.broker_conf import BrokerConf, find_broker_conf, read_broker_conf
from reference.format.frame import read_frame
from reference.format.store_paths import store_paths
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC
from spark_trace_analysis.audit.rules.rounds import shown_rounds
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import DELIVERED
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

_INTERVALS: Final = 3
_NEVER_ASKED: Final = "A09"
_HALF, _OP = HALF_TOPIC.encode(), OP_TOPIC.encode()


@dataclass(slots=True)
class BrokerWatch:
    """A watch of one source.

    Parameters
    ----------
    version
        The release that writes it, if it does not say so itself.
    hanging_ms
        A transaction that is pending for longer is told.
    """

    source: WatchedSource
    memory: WatchMemory
    hanging_ms: int
    version: str | None = None
    _counters: Counters = field(default_factory=Counters)
    _unknown_before: set[int] = field(default_factory=set)
    _unknown: set[int] = field(default_factory=set)

    def look(self) -> Look:
        """Look once; what was found counts only if all of it did.

        Raises
        ------
        WireError, StoreError, BadContentError, OSError
            The source can't be read; the next look begins where the last one did.
        """
        began = time.perf_counter()
        self._counters = Counters(**self.memory.get("counters", {}))
        self._unknown_before, self._unknown = set(self.memory.get("unknown", ())), set()
        with self.source.look() as reading, temporary_folder() as folder, self.memory.look():
            news: list[News] = []
            since = self._since(reading, news)
            named: set[int] = set()
            moment = reading.moment(since, lambda at, raw: self._take(at, raw, named))
            self._bring_back(reading, (), named if since.end else ())
            self._note_begin(moment)
            rows = self._audit(folder / "first", moment)
            if since.end and self._bring_back(reading, self._keys_of_new(rows, since.end), ()):
                rows = self._audit(folder / "again", moment)
            look = self._told(reading, moment, since, rows, news, began)
            self.memory.set("read_so_far", moment.read_so_far.to_json())
            self.memory.set("counters", asdict(self._counters))
            self.memory.set("unknown", sorted(self._unknown))
        return look

    def _since(self, reading: Reading, news: list[News]) -> ReadSoFar:
        """Where the last look ended, if the log is still the one that it was."""
        values = self.memory.get("read_so_far")
        if values is None:
            return ReadSoFar()
        since, mark = ReadSoFar.of(values), self.memory.get("mark")
        if mark is not None:
            at, checksum = mark
            raw = reading.record_at(at)
            if raw is not None and mark_of(raw) == checksum:
                return since
        elif not since.end:
            return since
        why = f"the record that was read last, at {since.end} of its log, is no longer there: all is read again"
        news.append(News(self.source.name, since.read_at_ms, NewsKind.BEGUN_ANEW, why=why))
        self.memory.forget_all()
        self._counters.settled.clear()
        return ReadSoFar()

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

    def _bring_back(self, reading: Reading, keys: Iterable[int], halves: Iterable[int]) -> bool:
        """Read the records of settled transactions again, whose records or op messages have come."""
        states, places = self.memory.come_back(keys, halves)
        for state in states:
            self._counters.settled[state] -= 1
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

    def _audit(self, folder: Path, moment: StoreMoment) -> Path:
        """Audit what is kept; gives the folder of the rows."""
        store, rows = folder / "store", folder / "rows"
        store.mkdir(parents=True)
        write_open_copy(moment, store, self.memory.records(), self.memory.get("begin"))
        version = self.version or moment.release or self.memory.get("version")
        options = StagedAuditOptions(version=version, limit=0, out=rows)
        audit = audit_in_stages(Threads(), store_paths(store).absolute(), options)
        if audit.version is not None and "-" not in audit.version:
            self.memory.set("version", audit.version)
        return rows

    def _keys_of_new(self, folder: Path, since: int) -> Iterator[int]:
        """The hashes of the transactions of which a record is new."""
        for rows in row_groups(folder):
            judged = JudgedRows.of(rows)
            yield from judged.chosen(judged.with_event(judged.numbers("at") >= since)).hashes()

    def _told(
        self,
        reading: Reading,
        moment: StoreMoment,
        since: ReadSoFar,
        folder: Path,
        news: list[News],
        began: float,
    ) -> Look:
        """Go through the rows of an audit."""
        conf_path = find_broker_conf(folder.parent / "store")
        conf = BrokerConf() if conf_path is None else read_broker_conf(conf_path)
        release = self.version or moment.release or self.memory.get("version")
        interval = conf.or_default("transactionCheckInterval", release)
        timeout = conf.or_default("transactionTimeOut", release)
        shared = shared_places(folder)
        kept: list[Any] = [np.zeros(0, np.int64)]
        counts: Counter[str] = Counter()
        pending: dict[str, Ages] = {}
        times: list[int] = []
        overdue = oldest = 0
        for rows in row_groups(folder):
            judged = JudgedRows.of(rows)
            is_open = judged.is_open
            self._tell(judged, moment, since, news)
            is_kept = is_open | ~judged.is_passed(moment) | judged.stands_at(shared)
            self._settle(judged.chosen(~is_kept))
            kept.append(judged.numbers("at")[is_kept[judged.owner]])
            counts.update(rows.column("state").filter(pa.array(is_kept)).to_pylist())
            is_pending = judged.in_state(TransactionState.PENDING)
            _add_ages(pending, rows.filter(pa.array(is_pending)), moment.read_at_ms)
            times += self._count(judged, since.end)
            due = np.maximum(judged.last_time(judged.is_event(*OF_HALF_QUEUE)), _born(rows) + timeout)
            late = moment.read_at_ms - due[is_pending]
            overdue += int(np.count_nonzero(late > _INTERVALS * interval))
            oldest = max(oldest, int(late.max(initial=0)))
        self.memory.keep_only(np.unique(np.concatenate(kept)).tolist())
        self._tell_stuck(moment, overdue, oldest, news)
        rounds = shown_rounds(np.array(times, np.int64), interval)
        if rounds:
            self.memory.set("last_round_ms", rounds[-1].ended_at - rounds[-1].began_at)
        connected = {group: reading.producers(group) for group in pending}
        return Look(
            source=self.source.name,
            at_ms=moment.read_at_ms,
            news=tuple(news),
            counts={state.value: counts[state] + self._counters.settled.get(state, 0) for state in TransactionState},
            pending=pending,
            producers={group: len(clients) for group, clients in connected.items() if clients is not None},
            overdue=overdue,
            half_left=moment.left(HALF_TOPIC),
            op_left=moment.left(OP_TOPIC),
            last_round_ms=self.memory.get("last_round_ms"),
            remembered=self.memory.settled,
            counters=self._counters,
            seconds=time.perf_counter() - began,
        )

    def _tell(self, judged: JudgedRows, moment: StoreMoment, since: ReadSoFar, news: list[News]) -> None:
        """Tell what was not told before."""
        is_grave = judged.in_state(*TOLD_STATES)
        is_hanging = judged.in_state(TransactionState.PENDING) & (
            moment.read_at_ms - _born(judged.rows) > self.hanging_ms
        )
        is_headless = np.zeros(len(is_grave), bool)
        if since.end and self.memory.get("forgets"):
            is_new_delivery = judged.is_event(DELIVERED) & (judged.numbers("at") >= since.end)
            is_headless = judged.with_event(is_new_delivery) & ~judged.with_event(judged.is_event(*OF_HALF_QUEUE))
        chosen = judged.chosen(is_grave | is_hanging | is_headless)
        flags = zip(is_hanging, is_headless, strict=True)
        marked = [flag for flag, is_asked in zip(flags, is_grave | is_hanging | is_headless, strict=True) if is_asked]
        for row, key, (hangs, has_no_half) in zip(chosen.as_rows(), chosen.hashes(), marked, strict=True):
            states = (row.state, *row.also)
            whats: list[TransactionState | NewsKind] = [
                one for one in TOLD_STATES if one in states and not self._may_pass(one, key)
            ]
            whats += [NewsKind.HANGING] * bool(hangs) + [NewsKind.UNREMEMBERED] * bool(has_no_half)
            before = now = self.memory.told(key)
            for what in whats:
                bit = 1 << TOLD_OF_TRANSACTIONS.index(what)
                if not now & bit:
                    now |= bit
                    news.append(News(self.source.name, moment.read_at_ms, what, row))
                    _add(self._counters.told, what.value)
            if now != before:
                self.memory.tell(key, now)
            if now and not before:
                for found in row.resembles:
                    _add(self._counters.findings, found)

    def _may_pass(self, state: TransactionState, key: int) -> bool:
        """Whether a state may be over soon: as a round goes on, halves that it has put back lie before its offset."""
        if state is not TransactionState.UNKNOWN:
            return False
        self._unknown.add(key)
        return key not in self._unknown_before

    def _settle(self, judged: JudgedRows) -> None:
        """Remember settled transactions by the places of their records alone."""
        states = judged.rows.column("state").to_pylist()
        for state, count in Counter(states).items():
            _add(self._counters.settled, state, count)
        is_half, half_places = judged.half_places()
        places = _by_owner(judged.owner, judged.numbers("at"), judged.rows.num_rows)
        halves = _by_owner(judged.owner[is_half], half_places, judged.rows.num_rows)
        self.memory.settle(zip(judged.hashes(), states, places, halves, strict=True))

    def _count(self, judged: JudgedRows, since: int) -> list[int]:
        """Count the new put-backs and discards; gives when they were written."""
        is_new = judged.numbers("at") >= since
        is_put_back, is_discard = (judged.is_event(kind) & is_new for kind in ("put back", "discarded"))
        self._counters.put_backs += int(np.count_nonzero(is_put_back))
        resembles = judged.rows.column("resembles")
        for owner in judged.owner[is_discard].tolist():
            _add(self._counters.discards, "immune" if _NEVER_ASKED in resembles[owner].as_py() else "unanswered")
        times: list[int] = judged.numbers("time")[is_put_back | is_discard].tolist()
        return times

    def _tell_stuck(self, moment: StoreMoment, overdue: int, oldest_ms: int, news: list[News]) -> None:
        """Tell that rounds no longer visit halves that are due, and that they do again."""
        was = self.memory.get("stuck", otherwise=False)
        if bool(overdue) == was:
            return
        self.memory.set("stuck", bool(overdue))
        why = (
            f"{overdue} of the pending halves are due for a check, the oldest for {about(oldest_ms / 1_000)}, and no "
            "round comes"
            if overdue
            else "rounds visit the pending halves again"
        )
        news.append(News(self.source.name, moment.read_at_ms, NewsKind.STUCK if overdue else NewsKind.GOES_ON, why=why))


def _born(rows: pa.Table) -> Any:
    return rows.column("born").to_numpy()


def _by_owner(owner: Any, values: Any, count: int) -> Iterator[list[int]]:
    """The values of each owner; owners stand in order."""
    ends = np.cumsum(np.bincount(owner, minlength=count))
    for begin, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=False):
        yield values[begin:end].tolist()


def _add(numbers: dict[str, int], name: str, count: int = 1) -> None:
    numbers[name] = numbers.get(name, 0) + count


def _add_ages(pending: dict[str, Ages], rows: pa.Table, now: int) -> None:
    """Add pending rows to the ages of their groups."""
    seconds = np.maximum(now - _born(rows), 0) / 1_000
    groups = np.array(rows.column("group").to_pylist(), object)
    for group in set(groups.tolist()):
        of_group = seconds[groups == group]
        ages = pending.setdefault(group, Ages())
        ages.up_to = [
            before + int(np.count_nonzero(of_group <= age)) for before, age in zip(ages.up_to, AGES_S, strict=True)
        ]
        ages.count += len(of_group)
        ages.seconds += float(of_group.sum())
