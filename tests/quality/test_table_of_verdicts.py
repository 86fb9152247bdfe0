"""Is the table of verdicts of this specification, and do searches, schedules and the page say what it says?

`make verdicts` searches all of it; here are the quiet world and each fault on `tiny`, and a sample of larger sets of
faults there and of all environments of `small`.
"""

from __future__ import annotations

import re
from hashlib import sha256
from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from halfcheck.verdict_files import VerdictFiles
from halfcheck.verdict_map import cells, draw
from model_check.counterexample.steps import read_path, replay
from model_check.instances import constants_for, load_instance
from model_check.verdicts.differences import differences, differing
from model_check.verdicts.environment import Environment, clause_names, faults_of, name_of, parts, search_environment
from model_check.verdicts.implications import implied_by
from model_check.verdicts.kept import KeptSearches
from model_check.verdicts.minimal_faults import find_minimal_faults
from model_check.verdicts.page import SHORT, shown_instance
from model_check.verdicts.schedules import read_schedules
from model_check.verdicts.searches import Searches
from model_check.verdicts.table import Entry, entries_of
from spec.constants import FAULTS
from spec.profiles import PROFILES
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from pathlib import Path

FILES = VerdictFiles()
TABLE = FILES.table()
SCHEDULES, OF = read_schedules(FILES.schedules)
IMPLICATIONS = FILES.implications()

SAMPLE = {"tiny": 20, "small": 3}
"""Environments that are searched again in each profile: the quiet world, and so many more."""

AFFORDABLE = 1_000_000
"""States of an environment that may be in the sample."""

STALE = "run `make verdicts ARGS=--update`"


def test_the_table_is_of_this_specification() -> None:
    assert TABLE.stale() == [], STALE
    assert TABLE.specification == OF, STALE


@pytest.mark.parametrize("profile", PROFILES)
def test_the_table_speaks_of_the_quiet_world_and_of_every_fault(profile: str) -> None:
    for instance in TABLE.plan:
        names = list(TABLE.of(profile, instance))
        assert names[: 1 + len(FAULTS)] == ["quiet", *FAULTS], STALE
        assert all(len(faults_of(name)) <= TABLE.plan[instance].most_faults for name in names)


@pytest.mark.parametrize("profile", PROFILES)
def test_fewer_faults_break_no_more(profile: str) -> None:
    for instance in TABLE.plan:
        entries = TABLE.of(profile, instance)
        for name, entry in entries.items():
            smaller = [entries[name_of(part)] for part in parts(faults_of(name)) if name_of(part) in entries]
            for clause in clause_names():
                for part in smaller:
                    if clause in part.violated and clause not in entry.unknown:
                        assert entry.violated[clause] <= part.violated[clause], (profile, instance, name, clause)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("instance", ["tiny"])
def test_every_entry_of_tiny_with_one_fault_is_what_the_searches_give(
    profile: str, instance: str, tmp_path: Path
) -> None:
    plan = TABLE.plan[instance]
    found = find_minimal_faults(
        [profile],
        load_instance(instance),
        clause_names(),
        Searches(KeptSearches(tmp_path / "kept"), most_states=plan.most_states),
        most_faults=1,
        is_hasty=False,
        with_schedules=False,
    )
    single = {name: entry for name, entry in TABLE.of(profile, instance).items() if len(faults_of(name)) <= 1}
    assert len(single) == 1 + len(FAULTS)
    assert differences(profile, instance, single, entries_of(found, profile)) == [], STALE


def sampled(profile: str, instance: str) -> list[tuple[str, ...]]:
    """Environments that were searched whole and are small enough, chosen by the hash of their names."""
    entries = TABLE.of(profile, instance)

    def is_affordable(faults: tuple[str, ...]) -> bool:
        known = [entries[name_of(part)] for part in (*parts(faults), faults) if name_of(part) in entries]
        return all(entry.distinct <= AFFORDABLE // len(known) and not entry.unknown for entry in known)

    every = [f for size in range(1, TABLE.plan[instance].most_faults + 1) for f in combinations(FAULTS, size)]
    chosen = sorted(every, key=lambda faults: sha256(f"{profile} {name_of(faults)}".encode()).digest())
    return [(), *[faults for faults in chosen if is_affordable(faults)][: SAMPLE[instance]]]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("instance", SAMPLE)
def test_a_sample_is_what_the_searches_give(profile: str, instance: str) -> None:
    entries = TABLE.of(profile, instance)
    sample = sampled(profile, instance)
    assert len(sample) == 1 + SAMPLE[instance]
    for faults in sample:
        environment = Environment(profile, faults, load_instance(instance))
        found = search_environment(environment, most_states=TABLE.plan[instance].most_states)
        searched = Entry(found.distinct, found.generated, found.depth, found.violated)
        name = name_of(faults)
        if name in entries and not entries[name].is_idle:
            assert (str(environment), differing(entries[name], searched)) == (str(environment), []), STALE
        else:
            broken = {clause for part in parts(faults) for clause in entries[name_of(part)].violated}
            assert found.violated.keys() == broken, f"{environment}: {STALE}"


def test_there_is_a_schedule_for_every_minimal_set() -> None:
    wanted = {
        (instance, profile, clause, faults, depth)
        for instance, plan in TABLE.plan.items()
        if plan.schedules
        for profile in PROFILES
        for clause in clause_names()
        for faults, depth in TABLE.minimal_sets(profile, instance, clause)
    }
    there = {(s.instance, profile, s.clause, s.faults, s.depth) for s in SCHEDULES for profile in s.profiles}
    assert there == wanted, STALE
    assert wanted


@pytest.mark.parametrize("clause", clause_names())
def test_every_schedule_breaks_its_clause_in_its_profiles_with_its_last_step(clause: str) -> None:
    for one in SCHEDULES:
        for profile in one.profiles if one.clause == clause else ():
            constants = constants_for(profile, one.faults, one.instance)
            path = read_path(TRANSACTIONAL_MESSAGES, constants, one.steps)
            broken, before = (
                {f"{c.identifier}.{c.clause}" for c in replay(TRANSACTIONAL_MESSAGES, constants, steps).violated}
                for steps in (path, path[:-1])
            )
            assert clause in broken - before, f"{profile} {one.faults}: {one.steps}"


def test_every_declared_implication_is_shown_by_the_table_and_by_no_entry_refuted() -> None:
    assert FILES.refuted(TABLE) == []
    assert IMPLICATIONS
    for one in IMPLICATIONS:
        rest = [other for other in IMPLICATIONS if other != one]
        assert one.implied not in implied_by(one.violated, rest), f"{one.violated} → {one.implied} follows from others"


def test_the_page_is_what_the_table_and_the_schedules_give() -> None:
    assert FILES.page.read_text(encoding="utf-8") == FILES.page_text(), STALE


def test_the_page_shows_every_minimal_set_and_every_short_schedule() -> None:
    page = FILES.page.read_text(encoding="utf-8")
    for profile in PROFILES:
        section = page.partition(f"{profile}\n\n")[2].partition("\n## ")[0]
        for clause in clause_names():
            for faults, depth in TABLE.minimal_sets(profile, shown_instance(TABLE), clause):
                row = next(line for line in section.splitlines() if line.startswith(f"| {clause} |"))
                assert f"{' + '.join(faults) or 'the quiet world'} {depth}" in row
    assert page.count("<details>") == sum(one.depth <= SHORT for one in SCHEDULES)
    assert "](verdicts.md)" in FILES.page.with_name("index.md").read_text(encoding="utf-8")


def test_the_map_has_a_mark_for_every_cell() -> None:
    drawn = FILES.map.read_text(encoding="utf-8")
    marks = cells(TABLE)
    assert re.findall(r'fill="(?:rgb[^"]*|#ece7f2|#9a9a9a)"', draw(TABLE)) == re.findall(
        r'fill="(?:rgb[^"]*|#ece7f2|#9a9a9a)"', drawn
    ), STALE
    shown = drawn.count('fill="#ece7f2"')
    assert shown == sum(mark["kind"] == "bar" for mark in marks)
    for name in (*PROFILES, *FAULTS, *clause_names()):
        assert f">{name}<" in drawn, STALE
