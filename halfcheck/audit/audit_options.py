"""The options of ``halfcheck audit``; there are too many for one signature."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from halfcheck.options import Conf

Topics = Annotated[list[str] | None, typer.Option("--topic", help="Only of this real topic; repeatable.")]
Groups = Annotated[list[str] | None, typer.Option("--group", help="Only of this producer group; repeatable.")]
States = Annotated[str, typer.Option("--state", metavar="STATE,…", help="Only in one of these states: lost,doubled.")]
Since = Annotated[
    str | None,
    typer.Option(
        "--since", metavar="TIME", help="Only with a record since then: 2026-03-01T10:00, or so long ago: 2h."
    ),
]
Keys = Annotated[
    list[str] | None,
    typer.Option("--transaction", "--key", metavar="ID", help="Only this UNIQ_KEY, or one of its KEYS; repeatable."),
]
FailOn = Annotated[
    str | None,
    typer.Option(
        metavar="WHAT,…",
        help="States that make the exit code 12, and damage, which makes it 150; what is not named makes it 0.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """What a command line asks for."""

    store_dir: Annotated[
        Path, typer.Argument(metavar="STORE_DIR", help="The store: the directory with commitlog/ in it.")
    ]
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False
    everything: Annotated[
        bool, typer.Option("--all", help="List the plainly delivered and rolled back transactions too.")
    ] = False
    limit: Annotated[int, typer.Option(min=0, help="How many transactions to list at most, without --all.")] = 1000
    version: Annotated[
        str | None, typer.Option(help="The version that wrote the store, for example 5.3.3; inferred if not given.")
    ] = None
    broker_conf: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Take the broker's settings from this file, not from the store's."),
    ] = None
    commit_log: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="A folder of the log, if it lies elsewhere; several times for several paths."),
    ] = None
    out: Annotated[Path | None, typer.Option(help="A new directory for the rows of all transactions, as Parquet.")] = (
        None
    )
    csv: Annotated[Path | None, typer.Option(help="A file for the rows as CSV, lists and times as text.")] = None
    resend: Annotated[
        Path | None,
        typer.Option(help="A file for what nobody will deliver or roll back any more, where it stands, who decides."),
    ] = None
    topics: Topics = None
    groups: Groups = None
    states: States = ""
    since: Since = None
    keys: Keys = None
    fail_on: FailOn = None
    report: Annotated[Path | None, typer.Option(help="A file for a page with the counts and the gravest rows.")] = None
    master: Annotated[
        str | None,
        typer.Option(help="The Spark master. If not given, a store below 64 MB needs no Spark, others all cores here."),
    ] = None
    conf: Conf = None
    work: Annotated[
        Path | None, typer.Option(help="Where Spark's tasks keep their files; a killed audit goes on from there.")
    ] = None
