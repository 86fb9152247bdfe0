"""`docs/generated/defects.md`: the catalogue as a page, with links to RocketMQ's issues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from document.markdown import markdown
from document.parts import Heading, Paragraph, Part, prose, tabulated
from files.writing import write_whole
from model_check.defects.catalogue import Defect, DefectQuestion, DefectSearch, Where, WrongRepair, catalogue
from model_check.defects.findings import (
    BROKER_FINDINGS,
    CLASSES_FINDINGS,
    LASSO_FINDINGS,
    SEARCH_FINDINGS,
    evidence_of,
    on_classes_in_words,
)
from model_check.wording.sentences import capitalized

if TYPE_CHECKING:
    from model_check.defects.findings import BrokerFinding, ClassesFinding, DefectFinding, LassoFinding

FILE = Path(__file__).parents[2] / "docs" / "generated" / "defects.md"

_GITHUB = "https://github.com/apache/"

HEAD = """\
# Known defects of RocketMQ's transactional messages

Written by `make defects` from `model_check/defects/` and `fuzz/defects/`. `halfcheck defects B01` searches
for one again and shows the shortest schedule; `halfcheck defects A06` plays one on the reference broker.

Of {all} defects, {found} are found by a search of the specification and {awaited} are still to be found by one.
The reference broker shows {shown}, {broker} of which no search finds; {out_of_reach} are out of reach.
RocketMQ's own classes have shown {executed}, in the releases of the last column (`make defects-on-classes`,
[how](../real-classes.md)); of the others the code was read only, and below stands why.

Evidence: X, RocketMQ's own classes, real brokers or a [real proxy](behind-a-proxy.md) were run; C, the code was
read; R, it is known from a report. Depth: steps of the
shortest schedule. Seconds: of the search with one thread, the machine made ready before. Engines: which have
found this depth; `replay` has taken the schedule, and not looked for a shorter one. Repaired: the profile in
which the same search finds nothing; `+NAME` and `-NAME` turn a switch of it.
"""

FOR_EVER = """\
## In runs that never end

Whether a defect [keeps something from ever happening](../liveness.md), or a safety clause that looks at one
or two rounds only makes it look so. *a + b*: the shortest way of *a* steps into a cycle of *b* steps.
"""

IN_THE_BROKER = """\
## Found in the broker

A scenario is played on the reference broker in two profiles, of which only the first has the defect. What
was seen stands below with each; `tests/defects/test_in_the_broker.py` asks for it.
"""


def write_page() -> None:
    """Write the page from all that is on record; it appears whole or not at all."""
    records = SEARCH_FINDINGS.read(), BROKER_FINDINGS.read(), LASSO_FINDINGS.read(), CLASSES_FINDINGS.read()
    write_whole(FILE, page(catalogue(), *records))


def page(
    defects: Mapping[str, Defect],
    findings: Mapping[str, DefectFinding],
    shown: Mapping[str, BrokerFinding],
    lassos: Mapping[str, LassoFinding],
    on_classes: Mapping[str, ClassesFinding],
) -> str:
    """The page's text, in Markdown: the catalogue, and what searches, reference broker and real classes have shown."""
    parts = [
        *_head(defects, shown, on_classes),
        *_searches(defects, findings),
        *_for_ever(defects, lassos),
        *_in_the_broker(shown),
    ]
    parts += [*_wrong_repairs(defects, findings), Heading("How each comes about")]
    for defect in defects.values():
        parts += _story(defect, shown.get(defect.identifier), on_classes.get(defect.identifier))
    return markdown(parts)


def _head(
    defects: Mapping[str, Defect], shown: Mapping[str, BrokerFinding], on_classes: Mapping[str, ClassesFinding]
) -> Iterator[Part]:
    found = sum(defect.search is not None for defect in defects.values())
    awaited = sum(defect.where is Where.SEARCH and defect.search is None for defect in defects.values())
    broker = sum(defect.where is Where.BROKER for defect in defects.values())
    out_of_reach = len(defects) - found - awaited - broker
    yield from prose(
        HEAD.format(
            all=len(defects),
            found=found,
            awaited=awaited,
            shown=len(shown),
            broker=broker,
            out_of_reach=out_of_reach,
            executed=sum(bool(one.releases) for one in on_classes.values()),
        )
    )
    rows = [
        (
            f"[{d.identifier}](#{d.identifier.lower()})",
            d.name,
            " ".join(_link(issue) for issue in d.issues),
            d.versions,
            d.effect,
            " ".join(d.properties),
            " ".join(evidence_of(d, on_classes.get(d.identifier))),
            d.found_by(shown),
            _releases(on_classes.get(d.identifier)),
        )
        for d in defects.values()
    ]
    columns = (
        "id",
        "defect",
        "issues",
        "affected → fixed",
        "effect",
        "properties",
        "evidence",
        "found by",
        "own classes",
    )
    yield tabulated(*columns, rows=rows)


def _searches(defects: Mapping[str, Defect], findings: Mapping[str, DefectFinding]) -> Iterator[Part]:
    yield Heading("Found by a search")
    rows = [
        (d.identifier, *_searched(d.search, findings.get(d.identifier)))
        for d in defects.values()
        if d.search is not None
    ]
    columns = ("id", "clause", "profile", "environment", "instance", "depth", "seconds", "engines", "repaired")
    yield tabulated(*columns, rows=rows)


def _for_ever(defects: Mapping[str, Defect], lassos: Mapping[str, LassoFinding]) -> Iterator[Part]:
    yield from prose(FOR_EVER)
    asked = [(d.identifier, d.lasso, lassos.get(d.identifier)) for d in defects.values() if d.lasso is not None]
    rows = [
        (
            name,
            *_asked(question),
            f"{found.stem} + {found.cycle}" if found else "",
            ", ".join(question.shows),
            str(question.repaired_in),
        )
        for name, question, found in asked
        if not question.vanishes
    ]
    columns = ("id", "what never comes", "profile", "environment", "instance", "stem + cycle", "the cycle", "holds in")
    yield tabulated(*columns, rows=rows)
    yield Paragraph("These stop nothing for ever: the response holds although the defect is there.")
    vain = [(name, *_asked(q), q.vanishes) for name, q, _ in asked if q.vanishes]
    yield tabulated("id", "what comes at last", "profile", "environment", "instance", "why", rows=vain)


def _in_the_broker(shown: Mapping[str, BrokerFinding]) -> Iterator[Part]:
    yield from prose(IN_THE_BROKER)
    rows = [
        (name, one.story, one.property_id, one.affected, " ".join(one.also_in), one.repaired_in)
        for name, one in shown.items()
    ]
    yield tabulated("id", "what happens", "property", "profile", "also in", "gone in", rows=rows)


def _wrong_repairs(defects: Mapping[str, Defect], findings: Mapping[str, DefectFinding]) -> Iterator[Part]:
    yield Heading("Wrong repairs")
    yield Paragraph(
        "Without: what the same search says of the profile without the wrong repair, or with the right one."
    )
    wrong = [(d, w) for d in defects.values() for w in d.wrong_repairs]
    rows = [(d.identifier, w.source, w.proposal, w.breaks, *_shown(d, w, findings)) for d, w in wrong]
    columns = ("of", "source", "what it does", "what breaks", "shown by", "depth", "seconds", "without")
    yield tabulated(*columns, rows=rows)


def _releases(finding: ClassesFinding | None) -> str:
    return " ".join(finding.releases) if finding is not None and finding.releases else "read only"


def _story(defect: Defect, shown: BrokerFinding | None, on_classes: ClassesFinding | None) -> Iterator[Part]:
    yield Heading(defect.identifier, 3)
    yield Paragraph(f"{defect.name}. {defect.mechanism}")
    if defect.repair:
        yield Paragraph(f"Repair: {defect.repair}")
    if defect.why:
        yield Paragraph(f"Not found by a search: {defect.why}")
    yield Paragraph(f"{capitalized(on_classes_in_words(defect, on_classes))}.")
    if shown is not None:
        yield Paragraph(f"In the reference broker: {shown.story}")
        yield tabulated("seen", shown.affected, shown.repaired_in, rows=shown.seen)


def _link(issue: str) -> str:
    repository, _, number = issue.rpartition("#")
    if number.isdigit() and len(number) < 7:
        return f"[{issue if repository else '#' + issue}]({_GITHUB}{repository or 'rocketmq'}/issues/{number})"
    return f"[{issue}]({_GITHUB}rocketmq/commit/{issue})"


def _asked(question: DefectQuestion) -> tuple[str, str, str, str]:
    world = question.world
    return question.subject, world.profile.name, world.environment.name, world.instance.name


def _searched(search: DefectSearch, finding: DefectFinding | None) -> tuple[str, ...]:
    if finding is None:
        return (*_asked(search), "", "", "", str(search.repaired_in or ""))
    repaired = f"{search.repaired_in}: {finding.repaired}" if search.repaired_in else "nowhere: see below"
    return (*_asked(search), str(finding.depth), f"{finding.seconds:.3f}", " ".join(finding.engines), repaired)


def _shown(defect: Defect, wrong: WrongRepair, findings: Mapping[str, DefectFinding]) -> tuple[str, ...]:
    if wrong.search is None:
        return f"no search: {wrong.why}", "", "", ""
    asked, finding = wrong.search, findings.get(defect.recorded_as(wrong))
    clause, *where = _asked(asked)
    shown = f"{clause} in {', '.join(where)}"
    if finding is None:
        return shown, "", "", str(asked.repaired_in or "")
    without = f"{asked.repaired_in or asked.world.profile}: {finding.repaired}"
    return shown, str(finding.depth), f"{finding.seconds:.3f}", without
