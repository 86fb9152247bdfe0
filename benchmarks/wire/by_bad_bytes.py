"""What becomes of bytes that are no command, and of those who ask for something meanwhile."""

from __future__ import annotations

import itertools
import json
import socket
import subprocess
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.computer import bars
from benchmarks.wire.by_generator import CONNECTIONS, load_command, told_by
from benchmarks.wire.processes import open_files, own_memory, served

BAD: Final = {
    "another protocol": (b"GET / HTTP/1.1\r\n\r\n", "it speaks HTTP, and RocketMQ's remoting protocol was expected"),
    "a frame of one byte": (b"\0\0\0\1x", "a frame of 1 bytes"),
    "a frame of 100 MB": (b"\6\0\0\0" + b"x" * 100, "a frame of 100663296 bytes"),
    "a negative length": (b"\xff\xff\xff\xff", "a frame of -1 bytes"),
    "a header longer than its frame": (b"\0\0\0\5\0\0\0\xff{", "a header of 255 bytes in a frame that has 1 left"),
    "a header that is no JSON": (b"\0\0\0\6\0\0\0\2{]", "a JSON header that can't be read"),
    "a header of no encoding": (b"\0\0\0\4\7\0\0\0", "a header of encoding 7"),
    "a binary header that ends too soon": (b"\0\0\0\6\1\0\0\2ab", "ends too soon"),
    "deeply nested JSON": (
        (4 + 100_000).to_bytes(4) + (100_000).to_bytes(4) + b"[" * 100_000,
        "a JSON header that can't be read",
    ),
}
"""By what they are: the bytes, and what the broker says of them in its log."""

PROFILE: Final = "5.5.1"
HALF_OPEN: Final = 100
EVERY_SECONDS: Final = 0.01
PATIENCE: Final = 10.0
SETTLED_SECONDS: Final = 1.0
"""Until the broker has seen that connections are gone."""

HALF_A_FRAME: Final = b"\0\0\1\0{"


@dataclass(frozen=True, slots=True)
class Measured:
    """A run without bad bytes, and one with them.

    Attributes
    ----------
    rates
        Transactions a second without and with them.
    sent, closed
        Connections that sent such bytes, and those of them that the broker closed.
    slowest
        Seconds until it did, at most.
    lines, right_lines
        That it wrote into its log, and those that name what was sent.
    grown, files
        By how many bytes its own memory grew, and how many files it had open beside its store's before and behind.
    """

    rates: tuple[float, float]
    sent: int
    closed: int
    slowest: float
    lines: int
    right_lines: int
    grown: int
    files: tuple[int, int]


def measure(seconds: float) -> Measured:
    """Let the generator's connections go on for some time alone, then beside those that send bad bytes."""
    with TemporaryDirectory(prefix="halfcheck-") as name, ExitStack() as stack:
        log = Path(name) / "log"
        broker = stack.enter_context(served(PROFILE, Path(name), log=log))
        command = load_command(broker.address, 1, seconds)
        told_by(command)
        alone = told_by(command)
        time.sleep(SETTLED_SECONDS)
        before, files = own_memory(broker.pid), open_files(broker.pid, broker.store)[1]
        host, _, port = broker.address.rpartition(":")
        open_ones = [stack.enter_context(socket.create_connection((host, int(port)))) for _ in range(HALF_OPEN)]
        for connection in open_ones:
            connection.sendall(HALF_A_FRAME)
        took: list[float | None] = []
        sent: list[str] = []
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as loading:
            for what, (data, _) in itertools.cycle(BAD.items()):
                if loading.poll() is not None:
                    break
                sent.append(what)
                took.append(_seconds_until_closed(host, int(port), data))
                time.sleep(EVERY_SECONDS)
            beside = json.loads(loading.stdout.read() if loading.stdout is not None else "")
        for connection in open_ones:
            connection.close()
        time.sleep(SETTLED_SECONDS)
        grown, behind = own_memory(broker.pid) - before, open_files(broker.pid, broker.store)[1]
        lines = [line for line in log.read_text(encoding="utf-8").splitlines() if "connection closed: " in line]
    closed = [seconds for seconds in took if seconds is not None]
    right = sum(BAD[what][1] in line for what, line in zip(sent, lines, strict=False))
    rates = alone["done"] / alone["seconds"], beside["done"] / beside["seconds"]
    return Measured(rates, len(sent), len(closed), max(closed), len(lines), right, grown, (files, behind))


def _seconds_until_closed(host: str, port: int, data: bytes) -> float | None:
    """How long a connection that sent these bytes stood; None if it still does after `PATIENCE`, or was answered."""
    with socket.create_connection((host, port), PATIENCE) as bad:
        began = time.monotonic()
        try:
            bad.sendall(data)
            if bad.recv(1) != b"":
                return None
        except TimeoutError:
            return None
        except ConnectionError:
            pass  # it was reset
        return time.monotonic() - began


def table(found: Measured) -> str:
    """Its part of the page."""
    without, beside = found.rates
    all_of_them = f"{found.sent:,}"
    before, behind = found.files
    rows = [
        ("connections that were closed", all_of_them, f"{found.closed:,}", found.closed == found.sent),
        ("lines of the log that say so", all_of_them, f"{found.lines:,}", found.lines == found.sent),
        ("lines that name what was sent", all_of_them, f"{found.right_lines:,}", found.right_lines == found.sent),
        ("open files beside the store's, behind it", f"{before}", f"{behind}", behind == before),
    ]
    return f"""## Bad bytes

The generator again, {PROFILE}, one half under way on each of its {CONNECTIONS} connections. Beside it, {HALF_OPEN}
connections send half a frame and stay, and {found.sent:,}, one after the other, connect, send bytes that are no
command, and wait until they are closed, which took {found.slowest * 1e3:,.0f} ms at most: {", ".join(BAD)}.
{without:,.0f} transactions a second without them, {beside:,.0f} beside them, each of them answered. The broker's own
memory grew by {found.grown / (1 << 20):.1f} MiB.

{chr(10).join(bars(rows))}
"""
