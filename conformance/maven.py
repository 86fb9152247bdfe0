"""Maven, which brings RocketMQ's jars: how it is run, and what it says when it fails."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, Final

from conformance.errors import MavenError

if TYPE_CHECKING:
    from pathlib import Path

GROUP_ID: Final = "org.apache.rocketmq"

_SECONDS: Final = 900
_POM: Final = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>halfcheck</groupId><artifactId>{name}</artifactId><version>1</version><packaging>pom</packaging>
  {body}
</project>
"""


def write_pom(folder: Path, name: str, body: str) -> None:
    """Write a project into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pom.xml").write_text(_POM.format(name=name, body=body), encoding="utf-8")


def run_maven(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Maven on the project in a folder, failed or not; `MavenError` if there is none, or it takes too long."""
    maven = shutil.which("mvn")
    if maven is None:
        message = "mvn is not on PATH: the jars of RocketMQ come by Maven 3; install it"
        raise MavenError(message)
    command = (maven, "-B", "-f", str(folder / "pom.xml"), *arguments)
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        message = f"mvn was not done after {_SECONDS} s; try again, what it has fetched is kept"
        raise MavenError(message) from error


def errors_of(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The lines in which Maven says what went wrong, at least one."""
    lines = [line for line in (done.stdout + done.stderr).splitlines() if "[ERROR]" in line]
    return lines or ["it gives no reason"]
