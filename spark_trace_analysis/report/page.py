"""From ``ReportData`` to one HTML file that needs nothing else: styles, script and drawings are in it.

The page's own content security policy forbids every request, so a stray reference can't go unnoticed.
"""

import os
from collections import Counter
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from model_check.counterexample.sequence_diagram import draw
from spark_trace_analysis.report.data import Counterexample, ReportData, environment_name
from spark_trace_analysis.report.plots import draw_all
from spark_trace_analysis.report.verdict_matrix import matrices

_STATES = ("lost", "doubled", "parked", "pending", "delivered", "rolled_back")


def render(data: ReportData) -> str:
    """Give the page as text.

    Parameters
    ----------
    data
        What to show; a section without content is left out.
    """
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"count": _count, "seconds": _seconds, "environment": environment_name, "words": _words}
    return templates.get_template("page.html.j2").render(
        data=data,
        matrices=matrices(data.verdicts),
        verdict_counts=Counter(row.verdict for row in data.verdicts),
        diagrams=[Markup(_diagram(example, n)) for n, example in enumerate(data.counterexamples)],  # noqa: S704
        states=_states(data),
        plots=[(plot, Markup(plot.svg)) for plot in draw_all(data.simulation)] if data.simulation else [],  # noqa: S704
        all_traces=sum(run.traces for run in data.simulation.runs) if data.simulation else 0,
        explained=sum(audit.explanation.accepted is True for audit in data.audits),
        killed=sum(bool(mutant.variable) for mutant in data.mutants.mutants) if data.mutants else 0,
        all_transactions=sum(sum(audit.counts.values()) for audit in data.audits),
    )


def write(data: ReportData, path: Path) -> None:
    """Write the page; it appears under its name when it is whole.

    Raises
    ------
    OSError
        The folder can't be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        unfinished.write_text(render(data), encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _diagram(example: Counterexample, number: int) -> str:
    where = f"{example.profile}, {environment_name(example.environment)}"
    title = f"{example.property_id} is violated in {where}: {example.rule}"
    return draw(example.messages, title, f"diagram-{number}")


def _states(data: ReportData) -> list[str]:
    """The states that the audits' tables have as columns: all known ones, and what else an audit counts."""
    counted = dict.fromkeys(state for audit in data.audits for state in audit.counts)
    return [*_STATES, *(state for state in counted if state not in _STATES)]


def _count(number: int) -> str:
    return f"{number:,}"


def _seconds(seconds: float) -> str:
    if seconds < 0.0995:
        return f"{1000 * seconds:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds:.0f} s"


def _words(name: str) -> str:
    return name.replace("_", " ")
