"""What a scenario has shown: whether the defect was seen, and the facts."""

from __future__ import annotations

from typing import TypeAlias

Facts: TypeAlias = tuple[bool, dict[str, str]]
"""Whether it went as the defect has it; and what was seen, with its value."""
