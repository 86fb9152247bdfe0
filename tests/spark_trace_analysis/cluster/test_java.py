"""A Java that is missing, mute or too old is named before Spark starts."""

from pathlib import Path

import pytest

from spark_trace_analysis.cluster.session import require_java
from spark_trace_analysis.errors import BadOptionError


def pretend(folder: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    java = folder / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho '{version}' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(folder))


@pytest.mark.parametrize("version", ['openjdk version "17.0.15" 2025-04-15', 'java version "25" 2025-09-16 LTS'])
def test_a_new_enough_java_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    pretend(tmp_path, version, monkeypatch)
    assert require_java() == tmp_path / "bin" / "java"


@pytest.mark.parametrize(
    ("version", "complaint"),
    [
        ('java version "1.8.0_392"', "is Java 8"),
        ('openjdk version "11.0.2" 2019-01-15', "is Java 11"),
        ("what?", "does not say its version"),
    ],
)
def test_an_old_or_mute_java_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, complaint: str
) -> None:
    pretend(tmp_path, version, monkeypatch)
    with pytest.raises(BadOptionError, match=complaint) as refusal:
        require_java()
    assert "install a JDK 17" in str(refusal.value)


def test_no_java_at_all_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(BadOptionError, match="no java is on PATH"):
        require_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(BadOptionError, match="there is no bin/java in it"):
        require_java()
