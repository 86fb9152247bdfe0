"""The jars of RocketMQ's releases, fetched once by Maven into the project's cache, and the list of releases.

A release is what `rocketmq-broker` was published of. Of some, not all artifacts were (5.3.4, 5.5.1).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from conformance.errors import MavenError, ReleaseGateError
from conformance.maven import GROUP_ID, errors_of, run_maven, write_pom
from conformance.release_gate.recorded import release_order
from files.reading import read_text
from model_check.cache_folder import cache_folder
from spec.releases.broker_defaults import release_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ARTIFACTS: Final = tuple(
    f"rocketmq-{name}" for name in ("broker", "client", "common", "remoting", "store", "auth", "tiered-store", "proxy")
)
"""Where the classes are that a rule names, and behind them those that only hold settings of a ``broker.conf``."""

FIRST_RELEASE: Final = "4.3.0"
"""The first one with transactional messages of this kind."""

_RANGE: Final = """<dependencies><dependency>
    <groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>[{first},)</version>
    <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
  </dependency></dependencies>"""
_COPY: Final = """<build><plugins><plugin>
    <groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId>
    <executions><execution><phase>validate</phase><goals><goal>copy</goal></goals></execution></executions>
    <configuration><outputDirectory>{into}</outputDirectory><artifactItems><artifactItem>
      <groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>
    </artifactItem></artifactItems></configuration>
  </plugin></plugins></build>"""
_LIST: Final = "artifacts.txt"
_NOT_PUBLISHED: Final = ("Could not find artifact", "was not found in")


def jars_of(releases: Sequence[str]) -> dict[str, tuple[Path, ...]]:
    """The jars of releases, the oldest first, fetched by Maven if they are not in the cache.

    An artifact that was not published of a release is that of the one before, as it is for whoever installs it.

    Raises
    ------
    MavenError
        There is no Maven, or it can't reach its repository.
    ReleaseGateError
        It knows no broker of one of the releases.
    """
    folder = cache_folder() / "releases"
    folder.mkdir(parents=True, exist_ok=True)
    missing = [release for release in releases if _asked_for(folder / release) != ARTIFACTS]
    if missing:
        with TemporaryDirectory(dir=folder) as temporary:
            _fetch(missing, Path(temporary))
            for release in missing:
                (Path(temporary) / release / _LIST).write_text("\n".join(ARTIFACTS), encoding="utf-8")
                rmtree(folder / release, ignore_errors=True)
                (Path(temporary) / release).replace(folder / release)
    jars: dict[str, Path] = {}
    found = {}
    for release in releases:
        own = {artifact: folder / release / f"{artifact}-{release}.jar" for artifact in ARTIFACTS}
        jars |= {artifact: jar for artifact, jar in own.items() if jar.is_file()}
        found[release] = tuple(jars[artifact] for artifact in ARTIFACTS if artifact in jars)
    return found


def published_releases(artifact: str = ARTIFACTS[0], first: str = FIRST_RELEASE) -> list[str]:
    """The releases of an artifact that Maven knows of now, the oldest first; raises `MavenError` as `jars_of` does."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        body = _RANGE.format(group=GROUP_ID, artifact=artifact, first=first)
        write_pom(folder, "releases", body)
        done = run_maven(
            folder, "-q", "-U", "dependency:resolve", "help:evaluate", "-Dexpression=settings.localRepository",
            "-DforceStdout",
        )  # fmt: skip
        if done.returncode:
            raise _maven_failed(errors_of(done)[0])
    local = Path(done.stdout.strip().splitlines()[-1].removeprefix("\x1b[0m").removesuffix("\x1b[0m"))
    metadata = (local / Path(*GROUP_ID.split("."), artifact)).glob("maven-metadata-*.xml")
    found = {version.text or "" for path in metadata for version in ET.parse(path).iter("version")}  # noqa: S314 - Maven's
    numbered = (name for name in found if name.replace(".", "").isdigit())
    return release_order(name for name in numbered if release_numbers(name) >= release_numbers(first))


def _asked_for(folder: Path) -> tuple[str, ...]:
    """The artifacts that were asked for when a release was fetched, also those that were not published of it."""
    listed = folder / _LIST
    return tuple(read_text(listed).splitlines()) if listed.is_file() else ()


def _fetch(releases: Iterable[str], folder: Path) -> None:
    """Fetch the jars of releases into a folder each, by one run of Maven that goes on where a jar is not published."""
    wanted = [(release, artifact) for release in releases for artifact in ARTIFACTS]
    modules = [f"{artifact}-{release}" for release, artifact in wanted]
    for module, (release, artifact) in zip(modules, wanted, strict=True):
        (folder / release).mkdir(exist_ok=True)
        body = _COPY.format(into=folder / release, group=GROUP_ID, artifact=artifact, version=release)
        write_pom(folder / "poms" / module, module, body)
    listed = "".join(f"<module>{module}</module>" for module in modules)
    write_pom(folder / "poms", "releases", f"<modules>{listed}</modules>")
    done = run_maven(folder / "poms", "-fn", "-U", "validate")
    for line in errors_of(done):
        if "Failed to execute goal" in line and not any(words in line for words in _NOT_PUBLISHED):
            raise _maven_failed(line)
    for module, (release, artifact) in zip(modules, wanted, strict=True):
        if artifact == ARTIFACTS[0] and not (folder / release / f"{module}.jar").is_file():
            message = f"Maven knows no {GROUP_ID}:{artifact}:{release}; name a release of RocketMQ such as 5.5.1"
            raise ReleaseGateError(message, exit_code=151)


def _maven_failed(reason: str) -> MavenError:
    return MavenError(f"the jars of RocketMQ can't be fetched: mvn says {reason}")
