"""A path of the specification as the steps of a sequence diagram."""

from collections.abc import Sequence
from dataclasses import replace

from model_check.counterexample.sequence_diagram import DiagramStep
from model_check.counterexample.steps import Event
from model_check.wording.gathered import wordings


def drawn_path(events: Sequence[Event]) -> tuple[DiagramStep, ...]:
    """The messages of a counterexample; the last of them is what violates the property."""
    messages = [step for event in events for step in drawn(event)]
    return (*messages[:-1], replace(messages[-1], is_violation=True))


def drawn(event: Event) -> tuple[DiagramStep, ...]:
    """The messages of one step."""
    return tuple(
        DiagramStep(event.number, message.source, message.target, _filled(message.label, event), kind=message.kind)
        for message in wordings()[event.step.action.name].picture
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
    }
    immunity = arguments.get("immunity")
    arguments["with_immunity"] = f", immunity {immunity}" if isinstance(immunity, int) and immunity >= 0 else ""
    return label.format_map(arguments)
