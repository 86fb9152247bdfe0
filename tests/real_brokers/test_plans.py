"""Plans on real brokers: the relay counts and holds, and what is kept of each release is what a plan says of it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from files.reading import read_text
from halfcheck.plan.risks import backed_risks
from real_brokers.plan.page import PAGE, write_page
from real_brokers.plan.relay import RemotingRelay
from real_brokers.plan.seen import PLANS_SEEN
from tests.wire.one_broker import broker
from tests.wire.one_producer import TOPIC, OneProducer
from wire.client.channel import Address, NoAnswerError
from wire.client.queries import end_of_queue
from wire.remoting.codes import RequestCode

if TYPE_CHECKING:
    from pathlib import Path

    from wire.remoting.command import RemotingCommand

BESIDES = {"plan", "send"}


@pytest.mark.parametrize("release", ["5.3.3", "5.5.1"])
def test_each_guarantee_that_a_plan_says_may_break_was_broken_on_a_real_broker(release: str) -> None:
    said = {
        f"{one.risk.decision} {one.shown.name} {one.risk.environment.name}": one.risk for one in backed_risks(release)
    }
    seen = {one.title: one.seen for one in PLANS_SEEN.read().values() if one.release == release}
    assert seen == dict.fromkeys([*BESIDES, *said], True)


def test_no_write_passed_the_relay_while_it_was_planned() -> None:
    for one in PLANS_SEEN.read().values():
        if one.title == "plan":
            facts = dict(one.facts)
            before, after = facts["commitLogMaxOffset before and after"].split(" and ")
            assert int(before) == int(after) > 0
            names = {each.split(" ")[1] for each in facts["requests that passed the relay"].split(", ")}
            assert names <= {
                "GET_ALL_TOPIC_CONFIG", "GET_BROKER_CONFIG", "GET_BROKER_RUNTIME_INFO", "GET_MAX_OFFSET",
                "GET_MIN_OFFSET", "GET_PRODUCER_CONNECTION_LIST", "LITE_PULL_MESSAGE", "QUERY_CONSUMER_OFFSET",
            }  # fmt: skip


def test_the_page_is_what_was_seen(tmp_path: Path) -> None:
    write_page(PLANS_SEEN.read(), tmp_path / "page.md")
    assert read_text(tmp_path / "page.md") == read_text(PAGE)


def test_the_relay_counts_requests_and_holds_one_back(tmp_path: Path) -> None:
    let_go = threading.Event()

    def hold(command: RemotingCommand) -> None:
        if command.code == RequestCode.END_TRANSACTION:
            let_go.wait()

    with broker(tmp_path, "4.9.7") as running, RemotingRelay(Address.of(running.address)) as relay:
        running.controller.topic(TOPIC)
        relay.before = hold
        with OneProducer(str(relay.address)) as behind, OneProducer(running.address) as beside:
            half = behind.half("held")
            ending = threading.Thread(target=behind.end, args=(half, 8))
            ending.start()
            assert end_of_queue(beside, TOPIC, 1) == 0
            let_go.set()
            ending.join()
            assert behind.keys() == ["held"]
        assert relay.requests["END_TRANSACTION"] == relay.requests["SEND_MESSAGE_V2"] == 1
        address = str(relay.address)
    with pytest.raises(NoAnswerError):
        OneProducer(address).half("none")
