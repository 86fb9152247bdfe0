"""``halfcheck probe`` against our own broker: explained, refused by another release, and what it sends and leaves."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode
from halfcheck.printing.probe import print_answer, print_played
from halfcheck.probe.answer import ProbeAnswer, play_json
from halfcheck.probe.schedules import Schedule
from halfcheck.probe.session import Played
from model_check.world import Profile
from tests.wire.clients.relay import Relay
from tests.wire.one_broker import broker
from tests.wire.probe.own_broker import own_broker
from wire.client.channel import BrokerChannel
from wire.client.transactions import send_half
from wire.probe.player import Done
from wire.probe.scenarios import SCENARIOS, scenario_called
from wire.remoting.codes import RequestCode
from wire.remoting.command import decode

if TYPE_CHECKING:
    from pathlib import Path

    from halfcheck.probe.session import Target


def probed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the JSON of a probe."""
    code = run(["probe", *arguments, "--json"])
    out = capsys.readouterr()
    assert not out.err
    content: dict[str, Any] = json.loads(out.out)
    return code, content


@pytest.mark.parametrize("profile", ["4.5.1", "4.9.7", "5.5.0"])
def test_our_own_broker_is_explained_by_its_release(
    profile: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with own_broker(profile, tmp_path) as address:
        _, told = probed(capsys, str(address), "--scenario", "outcomes")
    (play,) = told["plays"]
    assert (told["release"], told["profile"], play["explained"]) == (profile, profile, True), play["divergence"]
    assert play["settled"]
    delivered = [event["event"] for event in play["events"] if event["event"].startswith("message_delivered")]
    assert delivered == ["message_delivered transaction=0 half=0", "message_delivered transaction=2 half=4"]


def test_a_commit_that_came_twice_is_a_broken_guarantee_with_its_schedule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with own_broker("5.3.3", tmp_path) as address:
        code, told = probed(capsys, str(address), "--counterexample", "S1.doubled_request")
    assert code == ExitCode.SAFETY_VIOLATED
    assert told["plays"][0]["faults"] == {"duplicate_end": 1}
    assert told["broken"] == [
        {
            "clause": "S1.doubled_request",
            "schedule": "S1.doubled_request",
            "orders": ["send half 0 of transaction 0", *["commit half 0 of transaction 0"] * 2],
        }
    ]


def test_another_release_does_not_explain_it_and_the_event_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with own_broker("5.3.3", tmp_path) as address:
        code, told = probed(capsys, str(address), "--scenario", "outcomes", "--profile", "4.9.7")
    (play,) = told["plays"]
    assert (code, play["explained"]) == (ExitCode.SAFETY_VIOLATED, False)
    assert play["also_explained_by"] == ["5.3.3", "5.4.0", "5.5.0", "5.5.1"]
    assert play["divergence"]["text"].startswith("op_stored op=0 names=[0")
    assert play["divergence"]["guard"] == "record: the body of an op message is one half offset in this version"


def test_a_broker_with_pending_halves_of_others_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with own_broker("5.5.0", tmp_path, transactionTimeOut=60_000) as address:
        channel = BrokerChannel(address)
        send_half(channel, "others", "Others", "0" * 32, b"x")
        assert run(["probe", str(address)]) == ExitCode.BAD_CONTENT
        told = capsys.readouterr().err
        assert "1 halves and 0 op messages of others are not settled" in told
        assert "--beside-others" in told
        code, beside = probed(capsys, str(address), "--scenario", "twice", "--beside-others")
        channel.close()
    (play,) = beside["plays"]
    assert (code, play["explained"]) == (ExitCode.OTHER, None)
    assert play["reason"].startswith("others had pending halves when the probe began")


def test_a_probe_sends_what_clients_send_and_never_sets_an_offset(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with own_broker("4.9.7", tmp_path) as address, Relay(address.port, address.port) as relay:
        _, told = probed(capsys, f"127.0.0.1:{relay.broker}", "--scenario", "outcomes")
        sent = [decode(seen.frame) for seen in relay.seen if seen.is_from_client]
    assert {command.code for command in sent} == {
        RequestCode.GET_BROKER_CONFIG,
        RequestCode.HEART_BEAT,
        RequestCode.SEND_MESSAGE_V2,
        RequestCode.END_TRANSACTION,
        RequestCode.PULL_MESSAGE,
        RequestCode.GET_MAX_OFFSET,
        RequestCode.GET_MIN_OFFSET,
        RequestCode.QUERY_CONSUMER_OFFSET,
        RequestCode.SEARCH_OFFSET_BY_TIMESTAMP,
        RequestCode.QUERY_CONSUME_QUEUE,
        RequestCode.VIEW_MESSAGE_BY_ID,
    }
    pulls = [command.fields for command in sent if command.code == RequestCode.PULL_MESSAGE]
    assert {fields["sysFlag"] for fields in pulls} == {"4"}
    (name,) = told["topics_and_groups"]
    assert name.startswith("halfcheck_probe_")
    assert {fields["consumerGroup"] for fields in pulls} == {name}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["127.0.0.1:1"], ExitCode.BAD_CONTENT, "127.0.0.1:1: no connection"),
        (["localhost"], ExitCode.BAD_OPTION, "'localhost': expected HOST:PORT"),
        (["127.0.0.1:1", "--kill", "true"], ExitCode.BAD_OPTION, "give --start CMD"),
        (["127.0.0.1:1", "--profile", "9.9"], ExitCode.BAD_OPTION, "9.9"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    arguments: list[str], code: ExitCode, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["probe", *arguments]) == code
    told = capsys.readouterr().err
    assert said in told
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--scenario", "nothing"], "--scenario nothing: there is none of that name; there are outcomes"),
        (["--counterexample", "S9.nothing"], "--counterexample S9.nothing: the table of verdicts has none"),
        (["--scenario", "kill"], "--kill CMD and --start CMD"),
    ],
)
def test_a_schedule_that_is_not_there_is_refused(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with own_broker("5.5.0", tmp_path) as address:
        assert run(["probe", str(address), *arguments]) == ExitCode.BAD_OPTION
    assert said in capsys.readouterr().err


def test_a_failure_is_told_with_its_plays_and_its_shortest_schedule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with own_broker("5.3.3", tmp_path, transactionTimeOut=60_000) as address:
        code = run(["probe", str(address), "--scenario", "contradiction", "--shrink", "--property", "S2"])
    told = capsys.readouterr().out
    assert code == ExitCode.SAFETY_VIOLATED
    assert "contradiction: S2.rollback_after_commit: made shorter from 6 to 3 orders in" in told
    assert told.count("left on the broker: topics and groups halfcheck_probe_") == 1


def test_drawn_schedules_in_which_nothing_is_broken_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with own_broker("5.5.0", tmp_path) as address:
        code, told = probed(capsys, str(address), "--examples", "2", "--property", "S5")
    (search,) = told["searches"]
    assert (code, search["failure"], search["drawn"], search["ended"]) == (ExitCode.OK, None, 2, None)
    assert [play["schedule"] for play in told["plays"]] == ["example 1", "example 2"]


def test_what_a_known_release_does_is_fine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An op message that is written in the middle of a round breaks L4.left_behind, too: real time may do that."""
    with own_broker("5.3.3", tmp_path) as address:
        asked = [str(address), "--scenario", "twice"]
        for known, wanted in (([], 12), (["--known", "5.3.3"], 0), (["--known", "4.9.7"], 12)):
            code, told = probed(capsys, *asked, *known)
            assert (code, told["known"]) == (wanted, known[1] if known else None)
            broken = {one["clause"] for one in told["broken"]}
            assert broken - {"L4.left_behind"} == {"S1.doubled_request"}
        assert run(["probe", *asked, "--known", "5.3.3"]) == ExitCode.OK
        out, err = capsys.readouterr()
    assert "the specification of 5.3.3 explains all of it" in out
    assert err.startswith("halfcheck: playing twice, 1 of 1, about ")


def test_what_was_not_held_against_a_known_release_is_not_called_explained(capsys: pytest.CaptureFixture[str]) -> None:
    unjudged = cast("Played", SimpleNamespace(judgement=None, done=(), differs=()))
    target = cast("Target", None)
    print_answer(
        ProbeAnswer(target, [unjudged], known="5.3.3", known_profile=Profile.of("5.3.3"), not_played=["twice"])
    )
    out = capsys.readouterr().out
    assert "the specification of 5.3.3 explains 0 of 2 schedules; the others were not held against it\n" in out


def test_a_schedule_is_not_over_while_an_op_entry_of_it_waits_in_a_batch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The entry of the second commit would be taken for one of the next schedule, which names no half of that."""
    scenarios = [word for name in ("outcomes", "twice", "contradiction") for word in ("--scenario", name)]
    settings = {"transactionTimeOut": 2_000, "transactionCheckInterval": 1_000, "transactionOpBatchInterval": 3_000}
    with own_broker("5.5.1", tmp_path, transactionCheckMax=15, **settings) as address:
        _, told = probed(capsys, str(address), *scenarios)
    assert [play["explained"] for play in told["plays"]] == [True, True, True], told["plays"][-1]["divergence"]


def test_what_is_not_played_any_more_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--scenario", "outcomes", "--scenario", "twice", "--profile", "4.9.7"]
    with own_broker("5.3.3", tmp_path) as address:
        code, told = probed(capsys, str(address), *asked)
        assert (code, told["not_played"]) == (ExitCode.SAFETY_VIOLATED, ["twice"])
        run(["probe", str(address), *asked])
    assert "not played any more, as a record before is not explained: twice" in capsys.readouterr().out


@pytest.mark.parametrize(("speed", "said"), [(None, "stands still until it is pushed"), (30, "goes 30 times as fast")])
def test_a_broker_whose_clock_is_another_one_is_refused_in_one_line(
    speed: float | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with broker(tmp_path, "5.3.3", speed=speed) as found:
        assert run(["probe", found.address]) == ExitCode.BAD_CONTENT
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert said in err


def test_a_missing_address_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["probe"]) == ExitCode.BAD_OPTION
    assert capsys.readouterr().err == "halfcheck: Missing argument 'HOST:PORT'; see halfcheck probe --help\n"
    assert run(["probe", "--help"]) == ExitCode.OK
    assert "object at" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ([0], ""),
        ([604], "commit half 0 of transaction 0: answered 604"),
        ([], "commit half 0 of transaction 0: never sent"),
    ],
)
@pytest.mark.parametrize("name", ["immune", "late"])
def test_where_a_storys_commit_was_refused_or_not_sent_nothing_is_said_of_it(
    name: str, answers: list[int], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = SCENARIOS[name]
    assert scenario.turn is not None
    assert scenario.turn in scenario.orders
    schedule = Schedule(name, scenario.story, scenario_called(name), scenario.turn)
    done = tuple(Done(scenario.turn, 7, answer) for answer in answers)
    probed_trace = SimpleNamespace(trace=SimpleNamespace(events=()))
    played = Played(schedule, done, None, cast("Any", probed_trace), None, unfit="of a test")
    assert (played.unreached, play_json(played)["unreached"]) == (told, told or None)
    print_played(cast("Target", None), played)
    lines = capsys.readouterr().out.splitlines()
    said = [line.strip() for line in lines if "did not happen" in line]
    assert said == ([f"which did not happen, so that nothing is said of it: {told}"] if told else [])
