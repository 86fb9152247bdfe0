"""Makes a schedule out of a real broker's store and the logs of its run.

The store gives the order of all writes and their clock readings, the driver's log the requests, ``transaction.log`` the
order of the END_TRANSACTIONs and when rounds ran. What no log tells (which of two things within a millisecond came
first, whether a round rested between two writes) is chosen so that the reference broker can follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from conformance.errors import NoScheduleError
from conformance.schedule import (
    Act,
    Drain,
    End,
    EndGoesOn,
    Kill,
    RoundBegins,
    RoundGoesOn,
    Schedule,
    Send,
    Start,
    Stop,
)
from conformance.settings import broker_settings, read_settings, store_config
from conformance.transaction_log import Boot, LoggedEnd, Round, read_boots
from reference.end_transaction_request import TRANSACTION_ROLLBACK
from reference.immunity_time import end_transaction_immunity_time
from reference.send_message_processor import SendMessageRequest
from reference.store.commit_log import CommitLog
from reference.store.consume_queue import ENTRY_BYTES
from reference.store.corrupt_region import CorruptRegion
from reference.store.properties import CHECK_TIMES, IMMUNITY_SECONDS, PRODUCER_GROUP, UNIQUE_KEY, parse_properties
from reference.store.record import TRANSACTION_COMMIT, Record
from reference.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC
from reference.version_switches import STORE_VERSIONS

if TYPE_CHECKING:
    from conformance.recorded_run import RecordedRun

_TIMER_LEAD_MS = 110
_LATE_LOG_MS = 2


@dataclass
class _Place:
    """An act that writes no record: where it may stand among the writes, and where it stands best."""

    act: Act
    at: int
    rank: int
    low: int = 0
    high: int = 1 << 60


@dataclass
class _EndState:
    """What is known of one END_TRANSACTION while the records are handed out."""

    logged: LoggedEnd
    number: int
    is_sound: bool
    real: int | None = None
    op: int | None = None
    act: End | None = None

    def take_in(self, at: int, stored_at: int | None = None) -> End:
        """The act that takes it in."""
        self.act = End(self.logged.header, at, stored_at)
        return self.act

    @property
    def is_commit(self) -> bool:
        return self.logged.header.commit_or_rollback == TRANSACTION_COMMIT


def extract_schedule(run: RecordedRun, timer_lead_ms: int = _TIMER_LEAD_MS) -> Schedule:
    """The schedule of a recorded run, as the logs alone suggest it.

    Raises
    ------
    NoScheduleError
        Something is missing or contradicts something else; the message says what.
    StoreError
        The store can't be read.
    """
    run.require()
    meta = run.meta()
    version = str(meta["version"])
    if version not in STORE_VERSIONS:
        message = (
            f"{run.path}: there is no reference broker of version {version}; there are {', '.join(STORE_VERSIONS)}"
        )
        raise NoScheduleError(message)
    settings = read_settings(run.broker_conf, STORE_VERSIONS[version])
    records = _records(run)
    boots = read_boots(run.transaction_log(), str(run.path))
    batches = STORE_VERSIONS[version].batches_ops
    known = Schedule(version, settings, [])
    ends = _ends(boots, records, known)
    writers = _Writers(run, records, ends, boots, batches_ops=batches)
    writers.assign()
    places = [*_life(run, meta, boots, timer_lead_ms), *writers.places, *_rounds(boots, records, writers, known)]
    acts = _merge(records, writers.acts, places)
    _choose_drains(acts, settings)
    return Schedule(version, settings, _numbered(acts, ends))


def _records(run: RecordedRun) -> list[Record]:
    records = []
    for entry in CommitLog.open(run.path).read():
        if isinstance(entry, CorruptRegion):
            message = f"{run.path}/{entry.file} is damaged at byte {entry.offset}: {entry.reason}"
            raise NoScheduleError(message)
        assert isinstance(entry, Record)  # noqa: S101
        records.append(entry)
    if records and records[0].physical_offset:
        message = f"{run.path} begins at byte {records[0].physical_offset} of its log: the run before that is unknown"
        raise NoScheduleError(message)
    return records


def _ends(boots: list[Boot], records: list[Record], known: Schedule) -> list[_EndState]:
    timeout = broker_settings(known).transaction_timeout_ms
    refuses = STORE_VERSIONS[known.version].refuses_late_end
    at_offset = {record.physical_offset: record for record in records}
    ends: list[_EndState] = []
    for logged in sorted((end for boot in boots for end in boot.ends), key=lambda end: end.at):
        header = logged.header
        half = at_offset.get(header.commit_log_offset)
        is_sound = (
            half is not None
            and half.properties.get(PRODUCER_GROUP) == header.producer_group
            and half.queue_offset == header.tran_state_table_offset
            and header.commit_or_rollback in (TRANSACTION_COMMIT, TRANSACTION_ROLLBACK)
            and not (refuses and _is_late(logged, half, timeout))
        )
        ends.append(_EndState(logged, len(ends), is_sound))
    return ends


def _is_late(logged: LoggedEnd, half: Record, timeout_ms: int) -> bool:
    """Whether the broker refused it for being late; which of two ENDs a record came from depends on it."""
    text = half.properties.get(IMMUNITY_SECONDS)
    if not text or logged.header.from_transaction_check:
        return False
    return logged.at - half.born_timestamp > end_transaction_immunity_time(text, timeout_ms)


class _Writers:
    """Finds for each record the act that had it written.

    Attributes
    ----------
    acts
        One a record; None where a check round wrote it.
    places
        The other acts of sends and ENDs.
    """

    def __init__(
        self, run: RecordedRun, records: list[Record], ends: list[_EndState], boots: list[Boot], *, batches_ops: bool
    ) -> None:
        self.acts: list[Act | None] = []
        self.places: list[_Place] = []
        self._run = run
        self._records = records
        self._ends = ends
        self._boots = boots
        self._batches_ops = batches_ops

    def assign(self) -> None:
        """Do it."""
        requests = _sends(self._run.driver_events())
        for index, record in enumerate(self._records):
            if record.topic == HALF_TOPIC and CHECK_TIMES not in record.properties:
                self.acts.append(self._send(record, requests))
            elif record.topic in (HALF_TOPIC, DISCARD_TOPIC):
                self.acts.append(None)
            elif record.topic == OP_TOPIC:
                self.acts.append(self._drain(record) if self._batches_ops else self._op(index, record))
            else:
                self.acts.append(self._real(index, record))
        if self._batches_ops:
            self._offer()
        for end in self._ends:
            if end.real is None and end.op is None:
                self.places.append(_Place(end.take_in(end.logged.at), end.logged.at, 1))

    def _send(self, record: Record, requests: dict[str, list[dict[str, str]]]) -> Send:
        """A request by its unique key; body and born host are not in the recorded header, only in the half."""
        key = record.properties.get(UNIQUE_KEY, "")
        if not requests.get(key):
            message = (
                f"{self._run.path}: the half at {record.physical_offset} of {UNIQUE_KEY} {key!r} was sent by no "
                "request of code 310 in driver.jsonl"
            )
            raise NoScheduleError(message)
        header = requests[key].pop(0)
        request = SendMessageRequest(
            topic=header["b"],
            queue_id=int(header["e"]),
            body=record.body,
            born_timestamp=int(header["g"]),
            properties=dict(parse_properties(header["i"])),
            flag=int(header["h"]),
            sys_flag=int(header["f"]),
            reconsume_times=int(header.get("j") or 0),
            born_host=record.born_host,
        )
        return Send(request, record.store_timestamp)

    def _real(self, index: int, record: Record) -> End:
        place = record.prepared_transaction_offset
        end = self._latest(
            record,
            lambda end: end.is_commit and end.real is None and end.logged.header.commit_log_offset == place,
            f"the message at {record.physical_offset} of {record.topic} names the half at {place}",
        )
        end.real = index
        return end.take_in(min(end.logged.at, record.store_timestamp), record.store_timestamp)

    def _op(self, index: int, record: Record) -> Act:
        """4.x: an op message of one half; its END is the one whose message stands already, or a rollback."""
        text = record.body.decode()
        end = self._latest(
            record,
            lambda end: (
                end.op is None
                and str(end.logged.header.tran_state_table_offset) == text
                and (end.real is not None or not end.is_commit)
            ),
            f"the op message at {record.physical_offset} names half {text}",
        )
        end.op = index
        if end.real is None:
            return end.take_in(record.born_timestamp, record.store_timestamp)
        return EndGoesOn(end.number, record.born_timestamp, record.store_timestamp)

    def _latest(self, record: Record, fits: Any, what: str) -> _EndState:
        """The last fitting END before a record was stored, else the first after."""
        found = [end for end in self._ends if end.is_sound and fits(end)]
        before = [end for end in found if end.logged.at <= record.store_timestamp + _LATE_LOG_MS]
        if not found:
            message = f"{self._run.path}: {what}, and transaction.log has no END_TRANSACTION left for it"
            raise NoScheduleError(message)
        return before[-1] if before else found[0]

    def _drain(self, record: Record) -> Drain:
        return Drain(record.born_timestamp, record.born_timestamp, record.store_timestamp)

    def _offer(self) -> None:
        """5.1 and later: ENDs put their halves into the batch in the order in which the op messages name them."""
        waiting = [end for end in self._ends if end.is_sound and (end.real is not None or not end.is_commit)]
        natural = {end.number: self._natural(end) for end in waiting}
        waiting.sort(key=lambda end: natural[end.number])
        low = 0
        taken: set[int] = set()
        for index, record in enumerate(self._records):
            if record.topic != OP_TOPIC:
                continue
            for text in record.body.decode().split(","):
                end = next(
                    (
                        end
                        for end in waiting
                        if end.number not in taken and str(end.logged.header.tran_state_table_offset) == text
                    ),
                    None,
                )
                if end is not None:
                    taken.add(end.number)
                    self._place_offer(end, low, index)
            if len(record.body) < _OP_SIZE:
                low = index + 1
        for end in waiting:
            if end.number not in taken:
                self._place_lost_offer(end)

    def _place_lost_offer(self, end: _EndState) -> None:
        """An offer that no op message names came after the last batch of its process, and died with that."""
        at = self._natural(end)[0]
        following = min((boot.at for boot in self._boots if boot.at > at), default=1 << 60)
        drains = [i for i, r in enumerate(self._records) if r.topic == OP_TOPIC and r.store_timestamp < following]
        self.places.append(_Place(self._offer_act(end, at), at, _OFFER, drains[-1] + 1 if drains else 0))

    def _natural(self, end: _EndState) -> tuple[int, int]:
        if end.real is not None:
            return self._records[end.real].store_timestamp, end.real
        return end.logged.at, -1

    def _place_offer(self, end: _EndState, low: int, high: int) -> None:
        at = self._natural(end)[0]
        act = self._offer_act(end, at)
        if end.real is not None:
            low = max(low, end.real + 1)
        last = self.places[-1] if self.places else None
        if last is not None:
            low, at = max(low, min(last.low, high)), max(at, last.at)
        self.places.append(_Place(act, at, _OFFER, low, high))

    def _offer_act(self, end: _EndState, at: int) -> Act:
        end.op = -1
        return end.take_in(at) if end.real is None else EndGoesOn(end.number, chosen_at=at)


_OFFER = 2
_OP_SIZE = 4_096


def _sends(events: list[dict[str, Any]]) -> dict[str, list[dict[str, str]]]:
    """The headers of the sends, by unique key."""
    requests: dict[str, list[dict[str, str]]] = {}
    for event in events:
        if event.get("ev") == "rpc.req" and event.get("code") == 310:
            header = event["header"]
            key = dict(parse_properties(header.get("i", ""))).get(UNIQUE_KEY, "")
            requests.setdefault(key, []).append(header)
    return requests


def _life(run: RecordedRun, meta: dict[str, Any], boots: list[Boot], timer_lead_ms: int) -> list[_Place]:
    """Starts, kills and stops."""
    kills = [event["t"] for event in meta["events"] if event.get("ev") == "broker kill -9"]
    places = []
    for index, boot in enumerate(boots):
        places.append(_Place(Start(boot.at, boot.at - timer_lead_ms), boot.at, -1))
        following = boots[index + 1].at if index + 1 < len(boots) else 1 << 60
        kill = next((at for at in kills if boot.at < at < following), None)
        if kill is not None:
            places.append(_Place(Kill(kill), kill, -2))
        else:
            ended = [r.ended_at for r in boot.rounds if r.ended_at is not None and not r.is_closed]
            last = max([boot.at, *ended, *(end.at for end in boot.ends)])
            places.append(_Place(Stop(last), last, 9))
    if not boots[-1].stopped_at and not kills:
        message = f"{run.path}: transaction.log does not say how the broker ended, and meta.json knows of no kill"
        raise NoScheduleError(message)
    return places


def _rounds(boots: list[Boot], records: list[Record], writers: _Writers, known: Schedule) -> list[_Place]:
    """Where rounds begin, rest and end among the writes."""
    ops = [index for index, record in enumerate(records) if record.topic == OP_TOPIC]
    own = [index for index, act in enumerate(writers.acts) if act is None]
    places: list[_Place] = []
    interval = broker_settings(known).transaction_check_interval_ms
    file_entries = store_config(known).mapped_file_size_consume_queue // ENTRY_BYTES
    for boot in boots:
        rounds = [r for r in boot.rounds if not r.is_closed and r.pulls]
        _woken(rounds, boot, interval)
        for index, running in enumerate(rounds):
            following = rounds[index + 1].at if index + 1 < len(rounds) else 1 << 60
            writes = [i for i in own if running.at <= records[i].store_timestamp < following]
            places += _round(running, writes, ops, file_entries)
    return places


def _woken(rounds: list[Round], boot: Boot, interval: int) -> None:
    """A thread that is told to stop does not wait for its last round."""
    since = boot.at if len(rounds) < 2 else rounds[-2].ended_at
    if rounds and boot.stopped_at is not None and since is not None:
        rounds[-1].is_woken = rounds[-1].at - since < interval


def _round(running: Round, writes: list[int], ops: list[int], file_entries: int) -> list[_Place]:
    """A pull that ends at the end of a consume queue file says nothing of the queue's end."""
    places = []
    for number, pull in enumerate(running.pulls):
        act: Act = RoundGoesOn(at=pull.at, paused=True) if number else RoundBegins(running.at, running.is_woken)
        place = _Place(act, pull.at if number else running.at, 3 if number else 0)
        if number:
            place.low = writes[pull.writes - 1] + 1 if 0 < pull.writes <= len(writes) else 0
        if pull.writes < len(writes):
            place.high = writes[pull.writes]
        if pull.visible is not None and (not pull.found or pull.visible % file_entries):
            seen = min(pull.visible, len(ops))
            place.low = max(place.low, ops[seen - 1] + 1 if seen else 0)
            place.high = min(place.high, ops[seen] if seen < len(ops) else 1 << 60)
        places.append(place)
    if running.ended_at is not None:
        at = running.left_at if running.left_at > running.at else running.ended_at
        places.append(_Place(RoundGoesOn(at=at), at, 4, writes[-1] + 1 if writes else 0))
    return places


def _merge(records: list[Record], writers: list[Act | None], places: list[_Place]) -> list[Act]:
    """All acts in one order: the writes in that of the log, the others by time as far as their bounds allow."""
    slots: list[list[tuple[int, int, int, Act]]] = [[] for _ in range(len(records) + 1)]
    for order, place in enumerate(places):
        index = _by_time(records, place)
        index = min(max(index, place.low), place.high, len(records))
        slots[index].append((place.at, place.rank, order, place.act))
    acts: list[Act] = []
    for index, slot in enumerate(slots):
        acts += [act for *_, act in sorted(slot, key=lambda item: item[:3])]
        if index == len(records):
            break
        act = writers[index]
        if act is not None:
            acts.append(act)
            continue
        last = acts[-1] if acts else None
        if isinstance(last, RoundGoesOn) and last.stored_at:
            last.stored_at.append(records[index].store_timestamp)
        else:
            paused = not isinstance(last, RoundBegins)
            acts.append(RoundGoesOn([records[index].store_timestamp], paused=paused))
    return acts


def _choose_drains(acts: list[Act], settings: dict[str, str]) -> None:
    """Let the clock at a drain be so much earlier than its record's birth that the next drain is due."""
    drains = [act for act in acts if isinstance(act, Drain)]
    interval = int(settings.get("transactionOpBatchInterval", 3_000))
    for drain, following in pairwise(drains):
        if 0 < interval - (following.at - drain.at) <= _LATE_LOG_MS:
            drain.chosen_at = following.at - interval


def _by_time(records: list[Record], place: _Place) -> int:
    """Before the first record that was stored later; at the same time the rank decides."""
    low, high = 0, len(records)
    while low < high:
        middle = (low + high) // 2
        timestamp = records[middle].store_timestamp
        if timestamp < place.at or (timestamp == place.at and place.rank > 1):
            low = middle + 1
        else:
            high = middle
    return low


def _numbered(acts: list[Act], ends: list[_EndState]) -> list[Act]:
    """Number the ENDs by the order in which they are taken in."""
    numbers = {id(act): number for number, act in enumerate(act for act in acts if isinstance(act, End))}
    for act in acts:
        if isinstance(act, EndGoesOn):
            act.end = numbers[id(ends[act.end].act)]
    return acts
