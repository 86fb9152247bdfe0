"""One run of a broker on the command line: until a signal, the end of its command or of its parent, or an order."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    from halfcheck.serving.executed_command import ExecutedCommand
    from wire.node.broker_node import BrokerNode
    from wire.service import Service, ServiceAddresses

_GLANCE_SECONDS: Final = 0.2
_GRPC_ADDRESS: Final = "HALFCHECK_GRPC_ADDRESS"
_GRPC_ADDRESSES: Final = "HALFCHECK_GRPC_ADDRESSES"
"""Of the first proxy, and of all, as gRPC clients write several endpoints."""
OPTIONS: Final = "HALFCHECK_OPTIONS"


class ServedRun:
    """A service, and what goes on beside it.

    Parameters
    ----------
    parent
        The process that the broker is not to outlive; None for none.
    options
        The options that it was started with, as the command finds them in its environment: a JSON object of texts, null
        where a test that asks for the option may give it any value.

    Attributes
    ----------
    exit_code
        That of the command, when it has ended.
    """

    def __init__(
        self, service: Service, command: ExecutedCommand | None = None, parent: int | None = None, options: str = "{}"
    ) -> None:
        self.exit_code = 0
        self._service = service
        self._command = command
        self._parent = parent
        self._options = options
        self._leading: asyncio.Task[None] | None = None
        self._was_told_to_stop = False

    async def until_it_ends(self, announce: Callable[[ServiceAddresses], None]) -> BrokerNode:
        """Serve, and give the node as it is behind its shutdown.

        An order to stop ends the broker, and its command goes on; whatever ends this ends both.

        Raises
        ------
        CommandLineError
            The command can't be started.
        WireError, StoreError, BadOrderError
            As :meth:`Service.run` has it.
        """

        def lead(addresses: ServiceAddresses) -> None:
            announce(addresses)
            if self._command is not None and not self._was_told_to_stop:
                self._leading = self._beside(self._lead(self._command, addresses))

        with self._heeding_signals():
            watch = None if self._parent is None else self._beside(self._watch(self._parent))
            try:
                node = await self._service.run(lead)
                if self._leading is not None:
                    await self._leading
            finally:
                if watch is not None:
                    watch.cancel()
                if self._command is not None:
                    await self._command.end()
        return node

    def _beside(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._service.beside.add(task)
        return task

    async def _lead(self, command: ExecutedCommand, addresses: ServiceAddresses) -> None:
        """Run the command; its end is the broker's."""
        try:
            inherited = {name: value for name, value in os.environ.items() if name != _GRPC_ADDRESS}
            await command.start(inherited | environment_of(addresses) | {OPTIONS: self._options})
            self.exit_code = await command.wait()
            if self._service.node is not None:
                await self._service.node.let_op_batch_be_written()
        finally:
            self._service.stop()

    async def _watch(self, parent: int) -> None:
        while os.getppid() == parent:
            await asyncio.sleep(_GLANCE_SECONDS)
        self._heed(signal.SIGTERM)

    def _heed(self, number: int) -> None:
        if self._command is not None and self._command.runs:
            self._command.pass_on(number)
        else:
            self._was_told_to_stop = True
            self._service.stop()

    @contextmanager
    def _heeding_signals(self) -> Iterator[None]:
        loop, numbers = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)
        for number in numbers:
            loop.add_signal_handler(number, self._heed, number)
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)


def environment_of(addresses: ServiceAddresses) -> dict[str, str]:
    """The environment variables by which a command finds its broker."""
    variables = {
        "HALFCHECK_ADDRESS": addresses.address,
        "HALFCHECK_CONTROL": addresses.control,
        "HALFCHECK_TOKEN": addresses.token,
    }
    if addresses.grpc:
        variables |= {_GRPC_ADDRESS: addresses.grpc[0], _GRPC_ADDRESSES: ";".join(addresses.grpc)}
    return variables
