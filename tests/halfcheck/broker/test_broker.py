"""The command line of a broker on the wire: what it prints, what control answers, how it stops, what it refuses."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from document.console import show
from halfcheck.app import run
from halfcheck.commands.broker_control import lines_of_orders
from halfcheck.errors import ExitCode
from halfcheck.printing.broker import verdict_on
from halfcheck.run_verdict import RunVerdict
from tests.wire.one_producer import OneProducer
from tests.wire.proxy.one_grpc_client import OneGrpcClient, code_of
from wire.client.transactions import COMMIT
from wire.control.controller import Controller
from wire.control.orders import ORDERS
from wire.node.faults import Fault
from wire.proxy.protocol.messages import TransactionResolution

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def halfcheck(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "halfcheck", "broker", *words]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)


@contextmanager
def served(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """A broker of the command line, and what it has printed at its start."""
    command = [sys.executable, "-m", "halfcheck", "broker", "--port", "0", "--store", str(folder / "store"), "--json"]
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, json.loads(process.stdout.readline())
        finally:
            process.kill()


def test_a_grpc_client_is_served_at_a_port_of_its_own_and_told_off_at_the_other(tmp_path: Path) -> None:
    order = "topic name=Orders type=TRANSACTION"
    options = "--profile", "5.0.0", "--grpc-port", "0", "--clock", "virtual", "--order", order
    with served(tmp_path, *options) as (process, told):
        with OneGrpcClient(told["grpc_address"]) as client:
            client.be_producer()
            client.send("order-7")
            assert code_of(client.end("order-7", TransactionResolution.COMMIT)) == "OK"
        with OneGrpcClient(told["address"]) as lost, pytest.raises(grpc.RpcError):
            lost.send("order-8")
        process.terminate()
        out, err = process.communicate(timeout=60)
    assert json.loads(out)["transactions"]["delivered"] == 1
    assert "it speaks HTTP/2 (a gRPC client?), and RocketMQ's remoting protocol was expected; " in err
    assert "connect to the port of --grpc-port" in err


def test_two_proxies_are_told_and_take_orders_one_by_one(tmp_path: Path) -> None:
    order = "topic name=Orders type=TRANSACTION"
    options = "--grpc-port", "0", "--proxies", "2", "--clock", "virtual", "--order", order
    with served(tmp_path, *options) as (_, told):
        first, second = told["grpc_addresses"]
        assert told["grpc_address"] == first
        with OneGrpcClient(first) as client, OneGrpcClient(second) as other:
            client.send("order-7")
            assert code_of(other.end("order-7", TransactionResolution.COMMIT)) == "INTERNAL_SERVER_ERROR"
        at = "--at", told["control"], "--token", told["token"]
        assert json.loads(halfcheck("control", "drop-transaction-data", "proxy=1", *at).stdout)["dropped"] == 0
        assert json.loads(halfcheck("control", "drop-transaction-data", *at).stdout)["dropped"] == 1
        status = json.loads(halfcheck("control", "status", *at).stdout)
        assert [each["grpc_address"] for each in status["proxies"]] == [first, second]


def test_the_second_proxy_is_at_the_next_port(tmp_path: Path) -> None:
    port = next_two_free_ports()
    with served(tmp_path, "--grpc-port", str(port), "--proxies", "2") as (_, told):
        assert told["grpc_addresses"] == [f"127.0.0.1:{port}", f"127.0.0.1:{port + 1}"]


def next_two_free_ports() -> int:
    """The first of two ports, one behind the other, at which nobody listens."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = int(first.getsockname()[1])
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port


def test_a_release_without_a_proxy_is_refused_in_one_line() -> None:
    refused = halfcheck("--profile", "4.9.7", "--port", "0", "--grpc-port", "0")
    line = "halfcheck: --grpc-port with 4.9.7: RocketMQ's proxy came with 5.0.0; take a later --profile\n"
    assert (refused.returncode, refused.stderr) == (ExitCode.BAD_CONTENT, line)


def test_it_serves_obeys_control_and_says_in_the_end_what_was_broken(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    order = "fault fault=double_end key=order-7"
    conf = tmp_path / "broker.conf"
    conf.write_text("transactionTimeout=100\n", encoding="utf-8")
    options = "--profile", "5.3.3", "--clock", "virtual", "--trace", str(trace), "--order", order
    with served(tmp_path, *options, "--broker-conf", str(conf)) as (process, told):
        with OneProducer(told["address"]) as producer:
            producer.end(producer.half("order-7"), COMMIT)
            assert producer.keys() == ["order-7", "order-7"]
        control = "control", "push-clock", "ms=10000", "--at", told["control"]
        pushed = halfcheck(*control, HALFCHECK_TOKEN=told["token"])
        assert (pushed.returncode, pushed.stderr) == (ExitCode.OK, "")
        refused = halfcheck(*control, "--token", "wrong")
        assert refused.returncode == ExitCode.BAD_CONTENT
        assert refused.stderr.count("\n") == 1
        process.terminate()
        out, err = process.communicate(timeout=60)
        assert process.returncode == ExitCode.OK
        ignored = "transactionTimeout is no setting of 5.3.3, whose broker ignores it; did you mean transactionTimeOut?"
        nothing = "no line of it is a setting of the broker's, which takes its defaults: is it a broker.conf?"
        assert err == f"halfcheck: {conf}: line 1: {ignored}\nhalfcheck: {conf}: {nothing}\n"
    verdict = json.loads(out)
    assert [each["property"] for each in verdict["broken"]] == ["S1"]
    assert list(verdict["resembles"]) == ["A13"]
    assert verdict["transactions"]["doubled"] == 1
    assert "message_delivered" in trace.read_text(encoding="utf-8")
    compared = [sys.executable, "-m", "halfcheck", "diff", str(trace), "spec:5.3.3"]
    explained = subprocess.run(compared, capture_output=True, text=True, check=False)
    assert explained.returncode == ExitCode.OK, explained.stdout + explained.stderr


def test_clients_are_sent_elsewhere_and_orders_are_taken_everywhere_with_a_token_of_ones_own(tmp_path: Path) -> None:
    token = "ABCDEFGHIJKLMNOP"  # noqa: S105 - it opens this test's broker alone
    everywhere = "--control-listen", "0.0.0.0"  # noqa: S104 - as in a container
    options = "--advertise", "localhost:12345", *everywhere, "--token", token
    with served(tmp_path, "--clock", "virtual", *options) as (process, told):
        assert (told["address"], told["token"]) == ("localhost:12345", token)
        assert halfcheck("control", "status", HALFCHECK_CONTROL=told["control"], HALFCHECK_TOKEN=token).returncode == 0
        assert process.stdout is not None
        elsewhere = Controller(told["control"].replace("127.0.0.1", "127.0.0.2"), token)
        verdict = elsewhere.stop()
        assert json.loads(process.stdout.read()) == verdict
        assert process.wait(60) == ExitCode.OK


def test_a_store_is_one_brokers_and_is_gone_on_with(tmp_path: Path) -> None:
    options = "--profile", "4.9.7", "--clock", "virtual"
    with served(tmp_path, *options) as (process, told):
        second = halfcheck("--port", "0", "--store", str(tmp_path / "store"))
        assert second.returncode == ExitCode.BAD_CONTENT
        assert "another broker uses this store" in second.stderr
        with OneProducer(told["address"]) as producer:
            producer.end(producer.half("kept"), COMMIT)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert process.returncode == ExitCode.OK
    with served(tmp_path, *options) as (_, told), OneProducer(told["address"]) as producer:
        assert producer.keys() == ["kept"]


def test_of_a_run_that_stored_nothing_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    show(verdict_on(RunVerdict((), None, has_stored=False), None))
    assert capsys.readouterr().out.splitlines() == [
        "no guarantee was broken that a trace shows",
        "nothing was stored",
    ]
    show(verdict_on(RunVerdict((), None), None))
    assert "the run was long" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["start"], ExitCode.BAD_OPTION, "'start': expected nothing, or --exec -- and a command"),
        (["--exec"], ExitCode.BAD_OPTION, "--exec: the command is missing; it stands behind --"),
        (["control", "status"], ExitCode.BAD_OPTION, "--at HOST:PORT and --token TOKEN"),
        (["control", "fly", "--at", "127.0.0.1:1", "--token", "t"], ExitCode.BAD_OPTION, "'fly': expected one of"),
        (["control", "clear", "--at", "127.0.0.1:1", "--token", "t"], ExitCode.BAD_CONTENT, "no control port answers"),
        (["control", "crash", "now", "--at", "127.0.0.1:1"], ExitCode.BAD_OPTION, "'now': expected NAME=VALUE"),
        (["--profile", "6.0.0"], ExitCode.BAD_OPTION, "no version '6.0.0'"),
        (["--speed", "0"], ExitCode.BAD_OPTION, "--speed 0: expected a number above 0"),
        (["--speed", "nan"], ExitCode.BAD_OPTION, "--speed nan: expected a number above 0"),
        (["--speed", "inf"], ExitCode.BAD_OPTION, "--speed inf: expected a number above 0"),
        (["--speed", "1e12"], ExitCode.BAD_OPTION, "--speed 1e+12: expected a number above 0 and at most 100000"),
        (["--restart-ms", "1" + "0" * 30], ExitCode.BAD_OPTION, "should be less than or equal to 86400000"),
        (["--store", ""], ExitCode.BAD_OPTION, "Option '--store' requires an argument, and an empty text is none"),
        (["--listen="], ExitCode.BAD_OPTION, "Option '--listen' requires an argument, and an empty text is none"),
        (["--order", "topic name='T"], ExitCode.BAD_OPTION, "no closing quotation; expected an order and NAME=VALUE"),
        (["--speed", "10", "--clock", "virtual"], ExitCode.BAD_OPTION, "not with --clock virtual"),
        (["--token", "abc"], ExitCode.BAD_OPTION, "--token: 3 characters; give 16 or more, of letters, digits"),
        (["--token", "with a blank in it"], ExitCode.BAD_OPTION, "--token: 18 characters; give 16 or more, of letters"),
        (["--advertise", "9876"], ExitCode.BAD_OPTION, "--advertise '9876': expected HOST:PORT"),
        (["--advertise", "no.such.host.invalid:9876"], ExitCode.BAD_CONTENT, "clients can't be sent there"),
        (["--control-listen", "::1:0:"], ExitCode.BAD_CONTENT, "the control port can't listen there"),
        (
            ["--control-listen", "127.0.0.1:0"],
            ExitCode.BAD_OPTION,
            "--control-listen '127.0.0.1:0': expected HOST:PORT",
        ),
        (["--control-listen", "127.0.0.1:1", "--control-port", "2"], ExitCode.BAD_OPTION, "leave one out"),
        (["--no-record", "--trace", "t.jsonl"], ExitCode.BAD_OPTION, "not with --no-record"),
        (["--trace", "/dev/null"], ExitCode.BAD_OPTION, "--trace /dev/null: a device or a pipe; give a file"),
        (["--order", f"step_clock ms={10**30}"], ExitCode.BAD_OPTION, "a time between 1970 and 9999"),
        (["--store", "/etc/passwd"], ExitCode.BAD_CONTENT, "/etc/passwd: can't be a store directory: a file"),
        (["--store", "/etc/passwd/store"], ExitCode.BAD_CONTENT, "can't be a store directory: a file"),
        (["--order", "fault fault=fire"], ExitCode.BAD_OPTION, "fault: fault is 'fire', expected one of"),
        (["--listen", "192.0.2.77"], ExitCode.BAD_CONTENT, "can't listen there"),
        (["--at", "127.0.0.1:1"], ExitCode.BAD_OPTION, "No such option: --at"),
        (["--broker-conf", "missing.conf"], ExitCode.BAD_CONTENT, "missing.conf"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    words: list[str], code: ExitCode, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["broker", *words, *([] if "control" in words else ["--port", "0"])]) == code
    said = capsys.readouterr().err
    assert told in said
    assert said.count("\n") == 1


def test_the_help_has_every_order_with_what_it_takes() -> None:
    lines = lines_of_orders()
    shown = " ".join(halfcheck("control", "--help", COLUMNS="200").stdout.split())
    assert [line for line in lines if line not in shown] == []
    assert [line.partition(":")[0] for line in lines if "=" not in line.partition(":")[0]] == list(ORDERS)
    of_faults = {line.split()[1].partition("=")[0] for line in lines if line.startswith("fault ")}
    assert of_faults == {"fault", *(each.name for each in fields(Fault))} - {"kind"}
