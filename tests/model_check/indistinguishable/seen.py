"""What a broker sees of a run: its own steps, and that part of the state on which they can depend.

Both follow from the declarations. A step is the broker's unless the chapter of the producers or of the network tells
it, or it names a transaction, of which a broker knows only the halves. A field is seen if a rule of such a step asks
for it, or if what such a step writes into a seen field depends on it; what the network writes is under way until a step
of the broker takes it. The rest is what producers know, and what only properties remember.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from model_check.front_end.lower import Lowering
from model_check.front_end.terms import If, Let, LocalTerm, Read, Write, parts
from spec.language.rules import REQUIRE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from model_check.front_end.terms import Path, Statement
    from spec.language import Action, Machine, MachineState, Step

OTHERS = ("producer", "network")
"""The chapters of the other parties."""


def is_of_the_broker(action: Action) -> bool:
    """The broker takes it, or something happens to the broker, rather than to its producers or in the network."""
    names_a_transaction = any(choices.constant == "transactions" for choices in action.parameters.values())
    return action.chapter not in OTHERS and not names_a_transaction


def seen_fields(machine: Machine, constants: object) -> frozenset[Path]:
    """The fields on which a step of the broker can depend, in any profile and environment."""
    lowering = Lowering(machine, constants)
    seen: set[Path] = set()
    flows: list[tuple[Path, frozenset[Path]]] = []
    for step in machine.steps(constants):
        if is_of_the_broker(step.action):
            lowered = lowering.action(step)
            seen |= {path for rule in lowered.guard if rule.kind == REQUIRE for path in _read(rule.condition, {})}
            flows += _flows(lowered.effect, frozenset(), {})
    before = -1
    while before != len(seen):
        before = len(seen)
        seen |= {path for written, sources in flows if written in seen for path in sources}
    return frozenset(seen) - under_way(machine, constants)


def under_way(machine: Machine, constants: object) -> frozenset[Path]:
    """The fields of a half that the network writes: requests that are under way, or counted by the instance."""
    lowering = Lowering(machine, constants)
    steps = (step for step in machine.steps(constants) if step.action.chapter == "network")
    return frozenset(path for step in steps for path, _ in _flows(lowering.action(step).effect, frozenset(), {}))


def _flows(
    statements: Iterable[Statement], condition: frozenset[Path], named: dict[str, frozenset[Path]]
) -> Iterator[tuple[Path, frozenset[Path]]]:
    """Each write with the fields that its value, its place and its conditions are made of."""
    for statement in statements:
        match statement:
            case Let(name=name, value=value):
                named[name] = _read(value, named)
            case Write(path=path, index=index, value=value):
                yield path, condition | _read((index, value), named)
            case If(test=test, then=then, otherwise=otherwise):
                yield from _flows((*then, *otherwise), condition | _read(test, named), named)


def _read(term: object, named: dict[str, frozenset[Path]]) -> frozenset[Path]:
    found: set[Path] = set()
    for part in parts(term):
        if isinstance(part, Read):
            found.add(part.path)
        elif isinstance(part, LocalTerm):
            found |= named[part.name]
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Sight:
    """One thing that the broker sees: a step of its own, or what another party's step changed of what it sees.

    Attributes
    ----------
    what : str
        The step, or the event of another party's.
    state : tuple of int
        What it sees of the state behind it.
    taken : tuple of int
        What was under way to the half that the step names: the request that it takes.
    """

    what: str
    state: tuple[int, ...]
    taken: tuple[int, ...] = ()


class Broker:
    """What the brokers of an instance see.

    Parameters
    ----------
    machine, constants
        The specification in an instance; profile and faults are of no matter.
    """

    def __init__(self, machine: Machine, constants: object) -> None:
        self.fields = seen_fields(machine, constants)
        slots = machine.initial(constants).memory.slots
        self._places = tuple(place for place, slot in enumerate(slots) if slot.path in self.fields)
        requests = under_way(machine, constants)
        self._requests = tuple(
            tuple(place for place, slot in enumerate(slots) if slot.path in requests and slot.index == half)
            for half in range(int(getattr(constants, "half_slots", 0)))
        )

    def sees(self, values: tuple[int, ...]) -> tuple[int, ...]:
        """What it sees of a canonical state."""
        return tuple(values[place] for place in self._places)

    def sight(self, step: Step, before: tuple[int, ...], after: tuple[int, ...]) -> Sight | None:
        """What it sees of a step between two canonical states, if anything."""
        if is_of_the_broker(step.action):
            return Sight(str(step), self.sees(after), self._taken(step, before))
        return Sight(step.action.event, self.sees(after)) if self.sees(before) != self.sees(after) else None

    def _taken(self, step: Step, before: tuple[int, ...]) -> tuple[int, ...]:
        names = [choices.constant for choices in step.action.parameters.values()]
        halves = [half for half, name in zip(step.arguments, names, strict=True) if name == "half_slots"]
        return tuple(before[place] for half in halves for place in self._requests[half])


def history(broker: Broker, state: MachineState, constants: object, path: Iterable[Step]) -> list[Sight]:
    """All that a broker sees of a run.

    Raises
    ------
    spec.language.Refused
        When a guard refuses a step.
    """
    seen = []
    before = state.canonical()
    for step in path:
        step.action.function(state, constants, *step.arguments)
        after = state.canonical()
        if (sight := broker.sight(step, before, after)) is not None:
            seen.append(sight)
        before = after
    return seen
