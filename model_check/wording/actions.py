"""Wording of actions: a sentence of a schedule, and the messages of a sequence diagram.

The wording of an action stands under its name in the module that is named like its chapter of the specification.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from model_check.by_chapter import by_chapter
from spec.transactional_messages import AMONG_OTHERS


class StepKind(StrEnum):
    """How a step is drawn."""

    MESSAGE = "message"  # an arrow, or a box where the source is the target
    LOST = "lost"  # an arrow that ends in a cross half way
    BREAK = "break"  # a bar across all lifelines: a crash, a restart, time passing


@dataclass(frozen=True, slots=True)
class DrawnMessage:
    """A message of a sequence diagram; `model_check.counterexample.sequence_diagram` fills its label in."""

    source: str
    target: str
    label: str
    kind: StepKind = StepKind.MESSAGE


class Wording:
    """The wording of one action.

    Attributes
    ----------
    sentence : str or None
        What happens, as whoever runs a broker says it; `model_check.broker_conf.words` fills it in. None for the
        passing of time and for an ordinary end of a round, which a schedule does not tell.
    picture : tuple of Message
    """

    def __init__(self, sentence: str | None, *picture: DrawnMessage) -> None:
        self.sentence = sentence
        self.picture = picture


def arrow(source: str, target: str, label: str) -> DrawnMessage:
    """A message from one participant to another one."""
    return DrawnMessage(source, target, label)


def lost(source: str, target: str, label: str) -> DrawnMessage:
    """A message that does not arrive."""
    return DrawnMessage(source, target, label, StepKind.LOST)


def box(participant: str, label: str) -> DrawnMessage:
    """Something that happens in one place."""
    return DrawnMessage(participant, participant, label)


def bar(label: str) -> DrawnMessage:
    """Something that all participants feel."""
    return DrawnMessage("Broker", "Broker", label, StepKind.BREAK)


@cache
def wordings() -> Mapping[str, Wording]:
    """By the names of the actions, in the order in which they are tried; raises `LookupError` as `by_chapter` does."""
    return by_chapter("model_check.wording", Wording, "wording", AMONG_OTHERS)
