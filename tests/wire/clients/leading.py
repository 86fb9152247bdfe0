"""A client led through the scenario against one broker, and what the specification says of what that broker did."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.real.releases import fetched_jars, release_called
from tests.wire.clients.brokers import java_client, paced_broker, real_broker
from tests.wire.clients.go_client import go_client
from tests.wire.clients.scenario_client import ScenarioClient, lead
from wire.client.channel import Address, BrokerChannel
from wire.remoting.codes import RequestCode, ResponseCode

if TYPE_CHECKING:
    from tests.wire.clients.brokers import LedBroker

ROOT: Final = Path(__file__).parents[3]
JARS: Final = ROOT / "build" / "real-broker" / "jars"

CLIENTS: Final = {
    "java-4.9.7": "4.9.7",
    "java-5.3.3": "5.3.3",
    "java-5.5.0": "5.5.0",
    "java-5.5.0-binary": "5.5.0",
    "go": "5.5.0",
}
"""A client to the release of the broker that it is led against."""

PATIENCE_SECONDS: Final = 150.0
_JUDGING_SECONDS: Final = 300


@dataclass(frozen=True, slots=True)
class Led:
    """What came of it.

    Attributes
    ----------
    outcome
        By message what it became (:meth:`tests.wire.clients.scenario_client.ScenarioClient.outcome`).
    broken
        Guarantees that the run broke, by their names.
    explained
        What the specification of the release says of it, in words.
    is_explained
        Whether it explains all of it.
    """

    outcome: dict[str, Any]
    broken: list[str]
    explained: str
    is_explained: bool


def lead_ours(name: str, folder: Path) -> Led:
    """Lead a client against ``halfcheck broker``; ``halfcheck diff`` holds its trace against the specification."""
    with paced_broker(CLIENTS[name], folder) as broker:
        outcome = _lead(name, broker)
    broken = [each["property"] for each in broker.verdict.get("broken", ())]
    done = _halfcheck(folder, "diff", "trace.jsonl", f"spec:{CLIENTS[name]}", "--broker-conf", "broker.conf")
    said = " ".join(line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip())
    return Led(outcome, broken, said, done.returncode == 0)


def lead_real(name: str, folder: Path) -> Led:
    """Lead a client against the real broker of its release; ``halfcheck audit`` explains the store that is left.

    Store, what went over the wire and the outcome stay in the folder.
    """
    version = CLIENTS[name]
    with real_broker(version, fetched_jars(release_called(version), JARS), folder) as broker:
        outcome = _lead(name, broker)
    (folder / "outcome.json").write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
    with (folder / "frames.jsonl").open("w", encoding="utf-8") as file:
        for each in broker.seen:
            file.write(json.dumps([each.connection, each.server, each.is_from_client, each.frame.hex()]) + "\n")
    done = _halfcheck(folder, "audit", "store", "--version", version, "--json")
    if not done.stdout:
        return Led(outcome, [], done.stderr.strip(), is_explained=False)
    told = json.loads(done.stdout)
    trace = told["trace"]
    counts = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in told["counts"].items() if count)
    faults = " and ".join(f"{count} {fault}" for fault, count in trace["faults"].items()) or "no fault"
    said = f"store: {trace['events']} events, "
    said += f"accepted by the specification of {version} with {faults}" if trace["accepted"] else str(trace["reason"])
    return Led(outcome, [], f"{said}; {counts}", trace["accepted"] is True)


def _halfcheck(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "halfcheck", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=_JUDGING_SECONDS)


def _lead(name: str, broker: LedBroker) -> dict[str, Any]:
    home = broker.folder / "home"
    home.mkdir(exist_ok=True)
    if name == "go":
        command = go_client(ROOT / "build" / "go-client", broker.address)
    else:
        jars = fetched_jars(release_called(name.split("-")[1]), JARS)
        headers = "ROCKETMQ" if name.endswith("binary") else "JSON"
        command = java_client(jars, broker.folder, broker.address, headers=headers)
    with BrokerChannel(Address.of(broker.broker_address)) as operator:
        topic = {"topic": "Orders", "defaultTopic": "TBW102", "readQueueNums": 4, "writeQueueNums": 4, "perm": 6}
        more = {"topicFilterType": "SINGLE_TAG", "topicSysFlag": 0, "order": False}
        assert operator.ask(RequestCode.UPDATE_AND_CREATE_TOPIC, topic | more).code == ResponseCode.SUCCESS
    # The Go client keeps how far a broadcast consumer is below HOME, under a name that is the same in every run.
    with ScenarioClient(command, broker.folder, {**os.environ, "HOME": str(home)}) as client:
        lead(client, broker, PATIENCE_SECONDS)
        return client.outcome()
