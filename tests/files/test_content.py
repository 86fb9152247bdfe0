"""What is nested too deep, has numbers of no sense, or is none of what it is read as, is said in words."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from files.content import MOST_DEPTH, parse_json, parse_toml
from files.errors import BadContentError


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[" * 100_000, "nested deeper than 64"),
        ("[" * 100_000 + "]" * 100_000, "nested deeper than 64"),
        ('{"a":' * 10_000 + "1" + "}" * 10_000, "nested deeper than 64"),
        ("[" * (MOST_DEPTH + 1) + "]" * (MOST_DEPTH + 1), "nested deeper than 64"),
        ("[" + "1," * 50_000 + "[" * 70, "nested deeper than 64"),
        ('["' + "x" * 100_000, "not JSON: Unterminated string starting at, line 1 column 2"),
        ("9" * 5_000, "the number 99999999999999999999… has more than 40 digits"),
        ("[-" + "9" * 41 + "]", "has more than 40 digits"),
        ("[NaN]", "not JSON: NaN is no number there"),
        (b'{"a": "\xff"}', "not UTF-8 text, from byte 7 on"),
        ("", "not JSON: Expecting value, line 1 column 1"),
    ],
)
def test_what_is_no_json_of_sense_is_said(text: str | bytes, complaint: str) -> None:
    with pytest.raises(BadContentError, match=complaint):
        parse_json(text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a = " + "[" * 10_000, "nested deeper than 64"),
        (".".join("a" * 5_000) + " = 1", "nested deeper than 64"),
        ("a = " + "9" * 5_000, "the number 9{20}… has more than 40 digits"),
        ("a = " + "9" * 60, "the number 9{20}… has more than 40 digits"),
        ("a = [", "not TOML: "),
    ],
)
def test_what_is_no_toml_of_sense_is_said(text: str, complaint: str) -> None:
    with pytest.raises(BadContentError, match=complaint):
        parse_toml(text)


def test_whatever_is_no_deeper_than_that_is_what_json_says() -> None:
    random = Random(11)
    for _ in range(300):
        value = made(random, random.randrange(1, MOST_DEPTH))
        assert parse_json(json.dumps(value)) == value
        assert parse_json(json.dumps(value).encode()) == value
    assert parse_json('"' + "[" * 1_000 + '\\""') == "[" * 1_000 + '"'
    assert parse_json('["' + "9" * 60 + '", 1]') == ["9" * 60, 1]
    assert parse_json("[" * MOST_DEPTH + "]" * MOST_DEPTH)


def made(random: Random, depth: int) -> Any:
    """A value in which brackets stand so deep in each other, with strings that look like brackets."""
    texts = ["[[[", '"', "\\", '\\"{', "}", random.randrange(10**20), None, 1.5]
    if depth == 0:
        return random.choice(texts)
    inner = [made(random, depth - 1), *random.choices(texts, k=random.randrange(3)), [], {}]
    return inner if random.random() < 0.5 else {f"{number}[": value for number, value in enumerate(inner)}
