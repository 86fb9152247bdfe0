"""What takes long is made once, however many want it at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from time import sleep
from typing import TYPE_CHECKING

from files.alone import alone

if TYPE_CHECKING:
    from pathlib import Path


def test_who_waits_finds_what_was_made(tmp_path: Path) -> None:
    path, begun, made = tmp_path / "cache" / "code.1", Barrier(2), []

    def make(number: int) -> None:
        begun.wait(60)
        with alone(path):
            if not path.exists():
                made.append(number)
                sleep(0.2)
                path.write_text("code")

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(make, range(2)))
    assert len(made) == 1
    assert list(path.parent.iterdir()) == [path], "no lock is left"


def test_names_that_differ_in_their_ends_have_locks_of_their_own(tmp_path: Path) -> None:
    with alone(tmp_path / "4.9.7"), alone(tmp_path / "4.9.8"):
        assert {path.name for path in tmp_path.iterdir()} == {"4.9.7.lock", "4.9.8.lock"}


def test_where_no_lock_can_be_had_each_makes_it_for_itself(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    path, made = tmp_path / "file" / "code", []
    with alone(path), alone(path):
        made.append(path)
    assert made
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
