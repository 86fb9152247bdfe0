"""Places on other file systems for tests: a server of S3 and one of HDFS, each started once in a process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from files import object_store, remote_path
from files.remote_path import RemotePath, location
from files.writing import write_whole
from tests.files.faulty_proxy import Faults, faulty_proxy
from tests.files.hdfs_server import HdfsServer, server_jar
from tests.files.s3_server import BUCKET, S3Server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from files.remote_path import Location


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """The server."""
    server = S3Server(tmp_path_factory.mktemp("s3"))
    try:
        yield server.start()
    finally:
        server.kill()


def use(monkeypatch: pytest.MonkeyPatch, server: S3Server, **others: str) -> None:
    """Let the library find a server."""
    for name, value in (server.environment | others).items():
        monkeypatch.setenv(name, value)
    remote_path._file_system.cache_clear()


@pytest.fixture
def s3(s3_server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RemotePath]:
    """An empty folder of its bucket."""
    use(monkeypatch, s3_server)
    yield folder_for(tmp_path)
    remote_path._file_system.cache_clear()


@pytest.fixture
def faulty_s3(
    s3_server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[RemotePath, Faults]]:
    """The same behind a server that does as it is told, and is asked again but twice."""
    monkeypatch.setattr(object_store, "RETRIES", 2)
    monkeypatch.setattr(object_store, "RETRY_SECONDS", 5)
    with faulty_proxy(s3_server.endpoint) as (endpoint, faults):
        use(monkeypatch, s3_server, AWS_ENDPOINT_URL=endpoint)
        yield folder_for(tmp_path), faults
    remote_path._file_system.cache_clear()


@pytest.fixture(scope="session")
def hdfs_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HdfsServer]:
    """A NameNode and a DataNode."""
    built = Path(__file__).parents[2] / "build" / "hadoop"
    built.mkdir(parents=True, exist_ok=True)
    server = HdfsServer(tmp_path_factory.mktemp("hdfs"), server_jar(built))
    try:
        yield server.start()
    finally:
        server.kill()


@pytest.fixture
def hdfs(hdfs_server: HdfsServer, tmp_path: Path) -> RemotePath:
    """An empty folder of theirs."""
    remote_path._file_system.cache_clear()
    found = location(f"{hdfs_server.uri}{tmp_path.name}")
    assert isinstance(found, RemotePath)
    return found


def upload(store: Path, to: Location) -> None:
    """Copy a folder of this machine to a place."""
    for path in sorted(store.rglob("*")):
        if path.is_file():
            target = to / path.relative_to(store).as_posix()
            target.parent.mkdir(parents=True, exist_ok=True)
            write_whole(target, path.read_bytes())


def all_below(folder: Location, name: str = "") -> Iterator[tuple[str, Location]]:
    """All files below a folder by their names in it; SeaweedFS lists folders that are empty, too."""
    for path in folder.iterdir():
        if path.is_dir():
            yield from all_below(path, f"{name}{path.name}/")
        elif path.is_file():
            yield f"{name}{path.name}", path


def folder_for(tmp_path: Path) -> RemotePath:
    """A folder that no other test has."""
    found = location(f"s3://{BUCKET}/{tmp_path.parent.name}-{tmp_path.name}")
    assert isinstance(found, RemotePath)
    return found
