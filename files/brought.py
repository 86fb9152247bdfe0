"""Files of another file system, copied to this machine: for what is read in place, as the log of a store is."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from files.alone import alone
from files.errors import UnreadableFileError
from files.temporary_folder import stay
from files.writing import appearing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from files.remote_path import RemotePath

_PIECE_BYTES: Final = 8 << 20
_AHEAD: Final = 3
_HOLE_BYTES: Final = 64 << 10
_HOLE: Final = bytes(_HOLE_BYTES)
_AT_A_TIME: Final = 4
_MOST_DEPTH: Final = 16


def bring(place: RemotePath, folder: Path, is_wanted: Callable[[str], bool] = lambda _name: True) -> Path:
    """Copy a file, or all below a folder, into a folder here; gives the copy. Stretches of zeros become holes.

    Parameters
    ----------
    is_wanted
        Whether a file or a folder at the top is, by its name.

    Raises
    ------
    FileNotFoundError
        There is no such file or folder.
    UnreadableFileError
        Folders lie too deep in each other.
    """
    target = folder / place.name
    with ThreadPoolExecutor(_AT_A_TIME, "bring") as threads, ThreadPoolExecutor(_AT_A_TIME, "piece") as readers:
        for _ in threads.map(lambda each: _copy(each[0], each[1], readers), list(_pairs(place, target, is_wanted))):
            pass
    return target


@contextmanager
def named_as_there(copy: Path, place: RemotePath) -> Iterator[None]:
    """Let the errors of the block name a place where they name its copy, of which nobody else knows."""

    def named(given: object) -> object:
        return given.replace(str(copy), str(place).rstrip("/")) if isinstance(given, str) else given

    try:
        yield
    except Exception as error:
        error.args = tuple(named(one) for one in error.args)
        if isinstance(error, OSError):
            error.filename = named(error.filename)
        raise


@dataclass(frozen=True, slots=True)
class BroughtStore:
    """A store of another file system and its copy on this machine, which has one path on all machines of a cluster.

    The first task on a machine that has no copy makes one. The command that begins next there deletes it, once the
    processes that read it are gone.
    """

    place: RemotePath
    folder: Path

    @property
    def copy(self) -> Path:
        """The copy."""
        return self.folder / self.place.name

    def see_to_it(self) -> None:
        """Bring the store here, if it is not there; one process does, and others wait for it."""
        if self.copy.is_dir():
            return
        with alone(self.folder):
            if not self.copy.is_dir():
                stay(self.folder)
                bring(self.place, self.folder / "coming", is_wanted=is_of_a_store).rename(self.copy)


def is_of_a_store(name: str) -> bool:
    """Whether a file or folder of a store is read: its index is not."""
    return name not in ("index", "abort", "lock")


def _pairs(place: RemotePath, target: Path, is_wanted: Callable[[str], bool]) -> Iterator[tuple[RemotePath, Path]]:
    found = place.look()
    if found is None:
        raise FileNotFoundError(2, "there is no such file or folder", str(place))
    if found.size is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield place, target
        return
    level = [(place, target)]
    for depth in range(_MOST_DEPTH):
        deeper: list[tuple[RemotePath, Path]] = []
        for at, to in level:
            to.mkdir(parents=True, exist_ok=True)
            for entry in at.system.entries(at.key):
                pair = at / entry.name, to / entry.name
                if not depth and not is_wanted(entry.name):
                    continue
                if entry.size is None:
                    deeper.append(pair)
                else:
                    yield pair
        level = deeper
    if level:
        raise UnreadableFileError(str(level[0][0]), f"folders deeper than {_MOST_DEPTH} in each other")


def _copy(place: RemotePath, target: Path, readers: ThreadPoolExecutor) -> None:
    found = place.look()
    size, stamp = (0, "") if found is None else (found.size or 0, found.stamp)
    with appearing(target) as unfinished, unfinished.open("wb") as file:
        for piece in _pieces(place, size, readers):
            for at in range(0, len(piece), _HOLE_BYTES):
                part = piece[at : at + _HOLE_BYTES]
                if part == _HOLE[: len(part)]:
                    file.seek(len(part), 1)
                else:
                    file.write(part)
        file.truncate(size)
    time = int.from_bytes(hashlib.sha256(stamp.encode()).digest()[:7])
    os.utime(target, ns=(time, time))  # the same, as long as the file elsewhere is


def _pieces(place: RemotePath, size: int, readers: ThreadPoolExecutor) -> Iterator[bytes]:
    """The pieces of a file in their order, some of them fetched while earlier ones are written."""
    ahead: deque[Future[bytes]] = deque()
    for start in range(0, size, _PIECE_BYTES):
        ahead.append(readers.submit(place.system.read, place.key, start, min(start + _PIECE_BYTES, size)))
        if len(ahead) > _AHEAD:
            yield ahead.popleft().result()
    while ahead:
        yield ahead.popleft().result()
