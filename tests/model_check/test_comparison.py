"""Two profiles side by side: only what differs, the worst first, and how many are the same."""

from __future__ import annotations

import pytest

from model_check.comparison import Change, Comparison, Difference, Side, compare, counted
from model_check.wording.clauses import clause_names


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def on_tiny(before: str, after: str, *faults: str) -> Comparison:
    return compare(before, after, faults, instances=["tiny"])


def test_a_repair_that_mends_is_seen_with_what_it_mends() -> None:
    found = on_tiny("4.9.7", "4.9.7+heeds_settled_originals")
    mended = {one.clause: one for one in found.differences if one.change is Change.MENDED}
    assert {"S1.immune_half", "S9.immune_half"} <= set(mended)
    assert mended["S1.immune_half"].before == Side("violated", 16, "tiny", ("B01",))
    assert mended["S1.immune_half"].after == Side("holds", None, None, ())
    differing = {one.clause for one in found.differences}
    assert differing.isdisjoint(clause for clauses in found.same.values() for clause in clauses)
    assert len(differing) + sum(map(len, found.same.values())) == len(clause_names())


def test_the_same_profile_twice_differs_in_nothing() -> None:
    found = on_tiny("5.4.0", "5.4.0", "crash")
    assert found.differences == ()
    assert set(found.same) == {"violated", "holds", "cannot occur"}
    assert found.to_json()["differences"] == {}


def test_a_repair_that_does_not_mend_the_clause_alone_is_not_taken_for_useless() -> None:
    found = on_tiny("5.4.0", "5.4.0+heeds_settled_originals")
    through = {one.clause: one for one in found.differences if one.change is Change.THROUGH}
    assert through["S1.immune_half"].before.resembles == ("B01", "A16", "B05")
    assert through["S1.immune_half"].after.resembles == ("A16", "B05")


def test_what_becomes_worse_stands_first() -> None:
    found = on_tiny("4.9.7", "5.3.3", "crash")
    assert found.differences[0].change is Change.BROKEN
    assert "S10.op_entry_dies_with_the_process" in {d.clause for d in found.differences if d.change is Change.BROKEN}
    order = [list(Change).index(one.change) for one in found.differences]
    assert order == sorted(order)
    assert sum(counted(found.differences).values()) == len(found.differences)
    told = found.to_json()["differences"]["S10.op_entry_dies_with_the_process"]
    assert told["change"] == "broken now"
    assert told["after"] == {"verdict": "violated", "depth": 4, "instance": "tiny", "resembles": ["B02"]}


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (("violated", 5), ("violated", 7), Change.LATER),
        (("violated", 7), ("violated", 5), Change.SOONER),
        (("violated", 5), ("violated", 5), Change.THROUGH),
        (("holds", None), ("violated", 5), Change.BROKEN),
        (("unknown", None), ("violated", 5), Change.BROKEN),
        (("violated", 5), ("holds", None), Change.MENDED),
        (("violated", 5), ("cannot occur", None), Change.MENDED),
        (("violated", 5), ("unknown", None), Change.OTHER),
        (("holds", None), ("unknown", None), Change.OTHER),
    ],
)
def test_what_a_difference_comes_to(
    before: tuple[str, int | None], after: tuple[str, int | None], change: Change
) -> None:
    sides = (Side(verdict, depth, None, ()) for verdict, depth in (before, after))
    assert Difference("S1.immune_half", *sides).change is change
