"""The harness of ``make what-if-real``, as far as it needs no jars: what is measured, simulated beside it, and kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import GOLDEN
from real_brokers.errors import RealBrokerError
from real_brokers.what_if.__main__ import main
from real_brokers.what_if.advised_settings import ADVISED, advice_of, settings_at
from real_brokers.what_if.led_traffic import LedTraffic
from real_brokers.what_if.measures import MEASURES, MeasuredStore
from real_brokers.what_if.page import PAGE, write_page
from real_brokers.what_if.real_run import RunFacts
from real_brokers.what_if.seen import ADVICE_COMPARED, RUNS_COMPARED, ComparedMeasure, ComparedRun
from real_brokers.what_if.simulated_runs import SimulatedTrial
from real_brokers.what_if.trials import RELEASES, TRIALS
from reference.format.java_properties import Setting
from tests.traffic.small_worlds import broker, workload
from tests.traffic.test_sweep_answers import answer
from tests.wire.one_broker import broker as serving
from traffic.simulation.kept_store import simulate_and_keep
from traffic.simulation.simulated_broker import SimulatedBroker
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


def test_a_run_is_simulated_with_its_own_crashes_and_latency_from_the_start_of_its_check_service_on() -> None:
    starts = (7_000, 34_000, 69_000)
    facts = RunFacts(1_500, 3, 40, (24_000, 60_000), (10_000, 9_000), 8_500, (6.0, 200.0), 14.5, {}, starts, (90.0,))
    trial = SimulatedTrial.of(broker("4.9.7"), read_workload(TRIALS["kills"].workload), facts)
    assert trial.lives == ((17_000.0, 10_000.0), (26_000.0, 9_000.0))
    assert (trial.quiet_ms, trial.leads_ms) == (1_500.0, (90.0,))
    assert trial.workload.arrivals.per_second == 14.5
    assert (trial.workload.network.to_broker_ms.p50, trial.workload.network.from_broker_ms.p99) == (3.0, 100.0)


def test_check_rounds_begin_by_when_the_broker_began_not_by_its_first_transaction(tmp_path: Path) -> None:
    """Rounds begin 3 s and 6 s after its start: halves of 2.5 s meet the first of them, those of 3.5 s the second."""
    given = workload(transactions={"per_second": 100}, local={"time": "1ms", "hangs": 1.0})
    names = {"transactionTimeOut": "400", "transactionCheckInterval": "3000", "transactionCheckMax": "2"}
    slow = SimulatedBroker.of("4.9.7", "4.9.7", [Setting(0, name, value) for name, value in names.items()])
    first = []
    for quiet_ms in (2_500.0, 3_500.0):
        folder = tmp_path / f"{quiet_ms}"
        simulate_and_keep(slow, given, 7, 20, folder, quiet_ms=quiet_ms)
        first.append(MeasuredStore.of(folder, "4.9.7").births_to_put_backs()[0])
    assert 0.4 <= first[0] <= 0.5
    assert 2.2 < first[1] <= 2.5


def test_a_round_that_looks_just_before_a_batch_is_written_doubles_more_than_one_just_behind_it(tmp_path: Path) -> None:
    given = workload(transactions={"per_second": 100}, local={"time": {"p50": "300ms", "p99": "6s"}})
    names = {"transactionTimeOut": "2000", "transactionCheckInterval": "3000", "transactionOpBatchInterval": "1000"}
    release = SimulatedBroker.of("5.3.3", "5.3.3", [Setting(0, name, value) for name, value in names.items()])
    doubled = [
        simulate_and_keep(release, given, 7, 1_000, tmp_path / f"{lead}", leads_ms=(lead,)).counts.total("doubled")
        for lead in (50.0, 950.0)
    ]
    assert doubled[1] > 1.5 * doubled[0] > 0


def test_the_facts_of_a_run_are_read_back(tmp_path: Path) -> None:
    given = {
        "transactions": 2, "failed": 0, "checks": 1, "deaths": [5], "away_ms": [7], "began": 1,
        "answered_ms": [1.5, 9.0], "per_second": 2.0, "decided": {"K": 12},
    }  # fmt: skip
    (tmp_path / "run.json").write_text(json.dumps(given), encoding="utf-8")
    started = "2026-11-28 22:44:19.967 INFO TransactionalMessageCheckService - Start transaction check service thread!"
    wrote = "DEBUG TransactionalOpBatchService - Send op message queueIds=[0]"
    began = "INFO TransactionalMessageCheckService - Begin to check prepare message, begin time:"
    lines = [
        started,
        *(f"2026-11-28 22:44:{second}.100 {wrote}" for second in (21, 22, 23)),
        f"2026-11-28 22:44:22.967 {began}{1_795_905_862_967}",
        f"2026-11-28 22:44:23.500 {began}{1_795_905_863_500}",
        f"2026-11-28 22:44:40.000 {began}{1_795_905_880_000}",
    ]
    (tmp_path / "transaction.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    facts = RunFacts.of(tmp_path, TRIALS["kills"])
    assert facts.starts == (1_795_905_859_967,)
    assert facts.leads_ms == ((867 + 400) / 2,)
    assert (facts.deaths, facts.away_ms, facts.answered_ms) == ((5,), (7,), (1.5, 9.0))
    assert facts.decided == {"K": 12}


def test_a_measure_lies_within_from_the_least_simulated_to_the_greatest() -> None:
    def measure(real: float) -> ComparedMeasure:
        return ComparedMeasure("doubled", "of all", real, 0.1, 0.2, 0.3)

    assert [measure(real).is_within for real in (0.09, 0.1, 0.3, 0.31)] == [False, True, True, False]


def test_the_page_says_what_lies_outside(tmp_path: Path) -> None:
    measures = (("doubled", "of all", 0.5, 0.1, 0.2, 0.3), ("put-backs", "each", 2.0, 1.0, 2.0, 3.0))
    run = ComparedRun("4.9.7", "kills", 10, 1.0, (1.0, 2.0), (3.0,), 39, measures)
    write_page({run.name: run}, {}, tmp_path / "page.md")
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
    write_page(seen, ADVICE_COMPARED.read(), tmp_path / "page.md")
    assert PAGE.read_text(encoding="utf-8") == (tmp_path / "page.md").read_text(encoding="utf-8")


def test_what_the_sweeps_advise_was_done_by_real_brokers_for_three_workloads() -> None:
    advice = ADVICE_COMPARED.read()
    assert list(advice) == list(ADVISED)
    for name, one in advice.items():
        assert (one.swept, one.killed_after_s, one.runs) == (ADVISED[name].sweep, ADVISED[name].lives_s(), 39)
        doubled = next(measure for measure in one.compared if measure.name == "doubled")
        assert doubled.after < doubled.before
        assert doubled.gap == pytest.approx(doubled.after - doubled.before, abs=2e-6)


def test_a_broker_is_killed_as_the_workload_has_it_while_transactions_begin() -> None:
    trial = ADVISED["crash-prone"]
    lives = trial.lives_s()
    assert lives == trial.led({}).lives_s
    assert 0 < sum(lives) < trial.transactions / 15
    assert ADVISED["quick"].lives_s() == ()


def test_what_a_sweep_advises_is_written_as_a_broker_reads_it() -> None:
    found = answer(("6s", [(90, 5, 1)] * 3), ("30s", [(5, 5, 1)] * 3))
    best = advice_of(ADVISED["slow"], found)
    assert settings_at(best, found) == {"transactionTimeOut": "30000"}
    assert settings_at(found.yours, found) == {}
    with pytest.raises(RealBrokerError, match="slow: the sweep advises nothing"):
        advice_of(ADVISED["slow"], answer(("6s", [(0, 5, 1)] * 3), ("30s", [(0, 5, 1)] * 3)))


def test_an_advised_run_leaves_to_the_release_what_the_sweep_does_not_change() -> None:
    led = ADVISED["slow"].led({"transactionTimeOut": "30000"})
    assert led.settings["transactionTimeOut"] == "30000"
    assert led.settings["transactionCheckInterval"] == ""


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
    assert (
        "no '5.9.9' here; there are 4.5.1, 4.9.7, 5.3.3, 5.5.0, steady, kills, mixed, advice" in capsys.readouterr().err
    )
