"""One writer of a folder at a time, on any file system: the second one is refused, one that was killed is followed.

A writer is the owner whose file, numbered, nobody wrote before (:func:`files.writing.create_whole`). It rewrites a
second file now and then, as long as it lives. Another one may take over by the next number, if the owner's process is
gone from this machine, or if an owner elsewhere has given no sign for :data:`SILENCE_SECONDS`; no two clocks are
compared. An owner that finds a higher number than its own has been followed, and must not finish what it writes.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from files.content import read_json
from files.reading import read_bytes
from files.remote_path import RemotePath
from files.writing import create_whole, write_whole
from spark_trace_analysis.cluster.jobs import watched
from spark_trace_analysis.errors import BadOptionError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from files.remote_path import Location

SIGN_SECONDS: Final = 5.0
"""So often an owner gives a sign."""

SILENCE_SECONDS: Final = 30.0
"""After so long without one, an owner on another machine is taken for dead."""

TAKEN: Final = "another process is writing it; wait for it, or give another folder"

_LOOK_SECONDS: Final = 0.5


@dataclass(slots=True)
class FolderClaim:
    """The claim of this process to a folder: its number there."""

    option: str
    place: Location
    folder: Location
    number: int
    signs: int = 0
    is_lost: bool = field(default=False)

    def require(self) -> None:
        """See, before what is written is finished, that no other process has taken over; raises `BadOptionError`."""
        if self.is_lost or _path(self.folder, "owner", self.number + 1).exists():
            self.is_lost = True
            message = (
                f"{self.option} {self.place}: another process has taken it over, as this one gave no sign for "
                f"{SILENCE_SECONDS:.0f} s; what it writes counts, and nothing of this one's is lost"
            )
            raise BadOptionError(message)

    def give_a_sign(self) -> None:
        """Rewrite the file by which others see that this process lives."""
        with suppress(OSError):
            self.signs += 1
            write_whole(_path(self.folder, "alive", self.number), str(self.signs))
            self.is_lost = self.is_lost or _path(self.folder, "owner", self.number + 1).exists()


@contextmanager
def claimed(option: str, place: Location, folder: Location, taken: str = TAKEN) -> Iterator[FolderClaim]:
    """Be the only one who writes to a place, until the block ends; the files that say so lie in a folder of their own.

    Raises
    ------
    BadOptionError
        Another process writes there.
    OSError
        The folder can't be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _say_where_no_file_can_be_the_first(option, place, folder)
    claim = FolderClaim(option, place, folder, _next_number(folder, f"{option} {place}: {taken}"))
    try:
        with watched(claim.give_a_sign, SIGN_SECONDS):
            yield claim
    finally:
        if not claim.is_lost:
            _release(claim)


def _next_number(folder: Location, refusal: str) -> int:
    while True:
        last = _last_number(folder)
        if last and _lives(folder, last):
            raise BadOptionError(refusal)
        if not create_whole(_path(folder, "owner", last + 1), json.dumps(_this_process())):
            continue
        if not last or _path(folder, "owner", last).exists():
            return last + 1
        _path(folder, "owner", last + 1).unlink(missing_ok=True)  # its last owner had ended, and another may have begun


def _last_number(folder: Location) -> int:
    """The highest number of an owner; a list of names may be late, so that the next ones are asked for by name."""
    names = (path.name for path in folder.iterdir() if path.name.startswith("owner-"))
    last = max((int(name[len("owner-") : -len(".json")]) for name in names if name.endswith(".json")), default=0)
    while _path(folder, "owner", last + 1).exists():
        last += 1
    return last


def _release(claim: FolderClaim) -> None:
    """The files of earlier owners go before this one's own."""
    with suppress(OSError):
        for number in range(1, claim.number + 1):
            _path(claim.folder, "alive", number).unlink(missing_ok=True)
            _path(claim.folder, "owner", number).unlink(missing_ok=True)
        if isinstance(claim.folder, Path):
            claim.folder.rmdir()
        elif claim.folder.scheme == "hdfs":  # an object store has no folders
            claim.folder.unlink(missing_ok=True)


def _lives(folder: Location, number: int) -> bool:
    try:
        owner: dict[str, Any] = read_json(_path(folder, "owner", number))
    except FileNotFoundError:
        return False
    except ValueError:
        owner = {}
    this = _this_process()
    if owner.get("machine") == this["machine"]:
        return bool(owner.get("started") == _started(int(owner["pid"])))
    first, until = _sign(folder, number), time.monotonic() + SILENCE_SECONDS
    while time.monotonic() < until:
        time.sleep(_LOOK_SECONDS)
        if _sign(folder, number) != first:
            return True
    return False


def _sign(folder: Location, number: int) -> bytes:
    try:
        return read_bytes(_path(folder, "alive", number))
    except FileNotFoundError:
        return b"" if _path(folder, "owner", number).exists() else b"gone"


def _this_process() -> dict[str, Any]:
    pid = os.getpid()
    return {"machine": _machine(), "pid": pid, "started": _started(pid), "token": secrets.token_hex(8)}


def _machine() -> str:
    """The machine since it was started, and within it the container whose process numbers these are."""
    boot = namespace = ""
    with suppress(OSError):
        boot = read_bytes_of_the_system("/proc/sys/kernel/random/boot_id")
        namespace = str(Path("/proc/self/ns/pid").readlink())
    return f"{socket.gethostname()} {boot} {namespace}"


def _started(pid: int) -> str:
    """When a process was started, in ticks of the system; empty if there is none.

    Where the system does not say so, whether it is there has to do.
    """
    try:
        return read_bytes_of_the_system(f"/proc/{pid}/stat").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        if Path("/proc/self/stat").exists():
            return ""
    try:
        os.kill(pid, 0)
    except OSError:
        return ""
    return "unknown"


def read_bytes_of_the_system(path: str) -> str:
    """A file that the kernel makes when it is read."""
    return read_bytes(Path(path)).decode(errors="replace").strip()


def _path(folder: Location, kind: str, number: int) -> Location:
    return folder / f"{kind}-{number:06d}.json"


def _say_where_no_file_can_be_the_first(option: str, place: Location, folder: Location) -> None:
    """Warn where an object store takes a second file of a name that had to be new, as it ignores the condition."""
    if not isinstance(folder, RemotePath) or folder.scheme == "hdfs":
        return
    probe = folder / f"probe-{secrets.token_hex(8)}"
    try:
        if create_whole(probe, "first") and create_whole(probe, "second"):
            sys.stderr.write(
                f"warning: {option} {place}: this store takes a second file where only the first may be (it ignores "
                "If-None-Match), so that two commands at once on one folder are not told apart; see to that yourself\n"
            )
    finally:
        probe.unlink(missing_ok=True)
