"""Which responses hold of all runs, also endless ones, of a world.

`holds` needs that the graph is whole and no queue ever full. A violation is shown in the queue offsets of a broker, and
has been taken twice round before it is shown, with what is over forgotten and without.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from model_check.counterexample.steps import Event, replay, write_path
from model_check.counterexample.unfolded import unfolded, without_forgetting
from model_check.did_you_mean import require_known
from model_check.errors import ModelCheckError
from model_check.finding import Numbers, Verdict
from model_check.instances import load_instance, refuse_crowd
from model_check.liveness.fair_cycles import fair_components
from model_check.liveness.graph import all_states, graph_of
from model_check.liveness.lasso import Lasso, require_lasso, shortest_lasso
from model_check.world import Environment, Profile, World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from model_check.explicit.exploration import Report
    from spec.constants import Instance
    from spec.language import Fairness, Machine, Response, Step

USUAL_INSTANCES = ("endless", "roomy")
"""One after the other is searched, until no queue is full."""

ARRAYS = {"half_slots": "half", "op_slots": "op"}
"""The queues that a cycle renumbers: the constant of their length, and the name of their records."""


@dataclass(frozen=True, slots=True)
class UnfoldedLasso:
    """A violation in the queue offsets of a broker."""

    stem: tuple[Event, ...]  # up to the cycle
    cycle: tuple[Event, ...]  # round it for the first time
    owed_from: int  # steps after which the response is owed
    # the name of a half or an op message when the cycle begins anew: `half` → {3: 4}
    renaming: Mapping[str, Mapping[int, int]]
    world: World  # on an instance that forgets nothing, and has room for the cycle twice
    again: tuple[Step, ...]  # stem and cycle twice

    @property
    def command(self) -> str:
        """The command that takes stem and cycle, twice round."""
        return f'halfcheck replay {self.world.options} --steps "{write_path(self.again)}"'


@dataclass(frozen=True, slots=True)
class ResponseRow:
    """The verdict on one response."""

    response: Response
    promises: tuple[Fairness, ...]  # under which it was asked
    lasso: UnfoldedLasso | None  # the violation with the shortest stem
    why: str = ""  # why the verdict is unknown; empty otherwise

    @property
    def verdict(self) -> Verdict:
        """Violated with a lasso, unknown with a reason."""
        return Verdict.VIOLATED if self.lasso is not None else Verdict.UNKNOWN if self.why else Verdict.HOLDS

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain data."""
        lasso = self.lasso
        return {
            "verdict": self.verdict.value,
            "rule": self.response.sentence,
            "under": [promise.name for promise in self.promises],
            "once": list(self.response.once),
            "resembles": list(self.response.resembles),
            "reason": self.why,
            "stem": [] if lasso is None else [event.to_json() for event in lasso.stem],
            "cycle": [] if lasso is None else [event.to_json() for event in lasso.cycle],
            "instance": None if lasso is None else lasso.world.instance.name,
            "owed_from": None if lasso is None else lasso.owed_from,
            "renaming": {} if lasso is None else {name: dict(names) for name, names in lasso.renaming.items()},
            "replay": None if lasso is None else lasso.command,
        }


@dataclass(frozen=True, slots=True)
class LivenessFinding:
    """The verdicts in a world, in the order of the machine's responses."""

    world: World
    rows: tuple[ResponseRow, ...]
    numbers: Numbers

    @property
    def violated(self) -> tuple[ResponseRow, ...]:
        """The responses that do not come in some run."""
        return tuple(row for row in self.rows if row.verdict is Verdict.VIOLATED)

    @property
    def is_decided(self) -> bool:
        """Whether no verdict is unknown."""
        return all(row.verdict is not Verdict.UNKNOWN for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        """The finding as the plain data that scripts rely on."""
        return {
            "profile": self.world.profile.name,
            "environment": list(self.world.environment),
            "instance": {**self.world.sizes_to_json(), "check_max": self.world.instance.check_max},
            "responses": {row.response.name: row.to_json() for row in self.rows},
            **self.numbers.size_to_json(),
            "seconds": round(self.numbers.seconds, 3),
        }


def is_response(machine: Machine, name: str) -> bool:
    """Whether the id of a property, or `P1.settled`, is that of a response."""
    return any(name.lower() in (one.identifier.lower(), one.name.lower()) for one in machine.responses)


def chosen_responses(machine: Machine, wanted: Sequence[str]) -> tuple[Response, ...]:
    """The responses that are named by their ids or as `P1.settled`; all when none is named.

    `ModelCheckError`, which names what there is, when one is unknown.
    """
    known = {name.lower(): name for one in machine.responses for name in (one.identifier, one.name)}
    for name in wanted:
        require_known("property", known.get(name.lower(), name), set(known.values()), there=", ".join(known.values()))
    names = {name.lower() for name in wanted}
    return tuple(one for one in machine.responses if not names or names & {one.identifier.lower(), one.name.lower()})


def chosen_promises(machine: Machine, wanted: Sequence[str]) -> tuple[Fairness, ...]:
    """The promises of these names; `ModelCheckError`, which names what there is, when one is unknown."""
    for name in wanted:
        require_known("fairness", name, machine.fairness)
    return tuple(machine.fairness[name] for name in wanted)


def usual_worlds(profile: Profile, environment: Environment) -> tuple[World, ...]:
    """One after the other is searched, until no queue is full."""
    return tuple(World(profile, environment, load_instance(name)) for name in USUAL_INSTANCES)


def check_responses(
    worlds: Sequence[World],
    responses: Sequence[Response] = TRANSACTIONAL_MESSAGES.responses,
    *,
    fairness: Sequence[Fairness] | None = None,
    machine: Machine = TRANSACTIONAL_MESSAGES,
    most_states: int | None = None,
    report: Report | None = None,
) -> LivenessFinding:
    """Find all states, and give a verdict on each response.

    Parameters
    ----------
    worlds
        On instances that are `endless`: the first one that has room for all that is alive is searched, or the last.
    fairness
        Promises in place of those that each response needs.

    Raises
    ------
    ModelCheckError
        When an instance cannot be asked.
    EvaluationError
        When a value leaves its range, or a violation does not replay.
    """
    for world in worlds:
        require_endless_runs(world.instance)
        found = all_states(machine, world.constants, responses, most_states=most_states, report=report)
        if not found.full_queues():
            break
    graph = graph_of(found, machine, responses)
    why = ""
    if not found.complete:
        why = f"no violation is found among {found.distinct:,} states"
    elif graph.at_the_edge.any():
        full = " and ".join(found.full_queues())
        why = f"no violation is found; the instance has no room for more, as {full} of some state say"
    rows = []
    for response in responses:
        promises = chosen_promises(machine, response.under) if fairness is None else tuple(fairness)
        lasso = shortest_lasso(graph, response, promises, fair_components(graph, response, promises))
        if lasso is None:
            rows.append(ResponseRow(response, promises, None, why))
        else:
            require_lasso(machine, world.constants, response, promises, lasso)
            rows.append(ResponseRow(response, promises, unfolded_lasso(machine, world, lasso)))
    numbers = Numbers(found.distinct, found.generated, found.depth, found.complete, found.seconds)
    return LivenessFinding(world, tuple(rows), numbers)


def require_endless_runs(sizes: Instance) -> None:
    """Refuse an instance of which runs end, in which transactions change places, or one that is crowded.

    `ModelCheckError` says what to give instead.
    """
    if not (sizes.forgets and sizes.endless):
        message = f"instance {sizes.name} has no endless runs: give {USUAL_INSTANCES[0]}, or one with forgets = 1 and "
        raise ModelCheckError(message + "endless = 1")
    refuse_crowd(sizes, "they may end each of its rounds, so that nothing must happen in the end")
    if sizes.transactions > 1:
        message = f"instance {sizes.name} has {sizes.transactions} transactions, which take each other's places: what "
        raise ModelCheckError(message + "must happen in the end is asked of one at a time; give transactions = 1")


def unfolded_lasso(machine: Machine, world: World, lasso: Lasso) -> UnfoldedLasso:
    """A lasso without forgetting, where each half and op message keeps its offset."""
    constants = world.constants
    first = unfolded(machine, constants, lasso.stem)
    second = unfolded(machine, constants, (*lasso.stem, *lasso.cycle))
    twice = unfolded(machine, constants, (*lasso.stem, *lasso.cycle, *lasso.cycle))
    plain = world.on(without_forgetting(world.instance, twice.sizes))
    events = replay(machine, plain.constants, twice.steps).events
    stem, once = len(lasso.stem), len(lasso.cycle)
    renaming = {
        name: {a: b for a, b in zip(first.numbers[size], second.numbers[size], strict=True) if a != b}
        for size, name in ARRAYS.items()
    }
    return UnfoldedLasso(events[:stem], events[stem : stem + once], lasso.owed_from, renaming, plain, twice.steps)
