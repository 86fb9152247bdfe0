"""A jar that is not published, such as a pull request's: its classes stand before those of a release.

``mvn package`` leaves it in ``broker/target``; a folder of jars, or of classes, will do as well.
"""

from __future__ import annotations

import re
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from zipfile import BadZipFile, ZipFile

from conformance.errors import JarsError
from conformance.releases.jars import RELEASES, release_called
from files.reading import open_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CLASSES: Final = "org/apache/rocketmq/"
_POM: Final = re.compile(r"META-INF/maven/org\.apache\.rocketmq/[^/]+/pom\.properties")
_MANIFEST: Final = "META-INF/MANIFEST.MF"
_VERSION: Final = re.compile(r"^(?:version=|Implementation-Version: )(\d+\.\d+\.\d+)", re.MULTILINE)
_IN_A_NAME: Final = re.compile(r"-(\d+\.\d+\.\d+)(?![\d.])")
_NO_CLASSES: Final = ("-sources.jar", "-tests.jar", "-test-sources.jar", "-javadoc.jar")
"""How jars end that Maven puts beside the one with the classes."""


@dataclass(frozen=True, slots=True)
class GivenJar:
    """Classes that are to be judged."""

    path: Path
    """What was named."""
    release: str
    """The release that the other classes are of."""
    class_path: tuple[Path, ...]
    """Jars, or a folder of classes."""

    @property
    def name(self) -> str:
        """What answers call it."""
        return self.path.name


def given_jar(path: Path, release: str = "") -> GivenJar:
    """The classes at a path, and the release that they are built upon: the named one, or what they say of themselves.

    Raises
    ------
    JarsError
        There is no such file or folder, no zip in it, or no class of RocketMQ; or the release is not known.
    """
    class_path = _class_path(path)
    names = [name for each in class_path for name in _names_in(each)]
    if not any(name.startswith(_CLASSES) and name.endswith(".class") for name in names):
        message = f"{path}: no class of org.apache.rocketmq is in it; name the jar that mvn package leaves in target/"
        raise JarsError(message)
    return GivenJar(path, release_called(release or _release_of(path, class_path)).version, class_path)


def _class_path(path: Path) -> tuple[Path, ...]:
    if not path.exists():
        message = f"{path}: no such file or folder; name a jar, or a folder of jars or of classes"
        raise JarsError(message)
    if not path.is_dir():
        return (path.resolve(),)
    jars = sorted(jar.resolve() for jar in path.glob("*.jar") if not jar.name.endswith(_NO_CLASSES))
    return tuple(jars) or (path.resolve(),)


def _names_in(place: Path) -> Iterator[str]:
    """The names of the files in a jar or below a folder."""
    if place.is_dir():
        yield from (str(file.relative_to(place)) for file in sorted(place.rglob("*.class")))
    else:
        with _opened(place) as archive:
            yield from archive.namelist()


@contextmanager
def _opened(jar: Path) -> Iterator[ZipFile]:
    try:
        with open_file(jar) as file, ZipFile(file) as archive:
            yield archive
    except (BadZipFile, OSError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"{jar}: not a jar ({reason}); build it again, or name another"
        raise JarsError(message) from error


def _release_of(path: Path, class_path: tuple[Path, ...]) -> str:
    said = [version for each in class_path for version in _versions_said(each)]
    for version in said:
        if version in RELEASES:
            return version
    what = f"says that it is of {said[0]}, whose jars are not known" if said else "does not say of which release it is"
    message = f"{path}: {what}; name the release that it is built upon by --real, one of {', '.join(RELEASES)}"
    raise JarsError(message, exit_code=151)


def _versions_said(place: Path) -> Iterator[str]:
    """The versions in what Maven writes into a jar, and in its name; of a snapshot that of the release to come."""
    if not place.is_dir():
        with _opened(place) as archive:
            for name in archive.namelist():
                if name == _MANIFEST or _POM.fullmatch(name):
                    yield from _VERSION.findall(archive.read(name).decode(errors="replace"))
    yield from _IN_A_NAME.findall(place.name)
