"""The verdict of the specification on a probe: which releases explain what was seen, and the clauses broken in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from model_check.trace_validation.forwards import taken
from model_check.trace_validation.validate import validate
from spark_trace_analysis.audit.explanation.trace_verdict import validation_settings
from spec.language import Property, holds
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from halfcheck.probe.observed_trace import ProbedTrace
    from model_check.trace_validation.observed import Trace
    from model_check.trace_validation.path_search import PathVerdict
    from model_check.world import Profile
    from reference.format.broker_conf import BrokerConf


@dataclass(frozen=True, slots=True)
class BrokenClause:
    """A clause that a path breaks after so many of its steps, when the trace had so many records (`event`)."""

    clause: Property
    steps: int
    event: int

    @property
    def name(self) -> str:
        """Such as ``S1.immune_half``."""
        return f"{self.clause.identifier}.{self.clause.clause}"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer of one specification, and the clauses that the explaining path breaks."""

    profile: Profile
    verdict: PathVerdict
    broken: tuple[BrokenClause, ...] = ()

    @property
    def is_explained(self) -> bool:
        """Whether some path leaves just these records."""
        return self.verdict.accepted


def judge(probed: ProbedTrace, profile: Profile, conf: BrokerConf) -> Judgement:
    """Ask the specification of one profile."""
    trace, verdict = _validated(probed.trace, profile, conf)
    broken = _broken_clauses(trace, verdict) if verdict.accepted else []
    return Judgement(profile, verdict, tuple(broken))


def explaining(probed: ProbedTrace, profiles: Sequence[Profile], conf: BrokerConf) -> list[Profile]:
    """Those profiles whose specification explains a trace, too."""
    return [profile for profile in profiles if _validated(probed.trace, profile, conf)[1].accepted]


def _broken_clauses(trace: Trace, verdict: PathVerdict) -> list[BrokenClause]:
    """The clauses that the path of a verdict breaks, in the order in which it does; raises `EvaluationError`."""
    broken: dict[Property, BrokenClause] = {}
    for number, (step, state, constants) in enumerate(taken(trace, verdict.path, verdict.constants), start=1):
        for clause in TRANSACTIONAL_MESSAGES.clauses:
            if clause not in broken and not holds(state, constants, clause):
                broken[clause] = BrokenClause(clause, number, step.before)
    return list(broken.values())


def _validated(trace: Trace, profile: Profile, conf: BrokerConf) -> tuple[Trace, PathVerdict]:
    """The verdict; a broker that has started again since its last op message remembers nothing of that."""
    settings, switches = validation_settings(conf, profile.unturned), profile.switches
    verdict = validate(trace, settings, switches)
    if verdict.accepted or trace.wrote_op_at is None:
        return trace, verdict
    forgetful = replace(trace, wrote_op_at=None)
    other = validate(forgetful, settings, switches)
    return (forgetful, other) if other.accepted else (trace, verdict)
