"""One run of a real broker under a workload: sent, killed and started as planned, and its store kept for measures."""

from __future__ import annotations

import json
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import pairwise, zip_longest
from math import inf
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final, Self

from conformance.recorded_run import RecordedRun
from conformance.releases.jars import release_called
from conformance.transaction_log import milliseconds, read_boots
from files.content import parse_json
from files.reading import read_text
from files.writing import write_whole
from real_brokers.rocketmq.broker import RealBroker
from real_brokers.what_if.led_traffic import LedTraffic
from reference.format.system_topics import HALF_TOPIC
from traffic.workload.reading import read_workload
from wire.client.channel import BrokerChannel, NoAnswerError
from wire.client.queries import check_offset, end_of_queue
from wire.probe.producers import now_ms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.transaction_log import Boot
    from real_brokers.what_if.trials import TrafficTrial

STORES: Final = Path(__file__).parents[2] / "build" / "what-if-real"
"""A folder a release, in it one a trial."""
RUN_FILE: Final = "run.json"
_BATCHES: Final = re.compile(
    r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) DEBUG \S+ - Send op message queueIds=(\[\S+\])$", re.MULTILINE
)
_MOST_JSON: Final = 16 << 20
_GLANCE_S: Final = 0.5
_GLANCES: Final = 4
"""How often in a row the half queue must be read to its end before a run is over."""
_AT_MOST_S: Final = 150.0


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a run knows beside its store; times are milliseconds since 1970.

    Attributes
    ----------
    transactions
        How many were begun.
    failed
        How many halves their producer gave up.
    checks
        How many checks reached a producer.
    deaths
        When the broker was killed.
    away_ms
        After each of them, when the next process took a connection.
    began
        When the first transaction was begun.
    answered_ms
        The 50th and 99th percentile of the time that a send took.
    per_second
        The transactions a second that were begun.
    decided
        By unique key, when a local transaction ended in a commit.
    starts
        When the check service of each process began to wait for its first round, as its log says. That and nothing
        else decides when rounds come.
    leads_ms
        Of each process how long before a round the op batch thread was last due, the middle of its rounds; none where
        there is no such thread.
    """

    transactions: int
    failed: int
    checks: int
    deaths: tuple[int, ...]
    away_ms: tuple[int, ...]
    began: int
    answered_ms: tuple[float, float]
    per_second: float
    decided: dict[str, int]
    starts: tuple[int, ...] = ()
    leads_ms: tuple[float, ...] = ()

    @classmethod
    def of(cls, store: Path, trial: TrafficTrial) -> Self:
        """Those of a run that was kept; of a golden store little is known beside its records."""
        log = RecordedRun(store).transaction_log()
        boots = read_boots(log, str(store))
        starts, leads_ms = tuple(boot.at for boot in boots), _leads_ms(boots, log)
        if trial.golden:
            return cls(trial.transactions, 0, 0, (), (), 0, (0.0, 0.0), 0.0, {}, starts, leads_ms)
        given: dict[str, Any] = parse_json(read_text(store / RUN_FILE, _MOST_JSON))
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
        }
        return cls(**values, starts=starts, leads_ms=leads_ms)


def _leads_ms(boots: Sequence[Boot], log: str) -> tuple[float, ...]:
    """By the op messages that each process wrote; a round behind none of its own, or far behind, says nothing."""
    written = [milliseconds(at) for at, _ in _BATCHES.findall(log)]
    if not written:
        return ()
    interval_ms = median(later - one for one, later in pairwise(written))
    leads = []
    for boot, following in zip_longest(boots, boots[1:]):
        own = [at for at in written if at >= boot.at and (following is None or at < following.at)]
        gaps = [min((one.at - at for at in own if at <= one.at), default=inf) for one in boot.rounds]
        leads.append(float(median([gap % interval_ms for gap in gaps if gap < 3 * interval_ms] or [0])))
    return tuple(leads)


def led_run(version: str, trial: TrafficTrial, seed: int, out: Path) -> RunFacts:
    """Lead a broker of a release through a trial, and keep its store and what else is known in a folder.

    Raises
    ------
    RealBrokerError, ConformanceError
        As :class:`RealBroker`.
    """
    release = release_called(version)
    settings = {**trial.settings, **(trial.settings_of_5 if release.is_5 else {})}
    with RealBroker(version, trial.name, settings) as broker:
        known = asdict(_led_workload(broker, trial, seed))
        broker.finish(out)
    del known["starts"], known["leads_ms"]  # the log that is kept has them
    write_whole(out / RUN_FILE, json.dumps(known) + "\n")
    return RunFacts.of(out, trial)


def _led_workload(broker: RealBroker, trial: TrafficTrial, seed: int) -> RunFacts:
    workload = read_workload(trial.workload)
    traffic = LedTraffic(broker.address, workload, seed, trial.transactions)
    kills = _Kills(broker, trial.lives_s)
    began, began_ms = time.monotonic(), now_ms()
    with ThreadPoolExecutor(1) as beside:
        killing = beside.submit(kills.run)
        try:
            traffic.run(_Drained(broker, kills, trial.drains_s).goes_on)
        finally:
            kills.ends.set()
        killing.result()
    answered = sorted(traffic.answered_ms) or [0.0]
    lasted_s = max(one.begun_s for one in traffic.all) - began
    return RunFacts(
        len(traffic.all),
        traffic.failed,
        traffic.checks,
        tuple(kills.deaths),
        tuple(kills.away_ms),
        began_ms,
        (answered[len(answered) // 2], answered[len(answered) * 99 // 100]),
        len(traffic.all) / lasted_s,
        traffic.decided,
    )


class _Drained:
    """Whether the check service has read the half queue to its end, for some time."""

    def __init__(self, broker: RealBroker, kills: _Kills, at_most_s: float) -> None:
        self._broker, self._kills, self._at_most_s = broker, kills, at_most_s
        self._next_s = 0.0
        self._glances = 0
        self._until_s = 0.0

    def goes_on(self) -> bool:
        """Whether the producers are still to answer."""
        now = time.monotonic()
        self._until_s = self._until_s or now + self._at_most_s
        if now >= self._until_s:
            return False
        if now >= self._next_s:
            self._next_s = now + _GLANCE_S
            self._glances = self._glances + 1 if self._is_read() else 0
        return self._glances < _GLANCES

    def _is_read(self) -> bool:
        if not self._kills.is_up:
            return False
        try:
            with BrokerChannel(self._broker.address, 3.0) as channel:
                return (check_offset(channel, HALF_TOPIC) or 0) >= end_of_queue(channel, HALF_TOPIC)
        except NoAnswerError:
            return False


class _Kills:
    """Kills a broker whenever a process of it has served for its time, and starts it again at once."""

    def __init__(self, broker: RealBroker, lives_s: tuple[float, ...]) -> None:
        self.ends = threading.Event()
        """Nothing is killed any more."""
        self.is_up = True
        self.deaths: list[int] = []
        self.away_ms: list[int] = []
        self._broker, self._lives_s = broker, lives_s

    def run(self) -> None:
        """Kill it after each of its lives, until it ends; raises `RealBrokerError` where it does not start again."""
        for life_s in self._lives_s:
            if self.ends.wait(life_s):
                return
            self.is_up = False
            self.deaths.append(now_ms())
            self._broker.kill_broker()
            serving = threading.Thread(target=self._note_serving, args=(self.deaths[-1],), daemon=True)
            serving.start()
            self._broker.start_broker()
            serving.join()
            self.is_up = True

    def _note_serving(self, died_ms: int) -> None:
        _wait_until(lambda: _takes_connections(self._broker))
        self.away_ms.append(now_ms() - died_ms)


def _takes_connections(broker: RealBroker) -> bool:
    try:
        BrokerChannel(broker.address, 1.0).close()
    except NoAnswerError:
        return False
    return True


def _wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + _AT_MOST_S
    while not is_so() and time.monotonic() < end:
        time.sleep(0.02)
