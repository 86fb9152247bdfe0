"""Which tests go to one worker, and which go first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import conftest
from conftest import NEEDS_JAVA, ONE_JAVA, ONE_PAGE, group_of, longest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("test", "group"),
    [
        ("tests/defects/test_a02.py::test_the_jump[trio-4.5.1-1]", "trio tests/defects/test_a02.py"),
        ("tests/model_check/explicit/test_paths.py::test_it[tiny-1]", "tiny tests/model_check/explicit"),
        ("tests/defects/test_a15.py::test_what_it_is", "tests/defects/test_a15.py"),
        ("tests/spark_trace_analysis/judge/test_both_ways.py::test_it[tiny]", ONE_JAVA),
        ("tests/halfcheck/verify/test_verify.py::test_it", ONE_JAVA),
        ("tests/html_report/test_page.py::test_it[tiny]", ONE_PAGE),
        ("spec/language.py::spec.language.number", "spec/language.py"),
    ],
)
def test_a_test_goes_with_its_java_its_page_its_instance_or_its_file(test: str, group: str) -> None:
    assert group_of(test) == group


def test_the_files_that_need_java_are_there(pytestconfig: pytest.Config) -> None:
    root: Path = pytestconfig.rootpath
    assert [name for name in NEEDS_JAVA if not list(root.glob(f"{name}*"))] == []


def test_the_longest_group_goes_first_and_one_that_was_not_measured_counts_its_tests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conftest, "MEASURED", {"short": 1.0, "long": 200.0})
    groups = {"short": range(100), "new": range(20), "long": range(1)}
    order = []
    while groups:
        order.append(longest(groups))
        del groups[order[-1]]
    assert order == ["long", "new", "short"]
