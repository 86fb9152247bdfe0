"""``halfcheck fuzz``: the specification and the reference broker in lockstep, and the mutants that it must notice."""

from __future__ import annotations

import errno
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from document.console import show
from document.parts import Names, Paragraph, Part, Tone, tabulated
from document.words import counted
from halfcheck.errors import ExitCode
from halfcheck.options import USUAL_PROFILE, AsJson, ProfileName, Seed, names_in, print_json
from halfcheck.printing.counterexample import counterexample_table
from halfcheck.printing.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fuzz.mutants.kill_table import HuntResult
    from fuzz.search.campaign import Campaign
    from fuzz.search.examples import Fuzzing

EVERY_FAULT = "all"


def command(
    *,
    profile: ProfileName = USUAL_PROFILE,
    faults: Annotated[
        str, typer.Option(metavar="FAULT,…", help="What may go wrong, for example crash,lose_end. '' is quiet.")
    ] = EVERY_FAULT,
    instance: Annotated[
        str, typer.Option(help="fuzzed, which is made for this; tiny, small …, or the path of a .toml file.")
    ] = "fuzzed",
    examples: Annotated[int, typer.Option(help="How many schedules to try.")] = 500,
    steps: Annotated[int, typer.Option(help="The most steps of a schedule.")] = 50,
    seed: Seed = 7,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where a test that shows the mismatch is written.")
    ] = None,
    visit_all: Annotated[
        bool, typer.Option("--visit-all", help="Steer the pair to every state of a small instance as well.")
    ] = False,
    mutants: Annotated[
        bool, typer.Option("--mutants", help="Hunt the mutants instead, and print who killed them.")
    ] = False,
    as_json: AsJson = False,
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
    from fuzz.search.campaign import run_campaign, write_test
    from spec.constants import FAULTS

    _refuse_a_file(out)
    if mutants:
        return _hunt(seed, as_json=as_json)
    chosen = FAULTS if faults == EVERY_FAULT else tuple(names_in(faults))
    pairing = Pairing.of(profile, chosen, instance)
    with _progress_line(examples, wanted=not as_json) as report:
        campaign = run_campaign(
            pairing, examples=examples, steps=steps, random_seed=seed, visits_all=visit_all, report=report
        )
    if as_json:
        print_json(campaign.to_json())
    else:
        show(_outcome(campaign, visited_all=visit_all))
    if campaign.failure is not None and out is not None:
        typer.echo(f"halfcheck: {write_test(out, pairing, campaign.failure)} shows it again", err=True)
    return ExitCode.of_verdict(is_broken=campaign.failure is not None, is_complete=True)


def _refuse_a_file(out: Path | None) -> None:
    """Say before a long run that its test could not be written after it."""
    for folder in () if out is None else (out, *out.parents):
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(
                errno.ENOTDIR, "not a folder; --out takes one that is there, or can be made", folder
            )


def _hunt(seed: int, *, as_json: bool) -> ExitCode:
    """Hunt all mutants, and print who killed them."""
    from fuzz.mutants import kill_table

    kills = [kill_table.hunt(mutant, random_seed=seed) for mutant in kill_table.MUTANTS]
    survivors = [kill.mutant.name for kill in kills if not kill.variable]
    if as_json:
        rows = [kill.to_json() for kill in kills]
        print_json({"seed": seed, "mutants": rows, "survivors": survivors})
    else:
        show(_table_of_kills(kills))
    return ExitCode.SAFETY_VIOLATED if survivors else ExitCode.OK


@contextmanager
def _progress_line(examples: int, *, wanted: bool) -> Iterator[Callable[[Fuzzing], None] | None]:
    """Examples done and steps/s on stderr, if somebody watches."""
    words = "{task.completed:,} of {task.total:,} examples  {task.fields[rate]:,.0f} steps/s"
    with progress_bar("fuzzing", words, wanted=wanted, total=examples, rate=0.0) as update:
        yield update and (lambda done: update(completed=done.examples, rate=done.steps / max(done.seconds, 1e-9)))


def _outcome(campaign: Campaign, *, visited_all: bool) -> Iterator[Part]:
    """Whether the two agree, and how much they were asked; or the counterexample."""
    from model_check.counterexample.steps import replay

    done, coverage, pairing = campaign.done, campaign.coverage, campaign.pairing
    world = pairing.world
    if campaign.failure is None:
        yield Paragraph("specification and broker agree", Tone.TITLE)
    yield Paragraph(
        f"RocketMQ {world.profile} {world.environment.beside_a_profile}, instance {world.instance.name}, "
        f"seed {campaign.random_seed}"
    )
    rate = done.steps / max(done.seconds, 1e-9)
    yield Paragraph(
        f"{done.examples:,} examples, {done.steps:,} steps of specification and broker; "
        f"{done.seconds:.1f} s, {rate:,.0f} steps/s"
    )
    if campaign.failure is not None:
        yield counterexample_table(replay(pairing.machine, pairing.constants, campaign.failure.script.steps).events)
        yield Paragraph(str(campaign.failure.mismatch), Tone.BAD)
        return
    rules, actions = len(coverage.guards.open), len(coverage.guards.allowed)
    yield Paragraph(f"guards: {coverage.conjuncts_seen} of {rules} conjuncts were once the first to be false")
    yield Paragraph(f"actions: {coverage.actions_seen} of {actions} were possible")
    if campaign.states is not None:
        states, where = campaign.states, campaign.states.world
        yield Paragraph(
            f"states of {where.instance.name} with {', '.join(where.environment)}: {states.seen:,} of the "
            f"{states.reachable:,} that a search finds ({states.share:.1%}), {states.drawn:,} of them by chance"
        )
        for schedule in states.missing if visited_all else ():
            yield Paragraph(f"not reached: {schedule}")
    if coverage.never_enabled:
        count = len(coverage.never_enabled)
        was = f"{counted(count, 'action')} {'was' if count == 1 else 'were'}"
        yield Names(f"warning: {was} never possible", tuple(coverage.never_enabled))


def _table_of_kills(kills: Sequence[HuntResult]) -> Iterator[Part]:
    """A row a mutant, and how many were killed."""
    rows = [
        (
            *(kill.mutant.part.value, kill.mutant.name, " ".join(kill.mutant.resembles)),
            *((kill.variable, kill.step) if kill.variable else ("SURVIVES", "")),
            *(f"{kill.examples:,}", f"{kill.seconds:.2f}"),
        )
        for kill in kills
    ]
    yield tabulated("part", "mutant", "from", "killed by", "~at", ">examples", ">s", rows=rows)
    yield Paragraph(f"{sum(bool(kill.variable) for kill in kills)} of {len(kills)} mutants killed")
