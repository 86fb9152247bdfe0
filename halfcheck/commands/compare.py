"""``halfcheck compare``: two releases or profiles, what is new in the second, what is mended, what stays."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from halfcheck.commands.check import left_of
from halfcheck.commands.conf import Immunity, Local, configuration_of, refuse_rocksdb
from halfcheck.errors import CommandLineError, ExitCode
from halfcheck.options import (
    AsJson,
    Faults,
    InstanceName,
    MostStates,
    Properties,
    Threads,
    asked_aloud,
    environment_of,
    instances_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from model_check.asked import Asked
    from model_check.comparison.differences import Verdicts
    from model_check.configuration import Configuration
    from model_check.world import Environment


@dataclass(frozen=True, slots=True)
class SideQuestion:
    """One side of the question, as it goes to a process of its own: without `configuration`, of instances."""

    asked: Asked
    environment: Environment
    question: dict[str, Any]
    configuration: Configuration | None = None


def command(
    before: Annotated[str, typer.Argument(metavar="A", help="A release from 4.3.0 on, or a profile.")],
    after: Annotated[str, typer.Argument(metavar="B", help="The one to go to.")],
    *,
    faults: Faults = "",
    broker_conf: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Compare with the times of this broker.conf.")
    ] = None,
    immunity: Immunity = None,
    local: Local = None,
    instance: InstanceName = None,
    properties: Properties = None,
    max_states: MostStates = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Say what it means to go from one release or profile to another: what is new, mended, and in both, gravest first.

    With --broker-conf for the times of a configuration. The exit code is that of the second one: 12 when it breaks a
    guarantee, 0 when it breaks none.

    Examples
    --------
    halfcheck compare 4.9.7 5.5.1
    halfcheck compare 5.3.3 5.5.1 --faults crash,lose_end
    halfcheck compare 4.9.7 5.5.1 --broker-conf broker.conf --immunity 60s
    """
    from halfcheck.printing.progress import portfolio_progress
    from halfcheck.printing.remarks import print_remarks
    from model_check.clauses import chosen_clauses
    from model_check.comparison.differences import compared
    from model_check.comparison.upgrade_answer import upgrade_answer
    from reference.format.broker_conf_remarks import remarks_on_file

    old, new = (asked_aloud([name]) for name in (before, after))
    if broker_conf is None and (immunity or local):
        message = f"{'--immunity' if immunity else '--local'} speaks of a broker.conf: give --broker-conf FILE, too"
        raise CommandLineError(message)
    if broker_conf is not None and not (old.is_release and new.is_release):
        name = new.name if old.is_release else old.name
        message = f"compare {name} --broker-conf: expected a release such as 5.3.4, as settings are of releases"
        raise CommandLineError(message)
    environment, sizes = environment_of(faults), instances_of(instance)
    question: dict[str, Any] = {"clauses": chosen_clauses(properties or ()), "most_states": max_states}

    def side(asked: Asked) -> SideQuestion:
        if broker_conf is None:
            mine = {"instances": sizes, "threads": threads or os.cpu_count() or 1}
            return SideQuestion(asked, environment, question | mine)
        from model_check.broker_conf.judgement import BASES
        from reference.format.broker_conf import read_broker_conf

        conf = read_broker_conf(broker_conf, asked.release)
        refuse_rocksdb(broker_conf, conf, asked.release)
        configuration = configuration_of(conf, asked.release, immunity or [], local)
        return SideQuestion(asked, environment, question | {"bases": sizes or BASES, "threads": 1}, configuration)

    first, second = side(old), side(new)
    with portfolio_progress(f"{old.name} and {new.name}", wanted=not as_json) as report:
        found = compared(*_answers(first, second, report))
    searched = found.after.answer if max_states is None else None
    left = [] if searched is None else left_of(searched, sizes, threads, wanted=not as_json)
    answer = upgrade_answer(found, None if second.configuration is None else second.configuration.times)
    remarks = of_settings(old, new, broker_conf)
    if broker_conf is not None:
        both = [remark for asked in (old, new) for remark in remarks_on_file(broker_conf, asked.release)]
        print_remarks(broker_conf, dict.fromkeys(both))
    if as_json:
        content = {**found.to_json(), "left": {one.name: one.to_json() for one in left}, "groups": answer.to_json()}
        print(json.dumps({**content, "settings": remarks}, ensure_ascii=False, indent=2))
    else:
        from document.console import show, wide_console
        from halfcheck.printing.comparison import comparison_in_words

        width = wide_console().width
        show(comparison_in_words(found, answer, [*map(str, left)], remarks, broker_conf, width))
    return ExitCode.of_verdict(is_broken=found.after.is_violated, is_complete=not found.after.open)


def _answers(
    before: SideQuestion, after: SideQuestion, report: Callable[..., None] | None
) -> tuple[Verdicts, Verdicts]:
    """Both, at once where both take a search: then the first is answered by a process of its own."""
    from halfcheck.verify.processes import on_all_cores

    if not (_takes_a_search(before) and _takes_a_search(after)):
        return verdicts_for(before, report), verdicts_for(after, report)
    with on_all_cores() as spread:
        beside = spread(verdicts_for, [before])
        mine = verdicts_for(after, report)
        return next(beside), mine


def _takes_a_search(side: SideQuestion) -> bool:
    from model_check.comparison.both_sides import needs_a_search

    if side.configuration is not None:
        return True
    asked = {name: side.question[name] for name in ("clauses", "instances", "most_states")}
    return needs_a_search(side.asked, side.environment, **asked)


def verdicts_for(side: SideQuestion, report: Callable[..., None] | None = None) -> Verdicts:
    """What is known of one side."""
    from model_check.broker_conf.judgement import judge_configuration
    from model_check.comparison.both_sides import of_judgement, verdicts_of

    if side.configuration is None:
        return verdicts_of(side.asked, side.environment, report=report, **side.question)
    judgement = judge_configuration(side.configuration, side.environment, report=report, **side.question)
    return of_judgement(side.asked, judgement)


def of_settings(before: Asked, after: Asked, file: Path | None) -> list[str]:
    """What the two releases do with the settings of a file, and with those that it leaves out, a sentence each."""
    from reference.format.broker_conf import settings
    from reference.format.broker_keys import known_keys
    from spec.releases.broker_defaults import DEFAULTS, defaults_of, release_numbers

    given = {setting.key: setting.line for setting in settings(file)} if file is not None else {}
    old, new = known_keys(before.release), known_keys(after.release)
    told = []
    for key, line in given.items() if old and new else ():
        if (key in old) != (key in new):
            has, has_not = (before, after) if key in old else (after, before)
            told.append(f"line {line}: {key} is a setting of {has.release}, and {has_not.release} ignores it")
    first, last = (release_numbers(one.release) for one in (before, after))
    earlier, later = defaults_of(before.release), defaults_of(after.release)
    for one in DEFAULTS:
        is_in_both = release_numbers(one.since[0][0]) <= min(first, last)
        if is_in_both and one.name not in given and earlier[one.name] != later[one.name]:
            unit = f" {one.unit}" if one.unit != "truth" else ""
            told.append(f"{one.name}, if it is not set, goes from {earlier[one.name]:,} to {later[one.name]:,}{unit}")
    return told
