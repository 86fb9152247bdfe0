"""``halfcheck export``: the specification for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from halfcheck.check.liveness import are_responses
from halfcheck.options import USUAL_PROFILE, Faults, Profile, Properties, choose_instance, names_in


def command(
    *,
    tla: Annotated[
        Path, typer.Option("--tla", metavar="DIR", help="Write a TLA+ module and a configuration of TLC here.")
    ],
    profile: Profile = USUAL_PROFILE,
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
    gives; but instances that forget have a module of their own. TLC reaches exactly the states that ``halfcheck check``
    reaches. An export that is in the folder is replaced; other files are left alone.

    Responses (P1 to P9, or --instance endless without a --property) have a third module, with temporal formulas.

    Examples
    --------
    halfcheck export --tla build/tla
    halfcheck export --tla build/tla --profile 4.9.7 --instance tiny --faults crash
    halfcheck export --tla build/tla --profile 5.3.3 --instance tiny --property S1.immune_half
    halfcheck export --tla build/tla --profile 4.5.1 --instance lasting --property S9
    halfcheck export --tla build/tla --profile 5.3.3 --instance endless --property P5.at_one_moment
    """
    from model_check.check import chosen_clauses
    from model_check.instances import constants_for, load_instance
    from model_check.liveness.check import USUAL_INSTANCES, chosen_responses, require_endless_runs
    from model_check.tla.files import write_export
    from model_check.tla.module import export, export_responses
    from model_check.wording.faults import in_world
    from spec.transactional_messages import TRANSACTIONAL_MESSAGES as MACHINE

    chosen, named = names_in(faults), properties or []
    of_endless_runs = are_responses(named)
    if instance is None and of_endless_runs:
        instance = USUAL_INSTANCES[0]
    elif instance is None:
        instance = choose_instance(profile, chosen, named, "as the configuration is of one")
    sizes = load_instance(instance)
    constants = constants_for(profile, chosen, sizes)
    about = f"RocketMQ {profile} {in_world(chosen)}, instance {constants.name}"
    if of_endless_runs or (sizes.endless and not named):
        require_endless_runs(sizes)
        exported = export_responses(MACHINE, constants, chosen_responses(MACHINE, named), about)
    else:
        exported = export(MACHINE, constants, chosen_clauses(MACHINE, named), about)
    for path in write_export(exported, tla):
        print(path)
