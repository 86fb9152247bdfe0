"""Is each guarantee seen broken by what breaks it, and by nothing else?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fuzz.broker_side.producers import half_message
from fuzz.real_alone.guarantees import OF_ONE, broken
from fuzz.real_alone.seen import SeenBroker, SeenEnd, SeenTransaction
from model_check.world import World
from reference.broker.broker_controller import BrokerController
from reference.broker.broker_settings import BrokerSettings
from reference.simulation.virtual_clock import VirtualClock
from reference.versions.versions import switches_of
from spec.language import NONE
from spec.state import End, Local

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.format.record import LogRecord

CONSTANTS = World.of("4.9.7", (), "tiny").constants
SENT = half_message(0, NONE, 0)
ACKNOWLEDGED = SeenEnd(5, End.COMMIT, "0", 0, is_in_time=True, is_own=True)


def record() -> LogRecord:
    stored = BrokerController(switches_of("4.9.7"), BrokerSettings(), VirtualClock()).send_message(SENT).record
    assert stored is not None
    return stored


HALF = record()
DELIVERED = (6, HALF, Local.COMMIT)


def committed() -> SeenTransaction:
    """One that was committed in time and delivered, as it should be."""
    return SeenTransaction(
        SENT, Local.COMMIT, halves=[HALF], delivered=[DELIVERED], ends=[ACKNOWLEDGED], commits_begun=1
    )


def unanswered() -> SeenTransaction:
    return SeenTransaction(SENT, Local.UNKNOWN, halves=[HALF])


def seen_with(of: SeenTransaction) -> SeenBroker:
    seen = SeenBroker(transactions={0: of}, half_offset=1, half_end=1, op_offset=1, op_end=1, has_settled=True)
    seen.op_names[0] = {0}
    return seen


def twice(of: SeenTransaction, _: SeenBroker) -> None:
    of.delivered.append(DELIVERED)
    of.commits_begun = 2


def rolled_back(of: SeenTransaction, _: SeenBroker) -> None:
    of.ends.append(replace(ACKNOWLEDGED, says=End.ROLLBACK))


def delivered_undecided(of: SeenTransaction, _: SeenBroker) -> None:
    of.delivered = [(6, HALF, Local.EXECUTING)]


def never_asked_for(of: SeenTransaction, _: SeenBroker) -> None:
    of.commits_begun = 0


def other_flag(of: SeenTransaction, _: SeenBroker) -> None:
    of.delivered = [(6, replace(HALF, flag=HALF.flag + 1), Local.COMMIT)]


def checked_late(of: SeenTransaction, _: SeenBroker) -> None:
    of.checked_at.append(9)


def no_op(_: SeenTransaction, seen: SeenBroker) -> None:
    seen.op_names.clear()


def refused(of: SeenTransaction, _: SeenBroker) -> None:
    of.ends[0] = replace(ACKNOWLEDGED, code="1")


def never_delivered(of: SeenTransaction, _: SeenBroker) -> None:
    of.delivered.clear()


def many_halves(of: SeenTransaction, _: SeenBroker) -> None:
    of.halves = [HALF] * (CONSTANTS.check_max + 2)


def op_left(_: SeenTransaction, seen: SeenBroker) -> None:
    seen.op_end = 2


def spun(_: SeenTransaction, seen: SeenBroker) -> None:
    seen.spun = True


@pytest.mark.parametrize(
    ("breaks", "identifier"),
    [
        (twice, "S1"), (rolled_back, "S2"), (delivered_undecided, "S3"), (never_asked_for, "S5"), (other_flag, "S6"),
        (checked_late, "S9"), (no_op, "S10"), (refused, "L5"), (never_delivered, "L5"), (many_halves, "R1"),
        (op_left, "L4"), (spun, "R1"),
    ],
)  # fmt: skip
def test_what_breaks_a_commit(breaks: Callable[[SeenTransaction, SeenBroker], None], identifier: str) -> None:
    of = committed()
    seen = seen_with(of)
    assert not list(broken(seen, CONSTANTS))
    breaks(of, seen)
    assert [each.identifier for each in broken(seen, CONSTANTS)] == [identifier]


def test_what_becomes_of_one_that_nobody_answers_for() -> None:
    of = unanswered()
    seen = seen_with(of)
    assert [each.identifier for each in broken(seen, CONSTANTS)] == ["L1"]
    seen.half_offset = 0
    assert [each.identifier for each in broken(seen, CONSTANTS)] == ["L3"]
    seen.has_settled = False
    assert not list(broken(seen, CONSTANTS))
    of.discarded_at.append(9)
    assert [each.what for each in broken(seen, CONSTANTS)] == ["transaction 0: discarded after 0 of 2 checks"]
    of.checked_at = [3, 6]
    assert not list(broken(seen, CONSTANTS))


def test_a_check_before_or_a_late_end_may_be_followed_by_another_check() -> None:
    of = committed()
    of.checked_at = [3, 9]
    assert not list(broken(seen_with(of), CONSTANTS))
    of = committed()
    of.ends = [replace(ACKNOWLEDGED, is_in_time=False)]
    of.checked_at = [9]
    assert not list(broken(seen_with(of), CONSTANTS))


def test_all_are_broken_by_something_here() -> None:
    assert set(OF_ONE) == {"S1", "S2", "S3", "S5", "S6", "S9", "S10", "L1", "L2", "L3", "L5", "R1"}
