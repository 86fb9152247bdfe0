"""No clause is empty: the table of verdicts has a world that breaks it and one that does not, and a search agrees.

No witness is empty either: it is not there from the start, and a search comes to it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from halfcheck.verdicts.files import VerdictFiles
from model_check.check import check
from model_check.clauses import clauses_by_name
from model_check.cpython import explore
from model_check.finding import Verdict
from model_check.question import Question
from model_check.verdicts.table import TableOfVerdicts  # noqa: TC001 (the signature of a cached function)
from model_check.world import Environment, World
from spec.chapters import end_transaction
from spec.language.machine import is_witnessed
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.checked import checked, untraced, violations
from tests.quality.test_mutants_of_the_engines import rewritten

if TYPE_CHECKING:
    from model_check.finding import Finding
    from model_check.verdicts.table import Entry

MOST_STATES = 600_000
"""Of the worlds that the table names the smallest are searched here; one that is larger only until it is violated."""

NEVER = {
    "S1.unexplained": "each cause of a second delivery has its clause",
    "S5.no_commit_arrived": "a real message is stored by store_real_message alone, whose first rule asks for a commit",
    "S8.skipped_by_exception": "a round that fails commits no half offset, but with a wrong repair (#9523)",
    "S9.unexplained": "each cause of a needless check has its clause",
}
"""Clause → why no environment violates it. A broken action or a wrong repair does: here, in
test_mutants_of_the_properties, and in tests/defects.
"""

WITNESSES = {f"{witness.identifier} {witness.name}": witness for witness in TRANSACTIONAL_MESSAGES.witnesses}


@cache
def table() -> TableOfVerdicts:
    return VerdictFiles().table()


def worlds(name: str, verdict: Verdict) -> list[World]:
    """The worlds of the table with that verdict on the clause, smallest first."""
    clause = clauses_by_name()[name]
    found = sorted(
        (entry.distinct, instance, profile, environment.name)
        for profile, instance, environment, entry in table().everything()
        if entry.verdict(clause) is verdict and not entry.is_idle
    )
    return [World.of(profile, Environment.named(faults), instance) for _, instance, profile, faults in found]


def entry_of(world: World) -> Entry:
    return table().of(world.profile, world.instance)[world.environment]


@pytest.mark.parametrize("name", [name for name in clauses_by_name() if name not in NEVER])
def test_a_clause_is_violated_in_one_world_and_holds_in_another(name: str) -> None:
    broken, sound = worlds(name, Verdict.VIOLATED), worlds(name, Verdict.HOLDS)
    assert broken, "no world of the table violates it"
    assert sound, "no world of the table keeps it"
    world, clause = broken[0], clauses_by_name()[name]
    depth = entry_of(world).violated[clause]
    if entry_of(world).distinct <= MOST_STATES:
        assert searched(world)[clause].depth == depth
    else:
        with untraced():
            found = check(Question(world=world, clauses=(clause,), until=(clause,)))
        assert violations(found) == {name: depth}

    here = [one for one in sound if one.instance == world.instance]  # to compare with, where there is one
    holding = (here or sound)[0]
    assert entry_of(holding).distinct <= MOST_STATES
    result = searched(holding)
    assert result.numbers.complete
    assert clause not in result.violated


def searched(world: World) -> Finding:
    return checked(world.profile.name, world.environment.name, world.instance.name)


@pytest.mark.parametrize("clause", NEVER)
def test_what_is_never_violated_holds_in_every_world_of_the_table(clause: str) -> None:
    assert worlds(clause, Verdict.VIOLATED) == []
    assert worlds(clause, Verdict.HOLDS)


def test_a_broker_that_stores_a_message_for_a_rollback_shows_what_nobody_asked_for() -> None:
    """The clause S5 is not empty: it sees the delivery that the rule of store_real_message keeps out."""
    (clause,) = (c for c in TRANSACTIONAL_MESSAGES.clauses if c.clause == "no_commit_arrived")
    old, new = "require(s.half[h].end == End.COMMIT,", "require(s.half[h].end == End.ROLLBACK,"
    constants = World.of("4.9.7", (), "tiny").constants
    with untraced():
        assert clause not in explore(TRANSACTIONAL_MESSAGES, constants, most_states=500).violations
        with rewritten(end_transaction, end_transaction.may_be_committed, old, new):
            assert clause in explore(TRANSACTIONAL_MESSAGES, constants, most_states=500).violations


@pytest.mark.parametrize("name", WITNESSES)
def test_a_witness_is_not_there_from_the_start_and_is_seen_in_the_quiet_world(name: str) -> None:
    witness = WITNESSES[name]
    constants = World.of("5.3.3", (), "tiny").constants
    start = TRANSACTIONAL_MESSAGES.initial(constants)
    assert not is_witnessed(start, constants, witness)
    assert witness not in checked("5.3.3", "quiet", "tiny").unseen
