"""Finished pieces of a measurement, kept as JSON, so that it goes on where it was stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from files.content import read_json
from files.writing import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable

KEPT: Final = Path(__file__).parents[2] / "build" / "probabilities"


def kept(name: str, make: Callable[[], Any]) -> Any:
    """What the file of this name holds below `KEPT`; made, and written into it, where there is none."""
    path = KEPT / f"{name}.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(make()))
    return read_json(path)
