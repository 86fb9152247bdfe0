"""What stands in the records: properties, flags, discard records, op messages of other versions, copies too long."""

from __future__ import annotations

from fuzz.defects.broker_under_test import TOPIC, BrokerUnderTest
from fuzz.defects.scenario import Seen, scenario
from reference.broker.transaction.check_step import CheckBranch
from reference.format.properties import UNIQUE_KEY
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC
from spec.broker_defaults import defaults_of

_CHECK_MAX = defaults_of(None)["transactionCheckMax"]
_MOST_PROPERTIES_BYTES = 32_767
_FLAG = 7


@scenario("A31", "L1", affected="4.5.1", repaired_in="4.9.7")
def discarded_half(profile: str) -> Seen:
    """Nobody answers the checks of a half."""
    under = BrokerUnderTest(profile)
    half = under.half()
    checks = under.checks(_CHECK_MAX + 1)
    kept = under.stored(DISCARD_TOPIC)
    return Seen(
        symptom=not kept,
        facts={
            "checks": len(checks),
            "half offset": under.half_offset,
            "half messages": len(under.stored(HALF_TOPIC)),
            "discard records": len(kept),
            "check count in it": kept[0].properties["TRANSACTION_CHECK_TIMES"] if kept else None,
            "deliveries": under.deliveries(half.properties[UNIQUE_KEY]),
        },
    )


@scenario("B31", "S8", affected="5.3.3", repaired_in="5.3.3+retries_discards", also_in="4.9.7 5.4.0")
def discard_that_cannot_be_stored(profile: str) -> Seen:
    """The store takes no message while a round gives a half up.

    The store takes no message behind the last check, in the round that gives the half up.
    """
    under = BrokerUnderTest(profile)
    under.half()
    under.checks(_CHECK_MAX - 1)
    steps = []
    for step in under.steps(pass_ms=1_000):
        steps.append(step.branch)
        if step.branch is CheckBranch.PUT_BACK_FOR_CHECK:
            under.broker.message_store.is_writeable = False
    passed = under.half_offset
    under.broker.message_store.is_writeable = True
    under.checks(2)
    return Seen(
        symptom=not under.stored(DISCARD_TOPIC),
        facts={
            "the half after its last check": steps[steps.index(CheckBranch.PUT_BACK_FOR_CHECK) + 1].value,
            "half messages": len(under.stored(HALF_TOPIC)),
            "half offset after it": passed,
            "discard records two rounds later": len(under.stored(DISCARD_TOPIC)),
        },
    )


@scenario("B11", "S6", affected="5.3.3", repaired_in="5.3.3+delivers_without_tran_msg", also_in="4.5.1 4.9.7 5.4.0")
def delivered_message_that_is_forwarded(profile: str) -> Seen:
    """A forwarder sends a delivered message to another cluster, with the properties that it carries."""
    source, target = BrokerUnderTest(profile), BrokerUnderTest(profile)
    source.commit(source.half({"TAGS": "TagA"}))
    (delivered,) = source.stored(TOPIC)
    sent = target.send(dict(delivered.properties), body=delivered.body)
    checks = target.checks(_CHECK_MAX + 1)
    return Seen(
        symptom=not target.stored(TOPIC),
        facts={
            "TRAN_MSG in the delivered message": delivered.properties.get("TRAN_MSG"),
            "REAL_TOPIC in it": delivered.properties.get("REAL_TOPIC"),
            "answer of the other cluster": sent.response.code,
            "delivered there": len(target.stored(TOPIC)),
            "checks there": len(checks),
            "discard records there": len(target.stored(DISCARD_TOPIC)),
        },
    )


@scenario("B32", "S6", affected="5.3.3", repaired_in="5.3.3+keeps_flag", also_in="4.5.1 4.9.7 5.4.0")
def flag_of_a_message(profile: str) -> Seen:
    """A message with a flag is committed by its producer's answer to a check.

    Two messages with flag 7, one committed at once, one by its answer to a check.
    """
    under = BrokerUnderTest(profile)
    first, second = under.half(flag=_FLAG), under.half(flag=_FLAG)
    under.commit(first)
    under.wait(5)
    (check,) = under.checks()
    under.answer_commit(check)
    flags = {record.properties[UNIQUE_KEY]: record.flag for record in under.stored(TOPIC)}
    return Seen(
        symptom=flags[second.properties[UNIQUE_KEY]] != _FLAG,
        facts={
            "flag that was sent": _FLAG,
            "flag after a commit": flags[first.properties[UNIQUE_KEY]],
            "flag after a commit by check": flags[second.properties[UNIQUE_KEY]],
        },
    )


@scenario("B18", "S9", affected="4.9.7", repaired_in="4.9.7+reads_op_lists", also_in="4.5.1 5.0.0")
def downgrade(profile: str) -> Seen:
    """A broker of 5.3.3 that settled three transactions is replaced by an older one.

    5.3.3 settles three transactions, is stopped, and another version starts on its store.
    """
    under = BrokerUnderTest("5.3.3")
    halves = [under.half() for _ in range(3)]
    for half in halves:
        under.commit(half)
    under.wait(5)
    under.restart(profile)
    for check in under.checks():
        under.answer_commit(check)
    deliveries = tuple(under.deliveries(half.properties[UNIQUE_KEY]) for half in halves)
    return Seen(
        symptom=max(deliveries) > 1,
        facts={
            "op message": under.stored(OP_TOPIC)[0].body.decode(),
            "half messages": len(under.stored(HALF_TOPIC)),
            "deliveries of each": deliveries,
        },
    )


@scenario("B07", "L3", affected="5.3.3", repaired_in="5.3.3+parks_poison", also_in="4.5.1 4.9.7 5.4.0")
def half_whose_copy_is_too_long(profile: str) -> Seen:
    """A half's properties are so long that those of its copy are too long.

    A half whose properties are ten bytes below the limit, and one behind it; a pass takes two seconds.
    """
    under = BrokerUnderTest(profile)
    probe = BrokerUnderTest(profile).half({"x": ""})
    length = _MOST_PROPERTIES_BYTES - 10 - len(probe.properties_text)
    poison, behind = under.half({"x": "x" * length}), under.half()
    rounds = [under.round(pass_ms=2_000) for _ in range(2)]
    checked = {step.check_request.msg_id for steps in rounds for step in steps if step.check_request is not None}
    tries = [sum(step.branch is CheckBranch.PUT_BACK_FAILED for step in steps) for steps in rounds]
    return Seen(
        symptom=behind.properties[UNIQUE_KEY] not in checked,
        facts={
            "bytes of its properties": len(poison.properties_text.encode()),
            "failed puts in each of 2 rounds": tuple(tries),
            "half offset": under.half_offset,
            "the half behind it was checked": int(behind.properties[UNIQUE_KEY] in checked),
            "discard records": len(under.stored(DISCARD_TOPIC)),
        },
    )
