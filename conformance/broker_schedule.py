"""A schedule: what a real broker was asked, when its threads ran, and what its clock said; not what it did.

A schedule file is JSON lines, compressed without a name and a time. Its first line names version, settings and store
host; each other line is an act, named like its class here without ``Act``, in the order in which they happened. A time
is in milliseconds, and named by its source: ``at`` and ``stored_at`` were recorded (in a log, a request or a
timestamp), ``chosen_at`` was not, and is a choice between its recorded neighbours.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, get_args

from conformance.errors import BrokenScheduleError, NoScheduleError
from files.content import parse_json
from files.reading import decompress, read_bytes
from files.writing import write_whole
from reference.broker.broker_settings import BrokerSettings
from reference.broker.processor.end_transaction_processor import EndTransactionRequestHeader
from reference.broker.processor.send_message_processor import SendMessageRequest
from reference.format.broker_conf import broker_conf_of, settings
from reference.format.java_properties import Setting
from reference.format.record import CommitLogOffset, QueueOffset
from reference.store.message_store_config import MessageStoreConfig
from reference.versions.versions import STORE_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@dataclass
class StartAct:
    """A process starts; its check thread begins to wait at ``at``, its timers at ``chosen_at``."""

    at: int
    chosen_at: int


@dataclass
class KillAct:
    """The process dies."""

    at: int


@dataclass
class StopAct:
    """The process is stopped in order."""

    chosen_at: int


@dataclass
class SendAct:
    """A client sends a message; ``stored_at`` is the store's clock when it is appended."""

    request: SendMessageRequest
    stored_at: int


@dataclass
class EndAct:
    """An END_TRANSACTION arrives, and is handled until a step needs a time that is not given."""

    request: EndTransactionRequestHeader
    at: int
    stored_at: int | None = None


@dataclass
class EndGoesOn:
    """END number ``end`` (from 0) takes its next step."""

    end: int
    at: int | None = None
    stored_at: int | None = None
    chosen_at: int | None = None


@dataclass
class Drain:
    """The op batch service runs: its clock at first, ``at`` when it makes the op message, ``stored_at``."""

    chosen_at: int
    at: int
    stored_at: int


@dataclass
class RoundBegins:
    """A check round begins; ``woken`` if it was not due but came with the shutdown of its thread."""

    at: int
    woken: bool = False


@dataclass
class RoundGoesOn:
    """A check round goes on until the store times that it is given are used up; without any, until it rests.

    There is one time for each record that it may append before it rests again; ``paused`` if it had rested long enough
    for consume queues to be dispatched.
    """

    stored_at: list[int] = field(default_factory=list)
    at: int | None = None
    paused: bool = False


Act = StartAct | KillAct | StopAct | SendAct | EndAct | EndGoesOn | Drain | RoundBegins | RoundGoesOn

_NAME_OF = {act: re.sub(r"\B([A-Z])", r"_\1", act.__name__.removesuffix("Act")).lower() for act in get_args(Act)}
_NAMES: dict[str, type[Any]] = {name: act for act, name in _NAME_OF.items()}


@dataclass
class BrokerSchedule:
    """A schedule."""

    version: str
    """The broker's."""
    settings: dict[str, str]
    """The lines of its ``broker.conf`` that it was run with, by key."""
    acts: list[Act]
    """In order."""

    @classmethod
    def without_acts(cls, version: str, broker_conf: Path) -> Self:
        """A schedule of nothing, with every setting of a ``broker.conf`` by its key.

        Raises
        ------
        BrokenConfigError
            A setting that the reference broker heeds has a value that it can't have.
        """
        given = settings(broker_conf)
        MessageStoreConfig.of_broker_conf(given, version)
        return cls(version, {setting.key: setting.value for setting in given}, [])

    def broker_settings(self) -> BrokerSettings:
        """Settings of the broker under the schedule.

        Raises
        ------
        NoScheduleError
            The version is unknown, or the settings do not say at which address the broker stood.
        """
        if self.version not in STORE_VERSIONS:
            message = f"there is no reference broker of version {self.version}; there are {', '.join(STORE_VERSIONS)}"
            raise NoScheduleError(message)
        conf = self.settings
        for key in ("brokerIP1", "listenPort"):
            if key not in conf:
                message = f"the broker.conf does not set {key}, so that the store host of its records is unknown"
                raise NoScheduleError(message)
        known = BrokerSettings.of_broker_conf(broker_conf_of(self._settings(), self.version), self.version)
        return replace(
            known,
            store_host=f"{conf['brokerIP1']}:{conf['listenPort']}",
            broker_name=conf.get("brokerName", known.broker_name),
            broker_cluster_name=conf.get("brokerClusterName", known.broker_cluster_name),
            region_id=conf.get("regionId", known.region_id),
        )

    def store_config(self) -> MessageStoreConfig:
        """The sizes of the store's files."""
        return MessageStoreConfig.of_broker_conf(self._settings(), self.version)

    def _settings(self) -> Iterator[Setting]:
        return (Setting(line, *setting) for line, setting in enumerate(self.settings.items(), start=1))


def write_schedule(schedule: BrokerSchedule, path: Path) -> None:
    """Write a schedule file; it appears whole or not at all."""
    lines = [{"schedule": 1, "version": schedule.version, "settings": schedule.settings}]
    lines += [_to_json(act) for act in schedule.acts]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    raw = io.BytesIO()
    with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as stream:
        stream.write(text.encode())
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, raw.getvalue())


def read_schedule(path: Path) -> BrokerSchedule:
    """Read a schedule file; `BrokenScheduleError` if it is not there, or not a schedule."""
    try:
        lines = decompress(read_bytes(path)).decode().splitlines()
        first, *acts = (parse_json(line) for line in lines)
        return BrokerSchedule(first["version"], first["settings"], [_of_json(act) for act in acts])
    except FileNotFoundError as error:
        message = f"there is no schedule {path}; make golden-schedules extracts those of the golden stores"
        raise BrokenScheduleError(message) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"{path} is not a schedule file: {error!r}"
        raise BrokenScheduleError(message) from error


def _to_json(act: Act) -> dict[str, Any]:
    line: dict[str, Any] = {"act": _NAME_OF[type(act)]}
    for name in act.__dataclass_fields__:
        value = getattr(act, name)
        if value is None or value is False or value == []:
            continue
        line[name] = _request_json(value) if name == "request" else value
    return line


def _request_json(request: SendMessageRequest | EndTransactionRequestHeader) -> dict[str, Any]:
    fields = {name: getattr(request, name) for name in request.__dataclass_fields__}
    if isinstance(request, SendMessageRequest):
        fields["properties"] = [list(pair) for pair in request.properties.items()]
        body = fields.pop("body")
        try:
            fields["body"] = body.decode()
        except UnicodeDecodeError:
            fields["body_base64"] = base64.b64encode(body).decode()
    return fields


def _of_json(line: dict[str, Any]) -> Act:
    kind = _NAMES[line.pop("act")]
    read: dict[type[Any], Callable[[dict[str, Any]], Any]] = {SendAct: _send_request, EndAct: _end_request}
    if kind in read:
        line["request"] = read[kind](line["request"])
    act: Act = kind(**line)
    return act


def _send_request(fields: dict[str, Any]) -> SendMessageRequest:
    raw = fields.pop("body_base64", None)
    body = fields.pop("body").encode() if raw is None else base64.b64decode(raw)
    properties = dict(fields.pop("properties"))
    return SendMessageRequest(body=body, properties=properties, **fields)


def _end_request(fields: dict[str, Any]) -> EndTransactionRequestHeader:
    fields["tran_state_table_offset"] = QueueOffset(fields["tran_state_table_offset"])
    fields["commit_log_offset"] = CommitLogOffset(fields["commit_log_offset"])
    return EndTransactionRequestHeader(**fields)
