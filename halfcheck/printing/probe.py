"""What ``halfcheck probe`` prints: the broker, each schedule with its verdict, and what it leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from halfcheck.printing.console import below, counted, say, wide_console

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from halfcheck.probe.session import Played, Target


def print_target(target: Target) -> None:
    """What the broker is, and what it is held against."""
    console = wide_console()
    say(console, f"{target.address}: RocketMQ {target.release or 'of no known release'}, by profile {target.profile}")
    if target.why:
        below(console, target.why)


def print_played(target: Target, played: Played) -> None:
    """One schedule: what was written, whether it is explained, and what is broken."""
    console = wide_console()
    records = counted(len(played.probed.trace.events), "event")
    say(console, f"{played.schedule.name}: {records}, {_sentence(target, played)}", "bold")
    below(console, played.schedule.story)
    if played.missed is not None:
        below(console, f"not seen: {played.missed}")
    for each in played.judgement.broken if played.judgement else ():
        below(console, f"{each.name} broken at event {each.event}: {each.clause.sentence}")
    if not played.is_settled:
        below(
            console,
            "halves of this schedule are still pending; the broker goes on asking for them until it discards them",
        )


def _sentence(target: Target, played: Played) -> str:
    judgement = played.judgement
    if judgement is None:
        return f"not held against the specification: {played.unfit}"
    if judgement.is_explained:
        faults = ", ".join(f"{count} {fault}" for fault, count in judgement.verdict.faults.items()) or "no fault"
        also = f"; also by {', '.join(played.also)}" if played.also else ""
        return f"explained by the specification of {target.profile} with {faults}{also}"
    found = judgement.verdict.divergence
    cut = "" if judgement.verdict.is_complete else "; the search was cut short"
    also = f"; explained by {', '.join(played.also)}" if played.also else ""
    if found is None:
        return f"refused by the specification of {target.profile}{cut}{also}"
    allowed = "; ".join(found.nearest) or "nothing"
    return (
        f"refused by the specification of {target.profile} at event {found.number} ({found.event}): {found.guard}; "
        f"allowed were: {allowed}{cut}{also}"
    )


def print_end(broken: Mapping[str, Played], names: Sequence[str]) -> None:
    """The shortest schedule of each guarantee that was broken, and the topics and groups that are left."""
    console = wide_console()
    for clause, played in broken.items():
        say(console, f"{clause}, as it was broken here ({played.schedule.name}):")
        began = played.done[0].at_ms if played.done else 0
        for number, done in enumerate(played.done, start=1):
            answer = "" if done.answer is None else f" → answered {done.answer}"
            below(console, f"{number:2}  {done.at_ms - began:6} ms  {done.order}{answer}")
    say(console, f"left on the broker: topics and groups {', '.join(names) or 'none'}")
