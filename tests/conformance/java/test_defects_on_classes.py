"""Do RocketMQ's own classes show the defects that are on record as executed, and is what does not show told?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fuzz.defects.on_classes import TwinsOfReleases, ask_all, findings_of, tasks_of
from fuzz.defects.questions import questions
from fuzz.defects.scenario import BrokerProfile, Seen, scenarios
from fuzz.lockstep.real_replays import RealOutcome
from model_check.defects.catalogue import defect_called
from model_check.defects.findings import CLASSES_FINDINGS
from tests.conformance.java.wanting_maven import MARKS, RELEASE
from tests.sampled import sampled

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = MARKS

RECORDED = CLASSES_FINDINGS.read()


@pytest.fixture(scope="module")
def twins() -> Iterator[TwinsOfReleases]:
    with TwinsOfReleases() as made:
        yield made


@pytest.mark.parametrize("identifier", sampled(["A56", "B12", "B11", "B16", "B36", "B49", "B57"], 2))
def test_a_sample_of_what_is_on_record_is_what_the_classes_do(twins: TwinsOfReleases, identifier: str) -> None:
    (task,) = (task for task in tasks_of(defect_called(identifier)) if task.release == RELEASE)
    replay = task.ask(twins)
    assert replay.outcome is RealOutcome.TAKEN, replay.reason
    assert (RELEASE, replay.steps, task.digits, "") in RECORDED[identifier].asked


@pytest.mark.sweep
def test_a_store_goes_from_the_classes_of_one_release_to_those_of_another(twins: TwinsOfReleases) -> None:
    replay = twins.play(scenarios()["B18"], RELEASE)
    assert replay.outcome is RealOutcome.TAKEN, replay.reason


def test_a_release_that_is_rid_of_a_defect_does_not_show_it(twins: TwinsOfReleases) -> None:
    replay = twins.play(scenarios()["A33"], RELEASE)
    assert (replay.outcome, replay.reason) == (RealOutcome.DIFFERENT, "it does not show the defect")


def test_a_reference_broker_that_does_otherwise_is_told(
    twins: TwinsOfReleases, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = BrokerProfile.of("4.9.7+keeps_flag").switches
    keeps = BrokerProfile(RELEASE, flags)
    monkeypatch.setattr(BrokerProfile, "of", lambda _: keeps)
    ours = replace(scenarios()["B32"], play=lambda profile: Seen(True, scenarios()["B32"].play(profile).facts))
    replay = twins.play(ours, RELEASE)
    assert replay.outcome is RealOutcome.DIFFERENT
    assert replay.reason.startswith("pass: the new bytes of the log is ")


def test_a_question_has_another_answer_where_the_defect_is_gone(twins: TwinsOfReleases) -> None:
    asked = replace(questions()["A32"], releases=(RELEASE,))
    replay = asked.replay(twins.jvm(RELEASE))
    assert (replay.outcome, replay.reason) == (RealOutcome.DIFFERENT, "it does not show the defect")


def test_a_release_without_jars_is_named() -> None:
    found = findings_of(ask_all(tasks_of(defect_called("A30"))))
    assert found["A30"].reason == "no jars of RocketMQ 4.3.0 are kept"
