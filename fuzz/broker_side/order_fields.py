"""The fields of orders to RocketMQ's own classes that are made of more than one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fuzz.broker_side.producers import TOPIC
from reference.format.properties import PRODUCER_GROUP, message_properties_to_string

if TYPE_CHECKING:
    from pathlib import Path

    from reference.broker.broker_settings import BrokerSettings
    from reference.broker.processor.send_message_processor import SendMessageRequest
    from reference.store.message_store_config import MessageStoreConfig
    from reference.versions.switches import ReleaseSwitches

_HOUR_MS: Final = 3_600_000


def opening(root: Path, now: int, settings: BrokerSettings, config: MessageStoreConfig) -> dict[str, object]:
    """Those of ``open``: the folder of the stores, the clock in milliseconds, and the broker's settings."""
    reserved_unit = 1 if settings.file_reserved_time_ms % _HOUR_MS else _HOUR_MS // 1_000
    return {
        "root": root,
        "topic": TOPIC,
        "now": now,
        "checkInterval": settings.transaction_check_interval_ms,
        "timeout": settings.transaction_timeout_ms,
        "checkMax": settings.transaction_check_max,
        "batchInterval": settings.op_batch_interval_ms,
        "batchSize": settings.op_msg_max_size,
        "timeLimit": settings.max_process_time_limit_ms,
        "pullNums": settings.op_msg_pull_nums,
        "reservedTime": settings.file_reserved_time_ms // (reserved_unit * 1_000),
        "reservedUnit": reserved_unit,
        "logFile": config.mapped_file_size_commit_log,
        "queueFile": config.mapped_file_size_consume_queue,
    }


def sending(request: SendMessageRequest, switches: ReleaseSwitches) -> dict[str, object]:
    """Those of ``send``."""
    return {
        "group": request.properties.get(PRODUCER_GROUP) or "senders",
        "topic": request.topic,
        "queue": request.queue_id,
        "sysFlag": request.sys_flag,
        "born": request.born_timestamp,
        "flag": request.flag,
        "properties": message_properties_to_string(request.properties, switches),
        "reconsumeTimes": request.reconsume_times,
        "body": request.body.hex(),
        "client": request.born_host,
    }
