"""``halfcheck audit --broker --plan FILE --yes``: what is decided is sent and read back, nothing else, and not late."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from halfcheck import app
from halfcheck.errors import ExitCode
from halfcheck.plan.plan import PlanError, read_plan, write_plan
from halfcheck.plan.sending import SentPlan, send_plan
from spark_trace_analysis.audit.audit_store import audit_store
from tests.halfcheck.plan.disorder import (
    BAD,
    LOST,
    OK,
    PARKED,
    PENDING,
    Disorder,
    disorder,
    one_line,
    pass_all_halves,
)
from tests.wire.one_broker import broker
from tests.wire.one_producer import GROUP
from wire.client.channel import Address, BrokerChannel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from wire.remoting.command import RemotingCommand


def sent(left: Disorder) -> SentPlan:
    """What is sent of a plan, to a broker whose clock goes on while it is waited for."""
    running = left.running
    return send_plan(left.file, Address.of(running.address), lambda _: running.controller.push_clock(1_000))


@pytest.mark.parametrize("profile", ["4.9.7", "5.3.3", "5.5.1"])
def test_each_kind_of_request_is_carried_out_recorded_and_read_back(tmp_path: Path, profile: str) -> None:
    with disorder(tmp_path, profile) as left:
        assert left.command() == OK
        left.decide(lost="commit", pending="rollback")
        gone = sent(left)
        assert (gone.numbers, gone.stopped) == ((1, 2, 3), "")
        requests = left.requests()
        assert [one["sent"]["code"] for one in requests.values()] == [0, 0, 0]
        assert requests[PARKED]["sent"]["seen"].startswith("it was put back into the half queue: ")
        assert requests[LOST]["sent"]["seen"].startswith("it was delivered: Orders, queue 1 at 0")
        assert requests[PENDING]["sent"]["seen"].startswith("it was settled: the op queue at ")
        assert left.producer.keys() == ["lost"]
        before = left.log_end
        assert left.command("--yes") == OK
        assert left.log_end == before
        left.running.controller.push_clock(25_000)
        checked = left.producer.check()
        while checked is not None and checked.key != "parked":
            checked = left.producer.check()
        assert checked is not None
        left.producer.end(checked, 8, answers_check=True)
        left.running.controller.push_clock(10_000)
    audit = audit_store(tmp_path / "store")
    states = {row.unique_key: (row.state.value, row.deliveries) for row in audit.transactions}
    assert [states[key] for key in (PARKED, LOST, PENDING)] == [("parked", 1), ("delivered", 1), ("rolled_back", 0)]
    assert not audit.damage
    assert "an operator has resumed a discarded half" in audit.trace.sentence()


def test_without_a_decision_nothing_is_sent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with disorder(tmp_path, "5.5.1") as left:
        assert left.command() == OK
        before = left.log_end
        left.decide(parked=None)
        capsys.readouterr()
        assert left.command("--yes") == BAD
        assert 'nothing in it is decided: fill in a "decision"; nothing was sent' in one_line(capsys)
        left.decide(pending="commit")
        assert sent(left).numbers == (3,)
        assert left.requests()[PARKED]["sent"] is left.requests()[LOST]["sent"] is None
        assert left.log_end > before


def test_what_was_settled_put_back_or_passed_meanwhile_is_refused_before_anything_is_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with disorder(tmp_path, "4.9.7") as left:
        assert left.command() == OK
        left.decide(lost="commit", pending="commit")
        left.running.controller.push_clock(20_000)
        before = left.log_end
        capsys.readouterr()
        assert left.command("--yes") == BAD
        said = one_line(capsys)
        assert f"request 3: since the plan was made {PENDING} was put back into the half queue, at " in said
        assert said.endswith("plan again, it keeps the decisions")
        assert left.log_end == before
        planned = left.requests()[PENDING]
        assert left.command() == OK
        requests = left.requests()
        assert [requests[key]["decision"] for key in (PARKED, LOST, PENDING)] == ["resume", "commit", "commit"]
        assert requests[PENDING]["record_offset"] > planned["record_offset"]
        left.running.controller.push_clock(20_000)
        assert left.command("--yes") == BAD
        assert f"{PENDING} was discarded" in one_line(capsys)


@pytest.mark.parametrize("outcome", [8, 12])
def test_what_its_producer_has_ended_meanwhile_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], outcome: int
) -> None:
    with disorder(tmp_path, "4.9.7") as left:
        assert left.command() == OK
        left.decide(parked=None, pending="commit")
        checked = left.producer.check()
        while checked is not None and checked.key != "pending":
            checked = left.producer.check()
        assert checked is not None
        left.producer.end(checked, outcome, answers_check=True)
        before = left.log_end
        capsys.readouterr()
        assert left.command("--yes") == BAD
        happened = "delivered" if outcome == 8 else "settled"
        assert f"since the plan was made {PENDING} was {happened}" in one_line(capsys)
        assert left.log_end == before


def test_the_first_that_the_broker_refuses_is_the_last_that_is_sent(tmp_path: Path) -> None:
    with disorder(tmp_path, "4.9.7") as left:
        assert left.command() == OK
        left.decide(parked=None, lost="commit", pending="commit")
        plan = read_plan(left.file)
        (lost,) = (one for one in plan.requests if one.unique_key == LOST)
        write_plan(left.file, plan.with_request(replace(lost, fields={**lost.fields, "producerGroup": "another"})))
        gone = sent(left)
        assert (gone.numbers, gone.stopped) == ((2,), "request 2 is refused")
        requests = left.requests()
        assert (requests[LOST]["sent"]["code"], requests[LOST]["sent"]["remark"]) == (1, "The producer group wrong")
        assert requests[PENDING]["sent"] is None
        write_plan(left.file, read_plan(left.file).with_request(lost))
        assert sent(left).numbers == (2, 3)
        assert left.producer.keys() == ["lost", "pending"]


def test_after_an_end_in_the_middle_it_goes_on_behind_what_was_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with disorder(tmp_path, "4.9.7") as left:
        assert left.command() == OK
        left.decide(parked=None, lost="commit", pending="commit")
        asked: list[int] = []

        def ask_once(
            channel: BrokerChannel, code: int, fields: Mapping[str, object] | None = None, body: bytes = b""
        ) -> RemotingCommand:
            asked.append(code)
            if asked.count(37) == 2:
                raise KeyboardInterrupt
            return ask(channel, code, fields, body)

        ask = BrokerChannel.ask
        monkeypatch.setattr(BrokerChannel, "ask", ask_once)
        with pytest.raises(KeyboardInterrupt):
            sent(left)
        monkeypatch.undo()
        requests = left.requests()
        assert (requests[LOST]["sent"]["code"], requests[PENDING]["sent"]["code"]) == (0, None)
        with pytest.raises(PlanError, match="request 3 was sent, and no answer is known: plan again"):
            sent(left)
        assert left.command() == OK
        assert [one["sent"] is None for one in left.content()["requests"]] == [False, False, True, True]
        assert sent(left).numbers == (4,)
        assert left.producer.keys() == ["lost", "pending"]


def test_a_plan_for_another_broker_or_release_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other").mkdir()
    with disorder(tmp_path, "4.9.7") as left, broker(tmp_path / "other", "5.5.1") as other:
        assert left.command() == OK
        capsys.readouterr()
        for more in ([], ["--yes"]):
            code = app.run(["audit", "--broker", other.address, "--plan", str(left.file), *more])
            assert code == (ExitCode.BAD_CONTENT if more else ExitCode.BAD_OPTION)
            assert f"is a plan for {left.running.address}" in one_line(capsys)
        plan = read_plan(left.file)
        for changed, said in (
            (replace(plan, release="5.3.3"), "the release was 5.3.3, and is 4.9.7 now"),
            (replace(plan, name="broker-b"), "brokerName was broker-b, and is "),
        ):
            write_plan(left.file, changed)
            assert left.command("--yes") == BAD
            assert said in one_line(capsys)
        left.running.controller.role("slave")
        for more in ([], ["--yes"]):
            assert left.command(*more) == BAD
            assert "is a slave (brokerRole=SLAVE)" in one_line(capsys)


SPOILT: Final[tuple[tuple[Callable[[str], str], str], ...]] = (
    (lambda _: "no JSON", "not JSON"),
    (lambda _: "[]", "this is no plan"),
    (lambda text: text.replace('"version": 1', '"version": 2'), "this is a plan of version 2, and 1 was expected"),
    (lambda text: text.replace(GROUP, "another"), 'something else than a "decision" was changed'),
    (lambda text: text.replace('"number": 1', '"number": 7'), 'something else than a "decision" was changed'),
    (
        lambda text: text.replace('"decision": "resume"', '"decision": "commit"'),
        'request 1 has the decision "commit"; expected "resume", or null',
    ),
    (
        lambda text: text.replace('"decision": null', '"decision": "yes"', 1),
        'request 2 has the decision "yes"; expected "commit" or "rollback", or null',
    ),
    (lambda text: json.dumps({**json.loads(text), "requests": 7}), "it is not as a plan is written"),
)


def test_a_file_that_is_no_plan_or_was_changed_elsewhere_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with disorder(tmp_path, "4.9.7") as left:
        assert left.command() == OK
        before, whole = left.log_end, left.file.read_text(encoding="utf-8")
        for spoil, said in SPOILT:
            left.file.write_text(spoil(whole), encoding="utf-8")
            for more in ([], ["--yes"]):
                capsys.readouterr()
                assert left.command(*more) == BAD
                line = one_line(capsys)
                assert said in line
                assert f"--plan {left.file}: " in line
        assert left.log_end == before


def test_the_options_go_with_a_running_broker_and_with_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (
        ["store", "--plan", "plan.json"],
        ["store", "--yes"],
        ["--broker", "127.0.0.1:1", "--yes"],
        ["--broker", "127.0.0.1:1,127.0.0.1:2", "--plan", "plan.json"],
        ["--broker", "127.0.0.1:1", "--plan", str(tmp_path)],
        ["--broker", "127.0.0.1:1", "--plan", "plan.json", "--yes", "--topic", "Orders"],
    ):
        assert app.run(["audit", *words]) == ExitCode.BAD_OPTION
        assert "--plan" in one_line(capsys)
    missing = tmp_path / "missing.json"
    assert app.run(["audit", "--broker", "127.0.0.1:1", "--plan", str(missing), "--yes"]) == BAD
    assert str(missing) in one_line(capsys)


def test_a_half_that_is_gone_from_its_place_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with disorder(tmp_path, "4.9.7") as left:
        pass_all_halves(left.producer)
        assert left.command() == OK
        plan = read_plan(left.file)
        (lost,) = (one for one in plan.requests if one.unique_key == LOST)
        write_plan(left.file, plan.with_request(replace(lost, record_at=lost.record_at + 8)))
        left.decide(lost="commit")
        capsys.readouterr()
        assert left.command("--yes") == BAD
        assert f"{LOST} is not at RMQ_SYS_TRANS_HALF_TOPIC, queue 0, " in one_line(capsys)
