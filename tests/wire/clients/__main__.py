"""``make test-clients``: leads real clients through the scenario against our broker, and says what each got.

``--record FOLDER`` leads the Java client against the real broker of its release instead, and keeps the outcome and what
went over the wire.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from conformance.errors import ConformanceError
from conformance.real.releases import fetched_jars, release_called
from tests.wire.clients.brokers import java_client, our_broker, real_broker
from tests.wire.clients.go_client import go_client
from tests.wire.clients.scenario_client import ScenarioClient, lead
from wire.remoting.client import RemotingClient
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
}
"""A client to the release of the broker that it is led against."""

PATIENCE_SECONDS: Final = 120.0

GO_TIMEOUT_SECONDS: Final = 40
"""The Go client sends a heartbeat every 30 s, and nobody can tell it otherwise: a broker that was killed knows of its
producer again only then, and all checks until then are counted and reach nobody (B19)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Lead the clients that are named, or all; 0 if each got what it gets from a real broker, else 12."""
    parser = argparse.ArgumentParser(prog="python -m tests.wire.clients", description=__doc__)
    parser.add_argument("clients", nargs="*", choices=[[], *CLIENTS], help=f"of {', '.join(CLIENTS)}")
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="lead it against a real broker, keep all there")
    options = parser.parse_args(arguments)
    expected = json.loads(OUTCOME.read_text(encoding="utf-8"))
    failed = 0
    for name in options.clients or CLIENTS:
        try:
            outcome, verdict = _record(name, options.record) if options.record else _lead_ours(name)
        except ConformanceError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return error.exit_code
        wrong = differences(expected, outcome)
        failed += bool(wrong)
        broken = ", ".join(each["property"] for each in verdict.get("broken", ())) or "none"
        print(f"{name}: {'as from a real broker' if not wrong else 'differs'}; guarantees broken: {broken}", flush=True)
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


def _lead_ours(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    with TemporaryDirectory(prefix="halfcheck-clients-") as folder:
        timeout = GO_TIMEOUT_SECONDS if name == "go" else 3
        with our_broker(CLIENTS[name], Path(folder), timeout) as broker:
            outcome = _lead(name, broker)
        return outcome, broker.verdict


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
    with RemotingClient(broker.broker_address) as operator:
        topic = {"topic": "Orders", "defaultTopic": "TBW102", "readQueueNums": 4, "writeQueueNums": 4, "perm": 6}
        more = {"topicFilterType": "SINGLE_TAG", "topicSysFlag": 0, "order": False}
        assert operator.call(RequestCode.UPDATE_AND_CREATE_TOPIC, topic | more).code == ResponseCode.SUCCESS
    with ScenarioClient(command, broker.folder) as client:
        lead(client, broker.crash, broker.restart, PATIENCE_SECONDS)
        return client.outcome()


if __name__ == "__main__":
    sys.exit(main())
