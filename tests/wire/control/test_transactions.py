"""What the control port says of each transaction of a broker that runs: where it is, and when it is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from spark_trace_analysis.audit.audit_store import audit_store
from tests.wire.one_broker import MINUTE, broker, wait_until_it_serves
from tests.wire.one_producer import GROUP, TOPIC, OneProducer, unique_key
from wire.client.transactions import COMMIT, ROLLBACK
from wire.errors import BadOrderError

if TYPE_CHECKING:
    from pathlib import Path

    from wire.broker_thread import BrokerThread


def of(running: BrokerThread, key: str) -> dict[str, Any]:
    (found,) = running.controller.transactions(key)
    return found


def test_a_half_is_pending_until_it_is_settled_and_says_where_it_lies(
    running: BrokerThread, producer: OneProducer
) -> None:
    half = producer.half("order-7")
    found = of(running, "order-7")
    assert found == of(running, unique_key("order-7"))
    assert (found["unique_key"], found["keys"]) == (unique_key("order-7"), "order-7")
    assert (found["group"], found["topic"], found["state"], found["checks"]) == (GROUP, TOPIC, "pending", 0)
    (where,) = found["halves"]
    assert (where["queue_offset"], where["commit_log_offset"]) == (half.queue_offset, half.commit_log_offset)
    producer.end(half, COMMIT)
    found = of(running, "order-7")
    assert (found["state"], found["op"], len(found["deliveries"])) == ("delivered", "in_memory", 1)
    assert found["checked_not_before"] is None
    (message,) = producer.pulled()
    assert found["deliveries"][0]["commit_log_offset"] == message.physical_offset
    running.controller.push_clock(5_000)
    assert of(running, "order-7")["op"] == "stored"


def test_no_check_goes_out_before_the_time_that_is_said(running: BrokerThread, producer: OneProducer) -> None:
    producer.half("order-7")
    at = of(running, "order-7")["checked_not_before"]
    running.controller.push_clock(at - running.controller.status()["now"] - 1)
    assert (of(running, "order-7")["checks"], producer.check(0.1)) == (0, None)
    running.controller.push_clock(2_000)
    check = producer.check()
    assert check is not None
    found = of(running, "order-7")
    assert (found["checks"], found["state"], len(found["halves"])) == (1, "pending", 2)
    assert check.commit_log_offset == found["halves"][-1]["commit_log_offset"]
    assert found["checked_not_before"] > running.controller.status()["now"]


def test_an_immunity_of_its_own_puts_the_check_off(running: BrokerThread, producer: OneProducer) -> None:
    producer.half("usual")
    producer.half("immune", CHECK_IMMUNITY_TIME_IN_SECONDS="600")
    usual, immune = of(running, "usual"), of(running, "immune")
    assert immune["checked_not_before"] - immune["stored_at"] == 600_000
    assert usual["checked_not_before"] - usual["stored_at"] <= MINUTE


def test_a_running_broker_says_what_the_audit_of_its_store_says(tmp_path: Path) -> None:
    with broker(tmp_path, transactionCheckMax=1) as running, OneProducer(running.address) as producer:
        producer.heartbeat()
        control = running.controller
        control.fault("double_end", key="doubled")
        for key, says in (("delivered", COMMIT), ("doubled", COMMIT), ("rolled_back", ROLLBACK)):
            producer.end(producer.half(key), says)
        producer.half("parked")
        control.push_clock(5_000)
        while of(running, "parked")["state"] == "pending":
            control.round()
        producer.half("pending")
        said = {each["keys"]: each["state"] for each in control.transactions()}
        checks = {each["keys"]: each["checks"] for each in control.transactions()}
        control.stop()
    rows = audit_store(tmp_path / "store", "5.5.1").transactions
    assert said == {row.keys: row.state.value for row in rows}
    assert said == {key: key for key in said}
    assert checks == {row.keys: row.checks for row in rows}


@pytest.mark.parametrize("profile", ["4.9.7", "5.3.3"])
def test_what_was_settled_in_memory_only_is_pending_behind_a_crash(profile: str, tmp_path: Path) -> None:
    with broker(tmp_path, profile) as running:
        with OneProducer(running.address) as producer:
            producer.end(producer.half("order-7"), COMMIT)
        running.controller.crash()
        wait_until_it_serves(running)
        found = of(running, "order-7")
        expected = ("delivered", "stored") if profile == "4.9.7" else ("pending", None)
        assert (found["state"], found["op"], len(found["deliveries"])) == (*expected, 1)


def test_a_group_is_made_with_its_settings_and_what_its_release_has_not_is_refused(tmp_path: Path) -> None:
    with broker(tmp_path) as running:
        made = running.controller.order("group", name="shipping", retryMaxTimes=2, consumeMessageOrderly=True)
        assert (made["groupName"], made["retryMaxTimes"], made["consumeMessageOrderly"]) == ("shipping", 2, True)
        running.controller.group("shipping", retryMaxTimes=3)
        assert running.controller.order("group", name="shipping") == made | {"retryMaxTimes": 3}
        with pytest.raises(BadOrderError, match="group: name: The specified topic or group"):
            running.controller.group("no group")
    (tmp_path / "old").mkdir()
    refused = pytest.raises(BadOrderError, match=r"4\.9\.7 has no such setting of a group")
    with broker(tmp_path / "old", "4.9.7") as running, refused:
        running.controller.group("shipping", consumeMessageOrderly=True)
