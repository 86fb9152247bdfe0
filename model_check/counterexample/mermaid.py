"""A sequence diagram as Mermaid text, for pages that draw it themselves."""

from collections.abc import Sequence

from model_check.counterexample.sequence_diagram import PARTICIPANTS, DiagramStep
from model_check.wording.actions import StepKind


def to_mermaid(steps: Sequence[DiagramStep], title: str) -> str:
    """The diagram's text.

    Parameters
    ----------
    steps
        As `model_check.counterexample.drawn_steps.drawn_path` gives them.
    title
        What the diagram shows, on one line.
    """
    taking_part = {name for step in steps for name in (step.source, step.target)}
    names = [name for name in PARTICIPANTS if name in taking_part]
    lines = ["---", f"title: {_plain(title)}", "---", "sequenceDiagram"]
    lines += [f"    participant {_short(name)} as {name}" for name in names]
    lines += [f"    {line}" for step in steps for line in _lines(step, names)]
    return "\n".join([*lines, ""])


def _lines(step: DiagramStep, names: Sequence[str]) -> list[str]:
    label = _plain(f"{step.number}. {step.label}")
    source, target = _short(step.source), _short(step.target)
    if step.kind is StepKind.BREAK:
        return [f"Note over {_short(names[0])},{_short(names[-1])}: {label}"]
    if step.kind is StepKind.LOST:
        return [f"{source}-x{target}: {label}"]
    line = f"Note over {source}: {label}" if source == target else f"{source}->>{target}: {label}"
    return ["rect rgb(250, 220, 216)", f"    {line}", "end"] if step.is_violation else [line]


def _short(name: str) -> str:
    return name.replace(" ", "")


def _plain(words: str) -> str:
    """Without the characters that Mermaid reads as its own."""
    return words.replace(";", ",").replace("#", "no. ").replace(":", " -")
