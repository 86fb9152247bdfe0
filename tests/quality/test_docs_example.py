"""The commands on the example page write the files that it shows, byte by byte, and the files do what it says."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.tlc import run_tlc
from halfcheck.app import run
from halfcheck.errors import ExitCode

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "example-counterexample.md"
EXAMPLE = DOCS / "example"
ANOTHER = EXAMPLE / "order_service"

pytestmark = pytest.mark.usefixtures("compiled_instance")


@pytest.fixture(params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def block(language: str) -> str:
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return str(text)


def contents(folder: Path) -> dict[str, bytes]:
    files = (f for f in sorted(folder.rglob("*")) if f.is_file() and ANOTHER not in f.parents)
    return {str(f.relative_to(folder)): f.read_bytes() for f in files}


def test_the_commands_of_the_page_write_the_files_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    codes = [run(shlex.split(line)[1:]) for line in block("sh").splitlines()]
    assert codes == [ExitCode.SAFETY_VIOLATED, ExitCode.OK, ExitCode.SAFETY_VIOLATED]
    written = contents(tmp_path)
    assert written.pop("b01.mmd").decode() == block("mermaid")
    assert written.keys() == contents(EXAMPLE).keys()
    differing = [name for name, content in contents(EXAMPLE).items() if written[name] != content]
    assert differing == [], "run the commands of the page in docs/example, and put the text of b01.mmd into the page"


def test_the_replay_shows_the_violation_from_the_stored_trace(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", str(EXAMPLE / "b01.itf.json")]) == ExitCode.SAFETY_VIOLATED
    told = capsys.readouterr().out
    assert "S1.immune_half is violated" in told
    assert "transaction[0].deliveries: 1 → 2" in told


def test_the_stored_test_is_green(tmp_path: Path) -> None:
    shutil.copy(EXAMPLE / "test_b01.py", tmp_path)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        "test_b01.py",
    ]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert told.returncode == 0, told.stdout
    assert "1 passed" in told.stdout


@pytest.mark.sweep
def test_tlc_finds_the_violation_in_the_stored_module_in_15_steps(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE / "tla", tmp_path / "tla")
    told = run_tlc(tmp_path / "tla", "TransactionalMessages")
    assert (told.violated, len(told.trace)) == ("S1_immune_half", 15)


def test_every_file_of_the_example_is_linked_and_the_page_is_in_the_index() -> None:
    links = set(re.findall(r"\]\(example/([^)]*)\)", PAGE.read_text(encoding="utf-8")))
    assert links == set(contents(EXAMPLE))
    assert "](example-counterexample.md)" in (DOCS / "index.md").read_text(encoding="utf-8")
