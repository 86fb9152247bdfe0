"""``halfcheck coverage``: which rules of the specification no version needs in any environment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from halfcheck.errors import ExitCode
from halfcheck.options import PROFILES, AsJson, environment_of, say_choice

if TYPE_CHECKING:
    from model_check.coverage.matrix import CoverageMatrix
    from model_check.finding import Finding
    from model_check.world import World


def command(
    *,
    profile: Annotated[
        str | None, typer.Option(help=f"Only the world of this one: {PROFILES}; +NAME or -NAME turns a switch.")
    ] = None,
    faults: Annotated[
        str, typer.Option(metavar="FAULT,…", help="With --profile: the environment of that world. Nothing: quiet.")
    ] = "",
    instance: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How large, or a .toml file; halfcheck instances lists them. Nothing: small, of which "
            "results/uncovered.toml speaks.",
        ),
    ] = None,
    threads: Annotated[int, typer.Option(min=1, max=64, help="Threads of each search.")] = 1,
    max_states: Annotated[
        int, typer.Option(min=1, help="Leave a search that has stored so many states; what it covered is covered.")
    ] = 2_000_000,
    expected: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What is accepted, and more worlds: another uncovered.toml.")
    ] = None,
    page: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the result as a Markdown page.")] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Say which guards were never true, and which rules never the first to be false, in any version and environment.

    Every profile is searched in the quiet world, with each single fault, and with the pairs of results/uncovered.toml,
    where each gap that is accepted stands with its reason. The exit code is 0 when the gaps are exactly those, and 255
    when there is another one, or when something that is accepted as a gap is none. With --profile one world is counted,
    and nothing is held against what is accepted.

    Examples
    --------
    halfcheck coverage
    halfcheck coverage --profile 5.3.3 --faults slow_round --instance small
    halfcheck coverage --instance tiny --max-states 100000
    halfcheck coverage --instance small --page docs/generated/coverage.md
    """
    from files.writing import write_whole
    from halfcheck.printing.progress import live_line
    from model_check.asked import asked_for
    from model_check.coverage.expected import read_expected
    from model_check.coverage.matrix import cover_matrix
    from model_check.coverage.page import coverage_page
    from model_check.instances import load_instance
    from model_check.world import World

    _require_folder_of(page)
    size = load_instance(instance or "small")
    if instance is None:
        say_choice(size, "of which results/uncovered.toml speaks")
    if profile is not None:
        return _of_one_world(World(asked_for(profile).profile, environment_of(faults), size), threads, as_json=as_json)
    with live_line(wanted=not as_json) as show:
        result = cover_matrix(
            size,
            read_expected(size, expected),
            threads=threads,
            most_states=max_states,
            report=None if show is None else lambda finding, gaps: show(_progress(finding, gaps)),
        )
    if page is not None:
        write_whole(page, coverage_page(result, max_states))
    if as_json:
        print(json.dumps(result.to_json(), ensure_ascii=False, indent=2))
    else:
        _print(result)
    return ExitCode.OK if result.is_explained else ExitCode.OTHER


def _of_one_world(world: World, threads: int, *, as_json: bool) -> ExitCode:
    from halfcheck.printing.progress import search_progress
    from model_check.check import check
    from model_check.question import Question

    with search_progress(str(world), wanted=not as_json) as report:
        finding = check(Question(world=world, coverage=True), threads=threads, report=report)
    if as_json:
        print(json.dumps(finding.to_json(), ensure_ascii=False, indent=2))
    elif finding.coverage is not None:
        from document.console import show
        from document.parts import Paragraph, Tone
        from halfcheck.printing.coverage import coverage_tables

        show([Paragraph(f"RocketMQ {world.title}: {finding.numbers.distinct:,} states", Tone.TITLE)])
        for table in coverage_tables(finding.coverage):
            show([table, Paragraph("")])
    return ExitCode.OK


def _require_folder_of(page: Path | None) -> None:
    from model_check.errors import BadFile

    if page is not None and not page.parent.is_dir():
        message = f"{page}: there is no folder {page.parent} to write it to; make it first"
        raise BadFile(message)


def _print(result: CoverageMatrix) -> None:
    from document.console import show
    from document.parts import List, Paragraph, Tone
    from document.words import counted
    from halfcheck.printing.coverage import coverage_tables

    show(Paragraph(f"NOT COVERED: {gap}", Tone.BAD) for gap in result.unexplained)
    for accepted in result.outdated:
        show([Paragraph(f"accepted, but covered or no rule any more: {accepted.what}", Tone.BAD)])
    if result.is_explained:
        worlds = counted(len(result.searches), "world")
        summary = f"{worlds} of {result.instance.name}: nothing is left uncovered but what is accepted"
        show([Paragraph(summary, Tone.TITLE)])
    for table in coverage_tables(result.coverage):
        show([table, Paragraph("")])
    for accepted in result.accepted:
        show([Paragraph(f"accepted: {accepted.what}"), List((accepted.reason,))])


def _progress(finding: Finding, gaps: int) -> str:
    cut = "" if finding.numbers.complete else ", cut short"
    return f"{finding.world}: {finding.numbers.distinct:,} states{cut}, {gaps} gaps left"
