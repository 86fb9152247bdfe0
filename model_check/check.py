"""One question to an engine: it says which properties hold of an instance under a profile in an environment."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from model_check.counterexample.steps import Replay, replay, write_path
from model_check.counterexample.unfolded import unfolded, without_forgetting
from model_check.defects.resemblance import resembled
from model_check.did_you_mean import require_known
from model_check.engines import ENGINES, Options, Question
from model_check.errors import EvaluationError, ModelCheckError
from model_check.explicit.state_store.resources import Resources
from model_check.front_end.read_machine import read_machine, refuse_missing_constants
from model_check.instances import constants_for, load_instance
from model_check.searchable import require_searchable
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from model_check.coverage.counts import Coverage
    from spec.constants import Constants, Instance
    from spec.language import Machine, Property, Step

SCHEMA = Path(__file__).with_name("check_schema.json")
"""The JSON Schema of `CheckResult.to_json`."""

SIZES = ("transactions", "half_slots", "op_slots")
"""The sizes of an instance that answers name."""


class Verdict(Enum):
    """Three values: a search that was cut short can find a violation but not its absence."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ClauseResult:
    """The verdict on one clause.

    Attributes
    ----------
    path : tuple of Step or None
        The first shortest path to a violation.
    replayed : Replay or None
        That path, taken step by step in the CPython engine.
    reason : str
        Why the verdict is unknown; empty otherwise.
    instance : Instance or None
        Where the violation was found.
    resembles : tuple of str
        The known defects that the path shows (`model_check.defects.resemblance`); the clause's may be repaired here.
    """

    clause: Property
    verdict: Verdict
    path: tuple[Step, ...] | None = None
    replayed: Replay | None = None
    reason: str = ""
    instance: Instance | None = None
    resembles: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Of its clause, such as `S1.immune_half`."""
        return f"{self.clause.identifier}.{self.clause.clause}"

    @property
    def depth(self) -> int | None:
        """Steps of the shortest violation."""
        return None if self.path is None else len(self.path)

    def trace_to_json(self) -> list[dict[str, Any]]:
        """The events of the violation as plain data; none where there is no violation."""
        return [] if self.replayed is None else [event.to_json() for event in self.replayed.events]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check has found.

    Attributes
    ----------
    profile : str
    faults : tuple of str
    instance : Instance
    clauses : tuple of ClauseResult
        In the order of the machine's clauses.
    unseen : tuple of Property
        Witnesses that no state is: the property may hold for want of anything to speak of.
    distinct, generated, depth : int
        States, successors (the initial state included in both) and steps to the deepest state.
    complete : bool
        Whether every reachable state was expanded.
    seconds, compile_seconds : float
        Of the search, and of making it ready.
    peak_bytes : int
        Bytes of the states and the hash table (0 in the CPython engine, which does not count).
    coverage : Coverage or None
        Of all actions and properties over the states found; only where it was asked for.
    disk_bytes : int
        Bytes of the states that have left the memory.
    resumed_from : int
        States of the checkpoint from which the search went on; 0 without one.
    collision_probability : float or None
        The probability, at most, that a fingerprint stands for two states; None where words are compared.
    """

    profile: str
    faults: tuple[str, ...]
    instance: Instance
    clauses: tuple[ClauseResult, ...]
    unseen: tuple[Property, ...]
    distinct: int
    generated: int
    depth: int
    complete: bool
    seconds: float
    compile_seconds: float
    peak_bytes: int
    coverage: Coverage | None = None
    disk_bytes: int = 0
    resumed_from: int = 0
    collision_probability: float | None = None

    @property
    def is_violated(self) -> bool:
        """Whether some clause is."""
        return any(result.verdict is Verdict.VIOLATED for result in self.clauses)

    @property
    def undecided(self) -> str:
        """Why what is not violated is not known to hold; empty if it is."""
        return next((result.reason for result in self.clauses if result.verdict is Verdict.UNKNOWN), "")

    @property
    def states_per_second(self) -> int:
        """Distinct states a second, compiling excluded."""
        return round(self.distinct / max(self.seconds, 1e-9))

    def replay_command(self, result: ClauseResult) -> str:
        """The command that takes the path of a violation again."""
        faults = f" --faults {','.join(self.faults)}" if self.faults else ""
        steps = write_path(result.path or ())
        instance = (result.instance or self.instance).name
        return f'halfcheck replay --profile {self.profile} --instance {instance}{faults} --steps "{steps}"'

    def to_json(self) -> dict[str, Any]:
        """The result as the plain data that scripts rely on (`halfcheck check --json`)."""
        told: dict[str, Any] = {
            "profile": self.profile,
            "environment": list(self.faults),
            "instance": self.sizes_to_json(),
            "properties": self._properties(),
            **self.numbers_to_json(),
            "seconds": round(self.seconds, 6),
            "compile_seconds": round(self.compile_seconds, 3),
            "states_per_second": self.states_per_second,
            "peak_bytes": self.peak_bytes,
            "disk_bytes": self.disk_bytes,
            "resumed_from": self.resumed_from,
            "collision_probability": self.collision_probability,
            "unseen_witnesses": [witness.name for witness in self.unseen],
        }
        return told if self.coverage is None else {**told, "coverage": self.coverage.to_json()}

    def sizes_to_json(self) -> dict[str, Any]:
        """The instance as plain data."""
        return {name: getattr(self.instance, name) for name in ("name", *SIZES)}

    def numbers_to_json(self) -> dict[str, Any]:
        """How large the search was, as plain data."""
        return {name: getattr(self, name) for name in ("distinct", "generated", "depth", "complete")}

    def _properties(self) -> dict[str, Any]:
        """A property is violated with any of its clauses; its counterexample is the shortest of theirs."""
        answer: dict[str, Any] = {}
        for identifier in dict.fromkeys(result.clause.identifier for result in self.clauses):
            mine = [result for result in self.clauses if result.clause.identifier == identifier]
            violated = sorted((r for r in mine if r.path is not None), key=lambda r: len(r.path or ()))
            shown = violated[0] if violated else mine[0]
            is_known = self.complete and all(r.verdict is not Verdict.UNKNOWN for r in mine)
            verdict = shown.verdict if violated else Verdict.HOLDS if is_known else Verdict.UNKNOWN
            answer[identifier] = {
                "verdict": verdict.value,
                "depth": shown.depth,
                "clause": shown.clause.clause if violated else None,
                "resembles": list(dict.fromkeys(i for r in violated for i in r.resembles)),
                "trace": shown.trace_to_json(),
                "replay": self.replay_command(shown) if violated else None,
                "clauses": {
                    r.clause.clause: {
                        "verdict": r.verdict.value,
                        "depth": r.depth,
                        "resembles": list(r.resembles),
                        "rule": r.clause.sentence,
                        "reason": r.reason,
                        "trace": r.trace_to_json(),
                        "replay": self.replay_command(r) if r.path is not None else None,
                    }
                    for r in mine
                },
            }
        return answer


def chosen_clauses(machine: Machine, wanted: Sequence[str]) -> tuple[Property, ...]:
    """The clauses of the properties that are named by their ids, or by `S1.immune_half`; all when none is named.

    Capitals or not makes no difference.

    Raises
    ------
    ModelCheckError
        When an id is unknown; names what there is, and what may have been meant.
    """
    known: dict[str, list[Property]] = {}
    for clause in machine.clauses:
        known.setdefault(clause.identifier, []).append(clause)
        known.setdefault(f"{clause.identifier}.{clause.clause}", []).append(clause)
    names = {name.lower(): name for name in known}
    there = f"{', '.join(k for k in known if '.' not in k)}, and clauses such as {next(k for k in known if '.' in k)}"
    if machine.responses:
        there += f"; of endless runs {', '.join(dict.fromkeys(one.identifier for one in machine.responses))}"
    for name in wanted:
        require_known("property", names.get(name.lower(), name), known, there=there)
    chosen = {clause for name in wanted for clause in known[names[name.lower()]]}
    return tuple(clause for clause in machine.clauses if not wanted or clause in chosen)


def check(
    profile: str,
    faults: Sequence[str],
    instance: str | Instance,
    *,
    properties: Sequence[str] = (),
    engine: str = "numba",
    until_violated: bool | Collection[Property] = False,
    machine: Machine = TRANSACTIONAL_MESSAGES,
    constants: Constants | None = None,
    **options: Unpack[Options],
) -> CheckResult:
    """Search an instance and give a verdict on each clause of the chosen properties.

    Parameters
    ----------
    profile, faults, instance
        See `model_check.instances.constants_for`.
    properties
        Ids (`S1`) or clauses (`S1.immune_half`); all when empty.
    engine
        `numba`, `cpython` for the slow judge, or `z3` for bounded model checking, which counts no states.
    until_violated
        Stop behind the depth at which each chosen clause, or each of these, has been violated; depths and paths are
        those of the whole search.
    machine, constants
        The specification, or one with more assumptions, and its constants where these are more than an instance's.
    options
        threads, most_states, most_steps, coverage, report and resources: see `model_check.engines.Question`.

    Raises
    ------
    ModelCheckError
        When a name is unknown.
    EvaluationError
        When a value leaves its declared range, or a counterexample does not replay.
    """
    sizes = load_instance(instance) if isinstance(instance, str) else instance
    constants = constants or constants_for(profile, faults, sizes)
    require_searchable(machine, constants)
    clauses = chosen_clauses(machine, properties)
    require_known("engine", engine, ENGINES)
    until = tuple(until_violated) if not isinstance(until_violated, bool) else clauses if until_violated else ()
    question = Question(
        machine=machine,
        constants=constants,
        clauses=clauses,
        until=until,
        title=f"{profile} {'with ' + ','.join(sorted(faults)) if faults else 'in the quiet world'} on {sizes.name}",
        **options,
    )
    _refuse(question, engine)
    numbers, paths, seen = ENGINES[engine](question)
    reason = _why_unknown(engine, numbers, numbers.pop("full"))
    results = tuple(_result(machine, constants, clause, paths[clause], reason, sizes) for clause in clauses)
    identifiers = {clause.identifier for clause in clauses}
    unseen = tuple(w for w in machine.witnesses if w.identifier in identifiers and w not in seen)
    return CheckResult(profile, tuple(faults), sizes, results, unseen, **numbers)


def _refuse(question: Question, engine: str) -> None:
    """Refuse what an engine has no use for where it would be missed, and a machine that is not in the language."""
    message = ""
    if question.threads < 1 or question.most_steps < 0:
        message = f"{question.threads} threads, {question.most_steps} steps: give at least one thread, and no "
        message += "negative number of steps"
    elif question.coverage and engine == "z3":
        message = "coverage is counted over states, and the engine z3 stores none; ask numba or cpython"
    elif engine == "z3" and getattr(question.constants, "forgets", False):
        message = "the instance forgets what is over, and the engine z3 knows nothing of that; ask numba or cpython"
    elif engine != "numba" and question.resources is not None and question.resources != Resources():
        message = f"the engine {engine} knows no memory limit, disk, checkpoint or fingerprints: use numba"
    if message:
        raise ModelCheckError(message)
    if engine == "numba":
        refuse_missing_constants(question.machine.state, question.constants)  # it reads the machine itself
    else:
        read_machine(question.machine, question.constants)


def _result(
    machine: Machine, constants: Constants, clause: Property, path: list[Step] | None, reason: str, instance: Instance
) -> ClauseResult:
    if path is None:
        return ClauseResult(clause, Verdict.UNKNOWN if reason else Verdict.HOLDS, reason=reason)
    if instance.forgets:
        told = unfolded(machine, constants, path)
        path = list(told.steps)
        constants, instance = without_forgetting(constants, told.sizes), without_forgetting(instance, told.sizes)
    replayed = replay(machine, constants, path)
    if clause not in replayed.violated:
        msg = f"the path to a violation of {clause.identifier}.{clause.clause} does not violate it"
        raise EvaluationError(msg)
    shown = resembled(machine, constants, clause, path)
    return ClauseResult(clause, Verdict.VIOLATED, tuple(path), replayed, instance=instance, resembles=shown)


def _why_unknown(engine: str, numbers: dict[str, Any], full: Sequence[str]) -> str:
    """Why what is not violated is not known to hold; empty if it is."""
    if engine == "z3":
        return f"none is found in at most {numbers['depth']} steps"
    if not numbers["complete"]:
        return f"none is found among {numbers['distinct']:,} states"
    if full:
        return f"none is found; the instance has no room for more, as {' and '.join(full)} of some state say"
    return ""
