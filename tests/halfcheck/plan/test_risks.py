"""Each guarantee that a plan says to be at risk is broken by the search in the broker's release, and no other is."""

from __future__ import annotations

import pytest

from halfcheck.plan.risks import BackedRisk, Decision, backed_risks, counterexample_of, risks, to_make_sure
from halfcheck.verdicts.files import VerdictFiles
from model_check.check import check
from model_check.clauses import clauses_by_name, name_of
from model_check.finding import Verdict
from model_check.instances import load_instance
from model_check.question import Question
from model_check.world import Environment, Profile, World
from spec.profiles import VERSIONS

TABLE = VerdictFiles().table()
RESUME = Environment.of(["resume_discarded"])


@pytest.mark.parametrize("release", VERSIONS)
def test_what_is_said_of_a_release_is_what_the_table_of_verdicts_finds_broken(release: str) -> None:
    profile = Profile.of(release)
    said = {one.risk for one in backed_risks(release)}
    for risk in risks():
        world = World(profile, risk.environment, load_instance("odd"))
        known = TABLE.known_violation(world, risk.clause)
        assert (risk in said) == (known is not None), f"{name_of(risk.clause)} {risk.environment}"
    assert said


@pytest.mark.parametrize("release", VERSIONS)
def test_all_that_a_resumed_half_breaks_by_itself_is_said(release: str) -> None:
    profile = Profile.of(release)
    broken = {
        clause
        for clause in TABLE.clauses
        if any(one.environment == RESUME for one in TABLE.minimal_sets(profile, clause))
    }
    assert {one.risk.clause for one in backed_risks(release) if one.risk.decision is Decision.RESUME} == broken


def test_the_search_breaks_each_clause_that_is_said_of_5_3_3() -> None:
    asked: dict[World, list[BackedRisk]] = {}
    for one in backed_risks("5.3.3"):
        world = World(Profile.of("5.3.3"), one.risk.environment, load_instance(one.shown.world.instance.name))
        asked.setdefault(world, []).append(one)
    for world, said in asked.items():
        finding = check(Question(world=world, until=tuple(one.risk.clause for one in said)))
        for one in said:
            found = finding[one.risk.clause]
            assert (found.verdict, found.depth) == (Verdict.VIOLATED, one.shown.depth)


@pytest.mark.parametrize(
    ("release", "resumes", "op_dies"), [("4.5.1", False, False), ("4.5.2", True, False), ("5.2.0", True, True)]
)
def test_a_release_between_two_profiles_has_the_risks_of_what_it_does(
    release: str, *, resumes: bool, op_dies: bool
) -> None:
    names = {one.shown.name for one in backed_risks(release)}
    assert ("S1.resumed_half" in names, "S10.op_entry_dies_with_the_process" in names) == (resumes, op_dies)


def test_a_clause_that_a_fault_does_not_break_has_no_counterexample() -> None:
    clauses = clauses_by_name()
    assert counterexample_of(clauses["S1.immune_half"], RESUME, Profile.of("5.3.3")) is None
    assert counterexample_of(clauses["S1.resumed_half"], RESUME, Profile.of("5.3.3+settles_once")) is None
    flag, quiet = clauses["S6.flag_of_a_copy"], Environment()
    assert counterexample_of(flag, quiet, Profile.of("5.3.3")) is not None
    assert counterexample_of(flag, quiet, Profile.of("5.3.3+keeps_flag")) is None


def test_what_must_be_made_sure_is_said_once() -> None:
    for decision in Decision:
        of_it = [one for one in backed_risks("5.5.1") if one.risk.decision is decision]
        said = to_make_sure(decision, of_it)
        assert len(set(said)) == len(said) >= 2
