"""A path through the states, step by step, with only what changed: how a verdict explains itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from model_check.did_you_mean import meant
from model_check.errors import ModelCheckError
from model_check.instances import instance_names, load_instance
from model_check.world import Environment, Profile, World
from spec.language import Machine, Property, Step, holds, is_witnessed, take

if TYPE_CHECKING:
    from spec.constants import Instance

TICKS: Final = {"time_passed": 1, "clock_stepped_back": -1}
"""By how many ticks an event moves the broker's clock."""


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field and its values before and after a step, as a reader writes them."""

    field: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.field}: {self.before} → {self.after}"


@dataclass(frozen=True, slots=True)
class Event:
    """One step of a path."""

    number: int
    """Place in the path, from 1."""
    step: Step
    time: int
    """Ticks of the broker's clock since the start."""
    changes: tuple[FieldChange, ...]
    """Fields that the step changed."""

    def to_json(self) -> dict[str, Any]:
        """The event as plain data."""
        return {
            "step": self.number,
            "action": self.step.action.name,
            "parameters": dict(zip(self.step.action.parameters, self.step.arguments, strict=True)),
            "event": self.step.action.event,
            "time": self.time,
            "changes": {change.field: [change.before, change.after] for change in self.changes},
        }


@dataclass(frozen=True, slots=True)
class Replay:
    """A path that was taken in the CPython engine, and what the state at its end violates or is a witness of."""

    events: tuple[Event, ...]
    violated: tuple[Property, ...]
    witnessed: tuple[Property, ...]


def replay(machine: Machine, constants: object, path: Sequence[Step]) -> Replay:
    """Take the steps one by one from the initial state; clauses are judged after each.

    Raises `ModelCheckError`, which names the step, its number and the conjunct, when a guard refuses a step, and
    `SpecificationError` when one writes a value outside its field's declared range.
    """
    state = machine.initial(constants)
    start = state.horizon
    events: list[Event] = []
    violated: dict[Property, None] = {}
    witnessed: dict[Property, None] = {}
    clock = state.memory.arrangement.clock
    after = state.show()
    for number, step in enumerate(path, start=1):
        before = after
        refused = take(state, constants, step)
        if refused is not None:
            msg = f"step {number}, {step}, is refused ({refused.kind}): {refused.rule}"
            raise ModelCheckError(msg)
        state.canonical()  # refuses an instant that lies too far ahead
        after = state.show()
        changes = tuple(
            FieldChange(label, before[label], value) for label, value in after.items() if value != before[label]
        )
        now = 0 if clock is None else state.memory.values[clock] - start
        events.append(Event(number, step, now, changes))
        unbroken = (clause for clause in machine.clauses if clause not in violated)
        violated |= dict.fromkeys([clause for clause in unbroken if not holds(state, constants, clause)])
        unseen = (witness for witness in machine.witnesses if witness not in witnessed)
        witnessed |= dict.fromkeys([witness for witness in unseen if is_witnessed(state, constants, witness)])
    return Replay(tuple(events), tuple(violated), tuple(witnessed))


def write_path(path: Iterable[Step]) -> str:
    """A path as text: `send_half t=0 immunity=-1; commit_locally t=0; …`."""
    return "; ".join(str(step) for step in path)


def read_path(machine: Machine, constants: object, text: str) -> list[Step]:
    """The path that a text as `write_path` gives it means.

    Raises `ModelCheckError`, which names a step that is not one of the machine's in this instance, and what there is.
    """
    known = {str(step): step for step in machine.steps(constants)}
    path = []
    for number, words in enumerate((part.strip() for part in text.split(";") if part.strip()), start=1):
        if words not in known:
            action = words.split()[0]
            like = [name for name in known if name.split()[0] == action]
            hint = f"; there are {', '.join(like[:6])}" if like else _meant(action, known)
            msg = f"step {number} is {words!r}, which is no step of this instance{hint}"
            raise ModelCheckError(msg)
        path.append(known[words])
    if not path:
        msg = "no steps are given: write them as 'send_half t=0 immunity=-1; commit_locally t=0; …'"
        raise ModelCheckError(msg)
    return path


def _meant(action: str, known: Iterable[str]) -> str:
    likely = meant(action, dict.fromkeys(step.split()[0] for step in known))
    return f"; did you mean {' or '.join(likely)}?" if likely else "; no action has that name"


def instance_that_takes(profile: Profile, environment: Environment, text: str) -> Instance:
    """The smallest instance that comes with the specification in which the steps of a text can be taken.

    Those that are crowded come last: others take steps in them.

    Raises `ModelCheckError` when there is none: why not in the smallest that knows all the steps, or else in the
    smallest one.
    """
    first: ModelCheckError | None = None
    knows_the_steps = False
    for instance in sorted(map(load_instance, instance_names()), key=lambda one: one.crowded):
        world = World(profile, environment, instance)
        machine, constants = world.machine, world.constants
        try:
            path = read_path(machine, constants, text)
        except ModelCheckError as error:
            first = first or error
            continue
        try:
            replay(machine, constants, path)
        except ModelCheckError as error:
            first = first if knows_the_steps else error
            knows_the_steps = True
        else:
            return instance
    raise first or AssertionError(text)
