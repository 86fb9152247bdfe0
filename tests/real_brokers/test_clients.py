"""Real clients: what is said where they can't be built, and what one is waited for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from real_brokers.clients.built_program import ClientBuildError
from real_brokers.clients.scenario_client import DIFFERS, DONE, ScenarioClient, go_client
from real_brokers.errors import RealBrokerError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_machine_without_go_is_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    said = r"^no go in PATH: the client in go wants Go 1\.21 or newer; install it, or [^\n]*$"
    with pytest.raises(ClientBuildError, match=said):
        go_client(tmp_path / "built", "127.0.0.1:9876")


_CLIENT = """
import sys
print("ready", flush=True)
for line in sys.stdin:
    order = line.strip()
    if order == "drain nothing":
        print("failed\\t" + order + "\\tno such topic", flush=True)
    else:
        print("sent\\tk\\tSEND_OK", *["consumed\\tk\\tcluster"] * 2, "done\\t" + order, sep="\\n", flush=True)
"""


def test_a_led_client_says_what_it_got_and_fails_by_what_it_did_not(tmp_path: Path) -> None:
    with ScenarioClient([sys.executable, "-c", _CLIENT], tmp_path) as client:
        client.order("phase 1")
        assert client.outcome() == {"k": {"consumed": ["cluster"], "sent": ["SEND_OK"]}}
        assert client.attempt("drain nothing") == "no such topic"
        assert client.attempt("phase 2") == DONE
        with pytest.raises(RealBrokerError, match=r"^drain nothing: no such topic$"):
            client.order("drain nothing")
        with pytest.raises(RealBrokerError, match=r"^k late: not within 0\.1 s \(None\); \[.*\]$") as late:
            client.wait_for("consumed", "k", "late", 0.1)
    assert late.value.exit_code == DIFFERS
