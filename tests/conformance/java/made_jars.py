"""Pull requests for 4.9.7, built as jars: Maven brings the source, a patch changes it, and a JDK compiles it.

`names_of_copies` is right for B01: an op message counts for the copies that know its half as their original.
`names_of_this_round` mends half of it: only in the round that reads the op message.
`no_copy_for_immunity` mends it, and loses messages: an immune half is passed and never looked at again.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path
from typing import Final
from zipfile import ZipFile

from conformance.maven import GROUP_ID, errors_of, run_maven, write_pom
from conformance.releases.jars import fetched_jars, release_called
from conformance.releases.jvm import javac_command
from model_check.cache_folder import cache_folder
from tests.conformance.java.wanting_maven import RELEASE

PATCHES: Final = Path(__file__).with_name("pull_requests")
RIGHT, HALF, LOSING = "names_of_copies", "names_of_this_round", "no_copy_for_immunity"

_SOURCES: Final = f"rocketmq-broker-{RELEASE}-sources.jar"
_SHA256: Final = "64c084c9a1ccd2d92ce3746594a91766c2cb95e52992afe24d13560f20902601"
_CHECKED: Final = "org/apache/rocketmq/broker/transaction/queue/TransactionalMessageServiceImpl.java"


def made_jar(patch: str, folder: Path) -> Path:
    """The jar that `mvn package` would make of a patch, in a folder of its own."""
    source, classes = folder / patch / "source", folder / patch / "classes"
    with ZipFile(_sources()) as archive:
        archive.extract(_CHECKED, source)
    alone = os.environ | {"GIT_CEILING_DIRECTORIES": str(folder.resolve())}
    _run("git", "apply", "--unidiff-zero", str(PATCHES / f"{patch}.patch"), at=source, environment=alone)
    jars = ":".join(map(str, sorted(fetched_jars(release_called(RELEASE)).glob("*.jar"))))
    _run(*javac_command(), "-cp", jars, "-d", str(classes), str(source / _CHECKED), at=folder)
    jar = folder / patch / "rocketmq-broker.jar"
    with ZipFile(jar, "w") as archive:
        said = f"version={RELEASE}-SNAPSHOT\ngroupId={GROUP_ID}\nartifactId=rocketmq-broker\n"
        archive.writestr(f"META-INF/maven/{GROUP_ID}/rocketmq-broker/pom.properties", said)
        for path in sorted(classes.rglob("*.class")):
            archive.write(path, path.relative_to(classes))
    return jar


def _sources() -> Path:
    """The published source of the broker, fetched once."""
    jar = cache_folder() / "jars" / _SOURCES
    if not jar.is_file():
        fetching = jar.parent / f".sources-{os.getpid()}"
        write_pom(fetching, "sources", "")
        artifact = f"-Dartifact={GROUP_ID}:rocketmq-broker:{RELEASE}:jar:sources"
        done = run_maven(fetching, "-q", "dependency:copy", artifact, f"-DoutputDirectory={fetching}")
        assert done.returncode == 0, errors_of(done)[0]
        (fetching / _SOURCES).replace(jar)
        (fetching / "pom.xml").unlink()
        fetching.rmdir()
    assert hashlib.sha256(jar.read_bytes()).hexdigest() == _SHA256
    return jar


def _run(*command: str, at: Path, environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, cwd=at, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
