"""An audit of a store in an object store, written into one: the same as on folders, and refused where it must be."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from conformance.golden_stores import golden_store
from files.reading import read_bytes
from halfcheck import app
from halfcheck.errors import ExitCode
from tests.files.places import s3, s3_server, upload, use

if TYPE_CHECKING:
    from pathlib import Path

    from files.remote_path import Location, RemotePath
    from tests.files.s3_server import S3Server

__all__ = ["s3", "s3_server"]


def contents_of(folder: Location) -> dict[str, bytes]:
    return {path.name: read_bytes(path) for path in folder.iterdir()}


def elsewhere(told: dict[str, Any], store: Path, s3: RemotePath) -> dict[str, Any]:
    """What is told of a store, with the name of its copy."""
    named: dict[str, Any] = json.loads(json.dumps(told).replace(str(store), f"{s3}/store"))
    return named


def audited(capfd: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert app.run(["audit", *words, "--json", "--all"]) == ExitCode.OK
    told: dict[str, Any] = json.loads(capfd.readouterr().out)
    return told


@pytest.mark.parametrize("stages", [False, True])
def test_a_store_elsewhere_is_audited_as_on_a_disk(
    s3: RemotePath, tmp_path: Path, capfd: pytest.CaptureFixture[str], stages: bool
) -> None:
    store = golden_store("5.3.3", "late").path
    upload(store, s3 / "store")
    here, there = tmp_path / "rows", s3 / "rows"
    work = [["--work", str(folder / "work")] if stages else [] for folder in (tmp_path, s3)]
    told = audited(capfd, str(store), "--out", str(here), *work[0], "--csv", str(tmp_path / "rows.csv"))
    told_there = audited(capfd, f"{s3}/store", "--out", str(there), *work[1], "--csv", f"{s3}/rows.csv")
    assert elsewhere(told, store, s3) == told_there
    assert told_there["store"] == f"{s3}/store"
    contents, found = contents_of(here), contents_of(there)
    summary, summary_there = (json.loads(of.pop("_audit.json")) for of in (contents, found))
    assert found == contents
    assert elsewhere(summary, store, s3) == summary_there
    assert read_bytes(s3 / "rows.csv") == (tmp_path / "rows.csv").read_bytes()
    left = [path.name for path in s3.iterdir() if path.is_file() or any(each.exists() for each in path.iterdir())]
    assert sorted(left) == ["rows", "rows.csv", "store"]  # this server keeps folders that are empty
    assert app.run(["audit", f"{s3}/store", "--out", str(there)]) == ExitCode.BAD_OPTION
    assert "it exists already; name a new directory" in capfd.readouterr().err


def test_what_stands_in_the_way_is_one_line(
    s3: RemotePath, s3_server: S3Server, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for words, code, said in (
        ([f"{s3}/nothing"], ExitCode.BAD_CONTENT, f"{s3}/nothing: there is no such file or folder"),
        (["s3://nobody-has-this/store"], ExitCode.BAD_CONTENT, "s3://nobody-has-this/store: there is no such bucket"),
        (["ftp://host/store"], ExitCode.BAD_CONTENT, "ftp://host/store: expected a path, file://, s3://"),
        ([f"{s3}/store", "--watch", "30s"], ExitCode.BAD_OPTION, "a watch reads a store that grows"),
    ):
        assert app.run(["audit", *words]) == code
        err = capfd.readouterr().err
        assert said in err
        assert err.count("\n") == 1
    use(monkeypatch, s3_server, AWS_ACCESS_KEY_ID="nobody")
    assert app.run(["audit", f"{s3}/store"]) == ExitCode.BAD_CONTENT
    assert "the store refuses these credentials" in capfd.readouterr().err
