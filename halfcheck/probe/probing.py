"""``halfcheck probe`` from its options to its verdict."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from halfcheck.errors import ExitCode
from halfcheck.printing.probe import print_end, print_played, print_target
from halfcheck.probe.schedules import schedules
from halfcheck.probe.session import Session, identify, shortest_first
from model_check.instances import switches_of
from wire.client.channel import Address
from wire.probe.operator import ShellOperator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from halfcheck.probe.probe_options import ProbeOptions
    from halfcheck.probe.session import Played, Target
    from wire.probe.player import Operator


def probe(options: ProbeOptions, operator: Operator | None = None) -> ExitCode:
    """Play all that is asked for, and say what was found.

    Parameters
    ----------
    operator
        Who ends the broker's process, if not the commands of the options.
    """
    try:
        address = Address.of(options.target)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    operator = operator or _operator(options, address)
    if options.profile is not None:
        switches_of(options.profile)
    target = identify(address, options.profile, options.broker_conf)
    if not options.json:
        print_target(target)
    session = Session(target, beside_others=options.beside_others, operator=operator)
    played: list[Played] = []
    try:
        for schedule in schedules(options, target.profile):
            played.append(session.play(schedule))
            if not options.json:
                print_played(target, played[-1])
            if played[-1].judgement is not None and not played[-1].judgement.is_explained:
                break
    finally:
        session.close()
    if options.json:
        print(json.dumps(_to_json(target, played, session.names), indent=2))
    else:
        print_end(shortest_first(played), session.names)
    return _exit_code(played)


def _operator(options: ProbeOptions, address: Address) -> ShellOperator | None:
    if options.start is None:
        if options.kill is not None or options.stop is not None:
            message = "--kill and --stop end the broker: give --start CMD, which starts it again, too"
            raise typer.BadParameter(message)
        return None
    return ShellOperator(address, options.start, options.kill, options.stop)


def _exit_code(played: Sequence[Played]) -> ExitCode:
    judged = [one.judgement for one in played if one.judgement is not None]
    if any(each.broken or not each.is_explained for each in judged):
        return ExitCode.SAFETY_VIOLATED
    return ExitCode.OK if len(judged) == len(played) else ExitCode.OTHER


def _to_json(target: Target, played: Sequence[Played], names: Sequence[str]) -> dict[str, Any]:
    return {
        "broker": str(target.address),
        "release": target.release,
        "profile": target.profile,
        "why_profile": target.why,
        "plays": [play_json(one) for one in played],
        "broken": [
            {"clause": name, "schedule": one.schedule.name, "orders": [str(done.order) for done in one.done]}
            for name, one in shortest_first(played).items()
        ],
        "topics_and_groups": list(names),
    }


def play_json(one: Played) -> dict[str, Any]:
    """One schedule as the JSON of a probe has it: what was done, what was written, and what the specification says."""
    judgement = one.judgement
    divergence = None if judgement is None else judgement.verdict.divergence
    return {
        "schedule": one.schedule.name,
        "story": one.schedule.story,
        "orders": [
            {"order": str(done.order), "at": done.at_ms, **({} if done.answer is None else {"answer": done.answer})}
            for done in one.done
        ],
        "missed": None if one.missed is None else str(one.missed),
        "events": [{"time": event.time, "event": str(event)} for event in one.probed.trace.events],
        "explained": None if judgement is None else judgement.is_explained,
        "complete": judgement is not None and judgement.verdict.is_complete,
        "faults": {} if judgement is None else judgement.verdict.faults,
        "divergence": None
        if divergence is None
        else {
            "event": divergence.number,
            "text": str(divergence.event),
            "guard": divergence.guard,
            "nearest": list(divergence.nearest),
        },
        "reason": one.unfit or None,
        "also_explained_by": list(one.also),
        "broken": [
            {"clause": each.name, "claims": each.clause.sentence, "event": each.event}
            for each in (judgement.broken if judgement else ())
        ],
        "settled": one.is_settled,
    }
