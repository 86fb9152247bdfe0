"""The records of all actions, each gathered from the file of its chapter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fuzz.actions.record import ActionRecord, Driven
from model_check.by_chapter import by_chapter
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spec.language import Machine


def records_of(machine: Machine) -> Mapping[str, ActionRecord]:
    """The record of each action of a machine, by its name; raises `LookupError` as `by_chapter` does."""
    return by_chapter("fuzz.actions", ActionRecord, "record", machine)


RECORDS: Final = records_of(TRANSACTIONAL_MESSAGES)

DRIVEN: Final[Mapping[str, Driven]] = {name: record for name, record in RECORDS.items() if isinstance(record, Driven)}
"""Of the actions that are done to the broker as well."""


def driven(machine: Machine) -> Machine:
    """The machine without the excluded actions; raises `LookupError` as `by_chapter` does."""
    records = records_of(machine)
    return replace(machine, actions=tuple(a for a in machine.actions if isinstance(records[a.name], Driven)))


DRIVEN_MACHINE: Final = driven(TRANSACTIONAL_MESSAGES)
"""The specification, as far as the lockstep drives it."""
