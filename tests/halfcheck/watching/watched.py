"""Looks at a broker on the wire, one after the other, by a watch that begins anew each time, as after a restart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from halfcheck.watching.memory import USUAL_REMEMBERED, WatchMemory
from halfcheck.watching.watch import BrokerWatch

if TYPE_CHECKING:
    from pathlib import Path

    from halfcheck.watching.news import Look
    from halfcheck.watching.sources import WatchedSource

SETTINGS = {"transactionTimeOut": 6_000, "transactionCheckInterval": 20_000, "transactionCheckMax": 4}


@dataclass(frozen=True, slots=True)
class Looking:
    path: Path
    source: WatchedSource
    hanging_ms: int = 10**9
    remembered: int = USUAL_REMEMBERED
    version: str | None = None

    def look(self) -> Look:
        with WatchMemory(self.path, self.source.name, self.remembered) as memory:
            return BrokerWatch(self.source, memory, self.hanging_ms, self.version).look()


def told(look: Look) -> list[tuple[str, str]]:
    """What was told of transactions: their keys, and what."""
    return sorted((news.row.unique_key if news.row else "", news.what.value) for news in look.news)
