"""The Go client of the scenario: built once by the machine's own Go, from modules that `go.mod` names by version.

There is no ``go.sum`` here, as it names hosts; Go makes one in the build folder, and its own checksum database vouches
for the modules.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from conformance.errors import ConformanceError
from tests.wire.clients.scenario_client import SCENARIO

SOURCES: Final = Path(__file__).with_name("go")
_BUILD_SECONDS: Final = 600


class GoError(ConformanceError):
    """There is no Go, or it does not build the client."""


def go_client(folder: Path, address: str) -> list[str]:
    """The command of the client, which is built in a folder first if it is not there as it is now.

    Raises
    ------
    GoError
        It can't be built; names the last line that Go printed.
    """
    binary = folder / "client"
    wanted = {path.name: path.read_bytes() for path in sorted(SOURCES.iterdir())}
    kept = folder / "sources"
    if not binary.is_file() or {path.name: path.read_bytes() for path in sorted(kept.glob("*"))} != wanted:
        _build(folder, wanted)
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(SOURCES, kept)
    return [str(binary), address, str(SCENARIO)]


def _build(folder: Path, sources: dict[str, bytes]) -> None:
    go = shutil.which("go")
    if go is None:
        message = "no go in PATH: the Go client wants Go 1.21 or newer; install it, or name the clients to lead"
        raise GoError(message)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in sources.items():
        (folder / name).write_bytes(content)
    done = subprocess.run(
        [go, "build", "-o", "client", "."],
        cwd=folder,
        env={**os.environ, "GOFLAGS": "-mod=mod"},
        capture_output=True,
        text=True,
        timeout=_BUILD_SECONDS,
        check=False,
    )
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        message = f"go build failed: {said[-1] if said else done.returncode}"
        raise GoError(message)
