"""What a scenario has shown behind a real proxy, and the file in which it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from model_check.defects.findings import FindingsFile

Facts: TypeAlias = tuple[bool, dict[str, str]]
"""Whether it went as the defect has it; and what was seen, with its value."""


@dataclass(frozen=True, slots=True)
class SeenBehindProxy:
    """A scenario as a real proxy, the real broker behind it and a real client have taken it."""

    defects: tuple[str, ...]
    """Those of the catalogue that it is to show; none for what is in no catalogue."""
    where: str
    """The release of the proxy, and its mode."""
    story: str
    """What happened, in a sentence."""
    seen: bool
    """Whether it went as the defects have it."""
    facts: tuple[tuple[str, str], ...]
    """What was seen, and its value."""
    seen_before_ours: bool = False
    """Whether it went so before our broker and its proxies; False where it is not played there."""
    ours: tuple[tuple[str, str], ...] = ()
    """What was seen there; nothing where it is not played."""


SEEN: Final = FindingsFile(
    SeenBehindProxy,
    Path(__file__).with_name("seen.toml"),
    "what the scenarios have shown",
    "make behind-proxy",
)
"""By the names of the scenarios."""
