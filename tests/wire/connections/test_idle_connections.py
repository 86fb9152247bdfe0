"""What neither sends nor gets anything for too long is closed, as a real broker does; nobody else is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.wire.one_broker import broker
from tests.wire.one_producer import OneProducer
from wire import connections
from wire.remoting.codes import RequestCode

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

IDLE_SECONDS = 0.6


def test_only_a_connection_that_is_idle_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_IDLE_SECONDS", IDLE_SECONDS)
    log: list[str] = []
    with (
        broker(tmp_path, log=log) as running,
        OneProducer(running.address) as busy,
        OneProducer(running.address) as idle,
    ):
        gone, why = idle.own_address, "nothing came or went for 1 s"
        for producer in (busy, idle):
            producer.heartbeat()
        end = time.monotonic() + 20
        while running.controller.status()["connections"] > 1 and time.monotonic() < end:
            busy.ask(RequestCode.GET_MAX_OFFSET, {"topic": "Orders", "queueId": 0})
            time.sleep(0.01)
        status = running.controller.status()
        assert status["connections"] == 1
        assert [len(channels) for channels in status["producers"].values()] == [1]
    assert [line for line in log if "nothing came or went" in line] == [f"{gone}: connection closed: {why}"]
