"""Where clients are told that the broker is, whatever it listens on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reference.format.stored_message import host_bytes
from tests.wire.one_broker import broker
from tests.wire.one_producer import OneProducer
from wire.client.channel import Address, BrokerChannel
from wire.errors import WireError
from wire.remoting.codes import RequestCode

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("host", "conf", "advertised"),
    [
        ("127.0.0.1", {}, "127.0.0.1"),
        ("0.0.0.0", {}, "127.0.0.1"),  # noqa: S104 - whoever listens everywhere has to be found somewhere
        ("0.0.0.0", {"brokerIP1": "192.0.2.7"}, "192.0.2.7"),  # noqa: S104
        ("::1", {}, "[::1]"),
    ],
)
def test_a_route_names_an_address_at_which_clients_find_it(
    host: str, conf: dict[str, object], advertised: str, tmp_path: Path
) -> None:
    with broker(tmp_path, host=host, conf=conf) as running:
        address, _, port = running.address.rpartition(":")
        assert address == advertised
        with BrokerChannel(Address("::1" if host == "::1" else "127.0.0.1", int(port))) as client:
            route = client.ask(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": "TBW102"})
            assert f'"brokerAddrs":{{"0":"{advertised}:{port}"}}'.encode() in route.body


def test_clients_are_sent_to_a_port_that_is_mapped_by_a_name_and_records_hold_its_address(tmp_path: Path) -> None:
    with broker(tmp_path) as unmapped:
        port = int(unmapped.address.rpartition(":")[2])
    (tmp_path / "mapped").mkdir()
    with broker(tmp_path / "mapped", port=port, advertised="localhost:4711", brokerIP1="192.0.2.7") as running:
        assert running.address == running.controller.status()["address"] == "localhost:4711"
        with OneProducer(f"127.0.0.1:{port}") as producer:
            route = producer.ask(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": "TBW102"})
            assert b'"brokerAddrs":{"0":"localhost:4711"}' in route.body
            sent = producer.send_message("order-7", is_half=False)
    assert sent.fields["msgId"].lower().startswith(host_bytes("127.0.0.1:4711").hex())


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with broker(tmp_path / "one") as running:
        port = int(running.address.rpartition(":")[2])
        with (
            pytest.raises(WireError, match=f"127.0.0.1:{port}: can't listen there"),
            broker(tmp_path / "two", port=port),
        ):
            pass
