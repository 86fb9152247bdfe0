"""The brokers that a client is led against: ours, as a process of the command line, and a real one behind a relay."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final, cast

from conformance.releases.jars import release_called
from real_brokers.rocketmq.broker import RealBroker
from tests.wire.clients.conversation import client_log
from tests.wire.clients.pacer import Pacer
from tests.wire.clients.relay import Relay, Seen
from wire.control.controller import Controller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

GROUP: Final = "order-service"
"""Of the client's producers."""

SETTINGS: Final = {
    "transactionTimeOut": 5_000,
    "transactionCheckInterval": 2_000,
    "transactionOpBatchInterval": 200,
    "flushConsumerOffsetInterval": 1_000,
    "mappedFileSizeCommitLog": 1 << 20,
    "mappedFileSizeConsumeQueue": 20_000,
}
BATCH_MS: Final = 2_000
"""A stop within ``transactionOpBatchInterval`` of a commit would deliver it twice (B03), which is no client's doing."""
_SETTLE_SECONDS: Final = 60.0
_END_SECONDS: Final = 300
"""It stops, and judges its run."""


@dataclass(frozen=True, slots=True)
class LedBroker:
    """A broker that runs.

    Attributes
    ----------
    address, broker_address
        Its name server's, and its own.
    folder
        Where its client may write.
    crash, restart
        Kill it, or stop it in order; either way start it again.
    settle
        Wait until what was committed is settled on its disk.
    seen
        What went over the wire, where that is kept.
    verdict
        What it said of the run when it was over; filled in behind its end.
    """

    address: str
    broker_address: str
    folder: Path
    crash: Callable[[], None]
    restart: Callable[[], None]
    settle: Callable[[], None]
    seen: list[Seen]
    verdict: dict[str, Any]


@contextmanager
def our_broker(profile: str, folder: Path) -> Iterator[LedBroker]:
    """``halfcheck broker`` of a profile, whose clock goes as the machine's; store and trace stay in the folder."""
    verdict: dict[str, Any] = {}
    with _started(profile, folder, verdict) as (address, controller):
        yield LedBroker(address, address, folder, controller.crash, controller.restart, _wait, [], verdict)


@contextmanager
def paced_broker(profile: str, folder: Path) -> Iterator[LedBroker]:
    """Ours behind a relay, for a client that is led: its time passes when all that it asked is answered."""
    verdict: dict[str, Any] = {}
    with _started(profile, folder, verdict, "--clock", "virtual") as (address, controller):
        port = int(address.rpartition(":")[2])
        with Relay(port, port) as relay, Pacer(controller, relay.seen, GROUP) as pacer:

            def crash() -> None:
                controller.crash()
                pacer.forgive()

            def restart() -> None:
                controller.restart()
                pacer.forgive()

            def settle() -> None:
                pacer.let_pass(BATCH_MS, _SETTLE_SECONDS)

            name_server = f"127.0.0.1:{relay.name_server}"
            yield LedBroker(name_server, address, folder, crash, restart, settle, relay.seen, verdict)


@contextmanager
def _started(profile: str, folder: Path, verdict: dict[str, Any], *more: str) -> Iterator[tuple[str, Controller]]:
    conf = folder / "broker.conf"
    spelled = {name.replace("mapped", "maped"): value for name, value in SETTINGS.items()}
    conf.write_text("".join(f"{name}={value}\n" for name, value in (spelled | SETTINGS).items()), encoding="utf-8")
    command = [
        sys.executable, "-X", "faulthandler", "-m", "halfcheck", "broker", "--profile", profile, "--port", "0",
        "--store", str(folder / "store"), "--broker-conf", str(conf), "--trace", str(folder / "trace.jsonl"), "--json",
        *more,
    ]  # fmt: skip
    with (folder / "broker.err").open("w", encoding="utf-8") as err:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=err, text=True)
    try:
        addresses = json.loads(cast("IO[str]", process.stdout).readline())
        yield addresses["address"], Controller(addresses["control"], addresses["token"])
    except BaseException:
        process.kill()  # nobody wants its verdict any more
        process.communicate()
        raise
    process.terminate()
    try:
        said, _ = process.communicate(timeout=_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # faulthandler tells where it is
        process.communicate()
        where = (folder / "broker.err").read_text(encoding="utf-8").strip()
        message = f"our broker {profile} did not end {_END_SECONDS} s after SIGTERM; it was at\n{where}"
        raise AssertionError(message) from None
    verdict.update(json.loads(said) if said.strip() else {})


def _wait() -> None:
    time.sleep(BATCH_MS / 1_000)


@contextmanager
def real_broker(version: str, folder: Path) -> Iterator[LedBroker]:
    """A real broker of a release, and its name server, behind a relay; the store stays in the folder.

    It has the form of a golden store (``conformance/golden/README.md``), its ``driver.jsonl`` what went over the wire.
    """
    settings = {name: str(value) for name, value in SETTINGS.items() if name.startswith("transaction")}
    if not release_called(version).is_5:
        settings.pop("transactionOpBatchInterval")
    with RealBroker(version, "wire", settings) as broker:
        with Relay(broker.ports.name_server, broker.ports.broker) as relay:
            addresses = f"127.0.0.1:{relay.name_server}", f"127.0.0.1:{relay.broker}"
            yield LedBroker(*addresses, folder, broker.kill, broker.restart, _wait, relay.seen, {})
        (broker.run / "archive" / "driver.jsonl").write_text(client_log(relay.seen), encoding="utf-8")
        broker.finish(folder / "store")
