"""A machine that lacks a Python or a JDK is told so in one line: what was found, what is needed, what to install."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

SCRIPT = Path(__file__).parents[2] / "setup" / "check_machine.sh"
TOOLS = ("sed", "head", "sh")

JAVA_17 = """echo 'openjdk version "17.0.15" 2025-04-15' >&2"""
JAVA_21_WITH_OPTIONS = """echo 'Picked up _JAVA_OPTIONS: -Xmx1g' >&2; echo 'openjdk version "21" 2023-09-19' >&2"""
JAVA_11 = """echo 'openjdk version "11.0.22" 2024-01-16' >&2"""
JAVA_8 = """echo 'java version "1.8.0_392"' >&2"""
JAVA_MUTE = "exit 1"


def python(version: str, *, makes_environments: bool = True) -> str:
    """A stand-in for a Python: it tells its version, and imports ensurepip or not."""
    imports = "exit 0" if makes_environments else "exit 1"
    return f"""case "$2" in *ensurepip*) {imports} ;; *) echo {version} ;; esac"""


class Machine(NamedTuple):
    """A folder that is the whole PATH of a machine."""

    path: Path

    def install(self, name: str, body: str) -> Path:
        """Put a shell script on the PATH."""
        program = self.path / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
        return program

    def check(self, **environment: str) -> tuple[int, str, list[str]]:
        """The exit code, what is on stdout, and the lines on stderr."""
        finished = subprocess.run(
            ["/bin/sh", str(SCRIPT)],
            env={"PATH": str(self.path), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        return finished.returncode, finished.stdout.strip(), finished.stderr.splitlines()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with a shell and its usual tools, and nothing else."""
    path = tmp_path / "bin"
    path.mkdir()
    for tool in TOOLS:
        real = next(folder / tool for folder in (Path("/bin"), Path("/usr/bin")) if (folder / tool).exists())
        (path / tool).symlink_to(real)
    return Machine(path)


@pytest.mark.parametrize("java", [JAVA_17, JAVA_21_WITH_OPTIONS])
@pytest.mark.parametrize("version", ["3.11.0", "3.12.1", "3.13.0", "3.14.2"])
def test_a_fitting_machine_prints_its_python(machine: Machine, version: str, java: str) -> None:
    found = machine.install("python3", python(version))
    machine.install("java", java)
    assert machine.check() == (0, str(found), [])


def test_a_python_that_does_not_run_or_fit_is_passed_over(machine: Machine) -> None:
    machine.install("python3.13", "exit 127")
    machine.install("python3.12", python("3.12.1", makes_environments=False))
    found = machine.install("python3.11", python("3.11.7"))
    machine.install("python3", python("3.9.2"))
    machine.install("java", JAVA_17)
    assert machine.check() == (0, str(found), [])


def test_a_missing_python_is_one_line(machine: Machine) -> None:
    machine.install("java", JAVA_17)
    assert machine.check() == (
        1,
        "",
        [
            "halfcheck: no usable Python (none on PATH), Python 3.11, 3.12, 3.13 or 3.14 is needed: "
            "install it, e.g. apt-get install python3 python3-venv, or set PYTHON to its path"
        ],
    )


@pytest.mark.parametrize("version", ["2.7.18", "3.8.10", "3.10.12", "3.15.0"])
def test_a_python_out_of_range_is_named(machine: Machine, version: str) -> None:
    machine.install("python3", python(version))
    machine.install("java", JAVA_17)
    code, out, lines = machine.check()
    assert (code, out, len(lines)) == (1, "", 1)
    assert f"python3 is Python {version}" in lines[0]
    assert "Python 3.11, 3.12, 3.13 or 3.14 is needed" in lines[0]


def test_a_python_without_venv_is_one_line(machine: Machine) -> None:
    machine.install("python3", python("3.11.2", makes_environments=False))
    machine.install("java", JAVA_17)
    assert machine.check() == (
        1,
        "",
        [
            "halfcheck: python3 (Python 3.11.2) cannot make a virtual environment, the modules venv and ensurepip are "
            "needed: install them, e.g. apt-get install python3-venv"
        ],
    )


def test_the_python_that_was_asked_for_is_the_only_one_tried(machine: Machine) -> None:
    machine.install("python3", python("3.11.7"))
    machine.install("java", JAVA_17)
    wanted = machine.install("other/my python", python("3.13.0"))
    assert machine.check(PYTHON=str(wanted)) == (0, str(wanted), [])
    code, _, lines = machine.check(PYTHON="/no/such/python")
    assert code == 1
    assert lines == [
        "halfcheck: PYTHON=/no/such/python is not usable (it does not run), Python 3.11, 3.12, 3.13 or 3.14 is needed: "
        "set PYTHON to such a Python or leave it unset"
    ]


def test_a_missing_java_is_one_line(machine: Machine) -> None:
    machine.install("python3", python("3.11.7"))
    code, _, lines = machine.check()
    assert code == 1
    assert lines == [
        "halfcheck: no java on PATH, JDK 17 or newer is needed: "
        "install it, e.g. apt-get install openjdk-17-jdk-headless, or set JAVA_HOME to its folder"
    ]


@pytest.mark.parametrize(
    ("java", "found"), [(JAVA_8, "is Java 8"), (JAVA_11, "is Java 11"), (JAVA_MUTE, "does not tell its version")]
)
def test_a_java_that_does_not_fit_is_named(machine: Machine, java: str, found: str) -> None:
    machine.install("python3", python("3.11.7"))
    program = machine.install("java", java)
    code, _, lines = machine.check()
    assert code == 1
    assert lines == [
        f"halfcheck: {program} {found}, JDK 17 or newer is needed: "
        "install it, e.g. apt-get install openjdk-17-jdk-headless, or set JAVA_HOME to its folder"
    ]


def test_java_home_goes_before_the_path_as_it_does_for_spark(machine: Machine, tmp_path: Path) -> None:
    machine.install("python3", python("3.11.7"))
    machine.install("java", JAVA_17)
    home = tmp_path / "jdk 8"
    code, _, lines = machine.check(JAVA_HOME=str(home))
    assert code == 1
    assert lines == [
        f"halfcheck: JAVA_HOME={home} has no bin/java, JDK 17 or newer is needed: "
        "set JAVA_HOME to such a JDK or leave it unset"
    ]
    Machine(home / "bin").install("java", JAVA_8)
    code, _, lines = machine.check(JAVA_HOME=str(home))
    assert code == 1
    assert lines == [
        f"halfcheck: {home}/bin/java is Java 8, JDK 17 or newer is needed: "
        "set JAVA_HOME to such a JDK or leave it unset"
    ]


def test_python_and_java_missing_are_a_line_each(machine: Machine) -> None:
    code, out, lines = machine.check()
    assert (code, out) == (1, "")
    assert ["no usable Python" in lines[0], "no java on PATH" in lines[1], len(lines)] == [True, True, 2]
