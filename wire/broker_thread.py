"""A broker on the wire in a thread of this process, for tests in Python."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from wire.control.controller import Controller
from wire.errors import WireError
from wire.service import Service, ServiceAddresses, ServicePorts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wire.node.broker_node import BrokerNode
    from wire.node.start import Start

_START_SECONDS = 60


class BrokerThread:
    """A broker, from entering the context until it is stopped or left.

    Parameters
    ----------
    start, ports, trace, say, judge
        As :class:`wire.service.Service` takes them.

    Attributes
    ----------
    address
        Where clients find broker and name server.
    grpc_addresses
        Where gRPC clients connect to, proxy by proxy.
    controller
        Gives it orders.

    Raises
    ------
    WireError, StoreError
        It does not start.
    """

    def __init__(
        self,
        start: Start,
        *,
        ports: ServicePorts | None = None,
        trace: Path | None = None,
        say: Callable[[str], None] = lambda _: None,
        judge: Callable[[BrokerNode], dict[str, Any]] | None = None,
    ) -> None:
        self._service = Service(start, ports or ServicePorts(), trace, say=say, judge=judge)
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="halfcheck broker", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(_START_SECONDS):
            message = f"the broker did not start within {_START_SECONDS} s"
            raise WireError(message)
        self._raise_failure()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def grpc_address(self) -> str:
        """The first of them; empty without a port for gRPC clients."""
        return next(iter(self.grpc_addresses), "")

    @property
    def node(self) -> BrokerNode | None:
        """The broker, with what it knows beside its trace; None before it has started."""
        return self._service.node

    def call_soon(self, work: Callable[[BrokerNode], None]) -> None:
        """Let the broker's own thread do something to it."""
        node = self._service.node
        if node is not None:
            self._loop.call_soon_threadsafe(work, node)

    def join(self, seconds: float) -> None:
        """Wait until it has ended by itself, at most so long."""
        self._thread.join(seconds)

    def stop(self) -> None:
        """Shut it down in the order of its release; nothing happens if it has stopped.

        Raises
        ------
        Exception
            The failure that has ended it before.
        """
        if self._thread.is_alive():
            with suppress(RuntimeError):  # its loop was closed just now
                self._loop.call_soon_threadsafe(self._service.stop)
        self._thread.join()
        self._raise_failure()

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._service.run(self._take_addresses))
        except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that waits
            self._failure = error
        finally:
            self._ready.set()
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    def _take_addresses(self, addresses: ServiceAddresses) -> None:
        self.address = addresses.address
        self.grpc_addresses = addresses.grpc
        self.controller = Controller(addresses.control, addresses.token)
        self._ready.set()

    def _raise_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
