"""The commands of the pipeline on an S3 server and on HDFS: the same bytes as in a folder, whatever is written."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

import pytest

from conformance.golden_stores import golden_store
from files.reading import read_bytes
from files.remote_path import location
from files.temporary_folder import PREFIX
from files.writing import write_whole
from halfcheck import app
from halfcheck.errors import ExitCode
from tests.files.places import all_below, faulty_s3, hdfs, hdfs_server, s3, s3_server, upload, use

if TYPE_CHECKING:
    from pathlib import Path

    from files.remote_path import Location, RemotePath
    from tests.files.faulty_proxy import Faults
    from tests.files.s3_server import S3Server

__all__ = ["faulty_s3", "hdfs", "hdfs_server", "s3", "s3_server"]

STORE: Final = golden_store("5.3.3", "late").path
WALKS = ("--traces", "400", "--steps", "30", "--faults", "crash", "--instance", "tiny", "--profile", "5.3.3")
_TIMES: Final = re.compile(rb'<p class="phases">.*|"seconds": [^}]*}|<title>Audit of .*|Made on [^;]*;|<wbr>')


def written_by_the_commands(place: Location, capfd: pytest.CaptureFixture[str]) -> dict[str, bytes]:
    """All that the four write below a place, and print, without its name and without seconds."""
    upload(STORE, place / "store")
    commands = (
        ("simulate", *WALKS, "--runs", f"{place}/traces"),
        ("analyze", f"{place}/traces", "--out", f"{place}/verdicts", "--report", f"{place}/traces.html", "--json"),
        (
            *("audit", f"{place}/store", "--out", f"{place}/rows", "--work", f"{place}/work", "--json"),
            *("--findings", f"{place}/findings.parquet", "--csv", f"{place}/rows.csv"),
            *("--resend", f"{place}/resend.csv", "--report", f"{place}/audit.html"),
        ),
    )  # fmt: skip
    printed = []
    for command in commands:
        code = app.run(command)
        out, err = capfd.readouterr()
        assert (code, err) == (ExitCode.OK, ""), command
        printed.append(out if command[0] != "simulate" else "")
    found = {name: read_bytes(path) for name, path in all_below(place)}
    found["printed"] = json.dumps(printed).encode().replace(b'\\"', b'"')
    return {name: _TIMES.sub(b"", content).replace(str(place).encode(), b"PLACE") for name, content in found.items()}


@pytest.mark.sweep
@pytest.mark.parametrize("server", ["s3", "hdfs"])
def test_the_commands_write_elsewhere_what_they_write_in_a_folder_and_do_not_write_it_twice(
    server: str, request: pytest.FixtureRequest, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    there: RemotePath = request.getfixturevalue(server)
    expected, found = (written_by_the_commands(place, capfd) for place in (tmp_path, there))
    assert sorted(found) == sorted(expected)
    assert [name for name in found if found[name] != expected[name]] == []
    (run,) = (name for name in found if re.fullmatch(r"traces/profile=5.3.3/run=.*/_manifest.json", name))
    last = "rows/_audit.json", "traces.html", run, "verdicts/_manifest.json"
    before = [read_bytes(there / name) for name in last]
    assert app.run(("simulate", *WALKS, "--runs", f"{there}/traces")) == ExitCode.OK
    for out, words in {
        "verdicts": ("analyze", f"{there}/traces", "--out"),
        "rows": ("audit", f"{there}/store", "--out"),
    }.items():
        assert app.run((*words, f"{there}/{out}")) == ExitCode.BAD_OPTION
        assert "it exists already; name a new directory" in capfd.readouterr().err
    assert [read_bytes(there / name) for name in last] == before


def said_by_each_command(place: str, capfd: pytest.CaptureFixture[str]) -> list[tuple[int, str]]:
    """The exit code and the standard error of each of the three, in a place that is not what it should be."""
    commands = (
        ("simulate", *WALKS, "--out", f"{place}/traces"),
        ("analyze", f"{place}/traces", "--out", f"{place}/verdicts"),
        ("audit", str(STORE), "--out", f"{place}/rows"),
    )
    return [(app.run(words), capfd.readouterr().err) for words in commands]


def test_a_place_that_is_not_there_or_refuses_is_one_line_of_each_command(
    s3: RemotePath, s3_server: S3Server, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert app.run(["analyze", "s3://nobody-has-this/traces"]) == ExitCode.BAD_CONTENT  # this server makes it to write
    said = capfd.readouterr().err
    assert ("nobody-has-this" in said, "there is no such" in said, said.count("\n")) == (True, True, 1)
    use(monkeypatch, s3_server, AWS_ACCESS_KEY_ID="nobody")
    for code, said in said_by_each_command(str(s3), capfd):
        assert (code in (ExitCode.BAD_CONTENT, ExitCode.BAD_OPTION), said.count("\n")) == (True, 1), said
        assert "the store refuses these credentials" in said


def test_a_place_that_is_full_is_one_line_of_each_command_that_writes(
    faulty_s3: tuple[RemotePath, Faults], capfd: pytest.CaptureFixture[str]
) -> None:
    place, faults = faulty_s3
    faults.status, faults.code, faults.method, faults.count = 507, "InsufficientStorage", "PUT", 10_000
    simulated, _, audited = said_by_each_command(str(place), capfd)
    for code, said in (simulated, audited):
        assert (code in (ExitCode.BAD_CONTENT, ExitCode.BAD_OPTION), said.count("\n")) == (True, 1), said
        assert "the store is full" in said


def test_a_place_elsewhere_that_is_no_folder_of_traces_is_refused_in_a_line(
    s3: RemotePath, capfd: pytest.CaptureFixture[str]
) -> None:
    assert app.run(["analyze", f"{s3}/traces", "--out", f"{s3}/verdicts"]) == ExitCode.BAD_CONTENT
    assert capfd.readouterr().err.count("\n") == 1
    assert not location(f"{s3}/verdicts").exists()


def test_what_is_no_store_or_holds_no_traces_is_named_where_it_lies_and_not_by_its_copy(
    s3: RemotePath, capfd: pytest.CaptureFixture[str]
) -> None:
    write_whole(s3 / "page.html", b"<html>\n")
    write_whole(s3 / "traces" / "some.jsonl", b"{}\n")
    for words, named in (
        (("audit", f"{s3}"), f"halfcheck: {s3} has no commitlog/"),
        (("audit", f"{s3}/page.html"), f"halfcheck: {s3}/page.html"),
        (("analyze", f"{s3}/page.html"), f"halfcheck: {s3}/page.html: no events"),
        (("analyze", f"{s3}/traces"), f"halfcheck: {s3}/traces/some.jsonl: no events"),
    ):
        assert app.run(words) == ExitCode.BAD_CONTENT
        said = capfd.readouterr().err
        assert said.startswith(named)
        assert (PREFIX in said, said.count("\n")) == (False, 1), said
