"""``halfcheck coverage``: which rules of the specification no version needs in any environment."""

from __future__ import annotations

import json
import sys
from pathlib import Path  # noqa: TC003 (Typer evaluates the annotations)
from typing import TYPE_CHECKING, Annotated

import typer

from halfcheck.exit_codes import ExitCode

if TYPE_CHECKING:
    from model_check.coverage_matrix import CoverageMatrix, SearchedWorld


def command(
    *,
    instance: Annotated[
        str | None,
        typer.Option(
            help="How large: tiny, patient, odd, skewed, deep, small, trio, medium, large, shared, or a .toml file. "
            "Nothing: small, of which results/uncovered.toml speaks."
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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> ExitCode:
    """Say which guards were never true, and which rules never the first to be false, in any version and environment.

    Every profile is searched in the quiet world, with each single fault, and with the pairs of results/uncovered.toml,
    where each gap that is accepted stands with its reason. The exit code is 0 when the gaps are exactly those, and 255
    when there is another one, or when something that is accepted as a gap is none.

    Examples
    --------
    halfcheck coverage
    halfcheck coverage --instance tiny --max-states 100000
    halfcheck coverage --instance small --page docs/coverage.md
    """
    from model_check.counterexample.files import write_whole
    from model_check.coverage_matrix import cover_matrix
    from model_check.coverage_page import coverage_page
    from model_check.coverage_worlds import read_expected
    from model_check.errors import BadFile
    from spec.transactional_messages import TRANSACTIONAL_MESSAGES

    if page is not None and not page.parent.is_dir():
        message = f"{page}: there is no folder {page.parent} to write it to; make it first"
        raise BadFile(message)

    def tell(search: SearchedWorld) -> None:
        cut = "" if search.complete else ", cut short"
        typer.echo(f"{search.world}: {search.distinct:,} states{cut}, {search.uncovered} gaps left", err=True)

    if instance is None:
        from halfcheck.chosen_instance import tell_choice

        instance = "small"
        tell_choice(instance, "of which results/uncovered.toml speaks")
    is_watched = sys.stderr.isatty() and not as_json

    result = cover_matrix(
        TRANSACTIONAL_MESSAGES,
        instance,
        read_expected(expected),
        threads=threads,
        most_states=max_states,
        report=tell if is_watched else None,
    )
    if page is not None:
        write_whole(page, coverage_page(result, max_states))
    if as_json:
        print(json.dumps(result.to_json(), ensure_ascii=False, indent=2))
    else:
        _print(result)
    return ExitCode.OK if result.is_explained else ExitCode.OTHER


def _print(result: CoverageMatrix) -> None:
    from halfcheck.counterexample_table import wide_console
    from halfcheck.coverage_table import action_table, claim_table

    console = wide_console()
    for table in (action_table(result.coverage), claim_table(result.coverage)):
        console.print(table)
        console.print()
    for accepted in result.accepted:
        console.print(f"accepted: {accepted.what}\n    {accepted.reason}")
    for accepted in result.outdated:
        console.print(f"accepted, but covered or no rule any more: {accepted.what}")
    for gap in result.unexplained:
        console.print(f"NOT COVERED: {gap}")
    if result.is_explained:
        console.print(f"{len(result.searches)} worlds of {result.instance}: nothing else is left uncovered")
