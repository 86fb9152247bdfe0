"""Bodies that the client has compressed, read by a broker that decompresses them and leaves their flag."""

from __future__ import annotations

import zlib

from fuzz.defects.broker_under_test import TOPIC, BrokerUnderTest
from fuzz.defects.scenario import Seen, scenario
from reference.broker.transaction.check_step import CheckBranch
from reference.format.message_decoder import COMPRESSED_FLAG, decompressed
from reference.format.properties import UNIQUE_KEY
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC

_PLAIN = b"a line of an order\n" * 300
"""5,700 bytes: the client compresses what is longer than 4 KiB."""

_COMPRESSED = zlib.compress(_PLAIN, 5)


@scenario("A06", "L3", affected="4.5.1", repaired_in="4.9.7")
def compressed_half(profile: str) -> Seen:
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


@scenario("B30", "S6", affected="5.3.3", repaired_in="5.3.3+resumes_as_stored", also_in="4.9.7 5.4.0")
def compressed_half_that_is_resumed(profile: str) -> Seen:
    """An operator resumes a discarded half whose body the client has compressed.

    A compressed half is discarded, an operator resumes it twice, and its producer answers both checks.
    """
    under = BrokerUnderTest(profile, transaction_check_max=1)
    under.half(body=_COMPRESSED, sys_flag=COMPRESSED_FLAG)
    under.round()
    (kept,) = under.stored(DISCARD_TOPIC)
    codes = [under.resume(kept) for _ in range(2)]
    for check in under.checks():
        under.answer_commit(check)
    delivered = under.stored(TOPIC)
    readable = [record for record in delivered if decompressed(record) is not None]
    return Seen(
        symptom=len(readable) < len(delivered),
        facts={
            "answers to two requests": tuple(codes),
            "bytes of the discarded body": len(kept.body),
            "delivered bodies that are stored decompressed": sum(record.body == _PLAIN for record in delivered),
            "delivered bodies that a consumer can decompress": len(readable),
            "delivered": len(delivered),
        },
    )
