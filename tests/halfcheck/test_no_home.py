"""Commands run where no home can be written to: compiled code goes to a temporary folder, with one line of warning."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import spark_trace_analysis
from model_check.cache_folder import cache_folder, let_numba_keep_its_code
from model_check.walks import guided
from spark_trace_analysis.cluster import session

if TYPE_CHECKING:
    from types import ModuleType

NO_HOME = "/dev/null/home"
"""Below a file: not even root can make it."""

NOBODY = 65534


@pytest.fixture
def homeless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HALFCHECK_CACHE", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        monkeypatch.setenv(name, "")  # so that it is restored
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", NO_HOME)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_the_temporary_folder_is_the_users_own_and_the_same_again(
    homeless: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = cache_folder()
    assert (folder, folder.stat().st_mode & 0o777) == (homeless / f"halfcheck-{os.getuid()}", 0o700)
    warning = f"compiled code goes to {folder} (HALFCHECK_CACHE=DIR chooses)\n"
    told = capsys.readouterr().err
    assert told == f"halfcheck: warning: {NO_HOME}/.cache/halfcheck/kernels can't be written to; {warning}"
    assert (cache_folder(), os.environ["HALFCHECK_CACHE"], capsys.readouterr().err) == (folder, str(folder), "")


@pytest.mark.parametrize("taken_by", ["a link", "others", "a file"])
def test_a_folder_that_others_may_write_to_is_not_used(homeless: Path, taken_by: str) -> None:
    folder = homeless / f"halfcheck-{os.getuid()}"
    if taken_by == "a link":
        (homeless / "theirs").mkdir()
        folder.symlink_to(homeless / "theirs")
    elif taken_by == "a file":
        folder.touch()
    else:
        folder.mkdir()
        folder.chmod(0o777)
    assert cache_folder() not in {folder, homeless / "theirs"}


def test_numba_keeps_its_code_there_in_silence_if_the_package_cannot_be_written_to(
    homeless: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    let_numba_keep_its_code(tmp_path)
    assert "NUMBA_CACHE_DIR" not in os.environ
    let_numba_keep_its_code(Path("/dev/null/package"))
    assert capsys.readouterr().err == ""
    assert os.environ["NUMBA_CACHE_DIR"] == str(cache_folder() / "numba")
    assert "HALFCHECK_CACHE" in capsys.readouterr().err


@pytest.mark.parametrize("package", [guided, spark_trace_analysis])
@pytest.mark.usefixtures("homeless")
def test_each_package_that_numba_compiles_asks_for_the_folder_when_it_is_imported(
    package: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model_check.cache_folder.can_be_written", lambda _folder: False)
    importlib.reload(package)
    assert os.environ["NUMBA_CACHE_DIR"] == str(cache_folder() / "numba")


def test_a_home_that_can_be_written_to_is_used_in_silence(
    homeless: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(homeless))
    assert (cache_folder(), capsys.readouterr().err) == (homeless / ".cache" / "halfcheck" / "kernels", "")


def test_a_home_of_nobody_knows_whom_is_no_folder_below_this_one(
    homeless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: Path("~/.cache") / name)
    assert cache_folder().parent == homeless


def test_spark_gets_a_name_and_a_folder_for_a_user_whom_the_machine_does_not_know(
    homeless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(_uid: int) -> None:
        raise KeyError

    for variable in ("HADOOP_USER_NAME", "SPARK_USER"):
        monkeypatch.setenv(variable, "")
        monkeypatch.delenv(variable)
    assert session._of_a_user_without_a_name(homeless) == {}
    assert "HADOOP_USER_NAME" not in os.environ
    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert session._of_a_user_without_a_name(homeless) == {"spark.jars.ivy": str(homeless / "ivy")}
    assert os.environ["HADOOP_USER_NAME"] == os.environ["SPARK_USER"] == "halfcheck"


def as_nobody() -> dict[str, Any]:
    """What makes a process that of `NOBODY`, if this one is root's and that user may run this Python."""
    if os.getuid():
        return {}
    wanted: dict[str, Any] = {"user": NOBODY, "group": NOBODY}
    try:
        asked = subprocess.run(
            [sys.executable, "-c", "import halfcheck, numba"], check=False, capture_output=True, **wanted
        )
    except PermissionError:
        return {}
    return {} if asked.returncode else wanted


def test_check_runs_without_a_home_and_warns_once(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    for place in tmp_path.parents[:2]:
        place.chmod(place.stat().st_mode | 0o011)
    wanted = {"PATH", "PYTHONPATH", "PYTHONPYCACHEPREFIX", "HALFCHECK_COMPILE"}
    kept = {name: value for name, value in os.environ.items() if name in wanted}
    command = [sys.executable, "-m", "halfcheck", "check", "--instance", "tiny", "--property", "S1.immune_half"]
    finished = subprocess.run(
        command,
        cwd=tmp_path,
        env={**kept, "HOME": NO_HOME, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        **as_nobody(),
    )
    assert (finished.returncode, len(finished.stderr.splitlines())) == (12, 1), finished.stderr
    assert "compiled code goes to" in finished.stderr
    assert list(tmp_path.glob("halfcheck-*/kernel_*.py"))
