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
from tests.files.hdfs_server import HdfsServer, server_jar
from tests.files.places import all_below
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


def files_below(folder: Location) -> Iterator[tuple[str, Location]]:
    """The files below a folder by their names in it, but for those in folders that begin with a point."""
    return ((name, path) for name, path in all_below(folder) if "/." not in f"/{name}")


def digests(place: str, *of: str) -> dict[str, str]:
    """The SHA-256 of each file below some names of a place, without the place's own name and without seconds."""
    found: dict[str, str] = {}
    for name in of:
        at = location(f"{place}/{name}")
        listed = ((f"{name}/{below}", path) for below, path in files_below(at)) if at.is_dir() else [(name, at)]
        for each, path in listed:
            content = _TIMES.sub(b"", read_bytes(path)).replace(place.encode(), b"PLACE")
            found[each] = hashlib.sha256(content).hexdigest()
    return found
