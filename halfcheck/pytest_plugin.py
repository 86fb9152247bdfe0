"""The pytest plugin: a broker that real clients connect to, for one test, and the faults that befall it.

It is found by pytest wherever halfcheck is installed (entry point ``halfcheck``). docs/broker.md shows both fixtures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from halfcheck.broker.run_verdict import RunVerdict
    from wire.broker_thread import BrokerThread
    from wire.control.controller import Controller

MARK = "rocketmq"


@dataclass(slots=True)
class RocketmqBroker:
    """A broker of one test.

    Attributes
    ----------
    address
        Where clients find broker and name server.
    control
        Gives it orders.
    release, store, trace, broker_conf
        Which release it is, what it leaves, and its settings.
    log
        Its log.
    """

    address: str
    control: Controller
    release: str
    store: Path
    trace: Path
    broker_conf: Path
    log: list[str]
    _thread: BrokerThread

    def stop(self) -> RunVerdict:
        """Stop it as its release does; which guarantees the run broke, and which defects it resembles."""
        from halfcheck.broker.run_verdict import judge_run
        from reference.format.broker_conf import read_broker_conf

        self._thread.stop()
        return judge_run(self.trace, self.store, read_broker_conf(self.broker_conf), self.release)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        f"{MARK}(profile=..., speed=..., virtual=..., seed=..., conf={{...}}): what the fixture rocketmq_broker starts",
    )


@pytest.fixture
def rocketmq_broker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RocketmqBroker]:
    """A broker of the newest release in real time, or as the marker ``rocketmq`` says; it is stopped with the test."""
    from halfcheck.options import USUAL_PROFILE
    from wire.broker_thread import BrokerThread
    from wire.node.start import Start

    marker = request.node.get_closest_marker(MARK)
    asked = _options(marker)
    folder = tmp_path / "rocketmq"
    folder.mkdir()
    conf = folder / "broker.conf"
    conf.write_text("".join(f"{key}={value}\n" for key, value in asked["conf"].items()), encoding="utf-8")
    speed = None if asked["virtual"] else float(asked["speed"])
    start = Start.of(
        asked["profile"] or USUAL_PROFILE, folder / "store", conf, speed=speed, seed=asked["seed"], restart_ms=200
    )
    log: list[str] = []
    trace = folder / "trace.jsonl"
    with BrokerThread(start, trace=trace, say=log.append) as thread:
        yield RocketmqBroker(thread.address, thread.controller, start.release, start.store, trace, conf, log, thread)


@pytest.fixture
def rocketmq_faults(rocketmq_broker: RocketmqBroker) -> Controller:
    """What befalls the broker of the test: ``rocketmq_faults.fault("double_end", key="order-7")``."""
    return rocketmq_broker.control


def _options(marker: pytest.Mark | None) -> dict[str, Any]:
    asked: dict[str, Any] = {"profile": None, "speed": 1.0, "virtual": False, "seed": 7, "conf": {}}
    if marker is None:
        return asked
    unknown = [*map(repr, marker.args), *sorted(marker.kwargs.keys() - asked.keys())]
    if unknown:
        message = f"@pytest.mark.{MARK}: {unknown[0]}; it takes {', '.join(asked)} by name"
        raise pytest.UsageError(message)
    return asked | dict(marker.kwargs)
