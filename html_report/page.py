"""From ``ReportData`` to one HTML file that needs nothing else: styles, script and drawings are in it.

The page's own content security policy forbids every request, so a stray reference can't go unnoticed.
"""

import json
import re
import zlib
from base64 import b64encode

from markupsafe import Markup

from document.html import html
from document.parts import Table, tabulated
from files.remote_path import Location
from files.writing import write_whole
from html_report.counterexamples import Counterexample
from html_report.data import ReportData
from html_report.plots import draw_all, wilson
from html_report.templates import templates
from html_report.verdict_table import ClauseVerdict, Takes
from model_check.counterexample.sequence_diagram import STYLE, draw
from model_check.remedies.advice import Situation, remedy
from model_check.wording.clauses import meaning_of
from model_check.wording.sentences import as_sentence
from model_check.world import QUIET, Environment, Profile
from spark_trace_analysis.judge.properties import ALL, NOT_SHOWN


class Packed:
    """Takes parts in while a page is rendered; its last element holds them (``unpack.js``).

    Examples
    --------
    >>> packed = Packed()
    >>> packed.add("<svg/>"), packed.add("<svg/>"), packed.add("<p>")
    (0, 0, 1)
    """

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def add(self, part: Markup | str) -> int:
        """Take in a part of the page; gives the number by which the page names it."""
        return self._places.setdefault(str(part), len(self._places))

    @property
    def base64(self) -> str:
        """All parts as a JSON list, by zlib, in letters."""
        content = json.dumps(list(self._places), ensure_ascii=False, separators=(",", ":"))
        return b64encode(zlib.compress(content.encode(), 9)).decode()


_LISTED = 200
"""Transactions of a store that the page lists at most; the command beside them lists all."""

_STATES = ("lost", "doubled", "parked", "unknown", "pending", "delivered", "rolled_back")


def render(data: ReportData) -> str:
    """Give the page as text; a section without content is left out."""
    here = templates()
    section = data.simulation
    shortest = section.shortest if section else ()
    simulated = list(zip(section.runs, section.statistics, strict=True)) if section else []
    schedules = data.table.schedules if data.table else {}
    profiles, environments = _choices(data)
    here.globals["packed"] = Packed()
    here.filters |= {
        "percent": _percent,
        "interval": _interval,
        "trusted": Markup,  # what this package has drawn itself
        "count": "{:,}".format,
        "seconds": _seconds,
        "words": _words,
        "sentence": as_sentence,
    }
    return here.get_template("page.html.j2").render(
        data=data,
        table=data.table,
        kinds=tuple(Takes),
        meaning=meaning_of,
        remedy=_remedy,
        diagram_style=STYLE,
        diagrams={address: _drawn(one, f"drawing-{address}") for address, one in schedules.items()},
        states=_states(data),
        counted=[state for state in _states(data) if any(audit.counts.get(state) for audit in data.audits)],
        shortest=[_drawn(one, f"drawing-{number}") for number, one in enumerate(shortest)],
        plots=draw_all(data.simulation) if data.simulation else [],
        pair_counts=Markup(_pair_counts(data)),  # noqa: S704
        profiles=profiles,
        environments=environments,
        simulated=simulated,
        rarest=[(run, figures, one) for run, figures in simulated for one in figures.rarest],
        shown=Markup(html([_shown()])),  # noqa: S704
        all_traces=sum(run.parameters.traces for run, _ in simulated),
        explained=sum(audit.trace.accepted is True for audit in data.audits),
        killed=sum(bool(hunt.variable) for hunt in data.mutants),
        all_transactions=sum(audit.total for audit in data.audits),
        listed=_LISTED,
    )


def write(data: ReportData, path: Location) -> None:
    """Write the page; it appears under its name when it is whole.

    Raises `UnwritableFileError`, or `OSError` where its folder cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, render(data))


def _choices(data: ReportData) -> tuple[list[Profile], list[str]]:
    """Profiles and environments that something on the page is of, the quiet world first."""
    runs = [count.parameters for count in data.simulation.counts] if data.simulation else []
    worlds = [one.world for one in data.searches]
    profiles = [*(data.table.profiles if data.table else ()), *(world.profile for world in worlds)]
    profiles += [*(run.profile for run in runs), *(one.pairing.world.profile for one in data.lockstep)]
    environments = [*(world.environment.name for world in worlds), *(run.environment_name for run in runs)]
    return list(dict.fromkeys(profiles)), sorted(dict.fromkeys(environments), key=lambda name: name != QUIET)


def _pair_counts(data: ReportData) -> str:
    """The action-pair matrices for the page's script: actions by name once, each pair as two places and a number."""
    runs = data.simulation.statistics if data.simulation else ()
    names = sorted({name for run in runs for pair in run.pairs for name in pair})
    places = {name: place for place, name in enumerate(names)}
    counted = {
        "names": names,
        "runs": [
            {
                "profile": run.parameters.profile.name,
                "environment": run.parameters.environment_name,
                "pairs": [[places[first], places[second], times] for (first, second), times in run.pairs.items()],
            }
            for run in runs
        ],
    }
    return json.dumps(counted, separators=(",", ":")).replace("<", "\\u003c")


def _shown() -> Table:
    """A table of what a trace shows of each property."""
    shown = [(one.property_id, one.sentence, "exactly" if one.is_exact else "in part", one.shows) for one in ALL]
    hidden = [(name, "–", "not", why) for name, why in NOT_SHOWN.items()]
    rows = [(f"**{name}**", *rest) for name, *rest in (*shown, *hidden)]
    return tabulated("Property", "Claims that", "Shown", "A violation is shown by, or why not", rows=rows)


def _percent(hits: int, total: int) -> str:
    return f"{100 * hits / total if total else 0:.3f} %"


def _interval(hits: int, total: int) -> str:
    low, high = wilson(hits, total)
    return f"{100 * low:.3f} to {100 * high:.3f} %"


def _drawn(example: Counterexample, name: str) -> Markup:
    world = example.world
    title = f"{example.property_id} is violated in {world.profile}, {world.environment.name}: {example.rule}"
    drawn = draw(example.messages, title, name, is_alone=False)
    return Markup(re.sub(r'\.0(?=["l])', "", drawn))  # noqa: S704


def _states(data: ReportData) -> list[str]:
    """The states that the audits' tables have as columns: all known ones, and what else an audit counts."""
    counted = dict.fromkeys(state for audit in data.audits for state in audit.counts)
    return [*_STATES, *(state for state in counted if state not in _STATES)]


def _seconds(seconds: float) -> str:
    if seconds < 0.0995:
        return f"{1000 * seconds:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds:.0f} s"


def _remedy(one: ClauseVerdict) -> str:
    """The remedy in a release, with all that breaks the clause there."""
    faults = Environment.of(fault for minimal in one.minimal for fault in minimal.environment)
    return remedy(one.clause, Situation.of(one.profile, faults))


def _words(name: str) -> str:
    return name.replace("_", " ")
