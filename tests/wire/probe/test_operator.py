"""Commands of a shell that end and start a broker: what goes wrong is said in one line, and no process is left."""

from __future__ import annotations

import os
import socket
import time
from typing import TYPE_CHECKING

import pytest

from wire.client.channel import Address
from wire.probe.operator import OperatorError, ShellOperator

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def nobody() -> Address:
    """Where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return Address("127.0.0.1", server.getsockname()[1])


@pytest.fixture
def somebody() -> Iterator[Address]:
    """Where somebody listens, whatever is done."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield Address("127.0.0.1", server.getsockname()[1])


def operator(address: Address, start: str = "true", kill: str | None = "true") -> ShellOperator:
    return ShellOperator(address, start, kill, patience_s=0.5)


def refused(given: ShellOperator) -> str:
    with pytest.raises(OperatorError) as raised:
        given.kill()
    message = str(raised.value)
    assert "\n" not in message
    return message


def test_a_command_that_fails_is_named_with_the_last_thing_it_said(nobody: Address) -> None:
    complaint = refused(operator(nobody, kill="echo first; echo no such process >&2; exit 3"))
    assert complaint.endswith("ended with 3, and was to return 0: no such process")
    assert complaint.startswith("--kill 'echo first")


def test_a_start_that_fails_is_named(nobody: Address) -> None:
    assert refused(operator(nobody, start="exit 7")) == "--start 'exit 7' ended with 7, and was to return 0"


def test_a_command_that_does_not_return_is_killed_with_what_it_started(nobody: Address, tmp_path: Path) -> None:
    complaint = refused(operator(nobody, start=f"sleep 60 & echo $! > {tmp_path}/pid; sleep 60"))
    assert complaint.endswith("did not return in 0.5 s; let it end, by & if need be")
    pid = int((tmp_path / "pid").read_text())
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail(f"process {pid} runs on")


def test_a_broker_that_does_not_come_back_is_said(nobody: Address) -> None:
    assert refused(operator(nobody)) == f"{nobody}: the broker does not listen 0.5 s behind --start 'true'"


def test_a_broker_that_does_not_die_is_said(somebody: Address) -> None:
    assert refused(operator(somebody)) == f"{somebody}: the broker still listens 0.5 s behind --kill 'true'"


def test_a_command_that_is_not_given_is_asked_for(nobody: Address) -> None:
    assert "give --kill CMD, too" in refused(operator(nobody, kill=None))
