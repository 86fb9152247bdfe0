"""What is compared with a checkout of before is compared with that, and never with itself."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING

import pytest

from benchmarks.sources import HERE, checkout, run_with

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", ["", "nonexistent"])
def test_a_folder_without_sources_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentTypeError, match="is no checkout of the project"):
        checkout(str(tmp_path / name))
    assert checkout(str(HERE)) == HERE


def test_a_script_imports_the_sources_of_the_other_folder(tmp_path: Path) -> None:
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "__init__.py").write_text("raise SystemExit('the sources of before')", encoding="utf-8")
    told = run_with(tmp_path, "benchmarks/broker/workloads.py", "settle", "5.5.1", "1")
    assert (told.returncode, told.stderr.strip()) == (1, "the sources of before")
