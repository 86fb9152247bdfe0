"""`make test-pythons`: the quick part of the tests on the oldest and the newest Python that is promised.

All tests run on the Python of `.venv`; the others that are promised differ in their event loop, their parser and their
messages. What is asked here are the parts that lie on those, in a minute or two of two processors a Python. A Python is
found on `PATH`, among those that pyenv or uv has installed, or brought by uv.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
UV: Final = str(ROOT / ".venv" / "bin" / "uv")
PLACE: Final = ROOT / "build" / "pythons"

QUICK: Final = (
    "tests/files",
    "tests/wire",
    "tests/reference",
    "tests/spec",
    "tests/fuzz/lockstep",
    "tests/model_check/front_end",
    "tests/model_check/counterexample",
    "tests/model_check/wording",
    "tests/halfcheck/broker",
    "tests/halfcheck/printing",
    "tests/halfcheck/test_app.py",
    "tests/spark_trace_analysis/ingest",
    *("document", "files", "fuzz", "reference", "spec", "wire"),
)
"""Tests, and packages whose examples in docstrings are tests."""

Version = tuple[int, int]


def promised(requires: str) -> list[Version]:
    """The versions of ``requires-python``, oldest first.

    Examples
    --------
    >>> promised(">=3.11,<3.15")
    [(3, 11), (3, 12), (3, 13), (3, 14)]
    """
    least, below = (int(part.rpartition(".")[2]) for part in requires.split(","))
    return [(3, minor) for minor in range(least, below)]


def version_of(python: str) -> Version | None:
    """What an interpreter is; None where it does not run."""
    asked = [python, "-I", "-c", "import sys; print(*sys.version_info[:2])"]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=True).stdout.split()
    except (OSError, subprocess.SubprocessError):
        return None
    return int(told[0]), int(told[1])


def candidates(version: Version) -> list[str]:
    """Where an interpreter of a version may be, before anything is fetched."""
    name = f"python{version[0]}.{version[1]}"
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    installed = sorted(pyenv.glob(f"versions/{version[0]}.{version[1]}.*/bin/python"))
    found = subprocess.run(
        [UV, "python", "find", "--no-project", "--no-python-downloads", f"{version[0]}.{version[1]}"],
        capture_output=True, text=True, check=False,
    ).stdout.strip()  # fmt: skip
    return [found, *([path] if (path := shutil.which(name)) else []), *map(str, installed)]


def find(version: Version) -> str | None:
    """An interpreter of a version; uv brings one where there is none, if it reaches where they are."""
    for python in candidates(version):
        if python and version_of(python) == version:
            return python
    bring = [UV, "python", "install", "--quiet", f"{version[0]}.{version[1]}"]
    if subprocess.run(bring, capture_output=True, check=False).returncode:
        return None
    return next((python for python in candidates(version) if python and version_of(python) == version), None)


def make_environment(python: str, version: Version) -> str:
    """An environment of the lock file beside `.venv`, with this project in it; the interpreter in it."""
    place = PLACE / f"{version[0]}.{version[1]}"
    subprocess.run([UV, "venv", "--quiet", "--clear", "--python", python, str(place)], check=True)
    inside = str(place / "bin" / "python")
    pip = [UV, "pip", "install", "--quiet", "--python", inside, "--no-build-isolation"]
    first = PLACE / "bootstrap.lock"
    first.write_text(_only((ROOT / "requirements.lock").read_text(encoding="utf-8"), "setuptools"), encoding="utf-8")
    subprocess.run([*pip, "--no-deps", "--require-hashes", "--requirement", str(first)], check=True)
    locked = [*pip[:2], "sync", *pip[3:], "--require-hashes", str(ROOT / "requirements.lock")]
    subprocess.run(locked, check=True)
    subprocess.run([*pip, "--no-deps", "--editable", str(ROOT)], check=True)
    return inside


def _only(lock: str, package: str) -> str:
    """The entry of one package in a lock file, with its hashes."""
    held, kept = False, []
    for line in lock.splitlines():
        if line and line[0] not in " #":
            held = line.startswith(f"{package}==")
        if held:
            kept.append(line)
    return "\n".join(kept) + "\n"


def main(own: Version = sys.version_info[:2]) -> int:
    """Run the quick part on the oldest and on the newest one; 1 if a test fails, or if there is no other Python."""
    requires = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    versions = promised(requires)
    asked: dict[Version, str] = {}
    for wanted in (versions, versions[::-1]):
        for version in wanted:
            if version == own:
                print(f"Python {_name(version)}: .venv is it, and all tests run there", flush=True)
                break
            python = asked.get(version) or find(version)
            if python is not None:
                asked[version] = python
                break
            print(f"Python {_name(version)}: not on PATH, nor with pyenv, and uv can't bring it", flush=True)
    if not asked:
        print(f"halfcheck: no Python but {_name(own)} is to be had; install one of {', '.join(map(_name, versions))}")
        return 1
    return max(_test(version, python) for version, python in asked.items())


def _test(version: Version, python: str) -> int:
    print(f"Python {_name(version)}: {python}", flush=True)
    inside = make_environment(python, version)
    command = [inside, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *QUICK]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def _name(version: Version) -> str:
    return ".".join(map(str, version))


if __name__ == "__main__":
    sys.exit(main())
