"""Specification and reference broker in lockstep, a fixed number of schedules; they must agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fuzz.lockstep.fuzzed_instances import FUZZED
from fuzz.search.campaign import run_campaign
from model_check.errors import EvaluationError
from spark_trace_analysis.report.data import Lockstep
from spec.constants import FAULTS

if TYPE_CHECKING:
    from fuzz.lockstep.pairing import Pairing
    from fuzz.search.campaign import Campaign

EXAMPLES: Final = 300
STEPS: Final = 50
"""The most steps of an example."""


def lockstep_run(pairing: Pairing, seed: int, examples: int) -> Lockstep:
    """What the two show on schedules with every fault that the broker can have.

    Parameters
    ----------
    pairing
        The pair, on the instance `fuzzed` with all of these faults.
    seed, examples
        Where the schedules come from, and how many.

    Raises
    ------
    EvaluationError
        They differ; names the step and the variable, and the command that shows the schedule.
    """
    command = f"halfcheck fuzz --profile {pairing.profile} --examples {examples} --steps {STEPS} --seed {seed}"
    campaign = run_campaign(pairing, examples=examples, steps=STEPS, random_seed=seed)
    if campaign.failure is not None:
        message = f"specification and broker differ in {pairing.profile}: {campaign.failure.mismatch}; see {command}"
        raise EvaluationError(message)
    return _told(campaign, command)


def _told(campaign: Campaign, command: str) -> Lockstep:
    done, coverage, states = campaign.done, campaign.coverage, campaign.states
    assert states is not None  # noqa: S101 - they are counted where the two agree
    return Lockstep(
        profile=campaign.pairing.profile,
        environment=FAULTS,
        instance=FUZZED.name,
        examples=done.examples,
        steps=done.steps,
        seconds=done.seconds,
        agrees=campaign.failure is None,
        conjuncts=len(coverage.guards.open),
        conjuncts_seen=len(coverage.guards.open) - len(coverage.never_false),
        actions=len(coverage.guards.allowed),
        actions_seen=len(coverage.guards.allowed) - len(coverage.never_enabled),
        unseen=(
            *(f"{name} was never possible" for name in coverage.never_enabled),
            *(f"{name}: never first to fail: {rule}" for name, rule in coverage.never_false),
        ),
        instance_of_states=states.instance,
        states=states.reachable,
        states_seen=states.seen,
        command=command,
    )
