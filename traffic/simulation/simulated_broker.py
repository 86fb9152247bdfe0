"""The broker of a simulation: a release of RocketMQ and its settings, as one value that goes to other processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from model_check.did_you_mean import nearest_release
from reference.broker.broker_settings import BrokerSettings
from reference.format.broker_conf import broker_conf_of
from reference.versions.versions import STORE_VERSIONS, WITHOUT_STORES, switches_of
from spec.releases.broker_defaults import release_numbers
from traffic.errors import TrafficError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reference.format.java_properties import Setting
    from reference.versions.switches import ReleaseSwitches

RELEASES: Final = tuple(sorted({*STORE_VERSIONS, *WITHOUT_STORES}, key=release_numbers))
"""The releases that the reference broker knows."""


@dataclass(frozen=True, slots=True)
class SimulatedBroker:
    """A release, its settings, and whether an answer waits for the disk."""

    version: str
    """A name that `reference.versions.versions.switches_of` reads."""
    settings: BrokerSettings
    flushes_each_message: bool = False
    """``flushDiskType=SYNC_FLUSH``."""

    @property
    def switches(self) -> ReleaseSwitches:
        """The release as switches."""
        return switches_of(self.version)

    @classmethod
    def of(cls, version: str, release: str, given: Iterable[Setting] = ()) -> Self:
        """A broker by its version's name, with the settings of a ``broker.conf``, and else those of its release.

        Raises
        ------
        TrafficError
            The reference broker does not know the release; names the nearest that it does.
        """
        if release not in RELEASES:
            near = nearest_release(release, RELEASES)
            message = f"--version {release}: the reference broker, which is simulated, is none of that release; "
            message += f"take {near}, the nearest, or another of " if near else "there are "
            raise TrafficError(message + ", ".join(RELEASES))
        conf = broker_conf_of(given, release)
        return cls(version, BrokerSettings.of_broker_conf(conf, release), conf.flush_disk_type == "SYNC_FLUSH")
