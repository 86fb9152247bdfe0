"""What a client has done, and the file in which it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model_check.defects.findings import FindingsFile


@dataclass(frozen=True, slots=True)
class SeenHabit:
    """A habit of a client of a version."""

    habit: str
    client: str
    word: str
    """What it does, in two or three words."""
    breaks: bool
    """Whether a message, or who has sent it, suffers by it."""
    facts: tuple[tuple[str, str], ...]
    """What was seen, and its value."""

    @property
    def name(self) -> str:
        """Of the habit and the client."""
        return f"{self.habit} {self.client}"


HABITS_SEEN: Final = FindingsFile(
    SeenHabit, Path(__file__).with_name("seen.toml"), "what clients have done", "make client-habits"
)
"""By :attr:`SeenHabit.name`."""
