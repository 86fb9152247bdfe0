"""What `halfcheck[broker]` brings is enough to serve, that of `[verdict]` to judge, and each is as small as is said."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import tomllib
from typing import TYPE_CHECKING

import pytest

from halfcheck import extras
from halfcheck.app import run
from tests.quality.dockerfile_steps import ROOT, CarriedOut
from wire.control.controller import Controller

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

UV = str(ROOT / ".venv" / "bin" / "uv")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

MOST_MB = {"broker": 100, "verdict": 790}
"""As docs/install.md and docs/broker.md say."""

REQUIRES = [*PROJECT["dependencies"]] + [
    f'{each}; extra == "{extra}"' for extra, those in PROJECT["optional-dependencies"].items() for each in those
]
"""As the metadata of an installed wheel lists them."""

ONLY = """
import sys

class Refuses:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {refused}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refuses())
from halfcheck.app import main
main()
"""


def imported(libraries: list[str]) -> set[str]:
    """The modules of some requirements."""
    modules = {name: module for module, name in extras._DISTRIBUTIONS.items()}
    names = [re.split(r"[<>=\[]", library)[0] for library in libraries]
    return {modules.get(name, name.replace("-", "_")) for name in names} - {"halfcheck"}


def test_serving_imports_nothing_but_what_the_light_install_brings(tmp_path: Path) -> None:
    optional = PROJECT["optional-dependencies"]
    refused = imported([each for extra, those in optional.items() if extra not in ("broker", "dev") for each in those])
    assert {"numpy", "numba", "pyspark", "vl_convert"} <= refused
    refused |= {"grpc"}  # which the tests want, and the port for gRPC clients does without
    command = [sys.executable, "-c", ONLY.format(refused=refused), "broker", "--no-record", "--port", "0"]
    script = "import os, json; print(json.dumps(sorted(name for name in os.environ if name.startswith('HALFCHECK_'))))"
    done = subprocess.run(
        [*command, "--grpc-port", "0", "--exec", "--", sys.executable, "-c", script],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert {"HALFCHECK_ADDRESS", "HALFCHECK_GRPC_ADDRESS"} <= set(json.loads(done.stdout))


@pytest.fixture
def without_numpy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(extras, "requires", lambda _: REQUIRES)
    monkeypatch.setattr(extras, "_is_there", lambda library: library not in ("numpy", "numba"))
    extras._libraries.cache_clear()
    yield
    extras._libraries.cache_clear()


@pytest.mark.usefixtures("without_numpy")
def test_a_library_that_is_missing_is_one_line_that_names_the_extra() -> None:
    failed = ModuleNotFoundError("No module named 'vl_convert.themes'", name="vl_convert.themes")
    assert "'halfcheck[all]' brings it" in str(extras.explained(failed))
    assert extras.explained(ModuleNotFoundError("No module named 'orders'", name="orders")) is None
    with pytest.raises(extras.MissingLibrariesError, match=r"^numba, numpy are not installed; pip install") as missing:
        extras.require(extras.VERDICT)
    assert missing.value.exit_code == 150


@pytest.mark.usefixtures("without_numpy")
def test_a_broker_that_can_not_judge_serves_and_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["broker", "--port", "0", "--exec", "--", "true"]) == 0
    said = capfd.readouterr().err.splitlines()
    assert said == [
        "halfcheck: no verdict: numba, numpy are not installed; pip install 'halfcheck[verdict]' brings them, "
        "'halfcheck[all]' what any command takes"
    ]
    assert run(["broker", "--port", "0", "--no-record", "--exec", "--", "true"]) == 0
    assert capfd.readouterr().err == ""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheel")
    subprocess.run(["make", "--silent", "wheel", f"DIST={place}"], cwd=ROOT, check=True, capture_output=True)
    (found,) = place.glob("halfcheck-*.whl")
    return found


def installed(wheel: Path, extra: str, place: Path) -> Path:
    """The programs of an empty environment, with pip in it, into which the wheel was installed with an extra."""
    subprocess.run([UV, "venv", "--quiet", "--seed", "--python", sys.executable, place], check=True)
    install: list[str | Path] = [
        UV,
        "pip",
        "install",
        "--quiet",
        "--compile-bytecode",
        "--python",
        place / "bin" / "python",
    ]
    subprocess.run([*install, f"{wheel}[{extra}]"], check=True)
    return place / "bin"


def megabytes(place: Path) -> float:
    return sum(path.lstat().st_size for path in place.rglob("*") if not path.is_symlink()) / 1e6


@pytest.mark.sweep
@pytest.mark.parametrize("extra", MOST_MB)
def test_an_install_with_an_extra_is_small_and_runs_a_command_beside_its_broker(
    extra: str, wheel: Path, tmp_path: Path
) -> None:
    programs = installed(wheel, extra, tmp_path / "environment")
    size = megabytes(tmp_path / "environment")
    print(f"halfcheck[{extra}]: {size:.0f} MB")
    assert size < MOST_MB[extra]
    control = f"{programs}/halfcheck broker control"
    done = subprocess.run(
        [programs / "halfcheck", "broker", "--port", "0", "--grpc-port", "0", "--exec", "--json", "--",
         "sh", "-c", f"{control} topic name=Orders type=TRANSACTION && {control} status"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert '"is_up": true' in done.stdout
    (said,) = done.stderr.splitlines()
    if extra == "broker":
        names = ", ".join(
            re.split("[>=]", one)[0] for one in PROJECT["optional-dependencies"]["verdict"] if "[" not in one
        )
        assert json.loads(said)["no_verdict"].startswith(f"{names} are not installed; ")
    else:
        assert json.loads(said)["broken"] == []
    there = {path.name.lower() for path in (tmp_path / "environment").glob("lib/python*/site-packages/*")}
    assert not there & {"pyspark", "pandas", "z3", "scipy"}


@pytest.mark.sweep
def test_the_steps_of_the_dockerfile_make_a_broker_whose_health_is_asked(tmp_path: Path) -> None:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
    ports = dict(zip(("9876", "8081", "4711"), (str(each.getsockname()[1]) for each in held), strict=True))
    for each in held:
        each.close()
    image = CarriedOut(tmp_path, ports)
    image.carry_out((ROOT / "Dockerfile").read_text(encoding="utf-8"))
    environment = image.environment() | {"HALFCHECK_TOKEN": "a-token-of-the-test"}
    assert subprocess.run(image.health_check, env=environment, capture_output=True, check=False).returncode != 0
    advertised = f"127.0.0.1:{ports['9876']}"
    command = [*image.entry_point, "--advertise", advertised]
    with subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as broker:
        try:
            end = time.monotonic() + 60
            while subprocess.run(image.health_check, env=environment, capture_output=True, check=False).returncode:
                assert time.monotonic() < end, "it is not healthy within 60 s"
            status = Controller(f"127.0.0.1:{ports['4711']}", "a-token-of-the-test").status()
            assert (status["is_up"], status["address"]) == (True, advertised)
        finally:
            broker.terminate()
    assert broker.returncode == 0
