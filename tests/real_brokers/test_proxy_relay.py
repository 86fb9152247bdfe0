"""The relay between gRPC clients and proxies, before our own proxy; and what its command line refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from real_brokers.proxy import __main__ as behind_proxy
from real_brokers.proxy.relay import GrpcRelay
from real_brokers.proxy.seen import SEEN
from tests.wire.one_producer import OneProducer
from tests.wire.proxy.one_grpc_client import SECONDS, OneGrpcClient, code_of, grpc_broker
from wire.proxy.protocol.messages import TransactionResolution

if TYPE_CHECKING:
    from pathlib import Path

COMMIT = TransactionResolution.COMMIT


def test_a_lost_end_is_answered_and_reaches_no_proxy_once(tmp_path: Path) -> None:
    with (
        grpc_broker(tmp_path) as running,
        GrpcRelay(running.grpc_address, lost=frozenset({"lost"})) as relay,
        OneGrpcClient(relay.address) as client,
        OneProducer(running.address) as reader,
    ):
        client.be_producer()
        for key in ("kept", "lost"):
            client.send(key)
            assert code_of(client.end(key, COMMIT)) == "OK"

        def delivered() -> list[str]:
            return [key for queue_id in range(4) for key in reader.keys(queue_id=queue_id)]

        assert (delivered(), relay.ends_lost) == (["kept"], 1)
        assert code_of(client.end("lost", COMMIT)) == "OK"
        assert sorted(delivered()) == ["kept", "lost"]
        called = [said.call for said in relay.said if said.is_from_client]
        assert called == [
            "Telemetry",
            "SendMessage",
            "EndTransaction",
            "SendMessage",
            "EndTransaction",
            "EndTransaction",
        ]


def test_a_route_names_the_relay(tmp_path: Path) -> None:
    with (
        grpc_broker(tmp_path) as running,
        GrpcRelay(running.grpc_address) as relay,
        OneGrpcClient(relay.address) as client,
    ):
        endpoints = {"scheme": 1, "addresses": [{"host": "127.0.0.1", "port": 1}]}
        route = client.call("QueryRoute", topic={"name": "Orders"}, endpoints=endpoints)
        named = {f"{one.host}:{one.port}" for queue in route.message_queues for one in queue.broker.endpoints.addresses}
        assert named == {relay.address}


def test_a_relay_that_was_away_has_ended_streams_and_is_back_at_its_address(tmp_path: Path) -> None:
    with grpc_broker(tmp_path) as running, GrpcRelay(running.grpc_address, lost=frozenset({"lost"})) as relay:
        address = relay.address
        with OneGrpcClient(address) as client:
            client.be_producer()
            with relay.away():
                assert client.heard.get(timeout=SECONDS) is None
        assert relay.address == address
        with OneGrpcClient(address) as client:
            client.be_producer()
            client.send("lost")
            assert code_of(client.end("lost", COMMIT)) == "OK"
        assert relay.ends_lost == 1


def test_a_scenario_that_is_not_known_is_named_with_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        behind_proxy.main(["no_such_one"])
    assert ended.value.code == 151
    (line,) = capsys.readouterr().err.splitlines()
    assert "no scenario 'no_such_one'; there are commit_behind_a_check, another_service_answers" in line


def test_every_scenario_is_on_record_with_its_story() -> None:
    recorded = SEEN.read()
    assert list(recorded) == list(behind_proxy.SCENARIOS)
    for name, scenario in behind_proxy.SCENARIOS.items():
        story = (scenario.play.__doc__ or "").partition("\n")[0]
        assert (recorded[name].story, recorded[name].defects) == (story, scenario.defects), name
        assert scenario.mode in recorded[name].where
        assert recorded[name].seen_before_ours == scenario.is_for_ours
        before_ours = [fact for fact, _ in recorded[name].ours]
        assert before_ours == ([fact for fact, _ in recorded[name].facts] if scenario.is_for_ours else [])
