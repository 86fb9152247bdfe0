"""Which schedules a probe is to play: scenarios, steps, walks, and counterexamples of the table of verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from halfcheck.errors import CommandLineError
from halfcheck.options import names_in
from halfcheck.verdicts.files import VerdictFiles
from model_check.clauses import name_of
from model_check.counterexample.steps import read_path, write_path
from model_check.counterexample.unfolded import with_room_for
from model_check.instances import load_instance, refuse_crowd
from model_check.world import Environment, Profile, World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from wire.probe.scenarios import SCENARIOS, scenario_called
from wire.probe.staging import CannotStageError, plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from halfcheck.commands.probe import ProbeOptions
    from model_check.verdicts.counterexamples import MinimalCounterexample
    from wire.probe.orders import Order, ProbePlan

_USUAL = "outcomes"
_STEPS_OF_A_WALK = 40


@dataclass(frozen=True, slots=True)
class Schedule:
    """One schedule to play, with its story or its steps, and the order without which the story is another one."""

    name: str
    story: str
    plan: ProbePlan
    turn: Order | None = None


def plan_of(profile: Profile, one: MinimalCounterexample) -> ProbePlan:
    """The orders of a counterexample; raises `CannotStageError` where a client cannot bring it about."""
    return _plan(one.world(profile), one.steps)


def schedules(options: ProbeOptions, profile: Profile) -> Iterator[Schedule]:
    """The schedules that the options ask for, in their order.

    Raises
    ------
    CannotStageError, UnknownScenarioError, CommandLineError, ModelCheckError
        Some of it is not there, or cannot be brought about by a client.
    """
    yield from _counterexamples_called(options.counterexample or (), profile)
    world = World(profile, Environment.of(names_in(options.faults)), load_instance(options.instance))
    refuse_crowd(world.instance, "no client takes steps of theirs")
    if options.steps is not None:
        roomy = world.on(with_room_for(world.instance, options.steps))
        yield Schedule("steps", options.steps, _plan(roomy, options.steps))
    yield from _walks(options, world)
    is_usual = not (options.counterexample or options.steps or options.walks or options.examples)
    for name in options.scenario or ([_USUAL] if is_usual else []):
        asked = scenario_called(name)
        yield Schedule(name, SCENARIOS[name].story, asked, SCENARIOS[name].turn)


def _counterexamples_called(names: list[str] | tuple[str, ...], profile: Profile) -> Iterator[Schedule]:
    for clause in names:
        known = [each for each in VerdictFiles().counterexamples(profile) if name_of(each.clause) == clause]
        if not known:
            message = (
                f"--counterexample {clause}: the table of verdicts has none of it for {profile}; see docs/generated"
            )
            raise CommandLineError(message)
        why = ""
        for each in known:
            try:
                yield Schedule(clause, f"{each.environment.name}: {each.steps}", plan_of(profile, each))
                break
            except CannotStageError as error:
                why = str(error)
        else:
            msg = f"--counterexample {clause}: {why}"
            raise CannotStageError(msg)


def _walks(options: ProbeOptions, world: World) -> Iterator[Schedule]:
    """Walks that a client can play; of the others the part up to the first step that it cannot."""
    if not options.walks:
        return
    from model_check.walks.walk import Walker

    walker = Walker(world, "weighted")
    for number in range(options.walks):
        path = list(walker.path(options.seed, number, _STEPS_OF_A_WALK))
        while True:
            try:
                yield Schedule(f"walk {number}", write_path(path), plan(world.constants, path))
                break
            except CannotStageError:
                path.pop()


def _plan(world: World, steps: str) -> ProbePlan:
    return plan(world.constants, read_path(TRANSACTIONAL_MESSAGES, world.constants, steps))
