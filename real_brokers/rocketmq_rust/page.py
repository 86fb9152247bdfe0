"""The page ``docs/generated/rust-broker.md``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from document.markdown import markdown
from document.parts import Heading, List, Paragraph, Part, Table, prose, tabulated
from real_brokers.rocketmq_rust.crates import RELEASE
from real_brokers.rocketmq_rust.differences import DIFFERENCES
from wire.probe.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from real_brokers.rocketmq_rust.difference import Answered, RustDifference
    from real_brokers.rocketmq_rust.observations import Observations

PAGE: Final = Path(__file__).parents[2] / "docs" / "generated" / "rust-broker.md"

_HEAD: Final = f"""\
# A broker that nobody here wrote: rocketmq-rust {RELEASE}

`make probe-rust` builds `rocketmq-broker` {RELEASE} and `rocketmq-namesrv` {RELEASE} from the Rust registry, starts
them on loopback, plays the scenarios of [the probe](../probe.md), stages what they do in another way than RocketMQ, and
writes this page. What RocketMQ answers stands in the schedules with the class and method that it comes from; what this
broker answered was asked of it, and compared.
"""

_STOP: Final = "stop"
_WHY_STOP: Final = """\
No release writes the op entries that wait when it is told to stop (B03); this broker does, as
[stop-behind-a-commit](#stop-behind-a-commit) shows. That is the repair `flushes_on_stop` of the specification, by which
trace validation explains no record yet."""


def page_of(observed: Observations) -> str:
    """The page."""
    parts = (*_plays(observed), *_fitting(observed), *_overview(observed), *_schedules(observed), *_same(observed))
    return markdown([*prose(_HEAD), *parts])


def _plays(observed: Observations) -> Iterator[Part]:
    yield Heading("What the probe says")
    rows: list[tuple[str, ...]] = []
    for name, scenario in SCENARIOS.items():
        play = observed.plays.get(name)
        if play is None:
            rows.append((name, scenario.story, "", "not played"))
            continue
        broken = ", ".join(each["clause"] for each in play["broken"]) or "none"
        missed = f"; not seen: {play['missed']}" if play["missed"] else ""
        rows.append((name, scenario.story, play["events"], f"{_verdict(play)}{missed}", broken))
    columns = ("scenario", "what happens in it", ">events", "verdict", "guarantees that were broken")
    yield tabulated(*columns, rows=rows)
    for name, play in observed.plays.items():
        found = play["divergence"]
        if found is not None:
            where = f"In `{name}`, event {found['event']} ({found['text']}) is refused"
            allowed = "; ".join(found["nearest"]) or "nothing"
            yield Paragraph(f"{where}: {found['guard']}. Allowed were: {allowed}.")
            yield from prose(_WHY_STOP) if name == _STOP else ()


def _verdict(play: dict[str, Any]) -> str:
    if play["explained"] is None:
        return f"not held against the specification: {play['reason']}"
    if not play["explained"]:
        found = play["divergence"]
        return "**refused**" if found is None else f"**refused** at event {found['event']}"
    faults = ", ".join(f"{count} {fault}" for fault, count in play["faults"].items()) or "no fault"
    return f"explained, with {faults}"


def _fitting(observed: Observations) -> Iterator[Part]:
    yield Heading("Which specification explains most")
    yield Paragraph("Releases that explain the same scenarios can't be told apart by them.")
    rows = []
    for profile, explained in sorted(observed.fitting.items(), key=lambda each: (-len(each[1]), each[0])):
        others = ", ".join(name for name in SCENARIOS if name in observed.plays and name not in explained) or "none"
        rows.append((profile, f"{len(explained)} of {len(observed.plays)}", others))
    yield tabulated("specification", ">scenarios that it explains", "not explained", rows=rows)


def _seen(observed: Observations) -> list[RustDifference]:
    return [each for each in DIFFERENCES if (found := observed.of(each)) is not None and found.is_seen]


def _overview(observed: Observations) -> Iterator[Part]:
    seen = _seen(observed)
    yield Heading("What it does in another way")
    text = f"{len(seen)} differences were seen; those that matter to a message come first."
    if observed.rocketmq:
        same = [each for each in seen if _is_confirmed(observed, each)]
        text += (
            f"\nA real RocketMQ {observed.release} was led through the same schedules, and answered {len(same)} of the "
            f"{len(seen)} at every step as it is said of it here."
        )
    yield Paragraph(text)
    rows = [(f"[{e.name}](#{e.name})", e.says, ", ".join(e.breaks), ", ".join(e.keeps)) for e in seen]
    yield tabulated("difference", "what it does", "breaks", "keeps, though RocketMQ does not", rows=rows)


def _schedules(observed: Observations) -> Iterator[Part]:
    for each in _seen(observed):
        yield Heading(each.name)
        yield Paragraph(f"{each.says} It comes from `{each.source}`.")
        yield _table(observed.staged[each.name].steps)
        lines = [f"What it matters: {each.matters}."]
        if each.breaks:
            lines.append(f"It breaks {_clauses(each.breaks)}.")
        if each.keeps:
            lines.append(f"It keeps {_clauses(each.keeps)}, which RocketMQ breaks.")
        if each.to_do:
            lines.append(f"To do: {each.to_do}.")
        if observed.rocketmq and not _is_confirmed(observed, each):
            lines.append(f"A real RocketMQ {observed.release} did not answer at every step as is said here.")
        yield Paragraph("\n".join(lines))


def _table(steps: Sequence[Answered]) -> Table:
    rows = []
    for number, step in enumerate(steps, start=1):
        answer = f"**{step.answer}**" if step.differs else step.answer
        rows.append((number, step.done, step.rocketmq, answer, f"`{step.source}`" if step.source else ""))
    return tabulated(">", "what is done", "RocketMQ", "rocketmq-rust", "RocketMQ's source", rows=rows)


def _clauses(names: Sequence[str]) -> str:
    return f"{', '.join(names)} of [the guarantees](../properties.md)"


def _same(observed: Observations) -> Iterator[Part]:
    seen = {each.name for each in _seen(observed)}
    others = [each for each in DIFFERENCES if each.name not in seen]
    if others:
        yield Heading("What was looked for and not seen")
        answered = "every step was answered as by RocketMQ"
        yield List(tuple(f"{e.name}: {answered if observed.of(e) is not None else 'not staged'}" for e in others))


def _is_confirmed(observed: Observations, difference: RustDifference) -> bool:
    real = observed.of_rocketmq(difference)
    return real is not None and not real.is_seen
