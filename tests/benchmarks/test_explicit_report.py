from __future__ import annotations

from benchmarks.explicit.__main__ import report
from benchmarks.explicit.programs import Row, summed_up
from benchmarks.explicit.workloads import STATERIGHT, WORKLOADS


def rows(seconds: float) -> list[Row]:
    runs = [
        {
            "distinct": 6_000_000,
            "generated": 7_000_000,
            "depth": 3,
            "seconds": seconds,
            "state_bytes": 60_000_000,
            "first_level_seconds": 1.5,
        }
    ]
    return [summed_up(work.title, "halfcheck", threads, runs) for work in WORKLOADS.values() for threads in (1, 2)]


def test_a_bar_is_met_by_the_median_rate_and_missed_otherwise() -> None:
    told = report(rows(1.2), {"small check service": 61.0}, 0.1, 5)
    assert "| small check service, 1 thread, distinct states a second | ≥ 4 M | 5.00 M | yes |" in told
    assert "| small check service, 2 threads, distinct states a second | ≥ 6 M | 5.00 M | NO |" in told
    assert "| medium 5.3.3 crash, 2 threads, distinct states a second | ≥ 4 M | 5.00 M | yes |" in told
    assert "| cold compile of small check service, s | ≤ 60 | 61.00 | NO |" in told
    assert "| importing the command line, s | ≤ 0.5 | 0.10 | yes |" in told


def test_a_row_gives_bytes_a_state_and_the_ratio_to_its_own_thread_count() -> None:
    other = Row("small check service", "Stateright 0.30.2", 2, 6_000_000, 7_000_000, 3, (2.0, 3.0, 2.4), 50.0)
    told = report([*rows(1.2), other], {}, 0.1, 5)
    line = next(line for line in told.splitlines() if "Stateright 0.30.2 | 2" in line)
    assert line.endswith("| 2.40 (2.00 … 3.00) | 2.50 M | 50 | 2.00 |")


def test_a_bar_beside_another_program_is_met_missed_or_not_measured() -> None:
    slow, fast = (Row("two-phase commit, 9", STATERIGHT, n, 1, 1, 3, (s,), 50.0) for n, s in ((1, 10.0), (2, 9.0)))
    told = report([*rows(1.2), slow, fast], {}, 0.1, 5)
    assert "| two-phase commit, 9, 1 thread, times Stateright 0.30.2 | ≥ 8 | 8.33 | yes |" in told
    assert "| two-phase commit, 9, 2 threads, times Stateright 0.30.2 | ≥ 8 | 7.50 | NO |" in told
    assert "| medium 5.3.3 quiet, 2 threads, times TLC 2.15 | ≥ 100 | not measured | |" in told
