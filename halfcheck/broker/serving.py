"""``halfcheck broker`` from its options to its verdict."""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import shlex
from contextlib import ExitStack
from typing import TYPE_CHECKING

import typer

from document.console import show
from files.temporary_folder import temporary_folder
from halfcheck.broker.broker_options import Clock
from halfcheck.broker.run_verdict import judge_run
from halfcheck.errors import ExitCode
from halfcheck.printing.broker import print_start, verdict_on
from halfcheck.printing.remarks import print_remarks
from model_check.releases import profile_for
from reference.format.broker_conf import BrokerConf, read_broker_conf
from reference.format.broker_conf_remarks import remarks_on_file
from reference.versions.versions import switches_of
from wire.control.controller import order_of_words
from wire.node.start import Start
from wire.service import Service, ServicePorts

if TYPE_CHECKING:
    from halfcheck.broker.broker_options import BrokerOptions
    from wire.service import ServiceAddresses


def serve(options: BrokerOptions) -> ExitCode:
    """Serve until it is told to stop, then say what the run broke."""
    _require_sound(options)
    release = _release_of(options)
    conf = BrokerConf() if options.broker_conf is None else read_broker_conf(options.broker_conf, release)
    orders = [order_of_words(shlex.split(text)) for text in options.order or ()]
    with ExitStack() as stack:
        temporary = stack.enter_context(temporary_folder())
        store = options.store or temporary / "store"
        trace = options.trace or (temporary / "trace.jsonl" if options.record else None)
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
        service = Service(
            start,
            ServicePorts(options.listen, options.port, options.control_port),
            trace,
            orders,
            lambda line: typer.echo(f"halfcheck: {line}", err=True),
        )

        def tell(told: ServiceAddresses) -> None:
            print_start(told, options.profile, options.store, as_json=options.json)

        node = asyncio.run(service.run(tell))
        if trace is None:
            return ExitCode.OK
        verdict = judge_run(trace, store, conf, start.release, node.answers)
    if options.json:
        print(json.dumps(verdict.to_json()), flush=True)
    else:
        show(verdict_on(verdict, options.trace))
    return ExitCode.SAFETY_VIOLATED if verdict.broken else ExitCode.OK


def _require_sound(options: BrokerOptions) -> None:
    if options.speed is not None and not (options.speed > 0 and math.isfinite(options.speed)):
        message = f"--speed {options.speed}: expected a number above 0; 1 is real time, --clock virtual stands still"
        raise typer.BadParameter(message)
    if options.speed is not None and options.clock is Clock.VIRTUAL:
        message = f"--speed {options.speed}: not with --clock virtual, which stands still; leave one of them out"
        raise typer.BadParameter(message)
    if options.token is not None and "HALFCHECK_TOKEN" not in os.environ:
        message = "--token: only with control; a broker makes its own and prints it"
        raise typer.BadParameter(message)
    if options.trace is not None and options.trace.exists() and not options.trace.is_file():
        kind = "a directory" if options.trace.is_dir() else "a device or a pipe"
        message = f"--trace {options.trace}: {kind}; give a file for the trace"
        raise typer.BadParameter(message)
    if options.at is not None:
        message = f"--at {options.at}: only with control; --port and --listen say where a broker listens"
        raise typer.BadParameter(message)
    try:
        switches_of(options.profile)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    profile_for(_release_of(options))


def _release_of(options: BrokerOptions) -> str:
    return re.split(r"[+-]", options.profile, maxsplit=1)[0]
