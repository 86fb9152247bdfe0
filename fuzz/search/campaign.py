"""One run of the fuzzer: examples in lockstep, what they covered; of a failure the shortest script, and a test."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from files.writing import write_whole
from fuzz.broker_side.twin_process import TwinProcesses, twins_of
from fuzz.lockstep.script import shortest, write
from fuzz.search.coverage import GuardCoverage, Guards, StateCoverage, count_states
from fuzz.search.examples import FuzzFailure, Fuzzing, fuzz
from model_check.errors import ModelCheckError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fuzz.lockstep.pairing import Pairing

_LARGEST_SEED: Final = 2**63 - 1

NAME = "test_lockstep_mismatch.py"

_TEMPLATE = '''"""Specification and broker disagreed here: {mismatch}."""

from fuzz.lockstep.script import run_text
from fuzz.lockstep.pairing import Pairing

STEPS = """
{steps}
"""


def test_the_broker_does_what_the_specification_says() -> None:
    pairing = Pairing.of({profile}, {faults}, {instance})
    pair = run_text(pairing, STEPS{question})
    assert len(pair.taken) == {length}
'''

_TEMPLATE_OF_REAL = '''"""The reference broker and RocketMQ's own classes disagreed here: {mismatch}."""

from dataclasses import replace
{of_path}
{of_jar}from conformance.java.real_classes import RealClasses
from fuzz.broker_side.twin_process import TwinProcesses, twins_of
from fuzz.lockstep.pairing import Pairing
from fuzz.lockstep.script import run_text

STEPS = """
{steps}
"""


def test_the_broker_does_what_rocketmq_does() -> None:
    with RealClasses({classes}) as real:
        pairing = replace(Pairing.of_release({release}, {faults}, {instance}), make_process=TwinProcesses(real))
        pair = run_text(pairing, STEPS{question})
    assert len(pair.taken) == {length}
'''


@dataclass(frozen=True, slots=True)
class Campaign:
    """The result of a run."""

    pairing: Pairing
    random_seed: int
    examples: int
    steps: int
    """Where the choices came from, how many examples were asked for, and the most steps of one."""
    done: Fuzzing
    coverage: GuardCoverage
    states: StateCoverage | None
    """Of the small instance; None after a failure."""
    failure: FuzzFailure | None
    """The mismatch on its shortest script, if the pair disagrees."""
    twins: TwinProcesses | None = None
    """What made the processes, where RocketMQ's own classes ran beside the broker."""

    @property
    def command(self) -> str:
        """The command that fuzzes the profile again, with every fault."""
        numbers = f"--examples {self.examples} --steps {self.steps} --seed {self.random_seed}"
        if self.twins is None:
            return f"halfcheck fuzz --profile {self.pairing.world.profile} {numbers}"
        given = self.twins.real.given
        jar = "" if given is None else f" --jar {given.path}"
        return f"halfcheck fuzz --real {self.pairing.release}{jar} {numbers}"

    def to_json(self) -> dict[str, Any]:
        """The run as the plain data of `halfcheck fuzz --json`."""
        coverage = self.coverage
        return {
            "profile": self.pairing.world.profile.name,
            "environment": list(self.pairing.world.environment),
            "instance": self.pairing.world.instance.name,
            "seed": self.random_seed,
            "examples": self.done.examples,
            "steps": self.done.steps,
            "seconds": round(self.done.seconds, 3),
            "steps_per_second": round(self.done.steps / max(self.done.seconds, 1e-9)),
            "real": None if self.twins is None else self.twins.to_json(),
            "coverage": {
                "conjuncts": len(coverage.guards.open),
                "never_false": [f"{name}: {rule}" for name, rule in coverage.never_false],
                "actions": len(coverage.guards.allowed),
                "never_enabled": coverage.never_enabled,
                "states": None if self.states is None else self._states_to_json(self.states),
            },
            "mismatch": None if self.failure is None else self._failure_to_json(self.failure),
        }

    def _states_to_json(self, states: StateCoverage) -> dict[str, Any]:
        return {
            "instance": states.world.instance.name,
            "environment": list(states.world.environment),
            "drawn": states.drawn,
            "seen": states.seen,
            "reachable": states.reachable,
            "share": round(states.share, 4),
            "missing": list(states.missing),
        }

    def _failure_to_json(self, failure: FuzzFailure) -> dict[str, Any]:
        steps, question = write(failure.script)
        mismatch = failure.mismatch
        return {
            "step": mismatch.number,
            "doing": mismatch.doing,
            "variable": mismatch.variable,
            "spec": mismatch.spec,
            "broker": mismatch.broker,
            "sides": list(mismatch.sides),
            "steps": steps,
            "question": question,
        }


def run_campaign(
    pairing: Pairing,
    *,
    examples: int,
    steps: int,
    random_seed: int,
    visits_all: bool = False,
    report: Callable[[Fuzzing], None] | None = None,
) -> Campaign:
    """Fuzz a pair; where it holds, count the states that as many examples see of the small instance.

    With `visits_all` the pair is then taken to those that they did not see.

    Raises
    ------
    Mismatch
        The pair disagrees in a state of the small instance.
    ModelCheckError
        A number is out of its range.
    """
    if examples < 1 or steps < 1 or not 0 <= random_seed <= _LARGEST_SEED:
        msg = (
            f"{examples} examples of {steps} steps with seed {random_seed}: give at least one example and one step, "
            f"and a seed from 0 to {_LARGEST_SEED}"
        )
        raise ModelCheckError(msg)
    coverage = GuardCoverage(Guards.of(pairing))
    done = fuzz(pairing, examples=examples, steps=steps, random_seed=random_seed, note=coverage.note, report=report)
    failure, states = done.failure, None
    if failure is not None:
        script, mismatch = shortest(pairing, failure.script, failure.mismatch)
        failure = FuzzFailure(mismatch, script)
    else:
        states = count_states(
            pairing.world.profile, examples=examples, steps=steps, random_seed=random_seed, visits_all=visits_all
        )
    return Campaign(
        pairing, random_seed, examples, steps, done, coverage, states, failure, twins_of(pairing.make_process)
    )


def write_test(directory: Path, pairing: Pairing, failure: FuzzFailure) -> Path:
    """Write a test that fails for as long as the pair disagrees into a directory, which is made if need be."""
    steps, question = write(failure.script)
    world = pairing.world
    listed = ", ".join(json.dumps(fault) for fault in world.environment)
    directory.mkdir(parents=True, exist_ok=True)
    target = directory / NAME
    twins = twins_of(pairing.make_process)
    given = None if twins is None else twins.real.given
    classes = json.dumps(pairing.release)
    text = (_TEMPLATE if twins is None else _TEMPLATE_OF_REAL).format(
        classes=classes if given is None else f"{classes}, given_jar(Path({json.dumps(str(given.path))}), {classes})",
        of_path="" if given is None else "from pathlib import Path\n",
        of_jar="" if given is None else "from conformance.java.given_jar import given_jar\n",
        release=json.dumps(pairing.release),
        mismatch=failure.mismatch,
        steps=steps.replace("; ", ";\n"),
        profile=json.dumps(world.profile.name),
        faults=f"({listed},)" if world.environment else "()",
        instance=json.dumps(world.instance.name),
        question=f", {json.dumps(question)}" if question else "",
        length=len(failure.script.steps),
    )
    write_whole(target, text)
    return target
