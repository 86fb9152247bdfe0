"""The releases of RocketMQ that can be run, and the jars of each, by Maven coordinates and SHA-256.

Maven fetches jars once, into the cache folder, and they are used only if each has its SHA-256.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from conformance.errors import JarsError, MavenError
from conformance.maven import GROUP_ID, errors_of, run_maven, write_pom
from files.alone import alone
from files.reading import read_bytes, read_text
from model_check.cache_folder import cache_folder

ARTIFACTS: Final = ("rocketmq-namesrv", "rocketmq-broker", "rocketmq-client")
"""The artifacts of a run; Maven adds their dependencies."""

HASHES: Final = Path(__file__).with_name("sha256")
"""One file a release, in the form of ``sha256sum``: a hash and the jar's name a line."""

_LINE = re.compile(r"([0-9a-f]{64})  (\S+\.jar)")
_DEPENDENCY: Final = """<dependency>
    <groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>
  </dependency>"""


@dataclass(frozen=True, slots=True)
class Release:
    """One release."""

    version: str
    """Of the broker, or what else these jars and the file of their hashes are called by."""
    base: str
    """The release from which all jars come that are not named in `own`."""
    own: tuple[str, ...] = ()
    """The artifacts that were published of this version, where not all of them were."""
    artifacts: tuple[str, ...] = ARTIFACTS
    group: str = GROUP_ID
    """Of all artifacts; Maven adds their dependencies, of whatever group."""

    @property
    def is_5(self) -> bool:
        """Whether it is of the fifth generation: op batches, a timer wheel, an address to bind to."""
        return self.version.startswith("5.")

    @property
    def spells_maped(self) -> bool:
        """Whether the sizes of mapped files are spelled ``maped``."""
        return self.version.startswith(("4.3.", "4.5."))

    def hashes(self) -> dict[str, str]:
        """The SHA-256 of each jar by its name; `JarsError` if the file of hashes is missing or broken."""
        path = HASHES / f"{self.version}.sha256"
        try:
            lines = read_text(path).splitlines()
        except OSError as error:
            message = f"{path}: the hashes of the jars of {self.version} can't be read: {error.strerror}"
            raise JarsError(message) from error
        found = {}
        for number, line in enumerate(lines, start=1):
            match = _LINE.fullmatch(line)
            if match is None:
                message = f"{path}, line {number}: {line!r} is not a SHA-256 and a jar, as sha256sum writes them"
                raise JarsError(message)
            found[match[2]] = match[1]
        return found


_WHOLE: Final = (
    "4.3.2", "4.5.1", "4.7.1", "4.9.7", "5.0.0", "5.1.0", "5.1.4", "5.2.0", "5.3.3", "5.4.0", "5.5.0",
)  # fmt: skip

RELEASES: Final = {
    release.version: release
    for release in (
        *(Release(v, v) for v in _WHOLE),
        Release("5.5.1", "5.5.0", ("rocketmq-broker", "rocketmq-store", "rocketmq-remoting", "rocketmq-common")),
    )
}
"""By version; of 5.5.1 name server, client and the rest were not published, so that they are those of 5.5.0."""

TOOLS: Final = Release("tools-5.5.0", "5.5.0", artifacts=("rocketmq-tools",))
"""``mqadmin``, which is no broker; its jars and their hashes are named like a release's."""

PROXY: Final = Release("proxy-5.5.0", "5.5.0", artifacts=("rocketmq-proxy", "rocketmq-namesrv"))
"""The proxy, in which the broker of its release is, and a name server; of 5.5.1 none was published. Named like a
release, too."""

GRPC_CLIENTS: Final = {
    release.version: release
    for release in (
        Release(f"grpc-java-{version}", version, artifacts=("rocketmq-client-java",))
        for version in ("5.0.7", "5.0.8", "5.2.0")
    )
}
"""``rocketmq-client-java`` of some releases, which speaks gRPC, each in one jar; named like a release, too."""

ASM: Final = Release("asm-9.9", "9.9", artifacts=("asm",), group="org.ow2.asm")
"""A library that reads and writes class files, in one jar; named like a release, too."""


def release_called(version: str) -> Release:
    """A release by its version; `JarsError`, which names those that there are, if it can't be run."""
    if version not in RELEASES:
        message = f"no jars of RocketMQ {version!r} are known; there are {', '.join(RELEASES)}"
        raise JarsError(message, exit_code=151)
    return RELEASES[version]


def fetched_jars(release: Release, folder: Path | None = None) -> Path:
    """The folder with the jars of a release; Maven brings them if they are not there yet.

    They come into a folder below the one given by rename, whole or not at all; without one, below ``jars`` in the
    cache folder, which all checkouts and installations of a user share.

    Raises
    ------
    MavenError
        There is no Maven, or it fails.
    JarsError
        What it brings is not what the hashes say.
    """
    wanted, jars = release.hashes(), (folder or cache_folder() / "jars").resolve() / release.version
    if not jars.is_dir():
        with alone(jars):
            _bring(release, wanted, jars)
    require_hashes(wanted, jars)
    return jars


def _bring(release: Release, wanted: dict[str, str], jars: Path) -> None:
    """Fetch them, unless another process has meanwhile."""
    if jars.is_dir():
        return
    jars.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=jars.parent) as temporary:
        brought = Path(temporary) / release.version
        brought.mkdir()
        fetch(release, brought)
        require_hashes(wanted, brought)
        brought.replace(jars)


def require_hashes(wanted: dict[str, str], jars: Path) -> None:
    """Raise `JarsError` unless a folder has exactly these jars with these SHA-256."""
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
        raise JarsError(message)


def hashes_of(jars: Path) -> dict[str, str]:
    """The SHA-256 of each jar in a folder."""
    return {path.name: hashlib.sha256(read_bytes(path)).hexdigest() for path in sorted(jars.glob("*.jar"))}


def write_hashes(release: Release, jars: Path) -> Path:
    """Write the file of hashes of a release from a folder of its jars."""
    path = HASHES / f"{release.version}.sha256"
    path.write_text("".join(f"{sha}  {name}\n" for name, sha in hashes_of(jars).items()), encoding="utf-8")
    return path


def fetch(release: Release, folder: Path) -> None:
    """Let Maven put the jars of a release into a folder, by its coordinates and Maven's own settings.

    Raises
    ------
    MavenError
        There is no Maven, or it fails; names its first error.
    """
    wanted = (_DEPENDENCY.format(group=release.group, artifact=one, version=release.base) for one in release.artifacts)
    write_pom(folder, "jars", f"<dependencies>{''.join(wanted)}</dependencies>")
    into = f"-DoutputDirectory={folder}"
    _maven(folder, "dependency:copy-dependencies", "-DincludeScope=runtime", into)
    for artifact in release.own:
        (folder / f"{artifact}-{release.base}.jar").unlink()
        _maven(folder, "dependency:copy", f"-Dartifact={release.group}:{artifact}:{release.version}", into)
    (folder / "pom.xml").unlink()


def _maven(folder: Path, *arguments: str) -> None:
    done = run_maven(folder, "-q", *arguments)
    if done.returncode:
        message = f"mvn {arguments[0]} failed: {errors_of(done)[0]}"
        raise MavenError(message)
