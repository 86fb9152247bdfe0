"""Writes stores of any size with the reference broker, and counts what became of their transactions.

``python -m benchmarks.audit.written_store FOLDER BYTES`` writes one. Of a hundred transactions 85 are committed at
once, 10 rolled back, 3 committed when a check asks for them, and 2 never answered: they are put back three times and
discarded. Between them stand as many ordinary messages. A body has about a kilobyte.

``python -m benchmarks.audit.written_store FOLDER HALVES TRAFFIC`` writes one as a broker has it that is at work: of
``mixed`` traffic with the same shares, the youngest of those that nobody answers are pending; ``pending`` ones all are.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from benchmarks.broker.workloads import GROUP, MILLISECOND_EVERY, OPS_EVERY, end, new_broker, send, write_op_batches
from reference.broker.processor.end_transaction_processor import TRANSACTION_ROLLBACK, EndTransactionRequestHeader
from reference.broker.processor.send_message_processor import SendMessageRequest
from reference.broker.transaction.check_outcome import CheckBranch
from reference.format.record import TRANSACTION_COMMIT, CommitLogOffset, QueueOffset
from reference.format.stored_message import decode_message_id

VERSION = "5.3.3"
EXPECTED = "expected.json"
"""Beside the store: state to the number of transactions."""

BODY_BYTES = (900, 1_150)
"""The smallest and the largest body."""

_ROUND_EVERY = 20_000


@dataclass(frozen=True, slots=True)
class Traffic:
    """What producers send, and what they make of it.

    Attributes
    ----------
    body_bytes
        The smallest and the largest body.
    check_max
        ``transactionCheckMax`` of the broker.
    committed, rolled_back, by_check
        Of a hundred transactions, how many are committed or rolled back at once, and how many are committed by the
        answer to a check; the others are never answered.
    has_ordinary
        Whether an ordinary message is sent for each transaction.
    """

    body_bytes: tuple[int, int] = BODY_BYTES
    check_max: int = 3
    committed: int = 85
    rolled_back: int = 10
    by_check: int = 3
    has_ordinary: bool = True


OF_RUNNING = {
    "mixed": Traffic((150, 250), 15, has_ordinary=False),
    "pending": Traffic((150, 250), 15, 0, 0, 0, has_ordinary=False),
}
"""Traffic of brokers that are at work."""


class StoreInTheMaking:
    """A broker, and a producer that remembers what it answers to checks."""

    def __init__(self, folder: Path, traffic: Traffic) -> None:
        self.traffic = traffic
        self.broker = new_broker(VERSION, folder, traffic.check_max)
        self.clock = self.broker.clock
        self.expected: Counter[str] = Counter()
        self._bytes = random.Random(7).randbytes(1 << 20)
        self._sizes = random.Random(8)
        self._sent = 0
        self._answers: set[str] = set()

    def run(self, size: int) -> Counter[str]:
        """Go on until the commit log has a size in bytes, then until every transaction is settled."""
        written = 0
        while written < size:
            written += self._next()
        for _ in range(self.traffic.check_max + 2):
            self._round()
        self.broker.shutdown()
        return self.expected

    def send(self, halves: int) -> Counter[str]:
        """Send so many halves, and leave them as they are."""
        while self._sent < halves:
            self._next()
        write_op_batches(self.broker)
        self.broker.shutdown()
        self.expected["pending"] = halves - self.expected.total()
        return self.expected

    def _next(self) -> int:
        """Send one transaction and what comes with it; gives about how many bytes that takes."""
        written = self._transaction(self._sent) + (self._ordinary(self._sent) if self.traffic.has_ordinary else 0)
        self._sent += 1
        if self._sent % MILLISECOND_EVERY == 0:
            self.clock.advance(1)
        if self._sent % OPS_EVERY == 0:
            self.broker.run_op_batch_service()
        if self._sent % _ROUND_EVERY == 0 and self.traffic.committed:
            self._round()
        return written

    def _transaction(self, number: int) -> int:
        kind, traffic = number % 100, self.traffic
        body = self._body()
        response = send(self.broker, number, f"Orders{number % 7}", body)
        is_committed = kind < traffic.committed
        settled = traffic.committed + traffic.rolled_back
        if kind < settled:
            outcome = TRANSACTION_COMMIT if is_committed else TRANSACTION_ROLLBACK
            half = QueueOffset(response.queue_offset)
            self._end(half, decode_message_id(response.msg_id), outcome, is_answer=False)
            self.expected["delivered" if is_committed else "rolled_back"] += 1
        elif kind < settled + traffic.by_check:
            self._answers.add(f"C0A80001{number:024X}")
        return len(body) * (2 if is_committed else 1) + 600

    def _ordinary(self, number: int) -> int:
        body = self._body()
        properties = {"UNIQ_KEY": f"C0A80002{number:024X}", "WAIT": "true", "TAGS": "TagB"}
        self.broker.send_message(SendMessageRequest("Clicks", number & 7, body, self.clock.now, properties))
        return len(body) + 200

    def _body(self) -> bytes:
        size = self._sizes.randint(*self.traffic.body_bytes)
        start = self._sizes.randrange(len(self._bytes) - size)
        return self._bytes[start : start + size]

    def _end(self, half: QueueOffset, place: CommitLogOffset, outcome: int, *, is_answer: bool) -> None:
        end(self.broker, EndTransactionRequestHeader(GROUP, half, place, outcome, from_transaction_check=is_answer))

    def _round(self) -> None:
        """Write all op batches, run a check round a minute later, and answer its checks."""
        write_op_batches(self.broker)
        self.clock.advance(60_000)
        running = self.broker.begin_check_round()
        if running is None:
            message = "no check round began"
            raise RuntimeError(message)
        while not running.is_over:
            branch = running.step().branch
            self.expected["parked"] += branch is CheckBranch.DISCARDED
            if branch is CheckBranch.ASLEEP:
                self.clock.advance(running.wakes_at - self.clock.elapsed)
            while self.broker.check_requests:
                check = self.broker.check_requests.popleft()
                if check.msg_id in self._answers:
                    self._answers.discard(check.msg_id)
                    self.expected["delivered"] += 1
                    self._end(
                        check.tran_state_table_offset, check.commit_log_offset, TRANSACTION_COMMIT, is_answer=True
                    )


def write_store(folder: Path, size: int) -> Counter[str]:
    """Write a store of about that many bytes; gives the counts by state, which stand beside it, too."""
    return _counted(folder, StoreInTheMaking(folder, Traffic()).run(size))


def write_store_of_running(folder: Path, halves: int, traffic: str) -> Counter[str]:
    """Write the store of a broker that is at work, of one of `OF_RUNNING`; gives the counts by state, too."""
    return _counted(folder, StoreInTheMaking(folder, OF_RUNNING[traffic]).send(halves))


def _counted(folder: Path, expected: Counter[str]) -> Counter[str]:
    (folder / EXPECTED).write_text(json.dumps(+expected), encoding="utf-8")
    return +expected


if __name__ == "__main__":
    target, count = Path(sys.argv[1]), int(sys.argv[2])
    written = write_store_of_running(target, count, sys.argv[3]) if sys.argv[3:] else write_store(target, count)
    print(json.dumps(written))
