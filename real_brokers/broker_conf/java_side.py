"""Properties files as Java reads them, in one JVM, and the differences to this project's reading."""

from __future__ import annotations

import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.releases.jvm import found_java
from real_brokers.errors import RealBrokerError
from reference.format.broker_conf import taken_settings
from reference.format.errors import BrokenConfigError
from reference.format.java_properties import read_properties

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reference.format.setting_values import Value

READER: Final = Path(__file__).with_name("ConfReader.java")
SET_BY_STARTUP: Final = frozenset({"listenPort", "haListenPort"})
"""Keys to which ``BrokerStartup`` gives another default than their class has."""
_SECONDS: Final = 600


@dataclass(frozen=True, slots=True)
class JavaSetting:
    """A key with its value, and its field before and after MixAll, where a class has a setter for it."""

    key: str
    value: str
    before: str | None = None
    after: str | None = None


def ask_java(
    files: Sequence[bytes], classpath: str = "", classes: Sequence[str] = ()
) -> list[tuple[JavaSetting, ...] | None]:
    """The settings of each file, ordered by key, with the fields of RocketMQ's classes; None where Java can't load it.

    Raises
    ------
    RealBrokerError
        There is no ``java`` that runs a source file, or it fails.
    """
    given = struct.pack(">i", len(files)) + b"".join(struct.pack(">i", len(file)) + file for file in files)
    options = ["-XX:TieredStopAtLevel=1", "-Xshare:auto", *(["-cp", classpath] if classpath else [])]
    done = _run([*options, str(READER), *classes], given)
    lines = [line for line in done.stdout.decode().splitlines() if line[:1] in {"P", "E"}]
    if done.returncode or len(lines) != len(files):
        message = f"{READER.name} ended with {done.returncode}: {done.stderr.decode(errors='replace').strip()[-500:]}"
        raise RealBrokerError(message)
    return [None if line == "E" else tuple(_settings(line)) for line in lines]


def java_version() -> str:
    """How ``java`` calls itself, in one line; raises `RealBrokerError` as `ask_java` does."""
    done = _run(["-version"])
    lines = done.stderr.decode(errors="replace").splitlines()
    if done.returncode or not lines:
        message = f"java -version ended with {done.returncode}, and names no version; set JAVA_HOME to a JDK"
        raise RealBrokerError(message)
    return lines[0].replace('"', "")


def _run(arguments: Sequence[str], given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [found_java(), *arguments]
    return subprocess.run(command, input=given, capture_output=True, timeout=_SECONDS, check=False)


def _settings(line: str) -> Iterator[JavaSetting]:
    for pair in line.split()[1:]:
        yield JavaSetting(*(_text(part) for part in pair.split("=")))


def _text(digits: str) -> str:
    return "".join(chr(int(digits[at : at + 4], 16)) for at in range(0, len(digits), 4))


def own_settings(file: bytes) -> dict[str, str] | None:
    """The settings that this project reads in a file, by key; None where no broker starts with it."""
    try:
        return {setting.key: setting.value for setting in read_properties("a file", file)}
    except BrokenConfigError:
        return None


def differences(file: bytes, java: tuple[JavaSetting, ...] | None, release: str | None) -> list[str]:
    """Where this project reads a file in another way than Java or a release's MixAll has, a sentence each."""
    own = own_settings(file)
    if own is None or java is None:
        loads = own is not None
        return (
            [] if loads is (java is not None) else [f"it {'loads' if loads else 'does not load'} here, not so in Java"]
        )
    theirs = {setting.key: setting.value for setting in java}
    found = [
        f"{key!r} is {own.get(key)!r}, and {theirs.get(key)!r} in Java"
        for key in sorted({*own, *theirs})
        if own.get(key) != theirs.get(key)
    ]
    if release is None:
        return found
    taken = taken_settings(read_properties("a file", file), release)
    for setting in java:
        if setting.after is not None:
            if setting.key not in taken:
                found.append(f"{setting.key} of {release} is not known")
            elif not _is_same(value := taken[setting.key].value, setting):
                found.append(f"{setting.key}={setting.value!r} of {release} is {value!r}, and {setting.after} in Java")
            elif (
                setting.key not in SET_BY_STARTUP
                and (default := taken[setting.key].key.default)
                and default != setting.before
            ):
                found.append(f"the default of {setting.key} of {release} is {default}, and {setting.before} in Java")
    return found


def _is_same(value: Value | None, java: JavaSetting) -> bool:
    if value is None:
        return java.after == java.before
    if isinstance(value, float):
        return repr(value) == repr(float((java.after or "").replace("Infinity", "inf")))
    return java.after == (str(value).lower() if isinstance(value, bool) else str(value))
