"""The settings of a recorded broker, out of its ``broker.conf``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.errors import NoScheduleError
from reference.broker.broker_settings import BrokerSettings
from reference.format.broker_conf import Setting, broker_conf_of, settings
from reference.store.message_store_config import MessageStoreConfig
from reference.versions.versions import STORE_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.broker_schedule import BrokerSchedule
    from reference.versions.switches import VersionSwitches

_SOURCE = "the settings of the schedule"


def read_settings(path: Path, switches: VersionSwitches) -> dict[str, str]:
    """Every setting of a ``broker.conf`` by its key.

    Raises
    ------
    BrokenConfigError
        One that the reference broker heeds has a value that it can't have.
    """
    given = tuple(settings(path))
    broker_conf_of(path, given)
    MessageStoreConfig.of_broker_conf(path, given, switches)
    return {setting.key: setting.value for setting in given}


def broker_settings(schedule: BrokerSchedule) -> BrokerSettings:
    """What the broker is run with.

    Raises
    ------
    NoScheduleError
        The version is unknown, or the settings do not say at which address the broker stood.
    """
    conf = schedule.settings
    if schedule.version not in STORE_VERSIONS:
        message = f"there is no reference broker of version {schedule.version}; there are {', '.join(STORE_VERSIONS)}"
        raise NoScheduleError(message)
    for key in ("brokerIP1", "listenPort"):
        if key not in conf:
            message = f"the broker.conf does not set {key}, so that the store host of its records is unknown"
            raise NoScheduleError(message)
    known = BrokerSettings.of_broker_conf(broker_conf_of(_SOURCE, _settings(schedule)), schedule.version)
    return replace(
        known,
        store_host=f"{conf['brokerIP1']}:{conf['listenPort']}",
        broker_name=conf.get("brokerName", known.broker_name),
        broker_cluster_name=conf.get("brokerClusterName", known.broker_cluster_name),
        region_id=conf.get("regionId", known.region_id),
    )


def store_config(schedule: BrokerSchedule) -> MessageStoreConfig:
    """The sizes of the store's files."""
    return MessageStoreConfig.of_broker_conf(_SOURCE, _settings(schedule), STORE_VERSIONS[schedule.version])


def _settings(schedule: BrokerSchedule) -> Iterator[Setting]:
    return (Setting(line, *setting) for line, setting in enumerate(schedule.settings.items(), start=1))
