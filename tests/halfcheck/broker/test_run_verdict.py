"""What the end of a run says besides: unanswered checks, refused ENDs, and what only the stop broke."""

from __future__ import annotations

from typing import TYPE_CHECKING

from document.console import show
from halfcheck.printing.broker import verdict_on
from halfcheck.run_verdict import judge_run
from reference.format.broker_conf import read_broker_conf
from tests.wire.one_broker import broker, wait_until_it_serves
from tests.wire.one_producer import GROUP, TOPIC, OneProducer, unique_key
from wire.client import transactions
from wire.client.transactions import COMMIT, half_of_check
from wire.remoting.codes import RequestCode

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from halfcheck.run_verdict import RunVerdict
    from wire.broker_thread import BrokerThread

UNKNOWN = 0
OTHER = "stock-group"
INTERVAL_MS = 10_000


def verdict_of(folder: Path, story: Callable[[BrokerThread, OneProducer], None], profile: str = "5.3.3") -> RunVerdict:
    """Play a story on a broker whose clock stands, and judge the run."""
    settings = {"transactionCheckInterval": INTERVAL_MS, "transactionCheckMax": 2, "transactionTimeOut": 3_000}
    settings |= {"mappedFileSizeCommitLog": 1 << 20, "mappedFileSizeConsumeQueue": 6_000}
    with broker(folder, profile, conf=settings) as running, OneProducer(running.address) as producer:
        producer.heartbeat()
        story(running, producer)
        running.stop()
        conf = read_broker_conf(folder / "broker.conf")
        return judge_run(folder / "trace.jsonl", folder / "store", conf, profile, running.node)


def checks(running: BrokerThread, producer: OneProducer, answer: int | None = None) -> int:
    """Let one round come; gives how many checks reached the producer, each of which it answers, or none."""
    running.controller.push_clock(ms=INTERVAL_MS + 1_000)
    heard = 0
    while (check := producer.wait_for(RequestCode.CHECK_TRANSACTION_STATE, 1 if not heard else 0.05)) is not None:
        heard += 1
        if answer is not None:
            transactions.end_transaction(producer, GROUP, half_of_check(check), answer, answers_check=True)
    return heard


def test_checks_that_reach_a_client_and_are_not_answered_are_named_by_group_and_client(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def story(running: BrokerThread, producer: OneProducer) -> None:
        producer.heartbeat(group=OTHER)
        producer.half("order-7")
        assert [checks(running, producer) for _ in range(3)] == [1, 1, 0]

    verdict = verdict_of(tmp_path, story)
    (told,) = verdict.to_json()["unanswered_checks"]
    assert told.pop("client").endswith("@test")
    assert told == {"group": GROUP, "delivered": 2, "unanswered": 2, "keys": [unique_key("order-7")]}
    of_order = {"unique_key": unique_key("order-7"), "keys": "order-7", "group": GROUP, "topic": TOPIC}
    assert verdict.to_json()["left"] == [{"state": "parked", **of_order}]
    show(verdict_on(verdict, None))
    lines = capsys.readouterr().out.splitlines()
    assert any(
        line.startswith(f"2 checks of {GROUP} reached client ") and "none was answered" in line for line in lines
    )
    assert any(f"a producer of {OTHER}, too" in line for line in lines)
    assert f"parked: {unique_key('order-7')} (KEYS order-7)" in lines


def test_a_check_that_is_answered_with_unknown_is_answered(tmp_path: Path) -> None:
    def story(running: BrokerThread, producer: OneProducer) -> None:
        producer.half("order-7")
        assert checks(running, producer, UNKNOWN) == 1
        producer.half("order-8")
        running.controller.fault("refuse", request="END_TRANSACTION", code=1, remark="too few replicas", times=None)
        assert checks(running, producer, COMMIT) == 2

    verdict = verdict_of(tmp_path, story)
    assert verdict.unanswered == ()
    assert verdict.refused == ((1, "too few replicas", 2),)


def test_some_of_the_checks_may_be_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def story(running: BrokerThread, producer: OneProducer) -> None:
        producer.half("order-7")
        assert checks(running, producer) == 1
        assert checks(running, producer, COMMIT) == 1

    show(verdict_on(verdict_of(tmp_path, story), None))
    assert "1 of them without an answer" in capsys.readouterr().out


def test_a_check_that_is_lost_on_its_way_or_has_no_connection_has_reached_nobody(tmp_path: Path) -> None:
    def story(running: BrokerThread, producer: OneProducer) -> None:
        producer.half("order-7")
        running.controller.fault("lose_check")
        assert checks(running, producer) == 0
        producer.close()
        running.controller.push_clock(ms=INTERVAL_MS + 1_000)

    assert verdict_of(tmp_path, story).unanswered == ()


def test_what_only_the_stop_broke_is_said_so_and_whose_end_was_in_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def story(_: BrokerThread, producer: OneProducer) -> None:
        producer.end(producer.half("order-7"), COMMIT)

    verdict = verdict_of(tmp_path, story)
    assert [(each.property_id, each.is_by_the_stop) for each in verdict.broken] == [("S10", True)]
    assert verdict.in_memory == (unique_key("order-7"),)
    show(verdict_on(verdict, None))
    out = " ".join(capsys.readouterr().out.split())
    assert "only as the broker was stopped: the op entry" in out
    assert f"1 transaction settled in memory only as the broker was stopped: {unique_key('order-7')}" in out


def test_what_a_crash_took_from_memory_is_not_laid_on_the_stop(tmp_path: Path) -> None:
    def story(running: BrokerThread, producer: OneProducer) -> None:
        producer.end(producer.half("order-7"), COMMIT)
        running.controller.crash()
        wait_until_it_serves(running)

    assert verdict_of(tmp_path, story).in_memory == ()


def test_what_broke_before_the_stop_is_not_laid_on_it(tmp_path: Path) -> None:
    def story(running: BrokerThread, producer: OneProducer) -> None:
        half = producer.half("order-7")
        producer.end(half, COMMIT)
        producer.end(half, COMMIT)
        running.controller.push_clock(ms=4_000)

    verdict = verdict_of(tmp_path, story)
    assert [(each.property_id, each.is_by_the_stop) for each in verdict.broken] == [("S1", False)]
    assert verdict.in_memory == ()


def commit(producer: OneProducer, key: str, times: int = 1) -> None:
    half = producer.half(key)
    for _ in range(times):
        producer.end(half, COMMIT)


def ordered(verdict: RunVerdict) -> dict[str, tuple[str, ...]]:
    return {each.property_id: each.ordered for each in verdict.broken}


def test_what_an_ordered_fault_explains_is_told_from_what_nobody_ordered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def ordered_alone(running: BrokerThread, producer: OneProducer) -> None:
        running.controller.fault("double_end", key="order-7")
        commit(producer, "order-6")
        commit(producer, "order-7")
        running.controller.push_clock(ms=4_000)

    def another_one_too(running: BrokerThread, producer: OneProducer) -> None:
        ordered_alone(running, producer)
        commit(producer, "order-8", times=2)
        running.controller.push_clock(ms=4_000)

    folders = [tmp_path / name for name in ("ordered", "both")]
    for folder in folders:
        folder.mkdir()
    verdict = verdict_of(folders[0], ordered_alone)
    assert (ordered(verdict), verdict.unexplained) == ({"S1": ("fault double_end key=order-7",)}, ())
    show(verdict_on(verdict, None))
    assert "only by what was ordered (fault double_end key=order-7): " in " ".join(capsys.readouterr().out.split())
    assert ordered(verdict_of(folders[1], another_one_too)) == {"S1": ()}


def test_a_restart_explains_what_was_under_way_in_it_and_nothing_else(tmp_path: Path) -> None:
    """A restart within transactionOpBatchInterval of a commit loses its op message, and the check delivers it again."""

    def restarted(running: BrokerThread, producer: OneProducer) -> None:
        commit(producer, "order-7")
        running.controller.restart()
        with OneProducer(running.address) as again:
            again.heartbeat()
            while not checks(running, again, COMMIT):
                pass
            running.controller.push_clock(ms=4_000)

    def doubled_behind_it(running: BrokerThread, producer: OneProducer) -> None:
        restarted(running, producer)
        with OneProducer(running.address) as again:
            commit(again, "order-8", times=2)
            running.controller.push_clock(ms=4_000)

    def doubled_before(running: BrokerThread, producer: OneProducer) -> None:
        commit(producer, "order-7", times=2)
        running.controller.restart()

    folders = [tmp_path / name for name in ("restarted", "behind", "before")]
    for folder in folders:
        folder.mkdir()
    verdict = verdict_of(folders[0], restarted)
    assert set(ordered(verdict).values()) == {("restart",)}
    assert "S1" in ordered(verdict)
    assert ordered(verdict_of(folders[1], doubled_behind_it))["S1"] == ()
    assert ordered(verdict_of(folders[2], doubled_before))["S1"] == ()
