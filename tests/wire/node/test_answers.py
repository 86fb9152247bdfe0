"""What is kept of checks that nobody answers is bounded, and how many they were is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wire.node import answers

if TYPE_CHECKING:
    import pytest


def test_of_very_many_checks_without_an_answer_the_latest_are_named_and_all_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answers, "_MOST_OPEN", 3)
    run = answers.Answers()
    for offset in range(10):
        run.check_delivered("group", f"client-{offset % 2}", offset, f"key-{offset}")
    even, odd = run.unanswered()
    assert (even.delivered, even.unanswered, even.keys) == (5, 5, ("key-8",))
    assert (odd.delivered, odd.unanswered, odd.keys) == (5, 5, ("key-7", "key-9"))
    for offset in range(10):
        run.end_came({"commitLogOffset": str(offset)})
    even, odd = run.unanswered()
    assert (even.unanswered, even.keys, odd.unanswered, odd.keys) == (4, (), 3, ())
