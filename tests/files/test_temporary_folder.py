"""A folder for one command is gone behind it, also where it was killed; nobody else's is touched."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from files.temporary_folder import sweep, temporary_folder

COMMAND = """
import time
from files.temporary_folder import temporary_folder
with temporary_folder() as folder:
    (folder / "store").write_text("")
    print(folder, flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


def test_it_is_gone_behind_the_command(tmp_path: Path) -> None:
    with temporary_folder() as folder:
        (folder / "store").mkdir()
        assert folder.parent == tmp_path
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_command_left_the_next_one_deletes(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", COMMAND], stdout=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        left = command.stdout.readline().strip()
        sweep()
        assert (Path(left) / "store").exists()
        command.send_signal(signal.SIGKILL)
        command.wait()
    assert [str(path) for path in tmp_path.iterdir()] == [left]
    with temporary_folder() as folder:
        assert list(tmp_path.iterdir()) == [folder]


def test_one_in_use_and_one_that_bears_no_lock_stay(tmp_path: Path) -> None:
    (tmp_path / "halfcheck-of-somebody").mkdir()
    with temporary_folder() as first, temporary_folder() as second:
        assert first.is_dir()
        assert second.is_dir()
    assert [path.name for path in tmp_path.iterdir()] == ["halfcheck-of-somebody"]
