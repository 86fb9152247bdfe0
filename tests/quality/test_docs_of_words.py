"""docs/glossary.md names files, RocketMQ's methods, faults, profiles and rules that there are, a term once."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

import spec.language
from conformance.rules_page import rules
from model_check.errors import ModelCheckError
from model_check.world import Profile
from spec.constants import FAULTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (?!term |---)([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
GOLDEN = ROOT / "conformance" / "golden"


@cache
def java() -> set[tuple[str, str]]:
    """RocketMQ's classes and methods that specification or reference broker name."""
    return {*rules()}


def is_a_profile(name: str) -> bool:
    try:
        Profile.of(name)
    except ModelCheckError:
        return False
    return True


def is_there(name: str) -> bool:
    """Whether something of this name is what the glossary may quote."""
    class_name, _, method = name.partition("#")
    return (
        ("/" in name and (ROOT / name).exists())
        or (class_name, method) in java()
        or name in FAULTS
        or name in spec.language.__all__
        or is_a_profile(name)
        or any(GOLDEN.glob(f"*/*/{name}.gz"))
    )


def test_each_term_stands_once_and_is_explained() -> None:
    terms = [term for term, _, _ in ROW.findall(PAGE)]
    assert len(terms) >= 40
    assert len({*terms}) == len(terms)
    fixed = dict.fromkeys(["environment", "world", "counterexample", "schedule"])
    assert {term: meaning.partition(".")[0] for term, meaning, _ in ROW.findall(PAGE) if term in fixed} == {
        "environment": "A set of faults",
        "world": "Profile, environment and instance together: what one search is of",
        "counterexample": "The steps that break a clause, the shortest that there are",
        "schedule": "What a script plays: steps for the specification, a broker, or both",
    }


@pytest.mark.parametrize("name", sorted({*re.findall(r"`([^`]+)`", PAGE)}))
def test_what_is_quoted_is_there(name: str) -> None:
    assert is_there(name), f"{name} is no file, Java method, fault, profile or rule of the language"


@pytest.mark.parametrize("name", ["spec/no_state.py", "TransactionalMessageServiceImpl#nothing", "crashes", "5.3.4+x"])
def test_what_is_not_there_is_found(name: str) -> None:
    assert not is_there(name)
