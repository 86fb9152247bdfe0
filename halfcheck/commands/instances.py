"""``halfcheck instances``: the instances that come with the specification, and how wide a state of one is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from document.console import show
from document.parts import Paragraph, tabulated
from halfcheck.options import AsJson, Release, asked_aloud

if TYPE_CHECKING:
    from model_check.world import Profile
    from spec.constants import Instance


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="An instance, NAME@TxHxO with other sizes, or a .toml file.")
    ] = None,
    *,
    profile: Release = None,
    as_json: AsJson = False,
) -> None:
    """List the instances, or say how wide a state of one is: a row a field.

    Examples
    --------
    halfcheck instances
    halfcheck instances medium --profile 4.9.7
    halfcheck instances small@2x4x3 --json
    """
    if name is None:
        _list(as_json=as_json)
    else:
        _measure(name, asked_aloud(profile).profile, as_json=as_json)


def _list(*, as_json: bool) -> None:
    from model_check.instances import instance_names, load_instance

    sizes = [load_instance(name) for name in instance_names()]
    if as_json:
        print(json.dumps({size.name: _to_json(size) for size in sizes}, indent=2))
        return
    rows = []
    for size in sizes:
        immunities = ", ".join("none" if ticks < 0 else str(ticks) for ticks in size.immunities)
        runs = "of any length" if size.forgets else "until the queues are full"
        runs += ", among others" if size.crowded else ""
        counts = (size.transactions, size.half_slots, size.op_slots, size.check_max, size.timeout)
        rows.append((size.name, *counts, immunities, runs))
    counted = (">transactions", ">half slots", ">op slots", ">checks", ">timeout")
    show([tabulated("instance", *counted, "immunities", "~runs", rows=rows)])


def _to_json(size: Instance) -> dict[str, Any]:
    from dataclasses import asdict

    return {field: value for field, value in asdict(size).items() if field != "name"}


def _measure(name: str, profile: Profile, *, as_json: bool) -> None:
    from model_check.explicit.code_generation.packing import state_width
    from model_check.world import World

    world = World.of(profile, (), name)
    measured = state_width(world.machine, world.constants)
    if as_json:
        print(json.dumps(measured.to_json(), indent=2))
        return
    rows = [(field.name, field.low, field.high, field.elements, field.bits) for field in measured.fields]
    sums = f"{measured.bits} bits in {measured.words} words of 64, {measured.unused} unused"
    steps = Paragraph(f"{sums}; {measured.steps} steps are tried on each state")
    show([tabulated("field", ">from", ">to", ">elements", ">bits", rows=rows), steps])
