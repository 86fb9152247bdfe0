"""Reads `driver.jsonl`: what a producer logged beside a store, one JSON object a line.

The END_TRANSACTIONs are the requests of code 37 with a header of their own (`rpc.req`) and those sent by hand
(`rawEnd`, stamped at their response when they wait for one); the checks are the `check` lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from files.content import parse_json
from files.errors import BadContentError
from files.reading import read_lines
from model_check.trace_validation.observed import EndRequest, ObservedOutcome
from reference.format.errors import NotAStoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = ("driver.jsonl", "driver.jsonl.gz")
END_TRANSACTION = 37
_OUTCOMES = {8: ObservedOutcome.COMMIT, 12: ObservedOutcome.ROLLBACK}


@dataclass(frozen=True, slots=True)
class DriverLog:
    """The commits and rollbacks in the log, and the half queue offsets of the copies that check requests named.

    An END_TRANSACTION that says UNKNOWN leaves no trace anyway.
    """

    requests: tuple[EndRequest, ...]
    checked: frozenset[int]


def find_driver_log(store: Path) -> Path | None:
    """The `driver.jsonl` in a store directory, plain or compressed; None if there is none."""
    return next((store / name for name in NAMES if (store / name).is_file()), None)


def read_driver_log(path: Path) -> DriverLog:
    """Read a producer's log; raises `NotAStoreError` for a line that is no JSON, or lacks a field."""
    requests: list[EndRequest] = []
    checked: set[int] = set()
    for number, line in _lines(path):
        try:
            act = parse_json(line)
            requests.extend(_requests(act))
            if act.get("ev") == "check":
                checked.add(int(act["msg"]["queueOffset"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            message = f"{path}, line {number}: {line[:60]!r} is not a line of a producer's log"
            raise NotAStoreError(message) from error
    return DriverLog(tuple(requests), frozenset(checked))


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        for number, line in enumerate(read_lines(path), start=1):
            if line.strip():
                yield number, line.decode(errors="replace")
    except BadContentError as error:
        raise NotAStoreError(str(error)) from error


def _requests(act: dict[str, Any]) -> Iterator[EndRequest]:
    if act.get("ev") == "rpc.req" and act.get("code") == END_TRANSACTION and act.get("header"):
        header, not_before = act["header"], int(act["t"])
    elif act.get("ev") == "rawEnd":
        if act.get("respCode"):
            return  # refused, so no record can come from it
        header, not_before = act["req"], int(act["t"]) if act.get("oneway") else 0
    else:
        return
    outcome = _OUTCOMES.get(int(header["commitOrRollback"]))
    if outcome is not None:
        yield EndRequest(not_before, int(header["tranStateTableOffset"]), outcome)
