"""Our own broker in this process, on a free port, with intervals so short that a schedule takes a second."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from wire.client.channel import Address
from wire.node.start import Start
from wire.service import Service, ServiceAddresses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SETTINGS = {
    "transactionTimeOut": 1_000,
    "transactionCheckInterval": 600,
    "transactionCheckMax": 3,
    "transactionOpBatchInterval": 50,
    "flushConsumerOffsetInterval": 100,
}


@contextmanager
def own_broker(profile: str, folder: Path, **changed: int) -> Iterator[Address]:
    """Serve until the context is left."""
    conf = folder / "broker.conf"
    conf.write_text("".join(f"{name}={value}\n" for name, value in {**SETTINGS, **changed}.items()), encoding="utf-8")
    service = Service(Start.of(profile, folder / "store", conf))
    ready: list[ServiceAddresses] = []
    is_ready = threading.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    def on_ready(address: ServiceAddresses) -> None:
        ready.append(address)
        loops.append(asyncio.get_running_loop())
        is_ready.set()

    thread = threading.Thread(target=lambda: asyncio.run(service.run(on_ready)))
    thread.start()
    assert is_ready.wait(10)
    try:
        yield Address.of(ready[0].address)
    finally:
        loops[0].call_soon_threadsafe(service.stop)
        thread.join(10)
