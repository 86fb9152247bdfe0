"""A walk-through of a cluster: how it begins, runs, crashes and is written as a store."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reference.broker.broker_settings import BrokerSettings
from reference.cluster.cluster import Cluster
from reference.store.message_store_config import MessageStoreConfig

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reference.cluster.push_consumer import PushConsumer
    from reference.store.memory_disk import MemoryDisk
    from reference.versions.switches import ReleaseSwitches


FILE_SIZES = MessageStoreConfig(mapped_file_size_commit_log=1 << 20, mapped_file_size_consume_queue=20_000)
"""Small files, as the golden stores have them."""


@dataclass(frozen=True)
class Scenario:
    """One walk-through."""

    name: str
    """By which a command calls it."""
    about: str
    """Its subject, in one line."""
    version: str
    begin: Callable[[Cluster], PushConsumer]
    """Adds clients to a cluster that has not run yet, and starts what they do; gives the consumer."""
    settings: BrokerSettings = field(default_factory=BrokerSettings)
    """The broker's; times are in milliseconds."""
    is_over: Callable[[Cluster], bool] = Cluster.is_at_rest
    """Whether the story has ended."""


@dataclass
class ScenarioRun:
    """One run of a scenario, from a seed."""

    scenario: Scenario
    cluster: Cluster
    consumer: PushConsumer
    """The messages that an application got."""


def write_store(cluster: Cluster, folder: Path) -> None:
    """Write a cluster's store as a directory, with its ``broker.conf`` and what was recorded of the run.

    ``driver.jsonl`` is what the producers sent and were asked, ``trace.jsonl`` the broker's own events.
    """
    cluster.disk.write_to(folder)
    (folder / "broker.conf").write_text(broker_conf(cluster.settings, cluster.switches))
    acts = [act for producer in cluster.producers.values() for act in producer.log]
    lines = [json.dumps(act) + "\n" for act in sorted(acts, key=lambda act: act["t"])]
    (folder / "driver.jsonl").write_text("".join(lines))
    with (folder / "trace.jsonl").open("w", encoding="utf-8") as stream:
        cluster.recorder.write_json_lines(stream)


def begin(scenario: Scenario, seed: int, disk: MemoryDisk | None = None) -> ScenarioRun:
    """A run that has not gone anywhere yet; a seed decides who runs when, a disk that stops at a write is a crash."""
    cluster = Cluster(seed, scenario.version, scenario.settings, FILE_SIZES, disk)
    return ScenarioRun(scenario, cluster, scenario.begin(cluster))


def run(scenario: Scenario, seed: int) -> ScenarioRun:
    """Play the scenario once, and shut the broker down."""
    started = begin(scenario, seed)
    started.cluster.scheduler.run(lambda: scenario.is_over(started.cluster))
    started.cluster.shutdown()
    return started


def broker_conf(settings: BrokerSettings, switches: ReleaseSwitches) -> str:
    """The ``broker.conf`` that says the same."""
    address, _, port = settings.store_host.rpartition(":")
    sizes = ("maped" if switches.spells_maped else "mapped") + "FileSize"
    values = {
        "brokerClusterName": settings.broker_cluster_name,
        "brokerName": settings.broker_name,
        "brokerId": 0,
        "brokerIP1": address,
        "listenPort": port,
        f"{sizes}CommitLog": FILE_SIZES.mapped_file_size_commit_log,
        f"{sizes}ConsumeQueue": FILE_SIZES.mapped_file_size_consume_queue,
        "transactionTimeOut": settings.transaction_timeout_ms,
        "transactionCheckMax": settings.transaction_check_max,
        "transactionCheckInterval": settings.transaction_check_interval_ms,
        "transactionOpBatchInterval": settings.op_batch_interval_ms,
        "flushConsumerOffsetInterval": settings.flush_consumer_offset_interval_ms,
        "flushDiskType": "ASYNC_FLUSH",
    }
    return "".join(f"{key}={value}\n" for key, value in values.items())


def rounds_ended(cluster: Cluster) -> int:
    """How many check rounds have ended so far."""
    return cluster.recorder.counts["round_ended"]
