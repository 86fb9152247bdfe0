"""Old spellings of command lines, from when `check` had seven modes and 37 options, in today's words.

They work throughout 0.2, and say on stderr how they are spelled now.
"""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from halfcheck.options import USUAL_PROFILE

if TYPE_CHECKING:
    from collections.abc import Sequence

MODES: Final = {
    "--compare": ("compare", 2),
    "--minimal-repairs": ("repairs", 0),
    "--minimal-faults": ("faults", 0),
    "--broker-conf": ("conf", 1),
    "--liveness": ("liveness", 0),
    "--coverage": ("coverage", 0),
    "--width": ("instances", 0),
}
"""The option that asked for it, to today's command and how many words behind the option it takes; the first wins."""

OPTIONS: Final = {
    "--most-faults": "--most",
    "--most-repairs": "--most",
    "--no-disk": "--disk none",
    "--fingerprints": "--engine fingerprints",
    "--itf": "--write itf=",
    "--svg": "--write svg=",
    "--mermaid": "--write mermaid=",
    "--pytest": "--write pytest=",
}
"""Options to today's words; one that ends in = takes the value behind it."""


FORMS: Final = {"itf=": ".itf.json", "svg=": ".svg", "mermaid=": ".mmd", "pytest=": ".py"}
"""Endings of names by their forms."""


def respelled(arguments: Sequence[str]) -> tuple[list[str], str]:
    """The arguments in today's words, and the sentence that says so; empty where nothing has changed.

    Examples
    --------
    >>> respelled(["check", "--compare", "4.9.7", "5.5.1", "--json"])[0]
    ['compare', '4.9.7', '5.5.1', '--json']
    >>> respelled(["check", "--profile", "5.3.3", "--svg=a.svg"])
    (['check', '--profile', '5.3.3', '--write', 'a.svg'], 'now spelled: halfcheck check --profile 5.3.3 --write a.svg')
    >>> respelled(["check", "--profile", "5.3.3"])
    (['check', '--profile', '5.3.3'], '')
    """
    if not arguments or arguments[0] != "check" or {"--help"} & set(arguments):
        return list(arguments), ""
    words = [part for word in arguments[1:] for part in _split(word)]
    mode = next((mode for mode in MODES if mode in words), "")
    if not mode and _asks_of_endless_runs(words):
        mode = "--liveness"
        words = [mode, *words]
    command, beside = "check", list[str]()
    if mode:
        command, count = MODES[mode]
        at = words.index(mode)
        beside, words = words[at + 1 : at + 1 + count], words[:at] + words[at + 1 + count :]
    words = _today(command, words)
    if command == "instances" and "--instance" in words:
        at = words.index("--instance")
        beside, words = words[at + 1 : at + 2], words[:at] + words[at + 2 :]
    now = [command, *beside, *words]
    if now == [part for word in arguments for part in _split(word)]:
        return list(arguments), ""
    return now, f"now spelled: halfcheck {shlex.join(now)}"


def _split(word: str) -> list[str]:
    """An option and its value, where they are one word."""
    name, equals, value = word.partition("=")
    return [name, value] if equals and name.startswith("--") else [word]


def _today(command: str, words: list[str]) -> list[str]:
    today: list[str] = []
    depth = ""
    waiting = iter(words)
    for word in waiting:
        if word == "--version" and command not in ("compare", "conf"):
            today.append("--profile")
        elif word == "--profile" and command == "conf":
            today.append("--version")
        elif word == "--max-depth":
            depth = next(waiting, "")
        elif OPTIONS.get(word, "").endswith("="):
            option, form = OPTIONS[word].split()
            file = next(waiting, "")
            today += [option, file if file.endswith(FORMS[form]) else f"{form}{file}"]
        else:
            today += OPTIONS[word].split() if word in OPTIONS else [word]
    if command == "coverage" and "--profile" not in today:
        today += ["--profile", USUAL_PROFILE]  # today's command counts over all worlds where none is named
    return [f"z3:{depth}" if word == "z3" and depth else word for word in today]


def _asks_of_endless_runs(words: Sequence[str]) -> bool:
    named = [value for name, value in pairwise(words) if name == "--property"]
    return any(re.fullmatch(r"[Pp]\d+(\.\w+)?", name) for name in named)
