"""What becomes of halves when services stop, roles change, threads die, and connections are busy or gone."""

from __future__ import annotations

from fuzz.defects.broker_under_test import GROUP, TOPIC, BrokerUnderTest
from fuzz.defects.scenario import Seen, scenario
from reference.broker.transaction.check_step import CheckBranch
from reference.format.properties import UNIQUE_KEY
from reference.format.system_topics import DISCARD_TOPIC, OP_TOPIC

_ROUNDS = 16


@scenario("A43", "S10", affected="5.1.0", repaired_in="5.2.0")
def batch_at_a_stop(profile: str) -> Seen:
    """A broker is stopped when an op batch is due that has not been written yet.

    A commit was answered, its op batch is due, the thread that writes it has not woken up, the broker stops.
    """
    under = BrokerUnderTest(profile)
    half = under.half()
    code = under.commit(half)
    under.clock.advance(under.broker.settings.op_batch_interval_ms)
    under.restart()
    ops = len(under.stored(OP_TOPIC))
    for check in under.checks():
        under.answer_commit(check)
    return Seen(
        symptom=under.deliveries(half.properties[UNIQUE_KEY]) > 1,
        facts={
            "answer to the commit": code,
            "op messages after the stop": ops,
            "deliveries": under.deliveries(half.properties[UNIQUE_KEY]),
        },
    )


@scenario("A25", "L2", affected="4.5.1", repaired_in="4.9.7")
def busy_channel(profile: str) -> Seen:
    """The channel to the only producer of the group is busy whenever a check is to be sent.

    The only producer of the group is connected, and what was sent to it before waits to go out.
    """
    under = BrokerUnderTest(profile)
    under.half()
    under.broker.producer_manager.register_producer(GROUP, "127.0.0.1:4242").is_writable = False
    checks = under.checks(_ROUNDS)
    return Seen(
        symptom=not checks,
        facts={
            "checks in 16 rounds": len(checks),
            "discard records": len(under.stored(DISCARD_TOPIC)),
            "half offset": under.half_offset,
        },
    )


@scenario("B38", "L2", affected="5.3.3", repaired_in="5.3.3+asks_every_channel", also_in="4.5.1 4.9.7 5.4.0")
def one_live_channel_of_many(profile: str) -> Seen:
    """Of eight producers of a group seven are gone, and their channels are still known."""
    under = BrokerUnderTest(profile)
    under.half()
    for port in range(7):
        under.broker.producer_manager.register_producer(GROUP, f"127.0.0.1:{port}").is_active = False
    checks = under.checks(8)
    return Seen(
        symptom=len(checks) < 8,
        facts={"producers that are up": 1, "channels": 8, "checks in 8 rounds": len(checks)},
    )


@scenario("B42", "R1", affected="5.3.3", repaired_in="5.3.3+heeds_stop", also_in="4.5.1 4.9.7 5.4.0")
def round_of_a_broker_that_is_no_master_any_more(profile: str) -> Seen:
    """A master becomes a slave in the midst of a round."""
    under = BrokerUnderTest(profile)
    for _ in range(2):
        under.half()
    tries = 0
    for step in under.steps(pass_ms=1_000):
        if step.branch is CheckBranch.PUT_BACK_FOR_CHECK:
            under.broker.change_to_slave()
        tries += step.branch is CheckBranch.PUT_BACK_FAILED
    return Seen(
        symptom=tries > 1,
        facts={"puts that the slave's store refused": tries, "delivered": len(under.stored(TOPIC))},
    )
