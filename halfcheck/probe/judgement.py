"""What the specification says of what a probe has seen: which releases explain it, and what is broken in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from halfcheck.probe.broken_clauses import BrokenClause, broken_clauses
from model_check.trace_validation.validate import validate
from spark_trace_analysis.audit.explanation.trace_verdict import validation_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from halfcheck.probe.observed_trace import ProbedTrace
    from model_check.trace_validation.observed import Trace
    from model_check.trace_validation.path_search import PathVerdict
    from model_check.world import Profile
    from reference.format.broker_conf import BrokerConf


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer of one specification.

    Attributes
    ----------
    profile
        Which.
    verdict
        The search's; None where the trace could not be asked about.
    broken
        The clauses that the explaining path breaks.
    """

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
    broken = broken_clauses(trace, verdict) if verdict.accepted else []
    return Judgement(profile, verdict, tuple(broken))


def explaining(probed: ProbedTrace, profiles: Sequence[Profile], conf: BrokerConf) -> list[Profile]:
    """Those profiles whose specification explains a trace, too."""
    return [profile for profile in profiles if _validated(probed.trace, profile, conf)[1].accepted]


def _validated(trace: Trace, profile: Profile, conf: BrokerConf) -> tuple[Trace, PathVerdict]:
    """The verdict; a broker that has started again since its last op message remembers nothing of that."""
    settings, switches = validation_settings(conf, profile.unturned), profile.switches
    verdict = validate(trace, settings, switches)
    if verdict.accepted or trace.wrote_op_at is None:
        return trace, verdict
    forgetful = replace(trace, wrote_op_at=None)
    other = validate(forgetful, settings, switches)
    return (forgetful, other) if other.accepted else (trace, verdict)
