"""rocketmq-rust beside RocketMQ: how it is built, schedules that are compared, and the page of what was seen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from halfcheck.errors import ExitCode
from real_brokers.loopback import Ports
from real_brokers.rocketmq_rust.__main__ import main
from real_brokers.rocketmq_rust.broker import SETTINGS, broker_toml
from real_brokers.rocketmq_rust.crates import BROKER, CRATES, NAME_SERVER, CargoError, built, install_command
from real_brokers.rocketmq_rust.difference import DifferenceStep, RustDifference, staged
from real_brokers.rocketmq_rust.differences import DIFFERENCES
from real_brokers.rocketmq_rust.observations import Observations, read_observations, write_observations
from real_brokers.rocketmq_rust.page import PAGE, page_of
from real_brokers.rocketmq_rust.stage import Stage
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.processes import ends
from tests.wire.probe.own_broker import own_broker
from wire.probe.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wire.client.channel import Address

SHORT = {"transactionTimeOut": 500, "transactionCheckInterval": 200}
NEEDS_ITS_PROCESS = "stop-behind-a-commit"
"""What our broker's process would have to end for, in which this test runs."""


@pytest.fixture(scope="module")
def our_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    with own_broker("5.5.0", tmp_path_factory.mktemp("broker"), **SHORT) as address:
        yield address


def staged_on(address: Address, difference: RustDifference) -> list[tuple[str, str, str]]:
    """The steps that were answered in another way than RocketMQ does."""
    stage = Stage(address, longest_s=10.0)
    try:
        result = staged(difference, stage)
    finally:
        stage.close()
    return [(step.done, step.rocketmq, step.answer) for step in result.steps if step.differs]


# --- building and configuration ---------------------------------------------------------------------------------------


def test_a_crate_is_built_with_its_own_lock_file_into_the_projects_folder(tmp_path: Path) -> None:
    assert install_command("/bin/cargo", BROKER, tmp_path) == [
        "/bin/cargo",
        "install",
        "--debug",
        "--locked",
        "--root",
        str(tmp_path),
        "--target-dir",
        str(tmp_path / "target"),
        "rocketmq-broker@1.0.0",
    ]


def test_without_cargo_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("real_brokers.rocketmq_rust.__main__.built", lambda: built(tmp_path))
    monkeypatch.setattr("real_brokers.rocketmq_rust.__main__.PAGE", tmp_path / "page.md")
    monkeypatch.setattr("real_brokers.rocketmq_rust.__main__.OBSERVATIONS", tmp_path / "observations.json")
    assert main(["--difference", "word-true"]) == ExitCode.BAD_CONTENT
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        "no cargo at any place of PATH: rocketmq-namesrv@1.0.0 is built by Rust 1.95 or newer; install"
    )
    assert not (tmp_path / "page.md").exists()


def cargo_that(folder: Path, does: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a cargo first on PATH that notes each call and does something."""
    program = folder / "cargo"
    program.write_text(f'#!/bin/sh\necho "$CARGO_PROFILE_DEV_DEBUG $*" >> "{folder}/calls"\n{does}\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_what_is_built_is_kept_and_what_is_of_another_release_is_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "built"
    programs = " ".join(f"{root}/bin/{crate.program}" for crate in CRATES)
    cargo_that(tmp_path, f"mkdir -p {root}/bin; touch {programs}", monkeypatch)
    assert built(root) == root / "bin"
    calls = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    assert [call.split()[0] for call in calls] == ["0", "0"]
    assert [call.split()[-1] for call in calls] == ["rocketmq-namesrv@1.0.0", "rocketmq-broker@1.0.0"]
    built(root)
    assert (tmp_path / "calls").read_text(encoding="utf-8").splitlines() == calls
    (root / "bin" / f"{NAME_SERVER.program}.release").write_text("0.9.0\n", encoding="utf-8")
    built(root)
    assert (tmp_path / "calls").read_text(encoding="utf-8").splitlines() == [*calls, calls[0]]


def test_a_build_that_fails_is_one_line_and_leaves_nothing_that_counts_as_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cargo_that(tmp_path, "exit 101", monkeypatch)
    with pytest.raises(
        CargoError, match=r"^cargo ended with 101 for rocketmq-namesrv@1\.0\.0 .*; a further try goes on"
    ):
        built(tmp_path / "built")
    assert not (tmp_path / "built").exists()


def test_a_build_that_is_interrupted_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cargo_that(tmp_path, f'sleep 600 & echo $! > "{tmp_path}/compiler"; wait', monkeypatch)
    text = "from real_brokers.command_line import *; from real_brokers.rocketmq_rust.crates import *; import sys\n"
    text += "sys.exit(exit_code_after(lambda: built(Path(sys.argv[1]))))"
    running = subprocess.Popen([sys.executable, "-c", text, str(tmp_path / "built")], stderr=subprocess.DEVNULL)
    compiler = tmp_path / "compiler"
    while not (compiler.exists() and compiler.read_text(encoding="utf-8").strip()):
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    assert running.wait(20) == ExitCode.INTERRUPTED
    assert ends(int(compiler.read_text(encoding="utf-8")))


def test_the_broker_listens_on_loopback_only_and_has_the_settings_that_were_asked_for(tmp_path: Path) -> None:
    toml = tomllib.loads(broker_toml(tmp_path, Ports(7001, 7010, 7020), {**SETTINGS, "transactionTimeOut": "1234"}))
    broker, store = toml["broker"], toml["store"]
    assert (broker["brokerIp1"], broker["namesrvAddr"]) == ("127.0.0.1", "127.0.0.1:7001")
    assert broker["brokerServerConfig"]["bindAddress"] == "127.0.0.1"
    assert (store["haListenAddress"], store["haListenPort"]) == ("127.0.0.1", 7020)
    assert (broker["listenPort"], broker["transactionTimeout"], broker["transactionCheckInterval"]) == (
        7010,
        1234,
        1000,
    )
    assert (store["fileReservedTime"], store["storePathRootDir"]) == (48, f"{tmp_path}/store")


# --- the schedules ----------------------------------------------------------------------------------------------------


def test_each_difference_is_a_schedule_of_at_most_twenty_steps_that_names_its_sources() -> None:
    assert len({each.name for each in DIFFERENCES}) == len(DIFFERENCES)
    assert all(0 < len(each.steps) <= 20 for each in DIFFERENCES)
    assert all(any(step.source for step in each.steps) for each in DIFFERENCES)


def test_each_clause_that_is_named_is_one_of_the_guarantees() -> None:
    clauses = {f"{each.identifier}.{each.clause}" for each in TRANSACTIONAL_MESSAGES.clauses}
    known = clauses | {each.partition(".")[0] for each in clauses}
    named = {name for each in DIFFERENCES for name in (*each.breaks, *each.keeps)}
    assert named
    assert named <= known


@pytest.mark.parametrize(
    "difference",
    [each for each in sorted(DIFFERENCES, key=lambda each: each.is_last) if each.name != NEEDS_ITS_PROCESS],
    ids=lambda each: each.name,
)
def test_our_broker_answers_as_is_said_of_rocketmq(our_broker: Address, difference: RustDifference) -> None:
    assert staged_on(our_broker, difference) == []


def test_an_answer_that_is_not_rocketmqs_is_seen(our_broker: Address) -> None:
    (word_true,) = (each for each in DIFFERENCES if each.name == "word-true")
    wrong = replace(word_true.steps[2], rocketmq="in its own topic")
    steps = (*word_true.steps[:2], wrong, *word_true.steps[3:])
    assert staged_on(our_broker, replace(word_true, steps=steps)) == [
        ("look where A is", "in its own topic", "in the half topic")
    ]


def test_what_can_not_be_done_is_an_answer_and_the_schedule_goes_on(our_broker: Address) -> None:
    difference = replace(
        DIFFERENCES[0],
        steps=(
            DifferenceStep("commit what was never sent", lambda stage: stage.end("A", 8), "code 1"),
            DifferenceStep("a heartbeat", Stage.connect, "code 0"),
        ),
    )
    assert staged_on(our_broker, difference) == [
        ("commit what was never sent", "code 1", "could not be done: 'A'"),
    ]


# --- what is kept, and the page ---------------------------------------------------------------------------------------


def test_the_page_is_that_of_what_was_seen() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_of(read_observations())


def test_all_scenarios_were_played_and_all_schedules_staged_on_both() -> None:
    observations = read_observations()
    assert list(observations.plays) == list(SCENARIOS)
    assert [each.name for each in DIFFERENCES if observations.of(each) is None] == []
    assert [each.name for each in DIFFERENCES if observations.of_rocketmq(each) is None] == []


def test_a_real_rocketmq_answered_each_schedule_as_is_said_of_it() -> None:
    observations = read_observations()
    assert {each.name: each for each in observations.rocketmq.values() if each.is_seen} == {}


def test_what_is_kept_comes_back_as_it_was(tmp_path: Path) -> None:
    observations = read_observations()
    write_observations(observations, tmp_path / "observations.json")
    assert read_observations(tmp_path / "observations.json") == observations
    assert read_observations(tmp_path / "none.json") == Observations()


def test_an_answer_to_another_form_of_a_schedule_is_not_shown() -> None:
    observations = read_observations()
    seen = observations.staged["word-true"]
    told = (*seen.steps[:-1], replace(seen.steps[-1], rocketmq="code 7"))
    observations.staged["word-true"] = replace(seen, steps=told)
    text = page_of(observations)
    assert "## word-true" not in text
    assert "- word-true: not staged" in text


def test_an_answer_that_differs_stands_out_on_the_page() -> None:
    observations = read_observations()
    seen = observations.staged["word-true"]
    assert "| look where B is | in the half topic | **in its own topic** |" in page_of(observations)
    observations.staged["word-true"] = replace(
        seen, steps=tuple(replace(step, answer=step.rocketmq) for step in seen.steps)
    )
    assert "- word-true: every step was answered as by RocketMQ" in page_of(observations)


def test_a_scenario_that_is_refused_names_its_event_and_the_profile_loses_it() -> None:
    observations = Observations()
    play = {"schedule": "twice", "explained": False, "events": [1, 2], "missed": None, "broken": [], "reason": None}
    divergence = {"event": 2, "text": "op_stored", "guard": "record: no", "nearest": ["nothing else"]}
    observations.add_play({**play, "divergence": None, "explained": True, "faults": {}}, ["5.3.3", "5.5.0"])
    observations.add_play({**play, "divergence": divergence}, ["5.5.0"])
    text = page_of(observations)
    assert "In `twice`, event 2 (op_stored) is refused: record: no. Allowed were: nothing else." in text
    assert observations.fitting == {"5.3.3": [], "5.5.0": ["twice"]}
    assert "| 5.3.3 | 0 of 1 | twice |" in text
