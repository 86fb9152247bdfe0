"""The control client of Node.js against a broker; those in Java and Go, `make example` runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from halfcheck import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]
CLIENTS = ROOT / "control_clients"

PROGRAM = """
const { start } = require(process.argv[2]);
(async () => {
  const broker = await start({ profile: '5.5.0', clock: 'virtual', 'grpc-port': 0 });
  const { is_up, profile, grpc_address } = await broker.order('status');
  await broker.order('topic', { name: 'Orders', queues: 2 });
  const refused = await broker.order('push_clock', { ms: 0 }).catch(problem => problem.message);
  const late = await broker.wait({ producer: 'nobody', timeout_ms: 1 }).catch(problem => problem.message);
  const verdict = await broker.stop();
  console.log(JSON.stringify({ is_up, profile, grpc: grpc_address === broker.grpcAddress, refused, late, verdict }));
})();
"""


def node(folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    script = folder / "program.js"
    script.write_text(PROGRAM, encoding="utf-8")
    command = [Path(sys.executable).with_name("node"), script, CLIENTS / "node"]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, cwd=folder, timeout=120, check=False
    )


@pytest.fixture
def halfcheck(tmp_path: Path) -> Path:
    program = tmp_path / "halfcheck"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m halfcheck "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return program


def test_a_test_in_node_starts_a_broker_orders_and_stops_it(halfcheck: Path, tmp_path: Path) -> None:
    done = node(tmp_path, {"HALFCHECK": str(halfcheck)})
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert (said["is_up"], said["profile"], said["grpc"]) == (True, "5.5.0", True)
    assert re.fullmatch(r"push_clock: ms is 0, expected [^\n]+", said["refused"])
    assert said["late"].startswith('{"producer":"nobody","timeout_ms":1} did not come; the broker knows {"came":false')
    assert said["verdict"]["broken"] == []


def test_under_exec_it_takes_that_broker(halfcheck: Path, tmp_path: Path) -> None:
    script = tmp_path / "program.js"
    script.write_text(PROGRAM, encoding="utf-8")
    command: list[str | Path] = [
        halfcheck,
        "broker",
        "--profile",
        "5.4.0",
        "--port",
        "0",
        "--grpc-port",
        "0",
        "--clock",
        "virtual",
    ]
    done = subprocess.run(
        [*command, "--exec", "--", Path(sys.executable).with_name("node"), script, CLIENTS / "node"],
        capture_output=True, text=True, env=dict(os.environ), cwd=tmp_path, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert json.loads(done.stdout)["profile"] == "5.4.0"


def test_where_there_is_no_halfcheck_the_test_is_told(tmp_path: Path) -> None:
    done = node(tmp_path, {"HALFCHECK": str(tmp_path / "missing")})
    assert done.returncode == 1
    assert f"{tmp_path / 'missing'} ENOENT" in done.stderr


def test_their_versions_are_that_of_halfcheck() -> None:
    pom = (CLIENTS / "java" / "pom.xml").read_text(encoding="utf-8")
    assert f"<artifactId>halfcheck-junit5</artifactId>\n  <version>{__version__}</version>" in pom
    assert json.loads((CLIENTS / "node" / "package.json").read_text(encoding="utf-8"))["version"] == __version__
    page = (CLIENTS / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\d+\.\d+\.\d+", page)) == {__version__}
