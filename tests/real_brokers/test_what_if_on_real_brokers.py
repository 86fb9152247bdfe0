"""The harness of ``make what-if-real``, as far as it needs no jars: what is measured, simulated beside it, and kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import GOLDEN
from real_brokers.what_if.__main__ import main
from real_brokers.what_if.led_traffic import LedTraffic
from real_brokers.what_if.measures import MEASURES, MeasuredStore
from real_brokers.what_if.page import PAGE, write_page
from real_brokers.what_if.real_run import RunFacts
from real_brokers.what_if.seen import RUNS_COMPARED, ComparedMeasure, ComparedRun
from real_brokers.what_if.simulated_runs import SimulatedTrial
from real_brokers.what_if.trials import RELEASES, TRIALS
from tests.traffic.small_worlds import broker, workload
from tests.wire.one_broker import broker as serving
from traffic.workload.reading import read_workload
from wire.client.channel import Address

if TYPE_CHECKING:
    from pathlib import Path

DOUBLED = MEASURES[0].name


def test_a_store_of_a_real_broker_is_measured() -> None:
    """The golden `mixed` of 4.5.1: 200 transactions, 67 of them doubled; of its 80 plain commits 59 are."""
    measured = MeasuredStore.of(GOLDEN / "4.5.1" / "mixed", "4.5.1")
    found = measured.values()
    assert found[DOUBLED] == 67 / 200
    assert found["delivered"] == 117 / 200
    assert found["pending at the end"] == 0
    assert "crash to settlement, mean" not in found
    assert 0 < found["birth to delivery, p50"] < found["birth to delivery, p99"] < 60


def test_a_half_that_was_open_as_the_broker_died_is_settled_behind_its_last_death() -> None:
    rows = MeasuredStore.of(GOLDEN / "5.3.3" / "five", "5.3.3").rows
    waits = [row for row in rows if row.put_backs and row.moments.delivered_at is not None]
    (row,) = waits
    stored, delivered = row.moments.stored_at, row.moments.delivered_at
    assert stored is not None
    assert delivered is not None
    deaths = (stored + 1, delivered - 40, delivered + 1)
    assert MeasuredStore([row], 0, deaths).deaths_to_settlements() == [0.04]


def test_a_run_is_simulated_with_its_own_crashes_and_latency() -> None:
    facts = RunFacts(1_500, 3, 40, (24_000, 60_000), (10_000, 9_000), 0, (6.0, 200.0), 14.5, {})
    trial = SimulatedTrial.of(broker("4.9.7"), read_workload(TRIALS["kills"].workload), facts)
    assert trial.lives == ((24_000.0, 10_000.0), (26_000.0, 9_000.0))
    assert trial.workload.arrivals.per_second == 14.5
    assert (trial.workload.network.to_broker_ms.p50, trial.workload.network.from_broker_ms.p99) == (3.0, 100.0)


def test_the_facts_of_a_run_are_read_back(tmp_path: Path) -> None:
    given = {
        "transactions": 2, "failed": 0, "checks": 1, "deaths": [5], "away_ms": [7], "began": 1,
        "answered_ms": [1.5, 9.0], "per_second": 2.0, "decided": {"K": 12},
    }  # fmt: skip
    (tmp_path / "run.json").write_text(json.dumps(given), encoding="utf-8")
    facts = RunFacts.of(tmp_path, TRIALS["kills"])
    assert (facts.deaths, facts.away_ms, facts.answered_ms) == ((5,), (7,), (1.5, 9.0))
    assert facts.decided == {"K": 12}


def test_a_measure_lies_within_from_the_least_simulated_to_the_greatest() -> None:
    def measure(real: float) -> ComparedMeasure:
        return ComparedMeasure("doubled", "of all", real, 0.1, 0.2, 0.3)

    assert [measure(real).is_within for real in (0.09, 0.1, 0.3, 0.31)] == [False, True, True, False]


def test_the_page_says_what_lies_outside(tmp_path: Path) -> None:
    measures = (("doubled", "of all", 0.5, 0.1, 0.2, 0.3), ("put-backs", "each", 2.0, 1.0, 2.0, 3.0))
    run = ComparedRun("4.9.7", "kills", 10, 1.0, (1.0, 2.0), (3.0,), 39, measures)
    write_page({run.name: run}, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "In all 1 of 2 measures of 1 runs lie within." in text
    assert "50.00 % (outside)" in text
    assert "What lies outside" in text


def test_ten_measures_and_more_lie_within_on_each_of_four_releases_and_the_page_is_what_was_seen(
    tmp_path: Path,
) -> None:
    seen = RUNS_COMPARED.read()
    for release in RELEASES:
        within = [
            measure for run in seen.values() if run.release == release for measure in run.compared if measure.is_within
        ]
        assert len(within) >= 10, release
    assert all(run.runs == 39 for run in seen.values())
    write_page(seen, tmp_path / "page.md")
    assert PAGE.read_text(encoding="utf-8") == (tmp_path / "page.md").read_text(encoding="utf-8")


def test_producers_of_a_workload_send_commit_and_answer_checks_over_the_wire(tmp_path: Path) -> None:
    """Before a broker of this project: 30 halves, each third left to its check by an UNKNOWN, or nearly so."""
    given = workload(
        transactions={"per_second": 300}, local={"time": "2ms", "unknown": 0.3}, client={"kind": "remoting"}
    )
    rounds = {"transactionCheckInterval": 200, "transactionTimeOut": 100}
    with serving(tmp_path, "5.5.0", speed=1.0, conf=rounds) as running:
        traffic = LedTraffic(Address.of(running.address), given, 7, 30)
        left = sum_of_unknown = 0

        def goes_on() -> bool:
            nonlocal left, sum_of_unknown
            left = 30 - len(traffic.decided)
            sum_of_unknown = sum(one.says_unknown for one in traffic.all)
            return left > 0 or traffic.checks < sum_of_unknown

        traffic.run(goes_on)
    assert (len(traffic.answered_ms), traffic.failed) == (30, 0)
    assert 0 < sum_of_unknown <= traffic.checks
    assert len(MeasuredStore.of(tmp_path / "store", "5.5.0").rows) == 30


def test_a_name_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["5.9.9"])
    assert ended.value.code == 151
    assert "no '5.9.9' here; there are 4.5.1, 4.9.7, 5.3.3, 5.5.0, steady, kills, mixed" in capsys.readouterr().err
