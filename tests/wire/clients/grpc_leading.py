"""A gRPC client led through its scenario against our broker, and in what it differs from what it must get."""

from __future__ import annotations

import json
import os
import subprocess
import venv
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.releases.jars import GRPC_CLIENTS, fetched_jars
from conformance.releases.jvm import client_command, java_command
from real_brokers.errors import RealBrokerError
from tests.wire.one_producer import OneProducer
from wire.broker_thread import BrokerThread
from wire.client.channel import Address, BrokerChannel
from wire.node.start import Start
from wire.remoting.codes import RequestCode
from wire.requests.request import body_of
from wire.service import ServicePorts

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT: Final = Path(__file__).parents[3]
PYTHON_CLIENT: Final = "rocketmq-python-client==5.1.2"
PYTHON_BUILD: Final = ROOT / "build" / "grpc-python-client"
SOURCES: Final = ROOT / "real_brokers" / "clients" / "grpc"

GRPC_NAMES: Final = ("grpc-python", *GRPC_CLIENTS)
"""Of the clients: one in Python, and one of each release in Java."""

EXPECTED: Final[dict[str, Any]] = {
    "checks": {"checked": 1, "checked-twice": 2, "lost": 1, "never-known": 3},
    "deliveries": {
        "committed": [1], "checked": [1], "checked-twice": [1], "lost": [1], "plain": [1], "failing": [1, 2],
        "poison": [1, 2],
    },
    "dead letters": ["poison"],
    "befell": {"lose_end": 1},
}  # fmt: skip
"""What each client gets; a poisoned message is tried twice (``retryMaxTimes=1``), one that is never known is asked for
three times (``transactionCheckMax``)."""

_SPEED: Final = 20.0
_PATIENCE_SECONDS: Final = 60
_CONF: Final = {"transactionTimeOut": 60_000, "transactionCheckInterval": 10_000, "transactionCheckMax": 3}


class PythonClientError(RealBrokerError):
    """The Python client can't be installed."""


def lead_grpc(name: str, folder: Path) -> dict[str, Any]:
    """Lead a client, and give what it got, with the dead letters and the faults that befell something."""
    conf = folder / "broker.conf"
    conf.write_text("".join(f"{key}={value}\n" for key, value in _CONF.items()), encoding="utf-8")
    start = Start.of("5.5.0", folder / "store", conf, speed=_SPEED)
    command = _command(name, folder)
    with BrokerThread(start, ports=ServicePorts(grpc_port=0), trace=folder / "trace.jsonl") as broker:
        broker.controller.topic("Orders", "TRANSACTION")
        broker.controller.topic("Plain", "NORMAL")
        with BrokerChannel(Address.of(broker.address)) as operator:
            group = body_of({"groupName": "readers", "retryMaxTimes": 1})
            operator.ask(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, group)
        broker.controller.fault("lose_end", key="lost")
        with (folder / "client.err").open("ab") as err:
            done = subprocess.run(
                [*command, broker.grpc_address, str(_PATIENCE_SECONDS)],
                stdout=subprocess.PIPE, stderr=err, cwd=folder, env={**os.environ, "HOME": str(folder)}, text=True,
                timeout=3 * _PATIENCE_SECONDS, check=False,
            )  # fmt: skip
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        outcome: dict[str, Any] = json.loads(lines[-1]) if lines else {"said": done.stdout[-500:]}
        with OneProducer(broker.address) as reader:
            outcome["dead letters"] = reader.keys("%DLQ%readers", 0)
        outcome["befell"] = broker.controller.status()["befell"]
    return outcome


def _command(name: str, folder: Path) -> Sequence[str]:
    if name in GRPC_CLIENTS:
        jars = fetched_jars(GRPC_CLIENTS[name])
        jvm = java_command(folder, "256m")
        return client_command(jars, folder, SOURCES / "GrpcScenarioClient.java", jvm=jvm)
    python = PYTHON_BUILD / "bin" / "python"
    if not (PYTHON_BUILD / ".installed").is_file():
        venv.create(PYTHON_BUILD, clear=True, with_pip=True)
        done = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PYTHON_CLIENT],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            message = f"pip install {PYTHON_CLIENT} failed: {done.stderr.strip().splitlines()[-1:]}"
            raise PythonClientError(message)
        (PYTHON_BUILD / ".installed").touch()
    return [str(python), str(SOURCES / "python_client.py")]
