"""Checkpoints of a search on disk, from which it is resumed after its process is gone.

The states' files only grow, so that a checkpoint appends the new states to them, waits for the disk, and then puts a
small file of JSON in the place of the last one. Whenever the process is killed, that file and the states that it counts
are whole.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import asdict, dataclass, fields, is_dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from files.content import parse_json, read_json
from files.writing import write_whole
from model_check.errors import BadFile, ModelCheckError, OutOfRoom
from model_check.explicit.state_store.regions import Counts, make_folder
from model_check.explicit.state_store.resources import EXACT, Resources

if TYPE_CHECKING:
    from pathlib import Path

    from model_check.explicit.code_generation.compile import Compiled
    from model_check.explicit.state_store.store import StateStore

FORMAT = 1
FILE = "checkpoint.json"


@dataclass(frozen=True, slots=True)
class Position:
    """The position of a search between two calls of the kernel."""

    counts: list[int]  # states in each region
    levels: list[list[int]]  # the start of each level in each region; one more at the end
    claimed: int  # parents of the last level that are expanded
    generated: int
    seen: int  # the verdict bits of all states found, joined
    seen_at: list[int | None]  # the depth at which each bit was first seen
    seconds: float  # the time of the search
    checksums: list[int]  # CRC-32 of each region's words

    @property
    def distinct(self) -> int:
        """States found."""
        return sum(self.counts)

    def padded(self, regions: int) -> tuple[Counts, list[Counts]]:
        """Counts and levels for as many regions or more, of which the additional ones are empty."""
        more = [0] * (regions - len(self.counts))
        return np.array(self.counts + more, np.int64), [np.array(level + more, np.int64) for level in self.levels]


class Checkpoints:
    """The checkpoints of one search, in a folder that no other search uses at the same time.

    `title` is the name of the search, for people.

    Raises
    ------
    ModelCheckError
        When the folder is in use; when it has a checkpoint but nothing is to be resumed, or the other way round; when
        the checkpoint is one of another search.
    BadFile
        When the checkpoint cannot be read, or the folder cannot be made.
    """

    def __init__(self, resources: Resources, folder: Path, compiled: Compiled, constants: object, title: str) -> None:
        self.folder = folder
        self.last: Position | None = None
        self._every = resources.checkpoint_every
        self._written = perf_counter()
        self._identity = _identity(resources, compiled, constants, title)
        if resources.resume and not (folder / FILE).exists():
            message = f"no checkpoint in {folder}: start the search without --resume, or give the folder that has one"
            raise ModelCheckError(message)
        make_folder(folder, "a checkpoint")
        try:
            self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            message = f"{error.filename}: {error.strerror}: give a folder for a checkpoint that can be written"
            raise BadFile(message) from error
        try:
            self._look(resources)
        except BaseException:
            self.close()
            raise

    def _look(self, resources: Resources) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            message = f"{self.folder} is in use by another search: wait for its end, or choose another folder"
            raise ModelCheckError(message) from error
        file = self.folder / FILE
        if not resources.resume:
            if file.exists():
                message = f"{self.folder} holds a checkpoint already: go on with --resume, or choose another folder"
                raise ModelCheckError(message)
            return
        identity, self.last = read_checkpoint(file)
        _refuse_another(self.folder, identity, self._identity)

    def write_if_due(self, store: StateStore, position: Position) -> None:
        """Write a checkpoint if the last one is old enough."""
        if perf_counter() - self._written >= self._every:
            self.write(store, position)

    def write(self, store: StateStore, position: Position) -> None:
        """Write a checkpoint; `OutOfRoom` when the disk is full, where the last one stays."""
        files = store.regions.save()
        try:
            files.sync()
            content = {
                "format": FORMAT,
                "search": self._identity,
                "distinct": position.distinct,
                "position": {**asdict(position), "checksums": files.checksums},
            }
            write_whole(self.folder / FILE, json.dumps(content), is_lasting=True)
        except OSError as error:
            message = f"{self.folder}: {os.strerror(error.errno or 0)} where the checkpoint is written"
            raise OutOfRoom(message) from error
        self.last = position
        self._written = perf_counter()

    def close(self) -> None:
        """Let another search use the folder."""
        os.close(self._lock)


def read_checkpoint(file: Path) -> tuple[dict[str, Any], Position]:
    """The identity of a search, and its position; `BadFile` when the file is no checkpoint."""
    try:
        content = read_json(file)
        if content["format"] != FORMAT:
            message = f"{file}: a checkpoint of format {content['format']!r}, not {FORMAT}: start the search anew"
            raise BadFile(message)
        position = content["position"]
        return dict(content["search"]), Position(**{field.name: position[field.name] for field in fields(Position)})
    except OSError as error:
        message = f"{file}: no checkpoint that can be read ({error.strerror}): start the search anew"
        raise BadFile(message) from error
    except (ValueError, KeyError, TypeError) as error:
        message = f"{file}: no checkpoint, or a damaged one: start the search anew"
        raise BadFile(message) from error


def _identity(resources: Resources, compiled: Compiled, constants: object, title: str) -> dict[str, Any]:
    """All that must be the same for a search to be resumed; the names are hashes of kernels and specification."""
    known = is_dataclass(constants) and not isinstance(constants, type)
    values = asdict(constants) if known else {}  # type: ignore[call-overload]
    identity: dict[str, Any] = parse_json(
        json.dumps(
            {
                "title": title,
                "storage": "words" if resources.fingerprint_bits == EXACT else f"{resources.fingerprint_bits} bits",
                "constants": values,
                "switches": [int(getattr(constants, name)) for name in compiled.machine.switches],
                "module": [compiled.module.__name__, compiled.native.name],
            },
            default=str,
        )
    )
    return identity


def _refuse_another(folder: Path, saved: dict[str, Any], wanted: dict[str, Any]) -> None:
    message = ""
    if saved.get("title") != wanted["title"]:
        message = f"of {saved.get('title')}, not of {wanted['title']}"
    elif saved.get("storage") != wanted["storage"]:
        message = f"one with states kept as {saved.get('storage')}, not as {wanted['storage']}"
    elif saved.get("constants") != wanted["constants"]:
        before = saved.get("constants") or {}
        name = next(k for k in {**before, **wanted["constants"]} if before.get(k) != wanted["constants"].get(k))
        message = f"one with {name} = {before.get(name)!r}, not {wanted['constants'].get(name)!r}"
    elif saved.get("switches") != wanted["switches"]:
        message = "one with other switches"
    elif saved.get("module") != wanted["module"]:
        message = "one of a specification, or a halfcheck, that has changed since"
    if message:
        message = f"the checkpoint in {folder} is {message}: resume the same search, or start anew in another folder"
        raise ModelCheckError(message)
