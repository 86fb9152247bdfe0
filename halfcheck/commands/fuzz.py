"""``halfcheck fuzz``: the specification and the reference broker in lockstep, and the mutants that it must notice."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from document.console import show
from document.parts import Names, Paragraph, Part, Tone, tabulated
from document.words import counted
from halfcheck.errors import CommandLineError, ExitCode
from halfcheck.options import (
    USUAL_PROFILE,
    AsJson,
    GivenJarOption,
    ProfileName,
    Seed,
    given_by,
    names_in,
    print_json,
    refuse_a_file,
)
from halfcheck.printing.counterexample import counterexample_table
from halfcheck.printing.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from conformance.java.given_jar import GivenJar
    from fuzz.broker_side.twin_process import TwinProcesses
    from fuzz.lockstep.pairing import Pairing
    from fuzz.mutants.kill_table import HuntResult
    from fuzz.search.campaign import Campaign
    from fuzz.search.examples import FuzzFailure, Fuzzing
    from fuzz.search.transition_tour import TransitionTour

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
        bool,
        typer.Option(
            "--mutants",
            help="Hunt the mutants instead, and print who killed them; with --real those of the broker of that "
            "release, whose only judge are its own classes.",
        ),
    ] = False,
    real: Annotated[
        str,
        typer.Option(metavar="RELEASE", help="Run RocketMQ's own classes of a release as a third side (wants Maven)."),
    ] = "",
    jar: GivenJarOption = None,
    every_transition: Annotated[
        bool,
        typer.Option("--every-transition", help="Take each transition of an --instance as small as tiny."),
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
    halfcheck fuzz --real 5.5.1 --examples 1000 --steps 150
    halfcheck fuzz --jar broker/target/rocketmq-broker-5.5.1-SNAPSHOT.jar
    halfcheck fuzz --real 4.9.7 --every-transition --instance tiny --faults ''
    halfcheck fuzz --mutants --json
    halfcheck fuzz --mutants --real 5.3.3
    """
    from fuzz.search.campaign import run_campaign
    from spec.constants import FAULTS

    refuse_a_file(out)
    if mutants:
        return _hunt(real, jar, seed, as_json=as_json)
    given = given_by(jar, real)
    release = real if given is None else given.release
    chosen = FAULTS if faults == EVERY_FAULT else tuple(names_in(faults))
    if every_transition:
        return _take_every_transition(_pairing(profile, release, given, chosen, instance), out, as_json=as_json)
    with (
        _pairing(profile, release, given, chosen, instance) as pairing,
        _progress_line(examples, wanted=not as_json) as report,
    ):
        campaign = run_campaign(
            pairing, examples=examples, steps=steps, random_seed=seed, visits_all=visit_all, report=report
        )
        _print(campaign, visited_all=visit_all, as_json=as_json)
    return _conclude(campaign.failure, out, pairing)


def _conclude(failure: FuzzFailure | None, out: Path | None, pairing: Pairing) -> ExitCode:
    """Write the test of a failure where one is wanted; the exit code."""
    from fuzz.search.campaign import write_test

    if failure is not None and out is not None:
        typer.echo(f"halfcheck: {write_test(out, pairing, failure)} shows it again", err=True)
    return ExitCode.of_verdict(is_broken=failure is not None, is_complete=True)


def _take_every_transition(made: AbstractContextManager[Pairing], out: Path | None, *, as_json: bool) -> ExitCode:
    from fuzz.broker_side.twin_process import twins_of
    from fuzz.lockstep.script import shortest
    from fuzz.search.transition_tour import tour

    words = "{task.completed:,} of {task.total:,} transitions"
    with (
        made as pairing,
        progress_bar("touring", words, wanted=not as_json, total=1) as update,
    ):
        done = tour(pairing, update and (lambda so_far: update(completed=so_far.taken, total=so_far.transitions)))
        if done.failure is not None:
            script, mismatch = shortest(pairing, done.failure.script, done.failure.mismatch)
            done.failure = replace(done.failure, script=script, mismatch=mismatch)
        twins = twins_of(pairing.make_process)
        if as_json:
            print_json(done.to_json() | {"real": None if twins is None else twins.to_json()})
        else:
            show(_tour(done, pairing, twins))
    return _conclude(done.failure, out, pairing)


def _tour(done: TransitionTour, pairing: Pairing, twins: TwinProcesses | None) -> Iterator[Part]:
    """How many transitions were taken by all, and which were left out."""
    from model_check.counterexample.steps import replay

    world = pairing.world
    if done.failure is None:
        yield Paragraph(_agreement(twins), Tone.TITLE)
    what = f"RocketMQ {pairing.release or world.profile} {world.environment.beside_a_profile}"
    yield Paragraph(
        f"{what}, instance {world.instance.name}: {done.taken:,} of {done.transitions:,} transitions taken, in "
        f"{done.steps:,} steps of {done.beginnings:,} schedules"
    )
    for action, count in sorted(done.left_out.items()):
        yield Paragraph(f"left out: {counted(count, 'transition')} of {action}, which the broker can't take alike")
    if twins is not None:
        yield from _of_the_real_classes(twins)
    if done.failure is not None:
        yield counterexample_table(replay(pairing.machine, pairing.constants, done.failure.script.steps).events)
        yield Paragraph(str(done.failure.mismatch), Tone.BAD)


@contextmanager
def _pairing(
    profile: str, release: str, given: GivenJar | None, faults: tuple[str, ...], instance: str
) -> Iterator[Pairing]:
    """The pair of a profile, or that of a release with its own classes, or those of a jar, beside the broker."""
    from fuzz.lockstep.pairing import Pairing

    if not release:
        yield Pairing.of(profile, faults, instance)
        return
    from conformance.java.real_classes import RealClasses
    from fuzz.broker_side.twin_process import TwinProcesses

    pairing = Pairing.of_release(release, faults, instance)
    with RealClasses(release, given) as real:
        yield replace(pairing, make_process=TwinProcesses(real))


def _print(campaign: Campaign, *, visited_all: bool, as_json: bool) -> None:
    if as_json:
        print_json(campaign.to_json())
    else:
        show(_outcome(campaign, visited_all=visited_all))


def _hunt(release: str, jar: Path | None, seed: int, *, as_json: bool) -> ExitCode:
    """Hunt all mutants, or with a release those of its broker beside its own classes, and print who killed them."""
    from fuzz.mutants import kill_table

    if jar is not None:
        message = f"--mutants --jar {jar}: the mutants are those of this project's broker; leave out --jar"
        raise CommandLineError(message)
    if release:
        kills = _hunted_beside_classes(release, seed)
    else:
        kills = [kill_table.hunt(mutant, random_seed=seed) for mutant in kill_table.MUTANTS]
    survivors = [kill.mutant.name for kill in kills if not kill.variable]
    if as_json:
        rows = [kill.to_json() for kill in kills]
        print_json({"seed": seed, "mutants": rows, "survivors": survivors})
    else:
        show(_table_of_kills(kills))
    return ExitCode.SAFETY_VIOLATED if survivors else ExitCode.OK


def _hunted_beside_classes(release: str, seed: int) -> list[HuntResult]:
    from conformance.java.real_classes import RealClasses
    from fuzz.broker_side.twin_process import TwinProcesses
    from fuzz.mutants.kill_table import hunt_beside
    from fuzz.mutants.of_the_broker import BROKER_MUTANTS

    releases = {mutant: mutant.world.profile.unturned for mutant in BROKER_MUTANTS}
    own = [mutant for mutant, of in releases.items() if of == release]
    if not own:
        there = ", ".join(sorted(set(releases.values())))
        message = f"--mutants --real {release}: no mutant of the broker is of that release; there are some of {there}"
        raise CommandLineError(message)
    with RealClasses(release) as real:
        return [hunt_beside(TwinProcesses(real), mutant, random_seed=seed) for mutant in own]


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
    twins = campaign.twins
    if campaign.failure is None:
        yield Paragraph(_agreement(twins), Tone.TITLE)
    yield Paragraph(
        f"RocketMQ {world.profile} {world.environment.beside_a_profile}, instance {world.instance.name}, "
        f"seed {campaign.random_seed}"
    )
    rate = done.steps / max(done.seconds, 1e-9)
    yield Paragraph(
        f"{done.examples:,} examples, {done.steps:,} steps of specification and broker; "
        f"{done.seconds:.1f} s, {rate:,.0f} steps/s"
    )
    if twins is not None:
        yield from _of_the_real_classes(twins)
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


def _agreement(twins: TwinProcesses | None) -> str:
    if twins is None:
        return "specification and broker agree"
    whose = f"RocketMQ's own classes of {twins.real.release}" if twins.real.given is None else twins.real.name
    return f"specification, reference broker and {whose} agree"


def _of_the_real_classes(twins: TwinProcesses) -> Iterator[Part]:
    """What was compared with them, and which schedules only up to a point."""
    yield Paragraph(
        f"{sum(twins.real.compared.values()):,} answers of {twins.real.name} compared, each with the new "
        "bytes of the log, the offsets, the ends of the queues, the op batch and the check requests"
    )
    if twins.real.borrowed:
        yield Paragraph(twins.real.borrowed)
    for operation, count in twins.left_at.most_common():
        yield Paragraph(
            f"{counted(count, 'schedule')} compared up to {operation}, which no order does to the real classes"
        )


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
