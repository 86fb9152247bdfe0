"""A machine: the state, the initial state, the actions and the properties, in the order in which engines try them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

from spec.language.responses import Fairness, Response
from spec.language.rules import Action, Property, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from spec.language.state import MachineState


@dataclass(frozen=True, slots=True)
class Step:
    """An action with its parameters chosen: one way to go on."""

    action: Action
    arguments: tuple[int, ...]

    def __str__(self) -> str:
        given = " ".join(f"{name}={value}" for name, value in zip(self.action.parameters, self.arguments, strict=True))
        return f"{self.action.name} {given}".strip()


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """Everything an engine needs to know.

    Attributes
    ----------
    name : str
        What it is called in artefacts.
    state : type
        A subclass of `MachineState`. In the initial state each field holds its lowest value: zero, absent, empty, long
        ago.
    actions : tuple of Action
        In the order in which they are tried: the first of all shortest counterexamples follows this order.
    clauses, witnesses : tuple of Property
        What must hold in every state, and what some state must show.
    switches : tuple of str
        The boolean constants that an engine may take as values at run time (profile and faults).
    symmetric : str or None
        The array of records that could be numbered in any order, and are numbered in the order of their first use, so
        that of all states that differ by the numbers only one is looked at. A record that was not used yet holds the
        lowest value in each field. `tests/model_check/explicit/symmetry.py` counts what was not looked at.
    forget : callable or None
        What happens to a state behind each step, `f(s, c)`: the claims are judged before it. It takes nothing out of
        an instance that forgets nothing.
    queues : mapping
        Fields of the state that say how long a queue is, with the constants that say how long it may be. Where a
        machine forgets, a queue that is never full shows that it never wanted more room.
    responses : tuple of Response
        What must happen in the end.
    fairness : mapping
        The promises that these may need, by their names.
    """

    name: str
    state: type[MachineState]
    actions: tuple[Action, ...]
    clauses: tuple[Property, ...]
    witnesses: tuple[Property, ...]
    switches: tuple[str, ...] = ()
    symmetric: str | None = None
    forget: Callable[..., None] | None = None
    queues: Mapping[str, str] = field(default_factory=dict)
    responses: tuple[Response, ...] = ()
    fairness: Mapping[str, Fairness] = field(default_factory=dict)

    def initial(self, constants: object) -> MachineState:
        """The initial state."""
        return self.state(constants)

    def forgotten(self, state: MachineState, constants: object, values: tuple[int, ...]) -> tuple[int, ...]:
        """What is left of the canonical state `values` when it has forgotten; `state` is changed."""
        if self.forget is None:
            return values
        self.forget(state.load(values), constants)
        return state.canonical()

    def room(self, constants: object, queue: str) -> int:
        """How long a queue may be."""
        return int(getattr(constants, self.queues[queue]))

    def steps(self, constants: object) -> tuple[Step, ...]:
        """Every action with every choice of parameters, in order; `among` nothing gives none."""
        return tuple(
            Step(action, arguments)
            for action in self.actions
            for arguments in product(*(choices.values(constants) for choices in action.parameters.values()))
        )


def take(state: MachineState, constants: object, step: Step) -> Refused | None:
    """Take a step in place. When the guard refuses, the state is as before and the refusing conjunct is returned."""
    try:
        step.action.function(state, constants, *step.arguments)
    except Refused as refused:
        return refused
    return None


def successors(
    state: MachineState, constants: object, steps: tuple[Step, ...]
) -> Iterator[tuple[Step, tuple[int, ...]]]:
    """The steps that are enabled in `state` with the canonical states they lead to; `state` is left as it was."""
    before = tuple(state.memory.values)
    for step in steps:
        try:
            step.action.function(state, constants, *step.arguments)
        except Refused:
            continue
        yield step, state.canonical()
        state.load(before)


def holds(state: MachineState, constants: object, claim: Property) -> bool:
    """Whether a clause is true of a state for every choice of its parameters."""
    return all(claim.function(state, constants, *arguments) for arguments in claim.arguments(constants))


def is_witnessed(state: MachineState, constants: object, claim: Property) -> bool:
    """Whether a witness is true of a state for some choice of its parameters."""
    return any(claim.function(state, constants, *arguments) for arguments in claim.arguments(constants))
