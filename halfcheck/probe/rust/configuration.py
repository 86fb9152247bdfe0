"""What name server and broker of rocketmq-rust are told: loopback only, short intervals, all files in the run's folder.

Settings have the names of RocketMQ's ``broker.conf``, so that one and the same may be given to a broker of either kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from conformance.real.ports import Ports

LOOPBACK: Final = "127.0.0.1"

SETTINGS: Final = {
    "transactionTimeOut": "3000",
    "transactionCheckInterval": "1000",
    "transactionCheckMax": "5",
    "transactionOpBatchInterval": "200",
    "flushConsumerOffsetInterval": "1000",
    "fileReservedTime": "48",
    "mappedFileSizeCommitLog": "1048576",
}
"""Those of every run, by their names in ``broker.conf``."""

_BROKER: Final = {
    "transactionTimeOut": "transactionTimeout",
    "transactionCheckInterval": "transactionCheckInterval",
    "transactionCheckMax": "transactionCheckMax",
    "transactionOpBatchInterval": "transactionOpBatchInterval",
    "flushConsumerOffsetInterval": "flushConsumerOffsetInterval",
}
_STORE: Final = {
    "fileReservedTime": "fileReservedTime",
    "mappedFileSizeCommitLog": "mappedFileSizeCommitLog",
}
"""What its settings are called in the two tables of its TOML."""

_TOML: Final = """\
[broker]
listenPort = {broker}
brokerIp1 = "{loopback}"
storePathRootDir = "{run}/store"
namesrvAddr = "{name_server}"
autoCreateTopicEnable = true
waitTimeMillsInSendQueue = 10000
{broker_settings}
[broker.brokerServerConfig]
bindAddress = "{loopback}"
[broker.brokerIdentity]
brokerName = "broker-r"
brokerClusterName = "DefaultCluster"
brokerId = 0
[store]
storePathRootDir = "{run}/store"
storePathCommitLog = "{run}/store/commitlog"
haListenAddress = "{loopback}"
haListenPort = {high_availability}
mappedFileSizeConsumeQueue = 20000
timerWheelEnable = false
{store_settings}
[logging]
filter = "info"
"""


def broker_toml(run: Path, ports: Ports, settings: Mapping[str, str]) -> str:
    """The text of ``broker.toml``.

    Parameters
    ----------
    run
        The folder of the run.
    settings
        By their names in ``broker.conf``, whole numbers all of them.
    """
    return _TOML.format(
        run=run,
        loopback=LOOPBACK,
        broker=ports.broker,
        high_availability=ports.high_availability,
        name_server=ports.name_server_address,
        broker_settings=_table(_BROKER, settings),
        store_settings=_table(_STORE, settings),
    )


def conf_text(settings: Mapping[str, str]) -> str:
    """The same settings as a ``broker.conf``, which says to a probe what the broker does not tell in its names."""
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def _table(names: Mapping[str, str], settings: Mapping[str, str]) -> str:
    return "\n".join(f"{names[name]} = {int(value)}" for name, value in settings.items() if name in names)
