"""Mutants of the reference broker: errors that RocketMQ had, has, or could get with a careless repair."""

from __future__ import annotations

from functools import partial
from typing import Final

from fuzz.mutants.mutant import MutatedPart, mutant

_BRANCH: Final = "the round's branch"
_ANSWER: Final = "the answer to END_TRANSACTION"

_mutant = partial(mutant, MutatedPart.BROKER)

BROKER_MUTANTS: Final = (
    _mutant(
        "op write dropped", "END_TRANSACTION is answered, and no op message is written",
        "reference.broker.transaction.transactional_message_service",
        "            return self._write_op(half.queue_id, str(half.queue_offset))\n",
        "            from reference.store.put_message import PutMessageResult, PutMessageStatus\n"
        "            return PutMessageResult(PutMessageStatus.PUT_OK, None, half.physical_offset)\n",
        "op.names, op_length", like="B04", profile="4.9.7",
    ),
    _mutant(
        "op entry dropped", "END_TRANSACTION is answered, and nothing joins the batch",
        "reference.broker.transaction.transactional_message_service", "context.context_queue.append(entry)", "pass",
        "batch.names", like="B02 B04",
    ),
    _mutant(
        "batch interval ignored", "a batch is written as soon as something waits",
        "reference.broker.transaction.transactional_message_service",
        "return is_large or now - context.last_write_timestamp >= self._settings.op_batch_interval_ms",
        "return True",
        "op messages written", like="A16",
    ),
    _mutant(
        "batch write not noted", "the instant of the last batch is that of the first for ever",
        "reference.broker.transaction.transactional_message_service",
        "        context.last_write_timestamp = self._clock.now\n", "",
        "batch.written_at", like="A16 B05",
    ),
    _mutant(
        "batch survives a crash", "what waits in memory is there after a restart",
        "reference.broker.broker_controller",
        "        return type(self)(\n"
        "            self.switches, self.settings, self.clock, message_store, "
        "self.recorder, self.producer_manager, role\n"
        "        )\n",
        "        heir = type(self)(\n"
        "            self.switches, self.settings, self.clock, message_store, "
        "self.recorder, self.producer_manager, role\n"
        "        )\n"
        "        heir.transactional_message_service.delete_context.update("
        "self.transactional_message_service.delete_context)\n"
        "        return heir\n",
        "batch.names, batch.is_open", like="B02",
    ),
    _mutant(
        "check count forgotten", "a put-back does not count a check",
        "reference.broker.transaction.half_judge", "= str(check_times + 1)", "= str(check_times)",
        "half.check_times", like="A09",
    ),
    _mutant(
        "original forgotten", "an immunity put-back does not write TRAN_PREPARED_QUEUE_OFFSET",
        "reference.broker.transaction.transactional_message_bridge",
        "        message.properties.setdefault(PREPARED_QUEUE_OFFSET, str(message.queue_offset))\n", "",
        "half.original", like="B01",
    ),
    _mutant(
        "original overwritten", "an immunity put-back names the last copy, not the first half",
        "reference.broker.transaction.transactional_message_bridge",
        "message.properties.setdefault(PREPARED_QUEUE_OFFSET, str(message.queue_offset))",
        "message.properties[PREPARED_QUEUE_OFFSET] = str(message.queue_offset)",
        "half.original", like="B01",
    ),
    _mutant(
        "copy born anew", "a copy's age counts from its own store time",
        "reference.broker.transaction.transactional_message_bridge", "        return copy\n",
        "        copy.born_timestamp = self._clock.now\n        return copy\n",
        "half.born_at", like="A21",
    ),
    _mutant(
        "op end taken as illegal", "4.9.7 commits the op offset to the end of the op queue, as 4.5.1 did",
        "reference.broker.transaction.transactional_message_bridge", " and self._switches.op_end_commits_offset", "",
        "offsets.op", like="A02", profile="4.9.7",
    ),
    _mutant(
        "op not done on a hit", "4.9.7 leaves an op off the done list, as 4.5.1 did",
        "reference.broker.transaction.op_remove_map", "if self._switches.marks_op_done_on_hit:", "if False:",
        "round.done", like="A03", profile="4.9.7",
    ),
    _mutant(
        "op done by one of its halves", "an op message of several halves is done with the first",
        "reference.broker.transaction.op_remove_map",
        "            if self.op_msg_map[op]:\n                return op\n", "",
        "round.done, pulled_op.unresolved", like="A15",
    ),
    _mutant(
        "prepared hit not done", "the op message that names an original is never done",
        "reference.broker.transaction.op_remove_map",
        "        if op is not None:\n            self.done_op_offset.append(op)\n", "",
        "round.done", like="A15 L4",
    ),
    _mutant(
        "old half taken into removeMap", "an op message for a half below the half offset is not done with",
        "reference.broker.transaction.op_remove_map", "if half >= self._least:", "if half >= 0:",
        "round.removed_by", like="B01",
    ),
    _mutant(
        "done ops counted over a gap", "the op offset passes an op message that is not done",
        "reference.broker.transaction.op_remove_map", "            if op != new_offset:\n                break\n", "",
        "offsets.op", like="A02",
    ),
    _mutant(
        "one op more a pull", "a pull reads one op message more than it should",
        "reference.broker.transaction.op_remove_map", "self._op_msg_pull_nums = op_msg_pull_nums",
        "self._op_msg_pull_nums = op_msg_pull_nums + 1",
        "round.next_op", like="B29",
    ),
    _mutant(
        "equal age not young", "5.4.0 compares ages with < as 5.3.3 did",
        "reference.broker.transaction.half_judge", "age <= immunity if", "age < immunity if",
        _BRANCH, like="A19", profile="5.4.0",
    ),
    _mutant(
        "equal age young", "5.3.3 compares ages with <= as 5.4.0 does",
        "reference.broker.transaction.half_judge", "else age < immunity", "else age <= immunity",
        _BRANCH, like="A19",
    ),
    _mutant(
        "discard a check too late", "a half is discarded with more than the maximum of checks",
        "reference.broker.transaction.half_judge", "check_times >= self._settings", "check_times > self._settings",
        _BRANCH, like="A30",
    ),
    _mutant(
        "discard after the ops", "a half is discarded only when the op queue is read to its end",
        "reference.broker.transaction.check_round", "if self.judge.need_discard(half) or",
        "if self.judge.need_discard(half) and self.op_remove_map.pull_result.found is None or",
        _BRANCH, like="A10",
    ),
    _mutant(
        "discarded and not kept", "a discarded half leaves only a log line, as in 4.5.1",
        "reference.broker.transaction.transactional_message_check_listener",
        "if not self._broker.switches.keeps_discarded:\n            return None\n        self._broker.topic",
        "if half_is_lost := True:\n            return None\n        self._broker.topic",
        "transaction.parked", like="A31",
    ),
    _mutant(
        "offset ahead of the copy", "the half offset is committed with each pass, not at the end of the round",
        "reference.broker.transaction.check_round",
        "        self.new_offset = QueueOffset(self.new_offset + 1)\n        return step",
        "        self.new_offset = QueueOffset(self.new_offset + 1)\n"
        "        self._bridge.update_consume_offset(HALF_TOPIC, self.new_offset)\n        return step",
        "offsets.half", like="B13",
    ),
    _mutant(
        "fresh half not recognised", "a half of the round's first instant counts as an earlier one",
        "reference.broker.transaction.half_judge", "half.record.store_timestamp >= self.start_time",
        "half.record.store_timestamp > self.start_time",
        _BRANCH, like="B16",
    ),
    _mutant(
        "time limit ignored", "a round never stops for having lasted too long",
        "reference.broker.transaction.check_round",
        "if now - self.start_time > self._broker.settings.max_process_time_limit_ms and not self._finishes_reading():",
        "if False:",
        _BRANCH, like="A20",
    ),
    _mutant(
        "late op not awaited", "the last op message must be later still before a half is checked for it",
        "reference.broker.transaction.check_round", "ops[-1].born_timestamp - self.start_time > self",
        "ops[-1].born_timestamp - self.start_time > 2 * self",
        _BRANCH, like="B06",
    ),
    _mutant(
        "check before the copy", "the check request is made before the copy is known",
        "reference.broker.transaction.check_round",
        "        half.become_copy(copy)\n        request = self._broker.check_listener.resolve_half_msg(half)\n",
        "        request = self._broker.check_listener.resolve_half_msg(half)\n        half.become_copy(copy)\n",
        "half.check_in_flight", like="B16",
    ),
    _mutant(
        "round a moment late", "an interval must be more than over before a round begins",
        "reference.broker.transaction.transactional_message_check_service",
        "waited >= self._broker", "waited > self._broker",
        "whether a round begins", like="A20",
    ),
    _mutant(
        "late END accepted", "5.3.3 handles an END_TRANSACTION beyond the immunity, as 4.9.7 does",
        "reference.broker.processor.end_transaction_processor",
        "if not self._broker.switches.refuses_late_end or", "if True or",
        _ANSWER, like="A58",
    ),
    _mutant(
        "END idempotent", "a second commit for a half is refused",
        "reference.broker.processor.end_transaction_processor", "        return self._send_final_message(half)\n",
        "        if any(\n"
        "            record.sys_flag & TRANSACTION_BITS == TRANSACTION_COMMIT\n"
        "            and record.prepared_transaction_offset == header.commit_log_offset\n"
        "            for record in self._broker.message_store.records()\n"
        "        ):\n"
        '            return self._refuse(SYSTEM_ERROR, "handled already")\n'
        "        return self._send_final_message(half)\n",
        _ANSWER, like="A13",
    ),
    _mutant(
        "any group may end", "the producer group of an END_TRANSACTION is not compared",
        "reference.broker.processor.end_transaction_processor",
        "if half.properties[PRODUCER_GROUP] != self.header.producer_group:",
        "if False:",
        _ANSWER, like="B10",
    ),
    _mutant(
        "any offset may end", "the queue offset of an END_TRANSACTION is not compared",
        "reference.broker.processor.end_transaction_processor",
        "if half.queue_offset != self.header.tran_state_table_offset:", "if False:",
        _ANSWER, like="B10",
    ),
    _mutant(
        "nobody asked", "a check request is sent though no producer of the group is connected",
        "reference.broker.transaction.transactional_message_check_listener",
        "if self._broker.producer_manager.get_available_channel(message.properties.get(PRODUCER_GROUP)) is None:",
        "if False:",
        _BRANCH, like="B19 A35", beside="offline_producer",
    ),
    _mutant(
        "slave ends", "a slave handles END_TRANSACTION as a master does",
        "reference.broker.processor.end_transaction_processor", "if self._broker.role.is_slave:", "if False:",
        _ANSWER, like="B04", beside="role_change",
    ),
    _mutant(
        "slave checks", "a slave begins check rounds as a master does",
        "reference.broker.transaction.transactional_message_check_service",
        "self._broker.role is BrokerRole.SLAVE or self._broker.is_stopping or not self.is_alive",
        "self._broker.is_stopping or not self.is_alive",
        "whether a round begins", like="B20", beside="role_change",
    ),
    _mutant(
        "acting slave checks", "a slave that acts for its master puts halves back instead of sending them on",
        "reference.broker.transaction.check_round",
        "if self._broker.role is BrokerRole.ACTING_MASTER and self._broker.switches.escapes:",
        "if False:",
        _BRANCH, like="B20", beside="acting_slave",
    ),
    _mutant(
        "escaped half not passed", "a half that another master has taken is sent to it again",
        "reference.broker.transaction.check_round", "return self._moved_on(CheckBranch.ESCAPED, half)",
        "return self._stays(CheckBranch.ESCAPED, half)",
        "round.cursor", like="B22", beside="acting_slave",
    ),
    _mutant(
        "half that cannot escape is passed", "the first failure gives a half up",
        "reference.broker.transaction.check_round",
        "if self.escape_fail_count < _MAX_RETRY_TIMES_FOR_ESCAPE:", "if False:",
        _BRANCH, like="B21", beside="acting_slave",
    ),
    _mutant(
        "failed put passed", "a half whose copy was not stored is passed",
        "reference.broker.transaction.check_round", "self._stays(CheckBranch.PUT_BACK_FAILED, half)",
        "self._moved_on(CheckBranch.PUT_BACK_FAILED, half)",
        "offsets.half", like="B08", beside="put_failure",
    ),
    _mutant(
        "aborted round commits", "a round that an exception ends commits what it has reached",
        "reference.broker.transaction.check_round", "if step.branch.commits or", "if step.branch.is_end or",
        "offsets.half, offsets.op", like="A08", beside="null_half",
    ),
    _mutant(
        "two jumps", "a round jumps over a second missing half",
        "reference.broker.transaction.check_round", '_DEFAULTS["MAX_RETRY_COUNT_WHEN_HALF_NULL"]', "2",
        _BRANCH, like="A08", beside="null_half",
    ),
    _mutant(
        "null in the list", "4.9.7 stumbles over a message that cannot be decoded, as 4.5.1 did",
        "reference.broker.transaction.transactional_message_bridge",
        "if self._switches.undecodable_throws and None in records and not is_passed:",
        "if None in records:",
        f"{_BRANCH}, whether a round begins", like="A07 B17", profile="4.9.7", beside="undecodable_half undecodable_op",
    ),
    _mutant(
        "lost batch kept", "the entries of an op message that was not stored wait for the next",
        "reference.broker.transaction.transactional_message_service",
        "        return OpBatch(\n",
        "        import re\n"
        "        for queue_id, record in written.items():\n"
        "            if record is None:\n"
        "                entries = re.findall('[0-9]+,', bodies[queue_id])\n"
        "                self.delete_context[queue_id].context_queue.extend(entries)\n"
        "                self.delete_context[queue_id].total_size += len(bodies[queue_id])\n"
        "        return OpBatch(\n",
        "batch.names", like="B04", beside="op_write_failure",
    ),
    _mutant(
        "resumed half keeps its checks", "a half that an operator puts back counts on",
        "reference.broker.processor.admin_broker_processor",
        'record.properties | {CHECK_TIMES: "0"}', "dict(record.properties)",
        "half.check_times", like="B30", beside="resume_discarded",
    ),
    _mutant(
        "stop saves nothing", "a shutdown leaves the file of offsets as it is",
        "reference.broker.broker_controller", "        self.save_consumer_offsets()\n        save_empty_tables",
        "        save_empty_tables",
        "saved.half, saved.op, offsets.half, offsets.op", like="B03", beside="graceful_stop",
    ),
    _mutant(
        "slave stores", "a slave takes messages as a master does",
        "reference.store.message_store", "if not self.is_writeable or self.is_slave or self.is_closed:",
        "if not self.is_writeable or self.is_closed:",
        f"{_ANSWER}, the answer to the send, op messages written", like="B04", beside="role_change",
    ),
    _mutant(
        "rot is read", "a message with a port that there is not is decoded all the same",
        "reference.store.get_message", "return decode_message(source, at) if is_readable(source, at) else None",
        "return decode_message(source, at)",
        f"transaction.kind, op.undecodable, {_BRANCH}", like="A07", beside="undecodable_half undecodable_op",
    ),
    _mutant(
        "recovery dispatches nothing", "a record that was in no queue at a crash is in none after it",
        "reference.store.recovery",
        "                    entered.put(offset, size, tags)\n", "                    pass\n",
        f"{_BRANCH}, {_ANSWER}, half.check_in_flight, round.cursor",
    ),
    _mutant(
        "recovery does not count", "what a starting broker enters into a queue does not move its next offset",
        "reference.store.consume_queue_store", "            queue.next_offset = queue.end\n", "",
        f"{_BRANCH}, {_ANSWER}, half.check_in_flight, round.cursor",
    ),
    _mutant(
        "flush in time", "a half that was not flushed in time is answered with success",
        "reference.broker.processor.send_message_processor",
        "response=RemotingResponse(FLUSH_DISK_TIMEOUT)", "response=RemotingResponse(SUCCESS)",
        "the answer to the send", like="A37", beside="bad_store_status",
    ),
)  # fmt: skip
