"""One question about endless runs: which responses hold of an instance under a profile in an environment.

`holds` needs that the graph is whole and no queue ever full. A violation is told in the queue offsets of a broker, and
has been taken twice round before it is shown, with what is over forgotten and without.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from model_check.check import SIZES, Verdict
from model_check.counterexample.steps import Event, replay, write_path
from model_check.counterexample.unfolded import unfolded, without_forgetting
from model_check.did_you_mean import require_known
from model_check.errors import ModelCheckError
from model_check.instances import constants_for, load_instance
from model_check.liveness.fair_cycles import fair_components
from model_check.liveness.graph import all_states, graph_of
from model_check.liveness.lasso import require_lasso, shortest_lasso
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from model_check.explicit.exploration import Report
    from model_check.liveness.lasso import Lasso
    from spec.constants import Constants, Instance
    from spec.language import Fairness, Machine, Response, Step

USUAL_INSTANCES = ("endless", "roomy")
"""One after the other is searched, until no queue is full."""

ARRAYS = {"half_slots": "half", "op_slots": "op"}
"""The queues that a cycle renumbers: the constant of their length, and the name of their records."""


@dataclass(frozen=True, slots=True)
class ToldLasso:
    """A violation in the queue offsets of a broker.

    Attributes
    ----------
    stem, cycle : tuple of Event
        Up to the cycle, and round it for the first time.
    owed_from : int
        Steps after which the response is owed.
    renaming : mapping
        What a half or an op message of the cycle's beginning is called when the cycle begins anew: `half` → {3: 4}.
    instance : Instance
        Forgets nothing, and has room for the cycle twice.
    again : tuple of Step
        Stem and cycle twice.
    """

    stem: tuple[Event, ...]
    cycle: tuple[Event, ...]
    owed_from: int
    renaming: Mapping[str, Mapping[int, int]]
    instance: Instance
    again: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class ResponseResult:
    """The verdict on one response.

    Attributes
    ----------
    promises : tuple of Fairness
        Under which it was asked.
    lasso : ToldLasso or None
        The violation with the shortest stem.
    reason : str
        Why the verdict is unknown; empty otherwise.
    """

    response: Response
    promises: tuple[Fairness, ...]
    verdict: Verdict
    lasso: ToldLasso | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LivenessResult:
    """What was found; the numbers as in `CheckResult`."""

    profile: str
    faults: tuple[str, ...]
    instance: Instance
    rows: tuple[ResponseResult, ...]
    distinct: int
    generated: int
    depth: int
    complete: bool
    seconds: float

    @property
    def violated(self) -> tuple[ResponseResult, ...]:
        """In the order of the machine's responses."""
        return tuple(row for row in self.rows if row.verdict is Verdict.VIOLATED)

    @property
    def is_decided(self) -> bool:
        """Whether no verdict is unknown."""
        return all(row.verdict is not Verdict.UNKNOWN for row in self.rows)

    def replay_command(self, lasso: ToldLasso) -> str:
        """The command that takes stem and cycle, twice round."""
        faults = f" --faults {','.join(self.faults)}" if self.faults else ""
        where = f"--profile {self.profile} --instance {lasso.instance.name}{faults}"
        return f'halfcheck replay {where} --steps "{write_path(lasso.again)}"'

    def to_json(self) -> dict[str, Any]:
        """The result as the plain data that scripts rely on."""
        sizes = {name: getattr(self.instance, name) for name in ("name", *SIZES, "check_max")}
        numbers = {name: getattr(self, name) for name in ("distinct", "generated", "depth", "complete")}
        return {
            "profile": self.profile,
            "environment": list(self.faults),
            "instance": sizes,
            "responses": {row.response.name: self._row_to_json(row) for row in self.rows},
            **numbers,
            "seconds": round(self.seconds, 3),
        }

    def _row_to_json(self, row: ResponseResult) -> dict[str, Any]:
        lasso = row.lasso
        return {
            "verdict": row.verdict.value,
            "rule": row.response.sentence,
            "under": [promise.name for promise in row.promises],
            "once": list(row.response.once),
            "resembles": list(row.response.resembles),
            "reason": row.reason,
            "stem": [] if lasso is None else [event.to_json() for event in lasso.stem],
            "cycle": [] if lasso is None else [event.to_json() for event in lasso.cycle],
            "instance": None if lasso is None else lasso.instance.name,
            "owed_from": None if lasso is None else lasso.owed_from,
            "renaming": {} if lasso is None else {name: dict(names) for name, names in lasso.renaming.items()},
            "replay": None if lasso is None else self.replay_command(lasso),
        }


def is_response(machine: Machine, name: str) -> bool:
    """Whether the id of a property, or `P1.settled`, is that of a response."""
    return any(name.lower() in (one.identifier.lower(), one.name.lower()) for one in machine.responses)


def chosen_responses(machine: Machine, wanted: Sequence[str]) -> tuple[Response, ...]:
    """The responses that are named by their ids or as `P1.settled`; all when none is named.

    Raises
    ------
    ModelCheckError
        When one is unknown; names what there is.
    """
    known = {name.lower(): name for one in machine.responses for name in (one.identifier, one.name)}
    for name in wanted:
        require_known("property", known.get(name.lower(), name), set(known.values()), there=", ".join(known.values()))
    names = {name.lower() for name in wanted}
    return tuple(one for one in machine.responses if not names or names & {one.identifier.lower(), one.name.lower()})


def check_responses(
    profile: str,
    faults: Sequence[str],
    instance: str | Instance | None = None,
    *,
    properties: Sequence[str] = (),
    fairness: Sequence[str] | None = None,
    machine: Machine = TRANSACTIONAL_MESSAGES,
    most_states: int | None = None,
    report: Report | None = None,
) -> LivenessResult:
    """Find all states, and give a verdict on each response.

    Parameters
    ----------
    profile, faults, instance
        See `model_check.instances.constants_for`; the instance is to be `endless`. Without one, the first of the usual
        ones that has room for all that is alive, or the last of them.
    properties
        Ids (`P1`) or names (`P1.settled`); all when empty.
    fairness
        Names of promises, in place of those that each response needs.

    Raises
    ------
    ModelCheckError
        When a name is unknown, or the instance cannot be asked.
    EvaluationError
        When a value leaves its range, or a violation does not replay.
    """
    responses = chosen_responses(machine, properties)
    for name in fairness or ():
        require_known("fairness", name, machine.fairness)
    for each in USUAL_INSTANCES if instance is None else (instance,):
        sizes = load_instance(each) if isinstance(each, str) else each
        require_endless_runs(sizes)
        constants = constants_for(profile, faults, sizes)
        found = all_states(machine, constants, responses, most_states=most_states, report=report)
        if not found.full_queues():
            break
    graph = graph_of(found, machine, responses)
    reason = ""
    if not found.complete:
        reason = f"no violation is found among {found.distinct:,} states"
    elif graph.at_the_edge.any():
        full = " and ".join(found.full_queues())
        reason = f"no violation is found; the instance has no room for more, as {full} of some state say"
    rows = []
    for response in responses:
        promises = tuple(machine.fairness[name] for name in (response.under if fairness is None else fairness))
        lasso = shortest_lasso(graph, response, promises, fair_components(graph, response, promises))
        if lasso is None:
            rows.append(ResponseResult(response, promises, Verdict.UNKNOWN if reason else Verdict.HOLDS, None, reason))
            continue
        require_lasso(machine, constants, response, promises, lasso)
        rows.append(ResponseResult(response, promises, Verdict.VIOLATED, told(machine, constants, sizes, lasso)))
    return LivenessResult(
        profile, tuple(faults), sizes, tuple(rows),
        found.distinct, found.generated, found.depth, found.complete, found.seconds,
    )  # fmt: skip


def require_endless_runs(sizes: Instance) -> None:
    """Refuse an instance of which runs end, or in which transactions change places.

    Raises
    ------
    ModelCheckError
        Says what to give instead.
    """
    if not (sizes.forgets and sizes.endless):
        message = f"instance {sizes.name} has no endless runs: give {USUAL_INSTANCES[0]}, or one with forgets = 1 and "
        raise ModelCheckError(message + "endless = 1")
    if sizes.transactions > 1:
        message = f"instance {sizes.name} has {sizes.transactions} transactions, which take each other's places: what "
        raise ModelCheckError(message + "must happen in the end is asked of one at a time; give transactions = 1")


def told(machine: Machine, constants: Constants, sizes: Instance, lasso: Lasso) -> ToldLasso:
    """A lasso without forgetting, where each half and op message keeps its offset."""
    first = unfolded(machine, constants, lasso.stem)
    second = unfolded(machine, constants, (*lasso.stem, *lasso.cycle))
    twice = unfolded(machine, constants, (*lasso.stem, *lasso.cycle, *lasso.cycle))
    plain = without_forgetting(constants, twice.sizes)
    events = replay(machine, plain, twice.steps).events
    stem, once = len(lasso.stem), len(lasso.cycle)
    renaming = {
        name: {a: b for a, b in zip(first.numbers[size], second.numbers[size], strict=True) if a != b}
        for size, name in ARRAYS.items()
    }
    return ToldLasso(
        events[:stem], events[stem : stem + once], lasso.owed_from, renaming,
        without_forgetting(sizes, twice.sizes), twice.steps,
    )  # fmt: skip
