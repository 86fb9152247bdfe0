"""Differences of rocketmq-rust to RocketMQ, as schedules; first those that matter to a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from real_brokers.rocketmq_rust.difference import (
    END_TRANSACTION,
    DifferenceStep,
    RustDifference,
    awaited,
    check_came,
    connected,
    delivery,
    discarded,
    end,
    half,
    place,
)
from real_brokers.rocketmq_rust.stage import NO_ANSWER, Stage, properties_in_words
from reference.format.system_topics import HALF_TOPIC
from wire.client.transactions import COMMIT, ROLLBACK, UNKNOWN
from wire.remoting.codes import RequestCode

if TYPE_CHECKING:
    from collections.abc import Callable


# --- what becomes of transactions -------------------------------------------------------------------------------------

_SEND: Final = "SendMessageProcessor#sendMessage: Boolean.parseBoolean"
_CLIENTS: Final = "ProducerManager#registerProducer: by connection"
_OFFSETS: Final = "ConsumerOffsetManager#commitOffset"
_SOME_ROUNDS_S: Final = 5.0
_CAME_BACK: Final = "in the half queue"


def _is_behind_the_end(stage: Stage) -> bool:
    """Whether the check service stands where no half is."""
    return (stage.offset_of(HALF_TOPIC) or 0) > stage.length_of(HALF_TOPIC)


def _send_without_flag(stage: Stage) -> str:
    """A half whose system flag does not say that it is one: TRAN_MSG does."""
    return stage.send("B", {"TRAN_MSG": "True"}, f=0)


def _settled_offset(stage: Stage) -> str:
    """Where the check service stands when rounds have had their time to correct it."""
    came_back = stage.await_that(lambda: not _is_behind_the_end(stage), _SOME_ROUNDS_S)
    return _CAME_BACK if came_back else "behind the end of the half queue"


_TRANSACTIONS: Final = (
    RustDifference(
        name="word-true",
        says="A half whose TRAN_MSG is spelled TRUE or True is no half: it is lost, or delivered at once.",
        source="send_message_processor.rs, send_message: value.parse::<bool>() takes nothing but true",
        steps=(
            connected(),
            half("A", TRAN_MSG="TRUE"),
            place("A", "in the half topic", _SEND),
            end("A", COMMIT, "code 0"),
            delivery("A", "delivered", END_TRANSACTION),
            DifferenceStep("send half B with TRAN_MSG=True and sysFlag 0", _send_without_flag, "code 0"),
            place("B", "in the half topic", _SEND),
            end("B", ROLLBACK, "code 0"),
            delivery("B", "not delivered", END_TRANSACTION),
        ),
        matters=(
            "with the sysFlag of transactional producers, the message stands in the log and in no queue: it is never "
            "checked, and its commit delivers nothing; with sysFlag 0 consumers see at once what its producer "
            "rolls back"
        ),
        to_do="let the client send TRAN_MSG=true in lower case",
        breaks=("L1", "L5", "S5.no_commit_arrived", "S3.not_decided", "S2"),
    ),
    RustDifference(
        name="commit-of-a-delivery",
        says="A commit that names a delivered message in place of a half is carried out.",
        source="end_transaction_processor.rs, end_message_transaction: unwrap_or_default() of REAL_TOPIC and REAL_QID",
        steps=(
            connected(),
            half("A"),
            end("A", COMMIT, "code 0"),
            DifferenceStep(
                "commit, naming the delivered A by its own queue offset and commit log offset",
                lambda stage: stage.end_delivered("A", COMMIT),
                "code 1",
                "EndTransactionProcessor#endMessageTransaction: Integer.parseInt of a REAL_QID that is not there",
            ),
        ),
        matters="the client is told SUCCESS; by the source, a message is stored whose topic has no name",
    ),
    RustDifference(
        name="one-client-id",
        says=(
            "A second connection with the client id of the first takes its place: the first group has no producer left."
        ),
        source="producer_manager.rs, register_producer_sessions_locked: replaced_session",
        steps=(
            connected(),
            half("A"),
            DifferenceStep(
                "a heartbeat of another group with the same clientID, from a second connection",
                Stage.connect_again,
                "code 0",
                _CLIENTS,
            ),
            DifferenceStep("the first connection", Stage.state_of_first, "open", _CLIENTS),
            DifferenceStep(
                "await a check of A on the first connection",
                lambda stage: stage.await_check("A"),
                "a check",
                "ProducerManager#getAvailableChannel",
            ),
            discarded("A"),
        ),
        matters=(
            "where two producer processes have one client id (address@pid: containers with one address and pid 1), one "
            "of them is never asked, its halves use up their checks and are discarded"
        ),
        to_do="give each process a clientID of its own (instanceName, unitName)",
        breaks=("L2.nobody_to_ask",),
    ),
    RustDifference(
        name="two-client-ids",
        says="A second client id on one connection is refused.",
        source="client_manage_processor.rs, ensure_known_cross_role_session_identity",
        steps=(
            connected(),
            DifferenceStep(
                "a heartbeat with another clientID on the same connection",
                Stage.connect_as_another,
                "code 0",
                _CLIENTS,
            ),
        ),
        matters="no client of RocketMQ does so; a proxy that shares a connection among clients would",
    ),
    RustDifference(
        name="stop-behind-a-commit",
        says="A broker that is told to stop writes the op entries that wait in its batch.",
        source="transactional_op_batch_service.rs, run: drain_operation_queues",
        steps=(
            connected(),
            half("A"),
            end("A", COMMIT, "code 0"),
            place("A", "in the half topic and in its own topic"),
            DifferenceStep("stop the broker (SIGTERM), and start it again", Stage.restart, "started"),
            DifferenceStep(
                "whether an op message names A",
                lambda stage: "named" if stage.op_names("A") else "not named",
                "not named",
                "TransactionalOpBatchService#run: it ends without a last batchSendOpMessage (B03)",
            ),
        ),
        matters="a committed half is not asked for again behind a stop (RocketMQ: B03); a kill loses the entries (B02)",
        settings=(("transactionOpBatchInterval", "20000"),),
        keeps=("S10.op_entry_dies_with_the_process",),
    ),
    RustDifference(
        name="set-back",
        says="UPDATE_CONSUMER_OFFSET does not set the check service back, though it is answered SUCCESS.",
        source="consumer_offset_manager.rs, commit_offset: a lower offset is dropped",
        steps=(
            connected(),
            half("A"),
            end("A", COMMIT, "code 0"),
            awaited(
                "that the check service has passed A",
                lambda stage: (stage.offset_of(HALF_TOPIC) or 0) > 0,
                "passed",
                "not passed",
            ),
            DifferenceStep(
                "UPDATE_CONSUMER_OFFSET for CID_RMQ_SYS_TRANS on the half topic, one back",
                lambda stage: stage.move_check_service(HALF_TOPIC, -1),
                "code 0",
                _OFFSETS,
            ),
            awaited(
                "that A, which is settled, is in the half topic a second time",
                lambda stage: len(stage.halves("A")) > 1,
                "put back",
                "not put back",
                f"{_OFFSETS}: a lower offset is stored with a warning (B57)",
            ),
        ),
        matters="nobody can have settled transactions put back and checked again (RocketMQ: B57)",
        keeps=("S9", "S1"),
    ),
    RustDifference(
        name="set-forward",
        says=(
            "A check service that was set behind the end of its queue never comes back: no half is ever checked again."
        ),
        source="consumer_offset_manager.rs, commit_offset, which the check service itself goes through",
        steps=(
            connected(),
            DifferenceStep(
                "UPDATE_CONSUMER_OFFSET for CID_RMQ_SYS_TRANS on the half topic, 1,000 ahead",
                lambda stage: stage.move_check_service(HALF_TOPIC, 1_000),
                "code 0",
                _OFFSETS,
            ),
            DifferenceStep(
                "await some rounds: where the check service stands then",
                _settled_offset,
                _CAME_BACK,
                "TransactionalMessageServiceImpl#check: OFFSET_ILLEGAL, newOffset = nextBeginOffset",
            ),
            half("A"),
            check_came("A"),
            discarded("A"),
        ),
        matters=(
            "one request of anybody ends all checks until the queue has grown so far; so may offsets that were saved "
            "ahead of a log that a power loss has cut (B14), which RocketMQ corrects"
        ),
        to_do="keep the port from strangers, or use its ACL; stop the broker and mend config/consumerOffset.json",
        breaks=("L3", "L1.passed_over"),
        is_last=True,
    ),
)


# --- requests that are answered in another way ------------------------------------------------------------------------

_SEND_HEADER: Final = "SendMessageRequestHeaderV2 (@CFNotNull), NettyRemotingAbstract#processRequestCommand"


def asked(code: int, fields: dict[str, object], *names: str, body: bytes = b"") -> Callable[[Stage], str]:
    """A request by its code and fields."""
    return lambda stage: stage.ask(code, fields, body, *names)


def _offset_of_nobody(name: str, **more: object) -> Callable[[Stage], str]:
    fields = {"consumerGroup": name, "topic": HALF_TOPIC, "queueId": 0, **more}
    return asked(RequestCode.QUERY_CONSUMER_OFFSET, fields, "offset")


_ANSWERS: Final = (
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


# --- records that are stored with other contents ----------------------------------------------------------------------

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


_RECORDS: Final = (
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

DIFFERENCES: Final = (*_TRANSACTIONS, *_ANSWERS, *_RECORDS)
"""All of them: first those that matter to a message."""
