"""The numbers of a watch for Prometheus, on a port of this machine, in the text format that it asks for or OpenMetrics.

The names are kept: dashboards and alert rules (docs/monitoring) speak of them.
"""

from __future__ import annotations

import errno
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

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
    from collections.abc import Iterable, Iterator, Mapping

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

    def _told(self) -> Metric:
        """With zeros before the first look: Prometheus sees no increase in a counter that begins above them."""
        told = CounterMetricFamily(
            "halfcheck_told", "Transactions that were told, by what: each once.", labels=["source", "event"]
        )
        for source, look in self._looks.items():
            for event, count in (Counters() if look is None else look.counters).told.items():
                told.add_metric([source, event], count)
        return told

    def collect(self) -> Iterator[Metric]:
        """Each metric with the values of all sources."""
        reachable = GaugeMetricFamily(
            "halfcheck_reachable", "1 if the last look could read the source.", labels=["source"]
        )
        for source, is_reachable in self._reachable.items():
            reachable.add_metric([source], int(is_reachable))
        yield reachable
        looks = [look for look in self._looks.values() if look is not None]
        yield self._told()
        yield from _of_transactions(looks)
        yield from _of_rounds(looks)
        for name, what, values in (
            ("look_seconds", "How long the last look took.", {one.source: one.seconds for one in looks}),
            (
                "look_timestamp_seconds",
                "The moment of the last look, by the clock of the source.",
                {one.source: one.at_ms / 1_000 for one in looks},
            ),
            (
                "remembered_transactions",
                "Settled transactions whose records are known again.",
                {one.source: one.remembered for one in looks},
            ),
        ):
            yield _gauge(name, what, values)


def _of_transactions(looks: Iterable[Look]) -> Iterator[Metric]:
    transactions = GaugeMetricFamily(
        "halfcheck_transactions", "Transactions by the gravest state that holds.", labels=["source", "state"]
    )
    findings = CounterMetricFamily(
        "halfcheck_findings",
        "Told transactions that look like a defect, by its id in the catalogue.",
        labels=["source", "id"],
    )
    pending = GaugeHistogramMetricFamily(
        "halfcheck_pending_age_seconds", "Ages of the pending transactions of a group.", labels=["source", "group"]
    )
    producers = GaugeMetricFamily(
        "halfcheck_producers",
        "Clients that are connected, of each group with a pending transaction.",
        labels=["source", "group"],
    )
    for look in looks:
        for state, count in look.counts.items():
            transactions.add_metric([look.source, state], count)
        for defect, count in look.counters.findings.items():
            findings.add_metric([look.source, defect], count)
        for group, ages in look.pending.items():
            buckets = [*zip(map(str, AGES_S), ages.up_to, strict=True), ("+Inf", ages.count)]
            pending.add_metric([look.source, group], buckets, ages.seconds)
        for group, count in look.producers.items():
            producers.add_metric([look.source, group], count)
    yield from (transactions, findings, pending, producers)


def _of_rounds(looks: Iterable[Look]) -> Iterator[Metric]:
    put_backs = CounterMetricFamily("halfcheck_put_backs", "Copies that check rounds wrote.", labels=["source"])
    discards = CounterMetricFamily(
        "halfcheck_discards",
        "Halves that were discarded: unanswered, or immune and never asked (A09).",
        labels=["source", "cause"],
    )
    for look in looks:
        put_backs.add_metric([look.source], look.counters.put_backs)
        for cause, count in look.counters.discards.items():
            discards.add_metric([look.source, cause], count)
    yield from (put_backs, discards)
    yield _gauge(
        "half_queue_lag",
        "Messages of the half topic before the check service's offset.",
        {one.source: one.half_left for one in looks},
    )
    yield _gauge(
        "op_queue_lag",
        "Messages of the op topic before the check service's offset.",
        {one.source: one.op_left for one in looks},
    )
    yield _gauge(
        "overdue_halves",
        "Pending halves that no round has visited for three intervals though they are due.",
        {one.source: one.overdue for one in looks},
    )
    yield _gauge(
        "last_round_seconds",
        "From the first to the last record of the last round that left any.",
        {one.source: one.last_round_ms / 1_000 for one in looks if one.last_round_ms is not None},
    )


def _gauge(name: str, what: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(f"halfcheck_{name}", what, labels=["source"])
    for source, value in values.items():
        family.add_metric([source], value)
    return family


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
