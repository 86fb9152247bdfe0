"""Advice to an operator about a transaction; the lines themselves are data (``advice.toml``)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from files.content import read_toml
from model_check.defects.catalogue import catalogue
from model_check.remedies.advice import Situation, parts_for, remedy_of
from model_check.remedies.advice import advice as said_to

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.world import Profile

_FILE = Path(__file__).with_name("advice.toml")


def advice(state: str, resembles: Sequence[str], also: Sequence[str] = (), unknown_cause: str | None = None) -> str:
    """Advice on a transaction: what to do about it now, and what prevents it next time.

    Its states, the gravest first, alone say what is to be done about this message; the defects that it looks like have
    the prevention.

    Examples
    --------
    >>> advice("pending", ())
    'Wait: the next check rounds ask its producer. If it stays, see that a producer of its group is online.'
    """
    return " ".join(_line(table, name) for table, name in rows_of(state, resembles, also, unknown_cause))


def rows_of(
    state: str, resembles: Sequence[str], also: Sequence[str] = (), unknown_cause: str | None = None
) -> list[tuple[str, str]]:
    """The table and the name of each line that an answer is put together from, see :func:`advice`."""
    states = (state, *also)
    settled = next((one for one in _SETTLED if one in states), None)
    is_open = next((one for one in _OPEN if one in states), None)
    main = [one for one in states if one in (settled, is_open)] or [state]
    rows = [("now", " and ".join(main))]
    rows += [("beside", one) for one in states if one not in main]
    if unknown_cause is not None:
        rows.append(("learn", unknown_cause))
        if settled is None:
            rows.append(("otherwise", unknown_cause))
    known = _content()["next"]
    return rows + [("next", defect) for defect in resembles if defect in known]


_SETTLED = ("doubled", "delivered", "rolled_back", "parked")
"""Outcomes of a message, the one first that decides about the advice."""
_OPEN = ("unknown", "pending")


def on_refusal(profile: Profile, broker_conf: str | None, *, is_complete: bool) -> list[str]:
    """Advice about a store that the specification of a profile does not explain: meaning and remedy, a line each.

    The settings were taken from a `broker.conf`, or are the defaults; the search for an explanation may be cut short.
    """
    lines = _content()["refusal"]
    wanted = ["meaning", "release", "settings" if broker_conf else "defaults", "report"]
    if not is_complete and broker_conf:
        wanted.insert(1, "cut_short")
    return [lines[name].format(profile=profile, broker_conf=broker_conf) for name in wanted]


@cache
def _line(table: str, name: str) -> str:
    line = _content()[table][name]
    return f"{line} ({name}): {prevention_of(name)}." if table == "next" else line


@cache
def prevention_of(defect: str) -> str:
    """The prevention of a defect, without the advice for a message that has suffered it, which its states give."""
    search = catalogue()[defect].search
    if search is None:
        return remedy_of(defect)
    _, prevention, _ = parts_for(search.clause)
    return said_to(prevention, Situation(search.world.profile.unturned, search.world.environment))


@cache
def _content() -> dict[str, dict[str, str]]:
    return read_toml(_FILE)
