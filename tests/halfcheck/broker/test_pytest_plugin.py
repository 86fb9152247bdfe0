"""The plugin's fixtures start a broker as its marker says, and give what was broken when it is stopped."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator

from tests.wire.one_producer import GROUP, OneProducer
from tests.wire.proxy.one_grpc_client import OneGrpcClient, code_of
from wire.client.transactions import COMMIT
from wire.control.order_answers import VERDICT
from wire.errors import WireError
from wire.proxy.protocol.messages import TransactionResolution
from wire.remoting.codes import RequestCode

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


@pytest.mark.rocketmq(profile="5.5.0", virtual=True, grpc=True)
def test_a_grpc_client_finds_its_topic_and_its_doubled_end_is_named(
    rocketmq_broker: RocketmqBroker, rocketmq_faults: Controller
) -> None:
    rocketmq_broker.create_topic("Orders", message_type="TRANSACTION")
    rocketmq_faults.fault("double_end", key="order-7")
    with OneGrpcClient(rocketmq_broker.grpc_address) as client:
        client.be_producer()
        rocketmq_broker.wait_for_producer("Orders")
        client.send("order-7")
        assert code_of(client.end("order-7", TransactionResolution.COMMIT)) == "OK"
        rocketmq_broker.control.push_clock(10_000)
    verdict = rocketmq_broker.stop()
    assert ([each.property_id for each in verdict.broken], list(verdict.resembles)) == (["S1"], ["A13"])


@pytest.mark.rocketmq(virtual=True, proxies=2)
def test_an_end_reaches_the_other_proxy_and_is_refused(rocketmq_broker: RocketmqBroker) -> None:
    rocketmq_broker.create_topic("Orders", message_type="TRANSACTION")
    first, second = rocketmq_broker.grpc_addresses
    assert rocketmq_broker.grpc_address == first
    with OneGrpcClient(first) as client, OneGrpcClient(second) as other:
        client.send("order-7")
        assert code_of(other.end("order-7", TransactionResolution.COMMIT)) == "INTERNAL_SERVER_ERROR"
        rocketmq_broker.control.restart_proxy(proxy=1)
        assert code_of(client.end("order-7", TransactionResolution.COMMIT)) == "OK"


@pytest.mark.rocketmq(virtual=True)
def test_a_run_in_which_nothing_went_wrong_broke_nothing(rocketmq_broker: RocketmqBroker) -> None:
    with OneProducer(rocketmq_broker.address) as producer:
        producer.heartbeat()
        producer.end(producer.half("order-1"), COMMIT)
        rocketmq_broker.control.push_clock(MINUTE)
    verdict = rocketmq_broker.stop()
    assert (verdict.broken, verdict.resembles) == ((), {})


def test_a_failing_test_shows_what_the_broker_had_to_say(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        from tests.wire.proxy.one_grpc_client import OneGrpcClient

        @pytest.mark.rocketmq(virtual=True, grpc=True)
        def test_it(rocketmq_broker):
            with OneGrpcClient(rocketmq_broker.grpc_address) as client:
                route = client.call("QueryRoute", topic={"name": "Forgotten"})
            assert route.message_queues

        def test_without_a_port(rocketmq_broker):
            rocketmq_broker.grpc_address
        """
    )
    result = pytester.runpytest()
    result.assert_outcomes(failed=2)
    for line in ("*- rocketmq_broker -*", "*topic 'Forgotten', which is not there*", "*rocketmq(grpc=True) opens one*"):
        result.stdout.fnmatch_lines([line])


@pytest.mark.parametrize(
    ("marker", "said"),
    [
        ("version='5.3.3'", "version; it takes profile, speed, virtual, grpc, proxies, seed, conf by name"),
        ("'5.3.3'", "'5.3.3'; it takes profile, speed, virtual, grpc, proxies, seed, conf by name"),
        ("profile='9.9'", "'9.9': no version '9.9'; there are 4.3.0, *"),
        ("speed=0", "speed is 0, expected how many times as fast the broker's clock runs, such as 60, at most 100,000"),
        ("speed='fast'", "speed is 'fast', expected how many times *"),
        ("proxies=True", "proxies is True, expected 1 or 2 for so many proxies in cluster mode"),
        ("seed='x'", "seed is 'x', expected a whole number"),
        ("virtual=True, speed=60", "virtual=True and a speed exclude each other; leave one out"),
        (
            "conf={'transactionCheckMaximum': 3}",
            "*transactionCheckMaximum is no setting of 5.5.1, *; did you mean transactionCheckMax?*",
        ),
        (
            "conf={'transactionCheckMax': 'many'}",
            "*transactionCheckMax is 'many', not a whole number below 2147483648: *its default, 15*",
        ),
    ],
)
def test_a_marker_that_can_not_be_is_refused_in_one_line(marker: str, said: str, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        f"""
        import pytest
        @pytest.mark.rocketmq({marker})
        def test_it(rocketmq_broker): pass
        """
    )
    outcome = pytester.runpytest("-p", "no:cacheprovider")
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines([f"@pytest.mark.rocketmq: {said}"])
    assert "Traceback" not in outcome.stdout.str()
    assert "pytest_plugin.py" not in outcome.stdout.str()


def test_a_fault_that_befell_nothing_fails_the_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        @pytest.mark.rocketmq(virtual=True)
        def test_it(rocketmq_broker, rocketmq_faults):
            rocketmq_faults.fault("double_end", key="ordr-7")
        """
    )
    outcome = pytester.runpytest("-p", "no:cacheprovider")
    outcome.assert_outcomes(passed=1, errors=1)
    outcome.stdout.fnmatch_lines(["fault double_end key=ordr-7 befell nothing; nothing came that it could befall"])


@pytest.mark.rocketmq(virtual=True)
def test_the_order_to_stop_answers_the_verdict_of_the_fixture(
    rocketmq_broker: RocketmqBroker, rocketmq_faults: Controller
) -> None:
    rocketmq_faults.fault("double_end", key="order-7")
    with OneProducer(rocketmq_broker.address) as producer:
        producer.end(producer.half("order-7"), COMMIT)
    answer = rocketmq_faults.stop()
    assert "A13" in answer["resembles"]
    Draft202012Validator(VERDICT).validate(answer)
    assert rocketmq_broker.stop().to_json() == answer


@pytest.mark.rocketmq(virtual=True)
def test_a_topic_is_there_before_anybody_sends_to_it(rocketmq_broker: RocketmqBroker) -> None:
    rocketmq_broker.create_topic("Shipments", queues=2)
    with OneProducer(rocketmq_broker.address) as producer:
        route = producer.ask(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": "Shipments"})
        assert json.loads(route.body)["queueDatas"][0]["writeQueueNums"] == 2
    with pytest.raises(WireError, match="illegal characters"):
        rocketmq_broker.create_topic("no topic")


@pytest.mark.rocketmq(virtual=True)
def test_a_test_waits_for_its_producer_also_behind_a_restart(
    rocketmq_broker: RocketmqBroker, rocketmq_faults: Controller
) -> None:
    with pytest.raises(TimeoutError, match=r"no producer of order-service has come; producers: none, within 0\.1 s"):
        rocketmq_broker.wait_for_producer(GROUP, seconds=0.1)
    with OneProducer(rocketmq_broker.address) as producer:
        producer.heartbeat()
        rocketmq_broker.wait_for_producer(GROUP, seconds=0)
        rocketmq_faults.restart()
        with pytest.raises(TimeoutError, match=f"no producer of {GROUP}"):
            rocketmq_broker.wait_for_producer(GROUP, seconds=0)
