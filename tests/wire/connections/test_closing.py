"""A client that connects while the broker stops leaves nothing open."""

from __future__ import annotations

import gc
import socket
import threading
import warnings
from typing import TYPE_CHECKING

from tests.wire.one_broker import broker

if TYPE_CHECKING:
    from pathlib import Path


def connects_until(stopped: threading.Event, host: str, port: int) -> None:
    while not stopped.is_set():
        try:
            socket.create_connection((host, port), timeout=1).close()
        except OSError:
            return


def test_what_connects_as_the_port_is_closed_is_closed_too(tmp_path: Path) -> None:
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
