"""What is installed from the wheel does what the README says, in an empty directory, without the checkout."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import sysconfig
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import golden_stores
from model_check.cache_folder import cache_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

PROJECT = Path(__file__).parents[2]
PACKAGES = (
    "conformance",
    "document",
    "files",
    "fuzz",
    "halfcheck",
    "model_check",
    "reference",
    "html_report",
    "spark_trace_analysis",
    "spec",
    "traffic",
    "wire",
)
STEPS = "send_half t=0 immunity=-1; commit_locally t=0"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(["make", "wheel", f"DIST={folder}"], cwd=PROJECT, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `halfcheck` of an environment that holds the wheel, and the locked packages but not this checkout."""
    environment = tmp_path_factory.mktemp("environment") / "env"
    scripts = Path(sys.executable).parent
    subprocess.run(
        [scripts / "uv", "venv", "-q", "--offline", "--python", sys.executable, str(environment)], check=True
    )
    python = environment / "bin" / "python"
    install: list[str | Path] = [
        scripts / "uv",
        "pip",
        "install",
        "-q",
        "--offline",
        "--no-deps",
        "--python",
        python,
        wheel,
    ]
    subprocess.run(install, check=True)
    asked: list[str | Path] = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip())
    (site / "locked.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return environment / "bin" / "halfcheck"


def run(installed: Path, folder: Path, *words: str, given: str = "") -> tuple[int, str, str]:
    """One command in an empty folder, with nothing of the checkout on its path, which reads what is given."""
    wanted = {"PATH", "JAVA_HOME", "TMPDIR", "PYTHONPYCACHEPREFIX", "HALFCHECK_COMPILE"}
    environment = {name: value for name, value in os.environ.items() if name in wanted}
    environment |= {"HOME": str(folder), "HALFCHECK_CACHE": str(cache_folder())}
    program: Sequence[str | Path] = [installed, *words]
    if words[0] == "python":
        program = [installed.with_name("python"), *words[1:]]
    finished = subprocess.run(
        program, cwd=folder, env=environment, input=given, capture_output=True, text=True, check=False, timeout=300
    )
    return finished.returncode, finished.stdout, finished.stderr


def test_the_wheel_has_every_file_of_the_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        names = {name for name in packed.namelist() if not name.split("/")[0].endswith(".dist-info")}
    there = {
        path.relative_to(PROJECT).as_posix()
        for package in PACKAGES
        for path in (PROJECT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.name not in {"README.md", ".gitattributes"}
    }
    assert there <= names, sorted(there - names)[:10]
    assert {name.split("/")[0] for name in names} == set(PACKAGES)


def test_the_wheel_carries_nothing_that_starts_foreign_brokers(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
    assert (PROJECT / "real_brokers" / "rocketmq" / "Driver.java").is_file()
    programs = [name for name in names if name.endswith((".java", ".go"))]
    assert [name for name in names if "real_brokers" in name] == []
    assert programs
    assert [name for name in programs if not name.startswith("conformance/java/src/halfcheck/")] == []


COMMANDS = {
    "--version": (0, "halfcheck 0."),
    "check --instance tiny --property S1.immune_half --itf b01.itf.json --svg b01.svg --pytest test_b01.py": (
        12,
        "S1.immune_half",
    ),
    "instances medium": (0, "bits in"),
    "defects A04": (0, "found in the reference broker"),
    "coverage --help": (0, "--page"),
    f"replay --instance tiny --steps '{STEPS}'": (0, "no property is violated"),
    "fuzz --help": (0, "--mutants"),
    "export --tla tla --instance tiny": (0, "TransactionalMessages.tla"),
    "simulate --trace 3 --instance tiny --steps 5": (0, "steps: "),
    "audit conformance/golden/5.3.3/immunity": (0, "1 doubled, 6 delivered"),
    "diff conformance/golden/5.3.3/immunity spec:5.3.3+heeds_settled_originals": (12, "put_back transaction=1"),
    "diff reference conformance/golden/5.3.3/late": (0, "identical"),
    "diff reference:conformance/golden/5.3.3/five spec:4.9.7": (12, "refused by the specification of 4.9.7"),
}
"""What the README has people type, with its exit code and a part of its answer."""

ALL_COMMANDS = """
import io, json, os, sys
from contextlib import redirect_stderr, redirect_stdout
from halfcheck.app import run
for number, words in enumerate(json.load(sys.stdin)):
    os.makedirs(str(number))
    os.chdir(str(number))
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(words)
    os.chdir("..")
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


@pytest.fixture(scope="module")
def told(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str, str]]:
    """Exit code, output and errors of each command; one Python carries them out, each in an empty folder."""
    asked = json.dumps([shlex.split(command) for command in COMMANDS])
    code, out, err = run(installed, tmp_path_factory.mktemp("told"), "python", "-c", ALL_COMMANDS, given=asked)
    assert code == 0, err
    answers = map(json.loads, out.splitlines())
    return {command: (code, told, said) for command, (code, told, said) in zip(COMMANDS, answers, strict=True)}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_readme_runs_where_there_is_no_checkout(
    told: dict[str, tuple[int, str, str]], command: str
) -> None:
    exit_code, said = COMMANDS[command]
    code, out, err = told[command]
    assert (code, said in out, "Traceback" in err) == (exit_code, True, False), (out, err)


def test_a_program_and_a_module_of_the_readme_run_where_there_is_no_checkout(installed: Path, tmp_path: Path) -> None:
    assert run(installed, tmp_path, "--version")[:2] == (0, f"halfcheck {version('halfcheck')}\n")
    assert run(installed, tmp_path, *shlex.split("python -m reference.scenarios five-outcomes --out told"))[0] == 0


def test_the_phases_of_verify_find_what_they_read(installed: Path, tmp_path: Path) -> None:
    program = (
        "import json; from pathlib import Path\n"
        "from conformance.golden_stores import golden_stores\n"
        "from halfcheck.verify.parts import explained_store\n"
        "from halfcheck.verify.wrong_specifications import WRONG_SPECIFICATIONS, refused_specification\n"
        "store = next(store for store in golden_stores() if store.name == '5.3.3/five')\n"
        "refused = refused_specification(WRONG_SPECIFICATIONS[0], Path('work'))\n"
        "print(json.dumps([len(golden_stores()), explained_store(store).store, refused.command]))\n"
    )
    code, out, err = run(installed, tmp_path, "python", "-c", program)
    assert code == 0, err
    stores, name, refused = json.loads(out)
    assert stores == len(golden_stores())
    assert name == "5.3.3/five"
    assert refused.startswith("halfcheck diff conformance/golden/")


def test_what_writes_into_the_sources_says_that_it_needs_a_checkout(installed: Path, tmp_path: Path) -> None:
    said = "halfcheck: --update writes the project's sources and docs/: run it in a checkout, or give one with --folder"
    code, out, err = run(installed, tmp_path, "verdicts", "--update")
    assert (code, out, err) == (151, "", f"{said} DIR\n")
