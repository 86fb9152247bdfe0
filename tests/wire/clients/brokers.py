"""The brokers that a client is led against: ours, as a process of the command line, and a real one behind a relay."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.real.processes import java_command
from conformance.real.real_broker import RealBroker
from conformance.real.releases import release_called
from tests.wire.clients.conversation import client_log
from tests.wire.clients.relay import Relay, Seen
from tests.wire.clients.scenario_client import SCENARIO
from wire.control.controller import Controller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE: Final = Path(__file__).parent
SPEED: Final = 10
"""How many times as fast our broker's clock runs; its intervals are as many times as long."""

TIMES: Final = {"transactionTimeOut": 5_000, "transactionCheckInterval": 2_000}
"""In ms of real time. A client is known to the broker within 5 s of its first half and of a crash, and an answer comes
back within 2 s, on a busy machine too; nothing that is compared depends on how long they take."""

_SMALL: Final = {
    "transactionOpBatchInterval": 200 * SPEED,
    "flushConsumerOffsetInterval": 1_000 * SPEED,
    "mappedFileSizeCommitLog": 1 << 20,
    "mappedFileSizeConsumeQueue": 20_000,
    "mapedFileSizeCommitLog": 1 << 20,
    "mapedFileSizeConsumeQueue": 20_000,
}


@dataclass(frozen=True, slots=True)
class LedBroker:
    """A broker that runs.

    Attributes
    ----------
    address, broker_address
        Its name server's, and its own.
    folder
        Where its client may write.
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
    seen: list[Seen]
    verdict: dict[str, Any]


@contextmanager
def our_broker(profile: str, folder: Path) -> Iterator[LedBroker]:
    """``halfcheck broker`` of a profile; store, trace and what it said stay in the folder."""
    settings = _SMALL | {name: value * SPEED for name, value in TIMES.items()}
    conf = folder / "broker.conf"
    conf.write_text("".join(f"{key}={value}\n" for key, value in settings.items()), encoding="utf-8")
    command = [
        sys.executable, "-m", "halfcheck", "broker", "--profile", profile, "--port", "0", "--store",
        str(folder / "store"), "--broker-conf", str(conf), "--speed", str(SPEED), "--trace",
        str(folder / "trace.jsonl"), "--json",
    ]  # fmt: skip
    with (folder / "broker.err").open("w", encoding="utf-8") as err:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=err, text=True)
    verdict: dict[str, Any] = {}
    try:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        controller = Controller(told["control"], told["token"])
        address = told["address"]
        yield LedBroker(address, address, folder, controller.crash, controller.restart, [], verdict)
    finally:
        process.terminate()
        said, _ = process.communicate(timeout=60)
        verdict.update(json.loads(said) if said.strip() else {})


@contextmanager
def real_broker(version: str, jars: Path, folder: Path) -> Iterator[LedBroker]:
    """A real broker of a release, and its name server, behind a relay; the store stays in the folder.

    It has the form of a golden store (``conformance/golden/README.md``), its ``driver.jsonl`` what went over the wire.
    """
    settings = {name: str(value) for name, value in TIMES.items()}
    with RealBroker(release_called(version), jars, "wire", settings) as broker:
        with Relay(broker.name_server_port, broker.broker_port) as relay:

            def crash() -> None:
                broker.kill_broker()
                broker.start_broker()

            def restart() -> None:
                broker.stop_broker()
                broker.start_broker()

            addresses = f"127.0.0.1:{relay.name_server}", f"127.0.0.1:{relay.broker}"
            yield LedBroker(*addresses, folder, crash, restart, relay.seen, {})
        (broker.run / "kept" / "driver.jsonl").write_text(client_log(relay.seen), encoding="utf-8")
        broker.finish(folder / "store")


def java_client(jars: Path, run: Path, address: str, *, headers: str = "JSON") -> list[str]:
    """The command of the Java client of a release, with its headers in JSON or ROCKETMQ."""
    (run / "home").mkdir(exist_ok=True)
    return [
        *java_command(run, "256m"),
        f"-Drocketmq.client.logRoot={run}/client-logs",
        "-Drocketmq.client.logUseSlf4j=false",
        f"-Drocketmq.serialize.type={headers}",
        "-cp",
        f"{jars.resolve()}/*",
        str(HERE / "ScenarioClient.java"),
        address,
        str(SCENARIO),
    ]
