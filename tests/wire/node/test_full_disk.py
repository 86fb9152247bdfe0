"""A broker whose disk is full, or that may open no more files: it refuses, says so, and goes on."""

from __future__ import annotations

import asyncio
import errno
import os
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING

from tests.wire.one_broker import broker
from tests.wire.one_producer import OneProducer
from wire.remoting.codes import ResponseCode

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_send_is_refused_in_words_and_the_next_one_stored_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with broker(tmp_path, mappedFileSizeCommitLog=1 << 22) as running, OneProducer(running.address) as producer:
        producer.half("before")
        with monkeypatch.context() as full:
            full.setattr(os, "fstatvfs", lambda _: SimpleNamespace(f_bavail=0, f_frsize=4096))
            answers = [producer.send_message(f"{n}", {"pad": "x" * 9_000}, is_half=False) for n in range(90)]
            refused = [answer for answer in answers if answer.code]
            assert {answer.code for answer in refused} == {ResponseCode.SERVICE_NOT_AVAILABLE}
            assert "the broker's disk is full [CL:" in (refused[0].remark or "")
        assert producer.send_message("after", is_half=False).code == ResponseCode.SUCCESS
        assert producer.keys() == [f"{n}" for n, answer in enumerate(answers) if not answer.code] + ["after"]


def test_a_queue_without_room_ends_the_taking_of_messages_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a real broker's (``RunningFlags#makeLogicsQueueError``): until it is started again; nobody looks in vain."""
    with broker(tmp_path) as running, OneProducer(running.address) as producer:
        real = os.open

        def opened(path: Path, *more: int) -> int:
            if "consumequeue" in str(path):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(path, *more)

        with monkeypatch.context() as full:
            full.setattr(os, "open", opened)
            assert producer.send_message("stored", is_half=False).code == ResponseCode.SUCCESS
            assert producer.send_message("refused", is_half=False).code == ResponseCode.SERVICE_NOT_AVAILABLE
            node = running._service.node
            assert node is not None
            steps = node.scheduler.steps
            running.controller.push_clock(1_000)
            assert node.scheduler.steps - steps < 50
        running.controller.restart()
    with broker(tmp_path) as running, OneProducer(running.address) as producer:
        assert producer.keys() == ["stored"]
        assert producer.send_message("more", is_half=False).code == ResponseCode.SUCCESS


def _fail(context: dict[str, object], _: object) -> None:
    asyncio.get_running_loop().call_exception_handler(context)


def test_a_connection_that_can_not_be_taken_is_said_once(tmp_path: Path) -> None:
    log: list[str] = []
    with broker(tmp_path, log=log) as running:
        for _ in range(3):
            context = {"message": "socket.accept() out of system resource", "exception": OSError(errno.EMFILE, "full")}
            running.call_soon(partial(_fail, context))
        running.controller.status()
    assert log == ["socket.accept() out of system resource: full; what waits is tried again each second"]
