"""Clients that speak gRPC: how each is had, and a process of one that is led."""

from __future__ import annotations

import os
import subprocess
import venv
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.releases.jars import GRPC_CLIENTS, fetched_jars
from conformance.releases.jvm import client_command, java_command
from real_brokers.clients.built_program import GRPC_PROGRAMS, OLDER_GO, ClientBuildError
from real_brokers.clients.scenario_client import ScenarioClient

if TYPE_CHECKING:
    from collections.abc import Sequence

PYTHON: Final = "grpc-python"
GRPC_NAMES: Final = (PYTHON, "grpc-java-5.0.8", "grpc-java-5.2.0", *GRPC_PROGRAMS)
"""Of the clients that are led through the scenario: one in Python, two in Java, and those that are built here."""

OLDER_NAMES: Final = (f"{PYTHON}-5.0.9", f"{PYTHON}-5.1.1", "grpc-java-5.0.7", *OLDER_GO)
"""Of releases before them."""

_PYTHON_VERSION: Final = "5.1.2"
_SOURCES: Final = Path(__file__).with_name("grpc")
_BUILDS: Final = Path(__file__).parents[2] / "build"


class GrpcClient(ScenarioClient):
    """A process of a client, from entering the context on; its orders stand in the docstring of the package ``grpc``.

    Parameters
    ----------
    address
        Of the proxy, ``HOST:PORT``.
    folder
        Where it may write.
    name
        Of :data:`GRPC_NAMES` or :data:`OLDER_NAMES`.
    topics
        Those of the one producer that it is to be, in place of what the scenario has; in Python alone.

    Raises
    ------
    ClientBuildError
        It can't be installed or built.
    """

    def __init__(self, address: str, folder: Path, name: str = PYTHON, topics: Sequence[str] = ()) -> None:
        super().__init__([*_command(name, folder), address, *topics], folder, {**os.environ, "HOME": str(folder)})


def _command(name: str, folder: Path) -> list[str]:
    if name in GRPC_CLIENTS:
        jvm = java_command(folder, "256m")
        return client_command(fetched_jars(GRPC_CLIENTS[name]), folder, _SOURCES / "GrpcScenarioClient.java", jvm=jvm)
    if name in GRPC_PROGRAMS | OLDER_GO:
        return (GRPC_PROGRAMS | OLDER_GO)[name].command(_BUILDS / f"{name}-client")
    version = name.removeprefix(PYTHON).removeprefix("-") or _PYTHON_VERSION
    return [str(_python_environment(name, version) / "bin" / "python"), str(_SOURCES / "python_client.py")]


def _python_environment(name: str, version: str) -> Path:
    """An environment with the Python client of a version, which pip brings once."""
    folder, wanted = _BUILDS / f"{name}-client", f"rocketmq-python-client=={version}"
    if not (folder / ".installed").is_file():
        venv.create(folder, clear=True, with_pip=True)
        pip = folder / "bin" / "pip"
        done = subprocess.run(
            [pip, "install", "--quiet", "--disable-pip-version-check", wanted],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            message = f"pip install {wanted} failed: {done.stderr.strip().splitlines()[-1:]}"
            raise ClientBuildError(message)
        (folder / ".installed").touch()
    return folder
