"""Frames of real clients and a real broker, see README.md beside them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class GoldenFrame:
    """One frame, without its first four bytes."""

    client: str
    sender: str
    request: int
    answer: int | None
    frame: bytes

    @property
    def name(self) -> str:
        """For a test's id."""
        answer = "" if self.answer is None else f"-answered-{self.answer}"
        return f"{self.client}-{self.sender}-{self.request}{answer}"


@cache
def golden_frames() -> tuple[GoldenFrame, ...]:
    """All of them."""
    entries = json.loads(Path(__file__).with_name("golden_frames.json").read_text(encoding="utf-8"))
    return tuple(
        GoldenFrame(each["client"], each["from"], each["request"], each["answer"], bytes.fromhex(each["frame"]))
        for each in entries
    )
