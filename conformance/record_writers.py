"""Who wrote each record of a recorded run: a client, an END_TRANSACTION, the op batch service or a check round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.broker_schedule import Act, BrokerSchedule, Drain, EndAct, EndGoesOn, SendAct
from conformance.errors import NoScheduleError
from reference.broker.processor.send_message_processor import SendMessageRequest
from reference.format.properties import CHECK_TIMES, UNIQUE_KEY, parse_properties
from reference.format.record import TRANSACTION_COMMIT, LogRecord
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC
from reference.versions.versions import STORE_VERSIONS

if TYPE_CHECKING:
    from conformance.recorded_run import RecordedRun
    from conformance.transaction_log import Boot, LoggedEnd

LATE_LOG_MS = 2
"""How much later than it happened something is logged at most."""


@dataclass
class ActPlace:
    """An act that writes no record: where it may stand among the writes, and where it stands best."""

    act: Act
    at: int
    rank: int
    low: int = 0
    high: int = 1 << 60


@dataclass
class EndState:
    """State of one END_TRANSACTION while the records are handed out."""

    logged: LoggedEnd
    number: int
    is_sound: bool
    real: int | None = None
    op: int | None = None
    act: EndAct | None = None

    def take_in(self, at: int, stored_at: int | None = None) -> EndAct:
        """The act that takes it in."""
        self.act = EndAct(self.logged.header, at, stored_at)
        return self.act

    @property
    def is_commit(self) -> bool:
        """Whether it asks for a commit."""
        return self.logged.header.commit_or_rollback == TRANSACTION_COMMIT


class Writers:
    """Finds for each record the act that had it written."""

    def __init__(
        self, run: RecordedRun, records: list[LogRecord], ends: list[EndState], boots: list[Boot], known: BrokerSchedule
    ) -> None:
        self.acts: list[Act | None] = []
        """One a record; None where a check round wrote it."""
        self.places: list[ActPlace] = []
        """The other acts of sends and ENDs."""
        self._run = run
        self._records = records
        self._ends = ends
        self._boots = boots
        self._batches_ops = STORE_VERSIONS[known.version].batches_ops
        self._op_size = known.broker_settings().op_msg_max_size

    def assign(self) -> None:
        """Do it."""
        requests = _sends(self._run.driver_events())
        for index, record in enumerate(self._records):
            if record.topic == HALF_TOPIC and CHECK_TIMES not in record.properties:
                self.acts.append(self._send(record, requests))
            elif record.topic in (HALF_TOPIC, DISCARD_TOPIC):
                self.acts.append(None)
            elif record.topic == OP_TOPIC:
                drain = Drain(record.born_timestamp, record.born_timestamp, record.store_timestamp)
                self.acts.append(drain if self._batches_ops else self._op(index, record))
            else:
                self.acts.append(self._real(index, record))
        if self._batches_ops:
            self._offer()
        for end in self._ends:
            if end.real is None and end.op is None:
                self.places.append(ActPlace(end.take_in(end.logged.at), end.logged.at, 1))

    def _send(self, record: LogRecord, requests: dict[str, list[dict[str, str]]]) -> SendAct:
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
        return SendAct(request, record.store_timestamp)

    def _real(self, index: int, record: LogRecord) -> EndAct:
        place = record.prepared_transaction_offset
        end = self._latest(
            record,
            lambda end: end.is_commit and end.real is None and end.logged.header.commit_log_offset == place,
            f"the message at {record.physical_offset} of {record.topic} names the half at {place}",
        )
        end.real = index
        return end.take_in(min(end.logged.at, record.store_timestamp), record.store_timestamp)

    def _op(self, index: int, record: LogRecord) -> Act:
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

    def _latest(self, record: LogRecord, fits: Any, what: str) -> EndState:
        """The last fitting END before a record was stored, else the first after."""
        found = [end for end in self._ends if end.is_sound and fits(end)]
        before = [end for end in found if end.logged.at <= record.store_timestamp + LATE_LOG_MS]
        if not found:
            message = f"{self._run.path}: {what}, and transaction.log has no END_TRANSACTION left for it"
            raise NoScheduleError(message)
        return before[-1] if before else found[0]

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
            if len(record.body) < self._op_size:
                low = index + 1
        for end in waiting:
            if end.number not in taken:
                self._place_lost_offer(end)

    def _place_lost_offer(self, end: EndState) -> None:
        """An offer that no op message names came after the last batch of its process, and died with that."""
        at = self._natural(end)[0]
        following = min((boot.at for boot in self._boots if boot.at > at), default=1 << 60)
        drains = [i for i, r in enumerate(self._records) if r.topic == OP_TOPIC and r.store_timestamp < following]
        self.places.append(ActPlace(self._offer_act(end, at), at, _OFFER, drains[-1] + 1 if drains else 0))

    def _natural(self, end: EndState) -> tuple[int, int]:
        if end.real is not None:
            return self._records[end.real].store_timestamp, end.real
        return end.logged.at, -1

    def _place_offer(self, end: EndState, low: int, high: int) -> None:
        at = self._natural(end)[0]
        act = self._offer_act(end, at)
        if end.real is not None:
            low = max(low, end.real + 1)
        last = self.places[-1] if self.places else None
        if last is not None:
            low, at = max(low, min(last.low, high)), max(at, last.at)
        self.places.append(ActPlace(act, at, _OFFER, low, high))

    def _offer_act(self, end: EndState, at: int) -> Act:
        end.op = -1
        return end.take_in(at) if end.real is None else EndGoesOn(end.number, chosen_at=at)


_OFFER = 2


def _sends(events: list[dict[str, Any]]) -> dict[str, list[dict[str, str]]]:
    """The headers of the sends, by unique key."""
    requests: dict[str, list[dict[str, str]]] = {}
    for event in events:
        if event.get("ev") == "rpc.req" and event.get("code") == 310:
            header = event["header"]
            key = dict(parse_properties(header.get("i", ""))).get(UNIQUE_KEY, "")
            requests.setdefault(key, []).append(header)
    return requests
