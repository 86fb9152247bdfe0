"""The start of a broker on the wire: its release, settings and store."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from reference.broker.broker_settings import BrokerSettings
from reference.format.broker_conf import broker_conf_of, settings, taken_settings
from reference.format.errors import BrokenConfigError
from reference.store.message_store_config import MessageStoreConfig
from reference.versions.versions import switches_of

if TYPE_CHECKING:
    from pathlib import Path

    from reference.versions.switches import ReleaseSwitches

_NAMES = {"brokerName": "broker_name", "brokerClusterName": "broker_cluster_name"}


@dataclass(frozen=True, slots=True)
class Start:
    """Release, settings and store of a broker.

    Attributes
    ----------
    release
        Such as ``5.3.3``: the profile without its switches.
    store
        ``storePathRootDir``.
    speed
        How many seconds of the broker's clock are a real one; None where only the control port moves it.
    seed
        Decides what is left open: the order of threads, and which requests faults with a chance befall.
    restart_ms
        Real milliseconds from a crash until the next process listens.
    conf
        ``broker.conf`` as it was given, for GET_BROKER_CONFIG.
    broker_ip
        ``brokerIP1``: the host that clients are sent to; empty for the one that it listens on.
    auto_create_topic
        ``autoCreateTopicEnable``: whoever sends to a topic that is not there makes it.
    """

    release: str
    switches: ReleaseSwitches
    settings: BrokerSettings
    config: MessageStoreConfig
    store: Path
    speed: float | None = 1.0
    seed: int = 0
    restart_ms: int = 300
    conf: tuple[tuple[str, str], ...] = ()
    auto_create_topic: bool = True
    broker_ip: str = ""

    @classmethod
    def of(cls, name: str, store: Path, broker_conf: Path | None = None, **more: Any) -> Self:
        """Read ``broker.conf`` and choose the version, by its name (`reference.versions.versions.switches_of`).

        Raises
        ------
        BrokenConfigError
            No broker starts with that ``broker.conf``, or it can store nothing with it.
        """
        switches = switches_of(name)
        release = re.split(r"[+-]", name, maxsplit=1)[0]
        given = () if broker_conf is None else settings(broker_conf)
        own = BrokerSettings.of_broker_conf(broker_conf_of(given, release), release)
        try:
            config = MessageStoreConfig.of_broker_conf(given, release)
        except BrokenConfigError as error:
            message = f"{broker_conf}, {error}"
            raise BrokenConfigError(message) from None
        in_force = {name: each.value for name, each in taken_settings(given, release).items() if each.value is not None}
        named: dict[str, Any] = {_NAMES[key]: value for key, value in in_force.items() if key in _NAMES}
        return cls(
            release,
            switches,
            replace(own, **named),
            config,
            store,
            conf=tuple((each.key, each.value) for each in given),
            broker_ip=str(in_force.get("brokerIP1", "")),
            auto_create_topic=bool(in_force.get("autoCreateTopicEnable", True)),
            **more,
        )
