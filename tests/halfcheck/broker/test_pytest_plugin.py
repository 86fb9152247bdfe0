"""The plugin's fixtures start a broker as its marker says, and give what was broken when it is stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.wire.one_producer import OneProducer
from wire.client.transactions import COMMIT

if TYPE_CHECKING:
    from halfcheck.pytest_plugin import RocketmqBroker
    from wire.control.controller import Controller

pytest_plugins = ["pytester"]
MINUTE = 60_000


@pytest.mark.rocketmq(profile="4.9.7", virtual=True, conf={"transactionCheckMax": 2})
def test_the_marker_chooses_release_clock_and_settings(rocketmq_broker: RocketmqBroker) -> None:
    assert rocketmq_broker.control.status()["profile"] == "4.9.7"
    with OneProducer(rocketmq_broker.address) as producer:
        producer.heartbeat()
        producer.half("twice")
        for _ in range(4):
            rocketmq_broker.control.push_clock(MINUTE + 1_000)
        assert [check.key for check in iter(lambda: producer.check(0.1), None)] == ["twice", "twice"]


@pytest.mark.rocketmq(profile="5.3.3", virtual=True)
def test_a_double_delivery_is_named_with_the_guarantee_and_the_defect(
    rocketmq_broker: RocketmqBroker, rocketmq_faults: Controller
) -> None:
    rocketmq_faults.fault("double_end", key="order-7")
    with OneProducer(rocketmq_broker.address) as producer:
        producer.end(producer.half("order-6"), COMMIT)
        producer.end(producer.half("order-7"), COMMIT)
        assert producer.keys() == ["order-6", "order-7", "order-7"]
        rocketmq_broker.control.push_clock(10_000)  # the op messages are written; else they would be lost (S10)
    verdict = rocketmq_broker.stop()
    assert [each.property_id for each in verdict.broken] == ["S1"]
    assert list(verdict.resembles) == ["A13"]
    assert verdict.audit is not None
    assert verdict.audit.counts["doubled"] == 1


@pytest.mark.rocketmq(virtual=True)
def test_a_run_in_which_nothing_went_wrong_broke_nothing(rocketmq_broker: RocketmqBroker) -> None:
    with OneProducer(rocketmq_broker.address) as producer:
        producer.heartbeat()
        producer.end(producer.half("order-1"), COMMIT)
        rocketmq_broker.control.push_clock(MINUTE)
    verdict = rocketmq_broker.stop()
    assert (verdict.broken, verdict.resembles) == ((), {})


def test_a_marker_with_an_option_that_there_is_not_is_refused(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        @pytest.mark.rocketmq(version="5.3.3")
        def test_it(rocketmq_broker): pass
        """
    )
    outcome = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines(["*version; it takes profile, speed, virtual, seed, conf by name*"])
