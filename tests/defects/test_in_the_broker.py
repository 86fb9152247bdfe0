"""One test an id: the reference broker shows the defect in the version that has it, and not where it is repaired.

What is expected is written here by hand, after RocketMQ's source; the scenarios in `fuzz/defects/` say only what was
seen. An index or a count stands here as the source gives it, such as 15 checks before a half is given up.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from fuzz.defects.scenario import (
    TEST,
    BrokerProfile,
    Fact,
    PlayedScenario,
    ScenarioError,
    Seen,
    listed,
    play,
    scenarios,
)
from model_check.defects.catalogue import Where, catalogue
from model_check.defects.findings import BROKER_FINDINGS
from tests.defects import expected_of_settings_clients_stores as more

SCHEDULE, TIMER, HALF = "SCHEDULE_TOPIC_XXXX", "rmq_sys_wheel_timer", "RMQ_SYS_TRANS_HALF_TOPIC"

EXPECTED: dict[str, dict[str, tuple[Fact, Fact]]] = {
    **more.EXPECTED,
    "A01": {"moments": (60, 60), "moments at which the half is never checked": (1, 0)},
    "A04": {
        "ends of 3 rounds": (("aborted",) * 3, ("ended_at_fresh_half",) * 3),
        "half offset after each": ((-1, -1, -1), (25, 50, 75)),
        "half messages after each": ((25 + 21, 25 + 2 * 21, 25 + 3 * 21), (50, 75, 100)),
    },
    "A06": {
        "compressed flag of the copy": (1, 1),
        "the copy can be decompressed": (0, 1),
        "of 3 later rounds died of an exception": (3, 0),
        "half offset": (-1, 4 + 3),
        "checks of the half behind it": (0, 3),
    },
    "A22": {
        "topic of the Java client's half": (SCHEDULE, HALF),
        "delivered of the Java client's": (0, 1),
        "topic of another client's half": (SCHEDULE, SCHEDULE),
        "answer to its commit": (0, 0),
        "delivered of another client's": (0, 0),
        "half messages": (2 + 15, 0),
        "scheduled messages": (2 + 15, 2),
        "dropped by the schedule service": (0, 2),
        "checks in 17 rounds": (15, 0),
    },
    "A23": {
        "the producer is told": (None, "Transactional messages do not support delayed delivery"),
        "topic of the half": (TIMER, None),
        "answer to the commit": (0, None),
        "delivered": (0, 0),
        "timer messages": (1, 0),
        "half messages": (2 + 3, 0),
        "op message": ("0,", None),
        "checks in 3 rounds": (3, 0),
        "topic in a check": (HALF, None),
    },
    "A24": {
        "answer to the retry": (0, 0),
        "stored for": (HALF, "%RETRY%consumers"),
        "retries that arrive": (0, 1),
        "checks in 17 rounds": (15, 0),
    },
    "A25": {"checks in 16 rounds": (0, 15), "discard records": (0, 1), "half offset": (16, 16)},
    "A31": {"checks": (15, 15), "half offset": (16, 16), "discard records": (0, 1), "check count in it": (None, "15")},
    "A32": {
        "topic that consumers of the namespace read": ("NS%Orders", "NS%Orders"),
        "REAL_TOPIC of the half": ("Orders", "NS%Orders"),
        "delivered there": (1, 2),
        "delivered to the topic without namespace": (1, 0),
    },
    "A33": {
        "end of the op queue": (6, 6),
        "after a topic was deleted": (0, 6),
        "checks of settled halves": (3, 0),
        "deliveries of the last three": ((2, 2, 2), (1, 1, 1)),
    },
    "A34": {
        "answer to the send": (0, 16),
        "remark": (None, "Sending message to topic[RMQ_SYS_TRANS_OP_HALF_TOPIC] is forbidden."),
        "op messages": (1, 0),
        "the half in the first round": ("settled", "put_back_for_check"),
        "checks in 4 rounds": (0, 4),
    },
    "A40": {"end of the round": ("aborted", "aborted"), "checks in the next 10 intervals": (0, 20)},
    "A43": {"answer to the commit": (0, 0), "op messages after the stop": (0, 1), "deliveries": (2, 1)},
    "A44": {
        "what the acting slave's round did": (
            ("put_back_failed", "ended_by_time_limit"),
            ("escaped", "ended_at_queue_end"),
        ),
        "transactions that are checked there": (0, 2),
    },
    "B07": {
        "bytes of its properties": (32_757, 32_757),
        "failed puts in each of 2 rounds": ((31, 31), (0, 0)),
        "half offset": (-1, 3),
        "the half behind it was checked": (0, 1),
        "discard records": (0, 1),
    },
    "B09": {
        "X's half": (f"{TIMER} 0 at 0", f"{TIMER} 0 at 0"),
        "Y's half": (f"{HALF} 0 at 0", f"{HALF} 0 at 0"),
        "answer to X's rollback": (0, 0),
        "op message": ("0,", None),
        "Y's half in the first round": ("settled", "put_back_for_check"),
        "later checks of Y": (0, 14),
        "deliveries of Y": (0, 0),
        "discard records": (0, 1),
    },
    "B10": {
        "unique key in the END_TRANSACTION": ("K1", "K1"),
        "unique key of half b": ("K9", "K9"),
        "answer": (0, 1),
        "delivered": (("b",), ()),
    },
    "B11": {
        "TRAN_MSG in the delivered message": ("true", None),
        "answer of the other cluster": (0, 0),
        "delivered there": (0, 1),
        "checks there": (15, 0),
        "discard records there": (1, 0),
    },
    "B12": {
        "answer to the retry": (0, 0),
        "stored for": (HALF, "%RETRY%consumers"),
        "retries that arrive": (0, 1),
        "dropped by the schedule service": (1, 0),
        "discard records": (0, 0),
    },
    "B18": {"op message": ("0,1,2,", "0,1,2,"), "half messages": (6, 3), "deliveries of each": ((2, 2, 2), (1, 1, 1))},
    "B24": {
        "rounds of the acting slave": (
            ("null_half ended_at_second_null_half",) * 3,
            ("null_half escaped escaped escaped ended_at_second_null_half", "ended_at_queue_end", "ended_at_queue_end"),
        ),
        "halves that came to the other master": (0, 3),
    },
    "B26": {
        "count in the stored half": ("15", None),
        "the half in the first round": ("discarded", "put_back_for_check"),
        "checks": (0, 1),
        "discard records": (1, 0),
    },
    "B40": {
        "answers": ((0, 0), (0, 0)),
        "exceptions behind an answer": (1, 0),
        "halves": (1, 1),
        "count": (2, 1),
    },
    "B46": {"answers": ((0, 0), (0, 0)), "deliveries": (2, 2), "count": (-1, 0)},
    "A54": {
        "saved": ((1, 1), (1, 1)),
        "count before": (3, 3),
        "halves after": (3, 3),
        "count after": (0, 3),
        "count when all are committed": (-3, 0),
    },
    "B30": {
        "answers to two requests": ((0, 0), (0, 0)),
        "delivered bodies that are stored decompressed": (2, 0),
        "delivered bodies that a consumer can decompress": (0, 2),
        "delivered": (2, 2),
    },
    "B31": {
        "the half after its last check": ("discarded", "discard_failed"),
        "half offset after it": (16, 15),
        "discard records two rounds later": (0, 1),
    },
    "B32": {"flag that was sent": (7, 7), "flag after a commit": (7, 7), "flag after a commit by check": (0, 7)},
    "B33": {"answer to the commit": (0, 0), "queues that consumers read": (1, 1), "queue": (3, 0)},
    "B34": {
        "in the light queue before any END_TRANSACTION": (1, 0),
        "INNER_MULTI_QUEUE_OFFSET of the half": ("0", None),
        "topic of it": (HALF, None),
        "there after two checks and a rollback": (3, 0),
        "delivered": (0, 0),
    },
    "B37": {
        "queue offset in the answer to a plain message": (1_000, 1_000),
        "queue offset in the answer to the half": (1_000, 0),
        "queue offset of the half": (0, 0),
        "answer to the commit": (1, 0),
        "delivered by it": (0, 1),
        "delivered after a check": (1, 1),
    },
    "B38": {"channels": (8, 8), "checks in 8 rounds": (3, 8)},
    "B42": {"puts that the slave's store refused": (60, 0)},
}
"""Fact → what is expected of it in the affected and in the repaired profile."""

SCENARIOS = scenarios()
ELSEWHERE = [
    pytest.param(name, profile, id=f"{name}-{profile}")
    for name, scenario in SCENARIOS.items()
    for profile in scenario.also_in
]


@cache
def played(identifier: str) -> PlayedScenario:
    return play(SCENARIOS[identifier])


@pytest.mark.parametrize("identifier", SCENARIOS)
def test_the_broker_shows_the_defect_and_not_where_it_is_repaired(identifier: str) -> None:
    shown = played(identifier)
    assert (shown.affected.symptom, shown.repaired.symptom) == (True, False)
    for fact, (affected, repaired) in EXPECTED[identifier].items():
        assert shown.affected.facts[fact] == affected, f"{fact} in {shown.scenario.affected}"
        assert shown.repaired.facts[fact] == repaired, f"{fact} in {shown.scenario.repaired_in}"


@pytest.mark.parametrize(("identifier", "profile"), ELSEWHERE)
def test_the_other_profiles_that_are_named_show_it_too(identifier: str, profile: BrokerProfile) -> None:
    assert SCENARIOS[identifier].play(profile).symptom


def test_each_scenario_is_expected_to_show_something_by_which_its_two_profiles_differ() -> None:
    assert set(EXPECTED) == set(SCENARIOS)
    for identifier, facts in EXPECTED.items():
        assert any(affected != repaired for affected, repaired in facts.values()), identifier


def test_no_scenario_is_listed_twice() -> None:
    assert len(scenarios()) == len(listed())


@pytest.mark.parametrize("identifier", SCENARIOS)
def test_a_scenario_fits_its_entry_in_the_catalogue(identifier: str) -> None:
    scenario, defect = SCENARIOS[identifier], catalogue()[identifier]
    assert scenario.property_id in defect.properties
    assert defect.where is not Where.OUT_OF_REACH
    assert scenario.story.endswith(".")
    assert defect.repair
    profiles = (scenario.affected, scenario.repaired_in, *scenario.also_in)
    assert len({profile.switches for profile in profiles}) >= 2
    assert scenario.affected.switches != scenario.repaired_in.switches


def test_what_shows_in_the_broker_only_has_a_scenario_and_99_ids_are_alive() -> None:
    only = {name for name, defect in catalogue().items() if defect.where is Where.BROKER}
    searched = {name for name, defect in catalogue().items() if defect.search is not None}
    assert only <= set(SCENARIOS)
    assert not only & searched
    assert len(searched) == 67
    assert len(searched | set(SCENARIOS)) == 99


def test_what_is_on_record_is_what_is_seen() -> None:
    recorded = BROKER_FINDINGS.read()
    assert list(recorded) == list(SCENARIOS)
    for identifier, finding in recorded.items():
        shown, scenario = played(identifier), SCENARIOS[identifier]
        assert finding.seen == shown.rows
        assert (finding.affected, finding.repaired_in) == (scenario.affected.name, scenario.repaired_in.name)
        assert (finding.story, finding.property_id, finding.also_in) == (
            scenario.story,
            scenario.property_id,
            tuple(map(str, scenario.also_in)),
        )
        assert finding.test == shown.test == f"{TEST}[{identifier}]"


def test_the_test_that_is_named_to_the_user_is_this_one() -> None:
    file, _, name = TEST.partition("::")
    assert __file__.replace("\\", "/").endswith(file)
    assert name == test_the_broker_shows_the_defect_and_not_where_it_is_repaired.__name__


@pytest.mark.parametrize(("affected", "repaired", "says"), [(False, False, "does not show"), (True, True, "shows")])
def test_a_scenario_that_goes_another_way_is_told_with_what_was_seen(affected: bool, repaired: bool, says: str) -> None:
    older, newer = BrokerProfile.of("4.5.1"), BrokerProfile.of("4.9.7")
    seen = {older: Seen(affected, {"copies": (1, 2)}), newer: Seen(repaired, {"copies": (1, 2)})}
    scenario = replace(SCENARIOS["A06"], play=seen.__getitem__, affected=older, repaired_in=newer)
    with pytest.raises(ScenarioError, match=f"{says} the defect: copies: 1, 2"):
        play(scenario)
