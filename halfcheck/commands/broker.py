"""``halfcheck broker``: the reference broker on the wire, for the tests of whoever uses RocketMQ."""

from __future__ import annotations

import asyncio
import json
import os
import re
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from files.temporary_folder import temporary_folder
from halfcheck.errors import ExitCode
from halfcheck.options import USUAL_PROFILE, AsJson, ProfileName, Seed
from wire.node.surroundings import MOST_PROXIES

if TYPE_CHECKING:
    from wire.service import ServiceAddresses, ServicePorts


class Clock(Enum):
    """How the broker's clock goes."""

    REAL = "real"
    VIRTUAL = "virtual"


_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/=-]{16,}")
"""What stands in a header behind ``Bearer`` (RFC 6750), and is too long to be guessed."""

Words = Annotated[
    list[str] | None, typer.Argument(metavar="-- COMMAND", help="With --exec: the command to run, and its arguments.")
]
Exec = Annotated[
    bool, typer.Option("--exec", help="Run the command behind --, and stop when it ends; its stdout is its own.")
]
ExitWithParent = Annotated[
    bool, typer.Option("--exit-with-parent", help="Stop when the process that has started this one is gone.")
]
Port = Annotated[int, typer.Option(min=0, max=65_535, help="The port of broker and name server; 0 is any.")]
GrpcPort = Annotated[
    int | None,
    typer.Option(min=0, max=65_535, help="Besides, a port for gRPC clients, as RocketMQ's proxy has one; 0 is any."),
]
Proxies = Annotated[
    int | None,
    typer.Option(
        min=1, max=MOST_PROXIES, help="So many proxies in cluster mode, from --grpc-port on; else one in local mode."
    ),
]
Listen = Annotated[str, typer.Option(metavar="ADDRESS", help="The address that clients connect to.")]
Advertise = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="Where clients are sent to, if not there: before a port that is mapped."),
]
ControlPort = Annotated[int | None, typer.Option(min=0, max=65_535, help="The control port; any if left out.")]
ControlListen = Annotated[
    str, typer.Option(metavar="HOST[:PORT]", help="The address that orders are taken at, with its port or without.")
]
Token = Annotated[
    str | None,
    typer.Option(envvar="HALFCHECK_TOKEN", metavar="TOKEN", help="What orders must show; drawn if left out."),
]
Store = Annotated[
    Path | None, typer.Option(metavar="DIR", help="The store; without it a temporary one, gone when it stops.")
]
Conf = Annotated[Path | None, typer.Option(metavar="FILE", help="The broker's settings; else the release's defaults.")]
Speed = Annotated[
    float | None, typer.Option(help="How many seconds of the broker's clock are a real one; 1 if left out.")
]
ClockKind = Annotated[Clock, typer.Option(help="virtual: only the control port moves the clock.")]
Orders = Annotated[
    list[str] | None,
    typer.Option("--order", metavar="ORDER", help="Carry out at the start, as control takes it; may be repeated."),
]
TraceFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Keep what was recorded in this file.")]
Records = Annotated[bool, typer.Option("--record/--no-record", help="Record, and say in the end what the run broke.")]
RestartMs = Annotated[
    int, typer.Option(min=0, max=86_400_000, help="Real milliseconds from a crash to the next process.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerOptions:
    """The options; there are too many for one signature."""

    words: Words = None
    exec: Exec = False
    exit_with_parent: ExitWithParent = False
    profile: ProfileName = USUAL_PROFILE
    port: Port = 9876
    grpc_port: GrpcPort = None
    proxies: Proxies = None
    listen: Listen = "127.0.0.1"
    advertise: Advertise = None
    control_port: ControlPort = None
    control_listen: ControlListen = "127.0.0.1"
    token: Token = None
    store: Store = None
    broker_conf: Conf = None
    speed: Speed = None
    clock: ClockKind = Clock.REAL
    seed: Seed = 7
    order: Orders = None
    trace: TraceFile = None
    record: Records = True
    restart_ms: RestartMs = 300
    json: AsJson = False


def command(options: BrokerOptions) -> int:
    """Serve real clients: a broker and name server of any release, whose time and faults a test decides.

    Unmodified RocketMQ clients connect to the address that is printed, as to a name server. Topics are made when they
    are sent to, checks go out, retries and dead letters come, and the store is one that a real broker opens. --speed 60
    lets 15 checks of 30 s pass in 8 s; with --clock virtual time stands still until an order lets it pass.

    Clients that speak gRPC (rocketmq-clients: Java 5, Python, Node.js, Go v5, Rust and so on) connect to --grpc-port,
    as to RocketMQ's proxy. Their topics must be there before: --order "topic name=Orders type=TRANSACTION" makes one.
    The proxy is in the broker's process (local mode); --proxies 2 puts two of its cluster mode before the broker.

    It stops on Ctrl-C or SIGTERM, in the order in which its release stops, and then says which guarantees the run
    broke, and which known defects its transactions resemble. The exit code is 12 if something was broken that no
    ordered fault explains, else 151 if an ordered fault befell nothing, as under a mistyped key, else 0.

    With --exec it runs a command, and stops when that ends. HALFCHECK_ADDRESS, HALFCHECK_GRPC_ADDRESS (with --proxies
    HALFCHECK_GRPC_ADDRESSES, too), HALFCHECK_CONTROL and HALFCHECK_TOKEN say where the broker is, and
    HALFCHECK_OPTIONS what it was started with. The verdict comes on stderr then, with --json as its last line. The
    exit code is the command's if it failed, else as above.

    halfcheck broker control gives orders to a broker that runs, and --order the same at the start;
    halfcheck broker control --help lists them. docs/broker.md has more of each, and of the kinds of faults.

    Examples
    --------
    halfcheck broker --profile 5.3.3
    halfcheck broker --port 0 --exec -- mvn test
    halfcheck broker --profile 4.9.7 --port 0 --store /tmp/store --broker-conf broker.conf --speed 60
    halfcheck broker --clock virtual --order "fault fault=double_end key=order-7" --trace trace.jsonl
    halfcheck broker --grpc-port 8081 --order "topic name=Orders type=TRANSACTION"
    halfcheck broker control round --at 127.0.0.1:41234 --token TOKEN
    """
    return _serve(options)


def _serve(options: BrokerOptions) -> int:
    """Serve until it is told to stop, then say what the run broke."""
    from halfcheck.extras import VERDICT, MissingLibrariesError, missing
    from halfcheck.printing.broker import print_start, print_unjudged, print_verdict
    from halfcheck.printing.remarks import print_remarks
    from halfcheck.run_verdict import JudgedRun, UnjudgedRun
    from halfcheck.serving.executed_command import ExecutedCommand
    from halfcheck.serving.served_run import ServedRun
    from reference.format.broker_conf import BrokerConf, read_broker_conf
    from reference.format.broker_conf_remarks import remarks_on_file
    from wire.control.controller import order_of_line
    from wire.node.start import Start
    from wire.service import Service, allow_many_files

    parent = os.getppid()
    _require_sound(options)
    allow_many_files()
    release, lacking = _release_of(options), missing(VERDICT) if options.record else []
    conf = BrokerConf() if options.broker_conf is None else read_broker_conf(options.broker_conf, release)
    orders = [order_of_line(text) for text in options.order or ()]
    with ExitStack() as stack:
        temporary = stack.enter_context(temporary_folder())
        store = options.store or temporary / "store"
        trace = options.trace or (temporary / "trace.jsonl" if options.record and not lacking else None)
        start = Start.of(
            options.profile,
            store,
            options.broker_conf,
            speed=(options.speed or 1.0) if options.clock is Clock.REAL else None,
            seed=options.seed,
            restart_ms=options.restart_ms,
        )
        if options.broker_conf is not None:
            print_remarks(options.broker_conf, remarks_on_file(options.broker_conf, start.release))
        run_end: JudgedRun | UnjudgedRun
        if not options.record:
            run_end = UnjudgedRun("--no-record was given", is_unwanted=True)
        elif trace is None or lacking:
            run_end = UnjudgedRun(str(MissingLibrariesError(lacking, VERDICT)))
        else:
            run_end = JudgedRun(trace, store, conf, start.release)
        service = Service(
            start,
            _ports(options),
            trace,
            orders,
            token=options.token,
            say=_say,
            judge=run_end.as_answer,
        )

        def announce(addresses: ServiceAddresses) -> None:
            if not options.exec:
                print_start(addresses, options.profile, options.store, as_json=options.json)

        run = ServedRun(
            service,
            ExecutedCommand(options.words) if options.exec and options.words else None,
            parent if options.exit_with_parent else None,
            json.dumps(_in_force(options)),
        )
        node = asyncio.run(run.until_it_ends(announce))
        is_broken = False
        if isinstance(run_end, JudgedRun):
            verdict = run_end.verdict(node)
            is_broken = bool(verdict.unexplained)
            print_verdict(verdict, options.trace, as_json=options.json, stderr=options.exec)
        else:
            print_unjudged(run_end, node, as_json=options.json, stderr=options.exec)
    return run.exit_code or _code_of(is_broken=is_broken, is_in_vain=bool(node.ordered.unused))


def _in_force(options: BrokerOptions) -> dict[str, str | None]:
    """By name the options that a test may ask its broker for, in words of a command line; None where any value fits."""
    in_force: dict[str, str | None] = dict.fromkeys(("--port", "--control-port", "--json", "--exit-with-parent"))
    in_force |= {"--profile": options.profile, "--clock": options.clock.value, "--seed": str(options.seed)}
    in_force |= {"--restart-ms": str(options.restart_ms)}
    if options.clock is Clock.REAL:
        in_force["--speed"] = f"{options.speed or 1:g}"
    if options.grpc_port is not None:
        in_force["--grpc-port"] = None
    if options.proxies is not None:
        in_force["--proxies"] = str(options.proxies)
    if options.broker_conf is not None:
        in_force["--broker-conf"] = str(options.broker_conf)
    return in_force


def _code_of(*, is_broken: bool, is_in_vain: bool) -> ExitCode:
    """What CI acts on: something was broken that nobody ordered, or what was ordered befell nothing.

    Examples
    --------
    >>> int(_code_of(is_broken=True, is_in_vain=True)), int(_code_of(is_broken=False, is_in_vain=True))
    (12, 151)
    """
    if is_broken:
        return ExitCode.SAFETY_VIOLATED
    return ExitCode.BAD_OPTION if is_in_vain else ExitCode.OK


def _say(line: str) -> None:
    with suppress(OSError):  # whoever started the broker may read no more
        typer.echo(f"halfcheck: {line}", err=True)


def _ports(options: BrokerOptions) -> ServicePorts:
    """Where it listens, and where clients are sent to; `typer.BadParameter` for what is no address."""
    from wire.client.channel import Address
    from wire.service import ServicePorts

    control_host, control_port = options.control_listen, options.control_port or 0
    try:
        if _has_port(options.control_listen):
            option = "--control-listen"
            control = Address.of(options.control_listen)
            if options.control_port is not None:
                message = f"{option} {control} names the port, and so does --control-port {control_port}; leave one out"
                raise typer.BadParameter(message)
            control_host, control_port = control.host, control.port
        if options.advertise is not None:
            option = "--advertise"
            Address.of(options.advertise)
    except ValueError as error:
        message = f"{option} {error}"
        raise typer.BadParameter(message) from None
    return ServicePorts(
        options.listen,
        options.port,
        control_host=control_host.strip("[]"),
        control_port=control_port,
        grpc_port=options.grpc_port,
        proxies=options.proxies,
        advertised=options.advertise or "",
    )


def _has_port(address: str) -> bool:
    """Whether an address has a port behind it; an IPv6 address has colons of its own.

    Examples
    --------
    >>> [_has_port(address) for address in ("0.0.0.0", "0.0.0.0:4711", "::1", "[::1]", "[::1]:4711")]
    [False, True, False, False, True]
    """
    return address.count(":") == 1 or "]:" in address


def _require_sound(options: BrokerOptions) -> None:
    from model_check.releases import profile_for
    from reference.versions.versions import switches_of
    from wire.node.pace import MOST_SPEED

    if options.words and not options.exec:
        message = f"{options.words[0]!r}: expected nothing, or --exec -- and a command"
        raise typer.BadParameter(message)
    if options.exec and not options.words:
        message = "--exec: the command is missing; it stands behind --, as in --exec -- mvn test"
        raise typer.BadParameter(message)
    if options.speed is not None and not 0 < options.speed <= MOST_SPEED:
        message = f"--speed {options.speed:g}: expected a number above 0 and at most {MOST_SPEED}; 1 is real time"
        raise typer.BadParameter(message)
    if options.speed is not None and options.clock is Clock.VIRTUAL:
        message = f"--speed {options.speed}: not with --clock virtual, which stands still; leave one of them out"
        raise typer.BadParameter(message)
    if options.token is not None and not _TOKEN.fullmatch(options.token):
        message = f"--token: {len(options.token)} characters; give 16 or more, of letters, digits and any of -._~+/="
        raise typer.BadParameter(message)
    if options.trace is not None and not options.record:
        message = f"--trace {options.trace}: not with --no-record, which records nothing; leave one of them out"
        raise typer.BadParameter(message)
    if options.trace is not None and options.trace.exists() and not options.trace.is_file():
        kind = "a directory" if options.trace.is_dir() else "a device or a pipe"
        message = f"--trace {options.trace}: {kind}; give a file for the trace"
        raise typer.BadParameter(message)
    try:
        switches_of(options.profile)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    profile_for(_release_of(options))


def _release_of(options: BrokerOptions) -> str:
    return re.split(r"[+-]", options.profile, maxsplit=1)[0]
