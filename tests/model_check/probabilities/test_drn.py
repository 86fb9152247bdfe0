"""A chain as a DRN file: read back, it is the same chain, in exact fractions."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from model_check.clauses import clauses_by_name
from model_check.errors import ModelCheckError
from model_check.probabilities.drn import label_of, refuse_other_names, write_drn
from tests.model_check.probabilities.worlds import chain

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def test_the_file_has_each_state_each_label_and_each_probability(tmp_path: Path) -> None:
    whole, clauses, file = chain("4.5.1", "quiet"), tuple(clauses_by_name().values()), tmp_path / "chain.drn"
    write_drn(whole, clauses, file)
    head, _, body = file.read_text().partition("@model\n")
    assert f"@nr_states\n{whole.states}\n@nr_choices\n{whole.states}\n" in head
    states = re.findall(r"^state (\d+)(.*)\n\taction 0\n((?:\t\t.*\n)+)", body, re.MULTILINE)
    assert [int(number) for number, _, _ in states] == list(range(whole.states))
    violating, steps = whole.violating(clauses), whole.steps
    for number, labels, rows in states:
        state = int(number)
        wanted = {label_of(clauses[place]) for place in np.flatnonzero(violating[state])}
        assert set(labels.split()) - {"init"} == wanted
        parts = {int(to): Fraction(part) for to, part in (row.split(" : ") for row in rows.split("\n") if row)}
        assert sum(parts.values()) == 1
        first, last = steps.indptr[state], steps.indptr[state + 1]
        ours = dict(zip(steps.indices[first:last].tolist(), steps.data[first:last].tolist(), strict=True))
        assert {to: float(part) for to, part in parts.items()} == pytest.approx(ours, rel=1e-15)
    assert [number for number, labels, _ in states if "init" in labels.split()] == ["0"]


def test_a_part_of_a_chain_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ModelCheckError, match=r"not all expanded: .* give a larger --max-states$"):
        write_drn(chain("5.3.3", "crash", 20_000), (), tmp_path / "chain.drn")
    assert not list(tmp_path.iterdir())


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelCheckError, match=r"chain\.tra: expected the name of a file that ends in \.drn"):
        refuse_other_names(tmp_path / "chain.tra")
    refuse_other_names(tmp_path / "chain.drn")
