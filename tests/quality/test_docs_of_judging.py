"""The table in docs/judging-traces.md says what the judges do."""

from pathlib import Path

from spark_trace_analysis.judge.properties import ALL, NOT_SHOWN

PAGE = Path(__file__).parents[2] / "docs" / "judging-traces.md"


def test_the_table_is_that_of_the_judges() -> None:
    wanted = {
        each.property_id: (each.sentence, each.shows, "every violation" if each.is_exact else "each one shown is real")
        for each in ALL
    }
    wanted |= {name: ("", why, "none") for name, why in NOT_SHOWN.items()}
    table = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")][2:]
    told = {name: tuple(rest) for name, *rest in ([cell.strip() for cell in row.split("|")[1:-1]] for row in table)}
    assert told == wanted
    assert len(table) == len(wanted)


def test_the_properties_that_need_a_producer_are_named() -> None:
    needing = [each.property_id for each in ALL if each.needs]
    assert f"{', '.join(needing[:-1])} and {needing[-1]} are listed as not" in PAGE.read_text().replace("\n", " ")
