"""Counterexamples of the table of verdicts, by their clause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from halfcheck.verdicts.files import VerdictFiles
from model_check.clauses import name_of
from model_check.world import Profile
from tests.conformance.java.wanting_maven import RELEASE

if TYPE_CHECKING:
    from model_check.verdicts.counterexamples import MinimalCounterexample

PROFILE = Profile.of(RELEASE)


def counterexamples_of(*clauses: str, faults: str | None = None) -> list[MinimalCounterexample]:
    """Those of some clauses in the release of the tests; with `faults` those that take just these."""
    return [
        one
        for one in VerdictFiles().counterexamples(PROFILE)
        if name_of(one.clause) in clauses and (faults is None or one.environment.name == faults)
    ]
