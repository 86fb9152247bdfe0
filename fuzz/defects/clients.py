"""What clients may send that they should not, and what they send wrongly."""

from __future__ import annotations

from fuzz.defects.broker_under_test import TOPIC, BrokerUnderTest
from fuzz.defects.scenario import Seen, scenario
from reference.client.client_message import topic_of_half, wrap_namespace
from reference.format.system_topics import DISCARD_TOPIC, OP_TOPIC
from spec.broker_defaults import defaults_of

_NAMESPACE = "NS"
_CHECK_MAX = defaults_of(None)["transactionCheckMax"]


@scenario("A32", "S6", affected="4.5.1", repaired_in="4.9.7")
def half_without_namespace(profile: str) -> Seen:
    """A producer with namespace NS sends a half, and commits it.

    A producer with a namespace sends one plain message and one half to the same topic, and commits.
    """
    under = BrokerUnderTest(profile)
    subscribed = wrap_namespace(_NAMESPACE, TOPIC)
    under.send(topic=subscribed)
    half = under.half(topic=topic_of_half(TOPIC, _NAMESPACE, under.switches))
    code = under.commit(half)
    return Seen(
        symptom=len(under.stored(subscribed)) < 2,
        facts={
            "topic that consumers of the namespace read": subscribed,
            "REAL_TOPIC of the half": half.properties["REAL_TOPIC"],
            "answer to the commit": code,
            "delivered there": len(under.stored(subscribed)),
            "delivered to the topic without namespace": len(under.stored(TOPIC)),
        },
    )


@scenario("A34", "S4", affected="4.5.1", repaired_in="4.9.7")
def forged_op_message(profile: str) -> Seen:
    """A client sends an op message for a half that has not been ended.

    Anybody sends ``d`` and an offset to the op topic; the half at that offset has not been ended.
    """
    under = BrokerUnderTest(profile)
    half = under.half()
    sent = under.send({"TAGS": "d"}, topic=OP_TOPIC, body=str(half.queue_offset).encode())
    first = under.round()
    checks = under.checks(3)
    return Seen(
        symptom=first[-1].half > half.queue_offset and not checks and first[0].check_request is None,
        facts={
            "answer to the send": sent.response.code,
            "remark": sent.response.remark,
            "op messages": len(under.stored(OP_TOPIC)),
            "the half in the first round": next(s.branch.value for s in first if s.branch.value != "ops_pulled"),
            "checks in 4 rounds": len(checks) + sum(step.check_request is not None for step in first),
            "deliveries": len(under.delivered),
        },
    )


@scenario("B26", "L2", affected="5.3.3", repaired_in="5.3.3+owns_check_times", also_in="4.5.1 4.9.7 5.4.0")
def preset_check_count(profile: str) -> Seen:
    """A producer sends a half with the check count 15.

    A half that carries TRANSACTION_CHECK_TIMES=15 already, as if it had copied a consumed message.
    """
    under = BrokerUnderTest(profile)
    half = under.half({"TRANSACTION_CHECK_TIMES": str(_CHECK_MAX)})
    steps = under.round()
    return Seen(
        symptom=bool(under.stored(DISCARD_TOPIC)) or "discarded" in [step.branch.value for step in steps],
        facts={
            "count in the stored half": half.properties.get("TRANSACTION_CHECK_TIMES"),
            "the half in the first round": next(s.branch.value for s in steps if s.branch.value != "ops_pulled"),
            "checks": sum(step.check_request is not None for step in steps),
            "discard records": len(under.stored(DISCARD_TOPIC)),
        },
    )


@scenario("B10", "S3", affected="5.3.3", repaired_in="5.3.3+checks_transaction_id", also_in="4.5.1 4.9.7 5.4.0")
def commit_of_a_half_that_a_failover_lost(profile: str) -> Seen:
    """A failover loses half a, half b takes its place in queue and log, and a late COMMIT of a arrives.

    Half a is on the old master only; on the new one half b lies where it lay, and COMMIT of a arrives there.
    """
    old, new = BrokerUnderTest(profile), BrokerUnderTest(profile)
    old.half()
    new.half()
    lost = old.half({"KEYS": "order-a"}, body=b"a")
    other = new.half({"KEYS": "order-b", "UNIQ_KEY": "K9"}, body=b"b")
    code = new.commit(lost)
    bodies = [record.body.decode() for record in new.stored(TOPIC)]
    return Seen(
        symptom=bodies == ["b"],
        facts={
            "half a": f"queue offset {lost.queue_offset}, commit log offset {lost.physical_offset}",
            "half b": f"queue offset {other.queue_offset}, commit log offset {other.physical_offset}",
            "unique key in the END_TRANSACTION": lost.properties["UNIQ_KEY"],
            "unique key of half b": other.properties["UNIQ_KEY"],
            "answer": code,
            "delivered": tuple(bodies),
        },
    )
