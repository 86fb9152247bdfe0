"""Counterexamples in the Informal Trace Format (Apalache ADR-015): one JSON file that other tools read.

Integers are `{"#bigint": "…"}`, sets `{"#set": […]}`, records and arrays are JSON's own. Each state but the first says
by which action it was reached (`mbt::actionTaken`) and with which parameters (`mbt::nondetPicks`, a plain record; an
action without parameters has none in it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from model_check.errors import BadFile
from spec.language import Bits, Kind, MachineState, Slot, Step, take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from model_check.world import World

ACTION = "mbt::actionTaken"
PICKS = "mbt::nondetPicks"
ORIGIN = "halfcheck"
"""The key in `#meta` under which the profile, the faults and the instance stand."""


def to_itf(world: World, path: Sequence[Step], description: str) -> dict[str, Any]:
    """The states along a path.

    Parameters
    ----------
    world
        Where it is; its names are what is needed to take it again.
    path
        Steps that the guards allow one after the other.
    description
        What the trace shows, for `#meta`.
    """
    constants = world.constants
    origin = {
        "profile": world.profile.name,
        "faults": list(world.environment),
        "instance": world.instance.name,
    }
    state = TRANSACTIONAL_MESSAGES.initial(constants)
    states = [{"#meta": {"index": 0}, **_tree(state), ACTION: "init", PICKS: {}}]
    for index, step in enumerate(path, start=1):
        refused = take(state, constants, step)
        if refused is not None:
            message = f"step {index}, {step}, is refused: {refused.rule}"
            raise AssertionError(message)
        picks = {name: _integer(value) for name, value in zip(step.action.parameters, step.arguments, strict=True)}
        states.append({"#meta": {"index": index}, **_tree(state), ACTION: step.action.name, PICKS: picks})
    return {
        "#meta": {"format": "ITF", "description": description, ORIGIN: origin},
        "params": [],
        "vars": [*_tree(state), ACTION, PICKS],
        "states": states,
    }


def _tree(state: MachineState) -> dict[str, Any]:
    """The state as nested records and arrays, one entry a member of the state."""
    tree: dict[str, Any] = {}
    for slot, value in zip(state.memory.slots, state.memory.values, strict=True):
        written = _value(slot, value)
        name, *rest = slot.path
        if slot.index is None:
            if rest:
                tree.setdefault(name, {})[rest[0]] = written
            else:
                tree[name] = written
        elif rest and slot.label.startswith(f"{name}["):
            members = tree.setdefault(name, [])
            if slot.index == len(members):
                members.append({})
            members[slot.index][rest[0]] = written
        elif rest:
            tree.setdefault(name, {}).setdefault(rest[0], []).append(written)
        else:
            tree.setdefault(name, []).append(written)
    return tree


def _value(slot: Slot, value: int) -> Any:
    if slot.kind is Kind.FLAG:
        return bool(value)
    if slot.kind is Kind.BITS:
        return {"#set": [_integer(member) for member in Bits(value)]}
    if slot.choices is not None:
        return slot.choices(value).name
    return _integer(value)


def _integer(value: int) -> dict[str, str]:
    return {"#bigint": str(value)}


def read_itf(file: Path, content: Mapping[str, Any]) -> tuple[dict[str, Any], list[tuple[str, dict[str, int]]]]:
    """The origin of an ITF trace, and its steps as action names with their parameters.

    Raises
    ------
    BadFile
        When the content is not that of an ITF trace with actions; names the file and what is missing.
    """
    try:
        steps = [
            (str(state[ACTION]), {name: _whole(pick) for name, pick in state[PICKS].items()})
            for state in content["states"]
            if state[ACTION] != "init"
        ]
        return dict(content["#meta"].get(ORIGIN, {})), steps
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        message = f"{file}: {error} is missing or wrong: not an ITF trace with {ACTION} and {PICKS} in its states"
        raise BadFile(message) from error


def _whole(pick: Any) -> int:
    return int(pick["#bigint"]) if isinstance(pick, dict) else int(pick)
