"""The options of ``halfcheck broker``; there are too many for one signature."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from halfcheck.options import USUAL_PROFILE, AsJson, ProfileName, Seed


class Clock(Enum):
    """How the broker's clock goes."""

    REAL = "real"
    VIRTUAL = "virtual"


Words = Annotated[
    list[str] | None,
    typer.Argument(metavar="control ORDER NAME=VALUE", help="Give an order to a broker that runs, see --at."),
]
Port = Annotated[int, typer.Option(min=0, max=65_535, help="The port of broker and name server; 0 is any.")]
Listen = Annotated[str, typer.Option(metavar="ADDRESS", help="The address that clients connect to.")]
ControlPort = Annotated[int, typer.Option(min=0, max=65_535, help="The control port, on 127.0.0.1; 0 is any.")]
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
RestartMs = Annotated[int, typer.Option(min=0, help="Real milliseconds from a crash to the next process.")]
At = Annotated[str | None, typer.Option(metavar="HOST:PORT", help="With control: the control port that was printed.")]
Token = Annotated[
    str | None,
    typer.Option(envvar="HALFCHECK_TOKEN", metavar="TOKEN", help="With control: the token that was printed."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerOptions:
    """What a command line asks for."""

    words: Words = None
    profile: ProfileName = USUAL_PROFILE
    port: Port = 9876
    listen: Listen = "127.0.0.1"
    control_port: ControlPort = 0
    store: Store = None
    broker_conf: Conf = None
    speed: Speed = None
    clock: ClockKind = Clock.REAL
    seed: Seed = 7
    order: Orders = None
    trace: TraceFile = None
    record: Records = True
    restart_ms: RestartMs = 300
    at: At = None
    token: Token = None
    json: AsJson = False
