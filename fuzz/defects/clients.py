"""Forgeries by clients: op messages, properties and offsets that are the broker's own."""

from __future__ import annotations

from fuzz.defects.broker_under_test import TOPIC, BrokerUnderTest
from fuzz.defects.scenario import BrokerProfile, Seen, scenario
from reference.format.properties import CHECK_TIMES, IMMUNITY_SECONDS, PREPARED_QUEUE_OFFSET, UNIQUE_KEY
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC
from spec.releases.broker_defaults import defaults_of

_CHECK_MAX = defaults_of(None)["transactionCheckMax"]


@scenario("A34", "S4", affected="4.5.1", repaired_in="4.9.7")
def forged_op_message(profile: BrokerProfile) -> Seen:
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


@scenario("B26", "L2", affected="5.3.3", repaired_in="5.3.3+owns_check_times", also_in="4.5.1 4.9.7 5.4.0 5.5.1")
def preset_check_count(profile: BrokerProfile) -> Seen:
    """A producer sends a half with the check count 15.

    A half that carries TRANSACTION_CHECK_TIMES=15 already, as if it had copied a consumed message.
    """
    under = BrokerUnderTest(profile)
    half = under.half({CHECK_TIMES: str(_CHECK_MAX)})
    steps = under.round()
    return Seen(
        symptom=bool(under.stored(DISCARD_TOPIC)) or "discarded" in [step.branch.value for step in steps],
        facts={
            "count in the stored half": half.properties.get(CHECK_TIMES),
            "the half in the first round": next(s.branch.value for s in steps if s.branch.value != "ops_pulled"),
            "checks": sum(step.check_request is not None for step in steps),
            "discard records": len(under.stored(DISCARD_TOPIC)),
        },
    )


@scenario("B56", "S4", affected="5.5.1", repaired_in="5.5.1+owns_prepared_offset", also_in="4.5.1 4.9.7 5.3.3 5.4.0")
def forwarded_offset_of_an_original(profile: BrokerProfile) -> Seen:
    """A consumer sends a message on as it is that was put back for its immunity, to another broker, and never ends it.

    The other broker settles the half that lies at the offset of the original while the new half is immune.
    """
    source, target = BrokerUnderTest(profile), BrokerUnderTest(profile)
    for _ in range(2):
        source.roll_back(source.half())
    source.half({IMMUNITY_SECONDS: "100", UNIQUE_KEY: "sent on"})
    source.answer_commit(source.checks(5)[0])
    (delivered,) = source.stored(TOPIC)
    target.roll_back(target.half())
    sent_on = target.half(delivered.properties)
    other = target.half()
    code = target.commit(other)
    target.wait(5)
    first = [step.branch.value for step in target.round() if step.half == sent_on.queue_offset]
    checks = target.checks(_CHECK_MAX)
    for check in checks[:1]:
        target.answer_commit(check)
    asked = [check.msg_id for check in checks]
    return Seen(
        symptom=sent_on.properties[UNIQUE_KEY] not in asked,
        facts={
            "TRAN_PREPARED_QUEUE_OFFSET in the delivered message": delivered.properties.get(PREPARED_QUEUE_OFFSET),
            "the half that was sent on, and the one that is settled": (sent_on.queue_offset, other.queue_offset),
            "answer to the commit of that": code,
            "the half that was sent on in the first round": first[-1],
            "checks of it": asked.count(sent_on.properties[UNIQUE_KEY]),
            "deliveries of the settled one": target.deliveries(other.properties[UNIQUE_KEY]),
        },
    )


@scenario("B57", "S9", affected="5.5.1", repaired_in="5.5.1+owns_consumer_offsets", also_in="4.5.1 4.9.7 5.3.3 5.4.0")
def offsets_of_the_check_service(profile: BrokerProfile) -> Seen:
    """A client sets the half offset as if it were a consumer of the check service's group, back first, then far ahead.

    Three transactions are committed and passed by a round when it goes back; another half is open when it goes ahead.
    """
    under = BrokerUnderTest(profile)
    halves = [under.half() for _ in range(3)]
    for half in halves:
        under.commit(half)
    under.wait(5)
    for _ in range(2):
        under.round()
    code = _set_half_offset(under, 0)
    again = under.checks()
    for check in again:
        under.answer_commit(check)
    under.wait(5)
    under.round()
    lost = under.half()
    _set_half_offset(under, 1_000)
    asked = [check.msg_id for check in under.checks(3)]
    return Seen(
        symptom=bool(again),
        facts={
            "answer": code,
            "checks of settled halves": len(again),
            "deliveries of each": tuple(under.deliveries(half.properties[UNIQUE_KEY]) for half in halves),
            "checks of an open half in 3 rounds": asked.count(lost.properties[UNIQUE_KEY]),
            "half messages": len(under.stored(HALF_TOPIC)),
            "half offset": under.half_offset,
        },
    )


def _set_half_offset(under: BrokerUnderTest, offset: int) -> int:
    return under.process.update_consumer_offset(HALF_TOPIC, offset)
