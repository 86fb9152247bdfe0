"""``halfcheck fuzz``: the specification and the reference broker in lockstep, and the mutants that it must notice."""

from __future__ import annotations

import errno
import json
import sys
from contextlib import contextmanager
from pathlib import Path  # noqa: TC003 (Typer evaluates the annotations)
from typing import TYPE_CHECKING, Annotated

import typer

from halfcheck.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from fuzz.lockstep.pairing import Pairing
    from fuzz.search.campaign import Campaign
    from fuzz.search.examples import Failure, Fuzzing

EVERY_FAULT = "all"


def command(
    *,
    profile: Annotated[
        str, typer.Option(help="4.5.1, 4.9.7, 5.3.3 or 5.4.0; +NAME or -NAME turns a switch.")
    ] = "5.3.3",
    faults: Annotated[
        str, typer.Option(metavar="FAULT,…", help="What may go wrong, for example crash,lose_end. '' is quiet.")
    ] = EVERY_FAULT,
    instance: Annotated[
        str, typer.Option(help="fuzzed, which is made for this; tiny, small …, or the path of a .toml file.")
    ] = "fuzzed",
    examples: Annotated[int, typer.Option(help="How many schedules to try.")] = 500,
    steps: Annotated[int, typer.Option(help="The most steps of a schedule.")] = 50,
    seed: Annotated[int, typer.Option(help="Where the choices come from.")] = 7,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where a test that shows the mismatch is written.")
    ] = None,
    visit_all: Annotated[
        bool, typer.Option("--visit-all", help="Steer the pair to every state of a small instance as well.")
    ] = False,
    mutants: Annotated[
        bool, typer.Option("--mutants", help="Hunt the mutants instead, and print who killed them.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> ExitCode:
    """Run the specification and the reference broker side by side on random schedules, and compare them at each step.

    After each step the broker's records and memory, mapped to the specification's variables, must equal them; what the
    specification forbids is asked of the broker now and then, and must be refused. The exit code is 12 when they differ
    (with the shortest schedule that shows it), or when a mutant survives; 0 otherwise. One seed gives one run.

    Examples
    --------
    halfcheck fuzz --profile 5.3.3
    halfcheck fuzz --profile 4.9.7 --faults crash,lose_end --examples 5000 --seed 11
    halfcheck fuzz --profile 4.9.7 --steps 100 --visit-all
    halfcheck fuzz --mutants --json
    """
    from fuzz.lockstep.pairing import Pairing
    from fuzz.search.campaign import run_campaign
    from spec.constants import FAULTS

    if out is not None:
        _refuse_a_file(out)
    if mutants:
        return _hunt(seed, as_json=as_json)
    chosen = FAULTS if faults == EVERY_FAULT else tuple(name for name in map(str.strip, faults.split(",")) if name)
    pairing = Pairing.of(profile, chosen, instance)
    with _progress_line(examples, wanted=not as_json) as report:
        campaign = run_campaign(
            pairing, examples=examples, steps=steps, random_seed=seed, visits_all=visit_all, report=report
        )
    if as_json:
        print(json.dumps(campaign.to_json(), ensure_ascii=False, indent=2))
    else:
        _print(campaign, visited_all=visit_all)
    if campaign.failure is None:
        return ExitCode.OK
    if out is not None:
        from fuzz.search.mismatch_test import write_pytest_file

        typer.echo(f"halfcheck: {write_pytest_file(out, campaign.pytest_file())} shows it again", err=True)
    return ExitCode.SAFETY_VIOLATED


def _refuse_a_file(out: Path) -> None:
    """Say before a long run that its test could not be written after it."""
    for folder in (out, *out.parents):
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(
                errno.ENOTDIR, "not a folder; --out takes one that is there, or can be made", folder
            )


def _print(campaign: Campaign, *, visited_all: bool) -> None:
    from halfcheck.printing.counterexample_table import wide_console
    from halfcheck.printing.paragraphs import counted, listed, say

    console = wide_console()
    done, coverage, pairing = campaign.done, campaign.coverage, campaign.pairing
    world = "with " + ", ".join(pairing.faults) if pairing.faults else "in the quiet world"
    if campaign.failure is None:
        say(console, "specification and broker agree", "bold")
    say(
        console,
        f"RocketMQ {pairing.profile} {world}, instance {pairing.instance}, seed {campaign.random_seed}",
    )
    rate = done.steps / max(done.seconds, 1e-9)
    console.print(
        f"{done.examples:,} examples, {done.steps:,} steps of specification and broker; "
        f"{done.seconds:.1f} s, {rate:,.0f} steps/s"
    )
    if campaign.failure is not None:
        _print_failure(console, pairing, campaign.failure)
        return
    guards = coverage.guards
    seen = len(guards.open) - len(coverage.never_false)
    console.print(f"guards: {seen} of {len(guards.open)} conjuncts were once the first to be false")
    console.print(
        f"actions: {len(guards.allowed) - len(coverage.never_enabled)} of {len(guards.allowed)} were possible"
    )
    if campaign.states is not None:
        states = campaign.states
        console.print(
            f"states of {states.instance} with {', '.join(states.faults)}: {states.seen:,} of the "
            f"{states.reachable:,} that a search finds ({states.share:.1%}), {states.drawn:,} of them by chance"
        )
        if visited_all:
            for schedule in states.missing:
                console.print(f"not reached: {schedule}")
    if coverage.never_enabled:
        count = len(coverage.never_enabled)
        was = f"{counted(count, 'action')} {'was' if count == 1 else 'were'}"
        listed(console, f"warning: {was} never possible", coverage.never_enabled)


def _print_failure(console: Console, pairing: Pairing, failure: Failure) -> None:
    from rich.text import Text

    from halfcheck.printing.counterexample_table import counterexample_table
    from model_check.counterexample.steps import replay

    console.print(counterexample_table(replay(pairing.machine, pairing.constants, failure.script.steps).events))
    console.print(Text(str(failure.mismatch), style="bold red"))


def _hunt(seed: int, *, as_json: bool) -> ExitCode:
    """Hunt all mutants, one row each as soon as it is dead."""
    from fuzz.mutants.kill_table import kill_table

    kills = kill_table(random_seed=seed)
    survivors = [kill.mutant.name for kill in kills if not kill.variable]
    if as_json:
        rows = [kill.to_json() for kill in kills]
        print(json.dumps({"seed": seed, "mutants": rows, "survivors": survivors}, ensure_ascii=False, indent=2))
    else:
        from halfcheck.printing.counterexample_table import wide_console
        from halfcheck.printing.fitting_table import FittingTable

        table = FittingTable("part", "mutant", "from", "killed by", "~at", ">examples", ">s")
        for kill in kills:
            part, name = kill.mutant.part.value, kill.mutant.name
            told = (kill.variable, kill.step) if kill.variable else ("SURVIVES", "")
            table.add_row(
                part, name, " ".join(kill.mutant.resembles), *told, f"{kill.examples:,}", f"{kill.seconds:.2f}"
            )
        console = wide_console()
        console.print(table)
        console.print(f"{len(kills) - len(survivors)} of {len(kills)} mutants killed")
    return ExitCode.SAFETY_VIOLATED if survivors else ExitCode.OK


@contextmanager
def _progress_line(examples: int, *, wanted: bool) -> Iterator[Callable[[Fuzzing], None] | None]:
    """Examples done and steps/s on stderr, if somebody watches."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    words = TextColumn("{task.completed:,} of {task.total:,} examples  {task.fields[rate]:,.0f} steps/s")
    with Progress(TextColumn("fuzzing"), BarColumn(), words, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("fuzzing", total=examples, rate=0.0)

        def show(done: Fuzzing) -> None:
            progress.update(task, completed=done.examples, rate=done.steps / max(done.seconds, 1e-9))

        yield show
