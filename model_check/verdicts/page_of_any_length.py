"""What holds in runs of any length, as a part of the page of verdicts: the instances of the table that forget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.instances import load_instance
from model_check.verdicts.environment import faults_of, in_words
from spec.constants import FAULTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model_check.verdicts.table import Entry, Table

HEAD = """\
## In runs of any length

{names} [forget what is over](../any-length.md), so that a clause which they do not break holds there however
long the broker runs. In each environment: how many of the {clauses} clauses hold in all of them, how many are broken in
some. *?* says which of them did not decide: a queue was full, or there were more states than are searched.
"""

ALONE = """\
What takes such a run, and is broken in no other instance of this page, or only by more faults:
"""


def any_length(table: Table) -> Iterator[str]:
    """The lines of the part; none where no instance forgets."""
    forgetting = [name for name in table.plan if load_instance(name).forgets]
    searched = [name for name in forgetting if any(table.of(profile, name) for profile in table.profiles)]
    if not searched:
        return
    yield HEAD.format(names=" and ".join(f"`{name}`" for name in searched), clauses=len(table.clauses))
    yield f"| | {' | '.join(table.profiles)} |"
    yield f"|---|{'---|' * len(table.profiles)}"
    for faults in ((), *((fault,) for fault in FAULTS)):
        cells = [_cell(_entries(table, profile, searched, faults), len(table.clauses)) for profile in table.profiles]
        yield f"| {in_words(faults)} | {' | '.join(cells)} |"
    yield ""
    alone = [
        (clause, one.faults, one.depth, one.instance, profile)
        for clause in table.clauses
        for profile in table.profiles
        for one in table.minimal_sets(profile, clause)
        if one.instance in searched and not _is_broken_elsewhere(table, profile, clause, one.faults, searched)
    ]
    if alone:
        yield ALONE
        yield "| clause | faults | version | steps |"
        yield "|---|---|---|--:|"
        for clause, faults, depth, instance, profile in alone:
            yield f"| {clause} | {in_words(faults)} | {profile} | {depth} {instance} |"
        yield ""


def _entries(table: Table, profile: str, instances: list[str], faults: tuple[str, ...]) -> dict[str, Entry]:
    found = {}
    for instance in instances:
        for name, entry in table.of(profile, instance).items():
            if faults_of(name) == faults:
                found[instance] = entry
    return found


def _cell(entries: dict[str, Entry], clauses: int) -> str:
    broken = {clause for entry in entries.values() for clause in entry.violated}
    open_in = [name for name, entry in entries.items() if entry.unknown]
    if open_in:
        return f"? {', '.join(open_in)}; {len(broken)} broken"
    return f"{clauses - len(broken)} hold, {len(broken)} broken"


def _is_broken_elsewhere(
    table: Table, profile: str, clause: str, faults: tuple[str, ...], instances: list[str]
) -> bool:
    return any(
        clause in entry.violated and set(faults_of(name)) <= set(faults)
        for instance in table.plan
        if instance not in instances
        for name, entry in table.of(profile, instance).items()
    )
