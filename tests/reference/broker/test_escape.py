"""A slave that acts for a dead master sends its halves to another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.broker.broker_controller import BrokerController
from reference.broker.broker_settings import BrokerRole
from reference.broker.transaction.check_outcome import CheckBranch
from reference.format.consumer_offsets import ConsumerOffsets, TopicAtGroup
from reference.format.record import LogRecord, QueueOffset
from reference.format.system_topics import CHECK_GROUP, HALF_TOPIC
from reference.versions.versions import STORE_VERSIONS
from tests.reference.one_broker import GROUP, OneBroker

if TYPE_CHECKING:
    from reference.broker.processor.send_message_processor import SendMessageRequest, SendMessageResponse


class Elsewhere:
    """Another master that takes what it is sent, or does not."""

    def __init__(self, one: OneBroker, *, answers: bool = True, takes: bool = True) -> None:
        self.other = OneBroker(one.version)
        self.answers, self.takes = answers, takes
        self.tries = 0
        one.broker.escape_bridge.send_to_master = self.send

    def send(self, request: SendMessageRequest) -> SendMessageResponse | None:
        self.tries += 1
        answer = self.other.broker.take_escaped(request) if self.takes else None
        return answer if self.answers else None

    @property
    def halves(self) -> list[LogRecord]:
        return self.other.stored(HALF_TOPIC)


def acting(one: OneBroker) -> None:
    one.broker.crash()
    one.broker = one.broker.restart(BrokerRole.ACTING_MASTER)


def test_an_acting_slave_sends_open_halves_to_another_master_and_passes_them() -> None:
    one = OneBroker("5.3.3")
    half = one.half(flag=7, CHECK_IMMUNITY_TIME_IN_SECONDS="40")
    assert one.branches() == ["put_back_for_immunity", "ended_at_fresh_half"]
    one.broker.persist_consumer_offsets()
    acting(one)
    elsewhere = Elsewhere(one)
    assert one.branches() == ["escaped", "ended_at_queue_end"]
    (escaped,) = elsewhere.halves
    assert escaped.properties["UNIQ_KEY"] == half.properties["UNIQ_KEY"]
    assert (escaped.properties["REAL_TOPIC"], escaped.properties["REAL_QID"]) == ("T", "3")
    assert escaped.properties["TRANSACTION_CHECK_TIMES"] == "1"
    assert "TRAN_PREPARED_QUEUE_OFFSET" not in escaped.properties
    assert (escaped.flag, escaped.sys_flag) == (0, 0)
    assert (half.born_host, escaped.born_host) == ("127.0.0.1:4242", one.settings.store_host)
    assert elsewhere.other.broker.producer_manager.get_available_channel(GROUP) is None
    assert one.offsets[0] == 2


def test_an_acting_slave_escapes_what_the_ops_that_it_has_read_do_not_name() -> None:
    one = OneBroker("5.3.3")
    one.roll_back(one.half())
    one.flush_ops()
    one.half()
    acting(one)
    Elsewhere(one)
    assert one.branches() == ["settled", "escaped", "ended_at_queue_end"]


def test_b22_a_half_whose_escape_was_not_answered_escapes_again() -> None:
    one = OneBroker("5.3.3")
    one.half()
    acting(one)
    elsewhere = Elsewhere(one, answers=False)
    one.clock.advance(30_000)
    running = one.broker.begin_check_round()
    assert running is not None
    assert running.step().branch is CheckBranch.ESCAPE_FAILED
    assert running.step().branch is CheckBranch.ASLEEP
    elsewhere.answers = True
    one.clock.advance(running.wakes_at - one.clock.elapsed)
    assert running.step().branch is CheckBranch.ESCAPED
    assert len(elsewhere.halves) == 2


def test_b21_a_half_that_cannot_escape_is_given_up_at_the_eleventh_try_after_waits_by_an_exclusive_or() -> None:
    one = OneBroker("5.3.3")
    one.half()
    acting(one)
    elsewhere = Elsewhere(one, takes=False)
    one.clock.advance(30_000)
    running = one.broker.begin_check_round()
    assert running is not None
    waits = []
    while (step := running.step()).branch is CheckBranch.ESCAPE_FAILED:
        waits.append(running.wakes_at - one.clock.elapsed)
        one.clock.advance(waits[-1])
    assert step.branch is CheckBranch.GIVEN_UP
    assert waits == [300, 0, 100, 600, 700, 400, 500, 1000, 1100, 800]
    assert elsewhere.tries == 11
    assert running.step().branch is CheckBranch.ENDED_AT_QUEUE_END
    assert one.offsets[0] == 1


def test_in_5_0_0_an_acting_slave_tries_to_put_halves_back_and_cannot() -> None:
    one = OneBroker("5.3.3")
    one.broker = BrokerController(STORE_VERSIONS["5.0.0"], one.settings, one.clock)
    one.half()
    acting(one)
    elsewhere = Elsewhere(one)
    one.clock.advance(60_000)
    running = one.broker.begin_check_round()
    assert running is not None
    assert [running.step().branch for _ in range(2)] == [CheckBranch.PUT_BACK_FAILED] * 2
    assert elsewhere.tries == 0


def test_without_a_route_nothing_escapes() -> None:
    one = OneBroker("5.3.3")
    one.half()
    acting(one)
    assert one.branches()[:2] == ["escape_failed", "escape_failed"]


def test_an_acting_slave_corrects_no_offset_beyond_the_end() -> None:
    one = OneBroker("5.3.3")
    one.half()
    acting(one)
    table = {TopicAtGroup(f"{HALF_TOPIC}@{CHECK_GROUP}"): {0: QueueOffset(5)}}
    one.broker.consumer_offset_manager.put_all(ConsumerOffsets(table))
    assert one.branches() == ["null_half", "ended_at_second_null_half"]
    assert one.offsets[0] == 5


def test_a_master_that_is_back_goes_on_with_the_offsets_that_were_saved() -> None:
    one = OneBroker("5.3.3")
    one.half()
    acting(one)
    Elsewhere(one)
    one.branches()
    one.broker.save_consumer_offsets()
    one.broker.crash()
    one.broker = one.broker.restart()
    assert one.offsets[0] == 1
    assert one.branches() == ["ended_at_queue_end"]
