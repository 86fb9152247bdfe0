"""A whole broker on the wire: node, port and control port, from start to stop."""

from __future__ import annotations

import asyncio
import errno
import resource
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from spec.releases.broker_defaults import release_numbers
from wire.connections import LOOPBACK, Listener
from wire.control.http_port import ControlPort
from wire.control.orders import carry_out
from wire.errors import WireError
from wire.node.broker_node import BrokerNode
from wire.node.trace_file import FileRecorder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from wire.node.start import Start
    from wire.proxy.mode import ProxyMode
    from wire.proxy.port import GrpcPort


_ACCEPTING_SECONDS: Final = 1.0
_SHORTAGES: Final = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_PROXY_SINCE: Final = (5, 0, 0)
_LAST_PORT: Final = 65_535


@dataclass(frozen=True, slots=True)
class ServicePorts:
    """Where it listens; a port of 0 is chosen by the machine."""

    host: str = LOOPBACK
    port: int = 0
    control_host: str = LOOPBACK
    control_port: int = 0
    grpc_port: int | None = None
    """For gRPC clients; None for no such port."""
    proxies: int | None = None
    """How many proxies in cluster mode, the next ones at the ports behind that; None for one in local mode."""
    heartbeat_ms: int = 20_000
    """Of proxies in cluster mode: ``transactionHeartbeatPeriodSecond``, in the broker's time."""
    advertised: str = ""
    """HOST:PORT that clients are sent to, where that is another one; gRPC clients to its host, at their port."""


@dataclass(frozen=True, slots=True)
class ServiceAddresses:
    """The addresses for clients and for control, and the token."""

    address: str
    control: str
    token: str
    grpc: tuple[str, ...] = ()
    """Where gRPC clients connect to, proxy by proxy."""


@dataclass(slots=True)
class Service:
    """One broker."""

    start: Start
    ports: ServicePorts = field(default_factory=ServicePorts)
    trace: Path | None = None
    """Where its trace goes; None for none."""
    orders: Sequence[tuple[str, dict[str, Any]]] = ()
    """Carried out when it has started: names and arguments of :mod:`wire.control.orders`."""
    token: str | None = None
    """What the control port wants to be shown; None for one that is drawn."""
    say: Callable[[str], None] = lambda _: None
    judge: Callable[[BrokerNode], dict[str, Any]] | None = None
    """Judges the run behind its end, for whoever gives the order to stop; None for no verdict, which is empty then."""
    node: BrokerNode | None = field(default=None, init=False)
    """The broker, from :meth:`run` on."""
    beside: set[asyncio.Task[Any]] = field(default_factory=set, init=False)
    """Tasks of whoever runs it, which its end does not wait for."""
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _failure: BaseException | None = field(default=None, init=False)
    _verdict: asyncio.Future[dict[str, Any]] | None = field(default=None, init=False)

    async def run(self, on_ready: Callable[[ServiceAddresses], None]) -> BrokerNode:
        """Serve until :meth:`stop`, or the order to; the node as it is behind its shutdown.

        Raises
        ------
        WireError, StoreError
            A port is taken, or the store can't be used.
        BadOrderError
            One of the orders is none.
        """
        _require_proxy(self.start, self.ports)
        _make_folder(self.start.store)
        node = self.node = BrokerNode(self.start, self.say)
        node.recorder = FileRecorder(node.clock, self.trace, self.say)
        node.on_failure, node.on_stop = self._fail, self._end
        listener = Listener(node, self.ports.host, self.ports.port, self.ports.advertised)
        control = ControlPort(node, self.ports.control_host, self.ports.control_port, self.token)
        threads: asyncio.Task[None] | None = None
        grpc_ports: list[GrpcPort] = []
        asyncio.get_running_loop().set_exception_handler(_Shortage(self.say))
        try:
            await listener.listen()
            grpc_ports = _proxies_before(node, self.ports, listener.advertised_host)
            node.boot()
            for each in grpc_ports:
                await each.listen()
            await control.listen()
            if await self._has_carried_out_orders(node):
                threads = asyncio.create_task(node.run())
                threads.add_done_callback(node.note_end)
                grpc = tuple(each.address for each in grpc_ports)
                on_ready(ServiceAddresses(listener.address, control.address, control.token, grpc))
                await self._stopping.wait()
        finally:
            await control.stop()
            for port in (*grpc_ports, *node.ports):
                port.stop()
            if threads is not None:
                threads.cancel()
                await asyncio.wait({threads})
            node.stop()
            node.recorder.close()
            node.close()
            await node.settle()
            for each in grpc_ports:
                await each.closed()
            others = {asyncio.current_task(), *control.waiting, *self.beside}
            if accepted := asyncio.all_tasks() - others:  # what came as the port was closed
                await asyncio.wait(accepted, timeout=_ACCEPTING_SECONDS)
            while node.connections:  # each is closed, and the loop reports its end
                await asyncio.sleep(0)
            self._judge(node)
            await control.answered()
        if self._failure is not None:
            raise self._failure
        return node

    def stop(self) -> None:
        """Begin to stop it; from its own event loop."""
        self._stopping.set()

    async def _end(self) -> dict[str, Any]:
        """Stop it, and wait for the verdict on its run."""
        if self._verdict is None:
            self._verdict = asyncio.get_running_loop().create_future()
        self.stop()
        return await asyncio.shield(self._verdict)

    def _judge(self, node: BrokerNode) -> None:
        """Judge the run, if anybody waits for that."""
        if self._verdict is None:
            return
        try:
            if self._failure is not None:
                raise self._failure
            self._verdict.set_result({} if self.judge is None else self.judge(node))
        except Exception as error:  # noqa: BLE001 - whoever waits is told, and the process ends with the same
            self._verdict.set_exception(WireError(f"stop: there is no verdict: {error}"))
            self._failure = error

    async def _has_carried_out_orders(self, node: BrokerNode) -> bool:
        """Whether all orders of the start are carried out; False where it was stopped in between."""

        async def give() -> None:
            for name, arguments in self.orders:
                await carry_out(node, name, arguments)

        given, stopped = asyncio.create_task(give()), asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({given, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if given.done():
                given.result()
            return given.done()
        finally:
            for task in (given, stopped):
                task.cancel()
            await asyncio.wait({given, stopped})

    def _fail(self, error: BaseException) -> None:
        """The broker can't go on; it is stopped as far as it can be, and the error is raised."""
        self._failure = error
        self.stop()


class _Shortage:
    """What the loop can't do for want of files or memory, such as to take a connection: it is said once a kind."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._told: set[int | None] = set()

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _SHORTAGES:
            loop.default_exception_handler(context)
        elif error.errno not in self._told:
            self._told.add(error.errno)
            self._say(f"{context['message']}: {error.strerror}; what waits is tried again each second")


def allow_many_files() -> None:
    """Let this process open as many files as it may: each queue is one. A JVM does so, too (``-XX:+MaxFDLimit``)."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _require_proxy(start: Start, ports: ServicePorts) -> None:
    """`WireError` where a release has no proxy."""
    if ports.grpc_port is None:
        if ports.proxies is not None:
            message = f"--proxies {ports.proxies}: they serve gRPC clients; give --grpc-port, too"
            raise WireError(message)
        return
    last = ports.grpc_port + (ports.proxies or 1) - 1
    if ports.grpc_port and last > _LAST_PORT:
        message = f"--grpc-port {ports.grpc_port}: the last proxy would have the port {last}; {_LAST_PORT} is the last"
        raise WireError(message)
    if release_numbers(start.release) < _PROXY_SINCE:
        message = f"--grpc-port with {start.release}: RocketMQ's proxy came with 5.0.0; take a later --profile"
        raise WireError(message)


def _proxies_before(node: BrokerNode, ports: ServicePorts, advertised_host: str) -> list[GrpcPort]:
    """The proxies before a broker that are asked for; they do not listen yet. `WireError` without protobuf."""
    if ports.grpc_port is None:
        return []
    try:
        from wire.pop.pop_consumption import PopConsumption
        from wire.proxy.cluster_mode import ClusterMode
        from wire.proxy.local_mode import LocalMode
        from wire.proxy.port import GrpcPort
        from wire.proxy.proxy import Proxy
    except ModuleNotFoundError as error:
        message = f"a port for gRPC clients: {error.name} is not installed; pip install 'halfcheck[broker]' brings it"
        raise WireError(message) from None

    node.pops = PopConsumption(node)
    modes: list[ProxyMode] = [LocalMode(node)]
    if ports.proxies is not None:
        modes = [ClusterMode(node, ports.heartbeat_ms) for _ in range(ports.proxies)]
    numbers = [ports.grpc_port + number if ports.grpc_port else 0 for number in range(len(modes))]
    return [
        GrpcPort(Proxy(node, node.pops, mode), ports.host, number, advertised_host)
        for mode, number in zip(modes, numbers, strict=True)
    ]


def _make_folder(store: Path) -> None:
    """Make the store's folder; `WireError` if something else is there, or it may not be made."""
    try:
        store.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "a file" if isinstance(error, FileExistsError | NotADirectoryError) else error.strerror
        message = f"{store}: can't be a store directory: {why}; give --store another place"
        raise WireError(message) from None
