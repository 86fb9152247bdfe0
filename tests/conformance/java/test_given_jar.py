"""Is a jar known by what it says of itself, and is what is none refused in one line?"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

from conformance.errors import JarsError
from conformance.java.given_jar import given_jar
from halfcheck.app import run

if TYPE_CHECKING:
    from pathlib import Path

CLASS = "org/apache/rocketmq/broker/BrokerController.class"
POM = "META-INF/maven/org.apache.rocketmq/rocketmq-broker/pom.properties"


def jar(path: Path, **files: str) -> Path:
    with ZipFile(path, "w") as archive:
        archive.writestr(CLASS, b"")
        for name, text in files.items():
            archive.writestr({"pom": POM, "manifest": "META-INF/MANIFEST.MF"}[name], text)
    return path


def test_what_maven_has_written_says_the_release(tmp_path: Path) -> None:
    assert given_jar(jar(tmp_path / "a.jar", pom="version=5.5.1-SNAPSHOT\n")).release == "5.5.1"
    assert given_jar(jar(tmp_path / "b.jar", manifest="A: b\nImplementation-Version: 5.3.3\n")).release == "5.3.3"
    assert given_jar(jar(tmp_path / "rocketmq-broker-4.9.7-SNAPSHOT.jar")).release == "4.9.7"


def test_the_named_release_counts_more(tmp_path: Path) -> None:
    assert given_jar(jar(tmp_path / "a.jar", pom="version=5.5.1-SNAPSHOT\n"), "5.5.0").release == "5.5.0"


def test_a_folder_has_jars_or_classes(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    broker = jar(target / "rocketmq-broker-5.5.1-SNAPSHOT.jar")
    jar(target / "rocketmq-broker-5.5.1-SNAPSHOT-tests.jar")
    jar(target / "rocketmq-broker-5.5.1-SNAPSHOT-sources.jar")
    found = given_jar(target)
    assert (found.release, found.class_path) == ("5.5.1", (broker.resolve(),))
    classes = tmp_path / "classes"
    (classes / CLASS).parent.mkdir(parents=True)
    (classes / CLASS).write_bytes(b"")
    assert given_jar(classes, "5.5.1").class_path == (classes.resolve(),)


def test_who_does_not_say_its_release_is_asked_for_it(tmp_path: Path) -> None:
    with pytest.raises(JarsError, match=r"does not say of which release it is; name the release .* by --real") as error:
        given_jar(jar(tmp_path / "a.jar"))
    assert error.value.exit_code == 151
    with pytest.raises(JarsError, match=r"says that it is of 9\.0\.0, whose jars are not known"):
        given_jar(jar(tmp_path / "a.jar", pom="version=9.0.0-SNAPSHOT\n"))


@pytest.mark.parametrize(
    "command",
    [["judge-jar", "--minutes", "0"], ["fuzz", "--examples", "1", "--jar"], ["replay", "--steps", "tick", "--jar"]],
)
def test_what_is_no_jar_is_refused_in_one_line(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken, empty = tmp_path / "broken.jar", tmp_path / "empty.jar"
    broken.write_bytes(b"PK no jar")
    os.mkfifo(tmp_path / "pipe.jar")
    with ZipFile(empty, "w") as archive:
        archive.writestr("com/example/Some.class", b"")
    for path, said in (
        (broken, "not a jar"),
        (empty, "no class of org.apache.rocketmq is in it"),
        (tmp_path / "missing.jar", "no such file or folder"),
        (tmp_path / "pipe.jar", "not a jar (a pipe"),
    ):
        assert run([*command, str(path)]) == 150
        told = capsys.readouterr().err
        assert told.startswith(f"halfcheck: {path}: {said}")
        assert told.count("\n") == 1
    assert run([*command, str(jar(tmp_path / "a.jar")), "--real", "9.9.9"]) == 151
    assert "no jars of RocketMQ '9.9.9' are known" in capsys.readouterr().err


def test_a_release_without_a_table_of_verdicts_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["judge-jar", "--minutes", "0", str(jar(tmp_path / "a.jar")), "--real", "4.7.1"]) == 151
    assert "no table of verdicts of RocketMQ 4.7.1; give --real one of 4.5.1" in capsys.readouterr().err
