"""The releases of RocketMQ that can be run, and the jars of each, by Maven coordinates and SHA-256."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conformance.errors import RealBrokerError

GROUP_ID: Final = "org.apache.rocketmq"
ARTIFACTS: Final = ("rocketmq-namesrv", "rocketmq-broker", "rocketmq-client")
"""What a run needs; Maven adds what these need."""

HASHES: Final = Path(__file__).with_name("jars")
"""One file a release, in the form of ``sha256sum``: a hash and the jar's name a line."""

_LINE = re.compile(r"([0-9a-f]{64})  (\S+\.jar)")


@dataclass(frozen=True, slots=True)
class Release:
    """One release."""

    version: str
    """Of the broker."""
    base: str
    """The release from which all jars come that are not named in `own`."""
    own: tuple[str, ...] = ()
    """The artifacts that were published of this version, where not all of them were."""

    @property
    def is_5(self) -> bool:
        """Whether it is of the fifth generation: op batches, a timer wheel, an address to bind to."""
        return self.version.startswith("5.")

    @property
    def spells_maped(self) -> bool:
        """Whether the sizes of mapped files are spelled ``maped``."""
        return self.version.startswith("4.5.")

    def hashes(self) -> dict[str, str]:
        """The SHA-256 of each jar by its name.

        Raises
        ------
        RealBrokerError
            The file of hashes is missing, or a line of it is not a hash and a name.
        """
        path = HASHES / f"{self.version}.sha256"
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            message = f"{path}: the hashes of the jars of {self.version} can't be read: {error.strerror}"
            raise RealBrokerError(message) from error
        found = {}
        for number, line in enumerate(lines, start=1):
            match = _LINE.fullmatch(line)
            if match is None:
                message = f"{path}, line {number}: {line!r} is not a SHA-256 and a jar, as sha256sum writes them"
                raise RealBrokerError(message)
            found[match[2]] = match[1]
        return found


RELEASES: Final = {
    release.version: release
    for release in (
        *(Release(v, v) for v in ("4.5.1", "4.9.7", "5.0.0", "5.1.0", "5.2.0", "5.3.3", "5.4.0", "5.5.0")),
        Release("5.5.1", "5.5.0", ("rocketmq-broker", "rocketmq-store", "rocketmq-remoting", "rocketmq-common")),
    )
}
"""By version; of 5.5.1 name server, client and the rest were not published, so that they are those of 5.5.0."""


def release_called(version: str) -> Release:
    """A release by its version.

    Raises
    ------
    RealBrokerError
        It can't be run; names those that can.
    """
    if version not in RELEASES:
        message = f"no jars of RocketMQ {version!r} are known; there are {', '.join(RELEASES)}"
        raise RealBrokerError(message, exit_code=151)
    return RELEASES[version]
