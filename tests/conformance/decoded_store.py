"""What another program has decoded of a golden store."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.golden_stores import GoldenStore


def decoded_records(golden: GoldenStore) -> Iterator[dict[str, Any]]:
    """Every record of the commit log (``decoded.jsonl``)."""
    return _lines(golden, "decoded.jsonl.gz")


def consume_queue_entries(golden: GoldenStore) -> Iterator[dict[str, Any]]:
    """Every consume queue entry (``cq.jsonl``)."""
    return _lines(golden, "cq.jsonl.gz")


def _lines(golden: GoldenStore, name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(golden.path / name, "rt", encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)
