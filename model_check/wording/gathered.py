"""The wording of every action, gathered from the modules that are named like the chapters of the specification."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from model_check.by_chapter import by_chapter
from model_check.wording.actions import Wording
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def wordings() -> Mapping[str, Wording]:
    """By the names of the actions, in the order in which they are tried; raises `LookupError` as `by_chapter` does."""
    return by_chapter("model_check.wording", Wording, "wording", TRANSACTIONAL_MESSAGES)
