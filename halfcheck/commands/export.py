"""``halfcheck export``: the specification for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from halfcheck.errors import CommandLineError
from halfcheck.options import USUAL_PROFILE, Faults, ProfileName, Properties, names_in, say_choice


def command(
    *,
    tla: Annotated[
        Path, typer.Option("--tla", metavar="DIR", help="Write a TLA+ module and a configuration of TLC here.")
    ],
    profile: ProfileName = USUAL_PROFILE,
    instance: Annotated[
        str | None,
        typer.Option(
            help="How large: tiny, patient, odd, skewed, deep, small, trio, medium, large, shared, or a .toml file. "
            "Nothing: the one that shows most of what is asked for."
        ),
    ] = None,
    faults: Faults = "",
    properties: Properties = None,
) -> None:
    """Write the specification as a TLA+ module, and a configuration that TLC runs as it is.

    The module is the same for all versions, environments and instances: they are constants, which the configuration
    gives; but instances that forget have a module of their own, and so have those of one transaction among others. TLC
    reaches exactly the states that ``halfcheck check`` reaches; what it finds violated among others may be so in no
    broker. An export that is in the folder is replaced; other files are left alone.

    Responses (P1 to P9, or --instance endless without a --property) have a third module, with temporal formulas.

    Examples
    --------
    halfcheck export --tla build/tla
    halfcheck export --tla build/tla --profile 4.9.7 --instance tiny --faults crash
    halfcheck export --tla build/tla --profile 5.3.3 --instance tiny --property S1.immune_half
    halfcheck export --tla build/tla --profile 4.5.1 --instance lasting --property S9
    halfcheck export --tla build/tla --profile 5.3.3 --instance endless --property P5.at_one_moment
    """
    from model_check.answers.chosen_instances import instance_that_shows
    from model_check.clauses import chosen_clauses
    from model_check.instances import load_instance
    from model_check.liveness.check import USUAL_INSTANCES, chosen_responses, require_endless_runs
    from model_check.tla.module import export, export_responses, write_export
    from model_check.world import Environment, Profile, World

    chosen, environment, named = Profile.of(profile), Environment.of(names_in(faults)), properties or []
    of_endless_runs = _are_responses(named)
    if instance is not None:
        size = load_instance(instance)
    elif of_endless_runs:
        size = load_instance(USUAL_INSTANCES[0])
    else:
        size = instance_that_shows(chosen, environment, chosen_clauses(named))
        say_choice(size, "as the configuration is of one", named)
    world = World(chosen, environment, size)
    about = f"RocketMQ {profile} {environment.beside_a_profile}, instance {size.name}"
    about += ": one transaction among any number of others" if world.is_crowded else ""
    if of_endless_runs or (size.endless and not named):
        require_endless_runs(size)
        exported = export_responses(world.machine, world.constants, chosen_responses(world.machine, named), about)
    else:
        exported = export(world.machine, world.constants, chosen_clauses(named), about)
    for path in write_export(exported, tla):
        print(path)


def _are_responses(names: list[str]) -> bool:
    """Whether responses are named; raises `CommandLineError` where properties of states are named, too."""
    from model_check.liveness.check import is_response
    from spec.transactional_messages import TRANSACTIONAL_MESSAGES

    others = [name for name in names if not is_response(TRANSACTIONAL_MESSAGES, name)]
    if others and len(others) < len(names):
        message = f"--property {others[0]} is no response, and speaks of states: ask for it in a command of its own"
        raise CommandLineError(message)
    return len(others) < len(names)
