"""Rounds that repeat are told once."""

from __future__ import annotations

from model_check.broker_conf.words import FoldedRounds, ScheduleLine, folded
from spec.language import Step
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

ACTIONS = {action.name: action for action in TRANSACTIONAL_MESSAGES.actions}


def told(milliseconds: int, action: str, words: str) -> ScheduleLine:
    return ScheduleLine(milliseconds, Step(ACTIONS[action], ()), words)


def round_at(seconds: int, half: int, *, answered_after_ms: int = 0) -> list[ScheduleLine]:
    at = 1000 * seconds
    return [
        told(at, "begin_round", f"a check round begins at half {half}"),
        told(at, "put_back_and_check", f"half {half} is put back as half {half + 1} (check {half + 1})"),
        told(at + answered_after_ms, "put_back_unasked", f"the producer answers the check of half {half + 1}: unknown"),
    ]


def test_fourteen_more_rounds_like_the_first_are_one_line_with_all_steps_in_it() -> None:
    sent = told(0, "send_half", "the producer sends transaction 0")
    rounds = [step for n in range(15) for step in round_at(6 + 30 * n, n)]
    shown = folded([sent, *rounds])
    assert shown[:4] == [sent, *rounds[:3]]
    (fold,) = shown[4:]
    assert isinstance(fold, FoldedRounds)
    assert (fold.count, fold.milliseconds, fold.words) == (14, 426_000, "14 more rounds like this, up to here")
    assert list(fold.steps) == rounds[3:]


def test_a_round_in_which_something_else_happens_or_at_another_distance_is_told() -> None:
    first, second, other = round_at(0, 0), round_at(30, 1, answered_after_ms=5), round_at(60, 2)[:2]
    assert folded([*first, *second, *other]) == [*first, *second, *other]


def test_one_more_round_is_told_in_full_and_two_are_folded() -> None:
    two = [*round_at(0, 0), *round_at(30, 1)]
    assert folded(two) == two
    three = folded([*two, *round_at(60, 2)])
    assert len(three) == 4
    assert isinstance(three[3], FoldedRounds)


def test_a_schedule_without_rounds_is_as_it_was() -> None:
    assert folded([told(0, "send_half", "x")]) == [told(0, "send_half", "x")]
    assert folded([]) == []


def test_the_instant_of_a_step_is_told_in_seconds_and_after_an_hour_in_words() -> None:
    assert str(told(6_001, "begin_round", "x")) == "6.001 s  x"
    assert str(told(259_200_001, "begin_round", "x")) == "3 days and 1 ms  x"
