"""What a switch breaks and mends: on record in the catalogue, and searched with it and without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from model_check.switch_effects import Effect, find_effects, on_record, profiles_around
from model_check.switches import switch_called, switch_records
from model_check.verdicts.searches import KeptSearches, Searches
from spec.profiles import VERSIONS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def searches(folder: Path, most_states: int | None = None) -> Searches:
    return Searches(KeptSearches(folder / "kept.jsonl"), most_states=most_states)


def test_the_repair_of_b01_mends_it_without_op_batches_and_leaves_it_broken_with_them(tmp_path: Path) -> None:
    found = find_effects(switch_called("heeds_settled_originals"), "tiny", searches(tmp_path), ("4.5.1", "4.9.7"))
    mended = [one for one in found.effects if one.change == "mends" and one.clause == "S1.immune_half"]
    assert mended == [Effect("S1.immune_half", release, "quiet", 16, None) for release in ("4.5.1", "4.9.7")]
    assert (found.releases, found.cut_short) == (("4.5.1", "4.9.7"), ())
    assert "S1.immune_half" not in found.still_broken
    left = [one.clause for one in found.effects if one.change == "breaks"]
    assert set(left) == {"L4.left_behind"}, "an op message waits for the last of its halves"


def test_a_search_that_was_cut_short_says_nothing_of_what_it_did_not_find(tmp_path: Path) -> None:
    short = find_effects(switch_called("heeds_settled_originals"), "tiny", searches(tmp_path, 2500), ("4.9.7",))
    assert any("4.9.7 tiny quiet" in name for name in short.cut_short)
    assert not any(one.environment == "quiet" and one.change == "mends" for one in short.effects)


def test_what_is_on_record_is_of_profiles_that_differ_in_the_switch_alone() -> None:
    told = {one.name: one for one in on_record("settles_once")}
    assert {"A11", "A12", "A13", "A14", "A39", "B10", "B16", "B30"} <= set(told)
    assert (told["A13"].clause, told["A13"].depth, told["A13"].mends) == ("S1.doubled_request", 6, True)
    assert [one.mends for one in on_record("heeds_settled_originals")] == [True, True, True, False]
    assert on_record("orders_sends") == ()


def test_a_switch_is_tried_in_every_release_that_has_what_it_needs() -> None:
    for record in switch_records().values():
        around = {release: profiles_around(record, release) for release in VERSIONS}
        assert any(around.values()), record.name
    assert {r for r in VERSIONS if profiles_around(switch_called("flushes_on_stop"), r)} == {
        "5.3.3",
        "5.4.0",
        "5.5.0",
        "5.5.1",
    }
    assert profiles_around(switch_called("keeps_discarded"), "4.9.7") == ("4.9.7-keeps_discarded", "4.9.7")


@pytest.mark.parametrize(
    ("without", "with_it", "change"), [(5, None, "mends"), (None, 5, "breaks"), (5, 7, "later"), (7, 5, "sooner")]
)
def test_what_an_effect_comes_to(without: int | None, with_it: int | None, change: str) -> None:
    effect = Effect("S1.immune_half", "5.4.0", "quiet", without, with_it)
    assert (effect.change, effect.to_json()["change"]) == (change, change)
