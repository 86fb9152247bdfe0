"""``halfcheck judge-jar``: what a pull request's jar mends, in part or whole, and what it breaks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from document.console import show
from halfcheck.errors import CommandLineError, ExitCode
from halfcheck.options import AsJson, Seed, print_json, refuse_a_file
from halfcheck.printing.progress import live_line

if TYPE_CHECKING:
    from model_check.verdicts.counterexamples import MinimalCounterexample

_MINUTE_S = 60


def command(
    jar: Annotated[
        Path, typer.Argument(metavar="FILE", help="The jar that mvn package leaves in target/, or a folder of such.")
    ],
    *,
    real: Annotated[
        str, typer.Option(metavar="RELEASE", help="The release that it is built upon, if it does not say so.")
    ] = "",
    minutes: Annotated[
        float, typer.Option(min=0.0, metavar="M", help="For the schedules behind the counterexamples themselves.")
    ] = 3.0,
    seed: Seed = 7,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where a page, the JSON and the schedules are written.")
    ] = None,
    every_row: Annotated[
        bool, typer.Option("--all", help="Show clauses, too, that it breaks just as the release does.")
    ] = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Judge RocketMQ's classes in a jar that is not published, such as a pull request's, against their release.

    Every counterexample of the release is played on the jar: is the clause broken still? Where it is not, so are
    schedules near it, with one more transaction or round, which show a repair that mends a half. Then schedules of any
    kind are played on the jar and on the release: what breaks a guarantee in the jar alone is made as short as can be.

    The exit code is 12 when the jar breaks a guarantee that the release does not break under the same faults, or mends
    only a part of a clause under the fewest faults under which it mends anything; 0 otherwise, whatever it leaves
    broken. It wants a JDK, and Maven the first time.

    Examples
    --------
    halfcheck judge-jar broker/target/rocketmq-broker-5.5.1-SNAPSHOT.jar --out verdict
    halfcheck judge-jar broker/target/classes --real 5.5.1 --minutes 10
    """
    from conformance.java.given_jar import given_jar
    from fuzz.real_alone.verdict import judge_jar

    refuse_a_file(out)
    given = given_jar(jar, real)
    counterexamples = _counterexamples_of(given.release)
    typer.echo(f"halfcheck: {given.name} is held against RocketMQ {given.release}", err=True)
    with live_line("starting the JVMs", wanted=not as_json) as report:
        verdict = judge_jar(
            given, counterexamples, seconds=minutes * _MINUTE_S, seed=seed, report=report or (lambda _: None)
        )
    files: dict[str, str] = {}
    if out is not None:
        from halfcheck.judged_jars import write_verdict

        files = write_verdict(out, verdict)
    if as_json:
        print_json(verdict.to_json())
    else:
        from halfcheck.printing.judge_jar import verdict_parts

        show(verdict_parts(verdict, files, every_row=every_row))
    return ExitCode.OK if verdict.is_good else ExitCode.SAFETY_VIOLATED


def _counterexamples_of(release: str) -> list[MinimalCounterexample]:
    """Those of the table of verdicts for a release; `CommandLineError` if it was not searched."""
    from halfcheck.verdicts.files import VerdictFiles
    from model_check.world import Profile
    from spec.profiles import VERSIONS

    if release not in VERSIONS:
        message = f"no table of verdicts of RocketMQ {release}; give --real one of {', '.join(VERSIONS)}, the nearest"
        raise CommandLineError(message)
    return VerdictFiles().counterexamples(Profile.of(release))
