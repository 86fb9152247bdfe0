"""The broker's threads end when they are told to, whatever happens at that moment."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from reference.format.errors import NotAStoreError
from wire.broker_thread import BrokerThread
from wire.node.broker_node import BrokerNode
from wire.node.start import Start

if TYPE_CHECKING:
    from pathlib import Path

    from reference.simulation.scheduler import Steps

SECONDS = 10


def test_its_threads_end_also_where_something_happens_at_the_same_time(tmp_path: Path) -> None:
    async def is_ended() -> bool:
        node = BrokerNode(Start.of("5.5.1", tmp_path), lambda _: None)
        node.boot()
        running = asyncio.create_task(node.run())
        await asyncio.sleep(0.01)
        node.poke()
        running.cancel()
        ended, _ = await asyncio.wait({running}, timeout=SECONDS)
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        node.stop()
        node.close()
        return bool(ended)

    # In a thread of its own, as a browser that other tests have opened has its loop in this one.
    with ThreadPoolExecutor(1) as own:
        assert own.submit(asyncio.run, is_ended()).result()


def test_what_no_broker_can_go_on_with_stops_it_and_is_raised(tmp_path: Path) -> None:
    def broken() -> Steps[None]:
        yield None
        message = "no broker does this"
        raise LookupError(message)

    def start(node: BrokerNode) -> None:
        node.scheduler.start("broken", broken())
        node.poke()

    thread = BrokerThread(Start.of("5.5.1", tmp_path / "store", speed=None)).__enter__()
    thread.call_soon(start)
    thread.join(SECONDS)
    with pytest.raises(LookupError, match="no broker does this"):
        thread.stop()
    with BrokerThread(Start.of("5.5.1", tmp_path / "store", speed=None)) as again:
        assert again.controller.status()["is_up"]


def test_a_store_that_no_process_can_open_again_ends_the_broker(tmp_path: Path) -> None:
    thread = BrokerThread(Start.of("5.5.1", tmp_path / "store", speed=None, restart_ms=1)).__enter__()
    (tmp_path / "store" / "commitlog").mkdir(exist_ok=True)
    (tmp_path / "store" / "commitlog" / "strange").write_text("no file of a store")
    thread.controller.crash()
    thread.join(SECONDS)
    with pytest.raises(NotAStoreError, match="does not belong into a store"):
        thread.stop()
