"""Scenarios of defects with a real proxy in local mode: each gives what was seen, a fact and its value a pair."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from real_brokers.clients.scenario_client import DONE
from real_brokers.patience import PATIENCE_SECONDS, wait_until
from real_brokers.proxy.stages import SETTINGS, ProxyStage

if TYPE_CHECKING:
    from real_brokers.proxy.seen import Facts

_EXPIRED_SECONDS: Final = 31.0
"""``transactionDataExpireMillis`` is 30 s."""
_MOST_SENDS: Final = 40
"""The thread that looks for flushes that take too long is not always the first of the two."""
_AGES_MS: Final = 120_000


def commit_behind_a_check(stage: ProxyStage) -> Facts:
    """A producer's commit comes behind its own answer to a check, and nothing is lost."""
    topic = "LateCommit"
    with stage.with_half(topic) as producer:
        producer.wait_for("checked", "one", "commit", PATIENCE_SECONDS)
        stage.await_delivery(topic, 1)
        answer = producer.attempt("commit one")
        stage.await_settled(topic)
        delivered = stage.delivered(topic)
    return len(delivered) == 2, {
        "halves and copies": stage.places(topic),
        "the commit is answered": answer,
        "delivered": "; ".join(delivered),
    }


def another_service_answers(stage: ProxyStage) -> Facts:
    """A service commits four messages and its ENDs get lost; another one on the topic is asked, too, and rolls back."""
    topic, keys = "Shared", ("one", "two", "three", "four")
    stage.operator.make_topic(topic)
    with stage.losing(topic, *keys) as sender, stage.producer(topic) as other:
        other.order("answer rollback")
        for key in keys:
            sender.order(f"send {topic} {key} commit")
        wait_until(
            lambda: all(sender.count("checked", key) + other.count("checked", key) for key in keys), "all checks"
        )
        stage.await_settled(topic)
        checks = {key: "Other rollback" if other.count("checked", key) else "Sender commit" for key in keys}
        delivered = [record.properties["KEYS"] for record in stage.operator.records(topic)]
    rolled_back = [key for key in keys if other.count("checked", key)]
    return bool(rolled_back) and not set(rolled_back) & set(delivered), {
        "committed by their sender": ", ".join(keys),
        "asked at and answered": "; ".join(f"{key}: {said}" for key, said in checks.items()),
        "delivered": ", ".join(delivered),
        "rolled back": ", ".join(rolled_back),
    }


def refused_behind_ok(stage: ProxyStage) -> Facts:
    """The broker refuses an END, as it has just become a slave; the proxy has answered OK, and its entry is gone."""
    topic = "Refused"
    with stage.with_half(topic) as producer:
        stage.operator.change(brokerRole="SLAVE")
        first = producer.attempt("commit one")
        stage.operator.change(brokerRole="ASYNC_MASTER")
        time.sleep(1)
        before = stage.operator.end(topic)
        second = producer.attempt("commit one")
        producer.wait_for("checked", "one", "commit", PATIENCE_SECONDS)
        stage.await_delivery(topic, 1)
    return (first, before) == (DONE, 0) and "cannot found transaction data" in second, {
        "the commit is answered": first,
        "delivered a second later": str(before),
        "the same commit again is answered": second,
        "delivered behind the first check": "; ".join(stage.delivered(topic)),
    }


def flush_takes_too_long(stage: ProxyStage) -> Facts:
    """The broker stores halves and says FLUSH_DISK_TIMEOUT: the client tries again, throws, and the halves stay."""
    topic = "Unflushed"
    stage.operator.make_topic(topic)
    with stage.producer(topic) as producer:
        producer.order("answer rollback")
        stage.operator.change(syncFlushTimeout=0)
        for number in range(_MOST_SENDS):
            key = f"send-{number}"
            sent = producer.attempt(f"send {topic} {key} leave")
            if sent != DONE:
                break
        stage.operator.change(syncFlushTimeout=5_000)
        own = [one for one in stage.halves(topic) if one.properties["KEYS"] == key]
        wait_until(lambda: producer.count("checked", key) >= len(own), "a check of each half")
        stage.await_settled(topic)
        checks = producer.count("checked", key)
    return "MASTER_PERSISTENCE_TIMEOUT" in sent and bool(own), {
        "the client throws": sent,
        "halves of the message that it has not sent": "; ".join(
            f"{one.queue_offset} at {one.physical_offset}" for one in own
        ),
        "checks of the transaction that never ran": str(checks),
    }


def producer_of_two_topics_ends(stage: ProxyStage) -> Facts:
    """A producer of two topics ends in order, with a half of the second one open."""
    topics = "First", "Second"
    for topic in topics:
        stage.operator.make_topic(topic)
    with stage.producer(*topics) as producer:
        producer.order(f"send {topics[1]} one leave")
        before = [len(stage.operator.producers(topic)) for topic in topics]
        producer.order("end")
        time.sleep(1)
        after = [len(stage.operator.producers(topic)) for topic in topics]
        wait_until(lambda: len(stage.halves(topics[1])) > 1, "a check of the open half")
        still = [len(stage.operator.producers(topic)) for topic in topics]
    return sorted(after) == [0, 1], {
        "producers that the broker knows of the two": _counts(before),
        "a second behind the end": _counts(after),
        "behind the first check": _counts(still),
    }


def commit_when_the_entry_is_old(stage: ProxyStage) -> Facts:
    """A local transaction takes 31 s, and no check comes before."""
    topic = "Slow"
    stage.operator.change(transactionTimeOut=_AGES_MS)
    with stage.with_half(topic) as producer:
        time.sleep(_EXPIRED_SECONDS)
        answer, before = producer.attempt("commit one"), stage.operator.end(topic)
        stage.operator.change(transactionTimeOut=SETTINGS["transactionTimeOut"])
        stage.await_delivery(topic, 1)
    return "cannot found transaction data" in answer and before == 0, {
        "the commit is answered": answer,
        "delivered then": str(before),
        "delivered behind the first check": "; ".join(stage.delivered(topic)),
    }


def _counts(numbers: list[int]) -> str:
    """The fewer first: the client has its topics in a set, so that chance says which of them is left."""
    return " and ".join(map(str, sorted(numbers)))
