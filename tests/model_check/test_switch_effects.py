"""What a switch breaks and mends: on record in the catalogue, and searched with it and without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from model_check.clauses import clauses_by_name, name_of
from model_check.defects.switch_effects import ClauseEffect, find_effects, on_record, profiles_around
from model_check.instances import load_instance
from model_check.switches import switch_called, switch_records
from model_check.verdicts.searches import CachedSearches, Searches
from model_check.world import NO_FAULTS, Profile

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


IMMUNE_HALF = clauses_by_name()["S1.immune_half"]
OLDEST, OLD = Profile.of("4.5.1"), Profile.of("4.9.7")


def searches(folder: Path, most_states: int | None = None) -> Searches:
    return Searches(CachedSearches(folder / "kept.jsonl"), most_states=most_states)


def test_the_repair_of_b01_mends_it_without_op_batches_and_leaves_it_broken_with_them(tmp_path: Path) -> None:
    record, tiny = switch_called("heeds_settled_originals"), load_instance("tiny")
    found = find_effects(record, tiny, searches(tmp_path), (OLDEST, OLD))
    mended = [one for one in found.effects if one.change == "mends" and one.clause is IMMUNE_HALF]
    assert mended == [ClauseEffect(IMMUNE_HALF, release, NO_FAULTS, 16, None) for release in (OLDEST, OLD)]
    assert (found.releases, found.cut_short) == ((OLDEST, OLD), ())
    assert IMMUNE_HALF not in found.still_broken
    left = [name_of(one.clause) for one in found.effects if one.change == "breaks"]
    assert set(left) == {"L4.left_behind"}, "an op message waits for the last of its halves"


def test_a_search_that_was_cut_short_says_nothing_of_what_it_did_not_find(tmp_path: Path) -> None:
    record, tiny = switch_called("heeds_settled_originals"), load_instance("tiny")
    short = find_effects(record, tiny, searches(tmp_path, 2500), (OLD,))
    assert "4.9.7 tiny quiet" in map(str, short.cut_short)
    assert not any(one.environment == NO_FAULTS and one.change == "mends" for one in short.effects)


def test_what_is_on_record_is_of_profiles_that_differ_in_the_switch_alone() -> None:
    found = {one.name: one for one in on_record("settles_once")}
    assert {"A11", "A12", "A13", "A14", "A39", "B10", "B16", "B30"} <= set(found)
    assert (found["A13"].search.subject, found["A13"].depth, found["A13"].mends) == ("S1.doubled_request", 6, True)
    assert [one.mends for one in on_record("heeds_settled_originals")] == [True, True, True, False]
    assert on_record("orders_sends") == ()


def test_a_switch_is_tried_in_every_release_that_has_what_it_needs() -> None:
    for record in switch_records().values():
        around = {release: profiles_around(record, release) for release in Profile.versions()}
        assert any(around.values()), record.name
    record = switch_called("flushes_on_stop")
    assert {one.name for one in Profile.versions() if profiles_around(record, one)} == {
        "5.3.3",
        "5.4.0",
        "5.5.0",
        "5.5.1",
    }
    assert profiles_around(switch_called("keeps_discarded"), OLD) == (OLD.turn("-keeps_discarded"), OLD)


@pytest.mark.parametrize(
    ("without", "with_it", "change"), [(5, None, "mends"), (None, 5, "breaks"), (5, 7, "later"), (7, 5, "sooner")]
)
def test_what_an_effect_comes_to(without: int | None, with_it: int | None, change: str) -> None:
    effect = ClauseEffect(IMMUNE_HALF, Profile.of("5.4.0"), NO_FAULTS, without, with_it)
    assert (effect.change, effect.to_json()["change"]) == (change, change)
