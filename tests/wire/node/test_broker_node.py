"""The broker's threads end when they are told to, whatever happens at that moment."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from wire.node.broker_node import BrokerNode
from wire.node.start import Start

if TYPE_CHECKING:
    from pathlib import Path

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

    assert asyncio.run(is_ended())
