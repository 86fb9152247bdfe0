"""What a step of the specification has the broker do: END_TRANSACTION, the check round, its other threads, its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fuzz.answers import BRANCHES, ENDS, MISHAPS, answered, branch_of, told_end
from fuzz.broker_side.broker_records import offsets_in
from reference.broker.response import SUCCESS
from reference.broker.transaction.check_step import CheckBranch
from reference.format.consumer_offsets import ConsumerOffsets, TopicAtGroup
from reference.format.message_decoder import create_message_id
from reference.format.offsets import QueueOffset
from reference.format.system_topics import CHECK_GROUP, HALF_QUEUE_ID, HALF_TOPIC, OP_TOPIC
from reference.store.get_message_result import GetMessageResult, GetMessageStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fuzz.broker_side.broker_side import BrokerSide
    from fuzz.lockstep.pair import Lockstep
    from reference.broker.transaction.check_step import CheckStep
    from spec.language import Step

_BRANCH: Final = "the round's branch"
_OPS_WRITTEN: Final = "op messages written"

# --- END_TRANSACTION --------------------------------------------------------------------------------------------------


def _go_on_with_end(pair: Lockstep, step: Step) -> None:
    half, name = step.arguments[0], step.action.name
    place = pair.place_of_half(half)
    if name in ("refuse_commit_unstored", "fail_to_write_op"):
        with pair.side.puts_fail():
            done = pair.side.go_on_with_end(half, place)
    else:
        done = pair.side.go_on_with_end(half, place)
    pair.expect(str(step), "the answer to END_TRANSACTION", told_end(ENDS[name]), told_end(answered(done)))


def _write_op_batch(pair: Lockstep, step: Step) -> None:
    written = len(pair.side.broker.run_op_batch_service().written)
    pair.expect(str(step), _OPS_WRITTEN, "1", str(written))


def _fail_to_write_op_batch(pair: Lockstep, step: Step) -> None:
    with pair.side.puts_fail():
        batch = pair.side.broker.run_op_batch_service()
    told = f"{len(batch.written)}, {len(batch.lost)} lost"
    pair.expect(str(step), _OPS_WRITTEN, "0, 1 lost", told)
    for half in offsets_in(batch.lost[0]):
        pair.side.network.handled[half].op_write_failed = True


# --- the check round --------------------------------------------------------------------------------------------------


def _begin_round(pair: Lockstep, step: Step) -> None:
    began = pair.side.broker.begin_check_round()
    told = "none" if began is None else "over at once" if began.is_over else "begun"
    expected = "begun" if step.action.name == "begin_round" else "over at once"
    pair.expect(str(step), "whether a round begins", expected, told)


def _go_on_with_round(pair: Lockstep, step: Step) -> None:
    branch = BRANCHES[step.action.name]
    done = pair.side.step_round()
    if branch is CheckBranch.ENDED_AT_QUEUE_END:
        done = _second_look(pair.side, done)
    pair.expect(str(step), _BRANCH, branch.value, branch_of(done))


def _second_look(side: BrokerSide, done: CheckStep | None) -> CheckStep | None:
    """In 4.5.1 the end of the half queue reads as a half that is missing, so that a second look ends the round.

    So does a first look in any version, if the round has missed a half before; that is the queue's end all the same.
    """
    if done is not None and done.branch is CheckBranch.NULL_HALF:
        done = side.step_round()
    if done is not None and done.branch is CheckBranch.ENDED_AT_SECOND_NULL_HALF:
        return type(done)(CheckBranch.ENDED_AT_QUEUE_END, done.half)
    return done


def _mishap(do: Callable[[BrokerSide], CheckStep | None]) -> Callable[[Lockstep, Step], None]:
    def deed(pair: Lockstep, step: Step) -> None:
        done = do(pair.side)
        pair.expect(str(step), _BRANCH, MISHAPS[step.action.name].value, branch_of(done))

    return deed


def _discard_unrecorded(side: BrokerSide) -> CheckStep | None:
    with side.puts_fail():
        return side.step_round()


def _spin(side: BrokerSide) -> CheckStep | None:
    """The copy cannot be stored, and the round tries nothing else; then its time is over."""
    with side.puts_fail():
        first = side.step_round()
    if first is None or first.branch not in (CheckBranch.PUT_BACK_FAILED, CheckBranch.OPS_PULLED):
        return first
    return side.end_round_by_its_limit()


def _miss_half(side: BrokerSide) -> CheckStep | None:
    """The store finds nothing for a half that has an entry in its queue; for one that cannot be decoded it need not."""
    running = side.broker.check_service.round
    store = side.broker.message_store
    if running is None:
        return None
    read = store.get_message(HALF_TOPIC, HALF_QUEUE_ID, running.new_offset, 1)
    if read.records and read.records[0] is not None:
        side.mishaps += 1
        following = QueueOffset(running.new_offset + 1)
        store.miss_next_read(GetMessageResult(GetMessageStatus.MESSAGE_WAS_REMOVING, following, read.max_offset))
    return side.step_round()


def _read_nothing(side: BrokerSide) -> CheckStep | None:
    side.mishaps += 1
    nothing = GetMessageResult(GetMessageStatus.NO_ANSWER, QueueOffset(0), QueueOffset(0))
    side.broker.message_store.miss_next_read(nothing)
    return side.step_round()


def _escape(side: BrokerSide) -> CheckStep | None:
    return side.step_round()


def _escape_unclearly(side: BrokerSide) -> CheckStep | None:
    side.other_master.answers = False
    done = side.step_round()
    side.other_master.answers = True
    _sleep(side)
    return done


def _give_up(side: BrokerSide) -> CheckStep | None:
    side.other_master.takes_messages = False
    done = side.step_round()
    while done is not None and done.branch is CheckBranch.ESCAPE_FAILED:
        _sleep(side)
        done = side.step_round()
    side.other_master.takes_messages = True
    return done


def _sleep(side: BrokerSide) -> None:
    """The check thread sleeps between two tries, which takes no time in the specification."""
    running = side.broker.check_service.round
    if running is not None:
        side.let_unseen_time_pass(max(running.wakes_at - side.clock.elapsed, 0))


# --- disk -------------------------------------------------------------------------------------------------------------


def _corrupt_op(pair: Lockstep, step: Step) -> None:
    pair.side.mishaps += 1
    pair.side.broker.message_store.damage(pair.records.op_places[step.arguments[0]])


def _lose_power(pair: Lockstep, step: Step) -> None:
    end = pair.records.place_of(step.arguments[0])
    pair.side.lose_power(end, pair.records.halves_before(end))


def _set_offset_back(topic: str) -> Callable[[Lockstep, Step], None]:
    def deed(pair: Lockstep, step: Step) -> None:
        pair.side.mishaps += 1
        table = {TopicAtGroup(f"{topic}@{CHECK_GROUP}"): {HALF_QUEUE_ID: QueueOffset(step.arguments[0])}}
        pair.side.broker.consumer_offset_manager.put_all(ConsumerOffsets(table))

    return deed


# --- processes, roles, operators, time --------------------------------------------------------------------------------


def _persist_offsets(side: BrokerSide) -> None:
    side.broker.persist_consumer_offsets()


def _flush_log(side: BrokerSide) -> None:
    side.broker.message_store.flush()


def _become_slave(side: BrokerSide) -> None:
    side.mishaps += 1
    side.broker.change_to_slave()


def _become_master(side: BrokerSide) -> None:
    side.broker.change_to_master()


def _resume_discarded(pair: Lockstep, step: Step) -> None:
    broker = pair.side.broker
    msg_id = create_message_id(broker.settings.store_host, pair.place_of_half(step.arguments[0]))
    code = broker.admin_broker_processor.resume_check_half_message(msg_id).code
    pair.expect(str(step), "the answer to RESUME_CHECK_HALF_MESSAGE", str(SUCCESS), str(code))


def _of_the_side(do: Callable[[BrokerSide], None]) -> Callable[[Lockstep, Step], None]:
    def deed(pair: Lockstep, _: Step) -> None:
        do(pair.side)

    return deed


DEEDS_OF_THE_BROKER: Final[Mapping[str, Callable[[Lockstep, Step], None]]] = {
    **dict.fromkeys(ENDS, _go_on_with_end),
    **dict.fromkeys(BRANCHES, _go_on_with_round),
    "discard_half_unrecorded": _mishap(_discard_unrecorded),
    "jump_over_half": _mishap(_miss_half),
    "end_round_at_missed_half": _mishap(_miss_half),
    "abort_at_null_result": _mishap(_read_nothing),
    "spin_at_failed_check": _mishap(_spin),
    "spin_at_failed_immunity": _mishap(_spin),
    "let_half_escape": _mishap(_escape),
    "let_half_escape_unclearly": _mishap(_escape_unclearly),
    "give_half_up": _mishap(_give_up),
    "write_op_batch": _write_op_batch,
    "fail_to_write_op_batch": _fail_to_write_op_batch,
    "begin_round": _begin_round,
    "fail_to_begin_round": _begin_round,
    "persist_offsets": _of_the_side(_persist_offsets),
    "flush_log": _of_the_side(_flush_log),
    "corrupt_op": _corrupt_op,
    "lose_power": _lose_power,
    "set_half_offset_back": _set_offset_back(HALF_TOPIC),
    "set_op_offset_back": _set_offset_back(OP_TOPIC),
    "resume_discarded": _resume_discarded,
    "become_slave": _of_the_side(_become_slave),
    "become_master": _of_the_side(_become_master),
    "act_for_dead_master": _of_the_side(lambda side: side.act_for_dead_master()),
    "bring_master_back": _of_the_side(lambda side: side.bring_master_back(takes_offsets=True)),
    "bring_master_back_with_its_own_offsets": _of_the_side(lambda side: side.bring_master_back(takes_offsets=False)),
    "stop": _of_the_side(lambda side: side.stop_and_restart()),
    "crash": _of_the_side(lambda side: side.crash_and_restart()),
    "step_clock_back": _of_the_side(lambda side: side.step_clock_back()),
    "tick": _of_the_side(lambda side: side.tick()),
}
"""By the action's name."""
