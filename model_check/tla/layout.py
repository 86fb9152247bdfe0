"""Text in two dimensions: TLA+ tells lists of conjuncts by their column, so that a text is a block of lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WIDTH = 100
"""How long a line may become before an expression is broken over several."""

Block = list[str]


def hang(prefix: str, block: Block, suffix: str = "") -> Block:
    """A block behind a prefix: its lines keep their columns."""
    lines = [prefix + block[0], *(" " * len(prefix) + line for line in block[1:])]
    lines[-1] += suffix
    return lines


def junction(bullet: str, items: Iterable[Block]) -> Block:
    r"""A list of conjuncts (`/\\`) or disjuncts (`\\/`), an item a bullet; comments stay in front of their bullet."""
    lines: Block = []
    for item in items:
        comments = [line for line in item if line.startswith("\\*")]
        lines += comments
        lines += hang(f"{bullet} ", [line for line in item if not line.startswith("\\*")])
    return lines


def separated(items: Sequence[Block]) -> Block:
    """Blocks below each other with a comma behind all but the last."""
    lines: Block = []
    for number, item in enumerate(items):
        lines += hang("", item, "," if number < len(items) - 1 else "")
    return lines


def filled(words: Sequence[str], prefix: str, suffix: str) -> Block:
    """Words with commas between them, as many on a line as fit."""
    lines = [prefix]
    for number, word in enumerate(words):
        text = word + (suffix if number == len(words) - 1 else ",")
        is_first = lines[-1].strip() in (prefix.strip(), "")
        if not is_first and len(lines[-1]) + 1 + len(text) > WIDTH:
            lines.append(" " * len(prefix))
            is_first = True
        lines[-1] += text if is_first else " " + text
    return lines


def comment(text: str) -> Block:
    """A text as comment lines; blank lines stay."""
    return [f"\\* {line}".rstrip() for line in text.splitlines()]


def indented(block: Block, by: int = 4) -> Block:
    """A block further to the right."""
    return [(" " * by + line).rstrip() for line in block]
