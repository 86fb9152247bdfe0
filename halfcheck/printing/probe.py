"""The output of ``halfcheck probe``: the broker, each schedule with its verdict, and what it leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from document.console import below, say, wide_console
from document.words import counted
from files.durations import about

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from halfcheck.probe.answer import ProbeAnswer
    from halfcheck.probe.schedules import Schedule
    from halfcheck.probe.session import Played, Target
    from halfcheck.probe.shrinking import Search
    from spark_trace_analysis.audit.audit import Audit
    from wire.probe.rhythm import Tempo


def print_target(target: Target) -> None:
    """The broker, and the specification that it is held against."""
    console = wide_console()
    say(console, f"{target.address}: RocketMQ {target.release or 'of no known release'}, by profile {target.profile}")
    if target.why:
        below(console, target.why)


def playing(schedule: Schedule, number: int, count: int, tempo: Tempo) -> str:
    """The schedule that is played next, which of how many, and about how long it takes with the broker's settings."""
    seconds = tempo.expected(schedule.plan)
    return f"playing {schedule.name}, {number + 1} of {count}, about {about(seconds)}"


def print_played(target: Target, played: Played) -> None:
    """One schedule: what was written, whether it is explained, and what is broken."""
    console = wide_console()
    records = counted(len(played.probed.trace.events), "event")
    say(console, f"{played.schedule.name}: {records}, {_sentence(target, played)}", "bold")
    below(console, played.schedule.story)
    if played.unreached:
        below(console, f"which did not happen, so that nothing is said of it: {played.unreached}")
    if played.missed is not None:
        below(console, f"not seen: {played.missed}")
    for each in played.judgement.broken if played.judgement else ():
        below(console, f"{each.name} broken at event {each.event}: {each.clause.sentence}")
    for difference in played.differs:
        below(console, f"the files differ: {difference}")
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
        also = f"; also by {', '.join(map(str, played.also))}" if played.also else ""
        return f"explained by the specification of {target.profile} with {faults}{also}"
    found = judgement.verdict.divergence
    cut = "" if judgement.verdict.is_complete else "; the search was cut short"
    also = f"; explained by {', '.join(map(str, played.also))}" if played.also else ""
    if found is None:
        return f"refused by the specification of {target.profile}{cut}{also}"
    allowed = "; ".join(found.nearest) or "nothing"
    return (
        f"refused by the specification of {target.profile} at event {found.number} ({found.event}): {found.guard}; "
        f"allowed were: {allowed}{cut}{also}"
    )


def print_in_a_search(played: Played, why: str) -> None:
    """One play of a search in a line: it may be one of many."""
    judgement = played.judgement
    if judgement is None:
        found = f"not held against the specification: {played.unfit}"
    elif judgement.is_explained:
        found = ", ".join(each.name for each in judgement.broken) or "nothing broken"
    else:
        refused = judgement.verdict.divergence
        found = "not explained" if refused is None else f"not explained: {refused.event}: {refused.guard}"
    orders = counted(len(played.schedule.plan.orders), "order")
    say(wide_console(), f"{played.schedule.name} ({why}): {orders}: {found}")


def _what_is_known(answer: ProbeAnswer) -> str:
    """The part of the plays that the specification of the known release explains."""
    wrong = [one.schedule.name for one in answer.played if answer.is_wrong(one)]
    if wrong:
        return f"does not explain {', '.join(wrong)}"
    judged = sum(one.judgement is not None for one in answer.played)
    asked = len(answer.played) + len(answer.not_played)
    if judged == asked:
        return "explains all of it: it is what that release does"
    return f"explains {judged} of {counted(asked, 'schedule')}; the others were not held against it"


def print_answer(answer: ProbeAnswer) -> None:
    """The end behind all plays: searches, the schedules of what was broken, the store, and what is left."""
    console = wide_console()
    for search in answer.searches:
        _print_search(console, search)
    shown = [search.shortest for search in answer.searches]
    for clause, played in answer.broken.items():
        if not any(played is one for one in shown):
            say(console, f"{clause}, as it was broken here ({played.schedule.name}):")
            _print_orders(console, played)
    if answer.known is not None:
        say(console, f"the specification of {answer.known} {_what_is_known(answer)}")
    if answer.not_played:
        say(console, f"not played any more, as a record before is not explained: {', '.join(answer.not_played)}")
    if answer.audit is not None:
        _print_store(console, answer.audit, answer.resembles)
    say(console, f"left on the broker: topics and groups {', '.join(answer.names) or 'none'}")


def _print_search(console: Console, search: Search) -> None:
    drawn = f"{counted(search.drawn, 'drawn schedule')} played, " if search.drawn else ""
    early = f"; it ended early: {search.ended}" if search.ended else ""
    if search.failure is None or search.shortest is None:
        say(console, f"{search.name}: {drawn}nothing went wrong, {search.seconds:.0f} s{early}")
        return
    orders = len(search.shortest.schedule.plan.orders)
    again = (
        f"came again in 1 of {counted(search.again, 'play')}"
        if search.came
        else f"did not come again in {counted(search.again, 'play')}: it depends on more than the schedule"
        if search.again
        else "was not played again"
    )
    shorter = (
        f"made shorter from {search.orders} to {counted(orders, 'order')}"
        if orders < search.orders
        else f"not made shorter than {counted(orders, 'order')}"
    )
    say(
        console,
        f"{search.name}: {search.failure}: {drawn}{shorter} in {counted(search.plays, 'play')}, "
        f"{search.seconds:.0f} s; {again}{early}",
        "bold",
    )
    _print_orders(console, search.shortest)


def _print_orders(console: Console, played: Played) -> None:
    began = played.done[0].at_ms if played.done else 0
    for number, done in enumerate(played.done, start=1):
        answer = "" if done.answer is None else f" → answered {done.answer}"
        below(console, f"{number:2}  {done.at_ms - began:6} ms  {done.order}{answer}")


def _print_store(console: Console, audit: Audit, resembles: Sequence[str]) -> None:
    """The audit of the whole store, in short."""
    counts = ", ".join(f"{count} {state}" for state, count in audit.counts.items() if count) or "none"
    like = f"; they look like {', '.join(resembles)}" if resembles else ""
    say(console, f"store {audit.store}, audited: {counted(audit.total, 'transaction')}: {counts}{like}")
    below(console, f"trace: {audit.trace.sentence()}")
    for note in audit.notes:
        below(console, f"note: {note}")
    for region in audit.corrupt:
        below(console, f"corrupt: {region}")
