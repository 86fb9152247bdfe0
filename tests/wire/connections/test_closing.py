"""Who connects while the broker stops or dies."""

from __future__ import annotations

import gc
import socket
import threading
import time
import warnings
from typing import TYPE_CHECKING

import pytest

from tests.wire.one_broker import broker
from wire.client.channel import Address, BrokerChannel, NoAnswerError
from wire.connections import Connection

if TYPE_CHECKING:
    from pathlib import Path


def connects_until(stopped: threading.Event, host: str, port: int) -> None:
    while not stopped.is_set():
        try:
            socket.create_connection((host, port), timeout=1).close()
        except OSError:
            return


def test_what_connects_as_the_port_is_closed_is_closed_too(tmp_path: Path) -> None:
    with warnings.catch_warnings(action="ignore"):
        gc.collect()  # files and sockets that other tests of this process have left
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for number in range(4):
            stopped = threading.Event()
            (tmp_path / str(number)).mkdir()
            with broker(tmp_path / str(number), "5.5.1") as running:
                host, _, port = running.address.rpartition(":")
                given = stopped, host, int(port)
                clients = [threading.Thread(target=connects_until, args=given) for _ in range(4)]
                for client in clients:
                    client.start()
            stopped.set()
            for client in clients:
                client.join()
        gc.collect()
    assert not [str(one.message) for one in warned if "unclosed" in str(one.message)]


def test_a_client_that_has_lost_its_connection_to_a_broker_that_died_finds_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The port is closed first; else what connects in between would stand in the queue of a port that is gone."""
    lost = Connection.connection_lost

    def slowly_lost(self: Connection, error: Exception | None) -> None:
        time.sleep(0.2)
        lost(self, error)

    with broker(tmp_path, restart_ms=60_000) as running:
        address = Address.of(running.address)
        with BrokerChannel(address) as first, BrokerChannel(address):
            monkeypatch.setattr(Connection, "connection_lost", slowly_lost)
            crash = threading.Thread(target=running.controller.crash)
            crash.start()
            while first.is_open:
                time.sleep(0.01)
            with pytest.raises(NoAnswerError, match="no connection"):
                BrokerChannel(address)
            crash.join()
