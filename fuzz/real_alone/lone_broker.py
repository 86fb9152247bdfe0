"""A broker of one build of the real classes, with the producers and the network around it, which follow its answers."""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.java.digest import PARTS
from files.reading import read_bytes
from fuzz.broker_side.broker_records import TICK_MS
from fuzz.broker_side.broker_side import SMALL_FILES, settings_for
from fuzz.broker_side.order_fields import opening, sending
from fuzz.broker_side.producers import CHANNEL, GROUP, end_transaction, transaction_of_key
from fuzz.real_alone.seen import SeenBroker, SeenEnd, SeenTransaction
from reference.format.properties import IMMUNITY_SECONDS
from reference.format.record import CommitLogOffset
from reference.format.stored_message import decode_message, decode_message_id
from reference.versions.versions import switches_of
from spec.state import End

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.java.real_classes import RealClasses
    from reference.broker.processor.send_message_processor import SendMessageRequest
    from spec.constants import Constants

_BLANK_MAGIC: Final = (-875286124).to_bytes(4, signed=True)
"""``CommitLog#BLANK_MAGIC_CODE``: the rest of a file of the log is empty."""
_MAGIC_AT: Final = slice(4, 8)
_MOST_PASSES: Final = 60
_STORED: Final = "message stored"
_PART: Final = {name: number for number, name in enumerate(PARTS)}


@dataclass(slots=True)
class EndUnderWay:
    """An END_TRANSACTION that was sent, or is being handled."""

    transaction: int
    half: int
    place: CommitLogOffset
    says: End
    answers_check: bool
    is_own: bool = False
    number: int | None = None
    """Of its handling, once it has begun."""


@dataclass(frozen=True, slots=True)
class CheckUnderWay:
    """A check request on its way to the producer."""

    transaction: int
    half: int
    place: CommitLogOffset


class LoneBroker:
    """One broker on an empty store.

    Attributes
    ----------
    seen
        What was seen of it so far.
    ends
        The END_TRANSACTIONs that are under way, by a name that the schedule has for the half.
    checks
        The check requests that are under way, the first one first.
    """

    def __init__(self, real: RealClasses, constants: Constants) -> None:
        self.seen = SeenBroker()
        self.ends: defaultdict[int, list[EndUnderWay]] = defaultdict(list)
        self.checks: list[CheckUnderWay] = []
        self.constants = constants
        self.switches = switches_of(real.release)
        self.orders = 0
        self.is_in_round = False
        self._real = real
        self._settings = settings_for(constants)
        self._read_to = self._ends_begun = 0
        self._sent: dict[int, tuple[int, CommitLogOffset]] = {}
        before = (constants.check_interval + constants.clock_step) * TICK_MS
        self.now = constants.horizon * TICK_MS - before
        """Milliseconds by its clock."""
        self._order("open", **opening(real.folder, self.now, self._settings, SMALL_FILES))
        folders = (folder for folder in real.folder.iterdir() if folder.name.isdigit())
        self._log = next(folders) / "commitlog"
        self.advance(before)
        self.connect()

    # --- time ---------------------------------------------------------------------------------------------------------

    def advance(self, ms: int) -> None:
        """Let so many milliseconds pass."""
        self.now += ms
        self._order("advance", ms=ms)

    def set_clock(self, ms: int) -> None:
        """Set its clock forth or back, which nobody notices that waits."""
        self.now += ms
        self._order("step", ms=ms)

    # --- producers ----------------------------------------------------------------------------------------------------

    def connect(self) -> None:
        """A producer is connected."""
        self._order("connect", group=GROUP, client=CHANNEL)

    def disconnect(self) -> None:
        """All producers are gone, with what was under way to them."""
        self._order("disconnect", client=CHANNEL)
        self.checks.clear()

    def send(self, transaction: int, request: SendMessageRequest) -> None:
        """Send the message of a transaction."""
        self.seen.transactions.setdefault(transaction, SeenTransaction(request))
        self.connect()
        code, *where = self._order("send", **sending(request, self.switches)).split(" ")
        if code == "0":
            self._sent[transaction] = int(where[0]), decode_message_id(where[1])

    def place_sent(self, transaction: int) -> CommitLogOffset | None:
        """Where the half of the last send lies."""
        return self._sent[transaction][1] if transaction in self._sent else None

    def send_own_end(self, name: int, transaction: int, says: End) -> None:
        """A producer ends its local transaction, and says so for the half that its send stored."""
        if transaction in self._sent:
            half, place = self._sent[transaction]
            self.ends[name].append(EndUnderWay(transaction, half, place, says, answers_check=False, is_own=True))

    def send_stray_end(self, name: int, transaction: int, nth: int, says: End, *, answers_check: bool) -> None:
        """An END_TRANSACTION comes that nobody should have sent, for the nth half of a transaction, or its last."""
        halves = self.seen.transactions[transaction].halves if transaction in self.seen.transactions else []
        if halves:
            half = halves[min(nth, len(halves) - 1)]
            claims = answers_check or nth > 0
            self.ends[name].append(
                EndUnderWay(transaction, int(half.queue_offset), half.physical_offset, says, answers_check=claims)
            )

    def take_check(self, transaction: int) -> CheckUnderWay | None:
        """The first check request of a transaction leaves the network, if there is one."""
        found = next((check for check in self.checks if check.transaction == transaction), None)
        if found is not None:
            self.checks.remove(found)
        return found

    def answer_check(self, name: int, check: CheckUnderWay, says: End) -> None:
        """A producer answers a check."""
        self.ends[name].append(EndUnderWay(check.transaction, check.half, check.place, says, answers_check=True))

    def go_on_with_end(self, name: int, *, until_answered: bool) -> None:
        """Let the broker take the next step with the first END_TRANSACTION for a half, or all that are left of it."""
        if not self.ends[name]:
            return
        first = self.ends[name][0]
        answer = self._step_end(first)
        if answer == _STORED and until_answered:
            answer = self._step_end(first)
        if answer != _STORED:
            self.ends[name].pop(0)
            self._note_answer(first, answer)

    def _step_end(self, end: EndUnderWay) -> str:
        if end.number is not None:
            return self._order("go on with end", number=end.number)
        end.number = self._ends_begun
        self._ends_begun += 1
        self.seen.transactions[end.transaction].commits_begun += end.says is End.COMMIT
        header = end_transaction(end.half, end.place, end.says, answers_check=end.answers_check)
        return self._order(
            "end",
            number=end.number,
            group=header.producer_group,
            half=header.tran_state_table_offset,
            place=header.commit_log_offset,
            says=header.commit_or_rollback,
            answersCheck=str(header.from_transaction_check).lower(),
            client=CHANNEL,
        )

    def _note_answer(self, end: EndUnderWay, code: str) -> None:
        of = self.seen.transactions[end.transaction]
        immunity = int(of.request.properties.get(IMMUNITY_SECONDS, "0")) * TICK_MS
        age = self.now - of.request.born_timestamp
        is_in_time = age <= max(immunity, self._settings.transaction_timeout_ms)
        of.ends.append(SeenEnd(self.orders, end.says, code, end.half, is_in_time, end.is_own))

    # --- its threads, its disk, its end -------------------------------------------------------------------------------

    def begin_round(self) -> None:
        """The check thread begins a round; one that runs comes to its end before."""
        self.end_round()
        self._stop(self._order("begin round"))

    def step_round(self) -> None:
        """A pass of the round, if one runs."""
        if self.is_in_round:
            self._stop(self._order("pass"))

    def end_round(self) -> None:
        """Let the round come to its end."""
        for _ in range(_MOST_PASSES):
            if not self.is_in_round:
                return
            self.step_round()
        self.seen.spun = True
        self.advance(self._settings.max_process_time_limit_ms + 1)
        self.step_round()

    def _stop(self, at: str) -> None:
        self.is_in_round = at == "next half"

    def write_batch(self) -> None:
        """The thread of the op batches runs once."""
        if self.switches.batches_ops:
            self._order("batch")

    def save_offsets(self) -> None:
        """The offsets in memory go to their file."""
        self._order("save offsets")

    def put_offset(self, topic: str, offset: int | None) -> None:
        """The check service's offset of a queue is another one, or none."""
        self._order("set offsets", topic=topic, offset="" if offset is None else offset)

    def flush(self) -> None:
        """Flush log and queues."""
        self._order("flush")

    @contextmanager
    def puts_fail(self) -> Iterator[None]:
        """Meanwhile the store refuses every message."""
        self._order("refuse puts")
        yield
        self._order("take puts")

    def miss_next_read(self) -> None:
        """The next read of a queue gives nothing at all."""
        self._order("miss read", gives="nothing", next=0, max=0)

    def damage(self, place: int) -> None:
        """A record rots."""
        self._order("damage", place=place)

    def crash(self, *, reconnects: bool) -> None:
        """The process dies, and the next begins on its store; what was under way to the old one is lost."""
        self.is_in_round = False
        self.ends.clear()
        self._order("restart")
        if reconnects:
            self.connect()

    # --- orders -------------------------------------------------------------------------------------------------------

    def _order(self, name: str, **fields: object) -> str:
        """Give an order, all records dispatched before; its answer."""
        if self._read_to and name not in ("advance", "step", "restart"):
            self._look(self._real.ask("dispatch"))
        self.orders += 1
        parts = self._real.ask(name, **fields)
        self._look(parts)
        return parts[0]

    def _look(self, parts: tuple[str, ...]) -> None:
        """What an answer shows of the broker's state, and what is new in its log."""
        if len(parts) != len(PARTS):
            if parts[0]:
                self.seen.thrown = self.seen.thrown or parts[0]
                self.is_in_round = False
            return
        seen = self.seen
        seen.half_offset, seen.op_offset = (
            int(parts[_PART[f"the offset of the {which} queue"]]) for which in ("half", "op")
        )
        seen.half_end, seen.op_end = (int(parts[_PART[f"the end of the {which} queue"]]) for which in ("half", "op"))
        seen.batch = parts[_PART["the op batch"]]
        self._read(int(parts[_PART["the end of the log"]]))
        for request in filter(None, parts[_PART["the check requests"]].split(",")):
            half, _, rest = request.partition("@")
            place, _, key = rest.partition("=")
            transaction = transaction_of_key(key)
            if transaction in seen.transactions:
                seen.transactions[transaction].checked_at.append(self.orders)
            self.checks.append(CheckUnderWay(transaction, int(half), CommitLogOffset(int(place))))

    def _read(self, end: int) -> None:
        size = SMALL_FILES.mapped_file_size_commit_log
        while self._read_to < end:
            begin = self._read_to - self._read_to % size
            content = read_bytes(self._log / f"{begin:020}")
            at = self._read_to - begin
            if size - at < _MAGIC_AT.stop or content[at:][_MAGIC_AT] == _BLANK_MAGIC:
                self._read_to = begin + size
                continue
            record = decode_message(content, at)
            self._read_to += record.total_size
            self.seen.note(record, self.orders)
