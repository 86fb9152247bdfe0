"""Is the table of verdicts of this specification, and do searches, schedules and the page say what it says?

`make verdicts` searches all of it; here are the quiet world and each fault on `tiny`, and a sample of larger sets of
faults there and of all environments of `small`.
"""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256
from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from halfcheck.verdicts.drawing import BAND, UNDECIDED, cells, draw
from halfcheck.verdicts.files import VerdictFiles
from model_check.check import check
from model_check.clauses import clause_names, clauses_by_name, name_of
from model_check.defects.resemblance import still_breaks
from model_check.instances import load_instance
from model_check.question import Question
from model_check.verdicts.counterexamples import in_order_of, read_counterexamples
from model_check.verdicts.implications import implied_by
from model_check.verdicts.minimal_faults import find_minimal_faults
from model_check.verdicts.regeneration import differences, differing, entries_of
from model_check.verdicts.searches import CachedSearches, Searches
from model_check.verdicts.table import Entry, table_of_verdicts
from model_check.world import NO_FAULTS, Environment, Profile, World
from spec.constants import FAULTS
from spec.profiles import PROFILES, distinct
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.sampled import sampled as each_nth

if TYPE_CHECKING:
    from pathlib import Path

    from spec.constants import Instance

FILES = VerdictFiles()
TABLE = table_of_verdicts()
SCHEDULES, OF = read_counterexamples(FILES.schedules)
IMPLICATIONS = FILES.implications()
CLAUSES = clauses_by_name()

SAMPLE = {"tiny": 5, "small": 1}
"""Environments that are searched again in each profile: the quiet world, and so many more."""

AFFORDABLE = 500_000
"""States of an environment that may be in the sample."""

STALE = "run `make verdicts ARGS=--update`"


def test_the_table_is_of_this_specification() -> None:
    assert TABLE.stale() == [], STALE
    assert TABLE.specification == OF, STALE


@pytest.mark.parametrize("profile", PROFILES)
def test_the_table_speaks_of_the_quiet_world_and_of_every_fault(profile: str) -> None:
    for instance in TABLE.instances:
        entries, most = TABLE.of(Profile.of(profile), instance), TABLE.plan[instance.name].most_faults
        each = [Environment([fault]) for fault in FAULTS]
        single = [one for one in each if most or entries.get(one, entries[NO_FAULTS]).is_idle]
        assert list(entries)[: 1 + len(single)] == [NO_FAULTS, *single], STALE
        assert all(len(environment) <= max(most, entry.is_idle) for environment, entry in entries.items())


@pytest.mark.parametrize("profile", PROFILES)
def test_fewer_faults_break_no_more(profile: str) -> None:
    for instance in TABLE.instances:
        entries = TABLE.of(Profile.of(profile), instance)
        for environment, entry in entries.items():
            if entry.unknown and instance.forgets:
                continue  # what a fault may still reach is kept, and takes the room that a shorter way wants
            smaller = [entries[part] for part in environment.smaller() if part in entries]
            for name, clause in CLAUSES.items():
                for part in smaller:
                    if clause in part.violated and clause not in entry.unknown:
                        here = profile, instance.name, environment.name, name
                        assert entry.violated[clause] <= part.violated[clause], here


@pytest.mark.untraced
@pytest.mark.parametrize("profile", each_nth(distinct(PROFILES), 3))
@pytest.mark.parametrize("instance", ["tiny"])
def test_every_entry_of_tiny_with_one_fault_is_what_the_searches_give(
    profile: str, instance: str, tmp_path: Path
) -> None:
    plan, asked, size = TABLE.plan[instance], Profile.of(profile), load_instance(instance)
    found = find_minimal_faults(
        [asked],
        size,
        tuple(CLAUSES.values()),
        Searches(CachedSearches(tmp_path / "cached"), most_states=plan.most_states),
        most_faults=1,
        is_hasty=False,
        with_schedules=False,
    )
    single = {environment: entry for environment, entry in TABLE.of(asked, size).items() if len(environment) <= 1}
    assert len(single) == 1 + len(FAULTS)
    assert differences(f"{profile} {instance}", single, entries_of(found, asked)) == [], STALE


def sampled(profile: Profile, instance: Instance) -> list[Environment]:
    """Environments that were searched whole and are small enough, chosen by the hash of their names."""
    entries = TABLE.of(profile, instance)

    def is_affordable(environment: Environment) -> bool:
        known = [entries[part] for part in (*environment.smaller(), environment) if part in entries]
        return all(entry.distinct <= AFFORDABLE // len(known) and not entry.unknown for entry in known)

    sizes = range(1, TABLE.plan[instance.name].most_faults + 1)
    every = [Environment(faults) for size in sizes for faults in combinations(FAULTS, size)]
    chosen = sorted(every, key=lambda one: sha256(f"{profile} {one.name}".encode()).digest())
    return [NO_FAULTS, *[one for one in chosen if is_affordable(one)][: SAMPLE[instance.name]]]


@pytest.mark.untraced
@pytest.mark.parametrize("profile", distinct(PROFILES))
@pytest.mark.parametrize("instance", SAMPLE)
def test_a_sample_is_what_the_searches_give(profile: str, instance: str) -> None:
    asked, size = Profile.of(profile), load_instance(instance)
    entries, sample = TABLE.of(asked, size), sampled(asked, size)
    assert len(sample) == 1 + SAMPLE[instance]
    for environment in sample:
        world = World(asked, environment, size)
        found = check(Question(world=world, paths=(), most_states=TABLE.plan[instance].most_states))
        violated = {clause: row.depth for clause, row in found.violated.items()}
        searched = Entry(found.numbers.distinct, found.numbers.generated, found.numbers.depth, violated)
        if environment in entries and not entries[environment].is_idle:
            assert (str(world), differing(entries[environment], searched)) == (str(world), []), STALE
        else:
            broken = {clause for part in environment.smaller() for clause in entries[part].violated}
            assert violated.keys() == broken, f"{world}: {STALE}"


@pytest.mark.untraced
def test_an_instance_of_some_worlds_only_is_searched_there_and_nowhere_else() -> None:
    """One among others has led there: the search is that of many, to the depth of what it was for."""
    (size,) = set(TABLE.all_instances) - set(TABLE.instances)
    (world,) = TABLE.plan[size.name].worlds(size)
    assert [len(TABLE.of(profile, size)) for profile in Profile.all()] == [
        profile.name == "fixed" for profile in Profile.all()
    ]
    (entry,) = TABLE.of(world.profile, size).values()
    clause = CLAUSES["S1.end_after_escape"]
    (row,) = check(Question(world=world, clauses=(clause,), until=(clause,))).violated.values()
    assert row.depth == entry.violated[clause] == 14, STALE
    assert (world.environment, 14, size) in TABLE.minimal_sets(world.profile, clause)


def test_there_is_a_schedule_for_every_minimal_set() -> None:
    wanted = {
        (profile, clause, *one)
        for profile in Profile.all()
        for clause in CLAUSES.values()
        for one in TABLE.minimal_sets(profile, clause)
    }
    there = {(profile, s.clause, s.environment, s.depth, s.instance) for s in SCHEDULES for profile in s.profiles}
    assert there == wanted, STALE
    assert wanted
    assert len({instance.name for *_, instance in there}) > 1, "not all of one instance"
    assert in_order_of(TABLE, reversed(SCHEDULES)) == list(SCHEDULES)


@pytest.mark.parametrize("clause", clause_names())
def test_every_schedule_breaks_its_clause_in_its_profiles_with_its_last_step(clause: str) -> None:
    for one in SCHEDULES:
        for profile in one.profiles if name_of(one.clause) == clause else ():
            constants, path = one.world(profile).constants, one.path(profile)
            broken, before = (
                still_breaks(TRANSACTIONAL_MESSAGES, constants, one.clause, steps) for steps in (path, path[:-1])
            )
            assert (broken, before) == (True, False), f"{profile} {one.environment}: {one.steps}"


def test_every_declared_implication_is_shown_by_the_table_and_by_no_entry_refuted() -> None:
    assert FILES.refuted(TABLE) == []
    assert IMPLICATIONS
    for one in IMPLICATIONS:
        rest = [other for other in IMPLICATIONS if other != one]
        said = f"{name_of(one.violated)} → {name_of(one.implied)}"
        assert one.implied not in implied_by(one.violated, rest), f"{said} follows from others"


def test_the_page_is_what_the_table_and_the_schedules_give() -> None:
    page = FILES.page.read_text(encoding="utf-8")
    assert page == FILES.page_text(), STALE
    for size in TABLE.instances:
        assert f"`{size.name}` ({TABLE.plan[size.name].most_faults})" in page, (
            "and no more faults than were searched in it are said to be"
        )


def section_of(clause: str) -> str:
    page = FILES.page.read_text(encoding="utf-8")
    return page.partition(f"### {clause}\n")[2].partition("\n### ")[0].partition("\n## ")[0]


def cells_of(section: str, row: str) -> dict[str, str]:
    """Profile → what a row of the section's table says of it."""
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line[:1] == "|"]
    found = next((line for line in lines if line[0] == row), None)
    return dict(zip(lines[0][1:], found[1:], strict=True)) if found else {}


@pytest.mark.parametrize("clause", clause_names())
def test_the_page_shows_every_minimal_set_and_for_each_version_the_shortest_schedule(clause: str) -> None:
    section = section_of(clause)
    sets = {profile: TABLE.minimal_sets(profile, CLAUSES[clause]) for profile in Profile.all()}
    for profile, mine in sets.items():
        name = profile.name
        for environment, depth, instance in mine:
            assert cells_of(section, environment.in_words())[name] == f"{depth} {instance.name}"
        undecided = len(TABLE.undecided(profile, CLAUSES[clause]))
        told = cells_of(section, "*sets not decided*").get(name, "")
        assert told == (f"*{undecided}*" if undecided else "")
        holds = not mine and not undecided
        said_of_all = "No such set of faults breaks it." in section
        assert holds == (said_of_all or name in section.partition("Holds in ")[2].partition("\n")[0])
        schedules = [s for s in SCHEDULES if name_of(s.clause) == clause and profile in s.profiles]
        if schedules:
            depth = min(s.depth for s in schedules)
            summaries = re.findall(r"<summary>.*, (\d+) steps: (.*)</summary>", section)
            assert depth in {int(steps) for steps, profiles in summaries if name in profiles.split(", ")}
    shown = sum(len(one) for one in sets.values())
    assert sum(bool(cell) for row in rows_of(section) for cell in row) == shown


def rows_of(section: str) -> list[list[str]]:
    """The cells of the minimal sets in the section's table."""
    lines = [line.split("|") for line in section.splitlines() if line[:1] == "|"][2:]
    return [[cell.strip() for cell in line[2:-1]] for line in lines if "not decided" not in line[1]]


def test_the_page_sums_up_what_it_takes_in_each_version() -> None:
    page = FILES.page.read_text(encoding="utf-8")
    assert "](generated/verdicts.md)" in (FILES.page.parents[1] / "index.md").read_text(encoding="utf-8")
    for profile in Profile.all():
        row = next(
            line for line in page.splitlines() if line.startswith((f"| RocketMQ {profile} |", f"| `{profile}` |"))
        )
        least = [
            min((len(one.environment) for one in TABLE.minimal_sets(profile, c)), default=-1) for c in TABLE.clauses
        ]
        most = max(plan.most_faults for plan in TABLE.plan.values())
        assert [int(cell) for cell in row.split("|")[2 : most + 4]] == [
            least.count(size) for size in (*range(most + 1), -1)
        ]


def test_the_page_names_every_search_that_was_cut_short() -> None:
    page = FILES.page.read_text(encoding="utf-8")
    for profile, instance, environment, entry in TABLE.everything():
        row = next((line for line in page.splitlines() if line.startswith(f"| {profile} | {instance} | ")), "")
        sets = row.split("|")[3].strip().split(" · ") if row else []
        assert (environment.in_words() in sets) == bool(entry.unknown), (profile, instance, environment)


def test_the_map_has_a_mark_for_every_cell() -> None:
    drawn = FILES.map.read_text(encoding="utf-8")
    fills = rf'fill="(?:rgb[^"]*|{BAND}|{UNDECIDED})"'
    assert re.findall(fills, draw(TABLE)) == re.findall(fills, drawn), STALE
    kinds = Counter(mark["kind"] for mark in cells(TABLE))
    assert drawn.count(f'fill="{BAND}"') == kinds["band"]
    assert drawn.count(f'fill="{UNDECIDED}"') == kinds["dot"]
    assert len(re.findall(r'fill="rgb', drawn)) == kinds["full"] + kinds["half"]
    for profile in PROFILES:
        marked = {
            (m["clause"], f)
            for m in cells(TABLE)
            if m["profile"] == profile and m["kind"] != "dot"
            for f in [m["fault"]]
        }
        for name, clause in CLAUSES.items():
            for environment, *_ in TABLE.minimal_sets(Profile.of(profile), clause):
                assert all((name, fault) in marked for fault in environment or ("quiet",))
    for name in (*FAULTS, *clause_names()):
        assert f">{name}<" in drawn, STALE
    assert " · ".join(PROFILES) in drawn
