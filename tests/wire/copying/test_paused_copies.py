"""A reading that is cut short is gone on with, and leaves the copy that one without an end in the middle leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reference.format.commit_log import CommitLog
from tests.wire.copying.traffic import OTHER, traffic
from tests.wire.one_broker import broker
from tests.wire.one_producer import TOPIC, OneProducer
from wire.client.channel import Address, BrokerChannel, NoAnswerError
from wire.client.queue_reader import QueueReader
from wire.copying import broker_moment
from wire.copying.broker_moment import BrokerMoment
from wire.copying.copy_writer import CopyWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from wire.client.stored_messages import QueueStretch, StoredMessages


class Dying(QueueReader):
    """Of a broker that goes away behind some answers."""

    answers = 0

    def read(self, stretches: Iterable[QueueStretch]) -> Iterator[StoredMessages]:
        for messages in super().read(stretches):
            if Dying.answers == 0:
                message = "gone"
                raise NoAnswerError(message)
            Dying.answers -= 1
            yield messages


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "commitlog").iterdir()}


@pytest.mark.parametrize("answers", [0, 1, 4, 9])
def test_a_copy_goes_on_where_it_was_cut_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: int) -> None:
    with broker(tmp_path, "5.3.3", mappedFileSizeCommitLog=1 << 14) as running, OneProducer(running.address) as one:
        running.controller.topic(TOPIC)
        running.controller.topic(OTHER)
        traffic(one, 150)
        running.controller.push_clock(61_000)
        whole, cut = tmp_path / "whole", tmp_path / "cut"
        counts: list[int] = []

        def copy(folder: Path) -> None:
            folder.mkdir(exist_ok=True)
            puts = 0
            put = CopyWriter.put

            def counted(writer: CopyWriter, offset: int, raw: bytes) -> None:
                nonlocal puts
                puts += 1
                put(writer, offset, raw)

            with monkeypatch.context() as patched, BrokerChannel(Address.of(running.address)) as channel:
                patched.setattr(CopyWriter, "put", counted)
                try:
                    BrokerMoment(channel).copy(folder)
                finally:
                    counts.append(puts)

        copy(whole)
        Dying.answers = answers
        with monkeypatch.context() as patched:
            patched.setattr(broker_moment, "QueueReader", Dying)
            with pytest.raises(NoAnswerError, match="gone"):
                copy(cut)
        copy(cut)
    assert counts[0] == counts[1] + counts[2]
    assert (counts[1] > 0) == (answers > 0)
    assert files_of(whole) == files_of(cut)
    logs = [CommitLog.open(folder).partial for folder in (whole, cut)]
    assert logs[0] == logs[1]
    assert sorted(path.name for path in cut.iterdir()) == sorted(path.name for path in whole.iterdir())
