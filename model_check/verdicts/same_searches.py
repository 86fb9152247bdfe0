"""Searches that would find the same again: faults that do nothing, and profiles that do the same in an environment.

With the constants folded into the source, a switch matters only where a live action or a claim still asks about it. An
action that some conjunct rules out is not live: a version without op batches does not care how they are lost. The
answers are on the safe side: what is not named here may still be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import fields, replace
from functools import cache, partial
from itertools import product
from typing import TYPE_CHECKING

from model_check.front_end.lower import Lowering
from model_check.front_end.terms import FALSE, Expression, LoweredAction, Switch, parts
from model_check.world import ALL_FAULTS, NO_FAULTS, Environment, Profile, World
from spec.constants import FAULTS, Instance
from spec.switches import Switches

if TYPE_CHECKING:
    from spec.language import Machine, Property, Step


@cache
def idle_faults(machine: Machine, profile: Profile, instance: Instance) -> tuple[str, ...]:
    """The faults that do nothing in the profile and the instance, whatever else goes wrong, in their order."""
    constants = World(profile, NO_FAULTS, instance).constants
    asked = {name for _, names in _askers(machine, constants, FAULTS) for name in names}
    return tuple(fault for fault in FAULTS if fault not in asked)


def of_the_oldest_profile(world: World) -> World:
    """The same world in the oldest profile that does the same there: what is found of one holds for the other."""
    for older in Profile.all():
        if older.name == world.profile.unturned:
            break
        if _do_the_same(same := older.turn(*world.profile.turned), world):
            return world.in_profile(same)
    return world


def _do_the_same(older: Profile, world: World) -> bool:
    one, other = older.switches, world.profile.switches
    names = tuple(field.name for field in fields(Switches) if getattr(one, field.name) != getattr(other, field.name))
    return not names or any(fault not in world.environment for fault in faults_that_show(names, older, world.instance))


@cache
def faults_that_show(switches: tuple[str, ...], profile: Profile, instance: Instance) -> tuple[str, ...]:
    """The faults without any one of which nothing asks about some switches of a profile; none if the quiet world does.

    Examples
    --------
    >>> from model_check.instances import load_instance
    >>> faults_that_show(("resets_lower_end",), Profile.of("5.5.0"), load_instance("tiny"))
    ('role_change', 'retention')
    """

    def askers(environment: Environment, first: Collection[str] = ()) -> Iterator[str]:
        world = World(profile, environment, instance)
        return (name for name, _ in _askers(world.machine, world.constants, switches, first))

    if any(askers(NO_FAULTS)):
        return ()
    with_all = tuple(askers(ALL_FAULTS))  # without one of them, most still ask: the first of them is enough
    return tuple(fault for fault in FAULTS if not any(askers(Environment(f for f in FAULTS if f != fault), with_all)))


def _askers(
    machine: Machine, constants: object, switches: tuple[str, ...], first: Collection[str] = ()
) -> Iterator[tuple[str, set[str]]]:
    """The live actions and the claims that still ask about some switches, all other constants folded, and which ones.

    `first` come first.
    """
    lowering = Lowering(replace(machine, switches=switches), constants)

    def of_action(step: Step) -> tuple[LoweredAction, ...]:
        action = lowering.action(step)
        return () if any(conjunct.condition == FALSE for conjunct in action.guard) else (action,)

    def of_claim(claim: Property) -> tuple[Expression, ...]:
        choices = product(*(choice.values(constants) for choice in claim.parameters.values()))
        return tuple(lowering.claim(claim, arguments) for arguments in choices)

    asking: dict[str, Callable[[], tuple[LoweredAction | Expression, ...]]] = {
        **{str(step): partial(of_action, step) for step in machine.steps(constants)},
        **{f"claim {n}": partial(of_claim, claim) for n, claim in enumerate((*machine.clauses, *machine.witnesses))},
    }
    for name in dict.fromkeys((*first, *asking)):
        if name in asking and (
            asked := {part.name for part in parts(asking[name](), once=True) if isinstance(part, Switch)}
        ):
            yield name, asked
