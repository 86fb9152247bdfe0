"""S5, half invisibility: consumers see nothing of a message before a commit of it was handled."""

from __future__ import annotations

from spec.constants import Constants
from spec.language import always, each, sometimes
from spec.state import State


@always("S5", clause="no_commit_arrived", t=each("transactions"))
def what_is_visible_was_asked_for(s: State, c: Constants, t: int) -> bool:
    """No message is delivered but for a commit that arrived and named a half of it."""
    return not s.transaction[t].shown_unasked


@sometimes("S5", t=each("transactions"))
def a_half_is_stored_and_not_visible(s: State, c: Constants, t: int) -> bool:
    """Some half is stored of a message that is not visible."""
    return s.transaction[t].first_half >= 0 and s.transaction[t].deliveries == 0
