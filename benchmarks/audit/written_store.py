"""Writes a store of any size with the reference broker, and counts what became of its transactions.

``python -m benchmarks.audit.written_store FOLDER BYTES`` writes one. Of a hundred transactions 85 are committed at
once, 10 rolled back, 3 committed when a check asks for them, and 2 never answered: they are put back three times and
discarded. Between them stand as many ordinary messages. A body has about a kilobyte.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from pathlib import Path

from benchmarks.broker.workloads import GROUP, MILLISECOND_EVERY, OPS_EVERY, end, new_broker, send, write_op_batches
from reference.broker.processor.end_transaction_processor import TRANSACTION_ROLLBACK, EndTransactionRequestHeader
from reference.broker.processor.send_message_processor import SendMessageRequest
from reference.broker.transaction.check_outcome import CheckBranch
from reference.format.record import TRANSACTION_COMMIT, CommitLogOffset, QueueOffset
from reference.format.stored_message import decode_message_id

VERSION = "5.3.3"
CHECK_MAX = 3
EXPECTED = "expected.json"
"""Beside the store: state to the number of transactions."""

BODY_BYTES = (900, 1_150)
"""The smallest and the largest body."""

_ROUND_EVERY = 20_000


class StoreInTheMaking:
    """A broker, and a producer that remembers what it answers to checks."""

    def __init__(self, folder: Path) -> None:
        self.broker = new_broker(VERSION, folder, CHECK_MAX)
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
            written += self._transaction(self._sent) + self._ordinary(self._sent)
            self._sent += 1
            if self._sent % MILLISECOND_EVERY == 0:
                self.clock.advance(1)
            if self._sent % OPS_EVERY == 0:
                self.broker.run_op_batch_service()
            if self._sent % _ROUND_EVERY == 0:
                self._round()
        for _ in range(CHECK_MAX + 2):
            self._round()
        self.broker.shutdown()
        return self.expected

    def _transaction(self, number: int) -> int:
        kind = number % 100
        body = self._body()
        response = send(self.broker, number, f"Orders{number % 7}", body)
        if kind < 95:
            outcome = TRANSACTION_COMMIT if kind < 85 else TRANSACTION_ROLLBACK
            half = QueueOffset(response.queue_offset)
            self._end(half, decode_message_id(response.msg_id), outcome, is_answer=False)
            self.expected["delivered" if kind < 85 else "rolled_back"] += 1
        elif kind < 98:
            self._answers.add(f"C0A80001{number:024X}")
            self.expected["delivered"] += 1
        else:
            self.expected["parked"] += 1
        return len(body) * (2 if kind < 85 else 1) + 600

    def _ordinary(self, number: int) -> int:
        body = self._body()
        properties = {"UNIQ_KEY": f"C0A80002{number:024X}", "WAIT": "true", "TAGS": "TagB"}
        self.broker.send_message(SendMessageRequest("Clicks", number & 7, body, self.clock.now, properties))
        return len(body) + 200

    def _body(self) -> bytes:
        size = self._sizes.randint(*BODY_BYTES)
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
            if running.step().branch is CheckBranch.ASLEEP:
                self.clock.advance(running.wakes_at - self.clock.elapsed)
            while self.broker.check_requests:
                check = self.broker.check_requests.popleft()
                if check.msg_id in self._answers:
                    self._answers.discard(check.msg_id)
                    self._end(
                        check.tran_state_table_offset, check.commit_log_offset, TRANSACTION_COMMIT, is_answer=True
                    )


def write_store(folder: Path, size: int) -> Counter[str]:
    """Write a store of about that many bytes; gives the counts by state, which stand beside it, too."""
    expected = StoreInTheMaking(folder).run(size)
    (folder / EXPECTED).write_text(json.dumps(expected), encoding="utf-8")
    return expected


if __name__ == "__main__":
    print(json.dumps(write_store(Path(sys.argv[1]), int(sys.argv[2]))))
