"""The matrix: one table an environment, a hole where nothing was searched."""

from typing import Literal

from spark_trace_analysis.report.data import VerdictRow
from spark_trace_analysis.report.verdict_matrix import matrices


def row(profile: str, environment: tuple[str, ...], clause: str, outcome: Literal["holds", "violated"]) -> VerdictRow:
    return VerdictRow(profile, environment, "small", "S1", clause, outcome, 5, 10, 0.1, (), "halfcheck check", "once")


def test_verdicts_stand_where_their_profile_and_clause_meet() -> None:
    rows = (
        row("4.5.1", (), "a", "holds"),
        row("5.3.3", (), "a", "violated"),
        row("5.3.3", (), "b", "holds"),
        row("5.3.3", ("crash",), "a", "violated"),
    )
    quiet, crash = matrices(rows)
    assert (quiet.environment, quiet.profiles) == ("quiet", ("4.5.1", "5.3.3"))
    found = [[cell and (cell.number, cell.row.verdict) for cell in line.cells] for line in quiet.rows]
    assert found == [[(0, "holds"), (1, "violated")], [None, (2, "holds")]]
    assert (crash.environment, crash.profiles, len(crash.rows)) == ("crash", ("5.3.3",), 1)
    assert quiet.rows[1].sentence == "once"
