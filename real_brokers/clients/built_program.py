"""Programs of clients that this machine's own tools build once, out of sources here that name each client by version.

There are no lock files here (``go.sum``, ``package-lock.json``), as they name hosts; a build makes its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from files.reading import read_bytes
from real_brokers.errors import RealBrokerError

_HERE: Final = Path(__file__).parent
_BUILD_SECONDS: Final = 1_200
_SOURCES: Final = "sources"


class ClientBuildError(RealBrokerError):
    """A client can't be built: what builds it is missing, or fails."""


@dataclass(frozen=True, slots=True)
class ClientProgram:
    """A client's program.

    Attributes
    ----------
    sources
        Its folder below this one.
    tool
        What builds it, as it is called in PATH.
    arguments
        With which that builds it, in the folder of the build.
    wants
        The tool's name and oldest version, for whoever has to install it.
    runs
        The command of what was built; a path in it is relative to the folder of the build.
    before
        With which the tool is called before that, to take another version of the client.
    """

    sources: str
    tool: str
    arguments: tuple[str, ...]
    wants: str
    runs: tuple[str, ...]
    before: tuple[str, ...] = ()

    def command(self, folder: Path) -> list[str]:
        """The command of the program in a folder, which is built first if it is not there as it is now.

        Raises
        ------
        ClientBuildError
            It can't be built; names the last line that the tool printed.
        """
        sources, built_of = _HERE / self.sources, folder / _SOURCES
        if _content(built_of) != _content(sources):
            self._build(folder)
            shutil.rmtree(built_of, ignore_errors=True)
            shutil.copytree(sources, built_of)
        return [str(folder / word) if (folder / word).exists() else word for word in self.runs]

    def _build(self, folder: Path) -> None:
        tool = shutil.which(self.tool)
        if tool is None:
            message = f"no {self.tool} in PATH: the client in {self.sources} wants {self.wants}; install it, or name "
            message += "the clients to lead"
            raise ClientBuildError(message)
        shutil.copytree(_HERE / self.sources, folder, dirs_exist_ok=True)
        for arguments in filter(None, (self.before, self.arguments)):
            done = subprocess.run(
                [tool, *arguments], cwd=folder, capture_output=True, text=True, timeout=_BUILD_SECONDS, check=False,
                env={**os.environ, "GOFLAGS": "-mod=mod"},
            )  # fmt: skip
            if done.returncode:
                lines = [line for line in done.stderr.splitlines() if line.strip()]
                message = f"{self.tool} {arguments[0]} failed: {lines[-1] if lines else done.returncode}"
                raise ClientBuildError(message)


def _content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): read_bytes(path) for path in sorted(folder.rglob("*")) if path.is_file()}


_GO_BUILD: Final = ("build", "-o", "client", ".")

GO: Final = ClientProgram("go", "go", _GO_BUILD, "Go 1.21 or newer", ("client",))
"""rocketmq-client-go, which speaks remoting."""

GRPC_PROGRAMS: Final = {
    "grpc-node": ClientProgram(
        "grpc/node", "npm", ("install", "--no-audit", "--no-fund"), "Node.js 18 or newer", ("node", "client.js")
    ),
    "grpc-go": ClientProgram("grpc/go", "go", _GO_BUILD, "Go 1.24 or newer", ("client",)),
    "grpc-rust": ClientProgram(
        "grpc/rust", "cargo", ("build",), "Rust 1.85 or newer", ("target/debug/grpc-scenario-client",)
    ),
}
"""Of the repository rocketmq-clients, which speak gRPC."""

OLDER_GO: Final = {
    "grpc-go-5.1.3": replace(
        GRPC_PROGRAMS["grpc-go"],
        before=("mod", "edit", "-require=github.com/apache/rocketmq-clients/golang/v5@v5.1.3"),
    )
}
"""That in Go, of a release before it; 5.1.2 has no push consumer."""
