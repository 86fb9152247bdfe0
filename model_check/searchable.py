"""Whether any engine can search an instance: each step that may be taken in it becomes code, or terms."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from model_check.errors import ModelCheckError

if TYPE_CHECKING:
    from spec.language import Machine

MOST_STEPS: Final = 2_000
"""The most steps of an instance; the largest that comes with the specification has 564."""


def require_searchable(machine: Machine, constants: object) -> None:
    """Refuse an instance that would be compiled for minutes and searched for ever.

    Raises
    ------
    ModelCheckError
        It has more than :data:`MOST_STEPS` steps.
    """
    if len(list(islice(machine.steps(constants), MOST_STEPS + 1))) > MOST_STEPS:
        message = (
            f"instance {getattr(constants, 'name', '')}: more than {MOST_STEPS:,} steps may be taken in it; "
            "make its sizes smaller, above all transactions, half_slots, op_slots and immunities"
        )
        raise ModelCheckError(message)
