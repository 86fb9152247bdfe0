"""``halfcheck check``: which guarantees a version gives, and the shortest counterexample to the others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from halfcheck.errors import CommandLineError, ExitCode
from halfcheck.options import (
    AsJson,
    Everything,
    Faults,
    InstanceName,
    MostStates,
    Properties,
    Release,
    Write,
    asked_aloud,
    environment_of,
    instances_of,
    print_json,
    say_choice,
    written_in,
)
from halfcheck.printing.progress import live_line, portfolio_progress, search_progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.answers.answer import Answer
    from model_check.answers.minimal_repairs import LeftOfRepairs
    from model_check.explicit.state_store.resources import Resources
    from model_check.question import Question
    from model_check.world import Asked
    from spec.constants import Instance

COMPILED: Final = "numba"
"""The engine that is asked unless another one is named."""

NO_DISK: Final = "none"
Z3_STEPS: Final = 20


def command(
    *,
    profile: Release = None,
    faults: Faults = "",
    instance: InstanceName = None,
    properties: Properties = None,
    engine: Annotated[
        str,
        typer.Option(
            help="numba; fingerprints, which keeps a hash of 64 bits for each state and says how likely a miss is; "
            "cpython, the slow judge; or z3, bounded model checking, of 20 steps (z3:30 of 30)."
        ),
    ] = COMPILED,
    threads: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="Threads of the compiled search: 1 for an --instance, else all processors."),
    ] = None,
    max_states: MostStates = None,
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Memory for states and hash table, such as 8G. Nothing: what is available."),
    ] = None,
    disk: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Where states go when memory ends; none: stop then. Nothing: a temporary folder."
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Save the search there now and then, and when it ends.")
    ] = None,
    checkpoint_every: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="How often the search is saved.")
    ] = 60.0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from what --checkpoint DIR holds.")] = False,
    write: Write = None,
    everything: Everything = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Search every reachable state of the specification and give a verdict on each property.

    A property is violated as soon as one instance of a portfolio breaks it, with the shortest counterexample;
    it holds, to the bounds of the instances, if none does; it is unknown where a search was cut short. What is broken
    stands first, gravest first, with what it means to a message and what to do. What the faults and messages of the
    instances cannot break is counted apart. --instance asks one instance alone.

    The exit code is 12 when a property is violated, 0 when none is, 255 when a search was cut short and found no
    violation, 130 when it was interrupted and found none. With --instance it speaks of that instance, also where the
    answer says that another one breaks a property.

    Examples
    --------
    halfcheck check --profile 5.3.3
    halfcheck check --profile 5.4.0 --faults crash --all
    halfcheck check --profile 5.4.0 --faults slow_local,lose_end --threads 2 --json
    halfcheck check --instance medium --faults crash --threads 2 --memory 8G --checkpoint DIR --resume
    halfcheck check --instance tiny --property S1.immune_half --engine z3:15
    halfcheck check --instance tiny --property S1.immune_half --write b01.itf.json --write b01.svg --write test_b01.py
    """
    from model_check.answers.counterexample_files import WrittenFiles, write_files
    from model_check.clauses import chosen_clauses

    files = written_in(write)
    resources = _resources(engine, memory, disk, checkpoint, checkpoint_every, resume=resume)
    asked = asked_aloud(profile)
    environment, clauses, sizes = environment_of(faults), chosen_clauses(properties or ()), instances_of(instance)
    why = _why_one_instance(engine, checkpoint)
    if sizes or why:
        from model_check.answers.chosen_instances import instance_that_shows
        from model_check.question import Question
        from model_check.world import World

        (size,) = sizes or (instance_that_shows(asked.profile, environment, clauses),)
        question = Question(world=World(asked.profile, environment, size), clauses=clauses, most_states=max_states)
        answer = _of_one(question, engine, asked, threads or 1, resources, wanted=not as_json)
        if not sizes:
            say_choice(size, why, properties or ())
    else:
        from model_check.answers.answer import search_portfolio

        with portfolio_progress(asked.profile.name, wanted=not as_json) as report:
            answer = search_portfolio(
                asked.profile,
                environment,
                clauses=clauses,
                threads=threads,
                most_states=max_states,
                resources=resources,
                report=report,
                release=asked.stood_for,
            )
    if files != WrittenFiles() and not answer.broken:
        typer.echo("halfcheck: no property is violated, so no counterexample is written", err=True)
    elif files != WrittenFiles():
        write_files(min(answer.broken, key=lambda row: row.depth), files)
    is_whole = engine == COMPILED and max_states is None and not answer.is_interrupted
    left = left_of(answer, sizes, threads, wanted=not as_json) if is_whole else []
    _print(answer, left, everything=everything, as_json=as_json)
    code = ExitCode.of_verdict(is_broken=bool(answer.broken), is_complete=answer.whole.numbers.complete)
    return ExitCode.INTERRUPTED if code is ExitCode.OTHER and answer.is_interrupted else code


def _resources(
    engine: str, memory: str | None, disk: str | None, checkpoint: Path | None, every: float, *, resume: bool
) -> Resources:
    from model_check.explicit.state_store.reserved_memory import bytes_of
    from model_check.explicit.state_store.resources import EXACT, Resources

    return Resources(
        memory=None if memory is None else bytes_of(memory),
        disk=None if disk in (None, NO_DISK) else Path(disk),
        spill=disk != NO_DISK,
        checkpoint=checkpoint,
        checkpoint_every=every,
        resume=resume,
        fingerprint_bits=64 if engine == "fingerprints" else EXACT,
    )


def _why_one_instance(engine: str, checkpoint: Path | None) -> str:
    """The option for which the question needs one instance; empty if the portfolio can be asked."""
    if engine not in (COMPILED, "fingerprints"):
        return f"as --engine {engine} searches one"
    return "" if checkpoint is None else "as --checkpoint keeps the search of one"


def _of_one(
    question: Question, named: str, asked: Asked, threads: int, resources: Resources, *, wanted: bool
) -> Answer:
    """The answer of one search, by the engine of a name."""
    from dataclasses import replace

    from model_check.answers.answer import answer_of
    from model_check.check import check
    from model_check.did_you_mean import require_known
    from model_check.engines import ENGINES

    name, _, steps = named.partition(":")
    engines = {**ENGINES, "fingerprints": ENGINES[COMPILED]}
    require_known("engine", name, engines)
    if steps and (engines[name].counts_states or not steps.isdecimal()):
        message = f"--engine {named}: expected z3:30, with a number of steps, or the name of an engine alone"
        raise CommandLineError(message)
    question = replace(question, most_steps=int(steps or Z3_STEPS))
    with search_progress(f"{asked.profile} {question.world.instance.name}", wanted=wanted) as report:
        found = check(question, engines[name], threads=threads, report=report, resources=resources)
    numbers, most = found.numbers, question.most_states or 0
    is_at_its_bound = not engines[name].counts_states or 0 < most <= numbers.distinct
    return answer_of(found, is_interrupted=not numbers.complete and not is_at_its_bound, release=asked.stood_for)


def left_of(answer: Answer, instances: Sequence[Instance], threads: int | None, *, wanted: bool) -> list[LeftOfRepairs]:
    """The remains of the clauses that turned switches repair; Ctrl-C ends it with those found until then."""
    from model_check.answers.minimal_repairs import left_of_repairs

    left: list[LeftOfRepairs] = []
    for row in answer.broken if answer.whole.world.profile.turned else ():
        try:
            with live_line("looking for repairs", wanted=wanted) as report:
                one = left_of_repairs(row, answer.whole.world, instances=instances, threads=threads, report=report)
        except KeyboardInterrupt:
            typer.echo(f"halfcheck: interrupted: it was not searched what else {row.name} takes", err=True)
            break
        left += [] if one is None else [one]
    return left


def _print(answer: Answer, left: Sequence[LeftOfRepairs], *, everything: bool, as_json: bool) -> None:
    if as_json:
        content = {**answer.to_json(), "left": {one.name: one.to_json() for one in left}}
        print_json(content)
        return
    from halfcheck.printing.check import print_answer

    print_answer(answer, [str(one) for one in left], everything=everything)
