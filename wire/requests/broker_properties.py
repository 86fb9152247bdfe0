"""A broker's settings as text: what GET_BROKER_CONFIG shows and UPDATE_BROKER_CONFIG changes while it runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from reference.format.errors import BrokenConfigError
from reference.format.java_properties import read_properties
from wire.errors import BadRequestError
from wire.remoting.command import java_text

if TYPE_CHECKING:
    from reference.broker.broker_settings import BrokerSettings
    from wire.node.broker_node import BrokerNode

_NUMBERS: Final = {
    "transactionTimeOut": "transaction_timeout_ms",
    "transactionCheckMax": "transaction_check_max",
    "transactionCheckInterval": "transaction_check_interval_ms",
    "transactionOpBatchInterval": "op_batch_interval_ms",
    "transactionOpMsgMaxSize": "op_msg_max_size",
    "flushConsumerOffsetInterval": "flush_consumer_offset_interval_ms",
}
_FLAGS: Final = {"rejectTransactionMessage": "reject_transaction_message", "asyncSendEnable": "async_send_enable"}


def properties_of(node: BrokerNode) -> dict[str, str]:
    """All settings that bear on what the broker does, and what else its ``broker.conf`` says."""
    settings = node.settings
    address, _, port = settings.store_host.rpartition(":")
    known: dict[str, object] = {
        "brokerName": settings.broker_name,
        "brokerClusterName": settings.broker_cluster_name,
        "brokerId": 1 if node.role.is_slave else 0,
        "brokerIP1": address,
        "listenPort": port,
        "brokerRole": "SLAVE" if node.role.is_slave else "ASYNC_MASTER",
        "autoCreateTopicEnable": node.start.auto_create_topic,
        "storePathRootDir": node.start.store,
        "mappedFileSizeCommitLog": node.start.config.mapped_file_size_commit_log,
    }
    for names in (_NUMBERS, _FLAGS):
        known |= {key: getattr(settings, field) for key, field in names.items()}
    return dict(node.start.conf) | {key: java_text(value) for key, value in known.items()}


def with_properties(settings: BrokerSettings, changed: dict[str, str]) -> BrokerSettings:
    """The settings with some of them changed.

    Raises
    ------
    BadRequestError
        One of them cannot be changed here, or has a value that it cannot have; nothing is changed.
    """
    values: dict[str, Any] = {}
    for key, text in changed.items():
        if key in _NUMBERS:
            if not text.isdecimal() or not int(text):
                message = f"{key} is {text!r}: expected a positive whole number"
                raise BadRequestError(message)
            values[_NUMBERS[key]] = int(text)
        elif key in _FLAGS:
            values[_FLAGS[key]] = text.lower() == "true"
        else:
            message = f"{key} can't be changed while this broker runs; there are {', '.join((*_NUMBERS, *_FLAGS))}"
            raise BadRequestError(message)
    return replace(settings, **values)


def parse_properties_text(body: bytes) -> dict[str, str]:
    r"""The settings in a body, as a file of them is read (``MixAll#string2Properties``).

    Raises
    ------
    BadRequestError
        Java can't load it.

    Examples
    --------
    >>> parse_properties_text(b"transactionCheckMax=3\n#no\n")
    {'transactionCheckMax': '3'}
    """
    try:
        return {setting.key: setting.value for setting in read_properties("the settings", body)}
    except BrokenConfigError as error:
        message = f"string2Properties error: {error}"
        raise BadRequestError(message) from None
