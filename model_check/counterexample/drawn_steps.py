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


def _box(participant: str, label: str) -> Draw:
    return _arrow(participant, participant, label)


def _bar(label: str) -> Draw:
    return _arrow("Broker", "Broker", label, StepKind.BREAK)


def _put_back(reason: str) -> Draw:
    return _arrow("Check service", "Half queue", f"copy {{copy}} of half {{cursor}} {reason}")


def _put_back_and_check(event: Event) -> tuple[DiagramStep, ...]:
    return (
        *_put_back("for a check")(event),
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
    "send_half": _arrow("Producer", "Half queue", "half {new_half}{with_immunity}"),
    "commit_locally": _arrow("Producer", "Broker", "END commit for half {first_half}"),
    "roll_back_locally": _arrow("Producer", "Broker", "END rollback for half {first_half}"),
    "leave_it_unknown": _box("Producer", "outcome unknown"),
    "resolve_to_commit": _box("Producer", "outcome is now commit"),
    "resolve_to_rollback": _box("Producer", "outcome is now rollback"),
    "answer_check": _arrow("Producer", "Broker", "END {answer} for half {h}"),
    "answer_check_too_early": _arrow("Producer", "Broker", "END rollback for half {h}, too early"),
    "store_real_message": _arrow("Broker", "Consumer", "message of half {h}"),
    "write_op": _arrow("Broker", "Op queue", "op {new_op} names half {h}"),
    "buffer_op": _box("Broker", "op for half {h} waits in memory"),
    "refuse_late_end": _arrow("Broker", "Producer", "ILLEGAL_OPERATION for half {h}"),
    "write_op_batch": _arrow("Broker", "Op queue", "op {new_op} names {names}"),
    "begin_round": _box("Check service", "round begins, ops pulled"),
    "pass_settled_half": _box("Check service", "half {cursor} is settled"),
    "pass_half_of_settled_original": _box("Check service", "half {cursor}: original settled"),
    "discard_half": _box("Check service", "half {cursor} discarded"),
    "put_back_immune_half": _put_back("for immunity"),
    "put_back_and_check": _put_back_and_check,
    "pull_more_ops": _arrow("Op queue", "Check service", "more ops"),
    "end_round_at_queue_end": _box("Check service", "round ends: no more halves"),
    "end_round_at_fresh_half": _box("Check service", "round ends: fresh half"),
    "end_round_before_dispatch": _box("Check service", "round ends: copy not dispatched"),
    "end_round_at_young_half": _box("Check service", "round ends: young half"),
    "end_round_at_time_limit": _box("Check service", "round ends: time limit"),
    "persist_offsets": _box("Broker", "offsets saved"),
    "lose_end": _arrow("Producer", "Broker", "END for half {h}", StepKind.LOST),
    "lose_check": _arrow("Check service", "Producer", "check of half {h}", StepKind.LOST),
    "duplicate_end": _arrow("Producer", "Broker", "END for half {h}, once more"),
    "send_wrong_commit": _arrow("Producer", "Broker", "commit for half {h}, by mistake"),
    "send_wrong_rollback": _arrow("Producer", "Broker", "rollback for half {h}, by mistake"),
    "answer_with_wrong_commit": _arrow("Producer", "Broker", "commit for half {h}, unasked answer"),
    "answer_with_wrong_rollback": _arrow("Producer", "Broker", "rollback for half {h}, unasked answer"),
    "crash": _bar("the broker's process dies and starts again"),
    "tick": _bar("a tick passes"),
}
