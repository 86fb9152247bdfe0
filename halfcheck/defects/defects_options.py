"""The options of ``halfcheck defects``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from halfcheck.options import AsJson


@dataclass(frozen=True, slots=True, kw_only=True)
class DefectsOptions:
    """What a command line asks for."""

    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WORD",
            help="B01, S1.immune_half, settles_once, 5.3.3, 'delivered twice', 重复消费; none: all defects.",
        ),
    ] = None
    search: Annotated[
        bool, typer.Option("--search", help="Search for every defect again; with ids, this is done in any case.")
    ] = False
    play: Annotated[
        bool,
        typer.Option("--play", help="Play each scenario on the reference broker; with ids, this is done in any case."),
    ] = False
    version: Annotated[str | None, typer.Option(metavar="X.Y.Z", help="Only what this release has, such as 5.3.3.")] = (
        None
    )
    threads: Annotated[int, typer.Option(min=1, max=64, help="Threads of the compiled search.")] = 1
    as_json: AsJson = False
