"""The command line ends each run with the right exit code and says what went wrong in exactly one line."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import textwrap
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple, Protocol

import pytest

from halfcheck import __version__, app
from halfcheck.__main__ import main as load_and_run
from halfcheck.errors import ExitCode, one_line
from halfcheck.lazy_commands import summary_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

HEAVY = ("altair", "jinja2", "numba", "numpy", "pandas", "pyarrow", "pyspark")

EXAMPLE = '''
    """A command for the tests of the command line."""
    from enum import Enum
    import os
    from typing import Annotated
    import typer

    class Shape(Enum):
        ROUND = "round"
        SQUARE = "square"

    class FamilyError(Exception):
        exit_code = 150

    def command(
        store: Annotated[str, typer.Argument(help="The store.")],
        depth: Annotated[int, typer.Option(help="The depth.")] = 3,
        shape: Annotated[Shape, typer.Option(help="The shape.")] = Shape.ROUND,
    ) -> object:
        """Say one thing about a store.

        And then say more.

        Examples
        --------
        halfcheck example store --depth 4
        halfcheck example store --shape square
        """
        BODY
'''


class Outcome(NamedTuple):
    """What a run left behind."""

    exit_code: int
    out: str
    err: str

    def error_line(self) -> str:
        """The only line on stderr."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        return lines[0]


class Runner(Protocol):
    """Run a command line in this process."""

    def __call__(self, *arguments: str) -> Outcome: ...


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Runner:
    """Run a command line in this process."""

    def runner(*arguments: str) -> Outcome:
        exit_code = app.run(arguments)
        captured = capfd.readouterr()
        return Outcome(exit_code, captured.out, captured.err)

    return runner


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Make ``example`` the only command, with the given statement as its body."""

    def define(body: str) -> None:
        (tmp_path / "example_command.py").write_text(textwrap.dedent(EXAMPLE).replace("BODY", body))
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setattr(app._Commands, "modules", {"example": "example_command"})

    yield define
    sys.modules.pop("example_command", None)


def test_version_is_printed(run: Runner) -> None:
    assert run("--version") == (ExitCode.OK, f"halfcheck {__version__}\n", "")


def test_overview_lists_every_command_with_its_line(run: Runner) -> None:
    outcome = run("--help")
    assert (outcome.exit_code, outcome.err) == (ExitCode.OK, "")
    for name, module in app.COMMANDS.items():
        assert name in outcome.out
        assert summary_of(module)


def test_overview_shows_the_line_of_a_command_without_importing_it(run: Runner, example: Callable[[str], None]) -> None:
    example("return None")
    assert "Say one thing about a store." in run("--help").out
    assert "example_command" not in sys.modules


def test_a_command_that_is_called_reads_no_line_of_the_overview(
    run: Runner, example: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    example("return None")
    monkeypatch.setitem(app._Commands.modules, "absent", "absent_command")
    assert run("example", "store").exit_code == ExitCode.OK
    assert "the command module absent_command does not exist" in run("--help").error_line()


def test_help_of_every_command_has_an_example(run: Runner) -> None:
    for name in app.COMMANDS:
        outcome = run(name, "--help")
        assert (outcome.exit_code, outcome.err) == (ExitCode.OK, "")
        assert f"halfcheck {name}" in outcome.out.partition("Examples:")[2]
        assert "[[" not in outcome.out, "what may be left out stands in one pair of brackets"


def test_help_of_a_command_keeps_the_lines_of_its_examples(run: Runner, example: Callable[[str], None]) -> None:
    example("return None")
    lines = [line.strip() for line in run("example", "--help").out.splitlines()]
    assert "halfcheck example store --depth 4" in lines
    assert "halfcheck example store --shape square" in lines


def test_no_command_shows_the_overview_and_is_refused(run: Runner) -> None:
    outcome = run()
    assert outcome.exit_code == ExitCode.BAD_OPTION
    assert "Usage: halfcheck" in outcome.out
    assert outcome.error_line() == "halfcheck: a command is missing; see halfcheck --help"


def test_unknown_command_is_refused_and_the_nearest_one_named(run: Runner, example: Callable[[str], None]) -> None:
    example("return None")
    outcome = run("exampel")
    assert (outcome.exit_code, outcome.out) == (ExitCode.BAD_OPTION, "")
    assert outcome.error_line() == (
        "halfcheck: No such command 'exampel'. Did you mean 'example'? see halfcheck --help"
    )


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--wrong",), "--wrong"),
        (("example",), "Missing argument 'store'"),
        (("example", "store", "--wrong"), "--wrong"),
        (("example", "store", "--depth"), "--depth"),
        (
            ("example", "store", "--depth", "deep"),
            "'--depth': Input should be a valid integer, unable to parse string as an integer, not 'deep'; see",
        ),
        (("example", "store", "--shape", "flat"), "'flat' is not one of 'round', 'square'"),
        (("example", "store", "another"), "another"),
    ],
)
def test_what_the_parser_refuses_is_a_bad_option(
    run: Runner, example: Callable[[str], None], arguments: tuple[str, ...], named: str
) -> None:
    example("return None")
    outcome = run(*arguments)
    assert (outcome.exit_code, outcome.out) == (ExitCode.BAD_OPTION, "")
    assert named in outcome.error_line()


@pytest.mark.parametrize(
    ("body", "exit_code"),
    [
        ("return None", 0),
        ("return 12", 12),
        ("raise typer.Exit(13)", 13),
        ("raise FamilyError('bad magic')", 150),
        ("open('/no/such/file')", 150),
        ("raise ZeroDivisionError", 255),
        ("raise KeyboardInterrupt", 130),
        ("raise typer.BadParameter('too deep')", 151),
        ("bytearray(1 << 62)", 151),
    ],
)
def test_exit_code_follows_what_the_command_did(
    run: Runner, example: Callable[[str], None], body: str, exit_code: int
) -> None:
    example(body)
    assert run("example", "store").exit_code == exit_code


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("raise FamilyError('store/commitlog/0:\\n bad magic 0xdead')", "store/commitlog/0: bad magic 0xdead"),
        ("open('/no/such/file')", "/no/such/file: No such file or directory; name one that is there"),
        ("open('/')", "/: Is a directory; name a file"),
        ("open('/dev/null/x')", "/dev/null/x: Not a directory; name a path whose folders are folders"),
        ("raise KeyboardInterrupt", "interrupted"),
        ("1 / 0", "unexpected ZeroDivisionError: division by zero (set HALFCHECK_DEBUG=1 to see where)"),
    ],
)
def test_an_exception_is_one_line_without_a_traceback(
    run: Runner, example: Callable[[str], None], body: str, line: str
) -> None:
    example(body)
    assert run("example", "store").error_line() == f"halfcheck: {line}"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("bytearray(1 << 62)", "no more was to be had"),
        ("__import__('numpy').empty(1 << 55)", "Unable to allocate 256. PiB for an array with shape"),
    ],
)
def test_what_does_not_fit_into_the_memory_is_one_line_that_says_what_to_do(
    run: Runner, example: Callable[[str], None], body: str, told: str
) -> None:
    example(body)
    line = run("example", "store").error_line()
    assert line.startswith(f"halfcheck: the memory is not enough: {told}")
    assert line.endswith(" MB in use; take a smaller instance, trace or file, fewer --threads, or give it more memory")


def test_debugging_shows_the_traceback_before_the_line(
    run: Runner, example: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALFCHECK_DEBUG", "1")
    example("1 / 0")
    lines = run("example", "store").err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1].startswith("halfcheck: unexpected ZeroDivisionError")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "the command module example_command does not exist"),
        ("def other() -> None: ...", "example_command has no function 'command' with a docstring"),
        ("def command() -> None: ...", "example_command has no function 'command' with a docstring"),
    ],
)
def test_a_line_in_the_table_needs_a_documented_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str | None, message: str
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    if source is not None:
        (tmp_path / "example_command.py").write_text(source)
    with pytest.raises(LookupError, match=message):
        summary_of("example_command")


def test_importing_the_command_line_loads_nothing_heavy() -> None:
    program = f"import sys, halfcheck.app; print([name for name in {HEAVY} if name in sys.modules])"
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "[]"


def test_the_module_is_the_command() -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "halfcheck", "--wrong"], capture_output=True, text=True, check=False
    )
    assert finished.returncode == ExitCode.BAD_OPTION
    assert finished.stderr.startswith("halfcheck: No such option: --wrong")


def run_example_in_a_process(tmp_path: Path, body: str) -> subprocess.Popen[str]:
    """Start ``example`` in a process of its own, which Ctrl-C reaches even if the tests run in the background."""
    (tmp_path / "example_command.py").write_text(textwrap.dedent(EXAMPLE).replace("BODY", body))
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from halfcheck import app; app._Commands.modules = {'example': 'example_command'}; "
        "sys.argv = ['halfcheck', 'example', 'store']; app.main()"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_ctrl_c_ends_a_process_with_one_line(tmp_path: Path) -> None:
    process = run_example_in_a_process(tmp_path, "print('running', flush=True); import time; time.sleep(60)")
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (ExitCode.INTERRUPTED, "", "halfcheck: interrupted\n")


def test_a_reader_that_leaves_ends_a_process_in_silence(tmp_path: Path) -> None:
    process = run_example_in_a_process(tmp_path, "[print('line') for _ in range(100_000)]")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.wait(timeout=120) == ExitCode.OUTPUT_CLOSED
    assert process.stderr.read() == ""
    process.stderr.close()


def in_a_shell(script: str) -> tuple[int, str]:
    """The exit code and stderr of a shell line in which $H is the command line; of a pipe, that of its first part."""
    command = f"set -o pipefail; unset PYTHONUNBUFFERED; H='{sys.executable} -m halfcheck'; {script}"
    finished = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=120)
    return finished.returncode, finished.stderr


REPLAYED = "replay --instance tiny --steps 'send_half t=0 immunity=-1'"


@pytest.mark.parametrize(
    ("script", "exit_code"),
    [
        (f"$H {REPLAYED} | true", ExitCode.OUTPUT_CLOSED),  # Rich's table
        (f"$H {REPLAYED} --json | true", ExitCode.OUTPUT_CLOSED),  # print
        ("$H check --help | true", ExitCode.OUTPUT_CLOSED),  # Typer's own
        (f"$H {REPLAYED} 2>&1 | true", ExitCode.OUTPUT_CLOSED),
        (f"$H {REPLAYED} >&-", ExitCode.OK),
        (f"$H {REPLAYED} 2>&- >/dev/null", ExitCode.OK),
        (f"$H {REPLAYED} <&- >/dev/null", ExitCode.OK),
        ("$H check --profile 9 2>&-", ExitCode.BAD_OPTION),
        ("$H check --profile 9 2>/dev/full", ExitCode.BAD_OPTION),
    ],
)
def test_a_closed_or_broken_stream_neither_changes_the_answer_nor_makes_a_noise(script: str, exit_code: int) -> None:
    assert in_a_shell(script) == (exit_code, "")


def test_an_error_is_told_also_when_the_reader_of_the_answer_has_left() -> None:
    exit_code, err = in_a_shell("$H check --profile 9 | true")
    assert (exit_code, err.startswith("halfcheck: no profile '9'")) == (ExitCode.BAD_OPTION, True), err


def test_a_full_disk_is_one_line() -> None:
    line = "halfcheck: No space left on device: standard output, or a disk that is written to, is full\n"
    assert in_a_shell(f"$H {REPLAYED} >/dev/full") == (ExitCode.OTHER, line)


def test_ctrl_c_while_python_loads_the_command_line_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def pressed(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.__import__", pressed)
    with pytest.raises(SystemExit) as left:
        load_and_run()
    monkeypatch.undo()
    assert (left.value.code, capsys.readouterr().err) == (ExitCode.INTERRUPTED, "halfcheck: interrupted\n")


def test_a_full_disk_is_named_by_what_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system does not say which file it was: Python's error of a write has no name in it."""
    monkeypatch.setenv("HALFCHECK_CACHE", str(tmp_path / "kept"))
    rooms = {tmp_path: 4096}
    seen = os.statvfs("/")

    def statvfs(path: Path) -> SimpleNamespace:
        free = rooms.get(path, 1 << 30)
        return SimpleNamespace(f_bavail=free // seen.f_frsize, f_frsize=seen.f_frsize)

    monkeypatch.setattr(os, "statvfs", statvfs)
    line = one_line(OSError(errno.ENOSPC, "No space left on device"))
    assert line == (
        f"No space left on device: no room is left in {tmp_path / 'kept'} (HALFCHECK_CACHE, where compiled code and "
        "finished searches are kept)"
    )
    rooms.clear()
    assert one_line(OSError(errno.ENOSPC, "No space left")).endswith("or a disk that is written to, is full")
    assert one_line(OSError(errno.ENOSPC, "No space left", "rows.csv")) == "No space left: rows.csv"


@pytest.mark.parametrize(
    "of_the_terminal",
    [{"PYTHONIOENCODING": "ascii"}, {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}],
    ids=["ascii", "C"],
)
def test_a_terminal_of_another_encoding_ends_no_command(of_the_terminal: dict[str, str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONIOENCODING"} | of_the_terminal
    words = [sys.executable, "-m", "halfcheck", "defects"]
    finished = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    assert "affected ? fixed" in finished.stdout


def test_verify_asks_for_java_before_anything_else(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/dev/null")
    outcome = run("verify", "--traces", "960", "--out", "new")
    assert (outcome.exit_code, outcome.out) == (ExitCode.BAD_OPTION, "")
    assert outcome.error_line().startswith("halfcheck: Spark needs Java 17 or newer, and JAVA_HOME is /dev/null")


@pytest.mark.parametrize(
    ("option", "exit_code", "words"),
    [
        (
            ("--traces", "8"),
            ExitCode.BAD_OPTION,
            "--traces 8: give at least 12, one for each profile in each environment",
        ),
        (("--traces", "-3"), ExitCode.BAD_OPTION, "--traces -3: give at least 12"),
        (("--out", "/dev/null/sub"), ExitCode.BAD_CONTENT, "/dev/null: not a folder"),
    ],
)
def test_verify_refuses_before_it_begins(run: Runner, option: tuple[str, str], exit_code: ExitCode, words: str) -> None:
    outcome = run("verify", *option)
    assert (outcome.exit_code, outcome.out) == (exit_code, "")
    assert words in outcome.error_line()


def test_what_the_parser_refuses_names_the_help_of_its_command(run: Runner, example: Callable[[str], None]) -> None:
    example("return None")
    assert run("example", "store", "--depth").error_line().endswith("; see halfcheck example --help")


def test_an_option_is_no_value_of_another_one(run: Runner) -> None:
    outcome = run("check", "--faults", "--profile", "5.3.3")
    assert (outcome.exit_code, outcome.error_line()) == (
        ExitCode.BAD_OPTION,
        "halfcheck: Option '--faults' requires an argument, and --profile is none; see halfcheck check --help",
    )
    assert "'--profile'" not in run("check", "--json", "--profile", "no").error_line()


@pytest.mark.parametrize("words", [("--reading", "z3"), ("--reading=z3",)])
def test_an_option_of_another_name_is_refused_by_a_line_that_gives_the_new_one(
    run: Runner, words: tuple[str, ...]
) -> None:
    outcome = run("check", *words)
    assert (outcome.exit_code, outcome.error_line()) == (
        ExitCode.BAD_OPTION,
        "halfcheck: --reading is called --engine since 0.2.0; see halfcheck check --help",
    )
    assert run("audit", *words).error_line().startswith("halfcheck: No such option: --reading")


def test_a_flag_shows_no_type_in_the_help(run: Runner) -> None:
    assert not [words for words in ((), ("audit",), ("check",)) if "<bool>" in run(*words, "--help").out]
    assert "<path>" in run("audit", "--help").out


@pytest.mark.parametrize("option", ["--report", "--out"])
def test_a_place_that_takes_no_files_is_named_before_an_audit(run: Runner, option: str) -> None:
    outcome = run("audit", "no-store", option, "/dev/null/sub/it")
    assert (outcome.exit_code, outcome.out) == (ExitCode.BAD_CONTENT, "")
    assert outcome.error_line() == (
        f"halfcheck: {option} /dev/null/sub/it: /dev/null/sub can't be written to; name another place"
    )


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("simulate", "--traces", "9" * 23, "--out"), f"halfcheck: --traces {'9' * 23}: expected at most"),
        (
            ("simulate", "--traces", "5", "--steps", "9" * 23, "--out"),
            f"halfcheck: --steps {'9' * 23}: expected at most 1,000,000",
        ),
        (("audit", "no-store", "--report"), "is a directory; give a file; see halfcheck audit --help"),
    ],
)
def test_a_slip_is_refused_before_anything_is_done(
    run: Runner, tmp_path: Path, words: tuple[str, ...], line: str
) -> None:
    outcome = run(*words, str(tmp_path))
    assert (outcome.exit_code, list(tmp_path.iterdir())) == (ExitCode.BAD_OPTION, [])
    assert line in outcome.error_line()
