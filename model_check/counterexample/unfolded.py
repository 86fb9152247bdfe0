"""A path of an instance that forgets, in the queue offsets that a broker would show, and without forgetting.

What was forgotten on the way is counted, so that each half, op message and transaction has the number that it was given
when it came; and the instance gets room for all of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from model_check.errors import EvaluationError
from spec.language import Machine, Step, take
from spec.language.fields import RecordDeclaration

if TYPE_CHECKING:
    from spec.constants import Instance

    InstanceT = TypeVar("InstanceT", bound=Instance)


MOST_PLACES = 62
"""The longest queue of an instance."""


@dataclass(frozen=True, slots=True)
class Unfolded:
    """A path as it is without forgetting."""

    steps: tuple[Step, ...]
    sizes: Mapping[str, int]
    """Of an instance that has room for all of it."""
    numbers: Mapping[str, tuple[int, ...]]
    """The names of the places of each array at the end of the path, by the array's length."""


def unfolded(machine: Machine, constants: Instance, path: Sequence[Step]) -> Unfolded:
    """The steps of the path as they are without forgetting, in an instance that has room for them.

    Raises `EvaluationError` when a step of the path cannot be taken.
    """
    arrays = {m.length for m in machine.state.members.values() if isinstance(m, RecordDeclaration) and m.length}
    room = {array: int(getattr(constants, array)) for array in arrays}
    numbers = {array: list(range(size)) for array, size in room.items()}
    gone = dict.fromkeys(arrays, 0)
    state = machine.initial(constants)
    removals: list[tuple[str, int]] = []
    state.memory.removals = removals
    plain: list[Step] = []
    for step in path:
        larger: dict[str, Any] = {array: room[array] + gone[array] for array in arrays}
        grown = replace(constants, **larger)
        arguments = (
            numbers[choices.constant][value]
            if choices.constant in numbers
            else value + (getattr(grown, choices.constant) - getattr(constants, choices.constant))
            if choices.is_included
            else value
            for choices, value in zip(step.action.parameters.values(), step.arguments, strict=True)
        )
        plain.append(Step(step.action, tuple(arguments)))
        refused = take(state, constants, step)
        if refused is not None:
            message = f"{step}, on a path that a search gave, cannot be taken: {refused}"
            raise EvaluationError(message)
        state.load(machine.forgotten(state, constants, state.canonical()))
        for array, place in removals:
            numbers[array].append(numbers[array][-1] + 1)
            del numbers[array][place]
            gone[array] += 1
        removals.clear()
    sizes = {array: room[array] + gone[array] for array in arrays}
    return Unfolded(tuple(plain), sizes, {array: tuple(names) for array, names in numbers.items()})


def with_room_for(instance: InstanceT, path: str) -> InstanceT:
    """Where a path that was unfolded can be taken: an instance that forgets gets room for a half and an op a step."""
    if not instance.forgets:
        return instance
    steps = min(path.count(";") + 1, MOST_PLACES)
    named = 0 if instance.crowded else max((int(t) for t in re.findall(r"\bt=(\d+)", path)), default=0)
    return without_forgetting(instance, {"transactions": 1 + named, "half_slots": steps, "op_slots": steps})


def without_forgetting(instance: InstanceT, sizes: Mapping[str, int]) -> InstanceT:
    """The instance with these sizes, which forgets nothing; its name says so."""
    own = instance.name.partition("@")[0]
    name = f"{own}@{sizes['transactions']}x{sizes['half_slots']}x{sizes['op_slots']}"
    given: dict[str, Any] = dict(sizes)
    return replace(instance, name=name, forgets=0, **given)
