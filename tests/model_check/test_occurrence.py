"""What a clause needs, held against the table of verdicts: nothing breaks it without, and nothing in it is idle."""

from functools import cache

import pytest

from model_check.clauses import clauses_by_name
from model_check.occurrence import FEATURES, SWITCHES, is_met, why_it_cannot_occur
from model_check.verdicts.table import Entry, table_of_verdicts
from model_check.world import World
from spec.constants import FAULTS, Constants
from spec.language import Property

TABLE = table_of_verdicts()
CLAUSES = clauses_by_name()
UNBROKEN = {"S1.unexplained", "S5.no_commit_arrived", "S8.skipped_by_exception", "S9.unexplained"}


@cache
def worlds() -> list[tuple[World, Entry]]:
    return [
        (World.of(profile, environment, instance), entry)
        for profile, instance, environment, entry in TABLE.everything()
    ]


def breaking(name: str) -> list[Constants]:
    return [world.constants for world, entry in worlds() if CLAUSES[name] in entry.violated]


def alternatives(clause: Property) -> list[tuple[str, str]]:
    return [(need, one) for need in clause.needs for one in need.split(" or ")]


@pytest.mark.parametrize("name", CLAUSES)
def test_what_the_table_breaks_can_occur(name: str) -> None:
    wrong = [
        (world.title, why)
        for world, entry in worlds()
        if CLAUSES[name] in entry.violated and (why := why_it_cannot_occur(CLAUSES[name], world.constants))
    ]
    assert wrong == []


@pytest.mark.parametrize("name", sorted(CLAUSES.keys() - UNBROKEN))
def test_where_a_clause_can_occur_some_release_breaks_it(name: str) -> None:
    assert any(not why_it_cannot_occur(CLAUSES[name], constants) for constants in breaking(name))


def test_the_clauses_that_nothing_breaks_are_those_that_no_release_can_break() -> None:
    assert {name for name in CLAUSES if not breaking(name)} == UNBROKEN


@pytest.mark.parametrize("name", sorted(CLAUSES.keys() - UNBROKEN))
def test_each_need_rules_something_out_and_each_alternative_is_needed(name: str) -> None:
    clause, broken = CLAUSES[name], breaking(name)
    for need, one in alternatives(clause):
        others = [other for other in need.split(" or ") if other != one]
        assert any(not any(is_met(other, c) for other in others) for c in broken), f"{one} is not needed"
    for need in clause.needs:
        names = need.split(" or ")
        assert any(not any(is_met(one, world.constants) for one in names) for world, _ in worlds()), (
            f"{need} is always met"
        )


def test_each_name_in_needs_has_its_words() -> None:
    named = {one for clause in CLAUSES.values() for _, one in alternatives(clause)}
    assert named - set(FAULTS) == FEATURES.keys() | SWITCHES.keys()


def test_a_wrong_repair_makes_an_exception_skip_halves() -> None:
    """It is one of the clauses that no release breaks: what it needs is a change that was proposed."""
    clause = CLAUSES["S8.skipped_by_exception"]
    assert why_it_cannot_occur(clause, World.of("5.4.0", FAULTS).constants)
    assert not why_it_cannot_occur(clause, World.of("5.4.0+commits_after_exception", ("null_half",)).constants)


@pytest.mark.parametrize(("fault", "instance"), [("retention", "deep"), ("clock_skew", "deep"), ("clock_step", "deep")])
def test_a_fault_is_not_enough_where_an_instance_has_no_room_for_it(fault: str, instance: str) -> None:
    """All that only this fault breaks cannot occur in an instance in which it does nothing."""
    alone = [clause for clause in CLAUSES.values() if clause.needs and fault in clause.needs[0].split(" or ")]
    lacking, with_it = (World.of("5.4.0", faults, instance).constants for faults in ((), (fault,)))
    assert alone
    for clause in alone:
        assert bool(why_it_cannot_occur(clause, with_it)) == bool(why_it_cannot_occur(clause, lacking)), clause
    assert not is_met(fault, with_it)
    assert is_met(fault, World.of("5.4.0", (fault,)).constants)
