"""Threads run the tasks that are not done yet, all of them or up to the first error, and change nothing of an audit."""

from __future__ import annotations

from threading import Barrier, get_ident
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import golden_store
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.stages.stage_runner import Threads
from tests.spark_trace_analysis.audit.both_audits import FEW, NO_TRACE, assert_same, in_stages

if TYPE_CHECKING:
    from pathlib import Path

COUNT = 6


def test_tasks_run_side_by_side_and_those_that_are_done_are_not_begun(tmp_path: Path) -> None:
    together = Barrier(2, timeout=60)
    threads = {}

    def task(number: int) -> None:
        together.wait()
        threads[number] = get_ident()
        (tmp_path / str(number)).touch()

    (tmp_path / "0").touch()
    (tmp_path / "3").touch()
    Threads(2).run("touch", task, range(COUNT), lambda number: tmp_path / str(number))
    assert sorted(threads) == [1, 2, 4, 5]
    assert get_ident() not in threads.values()
    assert len(list(tmp_path.iterdir())) == COUNT


@pytest.mark.parametrize("count", [1, 2])
def test_the_first_error_ends_a_stage(tmp_path: Path, count: int) -> None:
    begun = []

    def task(number: int) -> None:
        begun.append(number)
        message = f"task {number} failed"
        raise ValueError(message)

    with pytest.raises(ValueError, match=r"task [01] failed"):
        Threads(count).run("fail", task, range(100), lambda number: tmp_path / str(number))
    assert 1 <= len(begun) <= count


@pytest.mark.parametrize("name", ["crash", "late"])
def test_threads_tell_the_same_as_one_pass_over_the_log(name: str) -> None:
    store = golden_store("5.3.3", name).path
    assert_same(audit_store(store, question=NO_TRACE), in_stages(store, Threads(3), **FEW))
