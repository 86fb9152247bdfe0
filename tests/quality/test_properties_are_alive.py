"""No clause is empty: the table of verdicts has a world that breaks it and one that does not, and a search agrees.

No witness is empty either: it is not there from the start, and a search comes to it.
"""

from __future__ import annotations

from functools import cache

import pytest

from halfcheck.verdicts.files import VerdictFiles
from model_check.check import check
from model_check.clauses import clause_names
from model_check.cpython.search import explore
from model_check.finding import Verdict
from model_check.question import Question
from model_check.verdicts.environment import faults_of
from model_check.verdicts.table import Table  # noqa: TC001 (the signature of a cached function)
from model_check.world import World
from spec.chapters import end_transaction
from spec.language.machine import is_witnessed
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.checked import checked, untraced, violations
from tests.quality.test_mutants_of_the_engines import rewritten

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

World = tuple[int, str, str, str]
"""Distinct states, instance, profile, environment."""

WITNESSES = {f"{witness.identifier} {witness.name}": witness for witness in TRANSACTIONAL_MESSAGES.witnesses}


@cache
def table() -> Table:
    return VerdictFiles().table()


def worlds(clause: str, verdict: Verdict) -> list[World]:
    """The worlds of the table with that verdict on the clause, smallest first."""
    return sorted(
        (entry.distinct, instance, profile, name)
        for profile, instance, name, entry in table().everything()
        if entry.verdict(clause) is verdict and not entry.is_idle
    )


@pytest.mark.parametrize("clause", [name for name in clause_names() if name not in NEVER])
def test_a_clause_is_violated_in_one_world_and_holds_in_another(clause: str) -> None:
    broken, sound = worlds(clause, Verdict.VIOLATED), worlds(clause, Verdict.HOLDS)
    assert broken, "no world of the table violates it"
    assert sound, "no world of the table keeps it"
    distinct, instance, profile, environment = broken[0]
    depth = table().of(profile, instance)[environment].violated[clause]
    if distinct <= MOST_STATES:
        assert violations(checked(profile, environment, instance))[clause] == depth
    else:
        with untraced():
            found = check(
                Question.of(profile, faults_of(environment), instance, properties=[clause], until_violated=True)
            )
        assert violations(found) == {clause: depth}

    here = [world for world in sound if world[1] == instance]  # to compare with, where there is one
    distinct, instance, profile, environment = (here or sound)[0]
    assert distinct <= MOST_STATES
    result = checked(profile, environment, instance)
    assert result.numbers.complete
    assert clause not in violations(result)


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
