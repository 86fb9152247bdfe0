"""Where clients are told that the broker is, whatever it listens on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.wire.one_broker import broker
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
