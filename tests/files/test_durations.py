"""Times in words: nothing is lost on the way into words, and no other module writes them in another way."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from files.durations import about, duration, moment

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "conformance",
    "document",
    "fuzz",
    "halfcheck",
    "model_check",
    "real_brokers",
    "reference",
    "spark_trace_analysis",
    "traffic",
    "wire",
)
OWN_WORDS = re.compile(r"/ 1_?000:[^{}]*\} s|/ 60[^{}]*\} min|def show_duration|86_400_000, \"days\"")
UNITS_MS = {"day": 86_400_000, "days": 86_400_000, "h": 3_600_000, "min": 60_000, "s": 1_000, "ms": 1}


def milliseconds_of(words: str) -> int:
    parts = re.findall(r"([\d,.]+) (\w+)", words.replace(" and ", " "))
    return sum(round(float(number.replace(",", "")) * UNITS_MS[unit]) for number, unit in parts)


def test_words_say_a_time_to_the_millisecond() -> None:
    chance = random.Random(7)
    drawn = [chance.randrange(10 ** chance.randint(1, 12)) for _ in range(2_000)]
    whole = [chance.randrange(1, 500) * chance.choice(list(UNITS_MS.values())) for _ in range(500)]
    for milliseconds in (0, 999, 1_000, 59_999, 60_000, *drawn, *whole):
        assert milliseconds_of(duration(milliseconds)) == milliseconds
        assert milliseconds_of(moment(milliseconds)) == milliseconds


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (259_200_001, "3 days and 1 ms"),
        (600_000_000, "6 days 22 h 40 min"),
        (86_400_000, "1 day"),
        (90_061_001, "1 day 1 h 1 min 1.001 s"),
        (3_605_000, "1 h and 5 s"),
        (65_000, "1 min 5 s"),
        (60_001, "1 min and 1 ms"),
        (-1_500, "-1.5 s"),
        (0, "0 s"),
    ],
)
def test_units_that_are_nothing_are_left_out(milliseconds: int, words: str) -> None:
    assert duration(milliseconds) == words


def test_what_is_known_roughly_is_told_in_one_unit_or_in_hours_and_minutes() -> None:
    assert [about(seconds) for seconds in (0.2, 59.4, 59.5, 3_599, 360_000)] == [
        "0 s", "59 s", "1 min", "1 h", "4 days 4 h",
    ]  # fmt: skip


def test_no_other_module_writes_times_in_words() -> None:
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            assert not OWN_WORDS.findall(path.read_text(encoding="utf-8")), path
