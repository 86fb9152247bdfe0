"""``--kill``, ``--stop`` and ``--start`` from end to end: a process of ours dies, and comes back."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode
from tests.wire.probe.own_broker import SETTINGS
from wire.client.channel import Address, BrokerChannel, NoAnswerError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Commands:
    """What somebody types who runs a broker of ours."""

    def __init__(self, folder: Path, port: int) -> None:
        self.address, self.store, self.pid = Address("127.0.0.1", port), folder / "store", folder / "pid"
        conf = folder / "broker.conf"
        conf.write_text(
            "".join(f"{name}={value}\n" for name, value in {**SETTINGS, "transactionOpBatchInterval": 1_500}.items())
        )
        broker = f"{sys.executable} -m halfcheck broker --profile 5.5.0 --port {port} --store {self.store}"
        self.start = f"{broker} --broker-conf {conf} --no-record >> {folder}/log 2>&1 & echo $! > {self.pid}"
        self.kill = f"kill -9 $(cat {self.pid})"
        self.stop = f"kill $(cat {self.pid}); while kill -0 $(cat {self.pid}) 2> {folder}/gone; do sleep 0.1; done"

    def options(self) -> list[str]:
        return ["--kill", self.kill, "--stop", self.stop, "--start", self.start]


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[Commands]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    given = Commands(tmp_path, port)
    subprocess.run(["sh", "-c", given.start], check=True, start_new_session=True)
    try:
        while True:
            try:
                BrokerChannel(given.address).close()
                break
            except NoAnswerError:
                continue
        yield given
    finally:
        subprocess.run(["sh", "-c", given.kill], check=False)


@pytest.mark.parametrize("scenario", ["kill", "stop"])
def test_a_broker_whose_process_ends_is_started_again_and_explained(
    scenario: str, commands: Commands, capsys: pytest.CaptureFixture[str]
) -> None:
    """It takes as long as two processes to start. What waits in the batch is lost with a kill; at a stop it may be."""
    first = commands.pid.read_text()
    arguments = ["--scenario", scenario, "--store", str(commands.store), *commands.options(), "--json"]
    code = run(["probe", str(commands.address), *arguments])
    told = json.loads(capsys.readouterr().out)
    (play,) = told["plays"]
    assert commands.pid.read_text() != first
    assert (play["explained"], play["files_differ"], told["store"]["corrupt"]) == (True, [], [])
    if scenario == "kill":
        assert (play["missed"], play["faults"], code) == (None, {"crash": 1}, ExitCode.SAFETY_VIOLATED)
        assert "S1.lost_op" in {each["clause"] for each in play["broken"]}
        assert "B02" in told["store"]["resembles"]
