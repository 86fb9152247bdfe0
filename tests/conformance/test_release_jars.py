"""The jars of a release: as the hashes say, brought by Maven once, whole or not at all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.errors import ConformanceError, JarsError, MavenError
from conformance.releases.jars import (
    ARTIFACTS,
    ASM,
    PROXY,
    RELEASES,
    TOOLS,
    Release,
    fetch,
    fetched_jars,
    hashes_of,
    release_called,
    require_hashes,
    write_hashes,
)
from reference.versions.versions import STORE_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("version", RELEASES)
def test_the_jars_of_a_release_are_held_by_hashes_and_are_of_its_version(version: str) -> None:
    release = RELEASES[version]
    hashes = release.hashes()
    for artifact in {*ARTIFACTS, *release.own}:
        of_whom = version if artifact in release.own or not release.own else release.base
        assert f"{artifact}-{of_whom}.jar" in hashes
        assert sum(name.startswith(f"{artifact}-{version[0]}") for name in hashes) == 1
    assert len(set(hashes.values())) == len(hashes)


def test_each_version_of_the_reference_broker_can_be_run_and_three_between_them() -> None:
    assert RELEASES.keys() == STORE_VERSIONS.keys() | {"4.3.2", "4.7.1", "5.1.4"}
    assert sorted(RELEASES) == list(RELEASES)


def test_a_release_that_is_not_known_is_refused_with_those_that_are() -> None:
    with pytest.raises(
        JarsError, match=r"no jars of RocketMQ '5\.9\.9' are known; there are 4\.3\.2, 4\.5\.1, "
    ) as refused:
        release_called("5.9.9")
    assert refused.value.exit_code == 151


@pytest.mark.parametrize(
    ("tool", "jar"), [(TOOLS, "rocketmq-tools-5.5.0.jar"), (PROXY, "rocketmq-proxy-5.5.0.jar"), (ASM, "asm-9.9.jar")]
)
def test_what_is_no_broker_has_hashes_of_its_own(tool: Release, jar: str) -> None:
    assert jar in tool.hashes()
    assert tool.version not in RELEASES


def test_asm_is_one_jar_of_its_own_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    poms: list[str] = []
    monkeypatch.setattr(
        "conformance.releases.jars._maven", lambda folder, *_: poms.append((folder / "pom.xml").read_text())
    )
    fetch(ASM, tmp_path)
    assert poms[0].count("<dependency>") == 1
    assert "<groupId>org.ow2.asm</groupId><artifactId>asm</artifactId><version>9.9</version>" in poms[0]
    assert [*ASM.hashes()] == ["asm-9.9.jar"]


def test_the_hashes_that_are_written_are_those_that_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.releases.jars.HASHES", tmp_path)
    for name in "ab":
        (tmp_path / f"{name}.jar").write_bytes(name.encode())
    release = Release("9.9.9", "9.9.9")
    assert write_hashes(release, tmp_path) == tmp_path / "9.9.9.sha256"
    assert release.hashes() == hashes_of(tmp_path)


def test_a_line_that_is_no_hash_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.releases.jars.HASHES", tmp_path)
    with pytest.raises(JarsError, match=r"9\.9\.9\.sha256: the hashes of the jars of 9\.9\.9 can't be read: No such"):
        Release("9.9.9", "9.9.9").hashes()
    (tmp_path / "9.9.9.sha256").write_text(f"{'0' * 64}  a.jar\nabc  b.jar\n")
    with pytest.raises(JarsError, match=r"9\.9\.9\.sha256, line 2: 'abc  b\.jar' is not a SHA-256 and a jar"):
        Release("9.9.9", "9.9.9").hashes()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda folder: (folder / "a.jar").unlink(), "a.jar is missing; remove"),
        (lambda folder: (folder / "a.jar").write_bytes(b"other"), "a.jar has the SHA-256 d9298a10d1b07358"),
        (lambda folder: (folder / "c.jar").touch(), "c.jar is not among the jars of that release; remove"),
    ],
)
def test_a_jar_that_is_not_as_its_hash_says_is_refused(
    change: Callable[[Path], object], complaint: str, tmp_path: Path
) -> None:
    for name in "ab":
        (tmp_path / f"{name}.jar").write_bytes(name.encode())
    wanted = hashes_of(tmp_path)
    require_hashes(wanted, tmp_path)
    change(tmp_path)
    with pytest.raises(JarsError) as caught:
        require_hashes(wanted, tmp_path)
    assert complaint in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def maven(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put an ``mvn`` on the path: what it does is said by a shell script."""
    folder.mkdir()
    (folder / "mvn").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "mvn").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


BRINGS_A = 'cd /; for given; do case $given in -DoutputDirectory=*) printf a > "${given#*=}/a.jar";; esac; done'


def test_maven_brings_the_jars_once_and_they_appear_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jar").write_bytes(b"a")
    monkeypatch.setattr(Release, "hashes", lambda _: hashes_of(tmp_path))
    maven(tmp_path / "bin", f"echo >> {tmp_path}/calls\n{BRINGS_A}", monkeypatch)
    monkeypatch.chdir(tmp_path)
    jars = Path("kept")
    for _ in range(2):
        assert [path.name for path in fetched_jars(RELEASES["5.4.0"], jars).iterdir()] == ["a.jar"]
    assert (tmp_path / "calls").read_text() == "\n"
    assert [path.name for path in jars.iterdir()] == ["5.4.0"]


def test_two_that_want_them_at_once_have_maven_bring_them_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jar").write_bytes(b"a")
    monkeypatch.setattr(Release, "hashes", lambda _: hashes_of(tmp_path))
    maven(tmp_path / "bin", f"echo >> {tmp_path}/calls\nsleep 0.5\n{BRINGS_A}", monkeypatch)
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda _: fetched_jars(RELEASES["5.4.0"], tmp_path / "kept"), range(2)))
    assert found == [tmp_path / "kept" / "5.4.0"] * 2
    assert (tmp_path / "calls").read_text() == "\n"


def test_without_a_folder_the_jars_are_kept_in_the_cache_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.jar").write_bytes(b"a")
    monkeypatch.setattr(Release, "hashes", lambda _: hashes_of(tmp_path))
    monkeypatch.setenv("HALFCHECK_CACHE", str(tmp_path / "cache"))
    maven(tmp_path / "bin", BRINGS_A, monkeypatch)
    assert fetched_jars(ASM) == tmp_path / "cache" / "jars" / "asm-9.9"
    assert (tmp_path / "cache" / "jars" / "asm-9.9" / "a.jar").read_bytes() == b"a"


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        (
            "echo '[INFO] x'; echo '[ERROR] no such artifact'; exit 1",
            "copy-dependencies failed: [ERROR] no such artifact",
        ),
        ("exit 1", "copy-dependencies failed: it gives no reason"),
        (BRINGS_A, "a.jar is not among the jars of that release"),
    ],
)
def test_what_maven_fails_to_bring_leaves_nothing(
    script: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Release, "hashes", lambda _: {})
    maven(tmp_path / "bin", script, monkeypatch)
    with pytest.raises(ConformanceError) as caught:
        fetched_jars(RELEASES["5.4.0"], tmp_path / "kept")
    assert complaint in str(caught.value)
    assert list((tmp_path / "kept").iterdir()) == []


def test_a_machine_without_maven_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MavenError, match="mvn is not on PATH: the jars of RocketMQ come by Maven 3; install it"):
        fetch(RELEASES["5.4.0"], tmp_path)


def test_a_release_whose_name_server_was_not_published_takes_that_of_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    poms: list[str] = []

    def ask(folder: Path, *arguments: str) -> None:
        asked.append(arguments[1])
        poms.append((folder / "pom.xml").read_text())

    monkeypatch.setattr("conformance.releases.jars._maven", ask)
    for artifact in RELEASES["5.5.1"].own:
        (tmp_path / f"{artifact}-5.5.0.jar").touch()
    fetch(RELEASES["5.5.1"], tmp_path)
    assert poms[0].count("<version>5.5.0</version>") == len(ARTIFACTS)
    assert asked[1:] == [f"-Dartifact=org.apache.rocketmq:{artifact}:5.5.1" for artifact in RELEASES["5.5.1"].own]
    assert list(tmp_path.iterdir()) == []
