"""A counterexample in a file, read back for a replay: what `halfcheck check --json` printed, or an ITF trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from files.content import read_json
from files.errors import BadContentError
from model_check.counterexample.itf import read_itf
from model_check.errors import BadFile, ModelCheckError
from model_check.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class TraceFile:
    """What is needed to take a path again.

    Attributes
    ----------
    world : World
    path : str
        The steps, as `model_check.counterexample.write_path` gives them.
    loop : int or None
        Of a run for ever the number of steps behind which the others are taken again and again.
    """

    world: World
    path: str
    loop: int | None = None


def read_trace_file(file: Path, wanted: str | None) -> TraceFile:
    """The counterexample of the wanted property (the first violated one when none is named).

    Raises
    ------
    BadFile
        When the file is not what `halfcheck check --json` prints.
    ModelCheckError
        When it has no counterexample of the wanted property, or names an unknown profile, fault or instance.
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
