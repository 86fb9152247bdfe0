"""The numbers of a watch for Prometheus, on a port of this machine, in the text format that it asks for or OpenMetrics.

The names are kept: dashboards and alert rules (docs/monitoring) speak of them.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import typer
from prometheus_client import start_http_server
from prometheus_client.core import (
    CollectorRegistry,
    CounterMetricFamily,
    GaugeHistogramMetricFamily,
    GaugeMetricFamily,
)
from prometheus_client.registry import Collector

from halfcheck.watching.news import AGES_S, Counters, Look

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prometheus_client.core import Metric

LOOPBACK: Final = "127.0.0.1"


class WatchMetrics(Collector):
    """The last look of each source, as metrics.

    Parameters
    ----------
    sources
        The names of all, so that one that was never read shows as such.
    """

    def __init__(self, sources: Iterable[str]) -> None:
        self._looks: dict[str, Look | None] = dict.fromkeys(sources)
        self._reachable: dict[str, bool] = dict.fromkeys(self._looks, False)

    def take(self, look: Look) -> None:
        """A source was read."""
        self._looks[look.source], self._reachable[look.source] = look, True

    def miss(self, source: str) -> None:
        """A source could not be read."""
        self._reachable[source] = False

    def is_reachable(self, source: str) -> bool:
        """Whether the last look could read a source."""
        return self._reachable[source]

    def collect(self) -> Iterator[Metric]:
        """Each metric with the values of all sources."""
        reachable = {(source,): int(is_reachable) for source, is_reachable in self._reachable.items()}
        yield _family(GaugeMetricFamily, "reachable", "1 if the last look could read the source.", (), reachable)
        # With zeros before the first look: Prometheus sees no increase in a counter that begins above them.
        counters = {source: Counters() if look is None else look.counters for source, look in self._looks.items()}
        for name, what, label in _COUNTERS:
            values = {
                (source, value): count
                for source, of_source in counters.items()
                for value, count in getattr(of_source, name).items()
            }
            yield _family(CounterMetricFamily, name, what, (label,), values)
        put_backs = {(source,): of_source.put_backs for source, of_source in counters.items()}
        yield _family(CounterMetricFamily, "put_backs", "Copies that check rounds wrote.", (), put_backs)
        looks = [look for look in self._looks.values() if look is not None]
        for name, what, label, of_look in _BY_LABEL:
            values = {(look.source, value): count for look in looks for value, count in of_look(look).items()}
            yield _family(GaugeMetricFamily, name, what, (label,), values)
        for name, what, of_one in _GAUGES:
            found = {(look.source,): of_one(look) for look in looks}
            known = {labels: value for labels, value in found.items() if value is not None}
            yield _family(GaugeMetricFamily, name, what, (), known)
        yield _pending_ages(looks)


_COUNTERS: Final = (
    ("reported", "Transactions that were reported, by what: each once.", "event"),
    ("findings", "Reported transactions that look like a defect, by its id in the catalogue.", "id"),
    ("discards", "Halves that were discarded: unanswered, or immune and never asked (A09).", "cause"),
)
_BY_LABEL: Final[tuple[tuple[str, str, str, Callable[[Look], Mapping[str, int]]], ...]] = (
    ("transactions", "Transactions by the gravest state that holds.", "state", attrgetter("counts")),
    (
        "producers",
        "Clients that are connected, of groups with a pending transaction.",
        "group",
        attrgetter("producers"),
    ),
)
_GAUGES: Final[tuple[tuple[str, str, Callable[[Look], float | None]], ...]] = (
    ("half_queue_lag", "Messages of the half topic before the check service's offset.", attrgetter("half_left")),
    ("op_queue_lag", "Messages of the op topic before the check service's offset.", attrgetter("op_left")),
    (
        "overdue_halves",
        "Pending halves that no round has visited for three intervals though they are due.",
        attrgetter("overdue"),
    ),
    (
        "last_round_seconds",
        "From the first to the last record of the last round that left any.",
        lambda look: None if look.last_round_ms is None else look.last_round_ms / 1_000,
    ),
    ("look_seconds", "How long the last look took.", attrgetter("seconds")),
    (
        "look_timestamp_seconds",
        "The moment of the last look, by the clock of the source.",
        lambda look: look.at_ms / 1_000,
    ),
    ("remembered_transactions", "Settled transactions whose records are known again.", attrgetter("remembered")),
)


def _family(
    kind: type[GaugeMetricFamily | CounterMetricFamily],
    name: str,
    what: str,
    labels: tuple[str, ...],
    values: Mapping[Any, float],
) -> Metric:
    """One metric; its labels are the source and others, whose values are the keys."""
    family = kind(f"halfcheck_{name}", what, labels=["source", *labels])
    for of_labels, value in values.items():
        family.add_metric(of_labels, value)
    return family


def _pending_ages(looks: Iterable[Look]) -> Metric:
    pending = GaugeHistogramMetricFamily(
        "halfcheck_pending_age_seconds", "Ages of the pending transactions of a group.", labels=["source", "group"]
    )
    for look in looks:
        for group, ages in look.pending.items():
            buckets = [*zip(map(str, AGES_S), ages.up_to.tolist(), strict=True), ("+Inf", ages.count)]
            pending.add_metric([look.source, group], buckets, ages.seconds)
    return pending


@contextmanager
def served(metrics: WatchMetrics, port: int | None) -> Iterator[int | None]:
    """Serve them on a port of the loopback address, 0 for a free one; gives the port, None where none is wanted."""
    if port is None:
        yield None
        return
    registry = CollectorRegistry()
    registry.register(metrics)
    try:
        server, thread = start_http_server(port, LOOPBACK, registry)
    except OSError as error:
        why = "another process listens there" if error.errno == errno.EADDRINUSE else error.strerror
        message = f"--metrics-port {port}: {why}; give another one"
        raise typer.BadParameter(message) from None
    try:
        yield int(server.server_port)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
