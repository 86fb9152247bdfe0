"""The way of a question through the modules: calls that carry it, up to the first state that is searched.

A call carries the question if one of its arguments is a part of it: a profile, an environment, an instance, a world, a
question or a release that is asked about. What these records compute of themselves is no way.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from model_check.question import Question
from model_check.world import Asked, Environment, Profile, World
from spec.constants import Instance

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

ROOT = Path(__file__).parents[2]
PARTS = (Asked, Environment, Instance, Profile, Question, World)
SEARCH = "model_check.explicit.search"


class SearchBeginsError(Exception):
    """The question has arrived."""


@dataclass
class Way:
    """The modules that a question passes, a stay after the other."""

    stays: list[str] = field(default_factory=list)

    @property
    def modules(self) -> set[str]:
        """Those that it passes."""
        return set(self.stays)

    @property
    def returns(self) -> int:
        """How often it comes back to one that it has left."""
        return len(self.stays) - len(self.modules)


@contextmanager
def followed() -> Iterator[Way]:
    """Follow the question of a command that is run in the block, which ends where the search begins."""
    way = Way()

    def look(frame: FrameType, event: str, _argument: Any) -> None:
        if event != "call" or not frame.f_code.co_filename.startswith(str(ROOT)):
            return
        module = str(frame.f_globals.get("__name__", ""))
        code = frame.f_code
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        given = [frame.f_locals.get(name) for name in names]
        is_its_own = bool(given) and isinstance(given[0], (*PARTS, type)) and names[0] in ("self", "cls")
        if not is_its_own and any(map(_is_part, given)) and (not way.stays or way.stays[-1] != module):
            way.stays.append(module)
        if module == SEARCH and code.co_name == "explore":
            sys.setprofile(None)
            raise SearchBeginsError

    sys.setprofile(look)
    try:
        yield way
    except SearchBeginsError:
        return
    finally:
        sys.setprofile(None)


def _is_part(value: object) -> bool:
    if isinstance(value, (list, tuple)) and not isinstance(value, Environment):
        return any(isinstance(one, PARTS) for one in value)
    return isinstance(value, PARTS)
