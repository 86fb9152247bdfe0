"""A workload fitted to a store: known figures come back within their errors, and what a store hides is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.golden_stores import GOLDEN
from halfcheck.app import run
from halfcheck.errors import ExitCode
from tests.traffic.small_worlds import broker, workload
from traffic.errors import BadWorkloadError
from traffic.fit.fitted_file import fitted_text
from traffic.fit.fitted_workload import Fitted, FittedWorkload, fitted_workload
from traffic.fit.seen_traffic import SeenTraffic
from traffic.simulation.kept_store import simulate_and_keep
from traffic.workload.reading import read_workload

if TYPE_CHECKING:
    from pathlib import Path

KNOWN: dict[str, dict[str, Any]] = {
    "transactions": {"per_second": 20, "arrivals": "poisson", "body_bytes": {"p50": 300, "p99": 2000}},
    "producers": {"count": 3, "groups": 2},
    "local": {"time": {"p50": "200ms", "p99": "2s"}, "rollback": 0.2, "unknown": 0.15, "hangs": 0.03},
    "checks": {"after": "5ms", "unknown": 0.3, "never_run": "rollback"},
    "network": {"to_broker": "0.1ms", "from_broker": "0.1ms", "loss_to_broker": 0, "loss_from_broker": 0},
}
TRANSACTIONS = 900


@pytest.fixture(scope="module", params=["4.5.1", "5.5.0"])
def fitted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> FittedWorkload:
    """Fitted to a store that was simulated with the known figures; rounds are seldom, so that none meets what runs."""
    version, folder = request.param, tmp_path_factory.mktemp("store")
    described = broker(version)
    described = replace(described, settings=replace(described.settings, transaction_check_interval_ms=8_000))
    simulate_and_keep(described, workload(**KNOWN), 11, TRANSACTIONS, folder)
    return fitted_workload(SeenTraffic.of(folder, version), folder)


def is_within(known: float, found: Fitted | None) -> bool:
    """Three standard errors, which one of 400 figures is beyond by chance."""
    assert found is not None
    assert 0 < found.error < known
    return abs(found.value - known) < 3 * found.error


def test_what_was_simulated_comes_back_within_its_errors(fitted: FittedWorkload) -> None:
    assert is_within(20, fitted.per_second)
    assert fitted.is_poisson
    assert is_within(300, fitted.body_bytes.p50)
    assert is_within(2_000, fitted.body_bytes.p99)
    assert is_within(200, fitted.local_ms.p50)
    assert is_within(2_000, fitted.local_ms.p99)
    assert is_within(0.2, fitted.rollback)
    assert is_within(0.15, fitted.unknown)
    assert is_within(0.03, fitted.hangs)
    assert is_within(0.3, fitted.unknown_answers)
    assert len(fitted.seen.groups) == 2
    assert len(fitted.seen.connections) == 3
    assert fitted.seen.transactions == TRANSACTIONS


def test_the_file_asks_for_what_a_store_hides_and_is_a_workload_once_that_is_given(
    fitted: FittedWorkload, tmp_path: Path
) -> None:
    text = fitted_text(fitted, "store")
    asked = {line.split()[1] for line in text.splitlines() if line.startswith("#?")}
    assert {"after", "never_run", "to_broker", "loss_from_broker", "kind", "every"} <= asked
    assert "time" not in asked
    path = tmp_path / "fitted.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadWorkloadError, match=r"checks\.after is missing"):
        read_workload(path)
    given = {"after": '"5ms"', "never_run": '"rollback"', "to_broker": '"1ms"', "from_broker": '"1ms"'}
    given |= {"loss_to_broker": "0.0", "loss_from_broker": "0.0", "kind": '"remoting"'}
    for key, value in given.items():
        text = text.replace(f"#? {key} = …", f"{key} = {value}")
    path.write_text(text, encoding="utf-8")
    assert round(read_workload(path).arrivals.per_second, 3) == round(fitted.per_second.value, 3)


def test_a_store_too_small_to_fit_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["what-if", "--fit", str(GOLDEN / "5.3.3" / "ten")]) == ExitCode.BAD_CONTENT
    out, err = capsys.readouterr()
    assert not out
    assert err.count("\n") == 1
    assert "10 transactions, 4 of them committed by their producer: too few to fit a workload, which takes 200" in err


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shop = tmp_path / "shop.toml"
    shop.write_text("mine", encoding="utf-8")
    code = run(["what-if", "--fit", str(GOLDEN / "5.3.3" / "ten"), "--workload", str(shop)])
    assert code == ExitCode.BAD_OPTION
    assert "with --fit it is written, and it is there already" in capsys.readouterr().err
    assert shop.read_text(encoding="utf-8") == "mine"
