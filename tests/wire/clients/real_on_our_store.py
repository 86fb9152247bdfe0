"""``make test-clients ARGS=--goes-on``: real brokers go on from stores that ours has left."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from real_brokers.rocketmq.broker import RealBroker
from tests.wire.clients.brokers import BATCH_MS, our_broker
from tests.wire.one_producer import OneProducer
from wire.client.transactions import COMMIT

VERSIONS: Final = ("4.5.1", "4.9.7", "5.3.3", "5.4.0", "5.5.0")


def go_on() -> int:
    """Ours stores a committed message and pending halves; the real broker delivers the one and checks the others."""
    failed = 0
    for version in VERSIONS:
        with TemporaryDirectory(prefix="halfcheck-clients-") as folder:
            with our_broker(version, Path(folder)) as broker, OneProducer(broker.address) as producer:
                producer.heartbeat()
                producer.end(producer.half("committed"), COMMIT)
                producer.half("pending")
                producer.half("pending-too")
                time.sleep(BATCH_MS / 1_000)
            with (
                RealBroker(version, "goes-on", store=Path(folder) / "store") as real,
                OneProducer(str(real.address)) as producer,
            ):
                producer.heartbeat()
                checked = [producer.check(60), producer.check(60)]
                for check in checked:
                    if check is not None:
                        producer.end(check, COMMIT, answers_check=True)
                time.sleep(BATCH_MS / 1_000)
                keys = sorted(producer.keys())
        is_right = keys == ["committed", "pending", "pending-too"]
        failed += not is_right
        print(
            f"real {version} on our store: {'goes on' if is_right else 'does not go on'}; delivered {keys}", flush=True
        )
    return 12 if failed else 0
