"""The harness for real brokers, as far as it needs no jars: configuration, processes, what is kept."""

from __future__ import annotations

import gzip
import json
import shutil
import socket
import sys
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from conformance.errors import JavaError
from conformance.golden_stores import GoldenStore, golden_stores
from conformance.releases.jars import RELEASES, release_called
from conformance.releases.jvm import java_command
from real_brokers.errors import RealBrokerError
from real_brokers.loopback import Ports, Processes, free_ports, is_broker_known
from real_brokers.rocketmq.__main__ import main
from real_brokers.rocketmq.archive import archive_at_kill, archive_run
from real_brokers.rocketmq.configuration import RUN, conf_text, settings_of_conf, write_configuration
from real_brokers.rocketmq.scenarios import SCENARIOS
from wire.client.channel import Address
from wire.remoting.command import RESPONSE_FLAG, RemotingCommand, decode, encode
from wire.remoting.frames import FrameReader

if TYPE_CHECKING:
    from pathlib import Path

PORTS = Ports(20_000, 20_005, 20_006)
NOTHING_WRITTEN = "DEBUG OpBatch - Send op message queueIds=null\n"


# --- configuration ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("golden", golden_stores(), ids=lambda golden: golden.name)
def test_a_run_has_the_settings_of_the_golden_store_of_its_name(golden: GoldenStore) -> None:
    release = release_called(golden.version)
    settings = settings_of_conf(release, PORTS, SCENARIOS[golden.scenario].settings_for(release))
    recorded = dict(line.split("=", 1) for line in (golden.path / "broker.conf").read_text().splitlines())
    moved = {"listenPort", "haListenPort", "namesrvAddr", "bindAddress"} | {n for n in settings if "maped" in n}
    assert settings.items() - {(name, settings.get(name)) for name in moved} == {
        (name, value) for name, value in recorded.items() if name not in moved
    }


def test_a_changed_setting_wins_and_an_empty_one_is_left_out() -> None:
    settings = settings_of_conf(RELEASES["5.3.3"], PORTS, {"transactionTimeOut": "5", "waitTimeMillsInSendQueue": ""})
    assert settings["transactionTimeOut"] == "5"
    assert "waitTimeMillsInSendQueue" not in settings
    assert settings["bindAddress"] == "127.0.0.1"


@pytest.mark.parametrize("version", RELEASES)
def test_the_sizes_of_mapped_files_are_spelled_as_the_release_reads_them(version: str) -> None:
    settings = settings_of_conf(RELEASES[version], PORTS, {})
    assert ("mapedFileSizeCommitLog" in settings) == (version in {"4.3.2", "4.5.1"})
    assert settings["mappedFileSizeCommitLog"] == "1048576"


@pytest.mark.parametrize("name", ["listenPort", "namesrvAddr", "bindAddress", "storePathRootDir"])
def test_a_run_stays_in_its_folder_and_on_loopback(name: str) -> None:
    with pytest.raises(RealBrokerError, match=f"{name} is set by the run itself"):
        settings_of_conf(RELEASES["5.3.3"], PORTS, {name: "x"})


@pytest.mark.parametrize(("version", "binds"), [("4.9.7", False), ("5.4.0", True)])
def test_both_processes_find_their_files(version: str, binds: bool, tmp_path: Path) -> None:
    release = RELEASES[version]
    settings = settings_of_conf(release, PORTS, {})
    write_configuration(tmp_path, release, PORTS, settings)
    conf = (tmp_path / "broker.conf").read_text()
    assert f"storePathRootDir={tmp_path}/store\n" in conf
    assert RUN not in conf
    assert conf_text(settings) == conf.replace(str(tmp_path), RUN)
    named = (tmp_path / "namesrv.conf").read_text()
    assert named == f"listenPort=20000\n{'bindAddress=127.0.0.1' + chr(10) if binds else ''}"
    for process in ("broker", "namesrv"):
        shaded = (tmp_path / f"conf-{process}" / f"rmq.{process}.logback.xml").read_text()
        plain = (tmp_path / "conf" / f"logback_{process}.xml").read_text()
        assert f"{tmp_path}/{process}.log" in shaded
        assert shaded.replace("org.apache.rocketmq.logging.", "") == plain


# --- ports and processes ----------------------------------------------------------------------------------------------


def test_free_ports_are_free_and_leave_room_for_the_fast_one() -> None:
    ports = free_ports()
    wanted = [ports.name_server, ports.broker, ports.broker - 2, ports.high_availability]
    assert len(set(wanted)) == len(wanted)
    with ExitStack() as held:
        for port in wanted:
            one = held.enter_context(socket.socket())
            one.bind(("127.0.0.1", port))
            assert one.getsockname() == ("127.0.0.1", port)


@pytest.mark.parametrize(("code", "known"), [(0, True), (17, False), (None, False)])
def test_a_broker_is_known_when_the_name_server_has_its_route(code: int | None, known: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                asked = decode(next(iter(FrameReader().feed(connection.recv(4_096)))))
                assert asked.fields == {"topic": "TBW102"}
                if code is not None:
                    connection.sendall(encode(RemotingCommand(code, {}, b"", asked.opaque, RESPONSE_FLAG)))

        thread = threading.Thread(target=serve)
        thread.start()
        assert is_broker_known(Ports(server.getsockname()[1], 1, 2)) is known
        thread.join()


def test_no_process_outlives_its_run(tmp_path: Path) -> None:
    waits = "import time; print('boot success', flush=True); time.sleep(60)"
    with Processes(tmp_path, Address("127.0.0.1", 1)) as processes:
        started = processes.start("broker", [sys.executable, "-c", waits])
        processes.wait_until(lambda: "boot success" in processes.printed("broker"), "boot", started, "broker", 30)
        assert started.poll() is None
    assert started.poll() == -9


def test_a_process_that_does_not_get_ready_is_told_with_its_last_line(tmp_path: Path) -> None:
    with Processes(tmp_path, Address("127.0.0.1", 1)) as processes:
        died = processes.start("broker", [sys.executable, "-c", "print('Address already in use'); exit(3)"])
        with pytest.raises(
            RealBrokerError, match="broker ended with 3 and did not boot; it said last: Address already"
        ):
            processes.wait_until(lambda: False, "boot", died, "broker", 30)
        sleeps = processes.start("namesrv", [sys.executable, "-c", "import time; time.sleep(60)"])
        with pytest.raises(RealBrokerError, match=r"the namesrv did not boot in 0 s; it said last: nothing \("):
            processes.wait_until(lambda: False, "boot", sleeps, "namesrv", 0.1)
        assert processes.stop(sleeps, 30) == -15


def test_a_machine_without_java_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JavaError, match=f"no java at {tmp_path}/bin/java: a JDK 17 or newer is wanted"):
        java_command(tmp_path, "64m")
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(JavaError, match="no java at any place of PATH"):
        java_command(tmp_path, "64m")


# --- what is kept -----------------------------------------------------------------------------------------------------


def a_run(folder: Path) -> Path:
    """The folder of a run that is over."""
    for name, content in {
        "store/commitlog/00000000000000000000": b"ab\0\0",
        "store/commitlog/00000000000000000004": bytes(4),
        "store/consumequeue/T/0/00000000000000000000": b"\0\1" + bytes(58),
        "store/config/topics.json": b"{}",
        "store/config/topics.json.tmp": b"{",
        "archive/driver.jsonl": f'{{"ev":"begin","run":"{folder}"}}\n'.encode(),
        "transaction.log": ("first\n" + NOTHING_WRITTEN * 5 + "last\n").encode(),
        "broker.log": b"boot success\nsomething else\nan ERROR\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def unzipped(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode()


def test_a_store_is_kept_in_the_form_of_the_golden_ones(tmp_path: Path) -> None:
    run, out = a_run(tmp_path / "run"), tmp_path / "out" / "5.4.0" / "ten"
    archive_at_kill(run)
    for _ in range(2):
        archive_run(run, out, "listenPort=1\n", {"version": "5.4.0"})
    kept = {path.relative_to(out).as_posix(): path for path in sorted(out.rglob("*")) if path.is_file()}
    assert list(kept) == [
        "at_kill/commitlog/00000000000000000000",
        "at_kill/config/topics.json",
        "at_kill/config/topics.json.tmp",
        "broker.conf",
        "broker.grep.log.gz",
        "commitlog/00000000000000000000",
        "config/topics.json",
        "consumequeue/T/0/00000000000000000000",
        "driver.jsonl.gz",
        "meta.json",
        "transaction.log.gz",
    ]
    assert kept["commitlog/00000000000000000000"].read_bytes() == b"ab"
    assert kept["consumequeue/T/0/00000000000000000000"].read_bytes() == b"\0\1" + bytes(18)
    assert unzipped(kept["driver.jsonl.gz"]) == '{"ev":"begin","run":"@RUN@"}\n'
    assert unzipped(kept["transaction.log.gz"]) == f"first\n{NOTHING_WRITTEN * 3}last\n"
    assert unzipped(kept["broker.grep.log.gz"]) == "boot success\nan ERROR\n"
    assert json.loads(kept["meta.json"].read_text()) == {"version": "5.4.0", "empty_passes_of_the_batch_thread": 2}
    assert [path.name for path in out.parent.iterdir()] == ["ten"]


def test_of_a_run_that_left_no_store_nothing_is_kept(tmp_path: Path) -> None:
    run, out = a_run(tmp_path / "run"), tmp_path / "out" / "ten"
    shutil.rmtree(run / "store" / "config")
    with pytest.raises(FileNotFoundError):
        archive_run(run, out, "listenPort=1\n", {"version": "5.4.0"})
    assert list(out.parent.iterdir()) == []


# --- the command ------------------------------------------------------------------------------------------------------


def test_a_folder_that_is_no_store_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.txt").touch()
    assert main(["5.4.0", "ten", "--out", str(tmp_path)]) == 151
    assert capsys.readouterr().err.startswith(f"--out {tmp_path}: it is there and no store of such a run")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["5.9.9", "ten"], "no jars of RocketMQ '5.9.9' are known; there are 4.3.2, 4.5.1, "),
        (["5.4.0", "eleven"], "there is no scenario 'eleven'; there are ten, five, "),
        (["5.4.0"], "no scenario is given; there are ten, five, "),
        (["5.4.0", "ten", "--set", "x"], "--set x: not NAME=VALUE, such as transactionTimeOut=3000"),
    ],
)
def test_a_bad_name_is_one_line_with_what_there_is(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 151
    printed = capsys.readouterr()
    assert printed.err.startswith(complaint)
    assert printed.err.count("\n") == 1
    assert printed.out == ""
