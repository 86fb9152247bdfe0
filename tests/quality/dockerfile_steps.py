"""The steps of the Dockerfile carried out without a container engine: in a folder that stands for the image's root.

Each stage gets an environment of this machine's Python in place of its base image. Absolute paths of the file are below
the folder, ports are others, and ``useradd`` is only noted: the machine keeps its users.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
_PATHS: Final = re.compile(r"(?<![\w.])/(wheels|source)")
_SECONDS: Final = 600


@dataclass(slots=True)
class CarriedOut:
    """An image whose steps are carried out below a folder.

    Attributes
    ----------
    ports
        By port of the file the one in its place.
    entry_point, health_check
        The commands that the image would run.
    users
        What ``useradd`` was called with.
    """

    folder: Path
    ports: dict[str, str]
    arguments: dict[str, str] = field(default_factory=dict)
    entry_point: list[str] = field(default_factory=list)
    health_check: list[str] = field(default_factory=list)
    _stages: int = 0
    _work: Path = field(init=False)
    _environment: dict[str, str] = field(default_factory=dict)

    @property
    def users(self) -> str:
        noted = self.folder / "users"
        return noted.read_text(encoding="utf-8") if noted.is_file() else ""

    @property
    def python_folder(self) -> Path:
        """The environment of the last stage."""
        return self.folder / f"python-{self._stages}"

    def carry_out(self, dockerfile: str) -> None:
        """Each step, in its order; `AssertionError` for one that fails or that is not known here."""
        for word, rest in steps_of(dockerfile):
            match word:
                case "FROM":
                    self._begin_stage()
                case "WORKDIR":
                    self._work = Path(self._inside(rest))
                    self._work.mkdir(parents=True, exist_ok=True)
                case "ARG":
                    name, _, value = rest.partition("=")
                    self._environment[name] = self.arguments.get(name, value)
                case "COPY":
                    self._copy(rest)
                case "RUN":
                    self._run(["sh", "-c", self._inside(rest)])
                case "HEALTHCHECK":
                    self.health_check = json.loads(self._with_ports(rest[rest.index("CMD ") + 4 :]))
                case "ENTRYPOINT":
                    self.entry_point = json.loads(self._with_ports(rest))
                case "USER":
                    assert rest in self.users.split(), f"USER {rest}: no step has made that user"
                case "EXPOSE":
                    assert rest.split() == list(self.ports), f"EXPOSE {rest}: expected {' '.join(self.ports)}"
                case _:
                    message = f"a step {word} {rest} that is not known here"
                    raise AssertionError(message)

    def environment(self) -> dict[str, str]:
        """What a command of the image finds: its Python first, nothing that would lead it to this checkout."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        path = f"{self.folder / 'bin'}:{self.python_folder / 'bin'}:/usr/bin:/bin"
        return kept | self._environment | {"PATH": path, "HOME": str(self.folder)}

    def _begin_stage(self) -> None:
        self._stages += 1
        subprocess.run([sys.executable, "-m", "venv", self.python_folder], check=True, timeout=_SECONDS)
        self._work = self.folder
        useradd = self.folder / "bin" / "useradd"
        useradd.parent.mkdir(exist_ok=True)
        useradd.write_text(f'#!/bin/sh\necho "$@" >> {self.folder}/users\n', encoding="utf-8")
        useradd.chmod(0o755)

    def _copy(self, rest: str) -> None:
        if rest.startswith("--from="):
            source, target = rest.split()[1:]
            assert source == target, f"COPY {rest}: both stages are one folder here"
            return
        assert rest == ". .", f"COPY {rest}: expected the whole context"
        excluded = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        names = [name.removeprefix("**/") for name in excluded if name and not name.startswith("#")]
        shutil.copytree(ROOT, self._work, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*names))

    def _run(self, command: list[str]) -> None:
        done = subprocess.run(
            command, cwd=self._work, env=self.environment(), capture_output=True, text=True, timeout=_SECONDS,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command[-1]}: {done.stderr[-800:]}"

    def _inside(self, text: str) -> str:
        return _PATHS.sub(lambda match: f"{self.folder}/{match[1]}", text)

    def _with_ports(self, text: str) -> str:
        for port, other in self.ports.items():
            text = text.replace(port, other)
        return text


def steps_of(dockerfile: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile, each with the rest of its line.

    Examples
    --------
    >>> steps_of("# one\\nFROM a\\nRUN b \\\\\\n    c\\n")
    [('FROM', 'a'), ('RUN', 'b c')]
    """
    lines = [line for line in dockerfile.splitlines() if not line.startswith("#")]
    joined = re.sub(r"\s*\\\n\s*", " ", "\n".join(lines))
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in joined.splitlines() if line.strip())]
