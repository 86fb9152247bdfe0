"""The commands of a page: what stands in its blocks of shell, whether they are to fail, and what they are to print."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

_BLOCKS: Final = re.compile(r"^```(sh(?: fails)?|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Commands:
    """A block of commands.

    Attributes
    ----------
    script
        Its lines; each block begins in the same folder.
    fails
        Whether the last of them is to end with exit code 1, as pytest's does where tests fail.
    prints
        What stands below it: texts that are all in what it prints.
    """

    script: str
    fails: bool
    prints: tuple[str, ...]


class PageIsWrongError(Exception):
    """A block does not do what the page says; the message is one line."""


def commands_of(page: str) -> Iterator[Commands]:
    """The blocks of a page, in its order.

    Examples
    --------
    >>> list(commands_of("```sh fails\\nfalse\\n```\\n```text\\n1 failed\\n```\\n"))
    [Commands(script='false\\n', fails=True, prints=('1 failed',))]
    """
    blocks = [(kind, text) for kind, text in _BLOCKS.findall(page)]
    for (kind, text), (follows, shown) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if kind != "text":
            prints = tuple(shown.splitlines()) if follows == "text" else ()
            yield Commands(text, kind == "sh fails", prints)


def carry_out(commands: Commands, folder: Path, environment: Mapping[str, str]) -> None:
    """Carry out a block in a folder, and show what it prints.

    Raises
    ------
    PageIsWrongError
        It ends otherwise than it is to, or does not print what stands below it.
    """
    shell: Sequence[str] = ("bash", "-euo", "pipefail", "-c", commands.script)
    lines: list[str] = []
    with subprocess.Popen(
        shell, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            sys.stdout.write(line)
            sys.stdout.flush()
    first, expected = commands.script.splitlines()[0], int(commands.fails)
    if process.returncode != expected:
        message = f"the block that begins with {first!r} ended with exit code {process.returncode}, expected {expected}"
        raise PageIsWrongError(message)
    for text in commands.prints:
        if text not in "".join(lines):
            message = f"the block that begins with {first!r} did not print {text!r}, which stands below it"
            raise PageIsWrongError(message)
