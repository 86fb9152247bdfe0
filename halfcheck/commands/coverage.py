"""``halfcheck coverage``: which rules of the specification no version needs in any environment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from document.console import show
from document.parts import List, Paragraph, Table, Tone, tabulated
from document.words import counted
from files.writing import write_whole
from halfcheck.errors import ExitCode
from halfcheck.options import PROFILES, AsJson, environment_of, print_json, say_choice
from halfcheck.printing.progress import live_line, search_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model_check.coverage_matrix import CoverageMatrix
    from model_check.finding import Finding
    from model_check.guard_coverage import ActionCoverage, Coverage
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
    when there is another one, or when something that is accepted as a gap is none. With --profile one world is counted;
    its exit codes and its JSON are those of halfcheck check --instance.

    Examples
    --------
    halfcheck coverage
    halfcheck coverage --profile 5.3.3 --faults slow_round --instance small
    halfcheck coverage --instance tiny --max-states 100000
    halfcheck coverage --instance small --page docs/generated/coverage.md
    """
    from model_check.coverage_matrix import cover_matrix, coverage_page, read_expected
    from model_check.instances import load_instance
    from model_check.world import World, asked_for

    _require_folder_of(page)
    size = load_instance(instance or "small")
    if instance is None:
        say_choice(size, "of which results/uncovered.toml speaks")
    if profile is not None:
        return _of_one_world(World(asked_for(profile).profile, environment_of(faults), size), threads, as_json=as_json)
    with live_line(wanted=not as_json) as tell:
        result = cover_matrix(
            size,
            read_expected(size, expected),
            threads=threads,
            most_states=max_states,
            report=None if tell is None else lambda finding, gaps: tell(_progress(finding, gaps)),
        )
    if page is not None:
        write_whole(page, coverage_page(result, max_states))
    if as_json:
        print_json(result.to_json())
    else:
        _print(result)
    return ExitCode.OK if result.is_explained else ExitCode.OTHER


def _of_one_world(world: World, threads: int, *, as_json: bool) -> ExitCode:
    from halfcheck.commands.check import left_of
    from model_check.answers.answer import answer_of
    from model_check.check import check
    from model_check.question import Question

    with search_progress(str(world), wanted=not as_json) as report:
        finding = check(Question(world=world, coverage=True), threads=threads, report=report)
    if as_json:
        answer = answer_of(finding)
        left = left_of(answer, (world.instance,), threads, wanted=False)
        print_json({**answer.to_json(), "left": {one.name: one.to_json() for one in left}})
    elif finding.coverage is not None:
        show([Paragraph(f"RocketMQ {world.title}: {finding.numbers.distinct:,} states", Tone.TITLE)])
        for table in _tables(finding.coverage):
            show([table, Paragraph("")])
    return ExitCode.of_verdict(is_broken=bool(finding.violated), is_complete=finding.numbers.complete)


def _require_folder_of(page: Path | None) -> None:
    from model_check.errors import BadFile

    if page is not None and not page.parent.is_dir():
        message = f"{page}: there is no folder {page.parent} to write it to; make it first"
        raise BadFile(message)


def _print(result: CoverageMatrix) -> None:
    show(Paragraph(f"NOT COVERED: {gap}", Tone.BAD) for gap in result.unexplained)
    for accepted in result.outdated:
        show([Paragraph(f"accepted, but covered or no rule any more: {accepted.what}", Tone.BAD)])
    if result.is_explained:
        worlds = counted(len(result.searches), "world")
        summary = f"{worlds} of {result.instance.name}: nothing is left uncovered but what is accepted"
        show([Paragraph(summary, Tone.TITLE)])
    for table in _tables(result.coverage):
        show([table, Paragraph("")])
    for accepted in result.accepted:
        show([Paragraph(f"accepted: {accepted.what}"), List((accepted.reason,))])


def _progress(finding: Finding, gaps: int) -> str:
    cut = "" if finding.numbers.complete else ", cut short"
    return f"{finding.world}: {finding.numbers.distinct:,} states{cut}, {gaps} gaps left"


def _tables(coverage: Coverage) -> Iterator[Table]:
    """A row an action, with its rules that were never the first false; a row a clause or witness, with its states."""
    rows = [(one.name, f"{one.enabled:,}", len(one.conjuncts), _warnings(one)) for one in coverage.actions]
    yield tabulated("action", ">enabled", ">rules", f"~warnings, in {coverage.states:,} states", rows=rows)
    violated = [(clause, "violated in", f"{states:,}") for clause, states in coverage.violated.items()]
    witnessed = [
        (witness, "seen in", f"{states:,}" if states else Paragraph("0", Tone.WARNING))
        for witness, states in coverage.witnessed.items()
    ]
    yield tabulated("clause or witness", "", ">states", rows=(*violated, *witnessed))


def _warnings(action: ActionCoverage) -> Paragraph:
    idle = [f"never the first false: {c.kind}: {c.label}" for c in action.conjuncts if c.first_false == 0]
    return Paragraph("\n".join(["never enabled"] * (action.enabled == 0) + idle), Tone.WARNING)
