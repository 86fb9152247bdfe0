"""The ten questions of docs/tables.md, asked of Spark SQL, DuckDB, Polars and pandas, which give the same answers."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import polars as pl
import pytest

from conformance.golden_stores import golden_store
from model_check.world import World
from spark_trace_analysis.audit.audit_folders import write_audit
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.opened_store import StoreQuestion
from spark_trace_analysis.audit.row_files import RowFiles
from spark_trace_analysis.judge.both_ways import judge
from spark_trace_analysis.judge.verdict_table import write_verdicts
from spark_trace_analysis.traces.manifest import Parameters
from spark_trace_analysis.traces.runs import find_runs
from spark_trace_analysis.traces.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import SparkSession

ASKED = tomllib.loads(Path("docs/tables.toml").read_text(encoding="utf-8"))
QUESTIONS = ASKED["question"]
KINDS = (("5.3.3", (), 300), ("5.3.3", ("crash", "lose_end"), 300), ("4.9.7", ("crash",), 200))


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tables below ``build/``, as the page names them."""
    root = tmp_path_factory.mktemp("tables")
    build = root / "build"
    for profile, faults, traces in KINDS:
        parameters = Parameters(World.of(profile, faults, "tiny"), seed=7, traces=traces, steps=25, choice="weighted")
        simulate(spark, parameters, build / "runs" / parameters.partition)
    runs = find_runs(build / "runs")
    write_verdicts(spark, runs, judge(spark, runs), build / "analysis")
    store = golden_store("5.3.3", "late").path
    files = RowFiles(findings_path=build / "findings.parquet")
    write_audit(audit_store(store, question=StoreQuestion(most_events=0), row_files=files), build / "rows")
    return root


@pytest.fixture(scope="module")
def opened(tables: Path, spark: SparkSession) -> Iterable[dict[str, Any]]:
    """The names that the page's code uses, by engine, with the tables opened as the page opens them."""
    names: dict[str, Any] = {
        "spark": {"spark": spark},
        "duckdb": {"duckdb": duckdb.connect()},
        "polars": {"pl": pl},
        "pandas": {"pd": pd},
    }
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tables)
        for engine, known in names.items():
            code = (
                ASKED["open"][engine].replace('"build/', f'"{tables}/build/')
                if engine == "spark"
                else ASKED["open"][engine]
            )
            exec(code, known)  # noqa: S102 (the page's own code)
        yield names
    names["duckdb"]["duckdb"].close()


def answer_of(engine: str, question: dict[str, str], names: dict[str, Any]) -> list[tuple[Any, ...]]:
    known = dict(names[engine])
    if engine == "spark":
        return plain(map(tuple, known["spark"].sql(question["sql"]).collect()))
    if engine == "duckdb":
        return plain(known["duckdb"].execute(question.get("duckdb", question["sql"])).fetchall())
    exec(question[engine], known)  # noqa: S102 (the page's own code)
    answer = known["answer"]
    return plain(answer.iter_rows() if engine == "polars" else answer.itertuples(index=False, name=None))


def plain(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows of texts, numbers and None, whatever an engine makes of them."""
    return [tuple(value_of(value) for value in row) for row in rows]


def value_of(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    number = float(value)
    return None if math.isnan(number) else round(number, 9)


def test_there_are_ten_questions_and_each_is_answered_in_all_engines() -> None:
    assert len(QUESTIONS) == 10
    assert all({"title", "sql", "polars", "pandas"} <= question.keys() for question in QUESTIONS)


@pytest.mark.untraced
@pytest.mark.parametrize("question", QUESTIONS, ids=[question["title"] for question in QUESTIONS])
def test_all_engines_give_the_same_answer(question: dict[str, str], opened: dict[str, Any]) -> None:
    answers = {engine: answer_of(engine, question, opened) for engine in opened}
    assert answers["spark"]
    assert answers == dict.fromkeys(answers, answers["spark"])
