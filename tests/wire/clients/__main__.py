"""``make test-clients``: leads real clients through the scenario against our broker, and says what each got.

It also says whether the specification explains what our broker recorded. ``--goes-on`` lets a real broker of each
release go on from a store of ours instead. ``--record FOLDER`` leads the Java client against the real broker of its
release, and keeps the outcome and what went over the wire.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from conformance.errors import ConformanceError
from conformance.real.real_broker import RealBroker
from conformance.real.releases import fetched_jars, release_called
from tests.wire.clients.brokers import java_client, our_broker, real_broker
from tests.wire.clients.go_client import go_client
from tests.wire.clients.mqadmin import ask_all
from tests.wire.clients.scenario_client import BATCH_SECONDS, ScenarioClient, lead
from tests.wire.one_producer import OneProducer
from wire.client.channel import Address, Channel
from wire.client.transactions import COMMIT
from wire.remoting.codes import RequestCode, ResponseCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.wire.clients.brokers import LedBroker

ROOT: Final = Path(__file__).parents[3]
JARS: Final = ROOT / "build" / "real-broker" / "jars"
OUTCOME: Final = Path(__file__).with_name("outcome.json")
"""What the Java client 5.5.0 got from a real broker 5.5.0."""

CLIENTS: Final = {
    "java-4.9.7": "4.9.7",
    "java-5.3.3": "5.3.3",
    "java-5.5.0": "5.5.0",
    "java-5.5.0-binary": "5.5.0",
    "go": "5.5.0",
    "mqadmin": "5.5.0",
}
"""A client to the release of the broker that it is led against."""

PATIENCE_SECONDS: Final = 150.0

GO_SECONDS: Final = 65, 4
"""``transactionTimeOut`` and ``transactionCheckInterval``. The Go client sends a heartbeat every 30 s, and nobody can
tell it otherwise: a broker that was killed knows of its producer again only then, or at the one behind it, and all
checks until then are counted and reach nobody (B19). What it is asked before it has answered, it answers as well."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Lead the clients that are named, or all; 0 if each got what it gets from a real broker, else 12."""
    parser = argparse.ArgumentParser(prog="python -m tests.wire.clients", description=__doc__)
    parser.add_argument("clients", nargs="*", choices=[[], *CLIENTS], help=f"of {', '.join(CLIENTS)}")
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="lead it against a real broker, keep all there")
    parser.add_argument("--goes-on", action="store_true", help="let real brokers go on from stores of ours")
    options = parser.parse_args(arguments)
    if options.goes_on:
        return _go_on()
    expected = json.loads(OUTCOME.read_text(encoding="utf-8"))
    failed = 0
    for name in options.clients or CLIENTS:
        if name == "mqadmin":
            failed += _ask_mqadmin()
            continue
        try:
            outcome, verdict = _record(name, options.record) if options.record else _lead_ours(name)
        except ConformanceError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return error.exit_code
        wrong = differences(expected, outcome)
        failed += bool(wrong)
        broken = ", ".join(each["property"] for each in verdict.get("broken", ())) or "none"
        print(f"{name}: {'as from a real broker' if not wrong else 'differs'}; guarantees broken: {broken}", flush=True)
        for told in verdict.get("explained", ()):
            print(f"  trace: {told}", flush=True)
        for line in wrong:
            print(f"  {line}", flush=True)
    return 12 if failed else 0


def differences(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """In what two outcomes differ, a line each."""
    return [
        f"{key}: {found.get(key)}, expected {expected.get(key)}"
        for key in sorted(expected.keys() | found.keys())
        if expected.get(key) != found.get(key)
    ]


def _ask_mqadmin() -> bool:
    """Whether some command of mqadmin did not say what it must; it has no scenario."""
    with TemporaryDirectory(prefix="halfcheck-clients-") as folder, our_broker("5.5.0", Path(folder)) as broker:
        wrong = ask_all(broker, JARS)
    print(f"mqadmin: {'all commands answered' if not wrong else 'differs'}", flush=True)
    for line in wrong:
        print(f"  {line}", flush=True)
    return bool(wrong)


def _lead_ours(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    with TemporaryDirectory(prefix="halfcheck-clients-") as folder:
        timeout, interval = GO_SECONDS if name == "go" else (3, 1)
        with our_broker(CLIENTS[name], Path(folder), timeout, interval) as broker:
            outcome = _lead(name, broker)
        return outcome, broker.verdict | {"explained": _explained(Path(folder), CLIENTS[name])}


def _explained(folder: Path, profile: str) -> list[str]:
    """What ``halfcheck diff`` says of the trace and the specification of the release."""
    command = [
        sys.executable,
        "-m",
        "halfcheck",
        "diff",
        "trace.jsonl",
        f"spec:{profile}",
        "--broker-conf",
        "broker.conf",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    return [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]


def _go_on() -> int:
    """Ours stores a committed message and a pending half; the real broker delivers the one and checks the other."""
    failed = 0
    for version in ("4.5.1", "4.9.7", "5.3.3", "5.4.0", "5.5.0"):
        with TemporaryDirectory(prefix="halfcheck-clients-") as folder:
            with our_broker(version, Path(folder)) as broker, OneProducer(broker.address) as producer:
                producer.heartbeat()
                producer.end(producer.half("committed"), COMMIT)
                producer.half("pending")
                producer.half("pending-too")
                time.sleep(BATCH_SECONDS)
            release = release_called(version)
            store = Path(folder) / "store"
            with (
                RealBroker(release, fetched_jars(release, JARS), "goes-on", store=store) as real,
                OneProducer(f"127.0.0.1:{real.broker_port}") as producer,
            ):
                producer.heartbeat()
                checked = [producer.check(60), producer.check(60)]
                for check in checked:
                    if check is not None:
                        producer.end(check, COMMIT, answers_check=True)
                time.sleep(BATCH_SECONDS)
                keys = sorted(producer.keys())
        is_right = keys == ["committed", "pending", "pending-too"]
        failed += not is_right
        print(
            f"real {version} on our store: {'goes on' if is_right else 'does not go on'}; delivered {keys}", flush=True
        )
    return 12 if failed else 0


def _record(name: str, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    folder.mkdir(parents=True, exist_ok=True)
    version = CLIENTS[name]
    with real_broker(version, fetched_jars(release_called(version), JARS), folder) as broker:
        outcome = _lead(name, broker)
    (folder / "outcome.json").write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
    with (folder / "frames.jsonl").open("w", encoding="utf-8") as file:
        for each in broker.seen:
            row = [each.connection, each.server, each.is_from_client, each.frame.hex()]
            file.write(json.dumps(row) + "\n")
    return outcome, {}


def _lead(name: str, broker: LedBroker) -> dict[str, Any]:
    if name == "go":
        command = go_client(ROOT / "build" / "go-client", broker.address)
    else:
        jars = fetched_jars(release_called(name.split("-")[1]), JARS)
        headers = "ROCKETMQ" if name.endswith("binary") else "JSON"
        command = java_client(jars, broker.folder, broker.address, headers=headers)
    with Channel(Address.of(broker.broker_address)) as operator:
        topic = {"topic": "Orders", "defaultTopic": "TBW102", "readQueueNums": 4, "writeQueueNums": 4, "perm": 6}
        more = {"topicFilterType": "SINGLE_TAG", "topicSysFlag": 0, "order": False}
        assert operator.ask(RequestCode.UPDATE_AND_CREATE_TOPIC, topic | more).code == ResponseCode.SUCCESS
    with ScenarioClient(command, broker.folder) as client:
        lead(client, broker.crash, broker.restart, PATIENCE_SECONDS)
        return client.outcome()


if __name__ == "__main__":
    sys.exit(main())
