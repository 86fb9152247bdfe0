"""``halfcheck switches``: what each switch of a profile is, and what it breaks and mends."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from document.console import show
from halfcheck.options import NO_TURNED_SWITCHES, AsJson, Threads, instances_of, print_json
from halfcheck.printing.progress import live_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.defects.switch_effects import SwitchEffects
    from model_check.switches import SwitchRecord


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Such as settles_once; all of them when none is given."),
    ] = None,
    *,
    instance: Annotated[str, typer.Option(help="Where it is searched what a switch breaks and mends.")] = "tiny",
    profiles: Annotated[
        list[str] | None,
        typer.Option("--profile", metavar="V", help="Only in this release, not in all. May be repeated."),
    ] = None,
    threads: Threads = None,
    faults: Annotated[
        bool, typer.Option("--faults", help="List the faults that --faults of other commands takes, instead.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the switches by which releases and repairs differ, or say what one is, breaks and mends.

    A switch is turned with + or - behind the name of a profile: --profile 5.4.0+settles_once. The list says what is so
    where a switch is on, and in which releases it is. With a NAME, the RocketMQ classes and methods that it models,
    what it needs, and what it breaks and mends: what the catalogue of defects has on record, then what a search of each
    release with it and without it finds, in the quiet world and under each fault alone. Finished searches are kept.

    --faults says instead what may go wrong with each fault: what check, replay, simulate and fuzz take by that name.

    Examples
    --------
    halfcheck switches
    halfcheck switches --faults
    halfcheck switches heeds_settled_originals
    halfcheck switches batches_ops --profile 5.4.0 --json
    """
    if faults:
        _print_faults(names or (), as_json=as_json)
        return
    if names:
        _print_effects(names, instance, profiles or (), threads, as_json=as_json)
    else:
        _print_switches(as_json=as_json)


def _print_switches(*, as_json: bool) -> None:
    from halfcheck.printing.switches import list_of_switches
    from model_check.switches import switch_records

    records = list(switch_records().values())
    if as_json:
        print_json({one.name: one.to_json() for one in records})
    else:
        show(list_of_switches(records))


def _print_effects(
    names: Sequence[str], instance: str, profiles: Sequence[str], threads: int | None, *, as_json: bool
) -> None:
    from halfcheck.commands.faults import MOST_STATES
    from halfcheck.printing.switches import effects, facts_of
    from model_check.defects.switch_effects import find_effects
    from model_check.switches import switch_called
    from model_check.verdicts.searches import CachedSearches, Searches, cache_file
    from model_check.world import Profile

    records = [switch_called(name) for name in names]
    (size,), releases = instances_of(instance, NO_TURNED_SWITCHES), [Profile.of(name) for name in profiles]
    content = {}
    for number, record in enumerate(records):
        if not as_json:
            if number:
                print()
            show(facts_of(record))
        with live_line(wanted=not as_json) as report:
            cores = threads or os.cpu_count() or 1
            searches = Searches(CachedSearches(cache_file()), threads=cores, most_states=MOST_STATES, report=report)
            found = find_effects(record, size, searches, releases)
        if as_json:
            content[record.name] = _to_json(record, found)
        else:
            show(effects(found))
    if as_json:
        print_json(content)


def _print_faults(names: Sequence[str], *, as_json: bool) -> None:
    from halfcheck.printing.switches import list_of_faults
    from model_check.wording.faults import FAULTS_IN_WORDS
    from model_check.world import Environment

    chosen = Environment.of(names or FAULTS_IN_WORDS)
    content = {fault: FAULTS_IN_WORDS[fault] for fault in chosen}
    if as_json:
        print_json(content)
    else:
        show(list_of_faults(content))


def _to_json(record: SwitchRecord, found: SwitchEffects) -> dict[str, object]:
    from model_check.clauses import name_of
    from model_check.defects.switch_effects import on_record

    return {
        **record.to_json(),
        "on_record": [one.to_json() for one in on_record(record.name)],
        "instance": found.instance.name,
        "searched_profiles": [release.name for release in found.releases],
        "effects": [one.to_json() for one in found.effects],
        "still_broken": {
            name_of(clause): [release.name for release in releases] for clause, releases in found.still_broken.items()
        },
        "cut_short": [str(world) for world in found.cut_short],
    }
