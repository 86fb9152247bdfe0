"""A simulation shows what must follow from its workload, and each defect in the releases that have it alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.traffic.small_worlds import SLOW, broker, causes, counted, workload
from traffic.simulation import simulate as simulation
from traffic.simulation.broker_host import BrokerHost
from traffic.simulation.counts import MEASURES, TrafficCounts
from traffic.simulation.replications import Replication, replications_of

EVENLY: dict[str, Any] = {"per_second": 5, "arrivals": "constant"}


@pytest.mark.parametrize("version", ["4.5.1", "4.9.7", "5.3.3", "5.5.1", "fixed"])
def test_where_nothing_goes_wrong_nothing_does_and_the_network_alone_takes_time(version: str) -> None:
    counts = counted(version, 200, transactions=EVENLY)
    assert counts.transactions == counts.acknowledged == counts.decided_commit == counts.delivered == 200
    assert {measure: counts.total(measure) for measure in MEASURES} == dict.fromkeys(MEASURES, 0)
    assert (counts.checks, counts.sent_again, counts.open_at_end) == (0, 0, 0)
    assert counts.body_bytes == 200 * 100
    # 0.5 ms to the broker, up to 1 ms until it can be read, 0.5 ms to the consumer; cells are one per cent wide
    delay = counts.commit_to_delivery_ms
    assert (delay.total, delay.quantile(1 / 200) > 0.99, delay.most < 2.001) == (200, True, True)
    assert 1.4 < delay.mean < 1.6


@pytest.mark.parametrize(("version", "interval_s"), [("4.5.1", 60), ("4.9.7", 60), ("5.3.3", 30), ("5.5.1", 30)])
def test_a_producer_that_hangs_is_asked_fifteen_times_and_its_half_is_given_up(version: str, interval_s: int) -> None:
    counts = counted(version, 1, transactions=EVENLY, local={"hangs": 1.0})
    # the round that asks for the last time meets the copy, too, and asks whether it is used up before whether it is new
    # (TransactionalMessageServiceImpl#check, #needDiscard): the last answer comes too late
    assert (counts.checks, counts.rounds) == (15, 15)
    assert counts.causes["discarded"] == {"its local transaction hangs": 1}
    assert counts.total("checked_needlessly") == counts.delivered == counts.open_at_end == 0
    # half a millisecond on its way, five until it is answered
    assert counts.simulated_ms == 15_000 * interval_s + 5.5


def test_a_check_max_and_an_interval_of_a_broker_conf_count() -> None:
    from dataclasses import replace

    own = broker("4.9.7")
    settings = replace(own.settings, transaction_check_max=3, transaction_check_interval_ms=10_000)
    counts = simulation.simulate(
        replace(own, settings=settings), workload(transactions=EVENLY, local={"hangs": 1.0}), 7, 1
    )
    assert (counts.checks, counts.total("discarded"), counts.simulated_ms) == (3, 1, 30_005.5)


def test_a_half_that_is_sent_again_is_delivered_twice_but_not_where_it_is_known_as_settled() -> None:
    lossy = {"loss_from_broker": 0.05}
    counts = counted("5.3.3", 300, network=lossy)
    assert counts.twin_halves == counts.sent_again > 5
    assert causes(counts, "doubled") == {"A39"}
    assert counts.twin_halves - 2 <= counts.total("doubled") <= counts.twin_halves  # two may have been sent three times
    assert counted("fixed", 300, network=lossy).total("doubled") == 0


def test_a_remoting_client_has_no_time_for_a_second_attempt_and_its_half_is_an_orphan() -> None:
    counts = counted("5.3.3", 300, client={"kind": "remoting"}, network={"loss_from_broker": 0.05})
    assert (counts.sent_again, counts.twin_halves, counts.total("doubled")) == (0, 0, 0)
    assert counts.sends_failed > 5
    assert counts.delivered == counts.acknowledged == 300 - counts.sends_failed
    assert counts.checks >= counts.sends_failed


@pytest.mark.parametrize(
    ("cause", "has_it", "has_it_not", "sections"),
    [
        ("A02", "4.5.1", "4.9.7", {"local": {"time": SLOW}, "transactions": {"per_second": 4}}),
        ("A11", "5.3.3", "fixed", {"local": {"time": SLOW}}),
        ("B05", "5.3.3", "4.9.7", {"local": {"time": SLOW}}),
        ("B01", "4.9.7", "fixed", {"transactions": {"immunity": "60s"}, "local": {"time": SLOW}}),
        ("B02", "5.3.3", "4.9.7", {"crashes": {"every": "20s", "power_loss": 0.0, "restart": "3s"}}),
        ("B03", "5.3.3", "4.9.7", {"restarts": {"every": "20s", "away": "3s"}}),
    ],
)
def test_a_defect_doubles_messages_in_the_release_that_has_it_alone(
    cause: str, has_it: str, has_it_not: str, sections: dict[str, dict[str, Any]]
) -> None:
    assert cause in causes(counted(has_it, 700, **sections), "doubled")
    assert cause not in causes(counted(has_it_not, 700, **sections), "doubled")


def test_a_listener_that_rolls_back_too_early_delivers_after_a_rollback() -> None:
    counts = counted("5.3.3", 700, local={"time": SLOW}, checks={"while_running": "rollback"})
    assert causes(counts, "delivered_after_rollback") == {"A12"}
    assert counted("5.3.3", 700, local={"time": SLOW}).total("delivered_after_rollback") == 0


def test_a_loss_of_power_takes_what_was_not_flushed_unless_it_is_flushed_at_once() -> None:
    crashes = {"every": "10s", "power_loss": 1.0, "restart": "1s"}
    at_risk = counted("4.9.7", 700, crashes=crashes, local={"time": "2s"})
    assert at_risk.power_losses > 1
    assert "loss of power" in causes(at_risk, "lost")
    from dataclasses import replace

    safe = replace(broker("4.9.7"), flushes_each_message=True)
    counts = simulation.simulate(safe, workload(crashes=crashes, local={"time": "2s"}), 7, 700)
    assert counts.power_losses > 1
    assert "loss of power" not in causes(counts, "lost")


MIXED: dict[str, dict[str, Any]] = {
    "local": {"time": {"p50": "50ms", "p99": "20s"}, "rollback": 0.1, "unknown": 0.1, "hangs": 0.01},
    "network": {"loss_to_broker": 0.01, "loss_from_broker": 0.01},
    "crashes": {"every": "8s", "power_loss": 0.0, "restart": "2s"},
    "deployments": {"every": "40s", "away": "2s"},
    "clocks": {"deviation": "100ms"},
    "disk_stalls": {"every": "10s", "lasts": "500ms"},
}


@pytest.mark.parametrize("version", ["4.9.7", "5.3.3"])
def test_each_committed_message_is_delivered_lost_or_put_aside(version: str) -> None:
    counts = counted(version, 600, **MIXED)
    assert counts.transactions + counts.without_producer == 600
    assert counts.acknowledged + counts.sends_failed <= counts.transactions
    assert counts.open_at_end == 0
    assert counts.crashes > 0
    put_aside = counts.decided_commit - counts.delivered - counts.total("lost")
    assert 0 <= put_aside <= counts.total("discarded")
    assert {"unexplained", "forgotten"}.isdisjoint(set().union(*counts.causes.values()))


def test_the_same_seed_counts_the_same_and_another_one_does_not() -> None:
    first, again, other = (counted("5.3.3", 200, seed, **MIXED).to_json() for seed in (7, 7, 8))
    assert first == again != other


def test_counts_add_up_and_are_read_back() -> None:
    first, second = counted("5.3.3", 200, 1, **MIXED), counted("5.3.3", 100, 2, **MIXED)
    both = first + second
    assert both.to_json() == (second + first).to_json()
    assert both.transactions + both.without_producer == 300
    assert both.total("doubled") == first.total("doubled") + second.total("doubled")
    assert both.commit_to_delivery_ms.total == first.delivered + second.delivered
    assert TrafficCounts.of_json(both.to_json()).to_json() == both.to_json()
    assert (TrafficCounts() + first).to_json() == first.to_json()


def test_replications_have_all_transactions_and_seeds_of_their_own() -> None:
    runs = replications_of(broker("5.3.3"), workload(), 7, 1000, 3)
    assert [run.transactions for run in runs] == [334, 333, 333]
    assert len({run.seed for run in runs}) == 3
    assert Replication.run(runs[0]).transactions == 334


def test_what_is_over_is_forgotten_and_old_files_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts: list[BrokerHost] = []

    class Watched(BrokerHost):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            hosts.append(self)

    monkeypatch.setattr(simulation, "BrokerHost", Watched)
    monkeypatch.setattr("traffic.simulation.broker_host._LOG_FILE_BYTES", 1 << 16)
    counted("5.3.3", 3000, transactions={"per_second": 20})
    host = hosts[0]
    assert host.log_end > 30 * (1 << 16)
    assert len(host.disk.names("commitlog")) < 25
    assert not host.run.ledger.transactions
    assert len(host.run.ledger.halves) < 3000
