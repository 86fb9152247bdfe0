"""The end of ``make releases``: which clients have a release of which no habit was seen, and what it changed.

The exit code is 0 when there is none, 255 when one is to be led, and 150 when Maven can't be asked.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from conformance.release_gate.digests import Classes
from conformance.release_gate.jars import published_releases
from conformance.releases.jars import Release, fetch
from halfcheck.errors import ExitCode
from real_brokers.command_line import exit_code_after
from real_brokers.habits.led_clients import LED_CLIENTS
from spec.releases.broker_defaults import release_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

RESTS_ON: Final = {
    "rocketmq-client-java": (
        "ClientImpl#<init>", "ClientImpl#onSettingsCommand", "ClientSessionImpl", "ProducerImpl#endTransaction",
        "ProducerImpl#onRecoverOrphanedTransactionCommand", "ProducerImpl#send0", "TransactionImpl#commit",
    ),
    "rocketmq-client": (
        "DefaultMQProducerImpl#checkTransactionState", "DefaultMQProducerImpl#endTransaction",
        "DefaultMQProducerImpl#initTransactionEnv", "DefaultMQProducerImpl#sendDefaultImpl",
        "DefaultMQProducerImpl#sendMessageInTransaction",
    ),
}  # fmt: skip
"""What the habits of each Java client rest on."""

_ELSEWHERE: Final = {
    "rocketmq-python-client": (
        (sys.executable, "-m", "pip", "index", "versions", "rocketmq-python-client"), r"\((\S+)\)",
    ),
    "rocketmq-client-nodejs": (("npm", "view", "rocketmq-client-nodejs", "version"), r"(\d\S*)"),
    "rocketmq-clients/golang/v5": (
        ("go", "list", "-m", "-versions", "github.com/apache/rocketmq-clients/golang/v5"), r"v(\d[\d.]*)\s*$",
    ),
    "rocketmq-client-go/v2": (
        ("go", "list", "-m", "-versions", "github.com/apache/rocketmq-client-go/v2"), r"v(\d[\d.]*)\s*$",
    ),
    "crate rocketmq": (("cargo", "info", "rocketmq"), r"(?m)^version: (\d\S*)"),
}  # fmt: skip
"""The command that names the newest release of a package, and where it stands in its answer."""
_SECONDS: Final = 60


def newest_led(package: str) -> str:
    """The newest version of a package that is led."""
    return max((led.version for led in LED_CLIENTS.values() if led.package == package), key=release_numbers)


def changed_between(package: str, *versions: str) -> list[str]:
    """Of what the habits rest on, what differs between two versions."""
    before, after = (_classes(package, version) for version in versions)
    return [name for name in RESTS_ON[package] if before.digest(name) != after.digest(name)]


def newer_by_maven() -> Iterator[str]:
    """A sentence each release of a Java client that is newer than all that are led; raises as `fetch` does."""
    for package in RESTS_ON:
        led = newest_led(package)
        for version in published_releases(package, led):
            if version != led:
                names = ", ".join(changed_between(package, led, version)) or "nothing that the habits rest on"
                yield (
                    f"Maven has {package} {version}, of which no habit was seen; beside {led}, {names} changed: name "
                    "it in real_brokers/habits/led_clients.py, and make client-habits"
                )


def newer_elsewhere(package: str) -> str:
    """A sentence if another registry has a newer release, or can't be asked; else empty."""
    command, pattern = _ELSEWHERE[package]
    tool = shutil.which(command[0])
    if tool is None:
        return f"{package} was not asked for: {command[0]} is not on PATH"
    try:
        done = subprocess.run([tool, *command[1:]], capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"{package} was not asked for: {command[0]} was not done after {_SECONDS} s"
    found = re.search(pattern, done.stdout)
    if found is None:
        return f"{package} was not asked for: {command[0]} says {(done.stderr.strip().splitlines() or ['nothing'])[-1]}"
    if release_numbers(found[1]) > release_numbers(newest_led(package)):
        return f"{package} {found[1]} is there, of which no habit was seen: make client-habits"
    return ""


def _classes(package: str, version: str) -> Classes:
    with TemporaryDirectory() as folder:
        fetch(Release(f"{package}-{version}", version, artifacts=(package,)), Path(folder))
        return Classes(sorted(Path(folder).glob(f"{package}-*.jar")))


def _say() -> int:
    newer = list(newer_by_maven())
    others = [said for package in _ELSEWHERE if (said := newer_elsewhere(package))]
    for said in (*newer, *others):
        print(said)
    is_newer = newer or any("make client-habits" in said for said in others)
    return ExitCode.OTHER if is_newer else ExitCode.OK


if __name__ == "__main__":
    sys.exit(exit_code_after(_say))
