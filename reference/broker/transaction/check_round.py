"""One check round, as an activity that a scheduler takes through its loop pass by pass.

``TransactionalMessageServiceImpl#check`` is one method with a loop. Between two passes other threads may store, commit
and flush, and the process may die; so each pass is a step here, and the method's locals are attributes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.broker.broker_settings import BrokerRole
from reference.broker.transaction.check_outcome import CheckBranch, CheckStep
from reference.broker.transaction.half_index import original_of
from reference.broker.transaction.half_judge import HalfJudge
from reference.broker.transaction.op_remove_map import OpRemoveMap
from reference.broker.transaction.transactional_message_bridge import PullResult, PullStatus
from reference.errors import ActivityIsOverError, ErrorInCheckError, ThrownInCheckError
from reference.format.properties import IMMUNITY_SECONDS, PREPARED_QUEUE_OFFSET
from reference.format.record import LogRecord, QueueOffset
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC
from reference.java import get_long
from reference.store.message import MessageExt
from spec.releases.broker_defaults import defaults_of

if TYPE_CHECKING:
    from reference.broker.broker_controller import BrokerController
    from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest
    from reference.store.put_message import PutMessageResult

_DEFAULTS = defaults_of(None)
_MAX_RETRY_COUNT_WHEN_HALF_NULL = _DEFAULTS["MAX_RETRY_COUNT_WHEN_HALF_NULL"]
_MAX_RETRY_TIMES_FOR_ESCAPE = _DEFAULTS["MAX_RETRY_TIMES_FOR_ESCAPE"]


class CheckRound:
    """A round over the half queue; making one is the part of ``#check`` before its loop."""

    def __init__(self, broker: BrokerController) -> None:
        bridge, switches = broker.transactional_message_bridge, broker.switches
        self._broker = broker
        self._bridge = bridge
        self._switches = switches
        self._asks_what_is_known = (
            broker.settled_transactions.is_kept
            or switches.copies_once
            or switches.passes_what_is_gone
            or switches.parks_poison
        )
        self.start_time = broker.clock.now
        """When it began (``startTime``)."""
        self.judge = HalfJudge(broker, self.start_time)
        """What it asks of a half by itself."""
        self.half_offset = bridge.fetch_consume_offset(HALF_TOPIC)
        """The half offset that was committed then (``halfOffset``, passed on as ``miniOffset``)."""
        self.op_offset = bridge.fetch_consume_offset(OP_TOPIC)
        """The op offset that was committed then (``opOffset``)."""
        self.op_remove_map = OpRemoveMap(
            switches, bridge, self.half_offset, self.op_offset, broker.settings.op_msg_pull_nums
        )
        """Its knowledge of the op queue: removeMap, opMsgMap, doneOpOffset and the last pull."""
        self.new_offset = self.half_offset
        """The next half to look at (``i``, which equals ``newOffset`` before each pass)."""
        self._read_offset = self.half_offset
        self._has_jumped = self._has_failed_put = False
        if bridge.half_index is not None:
            bridge.half_index.cover(self.half_offset)
        self.get_message_null_count = 1
        """1, and one more for each half that could not be read (``getMessageNullCount``)."""
        self.escape_fail_count = 0
        """How often on end the half could not be sent to another master (``escapeFailCnt``)."""
        self.wakes_at = broker.clock.elapsed
        """Until then the thread sleeps, in elapsed time."""
        self.is_over = False
        """Whether it has ended, with its offsets committed or by an exception; the first pull may throw already."""
        broker.recorder.record("round_began")
        try:
            self.op_remove_map.fill(self.new_offset)
        except ThrownInCheckError as error:
            self.is_over = True
            broker.recorder.record_check_step(CheckStep(CheckBranch.ABORTED, self.new_offset, thrown=str(error)))

    def step(self) -> CheckStep:
        """Take one pass through the loop; the pass that leaves it also commits the offsets.

        Raises
        ------
        ActivityIsOverError
            The round has ended.
        BrokerIsDownError
            Its process is gone.
        """
        self._broker.require_running()
        if self.is_over:
            message = f"the check round that began at {self.start_time} has ended; begin another"
            raise ActivityIsOverError(message)
        if self._broker.clock.elapsed < self.wakes_at:
            return CheckStep(CheckBranch.ASLEEP, self.new_offset)
        try:
            step = self._pass(self._broker.clock.now)
        except ThrownInCheckError as error:
            step = CheckStep(CheckBranch.ABORTED, self.new_offset, thrown=str(error))
            if isinstance(error, ErrorInCheckError) and not self._switches.survives_errors:
                self._broker.check_service.is_alive = False
        return self._taken(step)

    def interrupt(self) -> CheckStep | None:
        """End the thread's sleep; that of an escape throws (``#check``), the one for lack of op messages does not."""
        if self._broker.clock.elapsed >= self.wakes_at:
            return None
        self.wakes_at = self._broker.clock.elapsed
        if not self.escape_fail_count or self._switches.insists_on_escape:
            return None
        thrown = "java.lang.InterruptedException: sleep interrupted"
        return self._taken(CheckStep(CheckBranch.ABORTED, self.new_offset, thrown=thrown))

    def _taken(self, step: CheckStep) -> CheckStep:
        if step.branch.commits or (step.branch.is_end and self._commits_after_exception):
            self._commit()
        if step.branch.is_end:
            self.is_over = True
            self._broker.check_service.round_ended()
        self._broker.recorder.record_check_step(step)
        return step

    def _pass(self, now: int) -> CheckStep:
        i = self.new_offset
        if now - self.start_time > self._broker.settings.max_process_time_limit_ms and not self._finishes_reading():
            return CheckStep(CheckBranch.ENDED_BY_TIME_LIMIT, i)
        if self._switches.heeds_stop and self._broker.role is BrokerRole.SLAVE:
            return CheckStep(CheckBranch.ENDED_BY_STOP, i)
        self._read_offset = i
        op = self.op_remove_map.settle(i)
        if op is not None:
            return self._moved_on(CheckBranch.SETTLED, None, op=op)
        pulled = self._bridge.get_message(HALF_TOPIC, i, 1)
        if pulled is None or pulled.found is None:
            return self._pass_null_half(pulled)
        self._read_offset = QueueOffset(pulled.next_begin_offset - 1)
        half = MessageExt.of(pulled.found[0]) if pulled.found else None
        if self._asks_what_is_known and (step := self._pass_by_what_is_known(half)) is not None:
            return step
        return self._pass_null_half(pulled) if half is None else self._pass_half(half, now)

    def _pass_by_what_is_known(self, half: MessageExt | None) -> CheckStep | None:
        """Pass a half for what the broker knows of it, whether or not it can be decoded. Repairs."""
        if self._switches.passes_what_is_gone and self._read_offset > self.new_offset:
            self._read_offset = self.new_offset
            return self._moved_on(CheckBranch.GONE, None)
        settled, place = self._broker.settled_transactions, self._bridge.place_of(HALF_TOPIC, self._read_offset)
        if settled.knows_place(place) if half is None else settled.knows(half.record):
            op = None if half is None else self._settle_original(half)
            return self._moved_on(CheckBranch.KNOWN_AS_SETTLED, half, op=op)
        if self._switches.copies_once and self._bridge.half_index is not None:
            original = None if half is None else original_of(half.record)
            copy = self._bridge.half_index.last_copy_of(self._read_offset if original is None else original)
            if copy > self._read_offset:
                return self._moved_on(CheckBranch.COPY_AHEAD, half)
        if half is None and self._switches.parks_poison and not self._broker.role.is_slave:
            discarded = self._broker.check_listener.resolve_undecodable(self._read_offset, place)
            return self._discarded(half, discarded)
        return None

    def _pass_null_half(self, pulled: PullResult | None) -> CheckStep:
        """No half, or none that can be decoded (``#getHalfMsg``); a store that answers nothing is asked why (A08)."""
        i = self.new_offset
        if self._switches.needs_decodable_half and (pulled is None or pulled.found is not None):
            message = "java.lang.IndexOutOfBoundsException: the half cannot be decoded"
            raise ThrownInCheckError(message)
        null_count = self.get_message_null_count
        self.get_message_null_count += 1
        if null_count > _MAX_RETRY_COUNT_WHEN_HALF_NULL:
            return CheckStep(CheckBranch.ENDED_AT_SECOND_NULL_HALF, i)
        if pulled is None:
            message = "java.lang.NullPointerException: the half queue cannot be read"
            raise ThrownInCheckError(message)
        if pulled.status is PullStatus.NO_NEW_MSG:
            return CheckStep(CheckBranch.ENDED_AT_QUEUE_END, i)
        if self._switches.keeps_progress and self._bridge.has_half_from(i):
            return CheckStep(CheckBranch.ENDED_AT_SECOND_NULL_HALF, i)
        self.new_offset = pulled.next_begin_offset
        self._has_jumped = True
        return CheckStep(CheckBranch.NULL_HALF, i)

    def _pass_half(self, half: MessageExt, now: int) -> CheckStep:
        if self._broker.role is BrokerRole.ACTING_MASTER and self._broker.switches.escapes:
            return self._escape(half)
        if self.judge.need_discard(half) or self.judge.need_skip(half, now):
            return self._discard(half)
        if self.judge.is_fresh(half, now):
            return self._stays(CheckBranch.ENDED_AT_FRESH_HALF, half)
        if self._switches.heeds_settled_originals and (op := self._settle_original(half)) is not None:
            return self._moved_on(CheckBranch.PREPARED_HALF_SETTLED, half, op=op)
        age = now - half.record.born_timestamp
        immunity_text = half.properties.get(IMMUNITY_SECONDS)
        timeout = self._broker.settings.transaction_timeout_ms
        immunity = timeout if immunity_text is None else self.judge.immunity_time(immunity_text)
        if self.judge.is_young(age, immunity):
            if immunity_text is not None:
                step = self._check_prepare_queue_offset(half)
                if step is not None:
                    return step
            elif age >= 0:
                return self._stays(CheckBranch.ENDED_AT_YOUNG_HALF, half)
        if self._switches.keeps_check_open and self._broker.transactional_message_service.has_op_to_come(half.record):
            return self._moved_on(CheckBranch.OP_TO_COME, half)
        if self.is_need_check(age, immunity, now):
            return self._discard(half) if self.judge.has_no_checks_left(half) else self._put_back_for_check(half)
        return self._pull_more_ops(half)

    def _finishes_reading(self) -> bool:
        """Whether the time limit does not count yet: the round stands where it began, at a half (a repair of B29).

        It counts once a copy could not be stored: that may go on for ever (B08).
        """
        if not self._switches.finishes_reading or self._has_failed_put or self.new_offset != self.half_offset:
            return False
        return self.new_offset < self._bridge.max_offset(HALF_TOPIC)

    def _settle_original(self, half: MessageExt) -> QueueOffset | None:
        """Settle a copy by its original, if an op message names that, as the original itself would be (B01)."""
        original = original_of(half.record)
        return None if original is None else self.op_remove_map.settle(original)

    def _escape(self, half: MessageExt) -> CheckStep:
        """Send the half to another master; give it up after too many failures on end (B21).

        The wait between two tries is ``100L * (2 ^ escapeFailCnt)``, which is an exclusive or.
        """
        if self._switches.reads_ops_before_escape and self.op_remove_map.next_op_offset < self._bridge.max_offset(
            OP_TOPIC
        ):
            return self._pull_more_ops(half)
        if self._broker.escape_bridge.put_message(half):
            self.escape_fail_count = 0
            self._broker.settled_transactions.escaped(half.record)
            return self._moved_on(CheckBranch.ESCAPED, half)
        if self.escape_fail_count < _MAX_RETRY_TIMES_FOR_ESCAPE:
            self.escape_fail_count += 1
        elif not self._switches.insists_on_escape:
            self.escape_fail_count = 0
            return self._moved_on(CheckBranch.GIVEN_UP, half)
        self.wakes_at = self._broker.clock.elapsed + 100 * (2 ^ self.escape_fail_count)
        return self._stays(CheckBranch.ESCAPE_FAILED, half)

    def _discard(self, half: MessageExt, *, as_stored: bool = False) -> CheckStep:
        """Give the half up; that its record was not stored is only logged, unless that is repaired (B31)."""
        given_up = MessageExt.of(half.record) if as_stored else half
        return self._discarded(half, self._broker.check_listener.resolve_discard_msg(given_up))

    def _discarded(self, half: MessageExt | None, discarded: LogRecord | None) -> CheckStep:
        if discarded is None and self._switches.retries_discards and self._switches.keeps_discarded:
            return self._stays(CheckBranch.DISCARD_FAILED, half)
        if discarded is not None and half is not None:
            self._broker.settled_transactions.put_aside(half.record)
        elif discarded is not None:
            self._broker.settled_transactions.put_place_aside(self._bridge.place_of(HALF_TOPIC, self._read_offset))
        return self._moved_on(CheckBranch.DISCARDED, half, record=discarded)

    def is_need_check(self, age: int, immunity: int, now: int) -> bool:
        """``isNeedCheck``, judged on the last pull, however long ago that was (B06).

        Repaired, a half is not checked as long as an unread op message names it (B05).
        """
        ops = self.op_remove_map.pull_result.found
        if ops is None:
            is_need_check = age > immunity and not self._switches.skips_when_ops_are_drained
        elif ops:
            is_late = ops[-1].born_timestamp - self.start_time > self._broker.settings.transaction_timeout_ms
            is_need_check = is_late and now - self.start_time <= self._broker.settings.max_process_time_limit_ms
        elif self.op_remove_map.pull_result.skipped:
            is_need_check = False
        else:
            message = "java.lang.IndexOutOfBoundsException: none of the op messages pulled last can be decoded"
            raise ThrownInCheckError(message)
        if not is_need_check and age > -1:
            return False
        return not (self._switches.keeps_check_open and self.op_remove_map.is_named_ahead(self._read_offset))

    def _check_prepare_queue_offset(self, half: MessageExt) -> CheckStep | None:
        """Settle an immune copy by its original, or put the half back (``#checkPrepareQueueOffset``).

        None means that neither was done, and that the pass goes on as if there were no immunity. Up to 4.3.2 the age is
        computed once more here, and a half whose immunity has ended since is passed over (A01).
        """
        if not self._switches.measures_age_once and self.judge.has_become_old(half):
            return self._moved_on(CheckBranch.PASSED_OVER, half)
        text = half.properties.get(PREPARED_QUEUE_OFFSET)
        if text is not None:
            prepared_half = QueueOffset(get_long(text))
            if prepared_half == -1:
                return None
            op = self.op_remove_map.settle_prepared(prepared_half)
            if op is not None:
                return self._moved_on(CheckBranch.PREPARED_HALF_SETTLED, half, op=op)
        if self._switches.skips_long_immunities and self.judge.is_too_immune(half):
            return self._moved_on(CheckBranch.PASSED_OVER, half)
        if self._switches.counts_sent_checks or self._switches.discards_instead_of_checking:
            half.take_check_back()
        stored = self._bridge.put_back_for_immunity(half)
        if stored.record is None:
            return self._failed_put(half, stored)
        return self._moved_on(CheckBranch.PUT_BACK_FOR_IMMUNITY, half, record=stored.record)

    def _failed_put(self, half: MessageExt, stored: PutMessageResult) -> CheckStep | None:
        """What a repair does with a half whose copy was not stored; None leaves it to the release."""
        self._has_failed_put = True
        if stored.status.is_of_the_message and self._switches.parks_poison:
            return self._discard(half, as_stored=True)
        return self._stays(CheckBranch.ENDED_AT_FAILED_PUT, half) if self._switches.ends_at_failed_put else None

    def _put_back_for_check(self, half: MessageExt) -> CheckStep:
        """Store the copy first, then ask for it (``#putBackHalfMsgQueue``)."""
        if self._switches.counts_sent_checks and not self._broker.check_listener.can_ask_now(half):
            half.take_check_back()
        stored = self._bridge.put_back(half)
        copy = stored.record
        if copy is None:
            return self._failed_put(half, stored) or self._stays(CheckBranch.PUT_BACK_FAILED, half)
        half.become_copy(copy)
        request = self._broker.check_listener.resolve_half_msg(half)
        branch = CheckBranch.PUT_BACK_UNASKED if request is None else CheckBranch.PUT_BACK_FOR_CHECK
        return self._moved_on(branch, half, record=copy, check_request=request)

    def _pull_more_ops(self, half: MessageExt) -> CheckStep:
        result = self.op_remove_map.fill(self.new_offset)
        if result.found is None and self._switches.sleeps_without_ops:
            self.wakes_at = self._broker.clock.elapsed + self._broker.settings.sleep_while_no_op_ms
        return self._stays(CheckBranch.OPS_PULLED, half)

    def _stays(self, branch: CheckBranch, half: MessageExt | None) -> CheckStep:
        return CheckStep(branch, self._read_offset, message=half)

    def _moved_on(
        self,
        branch: CheckBranch,
        half: MessageExt | None,
        *,
        op: QueueOffset | None = None,
        record: LogRecord | None = None,
        check_request: CheckTransactionStateRequest | None = None,
    ) -> CheckStep:
        step = CheckStep(branch, self._read_offset, message=half, op=op, record=record, check_request=check_request)
        self.new_offset = QueueOffset(self.new_offset + 1)
        return step

    @property
    def _commits_after_exception(self) -> bool:
        """Whether what was passed before an exception counts: repaired, where no half was jumped over (A08)."""
        keeps_progress = self._switches.keeps_progress and not self._has_jumped
        return keeps_progress or self._switches.commits_after_exception

    def _commit(self) -> None:
        """Commit what was reached, in memory; an offset that did not move is not committed again."""
        if self._switches.settles_once:
            self.op_remove_map.read_to_the_end(self.new_offset)
        if self.new_offset != self.half_offset:
            self._bridge.update_consume_offset(HALF_TOPIC, self.new_offset)
        op_offset = self.op_remove_map.calculate_op_offset(self.op_offset, self.new_offset)
        if op_offset != self.op_offset:
            self._bridge.update_consume_offset(OP_TOPIC, op_offset)
