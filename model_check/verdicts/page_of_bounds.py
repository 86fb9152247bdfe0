"""What bounds the searches of the table of verdicts, as a part of its page: sizes, counted faults, and what was cut."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from model_check.front_end.lower import Lowering
from model_check.front_end.terms import Switch, Write, parts
from model_check.instances import constants_for, load_instance
from model_check.verdicts.environment import QUIET, faults_of, in_words
from spec.constants import FAULTS
from spec.profiles import PROFILES
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model_check.verdicts.table import Table

HEAD = """\
## What bounds a search

"Holds" says that no state violates the clause in any of these instances, with these faults, and no more than that. An
instance ends where its queues are full; no transaction, no check and no fault beyond its numbers is looked at.
"""

COUNTS = """\
Some faults strike only so often in a run, whatever else happens:

- *mishaps* bounds, all together: {mishaps}. Two of them both strike only where an instance has
  two mishaps ({two}).{once}
- *stray ENDs* bounds, all together, END_TRANSACTIONs that are repeated or wrong: {stray_ends}.
- *clock steps* bounds {clock_steps}.

All other faults strike as often as the sizes of the instance let them.
"""


BOUNDS = ("mishaps", "stray_ends", "clock_steps")
"""Counts of the state that an instance bounds by a constant of the same name."""


def bounds(table: Table) -> Iterator[str]:
    """The lines of the part."""
    yield HEAD
    yield (
        "| instance | faults at once | transactions | half slots | op slots | checks | immunities "
        "| mishaps | stray ENDs | clock steps | cut at states |"
    )
    yield f"|---{'|--:' * 10}|"
    for name, plan in table.plan.items():
        size = load_instance(name)
        immunities = ", ".join("none" if ticks < 0 else str(ticks) for ticks in size.immunities)
        columns = (plan.most_faults, size.transactions, size.half_slots, size.op_slots, size.check_max, immunities)
        counts = (size.mishaps, size.stray_ends, size.clock_steps, f"{plan.most_states:,}")
        yield f"| {name} | {' | '.join(map(str, (*columns, *counts)))} |"
    yield ""
    yield _counts(table)
    for profile in table.profiles:
        idle = table.idle(profile)
        if idle:
            yield f"In {profile} these faults do nothing: {', '.join(idle)}."
            yield ""
    yield from _cut_short(table)
    yield from _sizes(table)


def _counts(table: Table) -> str:
    pairs = [name for name, plan in table.plan.items() if plan.most_faults > 1]
    two, once = ([name for name in pairs if (load_instance(name).mishaps > 1) == has_two] for has_two in (True, False))
    named = {bound: ", ".join(faults) for bound, faults in counted_faults().items()}
    return COUNTS.format(
        **named,
        two=", ".join(two) or "none of those with pairs",
        once=f" On {', '.join(once)} a pair of them says no more than each alone, and none strikes twice."
        if once
        else "",
    )


def _cut_short(table: Table) -> Iterator[str]:
    yield "### Searches that were cut short"
    yield ""
    yield ("What they have not found is not decided, unless a smaller set breaks it or another instance shows it.")
    yield ""
    yield "| profile | instance | searches of |"
    yield "|---|---|---|"
    for profile in table.profiles:
        for instance, sets in table.cut_short(profile).items():
            yield f"| {profile} | {instance} | {' · '.join(in_words(faults) for faults in sets)} |"
    yield ""


def _sizes(table: Table) -> Iterator[str]:
    yield "### How large they are"
    yield ""
    yield "Distinct states of the quiet world, and of the largest environment that has an entry in the table."
    yield ""
    yield "| instance | profile | quiet | largest | that is |"
    yield "|---|---|--:|--:|---|"
    for name in table.plan:
        for profile in table.profiles:
            entries = table.of(profile, name)
            if entries:
                largest = max(entries, key=lambda key: entries[key].distinct)
                cut = ", cut short" if entries[largest].unknown else ""
                yield (
                    f"| {name} | {profile} | {entries[QUIET].distinct:,} | {entries[largest].distinct:,} | "
                    f"{in_words(faults_of(largest))}{cut} |"
                )
    yield ""


@cache
def counted_faults() -> dict[str, tuple[str, ...]]:
    """By bound, the faults of which an action that assumes one of them adds to the count, in their order.

    Taken from the source: from what the rules `assume` and from what the actions write.
    """
    machine = TRANSACTIONAL_MESSAGES
    constants = constants_for(next(iter(PROFILES)), (), "tiny")
    lowering = Lowering(machine, constants)  # it leaves all switches open, so that the profile is of no matter
    counted: dict[str, set[str]] = {bound: set() for bound in BOUNDS}
    for step in machine.steps(constants):
        action = lowering.action(step)
        assumed = {
            part.name
            for conjunct in action.guard
            if conjunct.kind == "assume"
            for part in parts(conjunct.condition)
            if isinstance(part, Switch)
        }
        written = {part.path for part in parts(action.effect) if isinstance(part, Write)}
        for bound in BOUNDS:
            if (bound,) in written:
                counted[bound] |= assumed
    return {bound: tuple(fault for fault in FAULTS if fault in counted[bound]) for bound in BOUNDS}
