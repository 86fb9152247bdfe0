"""Slaves that act for a dead master: whether its halves go on to another one."""

from __future__ import annotations

from fuzz.defects.broker_under_test import BrokerUnderTest
from fuzz.defects.scenario import Seen, scenario
from reference.broker.broker_settings import BrokerRole
from reference.format.properties import UNIQUE_KEY
from reference.format.system_topics import HALF_TOPIC
from reference.store.message_store_config import MessageStoreConfig

_SMALL_FILES = MessageStoreConfig(mapped_file_size_commit_log=1_200)


def _acting_slave(under: BrokerUnderTest, other: BrokerUnderTest) -> None:
    """The master dies, its slave acts for it, and the other master of the cluster can be reached."""
    under.restart(kill=True, role=BrokerRole.ACTING_MASTER)
    under.broker.escape_bridge.send_to_master = other.broker.send_message


@scenario("A44", "L1", affected="5.0.0", repaired_in="5.1.0")
def halves_of_a_dead_master(profile: str) -> Seen:
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


@scenario("B24", "L3", affected="5.3.3", repaired_in="5.3.3+corrects_offsets_on_slave", also_in="5.1.0 5.2.0 5.4.0")
def offset_before_the_first_half(profile: str) -> Seen:
    """The half offset of an acting slave lies before the first half that retention has left.

    Retention has deleted the first file of the log, and the slave's half offset lies before what is left.
    """
    under, other = BrokerUnderTest(profile, _SMALL_FILES), BrokerUnderTest(profile)
    for _ in range(6):
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
