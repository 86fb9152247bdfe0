"""``halfcheck audit --broker --plan``: exact requests for what hangs, what they risk, and nothing that is written."""

from __future__ import annotations

import time
import zlib
from typing import TYPE_CHECKING

import pytest

from halfcheck import app
from halfcheck.plan.plan import read_plan
from reference.format.properties import UNIQUE_KEY
from reference.format.system_topics import HALF_TOPIC
from tests.halfcheck.plan.disorder import LOST, OK, PARKED, PENDING, YOUNG, disorder
from tests.wire.one_broker import broker
from tests.wire.one_producer import GROUP, TOPIC, OneProducer, unique_key
from wire.client.transactions import half_of_check
from wire.remoting.codes import RequestCode
from wire.remoting.messages import properties_text

if TYPE_CHECKING:
    from pathlib import Path

    from halfcheck.plan.plan import BrokerPlan
    from wire.broker_thread import BrokerThread

DISCARDS = "TRANS_CHECK_MAX_TIME_TOPIC"
PREPARED, COMPRESSED = 4, 1


@pytest.mark.parametrize(("profile", "names_topics"), [("4.9.7", False), ("5.3.3", True), ("5.5.1", True)])
def test_a_plan_names_what_hangs_by_the_offsets_that_a_check_names_and_writes_nothing(
    tmp_path: Path, profile: str, *, names_topics: bool
) -> None:
    with disorder(tmp_path, profile) as left:
        checks = [each for each in left.producer.hear() if each.code == RequestCode.CHECK_TRANSACTION_STATE]
        asked = {half.unique_key: half for half in map(half_of_check, checks)}
        before = left.log_end
        assert left.command() == OK
        assert left.log_end == before
        requests, content = left.requests(), left.content()
        (parked,) = left.producer.pulled(DISCARDS, 0)
        lost = next(each for each in left.producer.pulled(HALF_TOPIC, 0) if each.properties[UNIQUE_KEY] == LOST)
    assert list(requests) == [PARKED, LOST, PENDING]
    topic = {"topic": TOPIC} if names_topics else {}
    for key in (LOST, PENDING):
        end = requests[key]
        assert (end["request"], end["code"], end["decision"]) == ("END_TRANSACTION", 37, None)
        assert end["decisions"] == ["commit", "rollback"]
        named = {"tranStateTableOffset": end["record_offset"], "commitLogOffset": end["record_at"]}
        own = {"commitOrRollback": None, "fromTransactionCheck": True, "msgId": key, "transactionId": key}
        assert end["fields"] == {"producerGroup": GROUP} | named | own | topic
    places = {key: (one["record_offset"], one["record_at"]) for key, one in requests.items()}
    assert places[PENDING] == (asked[PENDING].queue_offset, asked[PENDING].commit_log_offset)
    assert places[LOST] == (lost.queue_offset, lost.physical_offset)
    resume = requests[PARKED]
    assert (resume["request"], resume["code"], resume["decision"]) == ("RESUME_CHECK_HALF_MESSAGE", 323, "resume")
    assert resume["fields"]["msgId"][-16:] == f"{parked.physical_offset:016X}"
    assert resume["fields"].get("topic") == (DISCARDS if names_topics else None)
    (young,) = content["withheld"]
    assert (young["unique_key"], young["why"]) == (YOUNG, "it is younger than its immunity: its producer ends it")
    risks = [one["clause"] for one in content["decisions"]["resume"]["may_break"]]
    assert risks == ["S1.resumed_half", "S9.second_half", "R1.too_many_copies"]


def test_it_is_said_in_words_with_the_command_of_each_counterexample(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with disorder(tmp_path, "5.5.1") as left:
        assert left.command() == OK
        words = capsys.readouterr().out
        plan = read_plan(left.file)
    assert "RESUME_CHECK_HALF_MESSAGE (323) msgId=" in words
    assert "END_TRANSACTION (37) producerGroup=order-service tranStateTableOffset=" in words
    assert "no producer of its group answers a check meanwhile" in words
    for one in plan.decisions.values():
        for risk in one["may_break"]:
            assert risk["counterexample"] in words
            assert risk["counterexample"].startswith("halfcheck replay --profile 5.5.1 ")


def test_a_narrower_plan_names_the_decisions_that_it_drops(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with disorder(tmp_path, "5.5.1") as left:
        assert left.command() == OK
        left.decide(lost="commit")
        assert left.command() == OK
        assert (left.requests()[LOST]["decision"], left.content()["notes"]) == ("commit", [])
        capsys.readouterr()
        assert left.command("--state", "pending") == OK
    note = f"the plan that stood here decided about {LOST}, of which this one asks nothing"
    assert left.content()["notes"][0].startswith(note)
    assert f"note: {note}" in " ".join(capsys.readouterr().out.split())


def test_a_release_that_keeps_no_discarded_half_says_so_and_calls_it_lost(tmp_path: Path) -> None:
    with disorder(tmp_path, "4.5.1") as left:
        assert left.command() == OK
        content, requests = left.content(), left.requests()
    assert [(one["request"], one["state"]) for one in requests.values()] == [
        ("END_TRANSACTION", "lost"), ("END_TRANSACTION", "lost"), ("END_TRANSACTION", "pending"),
    ]  # fmt: skip
    assert "4.5.1 keeps no discarded half and knows no RESUME_CHECK_HALF_MESSAGE" in content["notes"][0]
    assert list(content["decisions"]) == ["commit", "rollback"]


@pytest.mark.parametrize(
    ("profile", "hours", "why"),
    [
        ("5.5.1", 1, "it is older than fileReservedTime (1 h): a round would discard it again unasked (B30)"),
        ("5.5.1", 72, ""),
    ],
)
def test_an_old_half_is_not_resumed_since_a_round_would_discard_it_again(
    tmp_path: Path, profile: str, hours: int, why: str
) -> None:
    conf = {"transactionTimeOut": 6_000, "transactionCheckMax": 1, "fileReservedTime": hours}
    with broker(tmp_path, profile, conf=conf) as running, OneProducer(running.address) as producer:
        running.controller.topic(TOPIC)
        producer.half("old")
        running.controller.push_clock(2 * 3_600_000)
        plan = planned(running, tmp_path)
    assert [one.request for one in plan.requests] == ([] if why else ["RESUME_CHECK_HALF_MESSAGE"])
    assert [one.why.startswith(why) for one in plan.withheld] == ([True] if why else [])


@pytest.mark.parametrize(("profile", "is_planned"), [("4.9.7", False), ("5.3.3", True), ("5.5.1", True)])
def test_a_compressed_half_is_resumed_only_where_its_body_stays_readable(
    tmp_path: Path, profile: str, *, is_planned: bool
) -> None:
    with broker(tmp_path, profile, conf={"transactionTimeOut": 6_000, "transactionCheckMax": 1}) as running:
        with OneProducer(running.address) as producer:
            running.controller.topic(TOPIC)
            properties = {"TRAN_MSG": "true", "PGROUP": GROUP, "UNIQ_KEY": unique_key("z"), "WAIT": "true"}
            fields = {
                "a": GROUP, "b": TOPIC, "c": "TBW102", "d": 4, "e": 1, "f": PREPARED | COMPRESSED,
                "g": time.time_ns() // 1_000_000, "h": 0, "i": properties_text(properties), "j": 0, "k": False,
                "m": False,
            }  # fmt: skip
            producer.ask(RequestCode.SEND_MESSAGE_V2, fields, zlib.compress(b"x" * 5_000))
            running.controller.push_clock(200_000)
        plan = planned(running, tmp_path)
    assert [one.request for one in plan.requests] == (["RESUME_CHECK_HALF_MESSAGE"] if is_planned else [])
    assert ["would deliver it corrupt (B30)" in one.why for one in plan.withheld] == ([] if is_planned else [True])


def planned(running: BrokerThread, folder: Path) -> BrokerPlan:
    file = folder / "plan.json"
    assert app.run(["audit", "--broker", running.address, "--plan", str(file)]) == OK
    return read_plan(file)
