"""What a broker tells of itself, and how it is asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.wire.client.scripted_broker import answer, scripted_broker
from wire.client.broker_facts import runtime_info
from wire.client.channel import BrokerChannel, NoAnswerError
from wire.remoting.codes import ResponseCode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wire.remoting.command import RemotingCommand

TABLE = {
    "bootTimestamp": "1000000", "runtime": "[ 0 days, 0 hours, 1 minutes, 2 seconds ]",
    "commitLogMinOffset": "-1", "commitLogMaxOffset": "77",
}  # fmt: skip


@pytest.mark.parametrize(("failures", "is_told"), [(0, True), (2, True), (99, False)])
def test_a_broker_that_has_just_begun_is_asked_again(failures: int, is_told: bool) -> None:
    left, slept = [failures], list[float]()

    def script(asked: RemotingCommand) -> Iterator[bytes]:
        left[0] -= 1
        if left[0] >= 0:
            yield answer(asked, ResponseCode.SYSTEM_ERROR, remark="java.util.NoSuchElementException")
        else:
            yield answer(asked, ResponseCode.SUCCESS, json.dumps({"table": TABLE}).encode())

    with scripted_broker(script) as address, BrokerChannel(address) as channel:
        if not is_told:
            with pytest.raises(NoAnswerError, match=r"is answered 1: java.util.NoSuchElementException"):
                runtime_info(channel, slept.append)
            assert len(slept) == 10
            return
        found = runtime_info(channel, slept.append)
    assert (found.log_begin, found.log_end, found.booted_at_ms, found.now_ms) == (0, 77, 1_000_000, 1_062_000)
    assert len(slept) == failures
