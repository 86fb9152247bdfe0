"""Files that nobody sane writes, in the place of each that a command reads; all of them are drawn by one seed."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import socket
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN: Final = Path(__file__).parents[2] / "conformance" / "golden" / "5.3.3" / "immunity"


@dataclass(frozen=True, slots=True)
class BadInput:
    """One command line with a file that is spoilt.

    Attributes
    ----------
    what, where
        The kind of damage, and the file that has it.
    command
        The words of the command line.
    is_needed
        Whether the command can't do without the file; else it may be judged without it, or what is left of it; and
        of a broker.conf no line need be a setting.
    """

    what: str
    where: str
    command: tuple[str, ...]
    is_needed: bool


def _socket(path: Path, _: Random) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        here = Path.cwd()
        os.chdir(path.parent)  # a socket's path is short
        try:
            one.bind(path.name)
        finally:
            os.chdir(here)


def _sparse(path: Path, random: Random) -> None:
    with path.open("wb") as file:
        file.write(random.randbytes(random.randrange(3)))
        file.truncate(random.choice((2, 6, 40)) << 30)


def _deep(path: Path, random: Random) -> None:
    opening, closing = random.choice((("[", "]"), ('{"a":', "}"), ("a = [", "]")))
    depth = random.choice((300, 1_000, 10_000, 100_000))
    path.write_text(opening * depth + "1" + closing * depth * random.randrange(2))


def _long_number(path: Path, random: Random) -> None:
    digits = "9" * random.choice((45, 5_000, 100_000))
    path.write_text(random.choice((f"[{digits}]", f"transactions = {digits}", f"transactionTimeOut={digits}", digits)))


def _half_json(path: Path, random: Random) -> None:
    value = {"states": [{"a": 1}] * 3, "properties": {"S1": [1]}, "schema_version": 1, "offsetTable": {"T@G": {"0": 1}}}
    text = json.dumps(value)
    path.write_text(text[: random.randrange(len(text))])


def _wrong_json(path: Path, random: Random) -> None:
    path.write_text(json.dumps(random.choice(_OTHERS)))


def _gzip(path: Path, random: Random) -> None:
    content = gzip.compress(random.choice((b"{}\n" * 100, b"[" * 10_000, bytes(50 << 20))), 1)
    path.write_bytes(content[: random.randrange(3, len(content) + 1)])


def _parquet(path: Path, random: Random) -> None:
    path.write_bytes(
        b"PAR1" + random.randbytes(random.randrange(200)) + random.choice((b"", b"PAR1", b"\xff\0\0\0PAR1"))
    )


_OTHERS: Final[tuple[object, ...]] = (
    [], {}, None, 7, "text", {"states": 5}, {"properties": [1]}, {"properties": {"S1": {"trace": 7}}},
    {"states": [], "#meta": 7}, {"responses": 4}, {"offsetTable": {"T@G": [1]}}, {"schema_version": 1, "parameters": 3},
    {"format": 1, "position": []}, {"offsetTable": 3},
)  # fmt: skip

SPOILS: Final[dict[str, Callable[[Path, Random], object]]] = {
    "pipe": lambda path, _: os.mkfifo(path),
    "device": lambda path, random: path.symlink_to(random.choice(("/dev/zero", "/dev/full", "/dev/random"))),
    "socket": _socket,
    "folder": lambda path, _: path.mkdir(),
    "loop": lambda path, _: path.symlink_to(path),
    "link to nothing": lambda path, _: path.symlink_to(path.with_name("nothing")),
    "empty": lambda path, _: path.write_bytes(b""),
    "bytes": lambda path, random: path.write_bytes(random.randbytes(random.randrange(1, 3_000))),
    "zeros": lambda path, random: path.write_bytes(bytes(random.randrange(1, 100_000))),
    "huge": _sparse,
    "deep": _deep,
    "long number": _long_number,
    "half": _half_json,
    "other JSON": _wrong_json,
    "no UTF-8": lambda path, _: path.write_bytes(b'{"states": "\xff\xfe\xc0"}\nkey=\xff'),
    "constants": lambda path, _: path.write_text("[NaN, Infinity, -Infinity]"),
    "one line": lambda path, random: path.write_text(random.choice("x[\"'=") * (18 << 20)),
    "gzip": _gzip,
    "Parquet": _parquet,
}

PLACES: Final[dict[str, tuple[tuple[str, ...], bool]]] = {
    "one.json": (("replay", "one.json"), True),
    "one.itf.json": (("replay", "one.itf.json"), True),
    "trace.jsonl": (("diff", "trace.jsonl", "spec:5.3.3"), True),
    "trace.parquet": (("diff", "trace.parquet", "spec:5.3.3"), True),
    "trace.itf.json": (("diff", "trace.itf.json", "spec:5.3.3"), True),
    "small.toml": (("check", "--profile", "5.3.3", "--instance", "small.toml"), True),
    "broker.conf": (("conf", "broker.conf", "--version", "5.3.3"), False),
    "store/other.conf": (("diff", "store", "spec:5.3.3", "--broker-conf", "store/other.conf"), False),
    "store/commitlog/00000000000000000000": (("audit", "store"), False),
    "store/config/consumerOffset.json": (("audit", "store"), False),
    "store/config/delayOffset.json": (("audit", "store"), False),
    "store/config/topics.json": (("audit", "store"), False),
    "store/driver.jsonl.gz": (("diff", "store", "spec:5.3.3"), False),
    "store/config/consumerOffset.json.bak": (("diff", "store", "spec:5.3.3"), False),
}


def make(number: int, folder: Path) -> BadInput:
    """The bad input of a number, made below a folder, in which its command runs."""
    random = Random(f"halfcheck {number}")
    names, places = list(SPOILS), list(PLACES)
    what, where = names[number % len(names)], places[(number // len(names) + number) % len(places)]
    command, is_needed = PLACES[where]
    if where.startswith("store/"):
        shutil.copytree(GOLDEN, folder / "store", symlinks=True)
    path = folder / where
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    SPOILS[what](path, random)
    return BadInput(what, where, command, is_needed)
