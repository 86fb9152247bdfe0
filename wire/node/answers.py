"""Answers of a run, beside its trace: checks that clients got and answered or not, and refused END_TRANSACTIONs.

A real broker's log has neither: it hands a check to a channel, and hears nothing more of it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wire.remoting.command import RemotingCommand


_MOST_OPEN: Final = 4_096
"""Of so many checks it is known which half they were of, all clients together."""


@dataclass(slots=True)
class ChecksOfClient:
    """The checks of one producer group that reached one client."""

    group: str
    client: str
    """The group, and the client's id, or its address where it has sent no heartbeat."""
    delivered: int = 0
    """How many reached it over an open connection."""
    unanswered: int = 0
    """How many of them were not answered."""
    keys: tuple[str, ...] = ()
    """The UNIQ_KEY of the latest of those, each once."""
    other_groups: tuple[str, ...] = ()
    """The other producer groups of that client."""


class Answers:
    """The clients' answers to a broker, over all its processes."""

    def __init__(self) -> None:
        self.refused: Counter[tuple[int, str]] = Counter()
        """Code and remark to how many END_TRANSACTIONs were answered so."""
        self._checks: dict[tuple[str, str], ChecksOfClient] = {}
        self._open: dict[int, tuple[ChecksOfClient, str]] = {}
        self._clients: dict[str, str] = {}
        self._groups: dict[str, dict[str, None]] = {}

    def heartbeat(self, address: str, client: str, groups: list[str]) -> None:
        """A client has said who it is, and of which groups its producers are."""
        self._clients[address] = client
        self._groups.setdefault(client, {}).update(dict.fromkeys(groups))

    def check_delivered(self, group: str, address: str, commit_log_offset: int, unique_key: str) -> None:
        """A check was handed to an open connection."""
        client = self._clients.get(address, address)
        checks = self._checks.setdefault((group, client), ChecksOfClient(group, client))
        checks.delivered += 1
        checks.unanswered += 1
        self._open[commit_log_offset] = checks, unique_key
        if len(self._open) > _MOST_OPEN:
            del self._open[next(iter(self._open))]

    def end_came(self, fields: Mapping[str, str]) -> None:
        """An END_TRANSACTION has come, with any decision; it answers the check of the copy that it names."""
        offset = fields.get("commitLogOffset", "")
        if offset.isdecimal() and (answered := self._open.pop(int(offset), None)) is not None:
            answered[0].unanswered -= 1

    def end_refused(self, answer: RemotingCommand) -> None:
        """An END_TRANSACTION was answered with another code than SUCCESS."""
        self.refused[answer.code, answer.remark or ""] += 1

    def unanswered(self) -> list[ChecksOfClient]:
        """By group and client the checks of which some have no answer."""
        left = [checks for checks in self._checks.values() if checks.unanswered]
        for checks in left:
            checks.keys = tuple(dict.fromkeys(key for of, key in self._open.values() if of is checks))
            checks.other_groups = tuple(group for group in self._groups.get(checks.client, ()) if group != checks.group)
        return left
