"""The page ``docs/generated/rust-broker.md``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

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
    sections = (*_plays(observed), *_fitting(observed), *_overview(observed), *_schedules(observed), *_same(observed))
    return "\n".join((_HEAD, *sections, ""))


def _plays(observed: Observations) -> Iterator[str]:
    yield "## What the probe says"
    yield ""
    yield "| scenario | what happens in it | events | verdict | guarantees that were broken |"
    yield "|---|---|--:|---|---|"
    for name, scenario in SCENARIOS.items():
        play = observed.plays.get(name)
        if play is None:
            yield f"| {name} | {scenario.story} |  | not played |  |"
            continue
        broken = ", ".join(each["clause"] for each in play["broken"]) or "none"
        missed = f"; not seen: {play['missed']}" if play["missed"] else ""
        yield f"| {name} | {scenario.story} | {play['events']} | {_verdict(play)}{missed} | {broken} |"
    yield ""
    for name, play in observed.plays.items():
        if play["divergence"] is not None:
            yield from _refusal(name, play)
            yield from [_WHY_STOP, ""] if name == _STOP else []


def _verdict(play: dict[str, Any]) -> str:
    if play["explained"] is None:
        return f"not held against the specification: {play['reason']}"
    if not play["explained"]:
        found = play["divergence"]
        return "**refused**" if found is None else f"**refused** at event {found['event']}"
    faults = ", ".join(f"{count} {fault}" for fault, count in play["faults"].items()) or "no fault"
    return f"explained, with {faults}"


def _refusal(name: str, play: dict[str, Any]) -> Iterator[str]:
    found = play["divergence"]
    allowed = "; ".join(found["nearest"]) or "nothing"
    where = f"In `{name}`, event {found['event']} ({found['text']}) is refused"
    yield f"{where}: {found['guard']}. Allowed were: {allowed}."
    yield ""


def _fitting(observed: Observations) -> Iterator[str]:
    yield "## Which specification explains most"
    yield ""
    yield "Releases that explain the same scenarios can't be told apart by them."
    yield ""
    yield "| specification | scenarios that it explains | not explained |"
    yield "|---|--:|---|"
    ranked = sorted(observed.fitting.items(), key=lambda each: (-len(each[1]), each[0]))
    for profile, explained in ranked:
        others = ", ".join(name for name in SCENARIOS if name in observed.plays and name not in explained) or "none"
        yield f"| {profile} | {len(explained)} of {len(observed.plays)} | {others} |"
    yield ""


def _seen(observed: Observations) -> list[RustDifference]:
    return [each for each in DIFFERENCES if (found := observed.of(each)) is not None and found.is_seen]


def _overview(observed: Observations) -> Iterator[str]:
    seen = _seen(observed)
    yield "## What it does in another way"
    yield ""
    yield f"{len(seen)} differences were seen; those that matter to a message come first."
    if observed.rocketmq:
        same = [each for each in seen if _is_confirmed(observed, each)]
        yield (
            f"A real RocketMQ {observed.release} was led through the same schedules, and answered {len(same)} of "
            f"the {len(seen)} at every step as it is said of it here."
        )
    yield ""
    yield "| difference | what it does | breaks | keeps, though RocketMQ does not |"
    yield "|---|---|---|---|"
    for each in seen:
        link = f"[{each.name}](#{each.name})"
        yield f"| {link} | {each.says} | {', '.join(each.breaks)} | {', '.join(each.keeps)} |"
    yield ""


def _schedules(observed: Observations) -> Iterator[str]:
    for each in _seen(observed):
        yield f"## {each.name}"
        yield ""
        yield f"{each.says} It comes from `{each.source}`."
        yield ""
        yield from _table(observed.staged[each.name].steps)
        yield ""
        yield f"What it matters: {each.matters}."
        if each.breaks:
            yield f"It breaks {_clauses(each.breaks)}."
        if each.keeps:
            yield f"It keeps {_clauses(each.keeps)}, which RocketMQ breaks."
        if each.to_do:
            yield f"To do: {each.to_do}."
        if observed.rocketmq and not _is_confirmed(observed, each):
            yield f"A real RocketMQ {observed.release} did not answer at every step as is said here."
        yield ""


def _table(steps: Sequence[Answered]) -> Iterator[str]:
    yield "|  | what is done | RocketMQ | rocketmq-rust | RocketMQ's source |"
    yield "|--:|---|---|---|---|"
    for number, step in enumerate(steps, start=1):
        answer = f"**{step.answer}**" if step.differs else step.answer
        source = f"`{step.source}`" if step.source else ""
        yield f"| {number} | {step.done} | {step.rocketmq} | {answer} | {source} |"


def _clauses(names: Sequence[str]) -> str:
    return f"{', '.join(names)} of [the guarantees](../properties.md)"


def _same(observed: Observations) -> Iterator[str]:
    seen = {each.name for each in _seen(observed)}
    others = [each for each in DIFFERENCES if each.name not in seen]
    if others:
        yield "## What was looked for and not seen"
        yield ""
        for each in others:
            is_staged = observed.of(each) is not None
            yield f"- {each.name}: {'every step was answered as by RocketMQ' if is_staged else 'not staged'}"
        yield ""


def _is_confirmed(observed: Observations, difference: RustDifference) -> bool:
    real = observed.of_rocketmq(difference)
    return real is not None and not real.is_seen
