"""The table of verdicts as a page that people read, `docs/verdicts.md`: a function of the table and its schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.instances import load_instance
from model_check.verdicts.environment import QUIET, faults_of, name_of
from model_check.verdicts.implications import implied_by
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from model_check.verdicts.implications import Implication
    from model_check.verdicts.schedules import Schedule
    from model_check.verdicts.table import Table

MAP = "verdicts.svg"
"""The drawing beside the page."""

SHORT = 16
"""Steps of a schedule that the page shows; longer ones are in `spec/schedules.toml`."""

INTRO = """\
# Which guarantees break, and what it takes

For each version of RocketMQ and each clause of a guarantee this page lists all *minimal* sets of faults that break it:
nothing smaller does. "the quiet world" means that nothing goes wrong at all. The number behind a set is the length of
the shortest schedule, in steps. All sets of at most {most} faults were searched; what is listed nowhere holds for
them, to the bound of the instance. *Unknown* are sets of which the search was cut short before it found a violation.

What each clause says is in the section of its schedules below; what a fault is, in `spec/constants.py`; what an id such
as S1 stands for, in the [README](../README.md#properties).

![A map of clauses by faults, coloured by the length of the shortest schedule, for each version]({map})

A square in the map says that this fault alone breaks the clause, or breaks it sooner than the quiet world does; the
darker, the shorter the schedule. A bar across a row says that the quiet world breaks the clause already. A ring says
that the fault breaks the clause together with another one, a grey dot that the search of this fault was cut short.
"""

HOW = """\
## How this page is made

`halfcheck verdicts --update` searches every environment and writes `spec/verdicts.toml` (every verdict, with the
numbers of states), `spec/schedules.toml` (every schedule), this page, which is made from those two alone, and the map.
`make verdicts` searches everything again and compares; `make test` does so for a part. One question at a time:

```sh
halfcheck check --minimal-faults --profile 5.3.3 --instance {instance} --property S1
```

The table is of the specification `{specification}`.
"""


def page_of(table: Table, schedules: Sequence[Schedule], implications: Sequence[Implication]) -> str:
    """The text of the page."""
    shown = shown_instance(table)
    most = table.plan[shown].most_faults
    lines = [INTRO.format(most=most, map=MAP), *_instances(table)]
    for profile in table.profiles:
        lines += [f"## RocketMQ {profile}" if profile[:1].isdigit() else f"## The profile {profile}", ""]
        lines += [*_profile(table, profile, shown), ""]
    lines += [*_implications(implications), *_schedules(table, schedules, shown)]
    lines.append(HOW.format(instance=shown, specification=table.specification))
    return "\n".join(lines).rstrip() + "\n"


def shown_instance(table: Table) -> str:
    """The instance whose minimal sets the page shows: the one whose schedules are kept."""
    return next((name for name, plan in table.plan.items() if plan.schedules), next(iter(table.plan)))


def _instances(table: Table) -> Iterator[str]:
    yield "## The instances"
    yield ""
    yield "States are counted in the quiet world and in the largest environment of the table."
    yield ""
    yield "| instance | transactions | half slots | op slots | faults at once | profile | quiet | largest | that is |"
    yield "|---|--:|--:|--:|--:|---|--:|--:|---|"
    for name, plan in table.plan.items():
        sizes = load_instance(name)
        start = f"| {name} | {sizes.transactions} | {sizes.half_slots} | {sizes.op_slots} | {plan.most_faults} |"
        for profile in table.profiles:
            entries = table.of(profile, name)
            if entries:
                largest = max(entries, key=lambda key: entries[key].distinct)
                cut = ", cut short" if entries[largest].unknown else ""
                yield (
                    f"{start} {profile} | {entries[QUIET].distinct:,} | {entries[largest].distinct:,} | "
                    f"{_words(faults_of(largest))}{cut} |"
                )
                start = "| | | | | |"
    yield ""


def _profile(table: Table, profile: str, instance: str) -> Iterator[str]:
    entries = table.of(profile, instance)
    idle = [name for name, entry in entries.items() if entry.is_idle]
    if idle:
        yield f"In this version these faults do nothing: {', '.join(f'`{name}`' for name in idle)}."
        yield ""
    yield "| clause | minimal sets of faults, with the steps of the shortest schedule |"
    yield "|---|---|"
    unbroken = []
    for clause in table.clauses:
        sets = table.minimal_sets(profile, instance, clause)
        undecided = len(table.undecided(profile, instance, clause))
        if not sets and not undecided:
            unbroken.append(clause)
            continue
        told = [f"{_words(faults)} {depth}" for faults, depth in sets]
        if undecided:
            told.append(f"*unknown of {undecided} {'set' if undecided == 1 else 'sets'}*")
        yield f"| {clause} | {' · '.join(told)} |"
    if unbroken:
        yield ""
        yield f"No such set breaks {', '.join(unbroken)}."


def _implications(implications: Sequence[Implication]) -> Iterator[str]:
    yield "## What implies what"
    yield ""
    yield (
        "The way to a violation of the first clause leads past one of the second, in every environment of the table "
        "that is not excepted."
    )
    yield ""
    yield "| violated | implies | because |"
    yield "|---|---|---|"
    for one in implications:
        further = implied_by(one.implied, implications) - {one.implied}
        also = f" (and so {', '.join(sorted(further))})" if further else ""
        unless = f", unless with {' or '.join(one.unless)}" if one.unless else ""
        yield f"| {one.violated} | {one.implied}{also} | {one.why}{unless} |"
    yield ""


def _schedules(table: Table, schedules: Sequence[Schedule], instance: str) -> Iterator[str]:
    yield "## Schedules"
    yield ""
    yield (
        f"The first of the shortest, on the instance {instance}, for the sets that take at most {SHORT} steps; "
        "`spec/schedules.toml` has them all. `halfcheck replay` takes one again, step by step."
    )
    yield ""
    rules = {f"{c.identifier}.{c.clause}": c for c in TRANSACTIONAL_MESSAGES.clauses}
    for clause in table.clauses:
        mine = [one for one in schedules if one.clause == clause]
        short = [one for one in mine if one.depth <= SHORT]
        rule = rules[clause]
        resembles = f" Resembles {', '.join(rule.resembles)}." if rule.resembles else ""
        yield f"### {clause}"
        yield ""
        yield f"{rule.sentence}{resembles}"
        yield ""
        if not mine:
            yield "No set of faults of this page breaks it."
            yield ""
        for one in short:
            yield f"<details><summary>{_words(one.faults)}, {one.depth} steps: {', '.join(one.profiles)}</summary>"
            yield ""
            yield "```text"
            yield from _numbered(one)
            yield "```"
            yield ""
            yield "</details>"
            yield ""
        if len(short) < len(mine):
            longer = dict.fromkeys(_words(one.faults) for one in mine if one.depth > SHORT)
            yield f"Longer ones: {' · '.join(longer)}."
            yield ""


def _numbered(one: Schedule) -> Iterator[str]:
    for number, step in enumerate(one.steps.split("; "), start=1):
        yield f"{number:>2}  {step}"


def _words(faults: tuple[str, ...]) -> str:
    return "the quiet world" if name_of(faults) == QUIET else " + ".join(faults)
