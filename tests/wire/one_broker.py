"""A broker on the wire in a thread, for one test."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from wire.broker_thread import BrokerThread
from wire.client.channel import Address, BrokerChannel, NoAnswerError
from wire.node.start import Start
from wire.service import ServicePorts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

MINUTE = 60_000


@contextmanager
def broker(
    folder: Path,
    profile: str = "5.5.1",
    *,
    speed: float | None = None,
    seed: int = 7,
    host: str = "127.0.0.1",
    port: int = 0,
    grpc_port: int | None = None,
    proxies: int | None = None,
    advertised: str = "",
    restart_ms: int = 10,
    log: list[str] | None = None,
    conf: Mapping[str, object] | None = None,
    **more: object,
) -> Iterator[BrokerThread]:
    """A broker whose clock stands still unless it is pushed.

    Parameters
    ----------
    log
        Gets the lines of its log.
    conf, more
        Settings of ``broker.conf``.
    """
    path = folder / "broker.conf"
    path.write_text("".join(f"{key}={value}\n" for key, value in {**(conf or {}), **more}.items()), encoding="utf-8")
    start = Start.of(profile, folder / "store", path, speed=speed, seed=seed, restart_ms=restart_ms)
    say = (lambda _: None) if log is None else log.append
    ports = ServicePorts(host, port, grpc_port=grpc_port, proxies=proxies, advertised=advertised)
    with BrokerThread(start, ports=ports, trace=folder / "trace.jsonl", say=say) as running:
        yield running


def wait_until_it_serves(running: BrokerThread) -> None:
    """Wait until the process that follows one that has died listens."""
    while True:
        try:
            BrokerChannel(Address.of(running.address)).close()
        except NoAnswerError:
            time.sleep(0.002)
            continue
        return
