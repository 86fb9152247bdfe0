"""A simulation whose store is kept: an audit of it finds what the simulation has counted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.opened_store import StoreQuestion
from tests.traffic.small_worlds import broker, workload
from traffic.simulation.event_queue import START_MS
from traffic.simulation.kept_store import simulate_and_keep

if TYPE_CHECKING:
    from pathlib import Path

_NOT_EXPLAINED = StoreQuestion(most_events=0)
_CRASHES = {"every": "1d", "power_loss": 0.0, "restart": "5s"}


@pytest.mark.parametrize("version", ["4.5.1", "5.5.0"])
def test_an_audit_finds_what_was_counted(version: str, tmp_path: Path) -> None:
    slow = workload(local={"time": {"p50": "1s", "p99": "60s"}, "rollback": 0.1, "unknown": 0.1})
    kept = simulate_and_keep(broker(version), slow, 7, 300, tmp_path)
    rows = audit_store(tmp_path, version, question=_NOT_EXPLAINED).transactions
    assert len(rows) == kept.counts.transactions == 300
    assert sum(row.deliveries > 1 for row in rows) == kept.counts.total("doubled") > 0
    assert sum(row.deliveries > 0 for row in rows) == kept.counts.delivered
    assert sum(row.put_backs for row in rows) == kept.counts.checks + kept.counts.unasked


def test_lives_say_when_processes_die_and_for_how_long(tmp_path: Path) -> None:
    kept = simulate_and_keep(
        broker("4.9.7"), workload(crashes=_CRASHES), 7, 400, tmp_path, ((4_000.0, 2_000.0), (3_000.0, 1_000.0))
    )
    assert kept.deaths == (START_MS + 4_000, START_MS + 9_000)
    assert kept.counts.crashes == 2


def test_clients_without_a_heartbeat_on_connect_are_unknown_to_a_broker_that_starts_again(tmp_path: Path) -> None:
    """As 4.9.7's Java client: their sends go on, and checks of the new process reach nobody for up to 30 s."""

    def unasked(*, heartbeat: bool) -> int:
        slow = workload(
            crashes=_CRASHES, local={"unknown": 0.5}, client={"kind": "remoting", "heartbeat_on_connect": heartbeat}
        )
        described = broker("4.9.7")
        rounds = replace(described.settings, transaction_check_interval_ms=1_000, transaction_timeout_ms=500)
        described = replace(described, settings=rounds)
        folder = tmp_path / str(heartbeat)
        return simulate_and_keep(described, slow, 7, 800, folder, ((10_000.0, 1_000.0),)).counts.unasked

    assert unasked(heartbeat=True) == 0
    assert unasked(heartbeat=False) > 50
