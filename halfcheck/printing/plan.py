"""A plan in words: each request with its fields and why, what is planned for nobody, and what each decision risks."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from document.parts import List, Paragraph, Part, Tone
from document.words import counted, first_of
from halfcheck.plan.risks import Decision

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from halfcheck.plan.plan import BrokerPlan, PlannedRequest


def plan_in_words(plan: BrokerPlan, file: Path, limit: int) -> Iterator[Part]:
    """A plan that was written to a file, with so many of its requests at most."""
    requests = plan.open
    yield Paragraph("")
    title = f"{file}: a plan of {counted(len(requests), 'request')} for {plan.broker}, {plan.release}"
    yield Paragraph(title, Tone.TITLE)
    for one in requests[:limit]:
        yield Paragraph(f"{one.number}. {request_in_words(one)}")
        yield List((f"{one.unique_key}: {one.why}.", f"decision: {_decision(one)}"))
    if len(requests) > limit:
        yield Paragraph(f"{len(requests) - limit} more stand in {file}")
    for decision, content in plan.decisions.items():
        yield Paragraph(f"{decision}: {content['does']}.")
        yield List(tuple(f"Make sure that {one}." for one in content["before"]))
        for risk in content["may_break"]:
            faults = f" with {', '.join(risk['faults'])}" if risk["faults"] else ""
            broken = f"{decision} may break {risk['clause']} ({risk['guarantee']})"
            yield Paragraph(f"{broken}, if {risk['when']}: {risk['harm']}.")
            steps = counted(len(risk["steps"]), "step")
            yield List((f"{plan.release}{faults}, in {steps}: {risk['counterexample']}",))
    reasons: dict[str, list[str]] = defaultdict(list)
    for withheld in plan.withheld:
        reasons[withheld.why].append(withheld.unique_key)
    for why, keys in reasons.items():
        yield Paragraph(f"no request for {first_of(keys)}: {why}")
    for note in plan.notes:
        yield Paragraph(f"note: {note}")
    if requests:
        yield Paragraph(_what_next(plan, file))


def request_in_words(one: PlannedRequest) -> str:
    """Its name, its number and its fields, as they are sent."""
    named = " ".join(f"{name}={_value(value)}" for name, value in one.header.items())
    return f"{one.request} ({one.code}) {named}"


def sent_in_words(plan: BrokerPlan, numbers: Sequence[int]) -> Iterator[Part]:
    """What was sent of a plan, and what came of it."""
    requests = {one.number: one for one in plan.requests}
    for number in numbers:
        one = requests[number]
        if one.sent is None:
            continue
        answer = "no answer" if one.sent.code is None else f"answered {one.sent.code}"
        remark = f": {one.sent.remark}" if one.sent.remark else ""
        yield Paragraph(f"{number}. {one.sent.decision} {one.unique_key}: {answer}{remark}")
        yield List((one.sent.seen or "nothing of it is seen yet: audit the broker again",))
    done = sum(one.sent is not None and one.sent.code == 0 and one.number in numbers for one in plan.requests)
    undecided = sum(one.decision is None for one in plan.open)
    left = len(plan.decided)
    yield Paragraph(f"{counted(done, 'request')} carried out, {left} left, {undecided} without a decision")


def _decision(one: PlannedRequest) -> str:
    if one.decision is None:
        if one.decisions == (Decision.RESUME,):
            return "none, so that it is not sent; resume has its producer asked again"
        return f"none yet; {' or '.join(one.decisions)}, which the producer's database knows, and no broker"
    return str(one.decision)


def _value(value: object) -> str:
    return "?" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _what_next(plan: BrokerPlan, file: Path) -> str:
    decided = len(plan.decided)
    words = " or ".join(dict.fromkeys(word for one in plan.open for word in one.decisions))
    return (
        f"Nothing was sent. {decided} of {len(plan.open)} are decided: write {words or 'a decision'} behind "
        f'"decision" in {file}, or null to leave one out, nothing else; then halfcheck audit --broker {plan.broker} '
        f"--plan {file} --yes sends what is decided, one by one. A half that a round passes meanwhile is refused: the "
        "same command without --yes plans anew, and keeps the decisions."
    )
