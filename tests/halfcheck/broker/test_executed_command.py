"""A broker that runs a command: what it tells it, how both end, whose exit code it is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from halfcheck.errors import ExitCode
from tests.processes import is_over
from wire.control.order_answers import NO_VERDICT

BROKER = [sys.executable, "-m", "halfcheck", "broker", "--port", "0", "--clock", "virtual", "--json"]
UNRECORDED = ("--no-record",)
"""Of a broker whose verdict nobody asks for: to reach one takes longer than all else."""

COMMIT_ONE = """
import os
from tests.wire.one_producer import OneProducer
from wire.client.transactions import COMMIT
with OneProducer(os.environ["HALFCHECK_ADDRESS"]) as producer:
    producer.end(producer.half("order-7"), COMMIT)
    print(*producer.keys())
"""
GIVE = """
import json, os
from wire.control.controller import Controller
control = Controller(os.environ["HALFCHECK_CONTROL"], os.environ["HALFCHECK_TOKEN"])
"""


def executed(*words: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*BROKER, *options, "--exec", "--", *words], capture_output=True, text=True, check=False)


def in_python(program: str, *options: str) -> subprocess.CompletedProcess[str]:
    return executed(sys.executable, "-c", program, options=options)


@pytest.mark.parametrize("profile", ["5.1.0", "5.5.1"])  # 5.1.0 writes no batch as it stops (A43)
def test_a_command_finds_its_broker_and_a_commit_at_its_very_end_is_no_loss(profile: str) -> None:
    outcome = in_python(GIVE + "control.push_clock(500)" + COMMIT_ONE, "--profile", profile)
    assert (outcome.returncode, outcome.stdout) == (ExitCode.OK, "order-7\n")
    verdict = json.loads(outcome.stderr)
    assert (verdict["broken"], verdict["in_memory_at_the_stop"]) == ([], [])
    assert verdict["transactions"]["delivered"] == 1


def test_what_an_ordered_fault_broke_fails_no_command_and_is_said() -> None:
    outcome = in_python(COMMIT_ONE, "--order", "fault fault=double_end key=order-7")
    assert (outcome.returncode, outcome.stdout) == (ExitCode.OK, "order-7 order-7\n")
    verdict = json.loads(outcome.stderr.splitlines()[-1])
    assert "A13" in verdict["resembles"]
    (broken,) = verdict["broken"]
    assert (broken["property"], broken["ordered"]) == ("S1", ["fault double_end key=order-7"])


@pytest.mark.parametrize(("end", "code"), [("", ExitCode.BAD_OPTION), ("raise SystemExit(3)", 3)])
def test_a_fault_that_befell_nothing_fails_a_command_that_has_not_failed_itself(end: str, code: int) -> None:
    outcome = in_python(COMMIT_ONE + end, "--order", "fault fault=double_end key=order-77", "--no-record")
    assert (outcome.returncode, outcome.stdout) == (code, "order-7\n")
    answer = json.loads(outcome.stderr)
    Draft202012Validator(NO_VERDICT).validate(answer)
    (unused,) = answer["unused_faults"]
    assert unused["says"] == "fault double_end key=order-77 befell nothing; keys seen: order-7"


def test_a_command_may_stop_its_broker_and_goes_on() -> None:
    program = GIVE + "print(json.dumps(control.stop())); raise SystemExit(os.environ.get('HALFCHECK_GRPC_ADDRESS', 0))"
    outcome = in_python(COMMIT_ONE.replace("print", "str") + program)
    verdict = json.loads(outcome.stdout)
    assert verdict == json.loads(outcome.stderr)
    assert len(verdict["in_memory_at_the_stop"]) == 1
    assert outcome.returncode == ExitCode.SAFETY_VIOLATED


def test_a_command_finds_every_proxy() -> None:
    program = "import os; print(os.environ['HALFCHECK_GRPC_ADDRESS'], os.environ['HALFCHECK_GRPC_ADDRESSES'])"
    first, both = in_python(program, *UNRECORDED, "--grpc-port", "0", "--proxies", "2").stdout.split()
    assert both.split(";")[0] == first
    assert len(set(both.split(";"))) == 2


@pytest.mark.parametrize("program", ["/no/such/program", "/etc/passwd"])
def test_a_command_that_can_not_be_started_is_one_line(program: str) -> None:
    outcome = executed(program)
    assert (outcome.returncode, outcome.stdout) == (ExitCode.BAD_OPTION, "")
    assert outcome.stderr.startswith(f"halfcheck: --exec '{program}': ")
    assert outcome.stderr.count("\n") == 1


def started(
    folder: Path, trap: str, then: str = "while :; do sleep 0.05; done", *, options: tuple[str, ...] = UNRECORDED
) -> tuple[subprocess.Popen[str], int, int]:
    """A broker whose command has started a process in the background: the three of them."""
    told = folder / "told"
    script = f"{trap}; sleep 600 & echo $$ $! > {told}.new; mv {told}.new {told}; {then}"
    process = subprocess.Popen(
        [*BROKER, *options, "--exec", "--", "sh", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not told.exists():
        assert process.poll() is None
        time.sleep(0.01)
    command, behind = map(int, told.read_text(encoding="utf-8").split())
    return process, command, behind


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_reaches_the_command_and_nothing_is_left_of_it(number: signal.Signals, tmp_path: Path) -> None:
    trap = f"trap 'echo heard; exit 7' {number.name.removeprefix('SIG')}"
    process, command, behind = started(tmp_path, trap, options=())
    with process:
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (7, "heard\n")
    assert json.loads(err.splitlines()[-1])["broken"] == []
    assert is_over(command)
    assert is_over(behind)


def test_what_heeds_no_signal_is_killed_and_its_signal_is_the_exit_code(tmp_path: Path) -> None:
    process, command, behind = started(tmp_path, "trap '' TERM")
    with process:
        process.terminate()
        process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGKILL
    assert is_over(command)
    assert is_over(behind)


def test_what_a_command_leaves_running_is_ended_with_it(tmp_path: Path) -> None:
    process, _, behind = started(tmp_path, ":", "exit 0")
    with process:
        process.communicate(timeout=60)
    assert process.returncode == ExitCode.OK
    assert is_over(behind)


def test_a_command_has_the_terminal_and_ctrl_c_is_for_it() -> None:
    spawn = "import os, pty, sys; raise SystemExit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
    script = "trap 'echo caught; exit 9' INT; read line; echo got $line; while :; do sleep 0.05; done"
    words = [sys.executable, "-c", spawn, *BROKER, "--exec", "--", "sh", "-c", script]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        impatient = threading.Timer(60, process.kill)
        impatient.start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"order-7\n")
        said = b""
        while b"got order-7" not in said and (data := process.stdout.read(1_024)):
            said += data
        process.stdin.write(b"\x1a\x03")  # Ctrl-Z stops nobody
        said += process.stdout.read()
        impatient.cancel()
    assert b"caught" in said
    assert json.loads(said.splitlines()[-1])["broken"] == []
    assert process.returncode == 9


@pytest.mark.parametrize("options", [[], [*UNRECORDED, "--exec", "--", "sleep", "600"]])
def test_a_broker_ends_with_the_process_that_has_started_it(options: list[str], tmp_path: Path) -> None:
    verdict = tmp_path / "verdict"
    words = [*BROKER, "--exit-with-parent", *options]
    program = (
        f"import subprocess; print(subprocess.Popen({words!r}, stdout=open({str(verdict)!r}, 'w')).pid, flush=True)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program + "; input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with parent:
        assert parent.stdout is not None
        broker = int(parent.stdout.readline())
        if not options:
            while not verdict.read_text(encoding="utf-8"):
                time.sleep(0.01)
        else:
            while not _children(broker):
                time.sleep(0.01)
        commands = _children(broker)
        assert not is_over(broker)
        os.kill(parent.pid, signal.SIGKILL)
    end = time.monotonic() + 60  # a verdict takes seconds
    while not is_over(broker) and time.monotonic() < end:
        time.sleep(0.05)
    assert is_over(broker)
    assert all(map(is_over, commands))
    if not options:
        assert json.loads(verdict.read_text(encoding="utf-8").splitlines()[-1])["broken"] == []


def _children(pid: int) -> list[int]:
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()))
