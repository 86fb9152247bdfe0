"""`make example` carries out the README of the example project, which speaks of the tests that are there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.example.__main__ import BUILT, ENVIRONMENT, EXAMPLE, ROOT, require_the_wheel
from tests.example.readme_commands import Commands, PageIsWrongError, carry_out, commands_of

README = EXAMPLE / "README.md"
BLOCKS = list(commands_of(README.read_text(encoding="utf-8")))


def claims_of_the_example() -> set[str]:
    return {
        f"{path.name}::{name}"
        for path in EXAMPLE.glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }


def test_the_readme_builds_the_wheel_installs_it_and_runs_both_variants_and_each_language() -> None:
    assert [block.script.splitlines()[-1] for block in BLOCKS] == [
        'build/example/bin/pip install --quiet "$(ls build/dist/halfcheck-*.whl)[verdict]" pytest '
        "rocketmq-python-client==5.1.2",
        "../../../build/example/bin/pytest",
        "../../../build/example/bin/pytest --variant buggy",
        "go test -C docs/example/order_service/go -mod=mod -count=1 .",
    ]
    assert BLOCKS[0].script.splitlines()[0] == "make wheel"
    assert [block.fails for block in BLOCKS] == [False, False, True, False]
    assert Path("build/example") == ENVIRONMENT.relative_to(ROOT)


def test_the_readme_counts_the_tests_and_names_those_that_find_a_bug() -> None:
    there = claims_of_the_example()
    _, mended, buggy, _ = BLOCKS
    finding = {line.removeprefix("FAILED ") for line in buggy.prints[:-1]}
    assert finding < there
    assert {each.split("::")[0] for each in finding} == {"test_java.py", "test_go.py", "test_python.py"}
    assert mended.prints == (f"{len(there)} passed",)
    assert buggy.prints[-1] == f"{len(finding)} failed, {len(there) - len(finding)} passed"


def test_make_example_carries_out_the_readme() -> None:
    printed = subprocess.run(
        ["make", "--no-print-directory", "-n", "example"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert printed.splitlines()[-1].split()[-3:] == [".venv/bin/python", "-m", "tests.example"]


def test_what_is_built_is_removed_first_and_kept_out_of_the_repository() -> None:
    ignored = subprocess.run(
        ["git", "check-ignore", *map(str, BUILT)], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert ignored == [str(path) for path in BUILT]


@pytest.mark.parametrize(
    ("block", "said"),
    [
        (Commands("false\n", fails=False, prints=()), "ended with exit code 1, expected 0"),
        (Commands("false\ntrue\n", fails=False, prints=()), "ended with exit code 1, expected 0"),
        (Commands("true\n", fails=True, prints=()), "ended with exit code 0, expected 1"),
        (Commands("exit 5\n", fails=True, prints=()), "ended with exit code 5, expected 1"),
        (Commands("echo 6 passed\n", fails=False, prints=("7 passed",)), "did not print '7 passed'"),
    ],
)
def test_a_page_that_is_wrong_is_noticed(block: Commands, said: str, tmp_path: Path) -> None:
    with pytest.raises(PageIsWrongError, match=said):
        carry_out(block, tmp_path, os.environ)


def test_a_block_that_does_what_the_page_says_is_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    carry_out(Commands("pwd\nfalse\n", fails=True, prints=(str(tmp_path),)), tmp_path, os.environ)
    assert capfd.readouterr().out == f"{tmp_path}\n"


def test_a_halfcheck_of_the_checkout_is_not_taken_for_the_wheels() -> None:
    with pytest.raises(PageIsWrongError, match="where the wheel is installed"):
        require_the_wheel(Path(sys.executable), dict(os.environ))


def test_what_the_machine_lacks_is_an_error_of_one_line_and_nothing_is_skipped(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", str(tmp_path / "base")]
    done = subprocess.run(
        command, cwd=EXAMPLE, env={**os.environ, "PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    errors = {line.partition(" - ")[0] for line in done.stdout.splitlines() if line.startswith("ERROR ")}
    assert errors == {f"ERROR {each}" for each in claims_of_the_example()}
    assert done.stdout.splitlines()[-1].startswith(f"{len(errors)} errors in")
    assert "mvn is not on PATH: test_java.py builds the service with Maven 3; install it\n" in done.stdout
    pip = "pip install rocketmq-python-client==5.1.2"
    assert f"rocketmq is not installed: test_python.py wants {pip}\n" in done.stdout
    assert "go is not on PATH: test_go.py builds the service with Go 1.22 or newer; install it\n" in done.stdout
