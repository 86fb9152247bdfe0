"""rocketmq-python-client in an environment of its own, which pip makes once, and a process of it that is led."""

from __future__ import annotations

import os
import subprocess
import venv
from pathlib import Path
from typing import TYPE_CHECKING, Final

from real_brokers.clients.scenario_client import ScenarioClient
from real_brokers.errors import RealBrokerError

PYTHON_CLIENT: Final = "rocketmq-python-client==5.1.2"
SOURCES: Final = Path(__file__).with_name("grpc")
_BUILD: Final = Path(__file__).parents[2] / "build" / "grpc-python-client"

if TYPE_CHECKING:
    from collections.abc import Mapping


class PythonClientError(RealBrokerError):
    """The Python client can't be installed."""


def python_client(script: str, *arguments: str) -> list[str]:
    """The command of a script of the folder ``grpc``; `PythonClientError` if the client can't be installed."""
    python = _BUILD / "bin" / "python"
    if not (_BUILD / ".installed").is_file():
        venv.create(_BUILD, clear=True, with_pip=True)
        done = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PYTHON_CLIENT],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            message = f"pip install {PYTHON_CLIENT} failed: {done.stderr.strip().splitlines()[-1:]}"
            raise PythonClientError(message)
        (_BUILD / ".installed").touch()
    return [str(python), str(SOURCES / script), *arguments]


def home_in(folder: Path) -> Mapping[str, str]:
    """The environment of a client that writes below a folder."""
    return {**os.environ, "HOME": str(folder)}


class LedGrpcClient(ScenarioClient):
    """A process of ``led_client.py``, from entering the context on: producers of one proxy.

    Parameters
    ----------
    address
        Of the proxy, ``HOST:PORT``.
    folder
        Where it may write.
    """

    def __init__(self, address: str, folder: Path) -> None:
        super().__init__(python_client("led_client.py", address), folder, home_in(folder))

    def said(self, name: str, key: str) -> list[str]:
        """What its events of a name and a key say, in their order."""
        return [event.more for event in self.events if (event.name, event.key) == (name, key)]
