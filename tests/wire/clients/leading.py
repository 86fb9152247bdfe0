"""A client led through the scenario against one broker, and what the specification says of what that broker did."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.releases.jars import fetched_jars, release_called
from real_brokers.clients.scenario_client import ScenarioClient, go_client, java_client
from reference.broker.broker_settings import BrokerSettings
from tests.wire.clients.brokers import paced_broker, real_broker
from wire.client.channel import Address, BrokerChannel
from wire.remoting.codes import RequestCode, ResponseCode

if TYPE_CHECKING:
    from tests.wire.clients.brokers import LedBroker

GO_BUILD: Final = Path(__file__).parents[3] / "build" / "go-client"

CLIENTS: Final = {
    "java-4.9.7": "4.9.7",
    "java-5.3.3": "5.3.3",
    "java-5.5.0": "5.5.0",
    "java-5.5.0-binary": "5.5.0",
    "go": "5.5.0",
}
"""A client to the release of the broker that it is led against."""

CHECK_MAX: Final = BrokerSettings().transaction_check_max
"""How often the one that is never known is checked before it is discarded."""

PATIENCE_SECONDS: Final = 150.0
"""For the longest thing that is waited for: the retries and the dead letter behind 10 s and 30 s of the broker's clock,
and all checks of the one that is never known."""
_JUDGING_SECONDS: Final = 300


@dataclass(frozen=True, slots=True)
class Led:
    """What came of it.

    Attributes
    ----------
    outcome
        By message what it became (:meth:`ScenarioClient.outcome`).
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
    with real_broker(version, folder) as broker:
        outcome = _lead(name, broker)
    (folder / "outcome.json").write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
    with (folder / "frames.jsonl").open("w", encoding="utf-8") as file:
        for each in broker.seen:
            file.write(json.dumps([each.connection, each.server, each.is_from_client, each.frame.hex()]) + "\n")
    done = _halfcheck(folder, "audit", "store", "--version", version, "--json")
    if not done.stdout:
        return Led(outcome, [], done.stderr.strip(), is_explained=False)
    audit = json.loads(done.stdout)
    trace = audit["trace"]
    counts = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in audit["counts"].items() if count)
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
        command = go_client(GO_BUILD, broker.address)
    else:
        jars = fetched_jars(release_called(name.split("-")[1]))
        headers = "ROCKETMQ" if name.endswith("binary") else "JSON"
        command = java_client(jars, broker.folder, broker.address, headers=headers)
    with BrokerChannel(Address.of(broker.broker_address)) as operator:
        topic = {"topic": "Orders", "defaultTopic": "TBW102", "readQueueNums": 4, "writeQueueNums": 4, "perm": 6}
        more = {"topicFilterType": "SINGLE_TAG", "topicSysFlag": 0, "order": False}
        assert operator.ask(RequestCode.UPDATE_AND_CREATE_TOPIC, topic | more).code == ResponseCode.SUCCESS
    # The Go client keeps how far a broadcast consumer is below HOME, under a name that is the same in every run.
    with ScenarioClient(command, broker.folder, {**os.environ, "HOME": str(home)}) as client:
        lead(client, broker)
        return client.outcome()


def lead(client: ScenarioClient, broker: LedBroker) -> None:
    """Lead a client that is connected to a broker through the scenario, with a crash and a restart of it on the way."""
    for kind in (*client.kinds, "tagged"):
        client.order(f"consume {kind}")
    client.order("beat")
    client.order("phase 1")
    for key in ("committed", "checked", "checked-twice", "plain"):
        for kind in client.kinds:
            client.wait_for("consumed", key, kind, PATIENCE_SECONDS)
    client.wait_for("consumed", "retried", "cluster 1", PATIENCE_SECONDS)
    client.wait_for("consumed", "dead-letter", "cluster 2", PATIENCE_SECONDS)
    client.wait("every check", lambda: client.count("checked", "never-known") >= CHECK_MAX, PATIENCE_SECONDS)
    client.drain("%DLQ%group-cluster", "dead-letter", PATIENCE_SECONDS)
    client.drain("TRANS_CHECK_MAX_TIME_TOPIC", "never-known", PATIENCE_SECONDS)
    client.order("phase 2")
    broker.crash()
    client.order("beat")
    for kind in client.kinds:
        client.wait_for("consumed", "after-crash", kind, PATIENCE_SECONDS)
    broker.settle()
    broker.restart()
    client.order("beat")
    client.order("phase 3")
    for kind in client.kinds:
        client.wait_for("consumed", "after-restart", kind, PATIENCE_SECONDS)
    client.order("drain Orders")
    broker.settle()
    client.order("end")
