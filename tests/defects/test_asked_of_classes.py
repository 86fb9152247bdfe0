"""Is what is on record of RocketMQ's own classes what they would be asked now?"""

from __future__ import annotations

import pytest

from fuzz.defects.on_classes import tasks_of
from fuzz.defects.questions import questions
from fuzz.defects.scenario import scenarios
from model_check.defects.catalogue import Where, catalogue
from model_check.defects.findings import CLASSES_FINDINGS

RECORDED = CLASSES_FINDINGS.read()
WITHOUT_SEARCH = [name for name, each in RECORDED.items() if each.by != "schedule"]


@pytest.mark.parametrize("identifier", WITHOUT_SEARCH)
def test_a_scenario_or_question_on_record_is_that_of_now(identifier: str) -> None:
    asked = {(task.release, task.digits, task.by) for task in tasks_of(catalogue()[identifier])}
    one = RECORDED[identifier]
    assert {(release, digits, one.by) for release, _, digits, _ in one.asked} == asked


def test_everything_that_can_be_asked_was() -> None:
    searched = {name for name, defect in catalogue().items() if defect.search is not None}
    assert set(RECORDED) == searched | set(scenarios()) | set(questions())


def test_nothing_on_record_is_a_difference() -> None:
    known = ("it has ", "no jars of ", "truncate_all: ")
    for name, one in RECORDED.items():
        for release, _, _, reason in one.asked:
            assert not reason or reason.startswith(known), f"{name} on {release}: {reason}"


def test_what_needs_no_network_replica_or_race_was_executed() -> None:
    left = {name for name, one in RECORDED.items() if not one.releases}
    assert left == {"A30", "A54", "B51"}
    reached = {name for name, defect in catalogue().items() if defect.where is Where.OUT_OF_REACH and name in RECORDED}
    assert reached == {"A38", "A53", "A55", "A56", "B36"}
