"""Scenarios of defects with two real proxies in cluster mode before one broker."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from real_brokers.clients.scenario_client import DONE
from real_brokers.patience import PATIENCE_SECONDS, wait_until
from real_brokers.proxy.relay import GrpcRelay
from real_brokers.rocketmq.client import COMMIT, UNKNOWN, ClientMessage, ClientPlan

if TYPE_CHECKING:
    from real_brokers.proxy.seen import Facts
    from real_brokers.proxy.stages import ProxyStage, RealClusterStage

_SCANS_SECONDS: Final = 6.0
"""Three scans of a proxy."""
_BEHIND_FIRST_HEARTBEAT_SECONDS: Final = 3.0
"""It comes 1 s behind a producer's start and every 30 s from then on, to the brokers that it knows: none at first."""
_UNAVAILABLE: Final = "UNAVAILABLE"
"""A client that has not connected again."""
_NOT_FOUND: Final = "cannot found transaction data"


def restarted_proxy(stage: ProxyStage) -> Facts:
    """The proxy is killed and started again between send and commit."""
    topic = "Restarted"
    with stage.with_half(topic) as producer:
        stage.proxies[0].restart()
        while _UNAVAILABLE in (answer := producer.attempt("commit one")):
            time.sleep(1)
        before = stage.operator.end(topic)
        at_last = stage.await_end(topic)
    return _NOT_FOUND in answer and before == 0, {
        "the commit is answered": answer,
        "delivered then": str(before),
        "checks that reached the client": str(producer.count("checked", "one")),
        "at last": at_last,
    }


def commit_through_the_other(stage: ProxyStage) -> Facts:
    """Something that balances requests brings the send to one proxy and the commit to the other."""
    topic = "Balanced"
    with GrpcRelay(stage.addresses[0], stage.addresses[1]) as relay, stage.with_half(topic, relay.address) as producer:
        answer, before = producer.attempt("commit one"), stage.operator.end(topic)
    return _NOT_FOUND in answer and before == 0, {
        "the commit is answered": answer,
        "delivered then": str(before),
    }


def two_instances_at_two_proxies(stage: ProxyStage) -> Facts:
    """Of two instances of a service, each at a proxy of its own, one commits late; the other has answered the check."""
    topic = "TwoProxies"
    stage.operator.make_topic(topic)
    with stage.producer(topic) as sender, stage.producer(topic, address=stage.addresses[1]) as other:
        sender.order("answer unknown")
        time.sleep(_SCANS_SECONDS)
        sender.order(f"send {topic} one leave")
        other.wait_for("checked", "one", "commit", PATIENCE_SECONDS)
        stage.await_delivery(topic, 1)
        answer = sender.attempt("commit one")
        time.sleep(1)
        delivered = stage.delivered(topic)
    return answer == DONE and len(delivered) == 2, {
        "halves and copies": stage.places(topic),
        "the commit is answered": answer,
        "delivered": "; ".join(delivered),
    }


def broker_dies_behind_ok(stage: ProxyStage) -> Facts:
    """The broker stands still while a producer commits, and is killed: the END was answered, and is lost."""
    topic = "Dies"
    with stage.with_half(topic) as producer:
        committed = stage.halves(topic)[0].physical_offset
        stage.broker.freeze_broker()
        answer = producer.attempt("commit one")
        stage.broker.kill_broker()
        stage.broker.start_broker()
        at_last = stage.await_end(topic)
        by_it = [one for one in stage.operator.records(topic) if one.prepared_transaction_offset == committed]
    return answer == DONE and not by_it, {
        "the commit is answered": answer,
        "delivered from the half that it names": str(len(by_it)),
        "checks that reached the client": str(producer.count("checked", "one")),
        "at last": at_last,
    }


def remoting_client_commits(stage: RealClusterStage) -> Facts:
    """A Java client that speaks remoting sends through the proxy's remoting port, and commits at once."""
    topic, group = "Remoting", "remoting-service"
    stage.operator.make_topic(topic)
    message = ClientMessage(topic, "one|body", keys="one")
    client = stage.remoting_client()
    client.producer("P", group)
    half = client.send("P", message, ClientPlan.of(UNKNOWN, COMMIT))
    answer = client.end("P", "by hand", half, COMMIT, group=group)
    time.sleep(1)
    before = stage.operator.end(topic)
    at_last = stage.await_end(topic)
    client.halt()
    return before == 0, {
        "the commit is answered": str(answer),
        "delivered a second later": str(before),
        "checks until it was": str(stage.checks(topic)),
        "at last": at_last,
    }


def first_send_before_a_heartbeat(stage: RealClusterStage) -> Facts:
    """A producer that speaks remoting sends 3 s behind its start; its next heartbeat comes 28 s later, scans before."""
    topic, group = "Forgotten", "waiting-service"
    stage.operator.make_topic(topic)
    first, second = (ClientMessage(topic, f"{key}|body", keys=key) for key in ("one", "two"))
    client = stage.remoting_client()
    client.producer("P", group)
    time.sleep(_BEHIND_FIRST_HEARTBEAT_SECONDS)
    client.send("P", first, ClientPlan.of(UNKNOWN, COMMIT))
    at_last = stage.await_end(topic)
    wait_until(lambda: group in stage.proxies[0].logged(), "the heartbeat of P")
    time.sleep(_SCANS_SECONDS)
    asked, known = client.checks(first).count, stage.operator.producers(group)
    client.send("P", second, ClientPlan.of(UNKNOWN, COMMIT))
    client.wait_for_checks(second, 1)
    known_then = stage.operator.producers(group)
    client.halt()
    return asked == 0 and not known, {
        "checks that reached the producer": str(asked),
        "at last": at_last,
        "producers of the group that the broker knows behind the heartbeat": str(len(known)),
        "those behind the next send": str(len(known_then)),
    }
