"""Requests that rocketmq-rust answers in another way than RocketMQ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from real_brokers.rocketmq_rust.difference import (
    END_TRANSACTION,
    DifferenceStep,
    RustDifference,
    connected,
    delivery,
    end,
    half,
    place,
)
from real_brokers.rocketmq_rust.stage import NO_ANSWER, Stage
from reference.format.system_topics import HALF_TOPIC
from wire.client.transactions import COMMIT, ROLLBACK, UNKNOWN
from wire.remoting.codes import RequestCode

if TYPE_CHECKING:
    from collections.abc import Callable

_SEND_HEADER: Final = "SendMessageRequestHeaderV2 (@CFNotNull), NettyRemotingAbstract#processRequestCommand"


def asked(code: int, fields: dict[str, object], *names: str, body: bytes = b"") -> Callable[[Stage], str]:
    """A request by its code and fields."""
    return lambda stage: stage.ask(code, fields, body, *names)


def _offset_of_nobody(name: str, **more: object) -> Callable[[Stage], str]:
    fields = {"consumerGroup": name, "topic": HALF_TOPIC, "queueId": 0, **more}
    return asked(RequestCode.QUERY_CONSUMER_OFFSET, fields, "offset")


ANSWERS: Final = (
    RustDifference(
        name="commit-of-nothing",
        says="A commit that names no message is answered SUCCESS; a rollback is refused, as it should be.",
        source="end_transaction_processor.rs, process_command_inner: OperationResult::default()",
        steps=(
            connected(),
            half("A"),
            end("A", ROLLBACK, "code 1", ", naming commit log offset 3", commitLogOffset=3),
            end("A", COMMIT, "code 1", ", naming commit log offset 3", commitLogOffset=3),
            end("A", COMMIT, "code 1", ", naming an offset behind the end of the log", commitLogOffset=10**12),
            place("A", "in the half topic"),
            end("A", ROLLBACK, "code 0", " as it is named"),
        ),
        matters=(
            "a commit whose half is gone (its file deleted by retention, the log cut by a power loss) is acknowledged, "
            "and nothing is delivered"
        ),
        to_do="do not take SUCCESS of END_TRANSACTION for a delivery; keep fileReservedTime well above the checks",
        breaks=("S10", "L5"),
    ),
    RustDifference(
        name="unknown-is-answered",
        says="An END_TRANSACTION of unknown outcome that waits for an answer gets one.",
        source="end_transaction_processor.rs, process_shared",
        steps=(
            connected(),
            half("A"),
            DifferenceStep(
                "END_TRANSACTION of unknown outcome for half A, not one-way",
                lambda stage: stage.end_and_wait("A", UNKNOWN),
                NO_ANSWER,
                END_TRANSACTION,
            ),
            end("A", ROLLBACK, "code 0"),
        ),
        matters="no message; a client that waits learns at once what RocketMQ lets it wait for until its timeout",
    ),
    RustDifference(
        name="optional-fields",
        says="A request without a field that RocketMQ does without is refused, an END_TRANSACTION without msgId, too.",
        source="decode_command_custom_header of rocketmq-protocol: the field is no Option there",
        steps=(
            connected(),
            half("A"),
            end(
                "A",
                COMMIT,
                "code 0",
                " without msgId and transactionId",
                "EndTransactionRequestHeader: msgId and transactionId are @CFNullable",
                msgId=None,
                transactionId=None,
            ),
            delivery("A", "delivered"),
            DifferenceStep(
                "send a half without defaultTopic",
                lambda stage: stage.send("B", c=None),
                "code 0",
                "SendMessageRequestHeaderV2#decode, SendMessageProcessor#parseRequestHeader",
            ),
            DifferenceStep(
                "pull without subVersion",
                lambda stage: stage.pull(subVersion=None),
                "code 0",
                "PullMessageRequestHeader#decode",
            ),
        ),
        matters="a client that leaves msgId out, which nothing of a transaction needs, commits and rolls back in vain",
        to_do="let the client send msgId and transactionId in each END_TRANSACTION",
        breaks=("L5",),
    ),
    RustDifference(
        name="missing-fields",
        says="What is missing or out of range in a request is answered by other codes.",
        source="decode_command_custom_header of rocketmq-protocol, and the error table of rocketmq-transport",
        steps=(
            connected(),
            half("A"),
            end("A", COMMIT, "code 1", " without commitLogOffset", commitLogOffset=None),
            end("A", COMMIT, "code 1", " with commitOrRollback=x", commitOrRollback="x"),
            DifferenceStep(
                "send a half without queueId", lambda stage: stage.send("B", e=None), "code 1", _SEND_HEADER
            ),
            DifferenceStep(
                "send a half without bornTimestamp", lambda stage: stage.send("B", g=None), "code 1", _SEND_HEADER
            ),
            DifferenceStep(
                "send a half to queue 9 of 4",
                lambda stage: stage.send("B", e=9),
                "code 29",
                "AbstractSendMessageProcessor#msgCheck: INVALID_PARAMETER",
            ),
            DifferenceStep(
                "pull queue 1 of the half topic, which has one queue",
                lambda stage: stage.pull(queueId=1),
                "code 29",
                "PullMessageProcessor#processRequest: INVALID_PARAMETER",
            ),
            end("A", ROLLBACK, "code 0"),
        ),
        matters=(
            "no message; but a client that sends again on SYSTEM_ERROR (1) and gives up on other codes behaves in "
            "another way (DefaultMQProducer: its retryResponseCodes have 1, and not 29)"
        ),
    ),
    RustDifference(
        name="pull-without-subscription",
        says="A pull that brings no subscription is served if an earlier one of its group brought one.",
        source="pull_message_processor.rs",
        steps=(
            connected(),
            half("A"),
            DifferenceStep(
                "pull with sysFlag 4, which says that the request brings a subscription", Stage.pull, "code 0"
            ),
            DifferenceStep(
                "pull with sysFlag 0, which says that it brings none; the group has sent no heartbeat",
                lambda stage: stage.pull(sysFlag=0),
                "code 24",
                "PullMessageProcessor#processRequest: SUBSCRIPTION_NOT_EXIST",
            ),
            end("A", ROLLBACK, "code 0"),
        ),
        matters="no transaction; a consumer whose heartbeat was lost reads on instead of registering again",
    ),
    RustDifference(
        name="bare-header",
        says="A JSON header without serializeTypeCurrentRPC ends the connection.",
        source="rocketmq-protocol, RemotingCommand: the field has no default when a header is read",
        steps=(
            DifferenceStep(
                "GET_MAX_OFFSET in a JSON header with serializeTypeCurrentRPC", Stage.ask_full_header, "code 0"
            ),
            DifferenceStep(
                "the same in a JSON header without it",
                Stage.ask_bare_header,
                "code 0",
                "RemotingCommand#headerDecode: the encoding is the upper byte of the header's length",
            ),
        ),
        matters="clients that leave it out, such as the Go client 2.1.2, can't connect at all: every request times out",
        to_do="let the client use the binary (ROCKETMQ) header encoding, or add the field to its JSON",
    ),
    RustDifference(
        name="settings-at-run-time",
        says="The transaction settings can't be changed while the broker runs, and it does not tell them.",
        source="config/transaction.rs, RuntimeBrokerConfigPatch",
        steps=(
            DifferenceStep(
                "UPDATE_BROKER_CONFIG of transactionTimeOut, to what it is",
                asked(RequestCode.UPDATE_BROKER_CONFIG, {}, body=b"transactionTimeOut=3000"),
                "code 0",
                "AdminBrokerProcessor#updateBrokerConfig",
            ),
            DifferenceStep(
                "UPDATE_BROKER_CONFIG of transactionCheckMax, to what it is",
                asked(RequestCode.UPDATE_BROKER_CONFIG, {}, body=b"transactionCheckMax=5"),
                "code 0",
                "AdminBrokerProcessor#updateBrokerConfig",
            ),
            DifferenceStep(
                "GET_BROKER_CONFIG: what the timeout is called",
                Stage.name_of_timeout,
                "transactionTimeOut",
                "BrokerConfig",
            ),
            DifferenceStep(
                "the release that an answer's header names", Stage.release, "5.5.0", "MQVersion#CURRENT_VERSION"
            ),
        ),
        matters=(
            "no message; tools that speed checks up, and the probe without --profile and --broker-conf, do not work"
        ),
        to_do="set them in its TOML and start it again; give the probe --profile and --broker-conf",
    ),
    RustDifference(
        name="absent-offset",
        says="The offset of a group that has none is told in another way.",
        source="consumer_manage_processor.rs, query_consumer_offset",
        steps=(
            DifferenceStep(
                "QUERY_CONSUMER_OFFSET of an unknown group, setZeroIfNotFound=false",
                _offset_of_nobody("nobody", setZeroIfNotFound=False),
                "code 22, offset=",
                "ConsumerManageProcessor#queryConsumerOffset",
            ),
            DifferenceStep(
                "the same without setZeroIfNotFound",
                _offset_of_nobody("nobody"),
                "code 0, offset=0",
                "ConsumerManageProcessor#queryConsumerOffset",
            ),
            DifferenceStep(
                "the same with setZeroIfNotFound=true",
                _offset_of_nobody("nobody", setZeroIfNotFound=True),
                "code 0, offset=0",
                "ConsumerManageProcessor#queryConsumerOffset",
            ),
        ),
        matters="no transaction; a consumer that asks so finds SUCCESS and no offset",
    ),
)
