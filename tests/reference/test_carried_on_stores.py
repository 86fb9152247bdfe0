"""A store that a real broker wrote is opened by the reference broker, carried on, and opens again."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from conformance.broker_schedule import BrokerSchedule
from conformance.golden_stores import GoldenStore, golden_stores
from reference.broker.broker_controller import BrokerController
from reference.broker.processor.end_transaction_processor import EndTransactionRequestHeader
from reference.broker.processor.send_message_processor import SendMessageRequest
from reference.broker.transaction.check_outcome import CheckBranch
from reference.format.broker_conf import settings as settings_in
from reference.format.commit_log import CommitLog
from reference.format.consume_queue import open_consume_queues
from reference.format.consumer_offsets import read_consumer_offsets
from reference.format.cross_check import CrossCheck
from reference.format.errors import CorruptRegion
from reference.format.record import TRANSACTION_COMMIT, LogRecord
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC
from reference.simulation.virtual_clock import VirtualClock
from reference.store.disk import DirectoryDisk
from reference.store.message_store import MessageStore
from reference.store.message_store_config import MessageStoreConfig
from reference.versions.versions import STORE_VERSIONS
from tests.sampled import sampled

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.untraced

STORES = [
    *((golden, golden.path) for golden in golden_stores() if golden.scenario != "wide"),
    *((golden, golden.at_kill) for golden in golden_stores() if golden.at_kill is not None),
]
MOST_STEPS = 10_000


def open_broker(golden: GoldenStore, folder: Path, clock: VirtualClock) -> BrokerController:
    conf, switches = golden.path / "broker.conf", STORE_VERSIONS[golden.version]
    settings = BrokerSchedule.without_acts(golden.version, conf).broker_settings()
    config = MessageStoreConfig.of_broker_conf(settings_in(conf), golden.version)
    store = MessageStore(switches, clock, DirectoryDisk(folder), config)
    return BrokerController(switches, settings, clock, store)


def read(folder: Path) -> list[LogRecord]:
    """Every record; neither log nor queues may be damaged."""
    log = CommitLog.open(folder)
    check = CrossCheck(log, open_consume_queues(folder))
    records = []
    for entry in log.read():
        assert not isinstance(entry, CorruptRegion)
        assert isinstance(entry, LogRecord)
        check.see(entry)
        records.append(entry)
    assert list(check.finish()) == []
    return records


def run_round(broker: BrokerController) -> None:
    broker.clock.advance(broker.settings.transaction_check_interval_ms)
    check_round = broker.begin_check_round()
    assert check_round is not None
    for _ in range(MOST_STEPS):
        if check_round.is_over:
            return
        if check_round.step().branch is CheckBranch.ASLEEP:
            broker.clock.advance(check_round.wakes_at - broker.clock.elapsed)
    pytest.fail("the round does not end")


def commit_what_is_asked(broker: BrokerController) -> int:
    """Answer every check with COMMIT; gives how many there were."""
    requests = list(broker.check_requests)
    broker.check_requests.clear()
    for request in requests:
        header = EndTransactionRequestHeader(
            request.producer_group or "",
            request.tran_state_table_offset,
            request.commit_log_offset,
            TRANSACTION_COMMIT,
            True,
        )
        end = broker.end_transaction(header)
        while not end.is_over:
            step = end.step()
            assert step.response is None or step.response.code == 0
    broker.clock.advance(broker.settings.op_batch_interval_ms)
    broker.run_op_batch_service()
    return len(requests)


def settle(broker: BrokerController) -> int:
    """Run rounds until the half queue is read to its end; gives how many halves were committed for it."""
    committed = 0
    for _ in range(50):
        run_round(broker)
        committed += commit_what_is_asked(broker)
        if broker.consumer_offset_manager.query_offset(HALF_TOPIC, 0) == broker.message_store.get_max_offset_in_queue(
            HALF_TOPIC, 0
        ):
            return committed
    pytest.fail("the half queue is never read to its end")


@pytest.mark.parametrize(
    ("golden", "source"),
    sampled(
        [pytest.param(g, p, id=f"{g.name}{'/at_kill' if p.name == 'at_kill' else ''}") for g, p in STORES],
        3,
    ),
)
def test_a_real_store_is_opened_carried_on_and_opens_again(golden: GoldenStore, source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    for name in ("commitlog", "consumequeue", "config"):
        if (source / name).is_dir():
            shutil.copytree(source / name, folder / name)
    if source.name == "at_kill":
        (folder / "abort").touch()
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    before = list(CommitLog.open(source).records())
    saved = read_consumer_offsets(source)
    clock = VirtualClock(before[-1].store_timestamp + 60_000)
    broker = open_broker(golden, folder, clock)
    assert list(broker.message_store.records()) == before
    assert broker.consumer_offset_manager.query_offset(HALF_TOPIC, 0) == (saved.get(HALF_TOPIC, 0) or -1)

    properties = {"TRAN_MSG": "true", "UNIQ_KEY": "NEW", "WAIT": "true", "PGROUP": "new-group", "TAGS": "TagN"}
    sent = broker.send_message(SendMessageRequest("TopicNew", 1, b"new", clock.now, properties))
    assert sent.record is not None
    clock.advance(60_000)
    pending = settle(broker)
    assert pending >= 1
    broker.shutdown()

    after = read(folder)
    assert after[: len(before)] == before
    delivered = [r for r in after[len(before) :] if r.transaction_type == TRANSACTION_COMMIT]
    assert len(delivered) == pending
    assert [r.body for r in delivered if r.topic == "TopicNew"] == [b"new"]
    half_queue = sum(1 for r in after if r.topic == HALF_TOPIC)
    assert read_consumer_offsets(folder).get(HALF_TOPIC, 0) == half_queue

    again = open_broker(golden, folder, clock)
    assert list(again.message_store.records()) == after
    for topic in (HALF_TOPIC, OP_TOPIC):
        assert again.consumer_offset_manager.query_offset(topic, 0) == broker.consumer_offset_manager.query_offset(
            topic, 0
        )
    assert settle(again) == 0
    again.shutdown()
