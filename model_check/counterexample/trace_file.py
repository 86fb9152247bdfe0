"""A counterexample in a file: what `halfcheck check --json` printed, or a trace in the Informal Trace Format (ITF).

ITF (Apalache ADR-015) is one JSON file that other tools read. Integers are `{"#bigint": "…"}`, sets `{"#set": […]}`,
records and arrays are JSON's own. Each state but the first says by which action it was reached (`mbt::actionTaken`) and
with which parameters (`mbt::nondetPicks`, a plain record; an action without parameters has none in it).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from files.content import read_json
from files.errors import BadContentError
from model_check.errors import BadFile, ModelCheckError
from model_check.world import World
from spec.language import Bits, Kind, MachineState, Slot, Step, take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from pathlib import Path

ACTION = "mbt::actionTaken"
PICKS = "mbt::nondetPicks"
ORIGIN = "halfcheck"
"""The key in `#meta` under which the profile, the faults and the instance stand."""


@dataclass(frozen=True, slots=True)
class TraceFile:
    """A path that can be taken again: its world and its steps."""

    world: World
    path: str
    """The steps, as `model_check.counterexample.write_path` gives them."""
    loop: int | None = None
    """Of a run for ever the number of steps behind which the others are taken again and again."""


def read_trace_file(file: Path, wanted: str | None) -> TraceFile:
    """The counterexample of the wanted property (the first violated one when none is named).

    Raises `BadFile` when the file is not what `halfcheck check --json` prints, and `ModelCheckError` when it has no
    counterexample of the wanted property, or names an unknown profile, fault or instance.
    """
    content = _content_of(file)
    if isinstance(content, dict) and "states" in content:
        return _from_itf(file, content)
    try:
        traces = dict(_lassos(content["responses"]) if "responses" in content else _traces(content["properties"]))
        name = wanted or next(iter(traces), None)
        if name is None:
            msg = f"{file}: no property is violated in it, so there is nothing to replay"
            raise ModelCheckError(msg)
        if name not in traces:
            msg = f"{file}: no counterexample of {name!r}; there are {', '.join(traces) or 'none'}"
            raise ModelCheckError(msg)
        events, instance, loop = traces[name]
        steps = "; ".join(_step(event["action"], event["parameters"]) for event in events)
        where = instance or content["instance"]["name"]
        return _trace_file(file, content["profile"], where, content["environment"], steps, loop)
    except (KeyError, TypeError, AttributeError) as error:
        msg = f"{file}: {error} is missing or not as `halfcheck check --json` prints it"
        raise BadFile(msg) from error


def _from_itf(file: Path, content: dict[str, Any]) -> TraceFile:
    origin, steps = read_itf(file, content)
    try:
        path = "; ".join(_step(*step) for step in steps)
        return _trace_file(file, origin["profile"], origin["instance"], origin["faults"], path, content.get("loop"))
    except KeyError as error:
        msg = f"{file}: its #meta does not say {error}; give --profile, --instance and --faults with --steps instead"
        raise BadFile(msg) from error


def _trace_file(file: Path, profile: Any, instance: Any, faults: Any, path: str, loop: Any) -> TraceFile:
    if not isinstance(faults, list) or not all(isinstance(name, str) for name in (profile, instance, *faults)):
        msg = f"{file}: the profile and the instance are to be texts, and the faults a list of texts"
        raise BadFile(msg)
    if loop is not None and not (isinstance(loop, int) and 0 <= loop <= path.count(";") + 1):
        msg = f"{file}: loop is {loop!r}: give the number of a state of the trace, from which on it goes round"
        raise BadFile(msg)
    return TraceFile(World.of(profile, faults, instance), path, loop)


def _content_of(file: Path) -> Any:
    try:
        return read_json(file)
    except OSError as error:
        msg = f"{file}: {error.strerror}"
        raise BadFile(msg) from error
    except BadContentError as error:
        msg = f"{error}; give what `halfcheck check --json` or --write FILE.itf.json wrote"
        raise BadFile(msg) from error


_Trace = tuple[list[Mapping[str, Any]], Any, int | None]
"""The events, the instance if that is said, and the loop."""


def _lassos(responses: Mapping[str, Any]) -> Iterator[tuple[str, _Trace]]:
    """Each violated response."""
    for name, answer in responses.items():
        if answer["verdict"] == "violated":
            yield name, (answer["stem"] + answer["cycle"], answer["instance"], len(answer["stem"]))


def _traces(properties: Mapping[str, Any]) -> Iterator[tuple[str, _Trace]]:
    """Each violated property and clause with the events of its counterexample, and its instance if that is said."""
    for name, answer in properties.items():
        if answer["trace"]:
            yield name, (answer["trace"], answer.get("instance"), None)
        for clause, part in answer["clauses"].items():
            if part["trace"]:
                yield f"{name}.{clause}", (part["trace"], part.get("instance"), None)


def _step(action: str, parameters: Mapping[str, int]) -> str:
    return " ".join([action, *(f"{name}={value}" for name, value in parameters.items())])


def to_itf(world: World, path: Sequence[Step], description: str) -> dict[str, Any]:
    """The states along a path.

    The names of the world are what is needed to take the path again, whose steps the guards must allow; the description
    is for `#meta`.
    """
    constants = world.constants
    origin = {"profile": world.profile.name, "faults": list(world.environment), "instance": world.instance.name}
    state = TRANSACTIONAL_MESSAGES.initial(constants)
    states = [{"#meta": {"index": 0}, **_tree(state), ACTION: "init", PICKS: {}}]
    for index, step in enumerate(path, start=1):
        refused = take(state, constants, step)
        if refused is not None:
            message = f"step {index}, {step}, is refused: {refused.rule}"
            raise AssertionError(message)
        picks = {name: _integer(value) for name, value in zip(step.action.parameters, step.arguments, strict=True)}
        states.append({"#meta": {"index": index}, **_tree(state), ACTION: step.action.name, PICKS: picks})
    return {
        "#meta": {"format": "ITF", "description": description, ORIGIN: origin},
        "params": [],
        "vars": [*_tree(state), ACTION, PICKS],
        "states": states,
    }


def _tree(state: MachineState) -> dict[str, Any]:
    """The state as nested records and arrays, one entry a member of the state."""
    tree: dict[str, Any] = {}
    for slot, value in zip(state.memory.slots, state.memory.values, strict=True):
        written = _value(slot, value)
        name, *rest = slot.path
        if slot.index is None:
            if rest:
                tree.setdefault(name, {})[rest[0]] = written
            else:
                tree[name] = written
        elif rest and slot.label.startswith(f"{name}["):
            members = tree.setdefault(name, [])
            if slot.index == len(members):
                members.append({})
            members[slot.index][rest[0]] = written
        elif rest:
            tree.setdefault(name, {}).setdefault(rest[0], []).append(written)
        else:
            tree.setdefault(name, []).append(written)
    return tree


def _value(slot: Slot, value: int) -> Any:
    if slot.kind is Kind.FLAG:
        return bool(value)
    if slot.kind is Kind.BITS:
        return {"#set": [_integer(member) for member in Bits(value)]}
    if slot.choices is not None:
        return slot.choices(value).name
    return _integer(value)


def _integer(value: int) -> dict[str, str]:
    return {"#bigint": str(value)}


def read_itf(file: Path, content: Mapping[str, Any]) -> tuple[dict[str, Any], list[tuple[str, dict[str, int]]]]:
    """The origin of an ITF trace, and its steps as action names with their parameters.

    Raises `BadFile`, which names the file and what is missing, when the content is not that of an ITF trace with
    actions.
    """
    try:
        steps = [
            (str(state[ACTION]), {name: _whole(pick) for name, pick in state[PICKS].items()})
            for state in content["states"]
            if state[ACTION] != "init"
        ]
        return dict(content["#meta"].get(ORIGIN, {})), steps
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        message = f"{file}: {error} is missing or wrong: not an ITF trace with {ACTION} and {PICKS} in its states"
        raise BadFile(message) from error


def _whole(pick: Any) -> int:
    return int(pick["#bigint"]) if isinstance(pick, dict) else int(pick)
