"""The effect of an order is there when it is answered; a long push lets others have their turn."""

from __future__ import annotations

import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.wire.one_broker import MINUTE, broker
from tests.wire.one_producer import OneProducer
from wire.client.channel import NoAnswerError
from wire.control.handlers import LAST_MOMENT_MS
from wire.control.orders import MOST_PUSHED_MS
from wire.errors import BadOrderError, WireError

if TYPE_CHECKING:
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
        stopped_at = time.monotonic()
        running.stop()
        assert time.monotonic() - stopped_at < 5
        for thread in (pushing, asking):
            thread.join()


def push_in_vain(running: BrokerThread) -> None:
    with pytest.raises(WireError, match="push_clock: the broker was told to stop before this was done"):
        running.controller.push_clock(MOST_PUSHED_MS)


def ask_in_vain(producer: OneProducer) -> None:
    with pytest.raises(NoAnswerError):
        producer.send_message("waits", is_half=False)


def test_a_day_in_which_nothing_happens_writes_no_file_twice(tmp_path: Path) -> None:
    with broker(tmp_path) as running:
        running.controller.push_clock(HOUR)
        offsets = tmp_path / "store" / "config" / "consumerOffset.json"
        before, writes = offsets.stat().st_mtime_ns, running.controller.status()["writes"]
        running.controller.push_clock(HOUR)
        assert running.controller.status()["writes"] > writes + 1_000  # a crash may still fall between them
        assert offsets.stat().st_mtime_ns == before
