"""The lines of ``[next]``: each cause once as it comes, and once with what is advised against it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from reference.broker.transaction.check_outcome import CheckBranch
from reference.format.properties import CHECK_TIMES, IMMUNITY_SECONDS
from reference.format.record import CommitLogOffset, QueueOffset
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC
from reference.store.message_store_config import MessageStoreConfig
from tests.spark_trace_analysis.audit.advice.shop import Shop

if TYPE_CHECKING:
    from reference.format.record import LogRecord

Play = Callable[[bool], Shop]
"""Plays a cause; the argument says whether the advice was followed from the beginning."""

LONG_MS = 100_000
"""A ``transactionTimeOut`` above the longest local transaction, the longest round and the op batch interval."""
_PULLED = 32
"""Op messages that a round reads at first."""


def crowd(shop: Shop, number: int = _PULLED + 8) -> list[LogRecord]:
    """Other halves, so many."""
    return [shop.half(f"other {index}") for index in range(number)]


def read_the_discard_topic(shop: Shop) -> None:
    """Decide on what lies there by the database."""
    for record in shop.under.stored(DISCARD_TOPIC):
        shop.decide_and_send_again(record.properties["KEYS"])


def timeout(followed: bool) -> dict[str, int]:
    """The setting that most causes of a late commit want."""
    return {"transaction_timeout_ms": LONG_MS} if followed else {}


def a02(followed: bool) -> Shop:
    """A round ends early, after a pull at the end of the op queue."""
    shop = Shop("4.9.7" if followed else "4.5.1")
    shop.half("old")
    shop.under.wait(57)
    shop.half("young")
    shop.under.commit(shop.half("A"))
    shop.under.wait(3)
    shop.answer([step.check_request for step in shop.under.steps(waits=False) if step.check_request is not None])
    shop.rounds(3)
    return shop


def a09(followed: bool) -> Shop:
    """All rounds until its discard are within its immunity."""
    shop = Shop(settings={"transaction_check_max": 3})
    shop.half("A", {} if followed else {IMMUNITY_SECONDS: "600"})
    shop.rounds(5)
    return shop


def a10(followed: bool) -> Shop:
    """It is settled, its op message stands behind those of forty others, and its checks are used up."""
    shop = Shop("4.9.7", {"transaction_check_max": 15 if followed else 1})
    shop.half("A")
    shop.under.wait(57)
    young = shop.half("young")
    shop.under.wait(3)
    checks = [step.check_request for step in shop.under.steps(waits=False) if step.check_request is not None]
    for half in [young, *crowd(shop)]:
        shop.under.commit(half)
    shop.answer(checks)
    shop.rounds(2)
    return shop


def a11(followed: bool) -> Shop:
    """The local transaction lasts until a check has replaced the half."""
    shop = Shop(settings=timeout(followed))
    half = shop.half("A")
    shop.rounds(answered=False)
    shop.under.commit(half)
    shop.rounds(5)
    return shop


def a12(followed: bool) -> Shop:
    """The producer rolls back, and commits what its database has rolled back."""
    shop = Shop()
    half = shop.half("A", committed=False)
    shop.under.roll_back(half)
    shop.under.wait(4)
    if not followed:
        shop.under.commit(half)
    shop.rounds(2)
    return shop


def a13(followed: bool) -> Shop:
    """The END_TRANSACTION arrives twice."""
    shop = Shop()
    shop.is_idempotent = followed
    half = shop.half("A")
    shop.under.commit(half)
    shop.under.commit(half)
    shop.rounds(2)
    return shop


def a14(followed: bool) -> Shop:
    """The producer knows the outcome when its first check comes; that is the last one, or there are more."""
    shop = Shop(settings={"transaction_check_max": 2 if followed else 1})
    shop.half("A")
    shop.rounds(3)
    return shop


def a31(followed: bool) -> Shop:
    """Nobody answers, and then an operator looks into the discard topic."""
    shop = Shop("4.9.7" if followed else "4.5.1", {"transaction_check_max": 2})
    shop.half("A")
    shop.rounds(4, answered=False)
    read_the_discard_topic(shop)
    return shop


def a39(followed: bool) -> Shop:
    """The answer to the send is lost: the producer sends once more, or gives the local transaction up."""
    shop = Shop()
    shop.half("A", committed=not followed)
    if not followed:
        shop.under.commit(shop.half("A"))
    shop.rounds(3)
    return shop


def b01(followed: bool) -> Shop:
    """It is committed within its immunity, after a round."""
    shop = Shop(settings=timeout(followed))
    half = shop.half("A", {} if followed else {IMMUNITY_SECONDS: "100"})
    shop.rounds(answered=False)
    shop.under.commit(half)
    shop.rounds(5)
    return shop


def b02(followed: bool) -> Shop:
    """The broker dies two seconds after the commit, before the op batch is written or behind it."""
    shop = Shop(settings={"op_batch_interval_ms": 1_000 if followed else 3_000})
    shop.under.wait(1)
    shop.under.broker.run_op_batch_service()
    shop.under.commit(shop.half("A"))
    shop.under.wait(2)
    shop.under.restart(kill=True)
    shop.rounds(3)
    return shop


def b05(followed: bool) -> Shop:
    """It is committed just before its timeout, and a round comes before the op batch."""
    shop = Shop(settings={"transaction_check_interval_ms": 6_500, **timeout(followed)})
    half = shop.half("A")
    shop.under.wait(5)
    shop.under.broker.run_op_batch_service()
    shop.under.commit(half)
    shop.under.clock.advance(1_500)
    checks = [step.check_request for step in shop.under.steps(waits=False) if step.check_request is not None]
    shop.under.wait(4)
    shop.answer(checks)
    shop.rounds(3)
    return shop


def b06(followed: bool) -> Shop:
    """A long round has read the op queue when it is committed, and comes to it then."""
    shop = Shop("4.9.7", timeout(followed))
    for number in range(5):
        shop.half(f"other {number}")
    shop.under.wait(110)
    half = shop.half("A")
    shop.under.wait(1)
    checks = []
    for number, step in enumerate(shop.under.steps(waits=False, pass_ms=2_000)):
        checks += [] if step.check_request is None else [step.check_request]
        if number == 4:
            shop.under.commit(half)
    shop.answer(checks)
    shop.rounds(3)
    return shop


def b13(followed: bool) -> Shop:
    """A power loss takes the copy of its half, but not the saved offset; it is sent again, or not."""
    shop = Shop()
    shop.half("A")
    end = shop.under.broker.message_store.max_phy_offset
    shop.rounds(answered=False)
    shop.save()
    shop.under.broker.lose_power(end)
    shop.under.start()
    shop.half("last")
    shop.rounds(3)
    if followed:
        shop.decide_and_send_again("A")
    return shop


def b16(followed: bool) -> Shop:
    """An operator sets the half offset back to the beginning, or leaves it."""
    shop = Shop()
    shop.half("A")
    shop.rounds(answered=False)
    if not followed:
        shop.under.broker.consumer_offset_manager.commit_offset(HALF_TOPIC, 0, QueueOffset(0))
    shop.under.restart()
    shop.rounds(3)
    return shop


def b26(followed: bool) -> Shop:
    """The producer copies the properties of a message that it has consumed."""
    shop = Shop()
    shop.half("A", {} if followed else {CHECK_TIMES: "15"})
    shop.rounds(3)
    return shop


def b31(followed: bool) -> Shop:
    """The disk is full as its discard is to be stored; then an operator looks into the discard topic."""
    shop = Shop(settings={"transaction_check_max": 1})
    shop.half("A")
    for step in shop.under.steps():
        if step.branch is CheckBranch.PUT_BACK_FOR_CHECK and not followed:
            shop.under.broker.message_store.is_writeable = False
    shop.under.broker.message_store.is_writeable = True
    shop.half("last")
    shop.under.checks(2)
    shop.database["last"] = False
    read_the_discard_topic(shop)
    return shop


def b32(followed: bool) -> Shop:
    """Its kind is in its flag, or in a property."""
    shop = Shop()
    shop.half("A", {"kind": "7"} if followed else {}, flag=0 if followed else 7)
    shop.rounds(2)
    return shop


def b47(followed: bool) -> Shop:
    """It is settled before a round, with its op message behind those of forty others."""
    shop = Shop("4.9.7")
    half = shop.half("A", {} if followed else {IMMUNITY_SECONDS: "100"})
    for one in [*crowd(shop), half]:
        shop.under.commit(one)
    shop.rounds(4)
    return shop


def b50(followed: bool) -> Shop:
    """The file of two halves that wait is deleted while a round is about to read them."""
    config = MessageStoreConfig(mapped_file_size_commit_log=1_000, mapped_file_size_consume_queue=6_000)
    shop = Shop(config=config)
    store = shop.under.broker.message_store
    shop.under.send({"KEYS": "plain"}, topic="Plain")  # no half lies at the place 0, which is read otherwise
    for number in range(2):
        shop.half(f"other {number}")
    while store.max_phy_offset < 1_000:
        shop.under.send({"KEYS": "plain"}, topic="Plain")
    shop.under.commit(shop.half("A"))
    shop.under.wait(4)
    if not followed:
        store.cleaning.clean_commit_log(CommitLogOffset(store.max_phy_offset // 1_000 * 1_000))
    shop.rounds(3)
    return shop


def b52(followed: bool) -> Shop:
    """A check is lost, the broker is stopped and counts another one that it never sends."""
    shop = Shop("5.4.0", {"transaction_check_max": 4 if followed else 3})
    shop.half("A")
    shop.rounds(answered=False)
    shop.under.wait(10)
    shop.under.restart()
    shop.rounds(3)
    return shop


CAUSES: Final[dict[str, Play]] = {
    "A02": a02,
    "A09": a09,
    "A10": a10,
    "A11": a11,
    "A12": a12,
    "A13": a13,
    "A14": a14,
    "A31": a31,
    "A39": a39,
    "B01": b01,
    "B02": b02,
    "B05": b05,
    "B06": b06,
    "B13": b13,
    "B16": b16,
    "B26": b26,
    "B31": b31,
    "B32": b32,
    "B47": b47,
    "B50": b50,
    "B52": b52,
}
STILL_THERE: Final = {"A13", "B13", "B52"}
"""Those that nothing prevents: what they do is prevented."""
BY_READING: Final = {"A31", "B13", "B31"}
"""Those whose remedy leaves a record that an operator reads and sends again."""


def went_well(shop: Shop, cause: str) -> bool:
    """Whether the effect came as often as the database wants it, with nothing left to look into."""
    row = shop.show().row("A")
    left = (
        set() if cause in BY_READING else {row.state.value, *(state.value for state in row.also)} & {"parked", "lost"}
    )
    kinds = {str(record.flag or record.properties.get("kind")) for record in shop.under.stored("Orders")}
    return shop.is_right("A") and not left and (cause != "B32" or kinds == {"7"})
