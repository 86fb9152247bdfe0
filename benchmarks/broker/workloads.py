"""The three things that are measured, each on a new store directory, by one thread, with the recorder off.

``python -m benchmarks.broker.workloads KIND PROFILE COUNT`` measures once and prints what that took, as JSON.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import tempfile
import tracemalloc
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

from reference.broker.broker_controller import BrokerController
from reference.broker.broker_settings import BrokerSettings
from reference.broker.processor.end_transaction_processor import TRANSACTION_ROLLBACK, EndTransactionRequestHeader
from reference.broker.processor.send_message_processor import SendMessageRequest, SendMessageResponse
from reference.broker.recorder import Recorder
from reference.broker.transaction.check_outcome import CheckBranch
from reference.format.record import TRANSACTION_COMMIT, QueueOffset
from reference.format.stored_message import decode_message_id
from reference.simulation.virtual_clock import VirtualClock
from reference.store.disk import DirectoryDisk
from reference.store.message_store import MessageStore
from reference.versions.versions import VERSIONS

BODY = b"0123456789" * 10
GROUP = "bench-group"
OPS_EVERY = 500
MILLISECOND_EVERY = 20


@dataclass(frozen=True)
class Measured:
    """One measurement.

    Attributes
    ----------
    count
        Transactions, or halves of the round.
    seconds
        How long that took.
    heap_bytes
        By how much Python's own memory grew from the first tenth to the end; None where it was not watched.
    resident_bytes
        The same for the whole process, the pages of mapped files that it holds included.
    """

    count: int
    seconds: float
    heap_bytes: int | None = None
    resident_bytes: int | None = None


def new_broker(version: str, folder: Path, check_max: int = 15) -> BrokerController:
    """A broker on an empty store, with file sizes of RocketMQ's defaults."""
    switches, clock = VERSIONS[version], VirtualClock(1_700_000_000_000)
    store = MessageStore(switches, clock, DirectoryDisk(folder))
    settings = BrokerSettings(transaction_check_max=check_max)
    return BrokerController(switches, settings, clock, store, Recorder(clock, is_on=False))


def send(broker: BrokerController, number: int, topic: str = "TopicTest", body: bytes = BODY) -> SendMessageResponse:
    """Send one half."""
    properties = {
        "KEYS": f"KEY{number}",
        "TRAN_MSG": "true",
        "UNIQ_KEY": f"C0A80001{number:024X}",
        "WAIT": "true",
        "PGROUP": GROUP,
        "TAGS": "TagA",
    }
    return broker.send_message(SendMessageRequest(topic, number & 3, body, broker.clock.now, properties))


def settle(broker: BrokerController, number: int, msg_id: str) -> None:
    """End a transaction by the answer to its send: three of four are committed."""
    outcome = TRANSACTION_ROLLBACK if number & 3 == 3 else TRANSACTION_COMMIT
    end(broker, EndTransactionRequestHeader(GROUP, QueueOffset(number), decode_message_id(msg_id), outcome))


def end(broker: BrokerController, header: EndTransactionRequestHeader) -> None:
    """Take all steps of an END_TRANSACTION."""
    ending = broker.end_transaction(header)
    while not ending.is_over:
        ending.step()


def write_op_batches(broker: BrokerController) -> None:
    """Let the clock go on until no op message waits in memory; releases before 5.1 keep none there."""
    broker.clock.advance(broker.settings.op_batch_interval_ms)
    while broker.switches.batches_ops and broker.run_op_batch_service().written:
        broker.clock.advance(broker.settings.op_batch_interval_ms)


def store_and_settle(version: str, folder: Path, count: int, *, watches_memory: bool = False) -> Measured:
    """Send a half, end its transaction, and so on; in 5.1 and later a batch of op messages now and then."""
    broker = new_broker(version, folder)
    heap = resident = 0
    began = perf_counter()
    for number in range(count):
        settle(broker, number, send(broker, number).msg_id)
        if number % MILLISECOND_EVERY == 0:
            broker.clock.advance(1)
        if number % OPS_EVERY == 0 and broker.switches.batches_ops:
            broker.run_op_batch_service()
        if watches_memory and number == count // 10:
            gc.collect()
            tracemalloc.start()
            heap, resident = tracemalloc.get_traced_memory()[0], _resident_bytes()
    write_op_batches(broker)
    broker.message_store.flush()
    seconds = perf_counter() - began
    if not watches_memory:
        return Measured(count, seconds)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - heap
    tracemalloc.stop()
    return Measured(count, seconds, grown, _resident_bytes() - resident)


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def check_round(version: str, folder: Path, count: int) -> Measured:
    """One check round over so many pending halves: each is put back, and its producer asked."""
    broker = new_broker(version, folder)
    for number in range(count):
        send(broker, number)
    broker.clock.advance(60_000)
    began = perf_counter()
    running = broker.begin_check_round()
    asked = 0
    while running is not None and not running.is_over:
        if running.step().branch is CheckBranch.ASLEEP:
            broker.clock.advance(running.wakes_at - broker.clock.elapsed)
        asked += len(broker.check_requests)
        broker.check_requests.clear()
    seconds = perf_counter() - began
    if asked != count:
        message = f"the round asked for {asked} halves, not for {count}"
        raise RuntimeError(message)
    return Measured(count, seconds)


def measure(kind: str, version: str, count: int) -> Measured:
    """Measure once; the kinds are settle, round and memory."""
    with tempfile.TemporaryDirectory(prefix="halfcheck_bench_") as name:
        folder = Path(name)
        if kind == "round":
            return check_round(version, folder, count)
        return store_and_settle(version, folder, count, watches_memory=kind == "memory")


if __name__ == "__main__":
    print(json.dumps(asdict(measure(sys.argv[1], sys.argv[2], int(sys.argv[3])))))
