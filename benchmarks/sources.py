"""Scripts of this project in fresh processes, with the sources here or those of another checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parents[1]


def checkout(text: str) -> Path:
    """The folder of a checkout, as an option names it.

    Raises
    ------
    ArgumentTypeError
        It has no sources: Python would find those here, and compare them with themselves.
    """
    folder = Path(text).resolve()
    if not (folder / "reference").is_dir() or not (folder / "model_check").is_dir():
        message = f"{text!r} is no checkout of the project; git clone one, and check out the commit to compare with"
        raise ArgumentTypeError(message)
    return folder


def run_with(
    sources: Path, script: str, *words: str, python: str = sys.executable, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a script below this folder that imports the sources in another one; its exit code may be any."""
    command = [python, str(HERE / script), *words]
    told = {**os.environ, **environment, "PYTHONPATH": str(sources)}
    return subprocess.run(command, env=told, capture_output=True, text=True, check=False)
