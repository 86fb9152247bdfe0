"""``halfcheck export``: the specification for other tools."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads the annotations when it runs
from typing import Annotated

import typer


def command(
    *,
    tla: Annotated[
        Path, typer.Option("--tla", metavar="DIR", help="Write a TLA+ module and a configuration of TLC here.")
    ],
    profile: Annotated[
        str, typer.Option(help="4.5.1, 4.9.7, 5.3.3 or 5.4.0; +NAME or -NAME turns a switch.")
    ] = "5.3.3",
    instance: Annotated[
        str | None,
        typer.Option(
            help="How large: tiny, patient, odd, skewed, deep, small, trio, medium, large, shared, or a .toml file. "
            "Nothing: the one that shows most of what is asked for."
        ),
    ] = None,
    faults: Annotated[
        str, typer.Option(metavar="FAULT,…", help="What may go wrong, for example crash,lose_end. Nothing: quiet.")
    ] = "",
    properties: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="ID", help="S1, or one clause: S1.immune_half. May be repeated."),
    ] = None,
) -> None:
    """Write the specification as a TLA+ module, and a configuration that TLC runs as it is.

    The module is the same for all versions, environments and instances: they are constants, which the configuration
    gives. TLC reaches exactly the states that ``halfcheck check`` reaches. An export that is in the folder is replaced;
    other files are left alone.

    Examples
    --------
    halfcheck export --tla build/tla
    halfcheck export --tla build/tla --profile 4.9.7 --instance tiny --faults crash
    halfcheck export --tla build/tla --profile 5.3.3 --instance tiny --property S1.immune_half
    """
    from model_check.check import chosen_clauses
    from model_check.instances import constants_for
    from model_check.tla.files import write_export
    from model_check.tla.module import export
    from spec.transactional_messages import TRANSACTIONAL_MESSAGES

    chosen = [name for name in (part.strip() for part in faults.split(",")) if name]
    if instance is None:
        from halfcheck.check.chosen_instance import choose_instance

        instance = choose_instance(profile, chosen, properties or (), "as the configuration is of one")
    constants = constants_for(profile, chosen, instance)
    clauses = chosen_clauses(TRANSACTIONAL_MESSAGES, properties or ())
    world = f"with {', '.join(chosen)}" if chosen else "in the quiet world"
    about = f"RocketMQ {profile} {world}, instance {constants.name}"
    for path in write_export(export(TRANSACTIONAL_MESSAGES, constants, clauses, about), tla):
        print(path)
