"""The example of docs/adding-an-action.md stands in the files that the page names, and in no others."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

import fuzz.actions.broker
import model_check.wording.broker
from fuzz.lockstep.pairing import records_of
from model_check.by_chapter import by_chapter
from model_check.wording.actions import Wording
from spec.chapters import broker
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from spec.language import Machine

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs/adding-an-action.md").read_text(encoding="utf-8")
QUOTED: Final = dict(re.findall(r"^`([\w/]+\.py)`\n\n```\w+\n(.*?)```$", PAGE, re.MULTILINE | re.DOTALL))
ACTION: Final = broker.set_op_offset_back.__name__
WITHOUT_IT: Final = replace(
    TRANSACTIONAL_MESSAGES,
    actions=tuple(a for a in TRANSACTIONAL_MESSAGES.actions if a.function is not broker.set_op_offset_back),
)


@pytest.mark.parametrize("file", QUOTED)
def test_the_lines_stand_in_the_file_as_they_are_quoted(file: str) -> None:
    assert ACTION in QUOTED[file]
    assert QUOTED[file] in (ROOT / file).read_text(encoding="utf-8")


def test_no_other_file_names_the_action() -> None:
    assert len(QUOTED) == 6
    folders = (
        "spec", "model_check", "reference", "fuzz", "html_report", "spark_trace_analysis", "halfcheck", "conformance",
        "traffic", "wire", "real_brokers",
    )  # fmt: skip
    sources = [source for folder in folders for source in (ROOT / folder).rglob("*.py")]
    named = {str(source.relative_to(ROOT)) for source in sources if ACTION in source.read_text(encoding="utf-8")}
    assert named == {file for file in QUOTED if not file.startswith("tests/")}


def told_wording(machine: Machine) -> str:
    with pytest.raises(LookupError) as missed:
        by_chapter("model_check.wording", Wording, "wording", machine)
    return str(missed.value)


def test_a_file_without_it_is_named_as_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    assert f"| the specification | `{told_wording(WITHOUT_IT)}` |" in PAGE
    with pytest.raises(LookupError, match=r"^fuzz/actions/broker.py has a record of set_op_offset_back: no action of"):
        records_of(WITHOUT_IT)
    monkeypatch.delattr(model_check.wording.broker, ACTION)
    assert f"| the wording | `{told_wording(TRANSACTIONAL_MESSAGES)}` |" in PAGE
    monkeypatch.delattr(fuzz.actions.broker, ACTION)
    with pytest.raises(LookupError) as missed:
        records_of(TRANSACTIONAL_MESSAGES)
    assert f"| the lockstep | `{missed.value}` |" in PAGE
