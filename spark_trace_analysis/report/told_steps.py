"""A schedule as the page tells it: in steps with what each changes, and in messages."""

from dataclasses import dataclass

from model_check.counterexample.sequence_diagram import DiagramStep


@dataclass(frozen=True)
class Change:
    """One field of the state, before and after a step."""

    field: str
    old: str
    new: str


@dataclass(frozen=True)
class CounterexampleStep:
    """One action of a counterexample, with only what it changed."""

    number: int
    action: str
    parameters: str
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Counterexample:
    """A shortest schedule that breaks a property: told in steps, and drawn in messages."""

    property_id: str
    clause: str
    rule: str
    profile: str
    environment: tuple[str, ...]
    instance: str
    resembles: tuple[str, ...]
    steps: tuple[CounterexampleStep, ...]
    messages: tuple[DiagramStep, ...]
    command: str
