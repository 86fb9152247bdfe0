"""The pytest plugin: a broker that real clients connect to, for one test, and the faults that befall it.

It is found by pytest wherever halfcheck is installed (entry point ``halfcheck``). docs/broker.md shows both fixtures.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

    from halfcheck.run_verdict import JudgedRun, RunVerdict
    from wire.broker_thread import BrokerThread
    from wire.control.controller import Controller
    from wire.node.start import Start
    from wire.service import ServicePorts

MARK: Final = "rocketmq"

_USUAL_SEED: Final = 7
_RESTART_MS: Final = 200
_LOG: Final = pytest.StashKey[list[str]]()
"""What the broker of a test had to say."""


@dataclass(slots=True)
class RocketmqBroker:
    """A broker of one test: where clients find it and its name server, its control, its files and its log."""

    address: str
    control: Controller
    release: str
    store: Path
    trace: Path
    broker_conf: Path
    log: list[str] = field(repr=False)
    """What the broker has to say of its clients; pytest shows it where the test fails."""
    grpc_addresses: tuple[str, ...]
    """Where gRPC clients connect to, proxy by proxy; none unless the marker says ``grpc=True`` or ``proxies=2``."""
    _thread: BrokerThread = field(repr=False)
    _judged: JudgedRun = field(repr=False)

    @property
    def grpc_address(self) -> str:
        """The first of them; the test fails with a line if there is none."""
        if not self.grpc_addresses:
            pytest.fail(f"this broker has no port for gRPC clients: @pytest.mark.{MARK}(grpc=True) opens one")
        return self.grpc_addresses[0]

    def create_topic(self, topic: str, queues: int = 4, message_type: str = "") -> None:
        """Make a topic as ``mqadmin updateTopic`` does, before its consumers start: they look for a new one every 30 s.

        Parameters
        ----------
        message_type
            ``NORMAL``, ``FIFO``, ``DELAY``, ``TRANSACTION`` or ``MIXED``: what gRPC clients may send to it; NORMAL if
            it is left out. Remoting clients send what they like.

        Raises
        ------
        WireError
            The broker does not take the name, or does not serve now.
        """
        self.control.topic(topic, message_type, queues)

    def wait_for_producer(self, group: str, seconds: float = 60) -> None:
        """Wait until a producer of the group has told the broker of itself, as most clients do every 30 s.

        Before that, also behind a crash or a restart, a check is counted and reaches nobody.

        Raises
        ------
        TimeoutError
            None has, in so many seconds of real time; names the groups that are known.
        """
        self._wait(seconds, producer=group)

    def wait_until_consumed(self, key: str, group: str, times: int = 1, seconds: float = 60) -> None:
        """Wait until a consumer group has consumed a message so often, as far as the broker knows.

        A remoting client does so every 5 s, one that speaks gRPC with each ack.

        Raises
        ------
        TimeoutError
            It has not, in so many seconds of real time; says how often it has, or which messages there are.
        """
        self._wait(seconds, consumed=key, group=group, times=times)

    def _wait(self, seconds: float, **what: object) -> None:
        answer = self.control.order("wait", timeout_ms=int(seconds * 1_000), **what)
        if not answer["came"]:
            message = f"{answer['says']}, within {seconds:g} s"
            raise TimeoutError(message)

    def stop(self) -> RunVerdict:
        """Stop it as its release does; which guarantees the run broke, and which defects it resembles."""
        self._thread.stop()
        return self._judged.verdict(self._thread.node)

    def close(self) -> None:
        """Stop it if it runs; a fault that befell nothing, as under a key that is mistyped, fails the test."""
        self._thread.stop()
        if (node := self._thread.node) is not None and (unused := node.ordered.unused):
            pytest.fail("; ".join(fault["says"] for fault in unused), pytrace=False)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        f"{MARK}({', '.join(f'{name}=...' for name in _TAKES)}): what rocketmq_broker starts",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what the broker had to say, where a test with one has failed."""
    report = yield
    if report.failed and (log := item.stash.get(_LOG, [])):
        report.sections.append((rocketmq_broker.__name__, "\n".join(log)))
    return report


@pytest.fixture
def rocketmq_broker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RocketmqBroker]:
    """A broker of the newest release in real time, or as the marker ``rocketmq`` says; it is closed with the test."""
    from halfcheck.run_verdict import JudgedRun
    from reference.format.broker_conf import read_broker_conf
    from wire.broker_thread import BrokerThread

    folder = tmp_path / "rocketmq"
    marker = request.node.get_closest_marker(MARK)
    start, conf = _start(marker, folder)
    log: list[str] = []
    request.node.stash[_LOG] = log
    trace = folder / "trace.jsonl"
    judged = JudgedRun(trace, start.store, read_broker_conf(conf, start.release), start.release)
    with BrokerThread(start, ports=_ports(marker), trace=trace, say=log.append, judge=judged.as_answer) as thread:
        where = thread.address, thread.controller, start.release, start.store, trace, conf, log, thread.grpc_addresses
        broker = RocketmqBroker(*where, thread, judged)
        yield broker
        broker.close()


@pytest.fixture
def rocketmq_faults(rocketmq_broker: RocketmqBroker) -> Controller:
    """The control that lets faults befall the broker: ``rocketmq_faults.fault("double_end", key="order-7")``."""
    return rocketmq_broker.control


def _start(marker: pytest.Mark | None, folder: Path) -> tuple[Start, Path]:
    """The start that the marker asks for, with its ``broker.conf``; where that can't be, the test fails with a line."""
    from halfcheck.options import USUAL_PROFILE
    from reference.format.broker_conf import settings
    from reference.format.broker_conf_remarks import swallowed_values, unread_keys
    from reference.format.errors import BrokenConfigError
    from wire.node.start import Start

    asked = _asked(marker)
    folder.mkdir()
    conf = folder / "broker.conf"
    conf.write_text("".join(f"{key}={value}\n" for key, value in asked.get("conf", {}).items()), encoding="utf-8")
    speed = None if asked.get("virtual") else float(asked.get("speed", 1))
    profile, seed = asked.get("profile", USUAL_PROFILE), asked.get("seed", _USUAL_SEED)
    try:
        start = Start.of(profile, folder / "store", conf, speed=speed, seed=seed, restart_ms=_RESTART_MS)
        wrong = [key.remark(start.release) for key in unread_keys(conf, start.release)]
        wrong += [remark for _, remark in swallowed_values(settings(conf), start.release)]
        refused = next(iter(wrong), "")
    except (ValueError, BrokenConfigError) as error:
        refused = str(error)
    if not refused:
        return start, conf
    pytest.fail(f"@pytest.mark.{MARK}: {refused}", pytrace=False)


def _ports(marker: pytest.Mark | None) -> ServicePorts:
    from wire.service import ServicePorts

    asked = _asked(marker)
    proxies = asked.get("proxies")
    return ServicePorts(grpc_port=0 if asked.get("grpc") or proxies else None, proxies=proxies)


def _asked(marker: pytest.Mark | None) -> dict[str, Any]:
    asked: dict[str, Any] = {} if marker is None else dict(marker.kwargs)
    for name, value in [*(("", value) for value in (marker.args if marker else ())), *sorted(asked.items())]:
        if name not in _TAKES:
            pytest.fail(
                f"@pytest.mark.{MARK}: {name or repr(value)}; it takes {', '.join(_TAKES)} by name", pytrace=False
            )
        is_right, expected = _TAKES[name]
        if not is_right(value):
            pytest.fail(f"@pytest.mark.{MARK}: {name} is {value!r}, expected {expected}", pytrace=False)
    if asked.get("virtual") and "speed" in asked:
        pytest.fail(f"@pytest.mark.{MARK}: virtual=True and a speed exclude each other; leave one out", pytrace=False)
    return asked


def _can_be_followed(speed: float) -> bool:
    from wire.node.pace import MOST_SPEED

    return 0 < speed <= MOST_SPEED


def _is_some_proxies(value: object) -> bool:
    from wire.node.surroundings import MOST_PROXIES

    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_PROXIES


_TAKES: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    "profile": (lambda value: isinstance(value, str), "a release such as '5.3.3'"),
    "speed": (
        lambda value: isinstance(value, int | float) and not isinstance(value, bool) and _can_be_followed(value),
        "how many times as fast the broker's clock runs, such as 60, at most 100,000",
    ),
    "virtual": (lambda value: isinstance(value, bool), "True for a clock that only push_clock moves"),
    "grpc": (lambda value: isinstance(value, bool), "True for a port that gRPC clients connect to"),
    "proxies": (_is_some_proxies, "1 or 2 for so many proxies in cluster mode"),
    "seed": (lambda value: isinstance(value, int), "a whole number"),
    "conf": (lambda value: isinstance(value, dict), "settings of broker.conf such as {'transactionCheckMax': 3}"),
}
"""By name in the marker: whether a value is one, and what is."""
