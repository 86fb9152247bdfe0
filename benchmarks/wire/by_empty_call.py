"""What a call takes that asks for nothing: in grpcio's server, and in the port; ``python -m …`` is that server.

The call is a heartbeat of a client that nobody knows.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import grpc

from benchmarks.wire.processes import processor, served
from wire.proxy.protocol.messages import CALLS, SERVICE

if TYPE_CHECKING:
    from collections.abc import Iterator

PATH: Final = f"/{SERVICE}/Heartbeat"
CONNECTIONS: Final = 4
WARM_UP: Final = 2.0
_HEADERS: Final = (("x-mq-client-id", "one"), ("x-mq-language", "PYTHON"), ("x-mq-client-version", "5.1.2"))


def measure(profile: str, seconds: float) -> tuple[float, float]:
    """Microseconds of processor time that a call takes in grpcio's server, and in the port."""
    with _grpcio_server() as (address, pid):
        of_library = _microseconds(address, pid, seconds)
    with TemporaryDirectory(prefix="halfcheck-") as folder, served(profile, Path(folder), with_grpc=True) as broker:
        return of_library, _microseconds(broker.grpc_address, broker.pid, seconds)


def _microseconds(address: str, pid: int, seconds: float) -> float:
    """Let some connections call as fast as they can."""
    calls, stopped = count(), threading.Event()

    def call() -> None:
        with grpc.insecure_channel(address, (("grpc.use_local_subchannel_pool", 1),)) as channel:
            stub = channel.unary_unary(PATH)
            while not stopped.is_set():
                stub(b"", metadata=_HEADERS)
                next(calls)

    callers = [threading.Thread(target=call) for _ in range(CONNECTIONS)]
    for caller in callers:
        caller.start()
    time.sleep(WARM_UP)
    first, used = next(calls), sum(processor(pid))
    time.sleep(seconds)
    done, used = next(calls) - first, sum(processor(pid)) - used
    stopped.set()
    for caller in callers:
        caller.join()
    return used / done * 1e6


@contextmanager
def _grpcio_server() -> Iterator[tuple[str, int]]:
    """Its address and its process."""
    command = [sys.executable, "-m", "benchmarks.wire.by_empty_call"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield (process.stdout.readline() if process.stdout is not None else "").strip(), process.pid
        finally:
            process.terminate()


class _Server(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Answers each heartbeat with the same bytes."""

    def service(self, handler_call_details: Any) -> Any:
        """See :class:`grpc.GenericRpcHandler`."""
        answer = bytes(CALLS["Heartbeat"].response().SerializeToString())

        async def respond(*_: Any) -> bytes:
            return answer

        return grpc.unary_unary_rpc_method_handler(respond) if handler_call_details.method == PATH else None


async def _serve() -> None:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((_Server(),))
    print(f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}", flush=True)
    await server.start()
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(_serve())
