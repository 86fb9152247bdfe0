"""The table of verdicts as a page, `docs/generated/verdicts.md`: a function of the table and its schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.verdicts.environment import in_words
from model_check.verdicts.implications import implied_by
from model_check.verdicts.page_of_any_length import any_length
from model_check.verdicts.page_of_bounds import bounds
from model_check.verdicts.table import by_size
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from model_check.verdicts.counterexamples import MinimalCounterexample
    from model_check.verdicts.implications import Implication
    from model_check.verdicts.table import Minimal, Table
    from spec.language import Property

MAP = "verdicts.svg"
"""The drawing beside the page."""

INTRO = """\
# Which guarantees break, and what it takes

For each clause of a guarantee and each version of RocketMQ this page lists all *minimal* sets of faults that break it:
nothing smaller does. The *quiet world* is the one in which nothing goes wrong at all. A number is the length of the
shortest schedule, in steps, with the instance that shows it. These instances were searched, each with so many faults at
once at most: {instances}. A set breaks a clause if it does in one of them.
What is listed nowhere holds, to [the bounds](#what-bounds-a-search) of the searches; what holds without such bounds is
said [below](#in-runs-of-any-length). `fixed` is {fixed} with the
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
halfcheck check --minimal-faults --profile 5.3.3 --instance {instance} --property S1
```

The table is of the specification `{specification}`.
"""


def page_of(table: Table, schedules: Sequence[MinimalCounterexample], implications: Sequence[Implication]) -> str:
    """The text of the page."""
    plan = list(table.plan)
    most = max(plan.most_faults for plan in table.plan.values())
    lines = [
        INTRO.format(
            instances=_and([f"`{name}` ({plan.most_faults})" for name, plan in table.plan.items()]),
            fixed=_last_version(table),
        ),
        *_summary(table, most),
        PICTURE.format(map=MAP),
        *_clauses(table, schedules, implications),
        *_implications(implications),
        *any_length(table),
        *bounds(table),
        HOW.format(instance=plan[0], specification=table.specification),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _last_version(table: Table) -> str:
    return next((name for name in reversed(table.profiles) if name[:1].isdigit()), "the last version")


# --- in short ---------------------------------------------------------------------------------------------------------


def _summary(table: Table, most: int) -> Iterator[str]:
    sizes = [in_words(()), "one fault", *(f"{SMALL_NUMBERS.get(n, n)} faults" for n in range(2, most + 1))]
    yield "## In short"
    yield ""
    yield f"How many of the {len(table.clauses)} clauses it takes how much to break:"
    yield ""
    yield f"| | {' | '.join(sizes)} | unbroken | of these not decided |"
    yield f"|---|{'--:|' * (len(sizes) + 2)}"
    for profile in table.profiles:
        sizes_of = {clause: weakest(table, profile, clause) for clause in table.clauses}
        unbroken = [clause for clause, size in sizes_of.items() if size is None]
        open_ones = [clause for clause in unbroken if table.undecided(profile, clause)]
        left = {faults for clause in open_ones for faults in table.undecided(profile, clause)}
        told = f"{len(open_ones)}, for {len(left)} {'set' if len(left) == 1 else 'sets'} of faults" if left else "0"
        counts = [sum(size == n for size in sizes_of.values()) for n in range(most + 1)]
        yield f"| {_title(profile)} | {' | '.join(map(str, (*counts, len(unbroken))))} | {told} |"
    yield ""
    unbroken = [c for c in table.clauses if all(weakest(table, p, c) is None for p in table.profiles)]
    if unbroken:
        yield f"Nothing breaks {_and(unbroken)} in any version, as far as the searches went."
        yield ""
    yield f"How many clauses of each property are broken by {' · '.join(sizes)}; the rest is unbroken:"
    yield ""
    yield f"| property | clauses | {' | '.join(table.profiles)} |"
    yield f"|---|--:|{':-:|' * len(table.profiles)}"
    for name, clauses in _by_property(table).items():
        cells = []
        for profile in table.profiles:
            found = [weakest(table, profile, clause) for clause in clauses]
            counts = [found.count(size) for size in range(most + 1)]
            cells.append(" · ".join(map(str, counts)) if any(counts) else "")
        yield f"| [{name}](#{_anchor(clauses[0])}) | {len(clauses)} | {' | '.join(cells)} |"
    yield ""


def weakest(table: Table, profile: str, clause: str) -> int | None:
    """How many faults at least break a clause; None if no set does, as far as the searches went."""
    return min((len(one.faults) for one in table.minimal_sets(profile, clause)), default=None)


# --- clause by clause -------------------------------------------------------------------------------------------------


def _clauses(
    table: Table, schedules: Sequence[MinimalCounterexample], implications: Sequence[Implication]
) -> Iterator[str]:
    yield "## Clause by clause"
    yield ""
    yield (
        "For each clause its minimal sets of faults, with the steps and the instance of the shortest schedule. An "
        "empty cell says that this set does not break the clause in this version, or is not minimal there. Below "
        "stands the shortest schedule for each version; `schedules.toml` in `model_check/verdicts/results/` has those "
        "of all sets, and `halfcheck replay` takes one again, step by step."
    )
    yield ""
    rules = {f"{rule.identifier}.{rule.clause}": rule for rule in TRANSACTIONAL_MESSAGES.clauses}
    for clauses in _by_property(table).values():
        for clause in clauses:
            yield from _clause(table, clause, rules[clause], implications)
            yield from _shortest(table, clause, schedules)


def _clause(table: Table, clause: str, rule: Property, implications: Sequence[Implication]) -> Iterator[str]:
    yield f"### {clause}"
    yield ""
    resembles = f" Resembles {', '.join(rule.resembles)}." if rule.resembles else ""
    implied = sorted(one.implied for one in implications if one.violated == clause)
    also = f" [Implies](#what-implies-what) a violation of {_and(implied)}." if implied else ""
    yield f"{rule.sentence}{resembles}{also}"
    yield ""
    minimal = {profile: {one.faults: one for one in table.minimal_sets(profile, clause)} for profile in table.profiles}
    undecided = {profile: len(table.undecided(profile, clause)) for profile in table.profiles}
    unbroken = [profile for profile in table.profiles if not minimal[profile] and not undecided[profile]]
    if len(unbroken) == len(table.profiles):
        yield "No such set of faults breaks it."
        yield ""
        return
    shown = [profile for profile in table.profiles if profile not in unbroken]
    yield f"| minimal sets | {' | '.join(shown)} |"
    yield f"|---|{'--:|' * len(shown)}"
    for faults in sorted({faults for profile in shown for faults in minimal[profile]}, key=by_size):
        yield f"| {in_words(faults)} | {' | '.join(_cell(minimal[profile].get(faults)) for profile in shown)} |"
    if any(undecided.values()):
        yield f"| *sets not decided* | {' | '.join(f'*{undecided[p]}*' if undecided[p] else '' for p in shown)} |"
    yield ""
    if unbroken:
        yield f"Holds in {_and(unbroken)}."
        yield ""


def _cell(one: Minimal | None) -> str:
    return f"{one.depth} {one.instance}" if one else ""


def _shortest(table: Table, clause: str, schedules: Sequence[MinimalCounterexample]) -> Iterator[str]:
    """One schedule for each version, the shortest; versions that share it stand together."""
    for one in shortest_of(table, clause, schedules):
        profiles = [p for p in one.profiles if one.depth == min(s.depth for s in table.minimal_sets(p, clause))]
        yield (
            f"<details><summary>{in_words(one.faults)}, {one.instance}, {one.depth} steps: "
            f"{', '.join(profiles)}</summary>"
        )
        yield ""
        yield "```text"
        yield from _numbered(one)
        yield "```"
        yield ""
        yield "</details>"
        yield ""


def shortest_of(table: Table, clause: str, schedules: Sequence[MinimalCounterexample]) -> list[MinimalCounterexample]:
    """The schedules of a clause that the page shows: for each version the first of the shortest."""
    mine = [one for one in schedules if one.clause == clause]
    chosen: list[MinimalCounterexample] = []
    for profile in table.profiles:
        theirs = [one for one in mine if profile in one.profiles]
        if theirs:
            best = min(theirs, key=lambda one: one.depth)
            chosen += [best] if best not in chosen else []
    return chosen


def _numbered(one: MinimalCounterexample) -> Iterator[str]:
    for number, step in enumerate(one.steps.split("; "), start=1):
        yield f"{number:>2}  {step}"


# --- what implies what ------------------------------------------------------------------------------------------------


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


# --- words ------------------------------------------------------------------------------------------------------------

SMALL_NUMBERS = {2: "two", 3: "three"}


def _title(profile: str) -> str:
    return f"RocketMQ {profile}" if profile[:1].isdigit() else f"`{profile}`"


def _by_property(table: Table) -> dict[str, list[str]]:
    properties: dict[str, list[str]] = {}
    for clause in table.clauses:
        properties.setdefault(clause.partition(".")[0], []).append(clause)
    return properties


def _anchor(clause: str) -> str:
    """Of the heading of a clause, as GitHub makes it."""
    return clause.replace(".", "").lower()


def _and(words: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)
