"""Finished pieces of a measurement, kept as JSON, so that it goes on where it was stopped."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from files.content import read_json
from files.writing import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def kept(path: Path, make: Callable[[], Any]) -> Any:
    """What a file holds; made, and written into it, where there is none."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(make()))
    return read_json(path)
