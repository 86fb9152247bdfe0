"""What each action of the specification looks like in a sequence diagram."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from model_check.counterexample.sequence_diagram import DiagramStep, StepKind
from model_check.counterexample.steps import Event

Draw = Callable[[Event], tuple[DiagramStep, ...]]


def drawn_path(events: Sequence[Event]) -> tuple[DiagramStep, ...]:
    """The messages of a counterexample; the last of them is what violates the property."""
    messages = [step for event in events for step in drawn(event)]
    return (*messages[:-1], replace(messages[-1], is_violation=True))


def drawn(event: Event) -> tuple[DiagramStep, ...]:
    """The messages of one step; a step that is not in the table below is a box on the broker's line."""
    return _DRAWN.get(event.step.action.name, _box("Broker", event.step.action.name.replace("_", " ")))(event)


# --- how each action is drawn -----------------------------------------------------------------------------------------


def _arrow(source: str, target: str, label: str, kind: StepKind = StepKind.MESSAGE) -> Draw:
    def draw(event: Event) -> tuple[DiagramStep, ...]:
        return (DiagramStep(event.number, source, target, _filled(label, event), kind=kind),)

    return draw


def _lost(source: str, target: str, label: str) -> Draw:
    return _arrow(source, target, label, StepKind.LOST)


def _box(participant: str, label: str) -> Draw:
    return _arrow(participant, participant, label)


def _bar(label: str) -> Draw:
    return _arrow("Broker", "Broker", label, StepKind.BREAK)


def _round(label: str) -> Draw:
    return _box("Check service", label)


def _put_back(reason: str) -> Draw:
    return _arrow("Check service", "Half queue", f"copy {{copy}} of half {{cursor}}{reason}")


def _put_back_and_check(event: Event) -> tuple[DiagramStep, ...]:
    return (
        *_put_back(" for a check")(event),
        *_arrow("Check service", "Producer", "check half {copy}")(event),
    )


def _filled(label: str, event: Event) -> str:
    """The label with the step's parameters and what the step changed."""
    after = {change.field: change.after for change in event.changes}
    before = {change.field: change.before for change in event.changes}
    arguments: dict[str, str | int] = dict(zip(event.step.action.parameters, event.step.arguments, strict=True))
    arguments |= {
        "new_half": before.get("half_length", "?"),
        "copy": before.get("half_length", "?"),
        "cursor": before.get("round.cursor", "?"),
        "next": after.get("round.cursor", "?"),
        "new_op": before.get("op_length", "?"),
        "names": before.get("batch.names", "?"),
        "answer": after.get(f"half[{arguments.get('h')}].end", "unknown"),
        "first_half": next((f[5] for f in after if f.startswith("half[") and f.endswith("].end")), "?"),
        "outcome": next((v for f, v in after.items() if f.endswith("].local")), "?"),
    }
    immunity = arguments.get("immunity")
    arguments["with_immunity"] = f", immunity {immunity}" if isinstance(immunity, int) and immunity >= 0 else ""
    return label.format_map(arguments)


_DRAWN: Mapping[str, Draw] = {
    # the producer
    "send_half": _arrow("Producer", "Half queue", "half {new_half}{with_immunity}"),
    "send_half_by_another_clock": _arrow("Producer", "Half queue", "half {new_half}{with_immunity}, clock {skew:+d}"),
    "send_half_with_checks": _arrow("Producer", "Half queue", "half {new_half}{with_immunity}, check {checks}"),
    "send_poison_half": _arrow("Producer", "Half queue", "half {new_half}{with_immunity}, too long to copy"),
    "send_undecodable_half": _arrow("Producer", "Half queue", "half {new_half}{with_immunity}, not decodable"),
    "send_half_again": _arrow("Producer", "Half queue", "half {new_half}, sent again"),
    "commit_locally": _arrow("Producer", "Broker", "END commit for half {first_half}"),
    "roll_back_locally": _arrow("Producer", "Broker", "END rollback for half {first_half}"),
    "roll_back_unrun": _arrow("Producer", "Broker", "END rollback for half {first_half}, never run"),
    "leave_it_unknown": _box("Producer", "outcome unknown"),
    "resolve_to_commit": _box("Producer", "outcome is now commit"),
    "resolve_to_rollback": _box("Producer", "outcome is now rollback"),
    "commit_what_is_gone": _lost("Producer", "Broker", "END commit, but its half is gone"),
    "commit_another_half": _arrow("Producer", "Broker", "END commit for half {first_half}, now another's"),
    "answer_check": _arrow("Producer", "Broker", "END {answer} for half {h}"),
    "answer_check_too_early": _arrow("Producer", "Broker", "END rollback for half {h}, too early"),
    "lose_all_producers": _box("Producer", "all producers are gone"),
    "restart_producers": _box("Producer", "producers start again, unregistered"),
    "connect_again": _arrow("Producer", "Broker", "connected again"),
    # END_TRANSACTION
    "store_real_message": _arrow("Broker", "Consumer", "message of half {h}"),
    "write_op": _arrow("Broker", "Op queue", "op {new_op} names half {h}"),
    "buffer_op": _box("Broker", "op for half {h} waits in memory"),
    "fail_to_write_op": _lost("Broker", "Op queue", "op for half {h}"),
    "refuse_late_end": _arrow("Broker", "Producer", "ILLEGAL_OPERATION for half {h}"),
    "refuse_end_as_slave": _arrow("Broker", "Producer", "SLAVE_NOT_AVAILABLE for half {h}"),
    "refuse_unreadable": _arrow("Broker", "Producer", "half {h} cannot be read"),
    "refuse_commit_unstored": _lost("Broker", "Consumer", "message of half {h}, not stored"),
    "ignore_repeated_end": _box("Broker", "END for half {h}: settled already"),
    "write_op_batch": _arrow("Broker", "Op queue", "op {new_op} names {names}"),
    "fail_to_write_op_batch": _lost("Broker", "Op queue", "op that names {names}"),
    # a check round
    "begin_round": _round("round begins, ops pulled"),
    "pass_settled_half": _round("half {cursor} is settled"),
    "pass_half_of_settled_transaction": _round("half {cursor}: transaction settled"),
    "pass_half_of_settled_original": _round("half {cursor}: original settled"),
    "pass_half_of_waiting_op": _round("half {cursor}: its op is to come"),
    "pass_over_long_immunity": _round("half {cursor}: immune for too long"),
    "discard_half": _round("half {cursor} discarded"),
    "discard_half_unrecorded": _round("half {cursor} discarded, no record of it"),
    "discard_instead_of_check": _round("half {cursor} discarded, all ops read"),
    "discard_what_cannot_be_copied": _round("half {cursor} discarded as it is"),
    "put_back_immune_half": _put_back(" for immunity"),
    "put_back_and_check": _put_back_and_check,
    "put_back_unasked": _put_back(", nobody to ask"),
    "pull_more_ops": _arrow("Op queue", "Check service", "more ops"),
    "end_round_at_queue_end": _round("round ends: no more halves"),
    "end_round_at_fresh_half": _round("round ends: fresh half"),
    "end_round_before_dispatch": _round("round ends: copy not dispatched"),
    "end_round_at_young_half": _round("round ends: young half"),
    "end_round_at_time_limit": _round("round ends: time limit"),
    # a check round that goes wrong
    "jump_to_queue_end": _round("no half {cursor}: on to half {next}"),
    "jump_over_half": _round("half {cursor} missed"),
    "end_round_at_missed_half": _round("round ends: a half is missed"),
    "abort_at_null_result": _round("round aborted: the store gives nothing"),
    "abort_at_undecodable_half": _round("round aborted: half not decodable"),
    "fail_to_begin_round": _round("no round: op not decodable"),
    "abort_at_next_ops": _round("round aborted: op not decodable"),
    "abort_at_unreadable_pull": _round("round aborted: no op decodable"),
    "spin_at_failed_check": _lost("Check service", "Half queue", "copy for a check, over and over"),
    "spin_at_failed_immunity": _lost("Check service", "Half queue", "copy for immunity, over and over"),
    "corrupt_op": _box("Op queue", "op {o} not decodable any more"),
    # the network
    "lose_end": _lost("Producer", "Broker", "END for half {h}"),
    "lose_check": _lost("Check service", "Producer", "check of half {h}"),
    "duplicate_end": _arrow("Producer", "Broker", "END for half {h}, once more"),
    "double_end": _arrow("Producer", "Broker", "END for half {h}, beside the first"),
    "overtake": _box("Broker", "ENDs for half {h} swapped"),
    "send_wrong_commit": _arrow("Producer", "Broker", "commit for half {h}, by mistake"),
    "send_wrong_rollback": _arrow("Producer", "Broker", "rollback for half {h}, by mistake"),
    "answer_with_wrong_commit": _arrow("Producer", "Broker", "commit for half {h}, unasked answer"),
    "answer_with_wrong_rollback": _arrow("Producer", "Broker", "rollback for half {h}, unasked answer"),
    # roles and escape
    "become_slave": _bar("another broker becomes the master"),
    "become_master": _bar("the broker is the master again"),
    "act_for_dead_master": _bar("the master dies, and a slave acts for it"),
    "let_half_escape": _arrow("Check service", "Other broker", "half {cursor} escapes"),
    "let_half_escape_unclearly": _arrow("Check service", "Other broker", "half escapes, its answer is lost"),
    "give_half_up": _lost("Check service", "Other broker", "half {cursor}, given up"),
    "pull_more_ops_before_escape": _arrow("Op queue", "Check service", "more ops before an escape"),
    "deliver_escaped": _arrow("Other broker", "Consumer", "message of transaction {t}"),
    "roll_back_escaped": _box("Other broker", "transaction {t} rolled back"),
    "bring_master_back": _bar("the master is back, with the slave's offsets"),
    "bring_master_back_with_its_own_offsets": _bar("the master is back, with its own offsets"),
    # the broker's process and disk, operators, time
    "persist_offsets": _box("Broker", "offsets saved"),
    "flush_log": _box("Broker", "commit log flushed"),
    "set_half_offset_back": _box("Broker", "half offset back at {h}"),
    "set_op_offset_back": _box("Broker", "op offset back at {o}"),
    "resume_discarded": _arrow("Operator", "Half queue", "half {copy}: half {h} resumed"),
    "stop": _bar("the broker is stopped and starts again"),
    "crash": _bar("the broker's process dies and starts again"),
    "lose_power": _bar("power loss: {records} records are left"),
    "step_clock_back": _bar("the clock goes back by a tick"),
    "tick": _bar("a tick passes"),
}
