"""Is a repair that mends by half told from one that mends in part where other defects break the same clause?"""

from __future__ import annotations

from pathlib import Path

from conformance.java.given_jar import GivenJar
from fuzz.real_alone.claims import ClauseOnJar, ClauseOutcome
from fuzz.real_alone.hunt import Hunted
from fuzz.real_alone.verdict import JarVerdict
from tests.fuzz.real_alone.counterexamples import counterexamples_of

QUIET = next(one for one in counterexamples_of("S1.immune_half") if not one.environment)
REGRESSED = next(one for one in counterexamples_of("S9.forked_copy") if "offset_regression" in one.environment)


def verdict_of(**outcomes: ClauseOutcome) -> JarVerdict:
    ones = {"quiet": QUIET, "regressed": REGRESSED}
    clauses = tuple(ClauseOnJar(ones[name], outcome) for name, outcome in outcomes.items())
    jar = Path("broker.jar")
    return JarVerdict(GivenJar(jar, "4.9.7", (jar,)), clauses, Hunted(0, 0, ()), "", 1.0)


def test_in_part_with_more_faults_is_no_half_repair() -> None:
    verdict = verdict_of(quiet=ClauseOutcome.MENDED, regressed=ClauseOutcome.PART)
    assert verdict.is_good
    assert verdict.to_json()["mended_by_half"] == []


def test_in_part_under_the_fewest_faults_is_a_half_repair() -> None:
    for verdict in (
        verdict_of(quiet=ClauseOutcome.PART, regressed=ClauseOutcome.MENDED),
        verdict_of(quiet=ClauseOutcome.STILL, regressed=ClauseOutcome.PART),
    ):
        assert not verdict.is_good
        assert len(verdict.mended_by_half) == 1
    assert verdict.to_json()["mended_by_half"] == ["S9.forked_copy offset_regression"]
