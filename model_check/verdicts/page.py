"""The table of verdicts as a page, `docs/generated/verdicts.md`: a function of the table and its schedules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from document.markdown import markdown
from document.parts import Code, Details, Heading, Paragraph, Part, prose, tabulated
from model_check.any_number.claims import why_no_claim
from model_check.check import BROKEN_AMONG_OTHERS
from model_check.clauses import name_of
from model_check.finding import Verdict
from model_check.front_end.lower import Lowering
from model_check.front_end.terms import Switch, Write, parts
from model_check.verdicts.among_others import ForAnyNumber, for_any_number
from model_check.verdicts.implications import Implication, implied_by
from model_check.world import ALL_FAULTS, NO_FAULTS, Environment, Profile, World
from spec.constants import FAULTS, Instance
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.verdicts.counterexamples import MinimalCounterexample
    from model_check.verdicts.table import Entry, TableOfVerdicts
    from spec.language import Property

MAP = "verdicts.svg"
"""The drawing beside the page."""

INTRO = """\
# Which guarantees break, and what it takes

For each clause of a guarantee and each version of RocketMQ this page lists all *minimal* sets of faults that break it:
nothing smaller does. The *quiet world* is the one in which nothing goes wrong at all. A number is the length of the
shortest schedule, in steps, with the instance that shows it. These instances were searched, each with so many faults at
once at most: {instances}. A set breaks a clause if it does in one of them.
What is listed nowhere holds, to [the bounds](#what-bounds-a-search) of the searches; what holds for
[any number of transactions](#for-any-number-of-transactions) is said below. `fixed` is {fixed} with the
repairs that this project knows.

What a fault is, says `spec/faults.py`; what an id such as S1 stands for, the [properties](../properties.md); what
one such as B01 stands for, `halfcheck defects`.
"""

PICTURE = """\
![For each version a map of clauses by faults, coloured by the length of the shortest schedule]({map})

Each cell has a stripe for each version. A full one says that this fault alone breaks the clause, in the first column
that the quiet world does: the darker, the shorter the schedule. A low one says that the fault breaks it together with
another one. Where the quiet world breaks a clause already, the rest of its row is pale, and a full stripe there says
that the fault shortens the schedule. A grey dot says that the search of this fault was cut short before it decided.
"""

HOW = """\
## How this page is made

`halfcheck verdicts --update` searches every environment and writes `model_check/verdicts/results/verdicts.toml` (every
verdict, with the numbers of states), `schedules.toml` beside it (every schedule), this page, which is made from those
two alone, and the map.
`make verdicts` searches everything again and compares; `make test` does so for a part. One question at a time:

```sh
halfcheck faults --profile 5.3.3 --instance {instance} --property S1
```

The table is of the specification `{specification}`.
"""


ANY_LENGTH = """\
## In runs of any length

{names} [forget what is over](../any-length.md), so that a clause which they do not break holds there however
long the broker runs. In each environment: how many of the {clauses} clauses hold in all of them, how many are broken in
some. *?* says which of them did not decide: a queue was full, or there were more states than are searched.
"""

ANY_NUMBER = """\
## For any number of transactions

[One transaction among any number of others](../any-number.md) stands for each of them, in runs of any length: what it
does not break, no number of transactions breaks. In each environment: how many clauses hold for any number, how many
are broken, and how many are not decided. The rest, of {clauses}, cannot occur there, and proves nothing.
"""

ONLY_AMONG_OTHERS = """\
Not decided, as one transaction among others breaks it, and no schedule of many is known that does:
"""

ALONE = """\
What takes such a run, and is broken in no other instance of this page, or only by more faults:
"""


BOUNDS = """\
## What bounds a search

"Holds" says that no state violates the clause in any of these instances, with these faults, and no more than that. An
instance ends where its queues are full; no transaction, no check and no fault beyond its numbers is looked at.
"""

BOUND_COLUMNS = (
    ">faults at once", ">transactions", ">half slots", ">op slots", ">checks", ">immunities", ">mishaps", ">stray ENDs",
    ">clock steps", ">cut at states",
)  # fmt: skip

COUNTS = """\
Some faults strike only so often in a run, whatever else happens:

- *mishaps* bounds, all together: {mishaps}. Two of them both strike only where an instance has
  two mishaps ({two}).{once}
- *stray ENDs* bounds, all together, END_TRANSACTIONs that are repeated or wrong: {stray_ends}.
- *clock steps* bounds {clock_steps}.

All other faults strike as often as the sizes of the instance let them.
"""

COUNTERS = ("mishaps", "stray_ends", "clock_steps")
"""Counts of the state that an instance bounds by a constant of the same name."""


def page_of(
    table: TableOfVerdicts, schedules: Sequence[MinimalCounterexample], implications: Sequence[Implication]
) -> str:
    """The text of the page."""
    instances = [f"`{size.name}` ({table.plan[size.name].most_faults})" for size in table.instances]
    last = next((str(one) for one in reversed(table.profiles) if one.is_version), "the last version")
    parts = (
        *prose(INTRO.format(instances=_and(instances), fixed=last)),
        *_summary(table),
        *prose(PICTURE.format(map=MAP)),
        *_clauses(table, schedules, implications),
        *_implications(implications),
        *_any_number(table),
        *_any_length(table),
        *_bounds(table),
        *prose(HOW.format(instance=next(iter(table.plan)), specification=table.specification)),
    )
    return markdown(parts)


def _summary(table: TableOfVerdicts) -> Iterator[Part]:
    most = max(plan.most_faults for plan in table.plan.values())
    sizes = [NO_FAULTS.in_words(), "one fault", *(f"{SMALL_NUMBERS.get(n, n)} faults" for n in range(2, most + 1))]
    yield Heading("In short")
    yield Paragraph(f"How many of the {len(table.clauses)} clauses it takes how much to break:")
    columns = (*sizes, "unbroken", "of these not decided")
    rows = [_counted(table, profile, most) for profile in table.profiles]
    yield tabulated("", *(f">{column}" for column in columns), rows=rows)
    unbroken = [c for c in table.clauses if all(weakest(table, p, c) is None for p in table.profiles)]
    if unbroken:
        yield Paragraph(
            f"Nothing breaks {_and([*map(name_of, unbroken)])} in any version, as far as the searches went."
        )
    yield Paragraph(f"How many clauses of each property are broken by {' · '.join(sizes)}; the rest is unbroken:")
    rows = []
    for name, clauses in _by_property(table).items():
        cells = []
        for profile in table.profiles:
            found = [weakest(table, profile, clause) for clause in clauses]
            counts = [found.count(size) for size in range(most + 1)]
            cells.append(" · ".join(map(str, counts)) if any(counts) else "")
        anchor = name_of(clauses[0]).replace(".", "").lower()  # as GitHub makes it of the heading
        rows.append([f"[{name}](#{anchor})", len(clauses), *cells])
    yield tabulated("property", ">clauses", *(f"^{profile}" for profile in table.profiles), rows=rows)


def _counted(table: TableOfVerdicts, profile: Profile, most: int) -> list[object]:
    sizes = [weakest(table, profile, clause) for clause in table.clauses]
    unbroken = (clause for clause, size in zip(table.clauses, sizes, strict=True) if size is None)
    undecided = [table.undecided(profile, clause) for clause in unbroken]
    left = {faults for sets in undecided for faults in sets}
    clauses = sum(map(bool, undecided))
    not_decided = f"{clauses}, for {len(left)} {'set' if len(left) == 1 else 'sets'} of faults" if left else "0"
    title = f"RocketMQ {profile}" if profile.is_version else f"`{profile}`"
    return [title, *(sizes.count(n) for n in range(most + 1)), len(undecided), not_decided]


def weakest(table: TableOfVerdicts, profile: Profile, clause: Property) -> int | None:
    """How many faults at least break a clause; None if no set does, as far as the searches went."""
    return min((len(one.environment) for one in table.minimal_sets(profile, clause)), default=None)


def _clauses(
    table: TableOfVerdicts, schedules: Sequence[MinimalCounterexample], implications: Sequence[Implication]
) -> Iterator[Part]:
    yield Heading("Clause by clause")
    yield Paragraph(
        "For each clause its minimal sets of faults, with the steps and the instance of the shortest schedule. An "
        "empty cell says that this set does not break the clause in this version, or is not minimal there. Below "
        "stands the shortest schedule for each version; `schedules.toml` in `model_check/verdicts/results/` has those "
        "of all sets, and `halfcheck replay` takes one again, step by step."
    )
    for clauses in _by_property(table).values():
        for clause in clauses:
            yield from _clause(table, clause, implications)
            yield from _shortest(table, clause, schedules)


def _clause(table: TableOfVerdicts, clause: Property, implications: Sequence[Implication]) -> Iterator[Part]:
    yield Heading(name_of(clause), 3)
    resembles = f" Resembles {', '.join(clause.resembles)}." if clause.resembles else ""
    implied = sorted(name_of(one.implied) for one in implications if one.violated == clause)
    also = f" [Implies](#what-implies-what) a violation of {_and(implied)}." if implied else ""
    yield Paragraph(f"{clause.sentence}{resembles}{also}")
    minimal = {
        profile: {one.environment: one for one in table.minimal_sets(profile, clause)} for profile in table.profiles
    }
    undecided = {profile: len(table.undecided(profile, clause)) for profile in table.profiles}
    unbroken = [profile for profile in table.profiles if not minimal[profile] and not undecided[profile]]
    if len(unbroken) == len(table.profiles):
        yield Paragraph("No such set of faults breaks it.")
        return
    shown = [profile for profile in table.profiles if profile not in unbroken]
    rows = []
    for faults in sorted({faults for profile in shown for faults in minimal[profile]}, key=lambda one: one.by_size):
        found = [minimal[profile].get(faults) for profile in shown]
        rows.append([faults.in_words(), *(f"{one.depth} {one.instance.name}" if one else "" for one in found)])
    if any(undecided.values()):
        rows.append(["*sets not decided*", *(f"*{undecided[p]}*" if undecided[p] else "" for p in shown)])
    yield tabulated("minimal sets", *(f">{profile}" for profile in shown), rows=rows)
    if unbroken:
        yield Paragraph(f"Holds in {_and([*map(str, unbroken)])}.")


def _shortest(table: TableOfVerdicts, clause: Property, schedules: Sequence[MinimalCounterexample]) -> Iterator[Part]:
    """For each version the shortest schedule; versions that share it stand together."""
    for one in shortest_of(table, clause, schedules):
        profiles = [p for p in one.profiles if one.depth == min(s.depth for s in table.minimal_sets(p, clause))]
        steps = [f"{number:>2}  {step}" for number, step in enumerate(one.steps.split("; "), start=1)]
        where = f"{one.environment.in_words()}, {one.instance.name}, {one.depth} steps"
        yield Details(f"{where}: {', '.join(map(str, profiles))}", (Code("\n".join(steps), "text"),))


def shortest_of(
    table: TableOfVerdicts, clause: Property, schedules: Sequence[MinimalCounterexample]
) -> list[MinimalCounterexample]:
    """The schedules of a clause that the page shows: for each version the first of the shortest."""
    mine = [one for one in schedules if one.clause == clause]
    chosen: list[MinimalCounterexample] = []
    for profile in table.profiles:
        theirs = [one for one in mine if profile in one.profiles]
        if theirs:
            best = min(theirs, key=lambda one: one.depth)
            chosen += [best] if best not in chosen else []
    return chosen


def _implications(implications: Sequence[Implication]) -> Iterator[Part]:
    yield Heading("What implies what")
    yield Paragraph(
        "The way to a violation of the first clause leads past one of the second, in every environment of the table "
        "that is not excepted."
    )
    rows = []
    for one in implications:
        further = implied_by(one.implied, implications) - {one.implied}
        also = f" (and so {', '.join(sorted(map(name_of, further)))})" if further else ""
        unless = f", unless with {' or '.join(one.unless)}" if one.unless else ""
        rows.append([name_of(one.violated), f"{name_of(one.implied)}{also}", f"{one.why}{unless}"])
    yield tabulated("violated", "implies", "because", rows=rows)


def _any_number(table: TableOfVerdicts) -> Iterator[Part]:
    yield from prose(ANY_NUMBER.format(clauses=len(table.clauses)))
    rows: list[list[str]] = []
    only: dict[tuple[Property, Profile], list[Environment]] = {}
    for faults in (NO_FAULTS, *(Environment([fault]) for fault in ALL_FAULTS)):
        cells = []
        for profile in table.profiles:
            verdicts = {clause: for_any_number(profile, faults, clause) for clause in table.clauses}
            cells.append(_decided(list(verdicts.values()), why_no_claim(profile, faults)))
            for clause, one in verdicts.items():
                if one.why.startswith(BROKEN_AMONG_OTHERS):
                    only.setdefault((clause, profile), []).append(faults)
        rows.append([faults.in_words(), *cells])
    yield tabulated("", *table.profile_names, rows=rows)
    if only:
        yield from prose(ONLY_AMONG_OTHERS)
        alike: dict[tuple[str, str], list[str]] = {}
        for (clause, profile), where in only.items():
            alike.setdefault((name_of(clause), ", ".join(one.name for one in where)), []).append(profile.name)
        rows = [[clause, ", ".join(profiles), where] for (clause, where), profiles in alike.items()]
        yield tabulated("clause", "versions", "environments", rows=rows)


def _decided(verdicts: Sequence[ForAnyNumber], no_claim: str) -> str:
    """How many of the clauses that can occur hold, are broken, and are open."""
    counts = {verdict: sum(one.verdict is verdict and not one.cannot_occur for one in verdicts) for verdict in Verdict}
    broken, open_ = counts[Verdict.VIOLATED], counts[Verdict.UNKNOWN]
    if no_claim:
        return f"no claim, {broken} broken"
    return f"{counts[Verdict.HOLDS]} hold, {broken} broken{f', {open_} ?' if open_ else ''}"


def _any_length(table: TableOfVerdicts) -> Iterator[Part]:
    forgetting = [size for size in table.instances if size.forgets]
    searched = [size for size in forgetting if any(table.of(profile, size) for profile in table.profiles)]
    if not searched:
        return
    yield from prose(ANY_LENGTH.format(names=_and([f"`{size.name}`" for size in searched]), clauses=len(table.clauses)))
    rows = []
    for faults in (NO_FAULTS, *(Environment([fault]) for fault in ALL_FAULTS)):
        entries = [_entries(table, profile, searched, faults) for profile in table.profiles]
        rows.append([faults.in_words(), *(_broken(found, len(table.clauses)) for found in entries)])
    yield tabulated("", *table.profile_names, rows=rows)
    alone = [
        (name_of(clause), one.environment.in_words(), profile, f"{one.depth} {one.instance.name}")
        for clause in table.clauses
        for profile in table.profiles
        for one in table.minimal_sets(profile, clause)
        if one.instance in searched and not _is_broken_elsewhere(table, profile, clause, one.environment, searched)
    ]
    if alone:
        yield from prose(ALONE)
        yield tabulated("clause", "faults", "version", ">steps", rows=alone)


def _entries(
    table: TableOfVerdicts, profile: Profile, instances: list[Instance], environment: Environment
) -> dict[str, Entry]:
    found = {instance.name: table.of(profile, instance).get(environment) for instance in instances}
    return {name: entry for name, entry in found.items() if entry is not None}


def _broken(entries: dict[str, Entry], clauses: int) -> str:
    broken = {clause for entry in entries.values() for clause in entry.violated}
    open_in = ", ".join(name for name, entry in entries.items() if entry.unknown)
    return f"{f'? {open_in};' if open_in else f'{clauses - len(broken)} hold,'} {len(broken)} broken"


def _is_broken_elsewhere(
    table: TableOfVerdicts, profile: Profile, clause: Property, environment: Environment, here: list[Instance]
) -> bool:
    return any(
        clause in entry.violated and part.is_within(environment)
        for instance in table.instances
        if instance not in here
        for part, entry in table.of(profile, instance).items()
    )


def _bounds(table: TableOfVerdicts) -> Iterator[Part]:
    yield from prose(BOUNDS)
    rows = []
    for size in table.all_instances:
        plan = table.plan[size.name]
        immunities = ", ".join("none" if ticks < 0 else str(ticks) for ticks in size.immunities)
        faults = f"{plan.most_faults}, only {' and '.join(plan.only)}" if plan.only else plan.most_faults
        sizes = (faults, size.transactions, size.half_slots, size.op_slots, size.check_max, immunities)
        counts = (size.mishaps, size.stray_ends, size.clock_steps, f"{plan.most_states:,}")
        rows.append([size.name, *sizes, *counts])
    yield tabulated("instance", *BOUND_COLUMNS, rows=rows)
    yield from prose(_counts(table))
    for profile in table.profiles:
        idle = table.idle(profile)
        if idle:
            yield Paragraph(f"In {profile} these faults do nothing: {', '.join(idle)}.")
    yield from _sizes(table)


def _counts(table: TableOfVerdicts) -> str:
    pairs = [size for size in table.instances if table.plan[size.name].most_faults > 1]
    two, once = ([size.name for size in pairs if (size.mishaps > 1) == has_two] for has_two in (True, False))
    named = {bound: ", ".join(faults) for bound, faults in counted_faults().items()}
    none_twice = (
        f" On {', '.join(once)} a pair of them says no more than each alone, and none strikes twice." if once else ""
    )
    return COUNTS.format(**named, two=", ".join(two) or "none of those with pairs", once=none_twice)


def _sizes(table: TableOfVerdicts) -> Iterator[Part]:
    yield Heading("Searches that were cut short", 3)
    yield Paragraph(
        "What they have not found is not decided, unless a smaller set breaks it or another instance shows it."
    )
    rows = [
        (profile, instance, " · ".join(one.in_words() for one in sets))
        for profile in table.profiles
        for instance, sets in table.cut_short(profile).items()
    ]
    yield tabulated("profile", "instance", "searches of", rows=rows)
    yield Heading("How large they are", 3)
    yield Paragraph(
        "Distinct states of the quiet world, and of the largest environment that has an entry in the table."
    )
    sizes = []
    for size, profile in product(table.instances, table.profiles):
        entries = table.of(profile, size)
        if entries:
            largest, most = max(entries.items(), key=lambda entry: entry[1].distinct)
            which = f"{largest.in_words()}{', cut short' if most.unknown else ''}"
            sizes.append((size.name, profile, f"{entries[NO_FAULTS].distinct:,}", f"{most.distinct:,}", which))
    yield tabulated("instance", "profile", ">quiet", ">largest", "that is", rows=sizes)


SMALL_NUMBERS = {2: "two", 3: "three"}


def _by_property(table: TableOfVerdicts) -> dict[str, list[Property]]:
    properties: dict[str, list[Property]] = {}
    for clause in table.clauses:
        properties.setdefault(clause.identifier, []).append(clause)
    return properties


def _and(words: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


@cache
def counted_faults() -> dict[str, tuple[str, ...]]:
    """By bound, the faults of which an action that assumes one of them adds to the count, in their order.

    Taken from the source: from what the rules `assume` and from what the actions write.
    """
    machine = TRANSACTIONAL_MESSAGES
    constants = World.of("5.3.3").constants
    lowering = Lowering(machine, constants)  # it leaves all switches open, so that the profile is of no matter
    counted: dict[str, set[str]] = {bound: set() for bound in COUNTERS}
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
        for bound in COUNTERS:
            if (bound,) in written:
                counted[bound] |= assumed
    return {bound: tuple(fault for fault in FAULTS if fault in counted[bound]) for bound in COUNTERS}
