"""Records of actions, each in a module that is named like the action's chapter of the specification."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from spec.language import Machine

T = TypeVar("T")


def by_chapter(package: str, kind: type[T], what: str, machine: Machine) -> dict[str, T]:
    """The attributes of a package's modules that are named like actions, in the order in which these are tried.

    Raises `LookupError`, which names the file, when an action has none in the module of its chapter, or a module has
    one of something else. Each must be of a `kind`, which is `what` in a word.
    """
    folder, found = package.replace(".", "/"), {}
    chapters: dict[str, dict[str, T]] = {}
    for action in machine.actions:
        chapter = action.chapter
        if chapter not in chapters:
            module = f"{package}.{chapter}"
            names = vars(import_module(module)) if find_spec(module) is not None else {}
            chapters[chapter] = {name: one for name, one in names.items() if isinstance(one, kind) and name.islower()}
        if action.name not in chapters[chapter]:
            msg = f"{action.name} has no {what}: give it one in {folder}/{chapter}.py"
            raise LookupError(msg)
        found[action.name] = chapters[chapter].pop(action.name)
    for chapter, left in chapters.items():
        if left:
            msg = f"{folder}/{chapter}.py has a {what} of {', '.join(left)}: no action of its chapter"
            raise LookupError(msg)
    return found
