"""A broker whose check service begins a round each minute of its clock, and a producer that it knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.wire.one_broker import MINUTE, broker
from tests.wire.one_producer import OneProducer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wire.broker_thread import BrokerThread


@pytest.fixture
def running(tmp_path: Path) -> Iterator[BrokerThread]:
    with broker(tmp_path, transactionCheckInterval=MINUTE) as one:
        yield one


@pytest.fixture
def producer(running: BrokerThread) -> Iterator[OneProducer]:
    with OneProducer(running.address) as one:
        one.heartbeat()
        yield one
