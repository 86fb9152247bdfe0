"""The start of a broker on the wire: its release, settings and store, from which it keeps a second broker out."""

from __future__ import annotations

import fcntl
import os
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Self, TextIO

from reference.broker.broker_settings import BrokerSettings
from reference.format.broker_conf import broker_conf_of, settings, taken_settings
from reference.format.errors import BrokenConfigError
from reference.store.message_store_config import MessageStoreConfig
from reference.versions.versions import switches_of
from wire.errors import WireError

if TYPE_CHECKING:
    from pathlib import Path

    from reference.versions.switches import ReleaseSwitches

_NAMES = {"brokerName": "broker_name", "brokerClusterName": "broker_cluster_name"}
LOCK: Final = "lock"


@dataclass(frozen=True, slots=True)
class Start:
    """Release, settings and store of a broker."""

    release: str
    """Such as ``5.3.3``: the profile without its switches."""
    switches: ReleaseSwitches
    settings: BrokerSettings
    config: MessageStoreConfig
    store: Path
    """``storePathRootDir``."""
    speed: float | None = 1.0
    """How many seconds of the broker's clock are a real one; None where only the control port moves it."""
    seed: int = 0
    """Decides what is left open: the order of threads, and which requests faults with a chance befall."""
    restart_ms: int = 300
    """Real milliseconds from a crash until the next process listens."""
    conf: tuple[tuple[str, str], ...] = ()
    """``broker.conf`` as it was given, for GET_BROKER_CONFIG."""
    auto_create_topic: bool = True
    """``autoCreateTopicEnable``: whoever sends to a topic that is not there makes it."""
    broker_ip: str = ""
    """``brokerIP1``: the host that clients are sent to; empty for the one that it listens on."""

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


def lock_store(store: Path) -> TextIO:
    """Keep a second broker out of the store (``DefaultMessageStore#start``); `WireError` if one is in it already."""
    path = store / LOCK
    try:
        file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o644), "w")
    except OSError as error:
        raise WireError(_not_written(path, error)) from None
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        message = f"{store}: another broker uses this store; stop it, or give --store another place"
        raise WireError(message) from None
    try:
        file.write("lock")
        file.flush()
    except OSError as error:
        with suppress(OSError):
            file.close()
        raise WireError(_not_written(path, error)) from None
    return file


def _not_written(path: Path, error: OSError) -> str:
    return f"{path}: can't be written: {error.strerror}; free some room, or give --store another place"
