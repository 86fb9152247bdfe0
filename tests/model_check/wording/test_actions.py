"""Each action has its wording in the module of its chapter, and each fault its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from model_check.wording import broker, network
from model_check.wording.actions import Wording, box, wordings
from model_check.wording.faults import FAULTS_IN_WORDS
from spec.constants import FAULTS
from spec.transactional_messages import AMONG_OTHERS

if TYPE_CHECKING:
    from collections.abc import Iterator

UNTOLD = {"tick", "end_round_at_queue_end", "end_round_at_fresh_half", "end_round_at_young_half"}


@pytest.fixture
def _anew() -> Iterator[None]:
    wordings.cache_clear()
    yield
    wordings.cache_clear()


def test_each_action_has_a_wording_of_its_own_and_all_are_told_but_time_and_ordinary_ends_of_a_round() -> None:
    found = wordings()
    assert list(found) == [action.name for action in AMONG_OTHERS.actions]
    assert len({id(wording) for wording in found.values()}) == len(found)
    assert {name for name, wording in found.items() if wording.sentence is None} == UNTOLD
    assert all(wording.picture for wording in found.values())


@pytest.mark.usefixtures("_anew")
def test_an_action_without_wording_is_missed_in_the_file_of_its_chapter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(network, "overtake")
    with pytest.raises(LookupError, match=r"^overtake has no wording: give it one in model_check/wording/network.py$"):
        wordings()


@pytest.mark.usefixtures("_anew")
def test_a_wording_of_no_action_of_the_chapter_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "overtake", Wording("", box("Broker", "")), raising=False)
    with pytest.raises(LookupError, match=r"^model_check/wording/broker.py has a wording of overtake: no action of"):
        wordings()


def test_each_fault_is_told_in_its_own_words() -> None:
    assert tuple(FAULTS_IN_WORDS) == FAULTS
    assert len(set(FAULTS_IN_WORDS.values())) == len(FAULTS)
