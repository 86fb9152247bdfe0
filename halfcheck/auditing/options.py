"""The options of ``halfcheck audit``, and what they ask for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from files.remote_path import location
from halfcheck.errors import ExitCode
from halfcheck.options import AccessKey, AclFile, Conf, SecretKey, TlsAuthorities, UseTls, names_in

if TYPE_CHECKING:
    from files.remote_path import Location
    from spark_trace_analysis.audit.audit import Audit
    from spark_trace_analysis.audit.rules.state import TransactionState
    from spark_trace_analysis.audit.selection import Selection

else:
    Location = Any  # Typer takes what the parser of an option gives, and knows no unions

DAMAGE: Final = "damage"

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
    """The options; there are too many for one signature."""

    store_dir: Annotated[
        Location | None,
        typer.Argument(parser=location, metavar="STORE_DIR", help="The store: the directory with commitlog/ in it."),
    ] = None
    broker: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT,…", help="Running brokers instead, which are read over the network, and only read."
        ),
    ] = None
    namesrv: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="The same: the master of each group that this name server knows."),
    ] = None
    cluster: Annotated[str | None, typer.Option(metavar="NAME", help="Of --namesrv: only of this cluster.")] = None
    rate: Annotated[
        float, typer.Option(min=0.1, metavar="MB", help="Read at most so many MB a second from a running broker.")
    ] = 20.0
    access_key: AccessKey = None
    secret_key: SecretKey = None
    acl_file: AclFile = None
    tls: UseTls = False
    tls_ca: TlsAuthorities = None
    copy: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="With --broker: keep what was read in this new directory, a partial store."),
    ] = None
    watch: Annotated[
        str | None, typer.Option(metavar="DURATION", help="Look again and again, so often: 30s. Prints what is new.")
    ] = None
    lasts: Annotated[
        str | None, typer.Option("--for", metavar="DURATION", help="With --watch: end after so long; else with Ctrl-C.")
    ] = None
    hanging: Annotated[
        str, typer.Option(metavar="DURATION", help="With --watch: tell what is pending for longer than that.")
    ] = "10m"
    metrics_port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65_535, help="With --watch: serve OpenMetrics on this port of 127.0.0.1; 0: a free one."
        ),
    ] = None
    state_dir: Annotated[
        Path | None,
        typer.Option(
            "--memory", metavar="DIR", help="With --watch: where it keeps what it knows, to go on from; else the cache."
        ),
    ] = None
    remember: Annotated[
        int, typer.Option(min=1, metavar="COUNT", help="With --watch: so many settled transactions are known again.")
    ] = 1_000_000
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --broker: write a plan of what may be done about parked, lost and pending halves.",
        ),
    ] = None
    yes: Annotated[
        bool, typer.Option("--yes", help="With --plan: send what is decided in FILE, one by one; nothing is audited.")
    ] = False
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table; of a watch, a line each.")] = (
        False
    )
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
    out: Annotated[
        Location | None,
        typer.Option(parser=location, help="A new directory for the rows of all transactions, as Parquet."),
    ] = None
    csv: Annotated[
        Location | None, typer.Option(parser=location, help="A file for the rows as CSV, lists and times as text.")
    ] = None
    resend: Annotated[
        Location | None,
        typer.Option(
            parser=location,
            help="A file for what nobody will deliver or roll back any more, where it stands, who decides.",
        ),
    ] = None
    findings: Annotated[
        Location | None,
        typer.Option(
            parser=location,
            help="A Parquet file with a row for each state, defect and cause found of a transaction.",
        ),
    ] = None
    topics: Topics = None
    groups: Groups = None
    states: States = ""
    since: Since = None
    keys: Keys = None
    fail_on: FailOn = None
    report: Annotated[
        Location | None, typer.Option(parser=location, help="A file for a page with the counts and the gravest rows.")
    ] = None
    master: Annotated[
        str | None,
        typer.Option(help="The Spark master. If neither it nor --conf is given, threads of this process do the work."),
    ] = None
    conf: Conf = None
    work: Annotated[
        Location | None,
        typer.Option(parser=location, help="Where tasks keep their files; a killed audit goes on from there."),
    ] = None

    @property
    def selecting(self) -> tuple[tuple[str, object], ...]:
        """The options that select transactions, each with what was given."""
        return (
            ("--topic", self.topics), ("--group", self.groups), ("--state", self.states), ("--since", self.since),
            ("--transaction", self.keys),
        )  # fmt: skip

    @property
    def files(self) -> tuple[tuple[str, Location | None], ...]:
        """Those that name a file for an answer."""
        return (
            ("--report", self.report), ("--csv", self.csv), ("--resend", self.resend), ("--findings", self.findings),
        )  # fmt: skip

    @property
    def of_stores(self) -> tuple[tuple[str, object], ...]:
        """Those that only an audit of a store takes."""
        return (
            ("--broker-conf", self.broker_conf), ("--commit-log", self.commit_log), ("--master", self.master),
            ("--conf", self.conf), ("--work", self.work), ("--out", self.out),
        )  # fmt: skip


def refuse(given: tuple[tuple[str, object], ...], why: str) -> None:
    """Raise `typer.BadParameter` if one of some options was given."""
    for option, value in given:
        if value:
            message = f"{option} {value}: {why}"
            raise typer.BadParameter(message)


def selection_of(options: AuditOptions) -> Selection:
    """The selection that the options give; raises `BadOptionError`."""
    from spark_trace_analysis.audit import selection
    from spark_trace_analysis.errors import BadOptionError

    if any(not key.strip() for key in options.keys or ()):
        message = "--transaction '': expected a UNIQ_KEY or one of the KEYS"
        raise BadOptionError(message)
    return selection.Selection(
        topics=tuple(options.topics or ()),
        groups=tuple(options.groups or ()),
        states=selection.states_called("--state", names_in(options.states)) if options.states else (),
        since_ms=None if options.since is None else selection.since(options.since, datetime.now(UTC)),
        keys=tuple(options.keys or ()),
    )


@dataclass(frozen=True, slots=True)
class Failing:
    """The findings that make the exit code another than 0: states of transactions that are asked for, and damage."""

    states: tuple[TransactionState, ...] = ()
    damage: bool = True

    @classmethod
    def of(cls, text: str | None) -> Failing:
        """The findings that ``--fail-on`` names; without it damage fails, and no state does; `BadOptionError`."""
        from spark_trace_analysis.audit.selection import states_called

        if text is None:
            return cls()
        names = names_in(text)
        others = [name for name in names if name != DAMAGE]
        states = states_called("--fail-on", others, besides=(DAMAGE,)) if others or not names else ()
        return cls(states, DAMAGE in names)

    def exit_code(self, audit: Audit) -> ExitCode:
        """0, or what was found of that which is to fail: transactions that are asked for come before damage."""
        if any(audit.asked_for.holding[state] for state in self.states):
            return ExitCode.SAFETY_VIOLATED
        return ExitCode.BAD_CONTENT if audit.damage and self.damage else ExitCode.OK
