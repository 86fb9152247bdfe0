"""``halfcheck replay``: take the steps of a counterexample again, one by one, by the CPython engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from document.console import show
from document.parts import Paragraph, Tone
from document.words import counted
from halfcheck.errors import CommandLineError, ExitCode
from halfcheck.options import USUAL_PROFILE, AsJson, GivenJarOption, given_by, names_in, print_json, say_choice
from halfcheck.printing.counterexample import counterexample_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.java.given_jar import GivenJar
    from document.parts import Part
    from fuzz.lockstep.real_replays import RealReplay
    from model_check.counterexample.steps import Replay
    from model_check.world import World
    from spec.constants import Constants
    from spec.language import Step


def command(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="What `halfcheck check --json` printed.")] = None,
    *,
    steps: Annotated[
        str | None, typer.Option(help="The steps themselves: 'send_half t=0 immunity=-1; commit_locally t=0; …'.")
    ] = None,
    wanted: Annotated[
        str | None, typer.Option("--property", metavar="ID", help="Which counterexample of FILE: S1, S1.immune_half …")
    ] = None,
    profile: Annotated[
        str | None, typer.Option(help=f"The RocketMQ version ({USUAL_PROFILE}, or the one in FILE).")
    ] = None,
    instance: Annotated[
        str | None,
        typer.Option(help="The instance (the one in FILE, or the smallest in which the steps can be taken)."),
    ] = None,
    faults: Annotated[
        str | None, typer.Option(metavar="FAULT,…", help="The environment (quiet, or the one in FILE).")
    ] = None,
    real: Annotated[
        str,
        typer.Option(
            metavar="RELEASE", help="Take the steps on RocketMQ's own classes of a release, too (wants Maven)."
        ),
    ] = "",
    jar: GivenJarOption = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Replay a counterexample and show, step by step, what changed and what is violated at its end.

    The CPython engine takes the steps, where every guard and every field's range is checked. Another profile or
    environment than the counterexample's shows where its guards refuse it. The exit code is 12 when a property is
    violated, 0 when none is, 151 when a step is refused, 150 when a run for ever has a cycle that does not lead back.
    With --real, RocketMQ's own classes take the steps beside; where they do otherwise, the exit code is 12, too.

    Examples
    --------
    halfcheck replay counterexample.json --property S10
    halfcheck replay --instance tiny --faults crash --steps "send_half t=0 immunity=-1; roll_back_locally t=0; crash"
    halfcheck replay counterexample.json --property S1.immune_half --real 5.5.1
    halfcheck replay counterexample.json --jar broker/target/rocketmq-broker-5.5.1-SNAPSHOT.jar
    """
    from model_check.counterexample.steps import read_path, replay
    from model_check.counterexample.trace_file import read_trace_file
    from model_check.counterexample.unfolded import with_room_for
    from model_check.releases import profile_for

    if (file is None) == (steps is None):
        message = "give either FILE or --steps; see halfcheck replay --help"
        raise CommandLineError(message)
    given = None if file is None else read_trace_file(file, wanted)
    on_given = given_by(jar, real)
    release = real if on_given is None else on_given.release
    text = steps or "" if given is None else given.path
    if release and profile is None:
        profile = profile_for(release, with_switches=True)[0]
    world = _world(None if given is None else given.world, profile, instance, faults, text)
    constants = world.on(with_room_for(world.instance, text)).constants
    path = read_path(world.machine, constants, text)
    replayed = replay(world.machine, constants, path)
    _require_closed(file, constants, path, None if given is None else given.loop)
    roomy = world.on(with_room_for(world.instance, text))
    on_classes = _on_real_classes(release, on_given, roomy, path) if release else None
    if as_json:
        content: dict[str, object] = {
            "profile": world.profile.name,
            "faults": list(world.environment),
            "instance": world.instance.name,
            "violated": _names_of_violated(replayed),
            "trace": [event.to_json() for event in replayed.events],
        }
        print_json(content if on_classes is None else content | {"real": on_classes.to_json()})
    else:
        where = f"{world.profile} {world.environment.beside_a_profile}, instance {world.instance.name}"
        _print(replayed, f"RocketMQ {where}")
        if on_classes is not None:
            show(_in_words(on_classes, len(path)))
    does_otherwise = on_classes is not None and on_classes.is_different
    return ExitCode.SAFETY_VIOLATED if replayed.violated or does_otherwise else ExitCode.OK


def _on_real_classes(release: str, given: GivenJar | None, world: World, path: Sequence[Step]) -> RealReplay:
    from conformance.java.real_classes import RealClasses
    from fuzz.lockstep.real_replays import replay_on

    with RealClasses(release, given) as classes:
        return replay_on(classes, world, path)


def _in_words(replay: RealReplay, steps: int) -> Iterator[Part]:
    """What the real classes did with the steps."""
    if replay.is_different:
        yield Paragraph(f"{replay.whose} does otherwise: {replay.reason}", Tone.BAD)
    elif replay.steps < steps or replay.reason:
        yield Paragraph(f"{replay.whose}: {replay.steps} of {counted(steps, 'step')} taken; {replay.reason}")
    else:
        yield Paragraph(f"{_in_full(replay)} take all of it: {counted(steps, 'step')}")
    for transaction, places in replay.delivered:
        listed = ", ".join(map(str, places))
        yield Paragraph(f"transaction {transaction} is delivered {len(places)} times: at {listed} in the commit log")


def _in_full(replay: RealReplay) -> str:
    is_published = replay.whose.endswith(replay.release)
    return f"RocketMQ's own classes of {replay.release}" if is_published else f"the classes of {replay.whose}"


def _world(given: World | None, profile: str | None, instance: str | None, faults: str | None, text: str) -> World:
    """Where the steps are taken: what the options say, or else the file; or the smallest instance that takes them."""
    from model_check.counterexample.steps import instance_that_takes
    from model_check.instances import load_instance
    from model_check.world import Environment, Profile, World

    release = Profile.of(profile or USUAL_PROFILE) if profile or given is None else given.profile
    environment = Environment.of(names_in(faults or "")) if faults is not None or given is None else given.environment
    if instance:
        size = load_instance(instance)
    elif given is not None:
        size = given.instance
    else:
        size = instance_that_takes(release, environment, text)
        say_choice(size, "the smallest in which the steps can be taken")
    return World(release, environment, size)


def _require_closed(file: Path | None, constants: Constants, path: Sequence[Step], loop: int | None) -> None:
    """Refuse a run for ever whose cycle does not lead back."""
    from model_check.errors import BadFile
    from model_check.liveness.lasso import what_does_not_close
    from spec.transactional_messages import TRANSACTIONAL_MESSAGES

    differences = () if loop is None else what_does_not_close(TRANSACTIONAL_MESSAGES, constants, path, loop)
    if differences:
        message = f"{file}: the steps behind step {loop} are no cycle: {differences[0]}; give a lasso that closes"
        raise BadFile(message)


def _names_of_violated(replayed: Replay) -> list[str]:
    return [f"{clause.identifier}.{clause.clause}" for clause in replayed.violated]


def _print(replayed: Replay, where: str) -> None:
    violated = _names_of_violated(replayed)
    verb = "is" if len(violated) == 1 else "are"
    verdict = f"{', '.join(violated)} {verb} violated" if violated else "no property is violated"
    title = f"{where}, {counted(len(replayed.events), 'step')}: {verdict}"
    claims = [
        Paragraph(f"{name} is violated: {clause.sentence}")
        for name, clause in zip(violated, replayed.violated, strict=True)
    ]
    show([Paragraph(title, Tone.TITLE), counterexample_table(replayed.events), *claims])
