"""What a broken clause means is said of every clause once, in one sentence, and agrees with the table of verdicts."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import TYPE_CHECKING

import pytest

from model_check.clauses import chosen_clauses, clause_names, name_of
from model_check.remedies.advice import Situation, remedy
from model_check.verdicts.table import table_of_verdicts
from model_check.wording.clauses import meaning_of, meanings
from model_check.world import Profile
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from spec.language import Property

TABLE = table_of_verdicts()
WITHOUT_A_SEARCHED_RELEASE = "no release is known to do it", "no release does it"


def test_each_clause_has_one_meaning() -> None:
    text = resources.files("model_check.wording").joinpath("clauses.toml").read_text()
    records = [name for kind in tomllib.loads(text).values() for name in kind if name not in ("first", "always")]
    assert sorted(records) == sorted(clause_names())
    assert meanings().keys() == set(TRANSACTIONAL_MESSAGES.clauses)


def test_the_gravest_is_a_lost_message_and_the_least_grave_is_more_work() -> None:
    order = list(dict.fromkeys(meaning.kind for meaning in meanings().values()))
    assert order[:3] == ["lost_for_good", "wrongly_delivered", "delivered_twice"]
    assert order[-1] == "extra_load"
    assert {meaning.gravity for meaning in meanings().values()} == set(range(len(order)))
    once, in_time = chosen_clauses(["S1.immune_half", "S9.immune_half"])
    assert meaning_of(once).gravity < meaning_of(in_time).gravity


@pytest.mark.parametrize("clause", TRANSACTIONAL_MESSAGES.clauses, ids=name_of)
def test_harm_and_remedy_are_one_sentence_each(clause: Property) -> None:
    meaning = meaning_of(clause)
    for text in (meaning.harm, remedy(clause, Situation())):
        assert text == text.strip()
        assert not text.endswith((".", ";"))
        assert "\n" not in text
    assert len(meaning.harm) <= 130


@pytest.mark.parametrize("clause", TRANSACTIONAL_MESSAGES.clauses, ids=name_of)
def test_only_a_clause_that_no_release_breaks_is_called_so(clause: Property) -> None:
    is_broken = any(TABLE.minimal_sets(version, clause) for version in Profile.versions())
    assert is_broken == (not remedy(clause, Situation()).startswith(WITHOUT_A_SEARCHED_RELEASE))
