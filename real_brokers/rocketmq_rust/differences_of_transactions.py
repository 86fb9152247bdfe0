"""What becomes of transactions in rocketmq-rust and not in RocketMQ."""

from __future__ import annotations

from typing import Final

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
from real_brokers.rocketmq_rust.stage import Stage
from reference.format.system_topics import HALF_TOPIC
from wire.client.transactions import COMMIT, ROLLBACK

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


TRANSACTIONS: Final = (
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
