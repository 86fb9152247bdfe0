"""The servers and the commands that both benchmarks of this folder need: an S3 server and HDFS on loopback."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from files.reading import read_bytes
from files.remote_path import location
from files.writing import write_whole
from tests.files.hdfs_server import HdfsServer, server_jar
from tests.files.s3_server import BUCKET, S3Server

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from files.remote_path import Location

PROJECT: Final = Path(__file__).resolve().parents[2]
_TIMES: Final = re.compile(rb'<p class="phases">.*')


@dataclass(frozen=True)
class Servers:
    """The servers, and where each of the three kinds of places is."""

    s3: S3Server
    hdfs: HdfsServer
    folder: Path

    @property
    def places(self) -> dict[str, str]:
        """The root of each, by its name."""
        return {"folder": str(self.folder), "S3": f"s3://{BUCKET}", "HDFS": self.hdfs.uri.rstrip("/")}

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables by which a command finds the servers and this project."""
        return {**os.environ, **self.s3.environment, "PYTHONPATH": str(PROJECT)}


@contextmanager
def servers(folder: Path) -> Iterator[Servers]:
    """Start both in a folder; this process finds them, too."""
    (PROJECT / "build" / "hadoop").mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        for name in ("s3", "hdfs", "here"):
            (folder / name).mkdir(parents=True)
        s3 = S3Server(folder / "s3")
        stack.callback(s3.kill)
        hdfs = HdfsServer(folder / "hdfs", server_jar(PROJECT / "build" / "hadoop"))
        stack.callback(hdfs.kill)
        s3.start()
        hdfs.start()
        os.environ.update(s3.environment)
        yield Servers(s3, hdfs, folder / "here")


def halfcheck(*words: str) -> list[str]:
    """A command, as a process."""
    return [sys.executable, "-P", "-m", "halfcheck", *words]


def upload(store: Path, place: Location) -> None:
    """Copy a store to a place."""
    for path in sorted(store.rglob("*")):
        if path.is_file():
            target = place / path.relative_to(store).as_posix()
            target.parent.mkdir(parents=True, exist_ok=True)
            write_whole(target, path.read_bytes())


def files_below(folder: Location, name: str = "") -> Iterator[tuple[str, Location]]:
    """The files below a folder by their names in it; folders that begin with a point are passed over."""
    for path in folder.iterdir():
        if path.is_dir():
            if not path.name.startswith("."):
                yield from files_below(path, f"{name}{path.name}/")
        elif path.is_file():
            yield f"{name}{path.name}", path


def digests(place: str, *of: str) -> dict[str, str]:
    """The SHA-256 of each file below some names of a place, without the place's own name and without seconds."""
    found: dict[str, str] = {}
    for name in of:
        at = location(f"{place}/{name}")
        listed = files_below(at, f"{name}/") if at.is_dir() else [(name, at)]
        for each, path in listed:
            content = _TIMES.sub(b"", read_bytes(path)).replace(place.encode(), b"PLACE")
            found[each] = hashlib.sha256(content).hexdigest()
    return found
