"""A command in a session of its own leaves nothing behind, whenever it is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.processes import ends, is_over
from wire.probe.operator import in_own_session

if TYPE_CHECKING:
    from pathlib import Path

LEAVES_A_CHILD = ["sh", "-c", "sleep 600 & echo $! > child; wait"]


def child_of(folder: Path) -> int:
    file = folder / "child"
    while not (file.exists() and file.read_text(encoding="utf-8").strip()):
        time.sleep(0.01)
    return int(file.read_text(encoding="utf-8"))


def test_what_is_interrupted_while_it_starts_is_killed_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    started, heeded = subprocess.Popen, signal.getsignal(signal.SIGINT)

    def interrupted(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        process = started(*arguments, **options)
        child_of(tmp_path)
        signal.raise_signal(signal.SIGINT)  # to this thread; by os.kill another one may hear of it, and later
        return process

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt), in_own_session(LEAVES_A_CHILD):
        pytest.fail("the interruption is heard of before the context is entered")
    assert ends(child_of(tmp_path))
    assert signal.getsignal(signal.SIGINT) is heeded


def test_what_ends_in_time_leaves_its_children_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with in_own_session(["sh", "-c", "sleep 600 & echo $! > child"]) as process:
        assert process.wait(10) == 0
    child = child_of(tmp_path)
    assert not is_over(child)
    os.kill(child, signal.SIGKILL)
