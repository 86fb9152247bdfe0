"""The jars of a release: fetched by Maven once, and used only if each has its SHA-256."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from conformance.errors import RealBrokerError
from conformance.real.releases import ARTIFACTS, GROUP_ID, HASHES, Release

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAVEN_SECONDS: Final = 900
_POM: Final = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>halfcheck</groupId><artifactId>real-broker</artifactId><version>1</version>
  <dependencies>
{dependencies}
  </dependencies>
</project>
"""


def fetched_jars(release: Release, folder: Path) -> Path:
    """The folder with the jars of a release; Maven brings them if they are not there yet.

    Parameters
    ----------
    release
        Which.
    folder
        Where the jars of all releases are kept; those of this one come by rename, whole or not at all.

    Raises
    ------
    RealBrokerError
        There is no Maven, it fails, or what it brings is not what the hashes say.
    """
    wanted, jars = release.hashes(), folder.resolve() / release.version
    if not jars.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=jars.parent) as temporary:
            brought = Path(temporary) / release.version
            brought.mkdir()
            fetch(release, brought)
            require_hashes(wanted, brought)
            brought.replace(jars)
    require_hashes(wanted, jars)
    return jars


def require_hashes(wanted: dict[str, str], jars: Path) -> None:
    """Raise `RealBrokerError` unless a folder has exactly these jars with these SHA-256."""
    found = hashes_of(jars)
    for name in sorted(wanted.keys() | found.keys()):
        if wanted.get(name) == found.get(name):
            continue
        if name not in found:
            what = "is missing"
        elif name not in wanted:
            what = "is not among the jars of that release"
        else:
            what = f"has the SHA-256 {found[name]}, not {wanted[name]}"
        message = f"{jars / name} {what}; remove {jars} to have Maven bring it anew"
        raise RealBrokerError(message)


def hashes_of(jars: Path) -> dict[str, str]:
    """The SHA-256 of each jar in a folder."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(jars.glob("*.jar"))}


def write_hashes(release: Release, jars: Path) -> Path:
    """Write the file of hashes of a release from a folder of its jars."""
    path = HASHES / f"{release.version}.sha256"
    path.write_text("".join(f"{sha}  {name}\n" for name, sha in hashes_of(jars).items()), encoding="utf-8")
    return path


def fetch(release: Release, folder: Path) -> None:
    """Let Maven put the jars of a release into a folder, by its coordinates and Maven's own settings.

    Raises
    ------
    RealBrokerError
        There is no Maven, or it fails; names its first error.
    """
    (folder / "pom.xml").write_text(pom(release), encoding="utf-8")
    into = f"-DoutputDirectory={folder}"
    _maven(folder, "dependency:copy-dependencies", "-DincludeScope=runtime", into)
    for artifact in release.own:
        (folder / f"{artifact}-{release.base}.jar").unlink()
        _maven(folder, "dependency:copy", f"-Dartifact={GROUP_ID}:{artifact}:{release.version}", into)
    (folder / "pom.xml").unlink()


def pom(release: Release) -> str:
    """A project that depends on what a run of the release needs."""
    lines = (
        f"    <dependency><groupId>{GROUP_ID}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{release.base}</version></dependency>"
        for artifact in ARTIFACTS
    )
    return _POM.format(dependencies="\n".join(lines))


def _maven(folder: Path, *arguments: str) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        message = "mvn is not on PATH: the jars of RocketMQ come by Maven 3; install it"
        raise RealBrokerError(message)
    command: Sequence[str] = (maven, "-q", "-B", "-f", str(folder / "pom.xml"), *arguments)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_MAVEN_SECONDS, check=False)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        message = f"mvn {arguments[0]} was not done after {_MAVEN_SECONDS} s"
        raise RealBrokerError(message) from error
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "[ERROR]" in line]
        message = f"mvn {arguments[0]} failed: {(lines or ['it gives no reason'])[0]}"
        raise RealBrokerError(message)
