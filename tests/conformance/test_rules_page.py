"""The page of RocketMQ's rules is what the docstrings say, and no line of theirs is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance import rules_page
from conformance.rules_page import PAGE, UnreadableSourceLineError, page, rules

if TYPE_CHECKING:
    from pathlib import Path


def written(folder: Path, path: str, docstring: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(f'def rule() -> None:\n    """{docstring}\n    """\n', encoding="utf-8")


def test_the_page_is_what_the_sources_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "make rules writes it anew"


def test_a_rule_is_found_on_both_sides() -> None:
    found = {place.name for place in rules()["TransactionalMessageServiceImpl", "needDiscard"]}
    assert {"discard_half", "HalfJudge.need_discard"} <= found


def test_each_line_that_names_rocketmq_is_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules_page, "ROOT", tmp_path)
    written(
        tmp_path,
        "spec/a.py",
        "One.\n\n    RocketMQ: CommitLog.FlushRealTimeService#run → #load; BrokerConfig\n    #x, PR #9523",
    )
    assert sorted(rules()) == [
        ("BrokerConfig", "x"), ("CommitLog.FlushRealTimeService", "load"), ("CommitLog.FlushRealTimeService", "run")
    ]  # fmt: skip
    written(tmp_path, "spec/a.py", "One.\n\n    RocketMQ: nothing that has a name.")
    with pytest.raises(UnreadableSourceLineError, match=r"^spec/a\.py: rule says 'nothing that has a name\.'"):
        rules()
