"""Storm, asked as a process of its own: its licence is the GPL's, so that nothing here is linked to it.

The environment below `build/storm` is made of `storm.lock` when it is missing; it wants PyPI then.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HERE: Final = Path(__file__).parent
ENVIRONMENT: Final = HERE.parents[1] / "build" / "storm"


@dataclass(frozen=True)
class StormAnswer:
    """What Storm says of each clause."""

    version: str
    ever: Mapping[str, Fraction]  # in exact arithmetic
    within: Mapping[str, float]  # in double precision
    seconds: float


def prepare_storm() -> None:
    """Make the environment; `subprocess.CalledProcessError` when it cannot be made."""
    python = ENVIRONMENT / "bin" / "python"
    if (ENVIRONMENT / "installed").exists():
        return
    subprocess.run([sys.executable, "-m", "venv", "--clear", ENVIRONMENT], check=True)
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", "stormpy")
    subprocess.run([*pip, "--require-hashes", "--requirement", HERE / "storm.lock"], check=True)
    (ENVIRONMENT / "installed").touch()


def asked_of_storm(file: Path, steps: int, clauses: Sequence[str]) -> StormAnswer:
    """The probability of each clause, by its name: in the end, and within so many steps.

    `subprocess.CalledProcessError` when Storm cannot say.
    """
    prepare_storm()
    labels = [name.replace(".", "_") for name in clauses]
    program: list[str | Path] = [ENVIRONMENT / "bin" / "python", HERE / "storm_program.py", file, str(steps), *labels]
    printed = json.loads(subprocess.run(program, check=True, stdout=subprocess.PIPE).stdout)
    ever = {name: Fraction(text) for name, text in zip(clauses, printed["ever"], strict=True)}
    within = dict(zip(clauses, printed["within"], strict=True))
    return StormAnswer(printed["version"], ever, within, printed["seconds"])
