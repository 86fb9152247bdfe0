"""Check rounds that end early, ask nobody or run in the wrong role: pools, Errors, stops, channels, acting slaves."""

from __future__ import annotations

from fuzz.defects.broker_under_test import GROUP, START_MS, TOPIC, BrokerUnderTest
from fuzz.defects.scenario import BrokerProfile, Seen, scenario
from reference.broker.broker_settings import BrokerRole
from reference.broker.transaction.check_outcome import CheckBranch
from reference.errors import ErrorInCheckError
from reference.format.properties import UNIQUE_KEY
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC
from reference.simulation.virtual_clock import VirtualClock
from reference.store.message_store_config import MessageStoreConfig

_POOL = 20
_HALVES = 25
_PHASES = 60
_IMMUNITY_S = 100


class CreepingClock(VirtualClock):
    """A clock that goes on by a millisecond whenever it is read: a thread does not see the same time twice."""

    @property
    def now(self) -> int:
        """The wall clock, which has moved since it was read last."""
        self.advance(1)
        return super().now


@scenario("A04", "R1", affected="4.5.1", repaired_in="4.9.7")
def full_pool_for_checks(profile: BrokerProfile) -> Seen:
    """More halves are to be checked than the pool for checks can hold, and no channel takes anything.

    No channel takes anything, 25 halves are to be checked, and the pool has room for 20.
    """
    under = BrokerUnderTest(profile, check_pool_length=_POOL)
    for _ in range(_HALVES):
        under.half()
    under.process.stall_checks()
    ends, offsets, stored = [], [], []
    for _ in range(3):
        ends.append(under.round()[-1].branch.value)
        under.process.drop_stalled_checks()
        offsets.append(under.half_offset)
        stored.append(len(under.stored(HALF_TOPIC)))
    return Seen(
        symptom=offsets[-1] < _HALVES,
        facts={
            "ends of 3 rounds": tuple(ends),
            "half offset after each": tuple(offsets),
            "half messages after each": tuple(stored),
        },
    )


@scenario("A40", "L1", affected="4.5.1", repaired_in="4.9.7")
def error_in_a_round(profile: BrokerProfile) -> Seen:
    """A round ends in an Error.

    The broker has too little memory for one read of the half queue.
    """
    under = BrokerUnderTest(profile)
    half = under.half()
    steps = []
    for step in under.steps():
        steps.append(step.branch)
        if step.branch is CheckBranch.PUT_BACK_FOR_CHECK:
            under.process.miss_next_read(ErrorInCheckError("java.lang.OutOfMemoryError"))
    checks = under.checks(10)
    return Seen(
        symptom=not checks,
        facts={
            "end of the round": steps[-1].value,
            "checks in the next 10 intervals": len(checks),
            "deliveries": under.deliveries(half.properties[UNIQUE_KEY]),
        },
    )


@scenario("A01", "L1", affected="4.5.1-measures_age_once", repaired_in="4.5.1")
def end_of_an_immunity(profile: BrokerProfile) -> Seen:
    """A round meets a half in the millisecond in which its immunity ends.

    Rounds at sixty moments around the end of a half's immunity; the thread reads its clock twice.
    """
    lost = []
    for phase in range(_PHASES):
        under = BrokerUnderTest(profile, clock=CreepingClock(START_MS))
        half = under.half({"CHECK_IMMUNITY_TIME_IN_SECONDS": str(_IMMUNITY_S)})
        born = half.born_timestamp
        under.process.advance(born + _IMMUNITY_S * 1_000 - _PHASES + phase - under.clock.elapsed)
        steps = list(under.steps(waits=False))
        checks = under.checks(2)
        if not checks and all(step.check_request is None for step in steps):
            lost.append(phase)
    return Seen(symptom=bool(lost), facts={"moments": _PHASES, "moments at which the half is never checked": len(lost)})


_ROUNDS = 16


@scenario("A43", "S10", affected="5.1.0", repaired_in="5.2.0")
def batch_at_a_stop(profile: BrokerProfile) -> Seen:
    """A broker is stopped when an op batch is due that has not been written yet.

    A commit was answered, its op batch is due, the thread that writes it has not woken up, the broker stops.
    """
    under = BrokerUnderTest(profile)
    half = under.half()
    code = under.commit(half)
    under.process.advance(under.broker.settings.op_batch_interval_ms)
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
def busy_channel(profile: BrokerProfile) -> Seen:
    """The channel to the only producer of the group is busy whenever a check is to be sent.

    The only producer of the group is connected, and what was sent to it before waits to go out.
    """
    under = BrokerUnderTest(profile)
    under.half()
    under.process.set_channel(GROUP, "127.0.0.1:4242", is_writable=False)
    checks = under.checks(_ROUNDS)
    return Seen(
        symptom=not checks,
        facts={
            "checks in 16 rounds": len(checks),
            "discard records": len(under.stored(DISCARD_TOPIC)),
            "half offset": under.half_offset,
        },
    )


@scenario("B38", "L2", affected="5.3.3", repaired_in="5.3.3+asks_every_channel", also_in="4.5.1 4.9.7 5.4.0 5.5.1")
def one_live_channel_of_many(profile: BrokerProfile) -> Seen:
    """Of eight producers of a group seven are gone, and their channels are still known."""
    under = BrokerUnderTest(profile)
    under.half()
    for port in range(7):
        under.process.set_channel(GROUP, f"127.0.0.1:{port}", is_active=False)
    checks = under.checks(8)
    return Seen(
        symptom=len(checks) < 8,
        facts={"producers that are up": 1, "channels": 8, "checks in 8 rounds": len(checks)},
    )


@scenario("B42", "R1", affected="5.3.3", repaired_in="5.3.3+heeds_stop", also_in="4.5.1 4.9.7 5.4.0 5.5.1")
def round_of_a_broker_that_is_no_master_any_more(profile: BrokerProfile) -> Seen:
    """A master becomes a slave in the midst of a round."""
    under = BrokerUnderTest(profile)
    for _ in range(2):
        under.half()
    tries = 0
    for step in under.steps(pass_ms=1_000):
        if step.branch is CheckBranch.PUT_BACK_FOR_CHECK:
            under.process.change_to_slave()
        tries += step.branch is CheckBranch.PUT_BACK_FAILED
    return Seen(
        symptom=tries > 1,
        facts={"puts that the slave's store refused": tries, "delivered": len(under.stored(TOPIC))},
    )


_SMALL_FILES = MessageStoreConfig(mapped_file_size_commit_log=1_200)


def _acting_slave(under: BrokerUnderTest, other: BrokerUnderTest) -> None:
    """The master dies, its slave acts for it, and the other master of the cluster can be reached."""
    under.restart(kill=True, role=BrokerRole.ACTING_MASTER)
    under.broker.escape_bridge.send_to_master = other.broker.send_message


@scenario("A44", "L1", affected="5.0.0", repaired_in="5.1.0")
def halves_of_a_dead_master(profile: BrokerProfile) -> Seen:
    """A master dies while halves wait, and its slave acts for it.

    Two halves wait when the master dies.
    """
    under, other = BrokerUnderTest(profile), BrokerUnderTest(profile)
    keys = [under.half().properties[UNIQUE_KEY] for _ in range(2)]
    _acting_slave(under, other)
    steps = under.round(pass_ms=2_000)
    checked = {check.msg_id for check in other.checks(2)}
    return Seen(
        symptom=checked.isdisjoint(keys),
        facts={
            "what the acting slave's round did": tuple(dict.fromkeys(step.branch.value for step in steps)),
            "halves that came to the other master": len(other.stored(HALF_TOPIC)) - len(checked),
            "transactions that are checked there": len(checked),
        },
    )


@scenario(
    "B24", "L3", affected="5.3.3", repaired_in="5.3.3+corrects_offsets_on_slave", also_in="5.1.0 5.2.0 5.4.0 5.5.1"
)
def offset_before_the_first_half(profile: BrokerProfile) -> Seen:
    """The half offset of an acting slave lies before the first half that retention has left.

    Retention has deleted the first file of the log, and the slave's half offset lies before what is left.
    """
    under, other = BrokerUnderTest(profile, _SMALL_FILES), BrokerUnderTest(profile)
    under.roll_back(under.half())
    under.wait(10)
    under.round()
    under.broker.consumer_offset_manager.persist()
    for _ in range(5):
        under.half()
    disk = under.broker.message_store.disk
    disk.delete(f"commitlog/{0:020d}")
    _acting_slave(under, other)
    rounds = [[step.branch.value for step in under.round()] for _ in range(3)]
    return Seen(
        symptom=not other.stored(HALF_TOPIC),
        facts={
            "rounds of the acting slave": tuple(" ".join(branches) for branches in rounds),
            "halves that came to the other master": len(other.stored(HALF_TOPIC)),
        },
    )
