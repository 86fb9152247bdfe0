"""The lines of ``[now]`` and ``[beside]``: how an order comes into a state, what is advised, what else one may do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reference.broker.transaction.check_outcome import CheckBranch
from tests.spark_trace_analysis.audit.advice.shop import Shop

if TYPE_CHECKING:
    from tests.spark_trace_analysis.audit.advice.shop import Files

Deed = Callable[[Shop], object]


@dataclass(frozen=True, slots=True)
class Story:
    """One line of the advice on the broker; the order is ``A``.

    Attributes
    ----------
    situation
        Brings the order into a state, and shows the operator the files.
    followed, ignored
        What the operator does, and what happens then.
    """

    situation: Callable[[], Shop]
    followed: Deed
    ignored: Deed


def wait(shop: Shop) -> None:
    """Wait for the next rounds, with producers that answer."""
    shop.rounds(3)


def send_again(shop: Shop) -> None:
    """Send it again whatever the database says, and let the rounds come."""
    shop.send_again("A")
    wait(shop)


def decide(shop: Shop) -> None:
    """Decide by the database, and let the rounds come."""
    shop.decide_and_send_again("A")
    wait(shop)


def be_idempotent(shop: Shop) -> None:
    """Let consumers leave out what they had before, and wait."""
    shop.consume()
    shop.is_idempotent = True
    wait(shop)


def take_back_one(shop: Shop) -> None:
    """Take back what was done twice, let consumers be idempotent, and wait."""
    shop.take_back("A", 1)
    be_idempotent(shop)


def answer_wrongly(shop: Shop) -> None:
    """Let the producer answer a check with what its database does not say."""
    shop.answers["A"] = not shop.database["A"]
    wait(shop)


# --- situations -------------------------------------------------------------------------------------------------------


def committed(*, times: int = 1) -> Shop:
    """It is committed at once, so many times."""
    shop = Shop()
    half = shop.half("A")
    for _ in range(times):
        shop.under.commit(half)
    shop.under.wait(4)
    return shop


def rolled_back() -> Shop:
    """It is rolled back at once."""
    shop = Shop()
    shop.under.roll_back(shop.half("A", committed=False))
    shop.under.wait(4)
    return shop


def undecided(settings: Mapping[str, int] | None = None) -> Shop:
    """Its END_TRANSACTION is lost."""
    shop = Shop(settings=settings)
    shop.half("A")
    return shop


def discarded(*, committed: bool = True) -> Shop:
    """Nobody answers its only check."""
    shop = Shop(settings={"transaction_check_max": 1})
    shop.half("A", committed=committed)
    shop.rounds(2, answered=False)
    return shop


def lost() -> Shop:
    """The store takes no message as its discard is to be stored, and the rounds go on."""
    shop = undecided({"transaction_check_max": 1})
    for step in shop.under.steps():
        if step.branch is CheckBranch.PUT_BACK_FOR_CHECK:
            shop.under.broker.message_store.is_writeable = False
    shop.under.round()
    shop.under.broker.message_store.is_writeable = True
    shop.another_round()
    return shop


def committed_late(*, times: int = 1) -> Shop:
    """It is committed when a check has replaced its half; the check is open."""
    shop = Shop()
    half = shop.half("A")
    shop.rounds(answered=False)
    for _ in range(times):
        shop.under.commit(half)
    shop.under.wait(4)
    return shop


def rolled_back_late() -> Shop:
    """It is rolled back when a check has replaced its half."""
    shop = Shop()
    half = shop.half("A", committed=False)
    shop.rounds(answered=False)
    shop.under.roll_back(half)
    shop.under.wait(4)
    return shop


def op_lost(*, times: int = 1) -> Shop:
    """It is committed, and the broker dies before the op message is written."""
    shop = Shop()
    half = shop.half("A")
    for _ in range(times):
        shop.under.commit(half)
    shop.under.restart(kill=True)
    return shop


def resumed() -> Shop:
    """An operator has resumed it after the discard."""
    shop = discarded()
    shop.resume("A")
    return shop


def crashed(*, committed: bool = True, ends: int = 1) -> Shop:
    """It is settled by its answer to a check, and the broker dies before the offsets are saved."""
    shop = Shop()
    shop.half("A", committed=committed)
    shop.save()
    (check,) = shop.under.checks()
    for _ in range(ends):
        shop.answer([check])
    shop.under.wait(4)
    shop.under.restart(kill=True)
    return shop.show(shop.files())


def with_older(part: str, earlier: Files, later: Files) -> Files:
    """A copy of which the files of one part were read earlier than the others."""
    return {
        **{name: content for name, content in later.items() if part not in name},
        **{name: content for name, content in earlier.items() if part in name},
    }


def in_a_skewed_copy() -> Shop:
    """It waits for its check; of a copy the log was read before its half was put back, and the offsets later."""
    shop = undecided()
    earlier = shop.files()
    shop.rounds(2, answered=False)
    shop.save()
    return shop.show(with_older("commitlog", earlier, shop.files()))


def discarded_and_resumed_after_the_copy() -> Shop:
    """It is discarded; a copy has older offsets; then an operator resumes it."""
    shop = Shop(settings={"transaction_check_max": 1})
    shop.half("A")
    shop.save()
    earlier = shop.files()
    shop.rounds(answered=False)
    shop.show(with_older("consumerOffset", earlier, shop.files()))
    shop.resume("A")
    return shop


def find_out(shop: Shop) -> None:
    """Audit a copy of files of one moment, and do what is advised of that."""
    row = shop.show().row("A")
    assert "unknown" not in (row.state, *row.also)
    states = {row.state.value, *(state.value for state in row.also)}
    if states & {"lost", "parked"} and not states & {"pending", "delivered", "doubled", "rolled_back"}:
        shop.decide_and_send_again("A")
    wait(shop)


def commit_after_discard() -> Shop:
    """It is committed after its discard."""
    shop = Shop(settings={"transaction_check_max": 1})
    half = shop.half("A")
    shop.rounds(2, answered=False)
    shop.under.commit(half)
    shop.under.wait(4)
    return shop


def contradicted() -> Shop:
    """Its rollback is followed by a commit."""
    shop = Shop()
    half = shop.half("A", committed=False)
    shop.under.roll_back(half)
    shop.under.commit(half)
    shop.under.wait(4)
    return shop


STATES: Final = {
    ("now", "lost"): Story(lambda: lost().show(), decide, wait),
    ("now", "doubled"): Story(lambda: committed(times=2).show(), take_back_one, wait),
    ("now", "parked"): Story(lambda: discarded().show(), decide, wait),
    ("now", "delivered"): Story(lambda: committed().show(), wait, send_again),
    ("now", "rolled_back"): Story(lambda: rolled_back().show(), wait, send_again),
    ("now", "pending"): Story(lambda: undecided().show(), wait, send_again),
    ("now", "parked and pending"): Story(lambda: resumed().show(), wait, decide),
    ("now", "pending and delivered"): Story(lambda: op_lost().show(), be_idempotent, wait),
    ("now", "doubled and pending"): Story(lambda: op_lost(times=2).show(), take_back_one, wait),
    ("now", "pending and rolled_back"): Story(lambda: rolled_back_late().show(), wait, answer_wrongly),
    ("now", "unknown"): Story(in_a_skewed_copy, find_out, decide),
    ("now", "parked and unknown"): Story(discarded_and_resumed_after_the_copy, find_out, decide),
    ("now", "unknown and delivered"): Story(crashed, be_idempotent, wait),
    ("now", "doubled and unknown"): Story(lambda: crashed(ends=2), take_back_one, wait),
    ("now", "unknown and rolled_back"): Story(lambda: crashed(committed=False), wait, answer_wrongly),
    ("beside", "parked"): Story(lambda: commit_after_discard().show(), wait, decide),
    ("beside", "rolled_back"): Story(lambda: contradicted().show(), lambda shop: shop.take_back("A", 1), wait),
}
