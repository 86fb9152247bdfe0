"""Agent and harness, compiled for the jars of a release, into one jar in the cache folder."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final
from zipfile import ZipFile

from conformance.errors import JavaError
from conformance.releases.jvm import javac_command
from files.reading import read_bytes
from model_check.cache_folder import cache_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

SOURCES: Final = Path(__file__).with_name("src")

_MANIFEST: Final = "Manifest-Version: 1.0\nPremain-Class: halfcheck.agent.Agent\n"
_MOST_SECONDS: Final = 300


def compiled_harness(jars: Sequence[Path]) -> Path:
    """The jar of agent and harness for these jars; it is compiled once, and appears whole or not at all.

    Raises
    ------
    JavaError
        There is no compiler, or it fails: these are not the jars of a broker that the harness knows.
    """
    sources = sorted(SOURCES.rglob("*.java"))
    seen = hashlib.sha256()
    classes = [file for path in jars if path.is_dir() for file in sorted(path.rglob("*.class"))]
    for path in (*sources, *jars, *classes):
        seen.update(path.name.encode())
        seen.update(
            read_bytes(path) if path.suffix == ".java" else f"{path.stat().st_size} {path.stat().st_mtime_ns}".encode()
        )
    folder = cache_folder() / "java"
    jar = folder / f"harness-{seen.hexdigest()[:16]}.jar"
    if not jar.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder) as temporary:
            made = _compile(sources, jars, Path(temporary))
            made.replace(jar)
    return jar


def _compile(sources: Sequence[Path], jars: Sequence[Path], folder: Path) -> Path:
    classes = folder / "classes"
    command = [
        *javac_command(), "-XDignore.symbol.file", "-encoding", "UTF-8", "-cp", ":".join(map(str, jars)),
        "-d", str(classes), *map(str, sources),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_MOST_SECONDS)
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "error:" in line), done.stderr[:200])
        message = f"{jars[0]}: the harness can't be compiled for it and the jars behind it: {first}"
        raise JavaError(message)
    made = folder / "harness.jar"
    with ZipFile(made, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", _MANIFEST)
        for path in sorted(classes.rglob("*.class")):
            archive.writestr(str(path.relative_to(classes)), read_bytes(path))
    return made
