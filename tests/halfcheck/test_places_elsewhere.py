"""A file system elsewhere that does not answer is one line of a command, which names the place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.golden_stores import golden_store
from files import object_store
from files.writing import remove_folder, write_whole
from halfcheck import app, whole_store
from halfcheck.errors import ExitCode
from spark_trace_analysis.traces.unfinished_run import WORK, is_work_alone
from tests.files.places import faulty_s3, s3, s3_server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from files.remote_path import RemotePath
    from tests.files.faulty_proxy import Faults

__all__ = ["faulty_s3", "s3", "s3_server"]

NOBODY_LISTENS: Final = "127.0.0.1:1"
COMMANDS: Final = (("analyze",), ("audit",), ("simulate", "--traces", "10", "--out"))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", [f"hdfs://{NOBODY_LISTENS}/traces", "s3://bucket/traces"])
def test_a_server_that_is_not_there_is_one_line_and_exit_code_150(
    command: Sequence[str], place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(object_store, "RETRIES", 0)
    for name, value in (("AWS_ENDPOINT_URL", f"http://{NOBODY_LISTENS}"), ("AWS_ALLOW_HTTP", "true")):
        monkeypatch.setenv(name, value)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "any")
    assert app.run([*command, place]) == ExitCode.BAD_CONTENT
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"halfcheck: {place}")
    assert "does not answer as it should" in line


def test_a_folder_that_a_server_lists_though_it_was_emptied_is_nothing_else(s3: RemotePath) -> None:
    write_whole(s3 / ".analysis" / "verdicts", b"")
    remove_folder(s3)
    write_whole(s3 / WORK / "owner", b"")
    assert is_work_alone(s3)
    write_whole(s3 / "others", b"")
    assert not is_work_alone(s3)


def test_an_audit_of_one_machine_writes_nothing_but_its_rows_elsewhere(
    faulty_s3: tuple[RemotePath, Faults], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_store, "_SMALL_BYTES", 0)
    place, faults = faulty_s3
    store = golden_store("5.3.3", "mixed").path
    whole_store.audited(store, None, place / "rows")
    written = {name for method, name in (line.split() for line in faults.seen) if method == "PUT"}
    assert any("/rows/" in name for name in written)
    assert not any("/.rows.audit/" in name for name in written)
    whole_store.audited(store, None, place / "others", place / "stages")
    assert any("/stages/" in line for line in faults.seen if line.startswith("PUT"))
