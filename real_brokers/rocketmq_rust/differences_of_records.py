"""Records that rocketmq-rust stores with other contents than RocketMQ."""

from __future__ import annotations

from typing import Final

from real_brokers.rocketmq_rust.difference import (
    DifferenceStep,
    RustDifference,
    awaited,
    check_came,
    connected,
    end,
    half,
)
from real_brokers.rocketmq_rust.stage import Stage, properties_in_words
from wire.client.transactions import COMMIT, ROLLBACK

_DELIVERY: Final = (
    "EndTransactionProcessor#endMessageTransaction: the text of the properties is made before they are removed"
)
_MESSAGES_ALIKE: Final = 6


def _orders(stage: Stage) -> str:
    """How many orders of properties messages have that were sent alike."""
    orders = set()
    for number in range(_MESSAGES_ALIKE):
        letter = f"A{number}"
        stage.send(letter, {"TAGS": "x", "color": "red"})
        orders |= {tuple(record.properties) for record in stage.halves(letter)[:1]}
        stage.end(letter, ROLLBACK)
    return f"{len(orders)} order" if len(orders) == 1 else "several orders"


RECORDS: Final = (
    RustDifference(
        name="delivered-properties",
        says="A delivered message has lost TRAN_MSG.",
        source="end_transaction_processor.rs, process_command_inner: clear_property makes the stored text anew",
        steps=(
            connected(),
            half("A"),
            end("A", COMMIT, "code 0"),
            DifferenceStep(
                "the delivered A: TRAN_MSG",
                lambda stage: properties_in_words(stage.delivered("A"), "TRAN_MSG"),
                "TRAN_MSG=true",
                _DELIVERY,
            ),
            DifferenceStep(
                "the delivered A: REAL_TOPIC and REAL_QID",
                lambda stage: properties_in_words(stage.delivered("A"), "REAL_TOPIC", "REAL_QID"),
                "without REAL_TOPIC and REAL_QID",
                "MessageAccessor#clearProperty, MessageExtBrokerInner#deleteProperty",
            ),
        ),
        matters="consumers that tell transactional messages by TRAN_MSG no longer do",
    ),
    RustDifference(
        name="op-properties",
        says="An op message carries a UNIQ_KEY.",
        source="transactional_message_bridge.rs, make_op_message_inner",
        steps=(
            connected(),
            half("A"),
            end("A", ROLLBACK, "code 0"),
            awaited("an op message that names A", lambda stage: stage.op_names("A"), "came", "did not come"),
            DifferenceStep(
                "the op message: whether it has a UNIQ_KEY",
                lambda stage: "with" if "UNIQ_KEY" in stage.ops()[-1].properties else "without",
                "without",
                "TransactionalMessageBridge#makeOpMessageInner: the key is set behind the text of the properties",
            ),
        ),
        matters="no message; an op message takes some 50 bytes more of the log",
    ),
    RustDifference(
        name="check-without-id",
        says="A check names no offsetMsgId.",
        source="default_transactional_message_service.rs, put_back_half_msg_queue: the append result has no id",
        steps=(
            connected(),
            half("A"),
            check_came("A"),
            DifferenceStep(
                "the check's offsetMsgId",
                lambda stage: "an id" if stage.checks("A")[-1][0].fields.get("offsetMsgId") else "empty",
                "an id",
                "TransactionalMessageServiceImpl#putBackHalfMsgQueue",
            ),
            DifferenceStep(
                "WAIT of the message that the check carries",
                lambda stage: properties_in_words([stage.checks("A")[-1][1]], "WAIT"),
                "WAIT=false",
                "TransactionalMessageBridge#renewHalfMessageInner: setWaitStoreMsgOK changes the half's own map",
            ),
            end("A", ROLLBACK, "code 0", " as the check asks", answers_check=True),
        ),
        matters="a check listener that logs or looks its message up by the offset message id has none",
        to_do="use the UNIQ_KEY (transactionId) of the check",
    ),
    RustDifference(
        name="copy-keeps-flag",
        says="A half that is put back for a check keeps the flag of its message.",
        source="transactional_message_bridge.rs, renew_half_message_inner: the whole message is copied",
        steps=(
            connected(),
            DifferenceStep("send half A with flag 7", lambda stage: stage.send("A", h=7), "code 0"),
            check_came("A"),
            end("A", COMMIT, "code 0", " as the check asks", answers_check=True),
            DifferenceStep(
                "the delivered A: its flag",
                lambda stage: " ".join(f"flag {record.flag}" for record in stage.delivered("A")) or "not delivered",
                "flag 0",
                "TransactionalMessageBridge#renewHalfMessageInner",
            ),
        ),
        matters="the message that is delivered is the one that was sent (RocketMQ: B32)",
        keeps=("S6.flag_of_a_copy",),
    ),
    RustDifference(
        name="property-order",
        says="The properties of messages that were sent alike are stored in different orders.",
        source="rocketmq-protocol, message_properties_to_string: a HashMap with a random seed",
        steps=(
            connected(),
            DifferenceStep(
                f"send {_MESSAGES_ALIKE} halves alike, and look at the order of their properties",
                _orders,
                "1 order",
                "MessageDecoder#messageProperties2String over a java.util.HashMap",
            ),
        ),
        matters="no message; stores can't be compared byte by byte, and `halfcheck audit` takes the order for damage",
    ),
    RustDifference(
        name="preset-checks",
        says="A TRANSACTION_CHECK_TIMES of the producer that is no number counts as none; RocketMQ takes it for -1.",
        source="default_transactional_message_service.rs, need_discard",
        steps=(
            connected(),
            half("A", TRANSACTION_CHECK_TIMES="x"),
            check_came("A"),
            DifferenceStep(
                "the copy's TRANSACTION_CHECK_TIMES",
                lambda stage: properties_in_words(stage.halves("A"), "TRANSACTION_CHECK_TIMES"),
                "TRANSACTION_CHECK_TIMES=0",
                "TransactionalMessageServiceImpl#needDiscard, #getInt",
            ),
            end("A", ROLLBACK, "code 0", " as the check asks", answers_check=True),
        ),
        matters="such a half is checked once less before it is discarded",
    ),
)
