"""Every walk-through by its name, with its clients' programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reference.broker.broker_settings import BrokerSettings
from reference.client.producer_messages import LocalTransactionState, Message
from reference.cluster.push_consumer import PushConsumer
from reference.format.broker_conf import BrokerConf
from reference.format.properties import IMMUNITY_SECONDS
from reference.format.system_topics import dead_letter_topic
from reference.scenarios.acting_slave import ACTING_SLAVE, OWN_OFFSETS
from reference.scenarios.scenario import Scenario, rounds_ended
from reference.scenarios.scripted_application import COMMIT, ROLLBACK, UNKNOWN, ScriptedListener, send_all
from reference.simulation.scheduler import Sleep, Steps

if TYPE_CHECKING:
    from reference.client.producer import TransactionMQProducer
    from reference.cluster.cluster import Cluster


# --- the code of 4.5.1 ------------------------------------------------------------------------------------------------

WALK_TOPIC, WALK_GROUP = "TopicWalk", "walk-group"
BEHIND_THE_FIRST_ROUND_MS = 70_000
_WALK = {"order 0": COMMIT, "order 1": ROLLBACK}


def _send_orders(cluster: Cluster, producer: TransactionMQProducer) -> Steps[None]:
    orders = [Message(WALK_TOPIC, f"order {n}".encode(), "TagA", f"KEY{n}") for n in range(3)]
    yield from send_all(cluster, producer, orders[:2])
    yield Sleep(BEHIND_THE_FIRST_ROUND_MS)
    yield from send_all(cluster, producer, orders[2:])


def _begin_code_walk(cluster: Cluster) -> PushConsumer:
    """Two messages are settled before the first check round, a third comes behind it and is settled by a check.

    So the first round finds all its halves in the removeMap, and shows what 4.5.1 forgets: the op messages are not done
    for it (A03).
    """
    listener = ScriptedListener(lambda body: _WALK.get(body, UNKNOWN), lambda body, _asked: _WALK.get(body, COMMIT))
    cluster.run_program("orders", _send_orders(cluster, cluster.producer(WALK_GROUP, listener)))
    return PushConsumer(cluster, "walk-consumers", WALK_TOPIC)


CODE_WALK = Scenario(
    name="code-walk",
    about="4.5.1: half, local transaction, END_TRANSACTION, and a check loop that forgets which op messages are done",
    version="4.5.1",
    begin=_begin_code_walk,
    settings=BrokerSettings.of_broker_conf(BrokerConf(), "4.5.1"),
)


# --- the demonstration of ten messages on 5.3 -------------------------------------------------------------------------

DEMO_TOPIC, DEMO_GROUP = "TopicTest1234", "please_rename_unique_group_name"
TAGS = ("TagA", "TagB", "TagC", "TagD", "TagE")
ROUNDS = 3

LATE_IMMUNITY_SECONDS = 10
LATE_LOCAL_MS = 15_000


def _answer_by_number(body: str, _asked: int) -> LocalTransactionState:
    return (UNKNOWN, COMMIT, ROLLBACK)[int(body.removeprefix("Hello RocketMQ ")) % 3]


def _begin_ten_messages(cluster: Cluster) -> PushConsumer:
    """All are unknown at first, and answered at the first check by i mod 3."""
    producer = cluster.producer(DEMO_GROUP, ScriptedListener(lambda _body: UNKNOWN, _answer_by_number))
    messages = [Message(DEMO_TOPIC, f"Hello RocketMQ {i}".encode(), TAGS[i % 5], f"KEY{i}") for i in range(10)]
    cluster.run_program("demonstration", send_all(cluster, producer, messages))
    return PushConsumer(cluster, f"{DEMO_GROUP}_4", DEMO_TOPIC)


TEN_MESSAGES = Scenario(
    name="ten-messages",
    about="5.3.3: ten messages, of which three are committed, three rolled back and four left unknown",
    version="5.3.3",
    begin=_begin_ten_messages,
    is_over=lambda cluster: cluster.is_idle and rounds_ended(cluster) >= ROUNDS,
)


def _begin_late_commit(cluster: Cluster) -> PushConsumer:
    listener = ScriptedListener(lambda _body: COMMIT, lambda _body, _asked: COMMIT, LATE_LOCAL_MS)
    immunity = {IMMUNITY_SECONDS: str(LATE_IMMUNITY_SECONDS)}
    message = Message(DEMO_TOPIC, b"Hello RocketMQ, late", "TagA", "KEY", properties=immunity)
    cluster.run_program("late", send_all(cluster, cluster.producer(DEMO_GROUP, listener), [message]))
    return PushConsumer(cluster, f"{DEMO_GROUP}_4", DEMO_TOPIC)


LATE_COMMIT = Scenario(
    name="late-commit",
    about="5.3.3: a commit that comes later than its half's immunity allows is refused with ILLEGAL_OPERATION",
    version="5.3.3",
    begin=_begin_late_commit,
)

# --- the five things that can become of a message ---------------------------------------------------------------------

FIVE_TOPIC = "TopicFive"
_LOCAL = {"message 1": COMMIT, "message 2": ROLLBACK}
_CHECKED = {"message 1": COMMIT, "message 2": ROLLBACK, "message 4": COMMIT, "message 5": ROLLBACK}


def _begin_five_outcomes(cluster: Cluster) -> PushConsumer:
    listener = ScriptedListener(
        lambda body: _LOCAL.get(body, UNKNOWN), lambda body, _asked: _CHECKED.get(body, UNKNOWN)
    )
    producer = cluster.producer("five-group", listener)
    messages = [Message(FIVE_TOPIC, f"message {n}".encode(), keys=f"k{n}") for n in range(1, 6)]
    cluster.run_program("five", send_all(cluster, producer, messages))
    return PushConsumer(cluster, "five-consumers", FIVE_TOPIC)


FIVE_OUTCOMES = Scenario(
    name="five-outcomes",
    about="one commit, one rollback, one unknown for ever, one commit on check, one rollback on check",
    version="5.3.3",
    begin=_begin_five_outcomes,
    settings=BrokerSettings(transaction_check_interval_ms=10_000),
)

# --- is it still the original message? --------------------------------------------------------------------------------

SAME_TOPIC, SAME_GROUP, SAME_BODY = "Test", "tran-test", b"test"
EARLIER = 82
CLUSTER_NAME = "DefaultCluster-padded-to-forty-bytes-xxx"
"""26 bytes longer than the default: what the author's set-up added to each record."""

_OPS_ARE_WRITTEN_MS = 8_000


def _send_one_behind_others(cluster: Cluster, producer: TransactionMQProducer) -> Steps[None]:
    earlier = [Message(SAME_TOPIC, f"earlier {n}".encode()) for n in range(EARLIER)]
    yield from send_all(cluster, producer, earlier, pause_ms=0)
    yield Sleep(_OPS_ARE_WRITTEN_MS)
    yield from send_all(cluster, producer, [Message(SAME_TOPIC, SAME_BODY)])


def _begin_same_message(cluster: Cluster) -> PushConsumer:
    def answer(body: str, _asked: int = 0) -> LocalTransactionState:
        return UNKNOWN if body == SAME_BODY.decode() else COMMIT

    producer = cluster.producer(SAME_GROUP, ScriptedListener(answer, answer, local_ms=0))
    cluster.run_program("test", _send_one_behind_others(cluster, producer))
    return PushConsumer(cluster, "test-consumers", SAME_TOPIC)


SAME_MESSAGE = Scenario(
    name="same-message",
    about="5.3.3: one message through fifteen checks, a new half each time, 394 and then 395 bytes apart",
    version="5.3.3",
    begin=_begin_same_message,
    settings=BrokerSettings(transaction_check_interval_ms=10_000, broker_cluster_name=CLUSTER_NAME),
)

# --- the storage flow of 4.x ------------------------------------------------------------------------------------------

STORAGE_TOPIC = "TopicStorage"
SETTLED = 40
"""More op messages than one pull reads."""


def _outcome_of_parcel(body: str, _asked: int = 0) -> LocalTransactionState:
    number = int(body.removeprefix("parcel "))
    return UNKNOWN if number == SETTLED else ROLLBACK if number % 4 == 3 else COMMIT


def _begin_storage_flow(cluster: Cluster) -> PushConsumer:
    """An op message for each END_TRANSACTION, read by 32, and a topic for what is given up."""
    producer = cluster.producer("storage-group", ScriptedListener(_outcome_of_parcel, _outcome_of_parcel))
    parcels = [Message(STORAGE_TOPIC, f"parcel {n}".encode(), "TagP", f"P{n}") for n in range(SETTLED + 1)]
    cluster.run_program("parcels", send_all(cluster, producer, parcels))
    return PushConsumer(cluster, "storage-consumers", STORAGE_TOPIC)


STORAGE_FLOW = Scenario(
    name="storage-flow",
    about="4.9.7: op messages pulled by 32 and done when their halves are met; a half given up is kept in a topic",
    version="4.9.7",
    begin=_begin_storage_flow,
    settings=BrokerSettings(transaction_check_interval_ms=20_000),
)

# --- a delivered message that can't be consumed -----------------------------------------------------------------------

RETRY_TOPIC, RETRY_CONSUMERS = "TopicRetry", "retry-consumers"
POISON, GOOD = b"never", b"at once"


def _begin_failed_consumption(cluster: Cluster) -> PushConsumer:
    """Sixteen more tries, then the dead letter topic."""
    producer = cluster.producer("retry-group", ScriptedListener(lambda _body: COMMIT, lambda _body, _asked: COMMIT))
    messages = [Message(RETRY_TOPIC, POISON, keys="poison"), Message(RETRY_TOPIC, GOOD, keys="good")]
    cluster.run_program("orders", send_all(cluster, producer, messages))
    return PushConsumer(cluster, RETRY_CONSUMERS, RETRY_TOPIC, lambda message: message.record.body != POISON)


FAILED_CONSUMPTION = Scenario(
    name="failed-consumption",
    about="5.3.3: a committed message that its consumer gives back sixteen times and that ends as a dead letter",
    version="5.3.3",
    begin=_begin_failed_consumption,
    is_over=lambda cluster: (
        cluster.is_idle
        and cluster.broker is not None
        and cluster.broker.message_store.get_max_offset_in_queue(dead_letter_topic(RETRY_CONSUMERS), 0) > 0
    ),
)

# --- all of them ------------------------------------------------------------------------------------------------------

SCENARIOS: Final = {
    scenario.name: scenario
    for scenario in (
        CODE_WALK, TEN_MESSAGES, LATE_COMMIT, FIVE_OUTCOMES, SAME_MESSAGE, STORAGE_FLOW, ACTING_SLAVE, OWN_OFFSETS,
        FAILED_CONSUMPTION,
    )
}  # fmt: skip
