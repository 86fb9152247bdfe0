"""A path as the steps of a sequence diagram, and the diagram as an SVG, alone or with a page's colours, or as Mermaid.

Labels are as wide as they are, so lifelines move apart until every label fits between the two that it joins.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from textwrap import wrap

from model_check.counterexample.steps import Event
from model_check.wording.actions import StepKind, wordings

PARTICIPANTS = (
    "Operator", "Producer", "Proxy", "Broker", "Half queue", "Op queue", "Check service", "Consumer", "Other broker",
)  # fmt: skip
"""From left to right; a diagram shows those that take part."""


@dataclass(frozen=True)
class DiagramStep:
    """One step of the drawing."""

    number: int
    """The step's number in the counterexample."""
    source: str
    target: str
    """The name of a participant, as `source`; equal for something that happens in one place."""
    label: str
    """A few words on the arrow or in the box."""
    kind: StepKind = StepKind.MESSAGE
    """How it is drawn."""
    is_violation: bool = False
    """Whether this is the step that breaks the property; it is drawn in the colour of violations."""


def drawn_path(events: Sequence[Event]) -> tuple[DiagramStep, ...]:
    """The messages of a counterexample; the last of them is what violates the property."""
    messages = [step for event in events for step in drawn_step(event)]
    return (*messages[:-1], replace(messages[-1], is_violation=True))


def drawn_lasso(stem: Sequence[Event], cycle: Sequence[Event]) -> tuple[DiagramStep, ...]:
    """The messages up to a cycle, a line, and those of the cycle."""
    number = len(stem) + 1
    again = "from here on, again and again" if cycle else "from here on, nothing happens any more"
    line = DiagramStep(number, PARTICIPANTS[0], PARTICIPANTS[0], again, kind=StepKind.BREAK)
    return tuple(
        [*(s for e in stem for s in drawn_step(e)), line]
        + [replace(step, is_violation=True) for event in cycle for step in drawn_step(event)]
    )


def drawn_step(event: Event) -> tuple[DiagramStep, ...]:
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


_LETTER = 6.5  # mean width in pixels of a letter at 12 px
_LINE = 15
_GUTTER = 40  # room for the numbers on the left
_HEAD = 30
_LEAST_GAP = 118
_LONGEST_LINE = 30

STYLE = """
.sequence{--d-ink:var(--ink,#1d2022);--d-muted:var(--muted,#5d6266);--d-rule:var(--rule,#c9c4b8);--d-paper:var(--paper,#fcfbf8);
--d-panel:var(--panel,#f1eee6);--d-bad:var(--bad,#b3261e);--d-accent:var(--accent,#0b5c6b);
font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}
@media (prefers-color-scheme:dark){.sequence{--d-ink:var(--ink,#e9e7e1);--d-muted:var(--muted,#a6abaf);
--d-rule:var(--rule,#4a5056);--d-paper:var(--paper,#14171a);--d-panel:var(--panel,#1f2428);--d-bad:var(--bad,#ff8a7a);
--d-accent:var(--accent,#6cc5d6)}}
.sequence text{fill:var(--d-ink)}
.sequence .ground{fill:var(--d-paper)}
.sequence .life{stroke:var(--d-rule);stroke-width:1.25}
.sequence .head{fill:var(--d-panel);stroke:var(--d-rule)}
.sequence .head-name{font-weight:600;text-anchor:middle}
.sequence .number{fill:var(--d-muted);text-anchor:end;font-size:11px;font-variant-numeric:tabular-nums}
.sequence .label{text-anchor:middle;paint-order:stroke;stroke:var(--d-paper);stroke-width:4px;stroke-linejoin:round}
.sequence .note{fill:var(--d-muted);font-size:10.5px;text-anchor:middle;paint-order:stroke;stroke:var(--d-paper);
stroke-width:4px;stroke-linejoin:round}
.sequence .arrow{stroke:var(--d-accent);stroke-width:1.6;fill:none}
.sequence .tip{fill:var(--d-accent)}
.sequence .lost .arrow{stroke-dasharray:5 4}
.sequence .box{fill:var(--d-panel);stroke:var(--d-rule)}
.sequence .box+.label,.sequence .box~.label,.sequence .box~.note{stroke:none}
.sequence .break .box{fill:var(--d-paper);stroke:var(--d-muted);stroke-dasharray:5 4}
.sequence .violation .arrow{stroke:var(--d-bad);stroke-width:2.2}
.sequence .violation .tip{fill:var(--d-bad)}
.sequence .violation .box{stroke:var(--d-bad);stroke-width:1.6}
.sequence .violation .label,.sequence .violation .number{fill:var(--d-bad);font-weight:600}
"""


def draw(steps: Sequence[DiagramStep], title: str, name: str, *, is_alone: bool = True) -> str:
    """Draw a schedule.

    Parameters
    ----------
    steps
        In order; a participant that is not in ``PARTICIPANTS`` stands to the right of those that are.
    title
        Read out by screen readers, with the steps in words.
    name
        Unique in the page; the SVG's ids begin with it.
    is_alone
        Whether its styles and its steps in words are in it; a page of many drawings has them itself.

    Returns
    -------
    str
        An ``<svg>`` element, as wide and high as its view box says, in pixels.
    """
    names = _participants(steps)
    places = _places(names, steps)
    width = places[-1] + _half_width(names[-1], steps)
    body, y = [], _HEAD + 20.0
    for step in steps:
        drawn, height = _draw_step(step, names, places, y, width)
        body.append(drawn)
        y += height
    bottom = y + 4
    heads = f'<g id="{name}-heads">{_heads(names, places, 4)}</g>' if not is_alone else _heads(names, places, 4)
    if len(steps) > 8:
        again = f'<use href="#{name}-heads" y="{bottom - 4:.0f}"/>'
        heads += _heads(names, places, bottom) if is_alone else again
    total = bottom + (_HEAD + 4 if len(steps) > 8 else 4)
    lives = "".join(
        f'<line class="life" x1="{x:.0f}" x2="{x:.0f}" y1="{_HEAD + 4}" y2="{bottom:.0f}"/>' for x in places
    )
    description = "; ".join(f"{step.number}. {step.source} to {step.target}: {step.label}" for step in steps)
    words = f'<desc id="{name}-desc">{escape(description)}</desc><style>{STYLE}</style>' if is_alone else ""
    labels = f"{name}-title {name}-desc" if is_alone else f"{name}-title"
    return (
        f'<svg class="sequence" xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{total:.0f}" '
        f'viewBox="0 0 {width:.0f} {total:.0f}" aria-labelledby="{labels}">'
        f'<title id="{name}-title">{escape(title)}</title>{words}'
        f'<rect class="ground" width="{width:.0f}" height="{total:.0f}"/>{lives}{heads}{"".join(body)}</svg>'
    )


def _participants(steps: Sequence[DiagramStep]) -> list[str]:
    taking_part = dict.fromkeys(
        name for step in steps if step.kind != StepKind.BREAK for name in (step.source, step.target)
    )
    known = [name for name in PARTICIPANTS if name in taking_part]
    return (known + [name for name in taking_part if name not in PARTICIPANTS]) or [PARTICIPANTS[0]]


def _places(names: Sequence[str], steps: Sequence[DiagramStep]) -> list[float]:
    """The lifelines' x: neighbours are as far apart as the labels between them need, short spans first."""
    gaps = [max(_LEAST_GAP, _LETTER * (len(a) + len(b)) / 2 + 40) for a, b in pairwise(names)]
    arrows = [step for step in steps if step.source != step.target and step.kind != StepKind.BREAK]
    for step in sorted(arrows, key=lambda s: abs(names.index(s.source) - names.index(s.target))):
        low, high = sorted((names.index(step.source), names.index(step.target)))
        missing = _text_width(step) + 36 - sum(gaps[low:high])
        for between in range(low, high):
            gaps[between] += max(missing, 0) / (high - low)
    places = [_GUTTER + _half_width(names[0], steps)]
    for gap in gaps:
        places.append(places[-1] + gap)
    return places


def _half_width(name: str, steps: Sequence[DiagramStep]) -> float:
    """Room beside an outer lifeline: for its head, and for the boxes that stand on it."""
    own = [_text_width(step) for step in steps if step.source == step.target == name and step.kind != StepKind.BREAK]
    return max([_LETTER * len(name) / 2 + 18, *(width / 2 + 22 for width in own)])


def _lines(step: DiagramStep) -> list[str]:
    return wrap(step.label, 2 * _LONGEST_LINE if step.kind == StepKind.BREAK else _LONGEST_LINE) or [""]


def _text_width(step: DiagramStep) -> float:
    return max(_LETTER * len(line) for line in _lines(step))


def _heads(names: Sequence[str], places: Sequence[float], y: float) -> str:
    drawn = []
    for name, x in zip(names, places, strict=True):
        half = _LETTER * len(name) / 2 + 14
        drawn.append(
            f'<rect class="head" x="{x - half:.1f}" y="{y:.0f}" width="{2 * half:.1f}" height="{_HEAD}" rx="6"/>'
            f'<text class="head-name" x="{x:.1f}" y="{y + 19:.0f}">{escape(name)}</text>'
        )
    return "".join(drawn)


def _draw_step(
    step: DiagramStep, names: Sequence[str], places: Sequence[float], y: float, width: float
) -> tuple[str, float]:
    """One step from height ``y`` on, and the height that it takes."""
    labels = _lines(step)
    classes = f"step {step.kind}" + (" violation" if step.is_violation else "")
    if step.kind == StepKind.BREAK:
        across = width - _GUTTER - 12
        drawn, height, middle = _box(labels, _GUTTER + across / 2, y, across)
    elif step.source == step.target:
        own = min(_text_width(step) + 28, width - _GUTTER - 8)
        x = min(max(places[names.index(step.source)], _GUTTER + own / 2 + 4), width - own / 2 - 4)
        drawn, height, middle = _box(labels, x, y, own)
    else:
        drawn, height, middle = _arrow(step, places[names.index(step.source)], places[names.index(step.target)], y)
    number = f'<text class="number" x="{_GUTTER - 14}" y="{middle + 4:.0f}">{step.number}</text>'
    return f'<g class="{classes}" data-step="{step.number}">{number}{drawn}</g>', height


def _box(labels: Sequence[str], x: float, y: float, width: float) -> tuple[str, float, float]:
    height = _LINE * len(labels) + 12
    box = f'<rect class="box" x="{x - width / 2:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height}" rx="5"/>'
    return box + _texts(labels, x, y + 17), height + 12, y + height / 2


def _arrow(step: DiagramStep, start: float, end: float, y: float) -> tuple[str, float, float]:
    labels = _lines(step)
    line = y + _LINE * len(labels) + 6
    middle = (start + end) / 2
    way = 1 if end > start else -1
    if step.kind == StepKind.LOST:
        drawn = (
            f'<line class="arrow" x1="{start:.1f}" x2="{middle:.1f}" y1="{line}" y2="{line}"/>'
            f'<path class="arrow" style="stroke-dasharray:none" d="M{middle - 5:.1f} {line - 5}l10 10m0 -10l-10 10"/>'
        )
    else:
        drawn = (
            f'<line class="arrow" x1="{start:.1f}" x2="{end - 7 * way:.1f}" y1="{line}" y2="{line}"/>'
            f'<path class="tip" d="M{end:.1f} {line}l{-9 * way} -4.5v9z"/>'
        )
    return drawn + _texts(labels, middle, y + 12), line - y + 16, line


def _texts(lines: Sequence[str], x: float, y: float) -> str:
    return "".join(
        f'<text class="label" x="{x:.1f}" y="{y + row * _LINE:.1f}">{escape(line)}</text>'
        for row, line in enumerate(lines)
    )


def to_mermaid(steps: Sequence[DiagramStep], title: str) -> str:
    """The diagram as Mermaid text, for pages that draw it themselves.

    Parameters
    ----------
    steps
        As `drawn_path` gives them.
    title
        What the diagram shows, on one line.
    """
    taking_part = {name for step in steps for name in (step.source, step.target)}
    names = [name for name in PARTICIPANTS if name in taking_part]
    lines = ["---", f"title: {_mermaid_words(title)}", "---", "sequenceDiagram"]
    lines += [f"    participant {_mermaid_name(name)} as {name}" for name in names]
    lines += [f"    {line}" for step in steps for line in _mermaid_lines(step, names)]
    return "\n".join([*lines, ""])


def _mermaid_lines(step: DiagramStep, names: Sequence[str]) -> list[str]:
    label = _mermaid_words(f"{step.number}. {step.label}")
    source, target = _mermaid_name(step.source), _mermaid_name(step.target)
    if step.kind is StepKind.BREAK:
        return [f"Note over {_mermaid_name(names[0])},{_mermaid_name(names[-1])}: {label}"]
    if step.kind is StepKind.LOST:
        return [f"{source}-x{target}: {label}"]
    line = f"Note over {source}: {label}" if source == target else f"{source}->>{target}: {label}"
    return ["rect rgb(250, 220, 216)", f"    {line}", "end"] if step.is_violation else [line]


def _mermaid_name(name: str) -> str:
    return name.replace(" ", "")


def _mermaid_words(words: str) -> str:
    """Without the characters that Mermaid reads as its own."""
    return words.replace(";", ",").replace("#", "no. ").replace(":", " -")
