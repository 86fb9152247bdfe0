"""The JVM: where it is, its options, and the command of a program with the Java client of a release."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.errors import JavaError

if TYPE_CHECKING:
    from collections.abc import Sequence

_OPENED: Final = ("java.nio", "sun.nio.ch", "jdk.internal.ref", "java.lang", "java.util", "jdk.internal.misc")
_EXPORTED: Final = ("sun.nio.ch", "jdk.internal.ref")
_QUICKLY: Final = "-XX:TieredStopAtLevel=1"


def found_java() -> str:
    """The path of ``java``, that of JAVA_HOME or else of PATH; `JavaError` if there is none."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None or not Path(java).is_file():
        message = f"no java at {java or 'any place of PATH'}: a JDK 17 or newer is wanted; set JAVA_HOME"
        raise JavaError(message)
    return java


def javac_command() -> list[str]:
    """The compiler and its options; `JavaError` if there is none.

    It is over before it pays to compile its own code well, which would take twice the processor seconds.
    """
    compiler = Path(found_java()).with_name("javac")
    if not compiler.is_file():
        message = f"no Java compiler at {compiler}: a JDK 17 or newer is wanted; set JAVA_HOME"
        raise JavaError(message)
    return [str(compiler), *(f"-J{option}" for option in (_QUICKLY, "-XX:+UseSerialGC")), "-nowarn"]


def java_command(run: Path, heap: str, *, compiles_well: bool = False) -> list[str]:
    """The JVM and its options, good for all releases on JDK 17 and later.

    Parameters
    ----------
    run, heap
        Where it writes, in a folder ``home`` that is made, and how much memory its objects may take.
    compiles_well
        Whether what runs often is compiled well, as a JVM does by itself; a short run is over before that pays.
    """
    (run / "home").mkdir(exist_ok=True)
    return [
        found_java(),
        f"-Xmx{heap}",
        "-Xms64m",
        "-XX:+UseSerialGC",
        *([] if compiles_well else [_QUICKLY]),
        "-XX:MaxDirectMemorySize=256m",
        "-XX:-UsePerfData",
        f"-Duser.home={run}/home",
        f"-Djava.io.tmpdir={run}/home",
        f"-Drocketmq.home.dir={run}",
        "-Duser.timezone=UTC",
        "-Djava.net.preferIPv4Stack=true",
        "-Dio.netty.tryReflectionSetAccessible=true",
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
        *(f"--add-exports=java.base/{package}=ALL-UNNAMED" for package in _EXPORTED),
    ]


def client_command(
    jars: Path, run: Path, *program: str | Path, jvm: Sequence[str] = (), classes: Path | None = None
) -> list[str]:
    """A Java program with its arguments, and the jars of its client: a source, which Java compiles, or of `classes`."""
    logs = f"-Drocketmq.client.logRoot={run}/client-logs", "-Drocketmq.client.logUseSlf4j=false"
    path = f"{jars}/*" if classes is None else f"{jars}/*:{classes}"
    return [*(jvm or java_command(run, "256m")), *logs, "-cp", path, *map(str, program)]
