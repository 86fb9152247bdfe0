"""``halfcheck compare``: two releases or profiles, what is new in the second, what is mended, what stays."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from document.console import PIPE_COLUMNS, show, wide_console
from document.parts import Names, Paragraph, Part, Tone, tabulated
from document.words import counted
from files.durations import moment, taken
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
    print_json,
)
from halfcheck.printing.progress import portfolio_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from model_check.comparison.differences import Comparison, Verdicts
    from model_check.comparison.upgrade_answer import UpgradeAnswer, UpgradeEntry
    from model_check.configuration import Configuration
    from model_check.world import Asked, Environment


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
        print_json({**content, "settings": remarks})
    else:
        width = wide_console().width
        show(_in_parts(found, answer, [*map(str, left)], remarks, broker_conf, width))
    return ExitCode.of_verdict(is_broken=found.after.is_violated, is_complete=not found.after.open)


def _answers(
    before: SideQuestion, after: SideQuestion, report: Callable[..., None] | None
) -> tuple[Verdicts, Verdicts]:
    """Both, at once where both take a search: then the first is answered by a process of its own."""
    from model_check.processes import on_all_cores

    if not (_takes_a_search(before) and _takes_a_search(after)):
        return verdicts_for(before, report), verdicts_for(after, report)
    with on_all_cores() as spread:
        beside = spread(verdicts_for, [before])
        mine = verdicts_for(after, report)
        return next(beside), mine


def _takes_a_search(side: SideQuestion) -> bool:
    from model_check.comparison.differences import needs_a_search

    if side.configuration is not None:
        return True
    asked = {name: side.question[name] for name in ("clauses", "instances", "most_states")}
    return needs_a_search(side.asked, side.environment, **asked)


def verdicts_for(side: SideQuestion, report: Callable[..., None] | None = None) -> Verdicts:
    """The verdicts of one side."""
    from model_check.broker_conf.judgement import judge_configuration
    from model_check.comparison.differences import of_judgement, verdicts_of

    if side.configuration is None:
        return verdicts_of(side.asked, side.environment, report=report, **side.question)
    judgement = judge_configuration(side.configuration, side.environment, report=report, **side.question)
    return of_judgement(side.asked, judgement)


def of_settings(before: Asked, after: Asked, file: Path | None) -> list[str]:
    """Settings of a file, or left out of it, that the two releases treat differently, a sentence each."""
    from reference.format.broker_conf import settings
    from reference.format.broker_keys import known_keys
    from spec.releases.broker_defaults import DEFAULTS, defaults_of, release_numbers

    given = {setting.key: setting.line for setting in settings(file)} if file is not None else {}
    old, new = known_keys(before.release), known_keys(after.release)
    lines = []
    for key, line in given.items() if old and new else ():
        if (key in old) != (key in new):
            has, has_not = (before, after) if key in old else (after, before)
            lines.append(f"line {line}: {key} is a setting of {has.release}, and {has_not.release} ignores it")
    first, last = (release_numbers(one.release) for one in (before, after))
    earlier, later = defaults_of(before.release), defaults_of(after.release)
    for one in DEFAULTS:
        is_in_both = release_numbers(one.since[0][0]) <= min(first, last)
        if is_in_both and one.name not in given and earlier[one.name] != later[one.name]:
            unit = f" {one.unit}" if one.unit != "truth" else ""
            lines.append(f"{one.name}, if it is not set, goes from {earlier[one.name]:,} to {later[one.name]:,}{unit}")
    return lines


def _in_parts(
    found: Comparison, answer: UpgradeAnswer, left: Sequence[str], remarks: Sequence[str], file: Path | None, width: int
) -> Iterator[Part]:
    """The three groups, gravest first, then settings, what is left open, and where the verdicts are from.

    Each sentence in `left` is of a clause that the second profile's switches do not repair in full; the remarks are on
    what both releases do with settings. A row is a line where no terminal shows columns.
    """
    from model_check.clauses import name_of

    before, after = found.before.asked.name, found.after.asked.name
    conf = f" with {file}" if file is not None else ""
    numbers = f"{len(answer.new)} new, {len(answer.mended)} mended, {len(answer.both)} in both"
    world = f"From {before} to {after}{conf}, {found.before.environment.beside_a_profile}"
    between = ": " if width >= PIPE_COLUMNS else "\n→ "
    yield Paragraph(f"{world}: {numbers}", Tone.TITLE)
    yield from _group(f"New or worse with {after}", answer.new, Tone.BAD, between, "Nothing is new")
    for sentence in left:
        yield Paragraph(sentence, Tone.WARNING)
    yield from _group(f"Mended by {after}", answer.mended, Tone.GOOD, between, "Nothing is mended")
    in_both = f"In both, {before} and {after}"
    yield from _group(in_both, answer.both, Tone.WARNING, between, "Nothing is broken in both")
    yield Paragraph("")
    yield from map(Paragraph, remarks)
    yield from _standing(found)
    sides = (found.before, found.after)
    for side in sides:
        if side.open:
            title = f"Open in {side.asked.name}, whose search was cut short"
            yield Names(title, tuple(map(name_of, side.open)))
    for side in sides:
        yield Paragraph(f"{side.asked.name}: {_extent(side)}")


def _group(title: str, entries: Sequence[UpgradeEntry], tone: Tone, between: str, otherwise: str) -> Iterator[Part]:
    yield Paragraph("")
    if not entries:
        yield Paragraph(otherwise)
        return
    yield Paragraph(f"{title}, gravest first:", Tone.TITLE)
    what = "what happens, and what to do" if any(one.remedy for one in entries) else "what happened"
    rows = []
    for one in entries:
        always = " (always)" if one.is_always_there and one.clause is None else ""
        needs = f" (with {', '.join(one.needs)})" if one.needs else always
        when = "" if one.after_ms is None else f", after {moment(one.after_ms)}"
        remedy = f"{between}{one.remedy}" if one.remedy else ""
        name = Paragraph(one.name, Tone.PLAIN if one.clause is None else tone)
        rows.append((name, f"{one.happens}{needs}{when}{remedy}"))
    yield tabulated("what", f"~{what}", rows=rows)


def _standing(found: Comparison) -> Iterator[Part]:
    """How many guarantees neither of them breaks: for any number of transactions, or to the bounds of searches."""
    for_any = found.for_any_number
    bounded = [clause for clause in found.same.get("holds", ()) if clause not in for_any]
    for clauses, whereof in (
        (for_any, "for any number of transactions, in runs of any length"),
        (bounded, f"to the bounds of {_where(found)}"),
    ):
        if clauses:
            verb = "holds" if len(clauses) == 1 else "hold"
            yield Paragraph(f"{counted(len(clauses), 'guarantee')} {verb} in both, {whereof}", Tone.GOOD)
    cannot = found.same.get("cannot occur", ())
    if cannot:
        yield Paragraph(f"{len(cannot)} cannot be broken there, mostly for want of a fault: --faults asks for some")


def _where(found: Comparison) -> str:
    """The instances that both answers are of, to their ends."""
    cut = {*found.before.cut_short, *found.after.cut_short}
    return ", ".join(one.name for one in found.instances if one not in cut)


def _extent(side: Verdicts) -> str:
    known = f"by the table of verdicts ({', '.join(one.name for one in side.known)})" if side.known else ""
    names = ", ".join(f"{one.name} (cut short)" if one in side.cut_short else one.name for one in side.searched)
    searched = f"searched: {names}; {taken(side.seconds)}" if names else ""
    return f"{'; '.join(part for part in (known, searched) if part)}; {side.distinct:,} states"
