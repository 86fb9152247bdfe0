"""A schedule as the page tells it: in steps with what each changes, and in messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.counterexample.sequence_diagram import DiagramStep
    from model_check.counterexample.steps import Event


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


def told_steps(events: Sequence[Event]) -> tuple[CounterexampleStep, ...]:
    """The steps of a path as the page tells them."""
    return tuple(_told(event) for event in events)


def _told(event: Event) -> CounterexampleStep:
    parameters = zip(event.step.action.parameters, event.step.arguments, strict=True)
    changes = tuple(Change(change.field, change.before, change.after) for change in event.changes)
    return CounterexampleStep(
        event.number, event.step.action.name, " ".join(f"{name}={value}" for name, value in parameters), changes
    )
