"""The effect of an order is there when it is answered; a long push lets others have their turn."""

from __future__ import annotations

import socket
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from reference.cluster.broker_threads import BrokerThreads
from reference.format.system_topics import OP_TOPIC
from tests.wire.one_broker import MINUTE, broker
from tests.wire.one_producer import TOPIC, OneProducer
from wire.client.channel import NoAnswerError
from wire.client.transactions import COMMIT
from wire.control.handlers import LAST_MOMENT_MS
from wire.control.orders import MOST_PUSHED_MS
from wire.errors import BadOrderError, WireError
from wire.node import broker_node
from wire.remoting.codes import RequestCode, ResponseCode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wire.broker_thread import BrokerThread

HOUR = 60 * MINUTE


def is_open(running: BrokerThread) -> bool:
    host, _, port = running.address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), 5).close()
    except OSError:
        return False
    return True


def has_ended(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.mark.parametrize("attempt", range(3))
def test_the_port_is_closed_when_a_crash_is_answered(attempt: int, tmp_path: Path) -> None:
    with broker(tmp_path, restart_ms=60_000) as running:
        host, _, port = running.address.rpartition(":")
        with socket.create_connection((host, int(port))) as connection:
            running.controller.crash()
            assert not is_open(running)
            assert has_ended(connection)
            assert running.controller.status()["connections"] == 0


def test_connections_have_ended_when_a_restart_is_answered(tmp_path: Path) -> None:
    with broker(tmp_path) as running:
        host, _, port = running.address.rpartition(":")
        with socket.create_connection((host, int(port))) as connection:
            assert running.controller.status()["connections"] == 1
            running.controller.restart()
            assert has_ended(connection)
            assert running.controller.status()["connections"] == 0
        assert is_open(running)


def test_a_broker_that_is_up_can_be_reached(tmp_path: Path) -> None:
    with broker(tmp_path, restart_ms=1) as running:
        for _ in range(5):
            running.controller.crash()
            while not running.controller.status()["is_up"]:
                pass
            assert is_open(running)


def test_who_has_died_is_not_stopped_but_comes_back_by_itself(tmp_path: Path) -> None:
    with broker(tmp_path, restart_ms=60_000) as running:
        running.controller.crash()
        with pytest.raises(WireError, match="the broker's process is gone"):
            running.controller.restart()


@pytest.mark.parametrize("ms", [60_000_000_000, 10**21, 0, MOST_PUSHED_MS + 1])
def test_more_time_than_anybody_waits_for_is_refused(ms: int, tmp_path: Path) -> None:
    with broker(tmp_path) as running, pytest.raises(BadOrderError, match=f"push_clock: ms is {ms}, expected 1 to"):
        running.controller.push_clock(ms)


@pytest.mark.parametrize("ms", [10**30, -(10**30), LAST_MOMENT_MS])
def test_a_wall_clock_that_nothing_can_show_is_refused(ms: int, tmp_path: Path) -> None:
    with broker(tmp_path) as running, pytest.raises(BadOrderError, match=f"step_clock: ms is {ms}, expected"):
        running.controller.step_clock(ms)


def test_while_time_is_pushed_status_is_answered_clients_wait_and_a_stop_is_heeded(tmp_path: Path) -> None:
    with broker(tmp_path, transactionCheckInterval=50) as running, OneProducer(running.address) as producer:
        began = running.controller.status()["elapsed"]
        pushing = threading.Thread(target=push_in_vain, args=(running,))
        pushing.start()
        while running.controller.status()["elapsed"] == began:
            time.sleep(0.001)
        asking = threading.Thread(target=ask_in_vain, args=(producer,))
        asking.start()
        time.sleep(0.1)
        status = running.controller.status()
        assert began < status["elapsed"] < began + MOST_PUSHED_MS
        assert asking.is_alive()
        running.stop()
        for thread in (pushing, asking):
            thread.join()


def push_in_vain(running: BrokerThread) -> None:
    with pytest.raises(WireError, match="push_clock: the broker was told to stop before this was done"):
        running.controller.push_clock(MOST_PUSHED_MS)


def ask_in_vain(producer: OneProducer) -> None:
    with pytest.raises(NoAnswerError):
        producer.send_message("waits", is_half=False)


@pytest.mark.parametrize("profile", ["4.9.7", "5.3.3", "5.5.1"])
def test_an_hour_in_which_nothing_happens_writes_nothing_and_takes_the_steps_of_its_rounds(
    tmp_path: Path, profile: str
) -> None:
    """A real broker saves its offsets 720 times, and looks 1,200 times for a batch: of that nothing shows."""
    with broker(tmp_path, profile, transactionCheckInterval=30_000) as running:
        running.controller.push_clock(HOUR)
        before = steps_and_writes(running)
        running.controller.push_clock(HOUR)
        steps, writes = (now - then for now, then in zip(steps_and_writes(running), before, strict=True))
        assert (steps < 4 * 120, writes) == (True, 0)


def steps_and_writes(running: BrokerThread) -> tuple[int, int]:
    """How many steps the broker's threads have taken, and how many writes there were."""
    node = running._service.node
    assert node is not None
    return node.scheduler.steps, node.disk.writes


@pytest.mark.parametrize("profile", ["4.9.7", "5.3.3", "5.5.1"])
@pytest.mark.parametrize("behind_ms", [0, 1_700, 3_000])
def test_what_comes_behind_idle_hours_is_written_when_timers_that_never_rest_write_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: str, behind_ms: int
) -> None:
    monkeypatch.setattr(broker_node, "MOST_STEPS", 1 << 30)  # a pause of the loop would make a timer a moment late
    seen = []
    for is_resting in (True, False):
        monkeypatch.setattr(broker_node, "BrokerThreads", partial(threads, is_resting))
        folder = tmp_path / str(is_resting)
        folder.mkdir()
        seen.append(list(written_behind_idle_hours(folder, profile, behind_ms)))
    assert seen[0] == seen[1]
    assert seen[0][0] != seen[0][-1]


def threads(is_resting: bool, *given: Any, **_: bool) -> BrokerThreads:
    return BrokerThreads(*given, rests=is_resting)


def written_behind_idle_hours(folder: Path, profile: str, behind_ms: int) -> Iterator[tuple[int, bool, bool]]:
    """Every half second the number of op messages, and whether a new offset stands in the file, and in its backup."""
    with broker(folder, profile) as running, OneProducer(running.address) as producer:
        running.controller.push_clock(2 * HOUR + behind_ms)
        producer.end(producer.half("order-7"), COMMIT)
        fields = {"consumerGroup": "g", "topic": TOPIC, "queueId": 1, "commitOffset": 1}
        assert producer.ask(RequestCode.UPDATE_CONSUMER_OFFSET, fields).code == ResponseCode.SUCCESS
        node = running._service.node
        assert node is not None
        for _ in range(30):
            running.controller.push_clock(500)
            config = folder / "store" / "config"
            files = [(config / name).read_text() for name in ("consumerOffset.json", "consumerOffset.json.bak")]
            ops = node.broker.message_store.get_max_offset_in_queue(OP_TOPIC, 0)
            yield ops, "Orders@g" in files[0], "Orders@g" in files[1]
