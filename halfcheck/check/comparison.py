"""``halfcheck check --compare``: two releases or profiles, what is new in the second, what is mended, what stays."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from halfcheck.check.broker_conf import configuration_of, refuse_rocksdb
from halfcheck.check.check_options import OF_BROKER_CONF, OF_FILES, OF_ONE_SEARCH, CheckOptions, say_who_speaks
from halfcheck.check.minimal_repairs import what_is_left
from halfcheck.check.search import say_turned_in_vain
from halfcheck.errors import CommandLineError, ExitCode
from halfcheck.printing.progress import portfolio_progress
from halfcheck.printing.remarks import print_remarks
from halfcheck.verify.processes import on_all_cores
from model_check.asked import asked_for
from model_check.broker_conf.judgement import BASES, judge_configuration
from model_check.comparison.both_sides import needs_a_search, of_judgement, verdicts_of
from model_check.comparison.differences import Verdicts, compared
from model_check.comparison.upgrade_answer import upgrade_answer
from reference.format.broker_conf import read_broker_conf, settings
from reference.format.broker_conf_remarks import remarks_on_file
from reference.format.broker_keys import known_keys
from spec.releases.broker_defaults import DEFAULTS, defaults_of, release_numbers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from halfcheck.check.minimal_repairs import Left
    from model_check.asked import Asked
    from model_check.broker_conf.configuration import Configuration


@dataclass(frozen=True, slots=True)
class Side:
    """One side of the question, as it goes to a process of its own: without `configuration`, of instances."""

    asked: Asked
    faults: tuple[str, ...]
    question: dict[str, Any]
    configuration: Configuration | None = None


def run(options: CheckOptions) -> ExitCode:
    """Ask, print, and give the exit code: that of the second one."""
    not_with = (*OF_ONE_SEARCH, *OF_FILES, "engine", "suggest", "fresh", "minimal_faults", "profile", "version")
    options.refuse((*not_with, "minimal_repairs"), "does not go with --compare, which searches many worlds in memory")
    before, after = (asked_for(name) for name in options.compare or ("", ""))
    if options.broker_conf is None:
        options.refuse(OF_BROKER_CONF, "speaks of a broker.conf: give --broker-conf FILE, too, or")
    elif not (before.is_release and after.is_release):
        name = after.name if before.is_release else before.name
        message = f"--compare {name} --broker-conf: expected a release such as 5.3.4, as settings are of releases"
        raise CommandLineError(message)
    for asked in (before, after):
        say_turned_in_vain(asked.name)
        say_who_speaks(asked)
    first, second = _side(options, before), _side(options, after)
    with portfolio_progress(f"{before.name} and {after.name}", wanted=not options.as_json) as report:
        found = compared(*_answers(first, second, report))
    left: list[Left] = []
    if options.max_states is None and found.after.judged is not None:
        instances = () if options.instance is None else (options.instance,)
        left = what_is_left(found.after.judged, instances, threads=options.threads, wanted=not options.as_json)
    times = None if second.configuration is None else second.configuration.times
    answer = upgrade_answer(found, times)
    remarks = of_settings(before, after, options.broker_conf)
    if options.broker_conf is not None:
        both = [remark for asked in (before, after) for remark in remarks_on_file(options.broker_conf, asked.release)]
        print_remarks(options.broker_conf, dict.fromkeys(both))
    if options.as_json:
        content = {**found.to_json(), "left": {one.clause: one.to_json() for one in left}, "groups": answer.to_json()}
        print(json.dumps({**content, "settings": remarks}, ensure_ascii=False, indent=2))
    else:
        from halfcheck.printing.comparison import print_comparison

        print_comparison(found, answer, [*map(str, left)], remarks, options.broker_conf)
    return ExitCode.of_verdict(is_broken=found.after.is_violated, is_complete=not found.after.open)


def _side(options: CheckOptions, asked: Asked) -> Side:
    faults = tuple(options.environment)
    threads = options.threads or os.cpu_count() or 1
    question: dict[str, Any] = {"properties": options.clauses, "most_states": options.max_states}
    if options.broker_conf is None:
        question["instances"] = () if options.instance is None else (options.instance,)
        return Side(asked, faults, {**question, "threads": threads})
    conf = read_broker_conf(options.broker_conf, asked.release)
    refuse_rocksdb(options.broker_conf, conf, asked.release)
    configuration = configuration_of(conf, asked.release, options.immunity or [], options.local)
    question["bases"] = BASES if options.instance is None else (options.instance,)
    return Side(asked, faults, {**question, "threads": 1}, configuration)


def _answers(before: Side, after: Side, report: Callable[..., None] | None) -> tuple[Verdicts, Verdicts]:
    """Both, at once where both take a search: then the first is answered by a process of its own."""
    if not (_takes_a_search(before) and _takes_a_search(after)):
        return answer_of(before, report), answer_of(after, report)
    with on_all_cores() as spread:
        beside = spread(answer_of, [before])
        mine = answer_of(after, report)
        return next(beside), mine


def _takes_a_search(side: Side) -> bool:
    if side.configuration is not None:
        return True
    asked = {name: side.question[name] for name in ("properties", "instances", "most_states")}
    return needs_a_search(side.asked, side.faults, **asked)


def answer_of(side: Side, report: Callable[..., None] | None = None) -> Verdicts:
    """What is known of one side."""
    if side.configuration is None:
        return verdicts_of(side.asked, side.faults, report=report, **side.question)
    return of_judgement(
        side.asked, judge_configuration(side.configuration, side.faults, report=report, **side.question)
    )


def of_settings(before: Asked, after: Asked, file: Path | None) -> list[str]:
    """What the two releases do with the settings of a file, and with those that it leaves out, a sentence each."""
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
