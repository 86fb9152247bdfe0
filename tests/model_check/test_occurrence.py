"""What a clause needs, held against the table of verdicts: nothing breaks it without, and nothing in it is idle."""

from functools import cache

import pytest

from model_check.clauses import clause_names
from model_check.instances import constants_for
from model_check.occurrence import FEATURES, SWITCHES, is_met, why_it_cannot_occur
from model_check.verdicts.environment import faults_of
from model_check.verdicts.table import Entry, table_of_verdicts
from spec.constants import FAULTS, Constants
from spec.language import Property
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

TABLE = table_of_verdicts()
CLAUSES = dict(zip(clause_names(), TRANSACTIONAL_MESSAGES.clauses, strict=True))
UNBROKEN = {"S1.unexplained", "S5.no_commit_arrived", "S8.skipped_by_exception", "S9.unexplained"}


@cache
def worlds() -> list[tuple[str, str, str, Constants, Entry]]:
    return [
        (profile, instance, name, constants_for(profile, faults_of(name), instance), entry)
        for profile, instance, name, entry in TABLE.everything()
    ]


def breaking(name: str) -> list[Constants]:
    return [constants for *_, constants, entry in worlds() if name in entry.violated]


def alternatives(clause: Property) -> list[tuple[str, str]]:
    return [(need, one) for need in clause.needs for one in need.split(" or ")]


@pytest.mark.parametrize("name", CLAUSES)
def test_what_the_table_breaks_can_occur(name: str) -> None:
    wrong = [
        (profile, instance, environment, why_it_cannot_occur(CLAUSES[name], constants))
        for profile, instance, environment, constants, entry in worlds()
        if name in entry.violated and why_it_cannot_occur(CLAUSES[name], constants)
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
        assert any(not any(is_met(one, c) for one in names) for *_, c, _entry in worlds()), f"{need} is always met"


def test_each_name_in_needs_has_its_words() -> None:
    named = {one for clause in CLAUSES.values() for _, one in alternatives(clause)}
    assert named - set(FAULTS) == FEATURES.keys() | SWITCHES.keys()


def test_a_wrong_repair_makes_an_exception_skip_halves() -> None:
    """It is one of the clauses that no release breaks: what it needs is a change that was proposed."""
    clause = CLAUSES["S8.skipped_by_exception"]
    assert why_it_cannot_occur(clause, constants_for("5.4.0", FAULTS, "tiny"))
    assert not why_it_cannot_occur(clause, constants_for("5.4.0+commits_after_exception", ("null_half",), "tiny"))


@pytest.mark.parametrize(("fault", "instance"), [("retention", "deep"), ("clock_skew", "deep"), ("clock_step", "deep")])
def test_a_fault_is_not_enough_where_an_instance_has_no_room_for_it(fault: str, instance: str) -> None:
    """All that only this fault breaks cannot occur in an instance in which it does nothing."""
    alone = [clause for clause in CLAUSES.values() if clause.needs and fault in clause.needs[0].split(" or ")]
    lacking, with_it = constants_for("5.4.0", (), instance), constants_for("5.4.0", (fault,), instance)
    assert alone
    for clause in alone:
        assert bool(why_it_cannot_occur(clause, with_it)) == bool(why_it_cannot_occur(clause, lacking)), clause
    assert not is_met(fault, with_it)
    assert is_met(fault, constants_for("5.4.0", (fault,), "tiny"))
