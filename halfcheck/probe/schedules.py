"""Which schedules a probe is to play: scenarios, steps, walks, and counterexamples of the table of verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from halfcheck.errors import CommandLineError
from halfcheck.options import names_in
from halfcheck.verdicts.files import VerdictFiles
from model_check.counterexample.steps import read_path, write_path
from model_check.counterexample.unfolded import with_room_for
from model_check.instances import constants_for, load_instance
from model_check.verdicts.counterexamples import MinimalCounterexample, read_counterexamples
from model_check.verdicts.environment import name_of
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from wire.probe.scenarios import SCENARIOS, scenario_called
from wire.probe.staging import CannotStageError, plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from halfcheck.probe.probe_options import ProbeOptions
    from spec.constants import Constants
    from wire.probe.orders import Plan

_USUAL = "outcomes"
_STEPS_OF_A_WALK = 40


@dataclass(frozen=True, slots=True)
class Schedule:
    """One schedule to play.

    Attributes
    ----------
    name, story
        What it is called, and what happens in it or its steps.
    """

    name: str
    story: str
    plan: Plan


def counterexamples(profile: str) -> list[MinimalCounterexample]:
    """All that the table of verdicts has for a profile."""
    return [each for each in read_counterexamples(VerdictFiles().schedules)[0] if profile in each.profiles]


def plan_of(profile: str, one: MinimalCounterexample) -> Plan:
    """The orders of a counterexample.

    Raises
    ------
    CannotStageError
        A client cannot bring it about.
    """
    return _plan_of(profile, one.faults, one.instance, one.steps)


def schedules(options: ProbeOptions, profile: str) -> Iterator[Schedule]:
    """What the options ask for, in their order.

    Raises
    ------
    CannotStageError, UnknownScenarioError, CommandLineError, ModelCheckError
        Some of it is not there, or cannot be brought about by a client.
    """
    yield from _counterexamples_called(options.counterexample or (), profile)
    if options.steps is not None:
        faults = tuple(names_in(options.faults))
        yield Schedule("steps", options.steps, _plan_of(profile, faults, options.instance, options.steps))
    yield from _walks(options, profile)
    is_usual = not (options.counterexample or options.steps or options.walks or options.examples)
    for name in options.scenario or ([_USUAL] if is_usual else []):
        asked = scenario_called(name)
        yield Schedule(name, SCENARIOS[name].story, asked)


def _counterexamples_called(clauses: list[str] | tuple[str, ...], profile: str) -> Iterator[Schedule]:
    for clause in clauses:
        known = [each for each in counterexamples(profile) if each.clause == clause]
        if not known:
            message = (
                f"--counterexample {clause}: the table of verdicts has none of it for {profile}; see docs/generated"
            )
            raise CommandLineError(message)
        why = ""
        for each in known:
            try:
                yield Schedule(clause, f"{name_of(each.faults)}: {each.steps}", plan_of(profile, each))
                break
            except CannotStageError as error:
                why = str(error)
        else:
            msg = f"--counterexample {clause}: {why}"
            raise CannotStageError(msg)


def _walks(options: ProbeOptions, profile: str) -> Iterator[Schedule]:
    """Walks that a client can play; of the others the part up to the first step that it cannot."""
    if not options.walks:
        return
    from model_check.walks.walk import Walker

    faults = tuple(names_in(options.faults))
    walker = Walker(profile, faults, options.instance, "weighted")
    constants = constants_for(profile, faults, options.instance)
    for number in range(options.walks):
        path = list(walker.path(options.seed, number, _STEPS_OF_A_WALK))
        while True:
            try:
                yield Schedule(f"walk {number}", write_path(path), plan(constants, path))
                break
            except CannotStageError:
                path.pop()


def _plan_of(profile: str, faults: tuple[str, ...], instance: str, steps: str) -> Plan:
    constants = constants_of(profile, faults, instance, steps)
    return plan(constants, read_path(TRANSACTIONAL_MESSAGES, constants, steps))


def constants_of(profile: str, faults: tuple[str, ...], instance: str, steps: str) -> Constants:
    """Those in which steps can be taken: an instance with as much room as they need."""
    return constants_for(profile, faults, with_room_for(load_instance(instance), steps))
