"""A real broker that the project starts for a probe, and may kill and stop."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.real.real_broker import RealBroker
from conformance.real.releases import fetched_jars, release_called
from wire.client.channel import Address, BrokerChannel
from wire.errors import WireError
from wire.probe.player import FIRST_SAVE_S
from wire.probe.producers import now_ms
from wire.remoting.codes import RequestCode, ResponseCode

if TYPE_CHECKING:
    from collections.abc import Mapping

BUILT: Final = Path(__file__).parents[3] / "build" / "real-broker"


class HostedBroker:
    """A broker of a release on loopback, from entering the context on.

    Attributes
    ----------
    saves_from, died_ms
        See :class:`wire.probe.player.Operator`.

    Raises
    ------
    ConformanceError
        It does not start, or its jars are not to be had.
    """

    def __init__(self, version: str, settings: Mapping[str, str]) -> None:
        release = release_called(version)
        self.saves_from = 0.0
        self.died_ms = 0
        self._real = RealBroker(release, fetched_jars(release, BUILT / "jars"), "probe", settings)

    def __enter__(self) -> HostedBroker:
        self._real.__enter__()
        self.saves_from = time.monotonic() + FIRST_SAVE_S
        return self

    def __exit__(self, *_: object) -> None:
        self._real.__exit__(*_)

    @property
    def address(self) -> Address:
        """Where it listens."""
        return Address("127.0.0.1", int(self._real.settings["listenPort"]))

    @property
    def store(self) -> Path:
        """Its store folder."""
        return self._real.run / "store"

    def kill(self) -> None:
        """SIGKILL, and start it again."""
        self._real.kill_broker()
        self._start()

    def restart(self) -> None:
        """SIGTERM, wait for its end, and start it again."""
        self._real.stop_broker()
        self._start()

    def _start(self) -> None:
        self.died_ms = now_ms()
        self._real.start_broker()
        self.saves_from = time.monotonic() + FIRST_SAVE_S

    def change(self, settings: Mapping[str, str]) -> None:
        """Change settings while it runs, as its operator would (UPDATE_BROKER_CONFIG).

        Raises
        ------
        WireError
            It refuses.
        """
        channel = BrokerChannel(self.address)
        try:
            body = "".join(f"{name}={value}\n" for name, value in settings.items()).encode()
            answer = channel.ask(RequestCode.UPDATE_BROKER_CONFIG, {}, body)
        finally:
            channel.close()
        if answer.code != ResponseCode.SUCCESS:
            message = f"{self.address}: settings are answered {answer.code}: {answer.remark}"
            raise WireError(message)
