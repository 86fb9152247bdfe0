"""A counterexample as the page tells it: in steps with what each changes, and in messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model_check.counterexample.sequence_diagram import DiagramStep
    from model_check.counterexample.steps import Event


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
    steps: tuple[Event, ...]
    messages: tuple[DiagramStep, ...]
    command: str
