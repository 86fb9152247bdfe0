"""An executor that imports other sources than the driver is told in a line, whatever it was to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from model_check.world import World
from spark_trace_analysis.audit.stages.spark_jobs import SparkJobs
from spark_trace_analysis.cluster.session import failures_in_one_line
from spark_trace_analysis.errors import BadOptionError, BadTracesError, SparkFailedError
from spark_trace_analysis.judge.both_ways import judge
from spark_trace_analysis.traces import same_sources
from spark_trace_analysis.traces.manifest import Parameters
from spark_trace_analysis.traces.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from spark_trace_analysis.traces.manifest import TraceRun

SAID: Final = r"has another version of halfcheck, sources \w+, the driver 0000000000"


@pytest.fixture
def another_driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A driver whose sources are none of its workers'."""
    same_sources.sources_here.cache_clear()
    monkeypatch.setattr(same_sources, "source_fingerprint", lambda *_of: "0" * 16)
    yield
    same_sources.sources_here.cache_clear()


@pytest.mark.usefixtures("another_driver")
def test_it_makes_no_traces(spark: SparkSession, tmp_path: Path) -> None:
    parameters = Parameters(World.of("5.3.3", (), "tiny"), seed=7, traces=100, steps=20)
    with pytest.raises(BadOptionError, match=SAID):
        simulate(spark, parameters, tmp_path / "run")
    assert not list((tmp_path / "run").glob("*.parquet"))


@pytest.mark.usefixtures("another_driver")
def test_it_judges_none(spark: SparkSession, simulated: list[TraceRun]) -> None:
    with pytest.raises(BadTracesError, match=SAID):
        judge(spark, simulated)


@pytest.mark.usefixtures("another_driver")
def test_it_audits_nothing(spark: SparkSession, tmp_path: Path) -> None:
    done = tmp_path / "done"

    def audit(text: str) -> None:
        done.write_text(text)

    with pytest.raises(SparkFailedError, match=SAID) as failure, failures_in_one_line():
        SparkJobs(spark).run("scan", audit, ["text"], lambda _: done)
    assert "\n" not in str(failure.value)
    assert not done.exists()
