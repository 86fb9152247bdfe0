"""A workload out of a TOML file: each key read by its kind, held against what can be, or asked for.

`SECTIONS` is the one list of what a file may say. A figure without a source has no default: whoever leaves it out is
told in one line what is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from textwrap import shorten
from typing import TYPE_CHECKING, Any, Final

from files.content import parse_toml
from files.durations import read_milliseconds
from files.errors import BadContentError
from files.reading import SETTINGS_BYTES, read_text
from model_check.did_you_mean import meant
from traffic.errors import BadWorkloadError
from traffic.workload.defaults import default_of
from traffic.workload.distributions import LogNormal, Recurring
from traffic.workload.workload import (
    Arrivals,
    BrokerCrashes,
    CheckAnswers,
    ClientRetries,
    ListenerAnswer,
    LocalTransactions,
    NetworkPaths,
    PlannedRestarts,
    TrafficWorkload,
)

if TYPE_CHECKING:
    from pathlib import Path

_MOST_BODY_BYTES: Final = 4 << 20
"""``maxMessageSize`` of broker and client."""
_MOST_PER_SECOND: Final = 100_000
_MOST_PROCESSES: Final = 10_000
_MOST_SHOWN: Final = 120
_WHOLE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class WorkloadKey:
    """A key of a section: how its value is read, and what it is, for whoever left it out."""

    read: Callable[[Any], Any]
    asks: str
    is_needed: bool = True
    """Whether a section without it makes no sense, unless there is a default."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its keys, and whether a file must have it."""

    keys: dict[str, WorkloadKey]
    asks: str
    is_needed: bool = field(default=False)


def share(value: Any) -> float:
    """A share, from 0 to 1; raises `ValueError` as all readers here."""
    number = _number(value, "a share from 0 to 1")
    if not 0 <= number <= 1:
        message = "expected a share from 0 to 1"
        raise ValueError(message)
    return number


def duration_ms(value: Any) -> float:
    """A length of time above 0 with its unit, in milliseconds."""
    milliseconds = read_milliseconds(value) if isinstance(value, str) else None
    if milliseconds is None or milliseconds <= 0:
        message = "expected a length of time above 0 with its unit, such as 250us, 20ms, 3s, 5m, 2h or 30d"
        raise ValueError(message)
    return milliseconds


def duration_distribution(value: Any) -> LogNormal:
    """A length of time that is always the same, or a log-normal one."""
    if not isinstance(value, dict):
        try:
            constant = duration_ms(value)
        except ValueError as error:
            message = f'{error}, or two: {{ p50 = "20ms", p99 = "900ms" }}'
            raise ValueError(message) from None
        return LogNormal(constant, constant)
    return _percentiles(value, duration_ms)


def size_distribution(value: Any) -> LogNormal:
    """Bytes of a body."""
    if isinstance(value, dict):
        return _percentiles(value, _body_bytes)
    constant = _body_bytes(value)
    return LogNormal(constant, constant)


def answer(value: Any) -> ListenerAnswer:
    """What a listener says."""
    return ListenerAnswer(_one_of(*(known.value for known in ListenerAnswer))(value))


def _body_bytes(value: Any) -> float:
    number = _number(value, "bytes, or { p50 = 1024, p99 = 8192 }")
    if not 1 <= number <= _MOST_BODY_BYTES:
        message = f"expected 1 to {_MOST_BODY_BYTES:,} bytes (maxMessageSize)"
        raise ValueError(message)
    return number


def _per_second(value: Any) -> float:
    number = _number(value, "transactions a second")
    if not 0 < number <= _MOST_PER_SECOND:
        message = f"expected more than 0 and at most {_MOST_PER_SECOND:,} a second"
        raise ValueError(message)
    return number


def _whole(least: int, most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            message = f"expected a whole number from {least} to {most:,}"
            raise ValueError(message)
        return value

    return read


def _immunity(value: Any) -> int:
    milliseconds = duration_ms(value)
    if milliseconds % 1000:
        message = "CHECK_IMMUNITY_TIME_IN_SECONDS is a whole number of seconds"
        raise ValueError(message)
    return int(milliseconds // 1000)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        message = "expected true or false"
        raise ValueError(message)
    return value


def _one_of(*names: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in names:
            near = meant(value, names) if isinstance(value, str) else ()
            message = f"expected {', '.join(names[:-1])} or {names[-1]}"
            raise ValueError(f"did you mean {near[0]}? {message}" if near else message)
        return str(value)

    return read


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        message = f"expected {what}"
        raise ValueError(message)
    return float(value)


def _percentiles(value: dict[str, Any], read: Callable[[Any], float]) -> LogNormal:
    unknown = next((key for key in value if key not in ("p50", "p99")), None)
    if unknown is not None or len(value) != 2:
        message = f"expected p50 and p99{'' if unknown is None else f', not {unknown}'}"
        raise ValueError(message)
    p50, p99 = read(value["p50"]), read(value["p99"])
    if p99 < p50:
        message = f"p99 ({value['p99']}) lies below p50 ({value['p50']}): half of all are longer than the 99 % are"
        raise ValueError(message)
    return LogNormal(p50, p99)


_EVERY: Final = WorkloadKey(duration_ms, "the mean time between two, such as 30d")
_LASTS: Final = WorkloadKey(duration_distribution, 'how long one lasts: { p50 = "20ms", p99 = "200ms" }')

SECTIONS: Final = {
    "transactions": Section(
        {
            "per_second": WorkloadKey(_per_second, "how many are begun a second"),
            "arrivals": WorkloadKey(_one_of("poisson", "constant"), "poisson (waits of any length) or constant"),
            "body_bytes": WorkloadKey(
                size_distribution, "the size of a message's body: 1024, or { p50 = 1024, p99 = 8192 }"
            ),
            "immunity": WorkloadKey(_immunity, "CHECK_IMMUNITY_TIME_IN_SECONDS of each message", is_needed=False),
        },
        "the rate and size of transactions",
        is_needed=True,
    ),
    "producers": Section(
        {
            "count": WorkloadKey(_whole(1, _MOST_PROCESSES), "how many processes send"),
            "groups": WorkloadKey(_whole(1, _MOST_PROCESSES), "of how many producer groups they are"),
        },
        "the processes that send",
        is_needed=True,
    ),
    "local": Section(
        {
            "time": WorkloadKey(duration_distribution, 'how long it takes: { p50 = "20ms", p99 = "900ms" }'),
            "commit": WorkloadKey(share, "the share that commits", is_needed=False),
            "rollback": WorkloadKey(share, "the share that rolls back"),
            "unknown": WorkloadKey(share, "the share that returns UNKNOWN"),
            "hangs": WorkloadKey(share, "the share that never ends"),
        },
        "executeLocalTransaction",
        is_needed=True,
    ),
    "checks": Section(
        {
            "after": WorkloadKey(
                duration_distribution, 'how long a listener takes to answer: { p50 = "5ms", p99 = "50ms" }'
            ),
            "unknown": WorkloadKey(share, "the share of answers for finished transactions that is UNKNOWN"),
            "while_running": WorkloadKey(answer, "the answer while the local transaction runs"),
            "never_run": WorkloadKey(
                answer, "the answer for a half whose local transaction never ran: rollback, unknown or commit"
            ),
        },
        "checkLocalTransaction",
        is_needed=True,
    ),
    "network": Section(
        {
            "to_broker": WorkloadKey(
                duration_distribution, 'how long a request is on its way: { p50 = "0.3ms", p99 = "2ms" }'
            ),
            "from_broker": WorkloadKey(duration_distribution, "how long an answer is on its way"),
            "loss_to_broker": WorkloadKey(share, "the share of requests that are lost for good, such as 1e-5"),
            "loss_from_broker": WorkloadKey(share, "the share of answers and checks that are lost for good"),
        },
        "latency and loss",
        is_needed=True,
    ),
    "client": Section(
        {
            "kind": WorkloadKey(_one_of("remoting", "grpc"), "remoting or grpc: which client sends"),
            "attempts": WorkloadKey(_whole(1, 100), "how often a half is sent at most"),
            "attempt_timeout": WorkloadKey(duration_ms, "how long an attempt waits for its answer"),
            "total_timeout": WorkloadKey(duration_ms, "how long all attempts take together", is_needed=False),
            "heartbeat_on_connect": WorkloadKey(_flag, "whether a new connection brings a heartbeat", is_needed=False),
        },
        "the client: kind = remoting or grpc",
        is_needed=True,
    ),
    "check_service": Section(
        {"pass": WorkloadKey(duration_ms, "how long a check round looks at one half")}, "the pace of check rounds"
    ),
    "pauses.broker": Section({"every": _EVERY, "lasts": _LASTS}, "the broker's GC pauses"),
    "pauses.producer": Section({"every": _EVERY, "lasts": _LASTS}, "each producer's GC pauses"),
    "disk_stalls": Section({"every": _EVERY, "lasts": _LASTS}, "stalls of the broker's disk"),
    "crashes": Section(
        {
            "every": _EVERY,
            "power_loss": WorkloadKey(share, "the share of crashes that lose the page cache"),
            "restart": WorkloadKey(duration_distribution, "from a crash until the next process serves"),
        },
        "crashes of the broker",
    ),
    "restarts": Section(
        {"every": _EVERY, "away": WorkloadKey(duration_ms, "from the stop until the next process serves")},
        "orderly restarts of the broker",
    ),
    "deployments": Section(
        {"every": _EVERY, "away": WorkloadKey(duration_ms, "how long a producer is away")}, "restarts of each producer"
    ),
    "clocks": Section(
        {"deviation": WorkloadKey(duration_ms, "the deviation of producers' clocks from the broker's")},
        "producers' clocks",
    ),
}
"""What a file may say, by section."""

_WITH_PARTS: Final = tuple({name.partition(".")[0] for name in SECTIONS if "." in name})


def read_workload(path: Path) -> TrafficWorkload:
    """Read a workload.

    Raises
    ------
    BadWorkloadError
        A key is unknown or missing, or its value is not of its kind; the message names it and what is expected.
    FileNotFoundError, PermissionError, UnreadableFileError
        As :func:`files.reading.read_text`.
    """
    return workload_of(tables_in(path), path.stem, str(path))


def tables_in(path: Path) -> dict[str, Any]:
    """What a workload's file says, as plain data; raises as :func:`read_workload` where it is no TOML."""
    try:
        return parse_toml(read_text(path, SETTINGS_BYTES))
    except BadContentError as error:
        text = str(error)
        message = text if text.startswith(str(path)) else f"{path}: {text}"
        raise BadWorkloadError(message) from None


def workload_of(given: dict[str, Any], name: str, place: str) -> TrafficWorkload:
    """A workload of plain data, as TOML has it; `place` stands before the message of a `BadWorkloadError`."""
    try:
        return _workload(_tables_of(given), name)
    except ValueError as error:
        message = f"{place}: {error}"
        raise BadWorkloadError(message) from None


def _tables_of(given: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The sections of a file, those within others by both names."""
    tables: dict[str, dict[str, Any]] = {}
    for name, table in given.items():
        if name in _WITH_PARTS and isinstance(table, dict):
            parts = {f"{name}.{part}": inner for part, inner in table.items()}
        else:
            parts = {name: table}
        for section, content in parts.items():
            if section not in SECTIONS:
                raise ValueError(_no_such("section", section, SECTIONS))
            if not isinstance(content, dict):
                message = f"{section} = {content!r}: expected a section [{section}] of keys"
                raise ValueError(message)
            tables[section] = content
    return tables


def _no_such(what: str, name: str, known: dict[str, Any]) -> str:
    near = meant(name, known)
    there = f"there are {', '.join(known)}"
    return f"no {what} {name!r}; did you mean {near[0]}?" if near else f"no {what} {name!r}; {there}"


def _values(tables: dict[str, dict[str, Any]], name: str) -> dict[str, Any] | None:
    """The values of a section by key; None for one that is not there and need not be."""
    section, table = SECTIONS[name], tables.get(name)
    if table is None:
        if not section.is_needed:
            return None
        message = f"the section [{name}] is missing: {section.asks}; it needs {', '.join(_needed(name))}"
        raise ValueError(message)
    for key in table:
        if key not in section.keys:
            raise ValueError(_no_such("key", f"{name}.{key}", {f"{name}.{known}": 0 for known in section.keys}))
    defaults = f"client.{table.get('kind')}" if name == "client" else name
    values: dict[str, Any] = {}
    for key, about in section.keys.items():
        sourced = default_of(defaults, key)
        if key in table:
            values[key] = _value(f"{name}.{key}", about, table[key])
        elif sourced is not None:
            values[key] = about.read(sourced.value)
        elif about.is_needed:
            message = f"{name}.{key} is missing: {about.asks}; it has no default, as no source says what is usual"
            raise ValueError(message)
        else:
            values[key] = None
    return values


def _needed(name: str) -> list[str]:
    return [key for key, about in SECTIONS[name].keys.items() if about.is_needed and default_of(name, key) is None]


def _value(name: str, about: WorkloadKey, value: Any) -> Any:
    try:
        return about.read(value)
    except ValueError as error:
        message = f"{name} = {_shown(value)}: {error}"
        raise ValueError(message) from None


def _shown(value: Any) -> str:
    """A value as a workload has it, cut where it is long.

    Examples
    --------
    >>> _shown({"p50": "20ms", "p99": -3}), _shown("soap")
    ("{ p50 = '20ms', p99 = -3 }", "'soap'")
    """
    if isinstance(value, dict):
        pairs = ", ".join(f"{key} = {each!r}" for key, each in value.items())
        return shorten(f"{{ {pairs} }}", _MOST_SHOWN, placeholder=" …")
    return repr(value)


def _workload(tables: dict[str, dict[str, Any]], name: str) -> TrafficWorkload:
    values = {section: _values(tables, section) for section in SECTIONS}
    transactions, producers, local, checks, network, client = (
        values[section] or {} for section in ("transactions", "producers", "local", "checks", "network", "client")
    )
    if producers["groups"] > producers["count"]:
        message = f"producers.groups = {producers['groups']}: more groups than producers ({producers['count']})"
        raise ValueError(message)
    if client["total_timeout"] is not None and client["total_timeout"] < client["attempt_timeout"]:
        message = "client.total_timeout is shorter than client.attempt_timeout: one attempt could never end"
        raise ValueError(message)
    pace, clocks = values["check_service"], values["clocks"]
    return TrafficWorkload(
        name=name,
        arrivals=Arrivals(
            per_second=transactions["per_second"],
            is_poisson=transactions["arrivals"] == "poisson",
            body_bytes=transactions["body_bytes"],
            immunity_s=transactions["immunity"],
            producers=producers["count"],
            groups=producers["groups"],
        ),
        local=_local(local),
        checks=CheckAnswers(checks["after"], checks["unknown"], checks["while_running"], checks["never_run"]),
        network=NetworkPaths(
            network["to_broker"], network["from_broker"], network["loss_to_broker"], network["loss_from_broker"]
        ),
        client=ClientRetries(
            client["attempts"],
            client["attempt_timeout"],
            client["total_timeout"],
            client["heartbeat_on_connect"] is not False,
        ),
        pass_ms=0.0 if pace is None else pace["pass"],
        broker_pauses=_recurring(values["pauses.broker"]),
        producer_pauses=_recurring(values["pauses.producer"]),
        disk_stalls=_recurring(values["disk_stalls"]),
        crashes=_crashes(values["crashes"]),
        restarts=_planned(values["restarts"]),
        deployments=_planned(values["deployments"]),
        clock_deviation_ms=0.0 if clocks is None else clocks["deviation"],
    )


def _local(given: dict[str, Any]) -> LocalTransactions:
    commit, rollback, unknown = given["commit"], given["rollback"], given["unknown"]
    rest = rollback + unknown
    if rest > 1 + _WHOLE:
        message = f"local.rollback and local.unknown are {rest:g} together: shares of one whole sum to 1 at most"
        raise ValueError(message)
    if commit is not None and abs(commit + rest - 1) > _WHOLE:
        message = f"local.commit, rollback and unknown are {commit + rest:g} together: they have to be 1"
        raise ValueError(message)
    return LocalTransactions(given["time"], rollback, unknown, given["hangs"])


def _recurring(given: dict[str, Any] | None) -> Recurring | None:
    return None if given is None else Recurring(given["every"], given["lasts"])


def _crashes(given: dict[str, Any] | None) -> BrokerCrashes | None:
    return None if given is None else BrokerCrashes(given["every"], given["power_loss"], given["restart"])


def _planned(given: dict[str, Any] | None) -> PlannedRestarts | None:
    return None if given is None else PlannedRestarts(given["every"], given["away"])
