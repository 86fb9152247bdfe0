"""The wording of every action, gathered from the modules that are named like the chapters of the specification."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from model_check.wording.actions import Wording
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def wordings() -> Mapping[str, Wording]:
    """By the names of the actions, in the order in which they are tried.

    Raises
    ------
    LookupError
        When an action has no wording in the module of its chapter, or a module has one of something else.
    """
    chapters: dict[str, dict[str, Wording]] = {}
    found = {}
    for action in TRANSACTIONAL_MESSAGES.actions:
        chapter = action.function.__module__.rpartition(".")[2]
        if chapter not in chapters:
            names = vars(import_module(f"{__package__}.{chapter}"))
            chapters[chapter] = {name: record for name, record in names.items() if isinstance(record, Wording)}
        if action.name not in chapters[chapter]:
            msg = f"{action.name} has no wording: give it one in model_check/wording/{chapter}.py"
            raise LookupError(msg)
        found[action.name] = chapters[chapter].pop(action.name)
    for chapter, left in chapters.items():
        if left:
            msg = f"model_check/wording/{chapter}.py has a wording of {', '.join(left)}: no action of its chapter"
            raise LookupError(msg)
    return found
