"""Of a copy whose files are of different moments the audit never says lost of what is not, and seldom unknown."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import golden_store, golden_stores
from spark_trace_analysis.audit.audit_store import audit_store
from tests.spark_trace_analysis.audit.both_audits import NO_TRACE, assert_both
from tests.spark_trace_analysis.audit.moments import PARTS, Skewed, moments_of, skewed_copies, write_store

if TYPE_CHECKING:
    from pathlib import Path

STORES = [(one.version, one.scenario) for one in golden_stores() if one.scenario not in ("wide", "mixed", "crash")]
FEW = skewed_copies([one for one in STORES if one[1] in ("late", "five", "immunity")], 12, seed=47)
MANY = skewed_copies(STORES, 60, seed=48)


@cache
def states_in_the_end(version: str, scenario: str) -> dict[str, str]:
    audit = audit_store(golden_store(version, scenario).path, question=NO_TRACE)
    return {row.unique_key: row.state for row in audit.transactions}


def assert_never_lost_falsely(skewed: Skewed, folder: Path) -> None:
    """Hold the audit of a copy against those of the store at that moment and in the end."""
    store = skewed.write(folder / "copy")
    audit = assert_both(store) if skewed in FEW else audit_store(store, question=NO_TRACE)
    then = audit_store(skewed.write_consistent(folder / "consistent"), question=NO_TRACE)
    truth = {row.unique_key: row for row in then.transactions}
    in_the_end = states_in_the_end(skewed.version, skewed.scenario)
    for row in audit.transactions:
        if row.state == "lost":
            assert (truth[row.unique_key].state, in_the_end[row.unique_key]) == ("lost", "lost")
        if row.state == "doubled":
            assert in_the_end[row.unique_key] == "doubled"


@pytest.mark.parametrize("skewed", FEW, ids=str)
def test_a_copy_in_which_one_part_is_older_has_no_false_losses(skewed: Skewed, tmp_path: Path) -> None:
    assert_never_lost_falsely(skewed, tmp_path)


@pytest.mark.sweep
@pytest.mark.parametrize("skewed", MANY, ids=str)
def test_of_60_copies_in_which_one_part_is_older_none_has_false_losses(skewed: Skewed, tmp_path: Path) -> None:
    assert_never_lost_falsely(skewed, tmp_path)


def test_each_part_is_older_in_some_copy() -> None:
    assert {skewed.older for skewed in FEW} == {skewed.older for skewed in MANY} == set(PARTS)
    assert all(skewed.before < skewed.at for skewed in (*FEW, *MANY))


def test_of_files_that_are_of_one_moment_nothing_is_unknown(tmp_path: Path) -> None:
    for version, scenario in (("5.3.3", "late"), ("4.9.7", "five"), ("4.5.1", "five")):
        moments = moments_of(version, scenario)
        for number in range(1, len(moments), len(moments) // 5):
            moment = moments[number]
            store = write_store(golden_store(version, scenario), tmp_path / f"{version}{number}", *[moment] * 3)
            audit = audit_store(store, version, question=NO_TRACE)
            assert audit.counts["unknown"] == 0, (version, number)
            assert not audit.corrupt


def test_a_copy_whose_config_was_read_first_knows_of_every_transaction(tmp_path: Path) -> None:
    moments = moments_of("5.3.3", "five")
    golden = golden_store("5.3.3", "five")
    for number in range(len(moments) // 3, len(moments), len(moments) // 6):
        later = moments[min(number + 2, len(moments) - 1)]
        store = write_store(golden, tmp_path / str(number), later, later, moments[number])
        for row in audit_store(store, question=NO_TRACE).transactions:
            assert row.state != "unknown" or row.unknown_cause == "passed_already"
