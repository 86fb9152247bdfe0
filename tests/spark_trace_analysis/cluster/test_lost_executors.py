"""A job ends where all executors have been gone for long; not where one comes back in time."""

from __future__ import annotations

import pytest

from spark_trace_analysis.cluster.lost_executors import USUAL_SECONDS, VARIABLE, _Watch, longest_wait
from spark_trace_analysis.errors import BadOptionError


def test_jobs_end_when_no_executor_came_for_so_long() -> None:
    counts, times, ended = iter([2, 0, 0, 1, 0, 0, 0]), iter([1.0, 120.0, 200.0, 310.0, 320.0]), []
    watch = _Watch(lambda: next(counts), lambda: ended.append(True), 120.0, lambda: next(times))
    for _ in range(6):
        watch.look()
    assert (ended, watch.is_over) == ([], False)
    watch.look()
    assert (ended, watch.is_over) == ([True], True)


def test_the_wait_is_a_number_of_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    assert longest_wait() == USUAL_SECONDS
    monkeypatch.setenv(VARIABLE, "7")
    assert longest_wait() == 7
    for text in ("soon", "0", "-1"):
        monkeypatch.setenv(VARIABLE, text)
        with pytest.raises(BadOptionError, match=f"{VARIABLE}={text}: expected a number of seconds"):
            longest_wait()
