"""A message that its consumer sends back by a plain send is tried once more, and later each time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from reference.client.client_message import send_back_by_send
from reference.versions.versions import switches_of


@pytest.mark.parametrize(("tries", "level"), [(0, "3"), (1, "4"), (15, "18")])
def test_it_counts_the_try_and_waits_a_level_longer(tries: int, level: str) -> None:
    delivered: Any = SimpleNamespace(
        topic="Orders", body=b"poison", flag=7, reconsume_times=tries, properties={"TRAN_MSG": "true", "KEYS": "k"}
    )
    sent = send_back_by_send(delivered, "consumers", 5, switches_of("5.5.1"))
    assert (sent.topic, sent.queue_id, sent.body, sent.flag) == ("%RETRY%consumers", 0, b"poison", 7)
    assert sent.reconsume_times == tries + 1
    assert (sent.properties["DELAY"], sent.properties["RETRY_TOPIC"], sent.properties["KEYS"]) == (level, "Orders", "k")
    assert delivered.properties == {"TRAN_MSG": "true", "KEYS": "k"}
