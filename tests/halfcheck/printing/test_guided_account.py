"""The account of guided walks, as it is printed and as JSON."""

from __future__ import annotations

import json

import pytest

from halfcheck.commands.simulate import print_account
from model_check.clauses import clauses_by_name
from model_check.instances import load_instance
from model_check.walks.guided.account import Account, Met, estimate

TINY = load_instance("tiny")
RARE = Met(clauses_by_name()["S1.after_a_check"], True, 16_523, 1338, estimate([3e-4, 3.3e-4, 3.6e-4]))
LOST = Met(clauses_by_name()["L5.refused_late"], True, 277_287, None, estimate([0.0, 1.5e-4, 1.5e-4]))
USUAL = Met(clauses_by_name()["S3.not_decided"], False, 21, 1, estimate([0.34, 0.35]))


def test_rare_violations_are_told_with_their_shares_and_traces(capsys: pytest.CaptureFixture[str]) -> None:
    print_account(Account((USUAL, RARE, LOST), {TINY: 115_997, load_instance("small"): 103_793}, 754_132, 15_000))
    told = capsys.readouterr().out.splitlines()
    assert "15,000 walks (973,922 states, 115,997 of tiny and 103,793 of small" in " ".join(told[:2])
    assert "violate 3 clauses, 2 of them rare" in " ".join(told[:2])
    rows = [line.split() for line in told if line.startswith(("S1", "L5"))]
    assert [row[0] for row in rows] == ["L5.refused_late", "S1.after_a_check"]
    assert rows[0][-1] == "-"
    assert rows[1][1:] == ["3.30e-04", "2.63e-04", "to", "4.14e-04", "1338"]
    assert told[-1] == "not rare: S3.not_decided"
    assert "and of no others." in " ".join(" ".join(told).split())


def test_without_estimates_nothing_is_made_up(capsys: pytest.CaptureFixture[str]) -> None:
    print_account(Account((Met(clauses_by_name()["S1.lost_op"], False, 3, 0, None),), {}, 900, 1_000))
    assert capsys.readouterr().out.splitlines() == [
        "guided: 1,000 walks (900 states) violate 1 clauses, 0 of them rare",
        "not rare: S1.lost_op",
    ]


def test_as_json_it_has_the_cost_and_each_clause() -> None:
    told = json.loads(json.dumps(Account((RARE, LOST), {TINY: 10}, 90, 1_000).to_json()))
    assert told["cost"] == {"searched": {"tiny": 10}, "walked": 90, "all": 100}
    assert told["walks"] == 1_000
    assert set(told["met"]) == {"S1.after_a_check", "L5.refused_late"}
    assert told["met"]["S1.after_a_check"]["share"] == pytest.approx(3.3e-4)
    assert set(told["met"]["L5.refused_late"]) == {
        "cost_at_first", "is_rare", "trace", "share", "standard_error", "interval_95", "populations",
    }  # fmt: skip
