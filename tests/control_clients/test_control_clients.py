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
from halfcheck.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]
CLIENTS = ROOT / "control_clients"

PROGRAM = """
const { start } = require(process.argv[2]);
(async () => {
  const options = JSON.parse(process.env.ASKED ?? '{"profile":"5.5.0","clock":"virtual","grpc-port":0}');
  const broker = await start(options).catch(problem => { console.log(problem.message); process.exit(1); });
  const { is_up, profile, grpc_address } = await broker.order('status');
  await broker.order('topic', { name: 'Orders', queues: 2 });
  const refused = await broker.order('push_clock', { ms: 0 }).catch(problem => problem.message);
  const late = await broker.wait({ producer: 'nobody', timeout_ms: 1 }).catch(problem => problem.message);
  if (process.argv[3]) await broker.order('fault', { fault: 'double_end', key: process.argv[3] });
  const verdict = await broker.stop().catch(problem => problem.message);
  const unused = await broker.close().catch(problem => problem.message);
  const grpc = grpc_address === broker.grpcAddress;
  console.log(JSON.stringify({ is_up, profile, grpc, refused, late, verdict, unused }));
})();
"""


def node(folder: Path, environment: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    script = folder / "program.js"
    script.write_text(PROGRAM, encoding="utf-8")
    command: list[str | Path] = [Path(sys.executable).with_name("node"), script, CLIENTS / "node", *words]
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
    assert said["late"] == "no producer of nobody has come; producers: none"
    assert said["verdict"]["broken"] == []


BEFELL_NOTHING = "fault double_end key=order-77 befell nothing; nothing came that it could befall"


def test_a_fault_that_befell_nothing_fails_the_stop(halfcheck: Path, tmp_path: Path) -> None:
    said = json.loads(node(tmp_path, {"HALFCHECK": str(halfcheck)}, "order-77").stdout)
    assert said["verdict"] == BEFELL_NOTHING


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"ASKED": '{"speed":0}'}, "broker did not start: halfcheck: --speed 0: expected a number above 0 and at most"),
        (
            {"HALFCHECK_CONTROL": "127.0.0.1:1"},
            "HALFCHECK_CONTROL is set and HALFCHECK_ADDRESS is not; halfcheck broker",
        ),
    ],
)
def test_why_there_is_no_broker_is_in_the_failure(
    environment: Mapping[str, str], said: str, halfcheck: Path, tmp_path: Path
) -> None:
    done = node(tmp_path, {"HALFCHECK": str(halfcheck), **environment})
    assert (done.returncode, done.stdout.count("\n")) == (1, 1)
    assert said in done.stdout


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ('{"profile":"5.3.3"}', "--profile 5.3.3, the broker of --exec has 5.4.0;"),
        ('{"speed":60}', "--speed 60, the broker of --exec has none;"),
    ],
)
def test_under_exec_options_that_the_broker_has_not_fail_the_test(asked: str, said: str, tmp_path: Path) -> None:
    has = json.dumps({"--profile": "5.4.0", "--clock": "virtual", "--grpc-port": None})
    given = {"HALFCHECK_ADDRESS": "h:1", "HALFCHECK_CONTROL": "h:2", "HALFCHECK_TOKEN": "t", "HALFCHECK_OPTIONS": has}
    done = node(tmp_path, {**given, "ASKED": asked})
    assert done.returncode == 1
    assert said in done.stdout


def test_under_exec_it_takes_that_broker_and_does_not_end_it(halfcheck: Path, tmp_path: Path) -> None:
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
        "--no-record",
    ]
    done = subprocess.run(
        [*command, "--exec", "--", Path(sys.executable).with_name("node"), script, CLIENTS / "node", "order-77"],
        capture_output=True, text=True, env={**os.environ, "ASKED": '{"grpc-port":0,"clock":"virtual"}'},
        cwd=tmp_path, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == ExitCode.BAD_OPTION
    said = json.loads(done.stdout)
    assert said["profile"] == "5.4.0"
    assert said["verdict"].startswith("stop: the broker is that of halfcheck broker --exec, and all tests have it;")
    assert said["unused"] == BEFELL_NOTHING
    assert BEFELL_NOTHING in " ".join(done.stderr.split())


def test_where_there_is_no_halfcheck_the_test_is_told(tmp_path: Path) -> None:
    done = node(tmp_path, {"HALFCHECK": str(tmp_path / "missing")})
    assert done.returncode == 1
    assert f"{tmp_path / 'missing'} ENOENT: pip install halfcheck, or set HALFCHECK=" in done.stdout


def test_their_versions_are_that_of_halfcheck() -> None:
    pom = (CLIENTS / "java" / "pom.xml").read_text(encoding="utf-8")
    assert f"<artifactId>halfcheck-junit5</artifactId>\n  <version>{__version__}</version>" in pom
    assert json.loads((CLIENTS / "node" / "package.json").read_text(encoding="utf-8"))["version"] == __version__
    page = (CLIENTS / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\d+\.\d+\.\d+", page)) == {__version__}
