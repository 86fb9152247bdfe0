"""The records of all actions, each gathered from the file of its chapter."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from fuzz.actions.record import Driven, Excluded
from model_check.errors import ModelCheckError
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spec.language import Machine


def records_of(machine: Machine) -> dict[str, Driven | Excluded]:
    """The record of each action of a machine, by its name and in its order.

    Raises
    ------
    ModelCheckError
        An action has no record; names the file in which it belongs.
    """
    found = {}
    for action in machine.actions:
        chapter = action.function.__module__.rpartition(".")[2]
        if action.name not in records_in(chapter):
            msg = (
                f"fuzz/actions/{chapter}.py has no record of the action {action.name}: say there what it does to the "
                "broker, or why it is excluded"
            )
            raise ModelCheckError(msg)
        found[action.name] = records_in(chapter)[action.name]
    return found


@cache
def records_in(chapter: str) -> Mapping[str, Driven | Excluded]:
    """The records in the file of a chapter; none where there is no such file."""
    file = f"fuzz.actions.{chapter}"
    found = vars(import_module(file)) if find_spec(file) is not None else {}
    return {name: value for name, value in found.items() if isinstance(value, Driven | Excluded) and name.islower()}


RECORDS: Final = records_of(TRANSACTIONAL_MESSAGES)

DRIVEN: Final[Mapping[str, Driven]] = {name: record for name, record in RECORDS.items() if isinstance(record, Driven)}
"""Of the actions that are done to the broker as well."""


def driven(machine: Machine) -> Machine:
    """The machine without the excluded actions; raises `ModelCheckError` as `records_of` does."""
    records = records_of(machine)
    return replace(machine, actions=tuple(a for a in machine.actions if isinstance(records[a.name], Driven)))


DRIVEN_MACHINE: Final = driven(TRANSACTIONAL_MESSAGES)
"""The specification, as far as the lockstep drives it."""
