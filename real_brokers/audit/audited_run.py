"""One run of a real broker, audited over the network while it runs, and offline.

A moment: the audit over the network, which keeps its copy; then the broker is stopped (SIGSTOP), its folder is copied,
and it goes on. The log of that folder is cut where the copy ends. What stands before that place was written before the
stop, and a broker changes nothing of it, so both are the log of one moment. The check service's offsets are taken from
the network, as the file of them is up to ``flushConsumerOffsetInterval`` older; at the end of the run the broker has
saved them, and the folder is audited as it lies there.
"""

from __future__ import annotations

import re
import shutil
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from conformance.releases.jars import release_called
from files.reading import read_lines
from halfcheck.running_broker import audited_broker
from real_brokers.audit.both_ways import differences
from real_brokers.audit.left_pending import PENDING
from real_brokers.audit.seen import SeenRun
from real_brokers.audit.what_came import Foretold, RestOfRun, checks_in
from real_brokers.rocketmq.broker import RealBroker
from real_brokers.rocketmq.scenarios import scenario_called
from reference.format import consumer_offsets
from reference.format.commit_log import CommitLog
from reference.format.store_paths import store_paths
from reference.format.system_topics import HALF_TOPIC
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.row_files import RowFiles
from wire.client.channel import BrokerChannel, NoAnswerError
from wire.client.queries import end_of_queue
from wire.probe.producers import now_ms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from halfcheck.running_broker import BrokerAudit
    from real_brokers.audit.both_ways import AuditDifference
    from real_brokers.loopback import LoopbackBroker
    from real_brokers.rocketmq.scenarios import RealScenario

SETTINGS: Final = {"transactionCheckInterval": "3000"}
"""Not the one second of the golden stores: a round that reads op messages sleeps a second behind them
(``SLEEP_WHILE_NO_OP``, 5.1.0), which is little beside the 30 s of a broker."""

_SLOW: Final = {"transactionCheckInterval": "10000", "transactionCheckMax": "6"}
"""Of runs in which nearly each round reads op messages, or a broker starts again."""

SCENARIOS: Final = {
    **{name: scenario_called(name) for name in ("five", "late", "immunity")},
    **{name: replace(scenario_called(name), settings=_SLOW) for name in ("mixed", "crash2")},
    "pending": PENDING,
}
"""By name, in the order of the page."""

MOMENTS: Final = (1.5, 2.7, 4.0)
"""How many check intervals behind the first half each moment is, unless the broker is down just then; by the first one
a round has left something, so that it is known when rounds come."""

_GLANCE_S: Final = 0.1
_ROUNDS_MORE: Final = 2
"""So many intervals behind the last time that was foretold the run ends."""
_OF_STORE: Final = ("commitlog", "consumequeue", "config")
_DISCARD: Final = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) .*has been checked too many times.*")
_UNIQUE_KEY: Final = re.compile(r"UNIQ_KEY=(\w+)")


class AuditedBroker(RealBroker):
    """A real broker that is not killed, stopped or started while somebody holds it."""

    def __init__(
        self, version: str, scenario: str, settings: Mapping[str, str], joins: RealBroker | None = None
    ) -> None:
        super().__init__(version, scenario, settings, joins=joins)
        self.held = threading.RLock()
        self.went_away: list[int] = []
        """When it was killed or stopped, in milliseconds since the epoch."""
        self.is_given_up = threading.Event()
        """Nobody leads it any more, as something went wrong."""

    def start_broker(self) -> None:
        """Start it, as nobody holds it."""
        with self.held:
            super().start_broker()

    def kill_broker(self) -> None:
        """Kill it, as nobody holds it."""
        with self.held:
            self.went_away.append(now_ms())
            super().kill_broker()

    def stop_broker(self) -> None:
        """Stop it, as nobody holds it."""
        with self.held:
            self.went_away.append(now_ms())
            super().stop_broker()

    @property
    def is_up(self) -> bool:
        """Whether its process runs."""
        return self._broker.poll() is None


@dataclass(frozen=True, slots=True)
class AuditedMoment:
    """A moment of a run: the audit over the network, and how that of the store differs."""

    name: str
    found: BrokerAudit
    differing: tuple[AuditDifference, ...]

    @classmethod
    def of(cls, broker: LoopbackBroker, name: str) -> AuditedMoment:
        """Audit it both ways while it runs."""
        with TemporaryDirectory(prefix="halfcheck-moment-") as temporary:
            partial, folder = Path(temporary) / "partial", Path(temporary) / "store"
            found = audited_broker(broker.address, partial, None, RowFiles())
            with broker.standing_still():
                for part in _OF_STORE:
                    shutil.copytree(broker.store / part, folder / part, ignore=shutil.ignore_patterns("*.tmp"))
            shutil.copyfile(broker.run / "broker.conf", folder / "broker.conf")
            (folder / f"{consumer_offsets.NAME}.bak").unlink(missing_ok=True)
            shutil.copyfile(partial / consumer_offsets.NAME, folder / consumer_offsets.NAME)
            paths = replace(store_paths(folder), end=found.copy.end)
            return cls(name, found, tuple(differences(found.audit, audit_store(paths, found.copy.release))))

    @classmethod
    def last(cls, broker: LoopbackBroker) -> AuditedMoment:
        """Audit it over the network, stop it, and audit its whole store."""
        found = audited_broker(broker.address, None, None, RowFiles())
        broker.stop_broker()
        return cls("end", found, tuple(differences(found.audit, audit_store(broker.store, found.copy.release))))


def _moments(broker: AuditedBroker) -> list[AuditedMoment]:
    """The moments of a run, each taken at its time behind the first half, beside those who lead the broker."""
    while not _has_halves(broker):
        _glance(broker)
    first = time.monotonic()
    taken: list[AuditedMoment] = []
    for intervals in MOMENTS:
        moment = first + intervals * broker.check_interval_ms / 1_000
        time.sleep(max(moment - time.monotonic(), 0))
        taken.append(_moment(broker, f"moment {len(taken) + 1}"))
    return taken


def _has_halves(broker: AuditedBroker) -> bool:
    try:
        with BrokerChannel(broker.address) as channel:
            return end_of_queue(channel, HALF_TOPIC) > 0
    except NoAnswerError:
        return False


def _moment(broker: AuditedBroker, name: str) -> AuditedMoment:
    while True:
        with broker.held:
            if broker.is_up:
                return AuditedMoment.of(broker, name)
        _glance(broker)


def _glance(broker: AuditedBroker) -> None:
    if broker.is_given_up.wait(_GLANCE_S):
        raise CancelledError


def audited_run(release: str, name: str) -> SeenRun:
    """Lead a broker of a release through a scenario, and audit it at each moment and at the end."""
    scenario: RealScenario = SCENARIOS[name]
    settings = {**SETTINGS, **scenario.settings_for(release_called(release))}
    with AuditedBroker(release, name, settings) as broker, ThreadPoolExecutor(1) as beside:
        moments = beside.submit(_moments, broker)
        try:
            scenario.lead(broker)
        except BaseException:
            broker.is_given_up.set()
            raise
        taken = moments.result()
        times = [half.forecast.discarded_at for moment in taken for half in moment.found.pending if half.forecast]
        until = max(times, default=0) + _ROUNDS_MORE * broker.check_interval_ms
        time.sleep(max(until - now_ms(), 0) / 1_000)
        taken.append(AuditedMoment.last(broker))
        return seen_of(release, name, broker, taken, broker.went_away)


def seen_of(
    release: str, name: str, broker: LoopbackBroker, taken: list[AuditedMoment], went_away: Sequence[int] = ()
) -> SeenRun:
    """Say of a broker that has stopped what its audits have shown, and how its forecasts came.

    `went_away` is when it was killed or stopped in between, in milliseconds since the epoch.
    """
    rows = {row.unique_key: row for row in audit_store(broker.store, taken[-1].found.copy.release).transactions}
    checks_of, logged = checks_in(CommitLog.open(broker.store)), logged_discards(broker.run / "transaction.log")
    interval_ms = int(broker.settings["transactionCheckInterval"])
    held = [
        (moment, one)
        for moment in taken[:-1]
        for rest in [
            RestOfRun(
                end=moment.found.copy.end,
                rows=rows,
                checks_of=checks_of,
                interval_ms=interval_ms,
                logged_discards=logged,
                went_away_at=min((at for at in went_away if at > moment.found.copy.read_at_ms), default=None),
            )
        ]
        for half in moment.found.pending
        for one in rest.held(half)
    ]
    of_kind = {kind: [one.intervals_off for _, one in held if one.what is kind] for kind in Foretold}
    return SeenRun(
        release=release,
        scenario=name,
        moments=tuple(
            (moment.name, len(moment.found.audit.transactions), len(moment.found.pending)) for moment in taken
        ),
        differences=tuple((moment.name, *each) for moment in taken for each in moment.differing),
        halves=len({one.unique_key for _, one in held}),
        checks=len(of_kind[Foretold.CHECK]),
        discards=len(of_kind[Foretold.DISCARD]),
        farthest_check=round(max(of_kind[Foretold.CHECK], default=0.0), 2),
        farthest_discard=round(max(of_kind[Foretold.DISCARD], default=0.0), 2),
        misses=tuple(f"{moment.name}: {one}" for moment, one in held if not one.is_within),
    )


def logged_discards(log: Path) -> dict[str, int]:
    """By unique key when a broker's log of transactions has a half discarded, in milliseconds since the epoch."""
    found: dict[str, int] = {}
    for line in read_lines(log) if log.exists() else ():
        text = line.decode(errors="replace")
        if (said := _DISCARD.match(text)) and (key := _UNIQUE_KEY.search(text)):
            found.setdefault(key[1], round(datetime.fromisoformat(said[1]).timestamp() * 1_000))
    return found
