"""The guarantees that a decision may break, each with a counterexample of the specification for the broker's release.

What is said stands in ``risks.toml``. Whether it is said of a release, the counterexamples of the table of verdicts
decide: one of them must break the clause as it is taken again, step by step, in the profile of that release.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from files.content import read_toml
from halfcheck.verdicts.files import VerdictFiles
from model_check.clauses import clauses_by_name
from model_check.counterexample.steps import replay
from model_check.errors import ModelCheckError
from model_check.finding import Violated
from model_check.releases import profile_for
from model_check.wording.clauses import GUARANTEES, meaning_of
from model_check.world import Environment, Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.verdicts.counterexamples import MinimalCounterexample
    from spec.language import Property

_FILE: Final = Path(__file__).with_name("risks.toml")


class Decision(StrEnum):
    """What may be decided about a half, as a plan spells it."""

    RESUME = "resume"
    COMMIT = "commit"
    ROLLBACK = "rollback"


@dataclass(frozen=True, slots=True)
class Risk:
    """A clause of a guarantee that a decision may break.

    Attributes
    ----------
    when
        What has to happen besides.
    before
        What must be made sure so that it does not; empty where the decision's own `before` says it.
    of_pending
        Whether it is one of halves alone that rounds still ask for.
    """

    decision: Decision
    clause: Property
    environment: Environment
    when: str
    before: str
    of_pending: bool


@dataclass(frozen=True, slots=True)
class BackedRisk:
    """A risk in a release, with the counterexample that shows it there."""

    risk: Risk
    shown: Violated

    @property
    def guarantee(self) -> str:
        """The guarantee, in a few words."""
        return GUARANTEES[self.shown.name.partition(".")[0]]

    @property
    def harm(self) -> str:
        """What happens to a message, without a full stop."""
        return meaning_of(self.risk.clause).harm

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "clause": self.shown.name,
            "guarantee": self.guarantee,
            "harm": self.harm,
            "when": self.risk.when,
            "before": self.risk.before,
            "of_pending": self.risk.of_pending,
            "faults": list(self.risk.environment),
            "steps": self.shown.steps.split("; "),
            "counterexample": self.shown.command,
        }


def does(decision: Decision) -> str:
    """What a decision does, without a full stop."""
    return str(_content()[decision]["does"])


def to_make_sure(decision: Decision, risks: Sequence[BackedRisk]) -> tuple[str, ...]:
    """What must be made sure before it is sent, each once."""
    of_risks = [one.risk.before for one in risks if one.risk.before]
    return tuple(dict.fromkeys([*_content()[decision]["before"], *of_risks]))


@cache
def risks() -> tuple[Risk, ...]:
    """All that ``risks.toml`` has."""
    return tuple(
        Risk(
            decision,
            clauses_by_name()[one["clause"]],
            Environment.of(one["faults"]),
            one["when"],
            one.get("before", ""),
            one.get("pending", False),
        )
        for decision in Decision
        for one in _content()[decision]["risks"]
    )


@cache
def backed_risks(release: str) -> tuple[BackedRisk, ...]:
    """The risks in a release; raises `ModelCheckError` for what is none."""
    profile = Profile.of(profile_for(release, with_switches=True)[0])
    found = ((risk, counterexample_of(risk.clause, risk.environment, profile)) for risk in risks())
    return tuple(BackedRisk(risk, shown) for risk, shown in found if shown is not None)


def counterexample_of(clause: Property, environment: Environment, profile: Profile) -> Violated | None:
    """A kept counterexample that breaks a clause in a profile, those of the profile itself first; None if none does."""
    kept = [one for one in _kept() if one.clause == clause and one.environment == environment]
    for one in sorted(kept, key=lambda one: (profile not in one.profiles, one.depth)):
        try:
            path = tuple(one.path(profile))
            world = one.world(profile)
            replayed = replay(world.machine, world.constants, path)
        except ModelCheckError:  # a step of another release, which this one does not take
            continue
        if clause in replayed.violated:
            return Violated(clause, len(path), world, path, replayed)
    return None


@cache
def _kept() -> Sequence[MinimalCounterexample]:
    return VerdictFiles().all_counterexamples()


@cache
def _content() -> dict[str, Any]:
    return read_toml(_FILE)
