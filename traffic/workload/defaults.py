"""The defaults of a workload and the figures of clients that no key changes, each with its source (`defaults.toml`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from files.content import parse_toml
from files.durations import read_milliseconds


@dataclass(frozen=True, slots=True)
class SourcedDefault:
    """A figure and where it was read."""

    value: Any
    """As a workload would give it."""
    source: str


@cache
def default_of(section: str, key: str) -> SourcedDefault | None:
    """The default of a key; None where a file has to give it.

    Examples
    --------
    >>> default_of("client.grpc", "attempts").value, default_of("crashes", "every")
    (3, None)
    """
    table: Any = _tables()
    for name in section.split("."):
        table = table.get(name, {})
    found = table.get(key)
    return None if found is None else SourcedDefault(found["value"], found["source"])


def client_figure(key: str) -> int:
    """A number of the clients that is the same in all workloads; a length of time in milliseconds.

    Examples
    --------
    >>> client_figure("pull_batch_size"), client_figure("heartbeat")
    (32, 30000)
    """
    value = _tables()["clients"][key]["value"]
    return int((read_milliseconds(value) or 0) if isinstance(value, str) else value)


def all_defaults() -> list[tuple[str, str, SourcedDefault]]:
    """Each default with its section and key, in the order of the file."""
    found: list[tuple[str, str, SourcedDefault]] = []
    waiting: list[tuple[str, dict[str, Any]]] = list(_tables().items())
    while waiting:
        section, table = waiting.pop(0)
        for key, entry in table.items():
            if "source" in entry:
                found.append((section, key, SourcedDefault(entry["value"], entry["source"])))
            else:
                waiting.append((f"{section}.{key}", entry))
    return found


@cache
def _tables() -> dict[str, Any]:
    text = resources.files("traffic.workload").joinpath("defaults.toml").read_text(encoding="utf-8")
    tables: dict[str, Any] = parse_toml(text)
    return tables
