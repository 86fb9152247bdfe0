"""Whether a world can show a clause broken at all: what the clause `needs` against what an instance's constants have.

A clause that cannot be broken in a world because a fault is switched off, or because no message carries an immunity,
is no guarantee of that world: it "cannot occur here".
"""

from __future__ import annotations

from collections.abc import Callable

from spec.constants import FAULTS, Constants
from spec.language import NONE, Property

FEATURES: dict[str, tuple[Callable[[Constants], bool], str]] = {
    "immunity": (lambda c: c.longest_immunity > 0 or c.preset_original, "a message with an immunity"),
    "short_immunity": (
        lambda c: any(0 <= length < c.timeout for length in c.immunities),
        "a message whose immunity is shorter than the timeout",
    ),
    "second_transaction": (lambda c: c.transactions > 1 or c.crowded == 1, "a second transaction"),
    "third_transaction": (lambda c: c.transactions > 2 or c.crowded == 1, "a third transaction"),
    "preset_checks": (lambda c: any(c.first_checks), "a message with TRANSACTION_CHECK_TIMES"),
    "reserved_time": (lambda c: c.reserved_time != NONE, "a fileReservedTime that halves live to see"),
    "proxy": (lambda c: c.proxies > 0, "a proxy between producers and the broker"),
    "two_mishaps": (lambda c: c.mishaps > 1, "two mishaps on end"),
    "clock_that_steps": (lambda c: c.clock_steps > 0, "a broker's clock that steps"),
    "room_for_a_copy_too_many": (
        lambda c: c.half_slots > c.check_max + 1,
        "room for one copy more than transactionCheckMax",
    ),
    "room_to_resume": (
        lambda c: c.half_slots >= c.check_max - max(c.first_checks) + 3,
        "room for a half that is discarded, resumed and checked",
    ),
}
"""Features of an instance by the names that `needs` uses: a predicate, and the words for what has it."""

ROOM: dict[str, tuple[Callable[[Constants], bool], str]] = {
    "retention": (lambda c: c.expires == 1, "an instance whose files may be deleted"),
    "clock_skew": (lambda c: any(c.skews), "an instance whose clocks may differ"),
    "clock_step": (lambda c: c.clock_steps > 0, "an instance whose clock may step back"),
    "restart_proxy": (lambda c: c.proxies > 0, "a proxy between producers and the broker"),
    "other_proxy": (lambda c: c.proxies > 1, "two proxies between producers and the broker"),
    "slow_proxy": (lambda c: c.proxies > 0, "a proxy between producers and the broker"),
    "shared_topic": (lambda c: c.proxies > 0, "a proxy between producers and the broker"),
}
"""Faults that do nothing in an instance without this."""

SWITCHES = {
    "+batches_ops": "a release that writes op messages in batches",
    "+commits_after_exception": "a release that commits offsets after an exception",
    "+escapes": "a release in which a slave acts for its master",
    "+keeps_discarded": "a release that keeps what it discards",
    "-keeps_discarded": "a release that keeps nothing of what it discards",
    "+refuses_late_end": "a release that refuses a late END_TRANSACTION",
}
"""The words for a switch that is on or off, for each that some clause needs."""


def why_it_cannot_occur(clause: Property, *worlds: Constants) -> str:
    """What the clause needs and none of these has, in the words of the one that lacks least; empty if one shows it.

    Examples
    --------
    >>> from model_check.clauses import clauses_by_name
    >>> from model_check.world import World
    >>> immune_half = clauses_by_name()["S1.immune_half"]
    >>> why_it_cannot_occur(immune_half, World.of("4.9.7", (), "small").constants)
    'needs a message with an immunity'
    >>> dies = clauses_by_name()["S10.op_entry_dies_with_the_process"]
    >>> why_it_cannot_occur(dies, World.of("4.9.7", ["crash"], "tiny").constants)
    'needs the fault power_loss, or a release that writes op messages in batches'
    >>> why_it_cannot_occur(immune_half, World.of("4.9.7", (), "tiny").constants)
    ''
    >>> read_for_another = clauses_by_name()["S1.read_for_another"]
    >>> why_it_cannot_occur(read_for_another, World.of("4.9.7", ["retention"], "deep").constants)
    'needs an instance whose files may be deleted'
    """
    unmet = min((unmet_needs(clause, constants) for constants in worlds), key=len)
    return f"needs {' and '.join(unmet)}" if unmet else ""


def unmet_needs(clause: Property, constants: Constants) -> tuple[str, ...]:
    """Each of the clause's needs that is not met here, in words.

    Needs say what a bounded run takes. A run of any length may do without, so that none is unmet where it is forgotten;
    one among others has room for all of it, and is asked for the rest.
    """
    if constants.forgets and not constants.crowded:
        return ()
    unmet = (need for need in clause.needs if not any(is_met(name, constants) for name in need.split(" or ")))
    return tuple(_in_words(need, constants) for need in unmet)


def is_met(name: str, constants: Constants) -> bool:
    """Whether a fault of this name is there and has room, or a feature is there, or a switch stands so."""
    if name in FEATURES:
        return FEATURES[name][0](constants)
    is_wanted = not name.startswith("-")
    has_room = name not in ROOM or ROOM[name][0](constants)
    return bool(getattr(constants, name.lstrip("+-"))) == is_wanted and has_room


def _in_words(need: str, constants: Constants) -> str:
    names = need.split(" or ")
    on = [name for name in names if name in FAULTS and getattr(constants, name)]
    faults = [name for name in names if name in FAULTS and name not in on]
    others = [ROOM[name][1] for name in on]
    others += [FEATURES[name][1] if name in FEATURES else SWITCHES[name] for name in names if name not in FAULTS]
    one_of = (
        [f"the fault {' or '.join([', '.join(faults[:-1]), faults[-1]] if faults[1:] else faults)}"] if faults else []
    )
    return ", or ".join([*one_of, *others])
