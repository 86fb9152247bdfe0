"""What leads real clients (``make test-clients``): names, outcomes, and the log of a conversation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.wire.clients import __main__ as test_clients
from tests.wire.clients.conversation import client_log
from tests.wire.clients.relay import Seen
from wire.remoting.codes import RequestCode
from wire.remoting.command import RESPONSE_FLAG, RemotingCommand, encode

if TYPE_CHECKING:
    import pytest


def test_a_client_that_is_not_known_is_named_with_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert test_clients.main(["java-4.9.7", "rust"]) == 151
    assert test_clients.main(["--real", "mqadmin"]) == 151
    assert test_clients.main(["--real", "grpc-rust"]) == 151
    assert test_clients.main(["--record", "build/recorded", "grpc-python"]) == 151
    known = "java-4.9.7, java-5.3.3, java-5.5.0, java-5.5.0-binary, go"
    with_grpc = f"{known}, grpc-python, grpc-java-5.0.8, grpc-java-5.2.0, grpc-node, grpc-go"
    assert capsys.readouterr().err.splitlines() == [
        f"no client 'rust' to lead; there are {with_grpc}, grpc-rust, mqadmin",
        f"no client 'mqadmin' to lead there; there are {with_grpc}",
        f"no client 'grpc-rust' to lead there; there are {with_grpc}",
        f"no client 'grpc-python' to lead there; there are {known}",
    ]


def test_an_outcome_differs_in_what_is_missing_too_much_or_other() -> None:
    expected = {"kept": {"sent": ["SEND_OK"]}, "missing": {}, "other": {"checked": ["UNKNOW"]}}
    found = {"kept": {"sent": ["SEND_OK"]}, "more": {}, "other": {"checked": ["UNKNOW", "UNKNOW"]}}
    assert test_clients.differences(expected, found) == [
        "missing: None, expected {}",
        "more: {}, expected None",
        "other: {'checked': ['UNKNOW', 'UNKNOW']}, expected {'checked': ['UNKNOW']}",
    ]


def test_the_log_of_a_conversation_has_what_producers_ended_and_which_halves_were_checked() -> None:
    end = {"tranStateTableOffset": "3", "commitOrRollback": "8"}
    said = [
        (True, RemotingCommand(RequestCode.END_TRANSACTION, end)),
        (False, RemotingCommand(RequestCode.END_TRANSACTION, {}, flag=RESPONSE_FLAG)),
        (True, RemotingCommand(RequestCode.HEART_BEAT, {})),
        (False, RemotingCommand(RequestCode.CHECK_TRANSACTION_STATE, {"tranStateTableOffset": "7"})),
    ]
    seen = [Seen(0, "broker", is_client, encode(command)[4:], at) for at, (is_client, command) in enumerate(said)]
    assert [json.loads(line) for line in client_log(seen).splitlines()] == [
        {"t": 0, "ev": "rpc.req", "code": 37, "header": end},
        {"t": 3, "ev": "check", "msg": {"queueOffset": 7}},
    ]
