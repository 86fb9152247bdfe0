"""Extracts a schedule from a real broker's store and the logs of its run.

The store gives the order of all writes and their clock readings, the driver's log the requests, ``transaction.log`` the
order of the END_TRANSACTIONs and when rounds ran. What no log tells (which of two things within a millisecond came
first, whether a round rested between two writes) is chosen so that the reference broker can follow.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from conformance.broker_schedule import (
    Act,
    BrokerSchedule,
    Drain,
    EndAct,
    EndGoesOn,
    KillAct,
    RoundBegins,
    RoundGoesOn,
    StartAct,
    StopAct,
)
from conformance.errors import NoScheduleError
from conformance.record_writers import LATE_LOG_MS, ActPlace, EndState, Writers
from conformance.transaction_log import Boot, LoggedEnd, LoggedRound, read_boots
from reference.broker.processor.end_transaction_processor import TRANSACTION_ROLLBACK
from reference.broker.transaction.immunity_time import end_transaction_immunity_time
from reference.format.commit_log import CommitLog
from reference.format.consume_queue import ENTRY_BYTES
from reference.format.errors import CorruptRegion
from reference.format.properties import IMMUNITY_SECONDS, PRODUCER_GROUP
from reference.format.record import TRANSACTION_COMMIT, LogRecord
from reference.format.system_topics import OP_TOPIC
from reference.versions.versions import STORE_VERSIONS

if TYPE_CHECKING:
    from conformance.recorded_run import RecordedRun

_TIMER_LEAD_MS = 110


def extract_schedule(run: RecordedRun) -> BrokerSchedule:
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
            f"{run.path}: there is no reference broker of version {version}; there are {', '.join(STORE_VERSIONS)}. "
            f"spec:{version} holds the store against the specification"
        )
        raise NoScheduleError(message)
    known = BrokerSchedule.without_acts(version, run.broker_conf)
    records = _records(run)
    boots = read_boots(run.transaction_log(), str(run.path))
    ends = _ends(boots, records, known)
    writers = Writers(run, records, ends, boots, known)
    writers.assign()
    places = [*_life(run, meta, boots), *writers.places, *_rounds(boots, records, writers, known)]
    acts = _merge(records, writers.acts, places)
    _choose_drains(acts, known)
    return replace(known, acts=_numbered(acts, ends))


def _records(run: RecordedRun) -> list[LogRecord]:
    records = []
    for entry in CommitLog.open(run.path).read():
        if isinstance(entry, CorruptRegion):
            message = f"{run.path}/{entry.file} is damaged at byte {entry.offset}: {entry.reason}"
            raise NoScheduleError(message)
        if isinstance(entry, LogRecord):
            records.append(entry)
    if records and records[0].physical_offset:
        message = f"{run.path} begins at byte {records[0].physical_offset} of its log: the run before that is unknown"
        raise NoScheduleError(message)
    return records


def _ends(boots: list[Boot], records: list[LogRecord], known: BrokerSchedule) -> list[EndState]:
    timeout = known.broker_settings().transaction_timeout_ms
    refuses = STORE_VERSIONS[known.version].refuses_late_end
    at_offset = {record.physical_offset: record for record in records}
    ends: list[EndState] = []
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
        ends.append(EndState(logged, len(ends), is_sound))
    return ends


def _is_late(logged: LoggedEnd, half: LogRecord, timeout_ms: int) -> bool:
    """Whether the broker refused the END as late; that decides which of two ENDs wrote a record."""
    text = half.properties.get(IMMUNITY_SECONDS)
    if not text or logged.header.from_transaction_check:
        return False
    return logged.at - half.born_timestamp > end_transaction_immunity_time(text, timeout_ms)


def _life(run: RecordedRun, meta: dict[str, Any], boots: list[Boot]) -> list[ActPlace]:
    """Starts, kills and stops."""
    kills = [event["t"] for event in meta["events"] if event.get("ev") == "broker kill -9"]
    places = []
    for index, boot in enumerate(boots):
        places.append(ActPlace(StartAct(boot.at, boot.at - _TIMER_LEAD_MS), boot.at, -1))
        following = boots[index + 1].at if index + 1 < len(boots) else 1 << 60
        kill = next((at for at in kills if boot.at < at < following), None)
        if kill is not None:
            places.append(ActPlace(KillAct(kill), kill, -2))
        else:
            ended = [r.ended_at for r in boot.rounds if r.ended_at is not None and not r.is_closed]
            last = max([boot.at, *ended, *(end.at for end in boot.ends)])
            places.append(ActPlace(StopAct(last), last, 9))
    if not boots[-1].stopped_at and not kills:
        message = f"{run.path}: transaction.log does not say how the broker ended, and meta.json knows of no kill"
        raise NoScheduleError(message)
    return places


def _rounds(boots: list[Boot], records: list[LogRecord], writers: Writers, known: BrokerSchedule) -> list[ActPlace]:
    """Where rounds begin, rest and end among the writes."""
    ops = [index for index, record in enumerate(records) if record.topic == OP_TOPIC]
    own = [index for index, act in enumerate(writers.acts) if act is None]
    places: list[ActPlace] = []
    interval = known.broker_settings().transaction_check_interval_ms
    file_entries = known.store_config().mapped_file_size_consume_queue // ENTRY_BYTES
    for boot in boots:
        rounds = [r for r in boot.rounds if not r.is_closed and r.pulls]
        _woken(rounds, boot, interval)
        for index, running in enumerate(rounds):
            following = rounds[index + 1].at if index + 1 < len(rounds) else 1 << 60
            writes = [i for i in own if running.at <= records[i].store_timestamp < following]
            places += _round(running, writes, ops, file_entries)
    return places


def _woken(rounds: list[LoggedRound], boot: Boot, interval: int) -> None:
    """A thread that is stopped does not wait for its last round."""
    since = boot.at if len(rounds) < 2 else rounds[-2].ended_at
    if rounds and boot.stopped_at is not None and since is not None:
        rounds[-1].is_woken = rounds[-1].at - since < interval


def _round(running: LoggedRound, writes: list[int], ops: list[int], file_entries: int) -> list[ActPlace]:
    """A pull that ends at the end of a consume queue file says nothing of the queue's end."""
    places = []
    for number, pull in enumerate(running.pulls):
        act: Act = RoundGoesOn(at=pull.at, paused=True) if number else RoundBegins(running.at, running.is_woken)
        place = ActPlace(act, pull.at if number else running.at, 3 if number else 0)
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
        places.append(ActPlace(RoundGoesOn(at=at), at, 4, writes[-1] + 1 if writes else 0))
    return places


def _merge(records: list[LogRecord], writers: list[Act | None], places: list[ActPlace]) -> list[Act]:
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


def _choose_drains(acts: list[Act], known: BrokerSchedule) -> None:
    """Let the clock at a drain be so much earlier than its record's birth that the next drain is due."""
    drains = [act for act in acts if isinstance(act, Drain)]
    interval = known.broker_settings().op_batch_interval_ms
    for drain, following in pairwise(drains):
        if 0 < interval - (following.at - drain.at) <= LATE_LOG_MS:
            drain.chosen_at = following.at - interval


def _by_time(records: list[LogRecord], place: ActPlace) -> int:
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


def _numbered(acts: list[Act], ends: list[EndState]) -> list[Act]:
    """Number the ENDs by the order in which they are taken in."""
    numbers = {id(act): number for number, act in enumerate(act for act in acts if isinstance(act, EndAct))}
    for act in acts:
        if isinstance(act, EndGoesOn):
            act.end = numbers[id(ends[act.end].act)]
    return acts
