"""Who writes a folder: one at a time, on a disk and in an object store, and who was killed is followed at once."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from files.writing import write_whole
from spark_trace_analysis import sole_writer
from spark_trace_analysis.errors import BadOptionError
from spark_trace_analysis.sole_writer import claimed
from tests.files.places import faulty_s3, s3, s3_server

if TYPE_CHECKING:
    from pathlib import Path

    from files.remote_path import Location, RemotePath
    from tests.files.faulty_proxy import Faults

__all__ = ["faulty_s3", "s3", "s3_server"]


@pytest.fixture(params=["disk", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    found: Location = tmp_path if request.param == "disk" else request.getfixturevalue("s3")
    return found / "run"


def test_the_second_one_is_refused_and_the_next_one_is_not(place: Location) -> None:
    with claimed("--out", place, place / "owners") as claim:
        assert claim.number == 1
        with (
            pytest.raises(BadOptionError, match=r"--out .*run: another process is writing it; wait for it"),
            claimed("--out", place, place / "owners"),
        ):
            pass
        claim.require()
    with claimed("--out", place, place / "owners") as claim:
        assert claim.number == 1
    assert not list((place / "owners").iterdir()) if (place / "owners").exists() else True


def test_one_that_was_killed_on_this_machine_is_followed_at_once(place: Location) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = sole_writer._this_process() | {"pid": process.pid, "started": sole_writer._started(process.pid)}
    (place / "owners").mkdir(parents=True, exist_ok=True)
    write_whole(place / "owners" / "owner-000001.json", json.dumps(owner))
    with pytest.raises(BadOptionError, match="another process"), claimed("--out", place, place / "owners"):
        pass
    process.kill()
    process.communicate()
    with claimed("--out", place, place / "owners") as claim:
        assert claim.number == 2


def test_one_elsewhere_that_gives_no_sign_is_followed_and_must_not_finish(
    place: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sole_writer, "SILENCE_SECONDS", 0.2)
    monkeypatch.setattr(sole_writer, "SIGN_SECONDS", 60.0)
    monkeypatch.setattr(sole_writer, "_LOOK_SECONDS", 0.05)
    with claimed("--out", place, place / "owners") as first:
        monkeypatch.setattr(sole_writer, "_machine", lambda: "another")
        with claimed("--out", place, place / "owners") as second:
            assert (first.number, second.number) == (1, 2)
            second.require()
            with pytest.raises(BadOptionError, match="another process has taken it over"):
                first.require()


def test_one_elsewhere_that_gives_signs_is_left_alone(place: Location, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sole_writer, "SILENCE_SECONDS", 30.0)
    monkeypatch.setattr(sole_writer, "_LOOK_SECONDS", 0.05)
    with claimed("--out", place, place / "owners") as first:
        monkeypatch.setattr(sole_writer, "_machine", lambda: "another")
        over = threading.Event()

        def give_signs() -> None:
            while not over.wait(0.02):
                first.give_a_sign()

        thread = threading.Thread(target=give_signs)
        thread.start()
        with pytest.raises(BadOptionError, match="another process"), claimed("--out", place, place / "owners"):
            pass
        over.set()
        thread.join()


def test_a_list_of_names_that_is_late_hides_no_owner(place: Location, monkeypatch: pytest.MonkeyPatch) -> None:
    with claimed("--out", place, place / "owners"):
        monkeypatch.setattr(type(place), "iterdir", lambda _path: iter(()))
        with pytest.raises(BadOptionError, match="another process"), claimed("--out", place, place / "owners"):
            pass


def test_a_store_that_ignores_the_condition_is_told_of(
    faulty_s3: tuple[RemotePath, Faults], capfd: pytest.CaptureFixture[str]
) -> None:
    place, faults = faulty_s3
    with claimed("--out", place, place / "owners"):
        assert capfd.readouterr().err == ""
    faults.ignores_conditions = True
    with claimed("--out", place, place / "owners"):
        assert "takes a second file where only the first may be" in capfd.readouterr().err
