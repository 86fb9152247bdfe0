"""Contents of messages: properties, flags, bodies, and their fate."""

from __future__ import annotations

import zlib
from contextlib import ExitStack

from fuzz.defects.broker_under_test import TOPIC, BrokerUnderTest
from fuzz.defects.scenario import BrokerProfile, Seen, scenario
from reference.broker.transaction.check_outcome import CheckBranch
from reference.client.client_message import topic_of_half, wrap_namespace
from reference.format.properties import UNIQUE_KEY
from reference.format.stored_message import COMPRESSED_FLAG, decompressed
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC
from spec.releases.broker_defaults import defaults_of

_CHECK_MAX = defaults_of(None)["transactionCheckMax"]
_MOST_PROPERTIES_BYTES = 32_767
_FLAG = 7


@scenario("A31", "L1", affected="4.5.1", repaired_in="4.9.7")
def discarded_half(profile: BrokerProfile) -> Seen:
    """Nobody answers the checks of a half."""
    under = BrokerUnderTest(profile)
    half = under.half()
    checks = under.checks(_CHECK_MAX + 1)
    discarded = under.stored(DISCARD_TOPIC)
    return Seen(
        symptom=not discarded,
        facts={
            "checks": len(checks),
            "half offset": under.half_offset,
            "half messages": len(under.stored(HALF_TOPIC)),
            "discard records": len(discarded),
            "check count in it": discarded[0].properties["TRANSACTION_CHECK_TIMES"] if discarded else None,
            "deliveries": under.deliveries(half.properties[UNIQUE_KEY]),
        },
    )


@scenario("B31", "S8", affected="5.3.3", repaired_in="5.3.3+retries_discards", also_in="4.9.7 5.4.0 5.5.1")
def discard_that_cannot_be_stored(profile: BrokerProfile) -> Seen:
    """The store takes no message while a round gives a half up.

    The store takes no message behind the last check, in the round that gives the half up.
    """
    under = BrokerUnderTest(profile)
    under.half()
    under.checks(_CHECK_MAX - 1)
    steps = []
    with ExitStack() as full_disk:
        for step in under.steps(pass_ms=1_000):
            steps.append(step.branch)
            if step.branch is CheckBranch.PUT_BACK_FOR_CHECK:
                full_disk.enter_context(under.process.puts_fail())
        passed = under.half_offset
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


@scenario(
    "B11", "S6", affected="5.3.3", repaired_in="5.3.3+delivers_without_tran_msg", also_in="4.5.1 4.9.7 5.4.0 5.5.1"
)
def delivered_message_that_is_forwarded(profile: BrokerProfile) -> Seen:
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


@scenario("B32", "S6", affected="5.3.3", repaired_in="5.3.3+keeps_flag", also_in="4.5.1 4.9.7 5.4.0 5.5.1")
def flag_of_a_message(profile: BrokerProfile) -> Seen:
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
def downgrade(profile: BrokerProfile) -> Seen:
    """A broker of 5.3.3 that settled three transactions is replaced by an older one.

    5.3.3 settles three transactions, its process ends, and another version starts on its store.
    """
    under = BrokerUnderTest(profile.of_release("5.3.3"))
    halves = [under.half() for _ in range(3)]
    for half in halves:
        under.commit(half)
    under.wait(5)
    under.restart(profile, kill=True)
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


@scenario("B07", "L3", affected="5.3.3", repaired_in="5.3.3+parks_poison", also_in="4.5.1 4.9.7 5.4.0 5.5.1")
def half_whose_copy_is_too_long(profile: BrokerProfile) -> Seen:
    """A half's properties are so long that those of its copy are too long.

    A half whose properties are ten bytes below the limit, and one behind it; a pass takes two seconds.
    """
    under = BrokerUnderTest(profile)
    probe = BrokerUnderTest(profile).half({"x": "x"})
    length = _MOST_PROPERTIES_BYTES - 10 - len(probe.properties_text) + 1
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


_PLAIN = b"a line of an order\n" * 300
"""5,700 bytes: the client compresses what is longer than 4 KiB."""

_COMPRESSED = zlib.compress(_PLAIN, 5)


@scenario("A06", "L3", affected="4.5.1", repaired_in="4.9.7")
def compressed_half(profile: BrokerProfile) -> Seen:
    """Nobody ends a half whose body the client has compressed.

    A compressed half that nobody ends; one behind it, sent after the first round.
    """
    under = BrokerUnderTest(profile)
    under.half(body=_COMPRESSED, sys_flag=COMPRESSED_FLAG)
    first = under.round()
    behind = under.half()
    rounds = [under.round() for _ in range(3)]
    copy = under.stored(HALF_TOPIC)[1]
    checks = [step.check_request for steps in (first, *rounds) for step in steps if step.check_request is not None]
    aborted = sum(steps[-1].branch is CheckBranch.ABORTED for steps in rounds)
    return Seen(
        symptom=all(check.msg_id != behind.properties[UNIQUE_KEY] for check in checks),
        facts={
            "bytes of the body in the half and in its copy": (len(_COMPRESSED), len(copy.body)),
            "compressed flag of the copy": copy.sys_flag & COMPRESSED_FLAG,
            "the copy can be decompressed": int(decompressed(copy) is not None),
            "of 3 later rounds died of an exception": aborted,
            "half offset": under.half_offset,
            "checks of the half behind it": sum(check.msg_id == behind.properties[UNIQUE_KEY] for check in checks),
        },
    )


@scenario("B30", "S6", affected="5.2.0", repaired_in="5.2.0+resumes_as_stored", also_in="4.9.7 5.1.0")
def compressed_half_that_is_resumed(profile: BrokerProfile) -> Seen:
    """An operator resumes a discarded half whose body the client has compressed.

    A compressed half is discarded, an operator resumes it twice, and its producer answers both checks.
    """
    under = BrokerUnderTest(profile, transaction_check_max=1)
    under.half(body=_COMPRESSED, sys_flag=COMPRESSED_FLAG)
    under.round()
    (discarded,) = under.stored(DISCARD_TOPIC)
    codes = [under.resume(discarded) for _ in range(2)]
    for check in under.checks():
        under.answer_commit(check)
    delivered = under.stored(TOPIC)
    readable = [record for record in delivered if decompressed(record) is not None]
    return Seen(
        symptom=len(readable) < len(delivered),
        facts={
            "answers to two requests": tuple(codes),
            "bytes of the discarded body": len(discarded.body),
            "delivered bodies that are stored decompressed": sum(record.body == _PLAIN for record in delivered),
            "delivered bodies that a consumer can decompress": len(readable),
            "delivered": len(delivered),
        },
    )


_NAMESPACE = "NS"


@scenario("A32", "S6", affected="4.5.1", repaired_in="4.9.7")
def half_without_namespace(profile: BrokerProfile) -> Seen:
    """A producer with namespace NS sends a half, and commits it.

    A producer with a namespace sends one plain message and one half to the same topic, and commits.
    """
    under = BrokerUnderTest(profile)
    subscribed = wrap_namespace(_NAMESPACE, TOPIC)
    under.send(topic=subscribed)
    half = under.half(topic=topic_of_half(TOPIC, _NAMESPACE, under.profile.switches))
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


@scenario("B10", "S3", affected="5.3.3", repaired_in="5.3.3+checks_transaction_id", also_in="4.5.1 4.9.7 5.4.0 5.5.1")
def commit_of_a_half_that_a_failover_lost(profile: BrokerProfile) -> Seen:
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
