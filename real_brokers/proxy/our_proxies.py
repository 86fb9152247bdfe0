"""Our broker with two proxies in cluster mode, for the scenarios of real ones."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from real_brokers.patience import wait_until
from wire.broker_thread import BrokerThread
from wire.client.channel import Address
from wire.node.faults import MOST_DELAY_MS
from wire.node.start import Start
from wire.node.surroundings import MOST_PROXIES
from wire.service import ServicePorts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wire.control.controller import Controller


@dataclass(frozen=True, slots=True)
class OurProxy:
    """One of the proxies."""

    controller: Controller
    number: int

    def restart(self) -> None:
        """See :class:`real_brokers.proxy.stages.StagedProxy`."""
        self.controller.restart_proxy(self.number)


@dataclass(frozen=True, slots=True)
class OurBroker:
    """The broker; see :class:`real_brokers.proxy.stages.StagedBroker`."""

    run: Path
    address: Address
    controller: Controller
    grpc_addresses: tuple[str, ...]

    @property
    def proxies(self) -> tuple[OurProxy, ...]:
        """Those before it."""
        return tuple(OurProxy(self.controller, number) for number in range(len(self.grpc_addresses)))

    def freeze_broker(self) -> None:
        """No END that comes from now on is read."""
        self.controller.fault("delay_end", times=None, delay_ms=MOST_DELAY_MS)

    def kill_broker(self) -> None:
        """What was not read is gone with it."""
        self.controller.crash()

    def start_broker(self) -> None:
        """It starts again by itself."""
        wait_until(lambda: bool(self.controller.status()["is_up"]), "the broker's next process")
        self.controller.clear()


@contextmanager
def our_broker(release: str, settings: Mapping[str, str], *, heartbeat_ms: int) -> Iterator[OurBroker]:
    """Start it in a folder of its own, in real time, with settings of ``broker.conf``."""
    with TemporaryDirectory(prefix="halfcheck-proxies-") as temporary:
        run = Path(temporary)
        conf = run / "broker.conf"
        conf.write_text("".join(f"{name}={value}\n" for name, value in settings.items()), encoding="utf-8")
        start = Start.of(release, run / "store", conf)
        ports = ServicePorts(grpc_port=0, proxies=MOST_PROXIES, heartbeat_ms=heartbeat_ms)
        with BrokerThread(start, ports=ports) as thread:
            yield OurBroker(run, Address.of(thread.address), thread.controller, thread.grpc_addresses)
