"""``halfcheck audit``: what became of every transaction in a real store."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Final

import typer

from document.console import show, wide_console
from files.durations import duration, read_duration
from files.writing import what_is_no_file
from halfcheck.errors import ExitCode
from halfcheck.options import (
    AccessKey,
    AclFile,
    Conf,
    SecretKey,
    TlsAuthorities,
    UseTls,
    broker_address,
    names_in,
    print_json,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from halfcheck.plan.plan import BrokerPlan
    from halfcheck.running_broker import BrokerAudit
    from spark_trace_analysis.audit.audit import Audit
    from spark_trace_analysis.audit.rules.state import TransactionState
    from spark_trace_analysis.audit.selection import Selection
    from wire.client.channel import Address

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
        Path | None, typer.Argument(metavar="STORE_DIR", help="The store: the directory with commitlog/ in it.")
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
        typer.Option(help="The Spark master. If neither it nor --conf is given, threads of this process do the work."),
    ] = None
    conf: Conf = None
    work: Annotated[
        Path | None, typer.Option(help="Where tasks keep their files; a killed audit goes on from there.")
    ] = None


def command(options: AuditOptions) -> ExitCode:
    """Say which transactions in a RocketMQ store are lost, doubled, parked or pending.

    Reads commitlog/, and consumequeue/ and config/ if they are there; a broker.conf in the store or beside it is used,
    also for where the log lies: several paths, another disk, DLedger's folder.
    What is lost or doubled does not change the exit code: this is a report; --fail-on lost,doubled makes it 12. Damaged
    records do: the table shows what could be read, the damage is listed with it, and the exit code is 150.

    --broker asks a running broker instead, and only reads. Then it also says when each pending half is checked next and
    discarded, and whether a producer of its group is connected.

    --watch looks again and again, at a broker or at a store that grows, reads only what is new, and tells each
    transaction once that is doubled, parked, lost or unknown, or hangs. It goes on from where the last watch ended.

    --plan FILE writes what may be done besides: RESUME_CHECK_HALF_MESSAGE of parked halves, END_TRANSACTION of lost and
    pending ones, with what must be made sure before, and which guarantees each may break. Nothing is sent. Decide in
    the file; --plan FILE --yes sends what is decided, and writes each answer into it.

    --topic, --group, --state, --since and --transaction leave what is listed, and what --csv, --resend and --fail-on
    take; --out always has all rows.

    Examples
    --------
    halfcheck audit /home/rocketmq/store
    halfcheck audit conformance/golden/5.3.3/late --all --json
    halfcheck audit /backup/store --version 4.9.7 --limit 20
    halfcheck audit /home/rocketmq/store --commit-log /disk1/commitlog --commit-log /disk2/commitlog
    halfcheck audit /backup/store --out rows --report audit.html
    halfcheck audit /home/rocketmq/store --since 2h --fail-on lost,doubled,damage
    halfcheck audit /home/rocketmq/store --state lost,parked --csv rows.csv --resend resend.csv
    halfcheck audit /home/rocketmq/store --transaction order-4711
    halfcheck audit --broker 10.0.0.5:10911
    halfcheck audit --broker 10.0.0.5:10911 --watch 30s --metrics-port 9877
    halfcheck audit --broker 10.0.0.5:10911 --plan plan.json
    halfcheck audit --broker 10.0.0.5:10911 --plan plan.json --yes
    halfcheck audit --namesrv 10.0.0.4:9876 --cluster orders --acl-file conf/tools.yml --json
    halfcheck audit /mnt/shared/store --master spark://10.0.0.5:7077 --out /mnt/shared/rows
    """
    from conformance.golden_stores import golden_path
    from halfcheck.printing.remarks import print_remarks_of_store
    from halfcheck.whole_store import audited
    from model_check.releases import profile_for
    from reference.format.broker_conf import find_broker_conf

    selection = _selection_of(options)
    failing = Failing.of(options.fail_on)
    if options.version is not None:
        profile_for(options.version)
    if options.watch is not None:
        return _watched(options, failing)
    if options.broker is not None or options.namesrv is not None:
        return _of_brokers(options, selection, failing)
    of_brokers = options.copy, options.cluster, options.plan, options.yes or None
    if options.store_dir is None or any(given is not None for given in of_brokers):
        message = (
            "give STORE_DIR, or --broker HOST:PORT or --namesrv HOST:PORT (and --copy, --plan, --yes and --cluster "
            "with those alone)"
        )
        raise typer.BadParameter(message)
    store_dir = golden_path(options.store_dir)
    _require_places(options, store_dir)
    from spark_trace_analysis.audit.row_files import RowFiles

    files = RowFiles(csv_path=options.csv, resend_path=options.resend, selection=selection)
    audit = audited(
        store_dir,
        options.version,
        options.out,
        options.work,
        options.master,
        options.conf or (),
        options.broker_conf,
        options.commit_log or (),
        everything=options.everything,
        limit=options.limit,
        row_files=files,
    )
    if options.report is not None:
        from html_report.audit_page import write_audit_page

        write_audit_page(audit, options.report, options.limit)
    if options.as_json:
        print_json(audit.to_json(everything=options.everything, limit=options.limit))
    else:
        from halfcheck.printing.audit import audit_in_words

        width = wide_console().width
        show(audit_in_words(audit, width, everything=options.everything, limit=options.limit))
    print_remarks_of_store(
        options.broker_conf or find_broker_conf(store_dir), audit.version, is_sure=options.version is not None
    )
    if audit.corrupt:
        more = f" (and {audit.damage - 1} more)" if audit.damage > 1 else ""
        typer.echo(f"halfcheck: {store_dir}: {audit.corrupt[0]}{more}", err=True)
    return failing.exit_code(audit)


def _watched(options: AuditOptions, failing: Failing) -> ExitCode:
    """Look at brokers or a store until the watch ends; the exit code is that of the states that were told."""
    from conformance.golden_stores import golden_path
    from halfcheck.watched_brokers import WatchOptions, watch
    from halfcheck.watching.sources import BrokerSource, GrowingStore
    from reference.format.store_paths import store_paths

    for option, given in (
        ("--copy", options.copy), ("--plan", options.plan), ("--yes", options.yes), ("--master", options.master),
        ("--conf", options.conf), ("--work", options.work),
        ("--out", options.out), ("--csv", options.csv), ("--resend", options.resend), ("--report", options.report),
        ("--topic", options.topics), ("--group", options.groups), ("--state", options.states),
        ("--since", options.since), ("--transaction", options.keys),
    ):  # fmt: skip
        if given:
            message = f"{option}: a watch tells what is new of all transactions; leave out {option}, or --watch"
            raise typer.BadParameter(message)
    sources: list[BrokerSource | GrowingStore]
    if options.store_dir is None:
        sources = [BrokerSource(address, options.rate * 1e6) for address in _addresses(options)]
    else:
        store = golden_path(options.store_dir)
        sources = [
            GrowingStore(store_paths(store, broker_conf=options.broker_conf, log_folders=options.commit_log or ()))
        ]
    wanted = WatchOptions(
        interval_ms=_duration("--watch", options.watch or "", least_ms=1_000),
        lasts_ms=None if options.lasts is None else _duration("--for", options.lasts),
        hanging_ms=_duration("--hanging", options.hanging),
        folder=options.state_dir,
        remembered=options.remember,
        metrics_port=options.metrics_port,
        version=options.version,
        as_json=options.as_json,
    )
    told = watch(sources, wanted)
    return ExitCode.SAFETY_VIOLATED if set(failing.states) & set(told) else ExitCode.OK


def _duration(option: str, text: str, least_ms: int = 0) -> int:
    found = read_duration(text)
    if found is None or found < least_ms:
        least = f", {duration(least_ms)} at least" if least_ms else ""
        message = f"{option} {text!r}: expected a length of time such as 30s, 5m or 2h{least}"
        raise typer.BadParameter(message)
    return found


def _of_brokers(options: AuditOptions, selection: Selection, failing: Failing) -> ExitCode:
    """The same of running brokers, one after the other; the exit code is the first that is not 0."""
    from halfcheck.running_broker import audited_broker
    from spark_trace_analysis.audit.row_files import RowFiles

    addresses = _addresses(options)
    for option, given in (
        ("STORE_DIR", options.store_dir), ("--broker-conf", options.broker_conf), ("--commit-log", options.commit_log),
        ("--master", options.master), ("--conf", options.conf), ("--work", options.work), ("--out", options.out),
    ):  # fmt: skip
        if given:
            message = f"{option} {given} is for a store; keep what is read of a broker by --copy DIR, and audit that"
            raise typer.BadParameter(message)
    for option, path in (
        ("--copy", options.copy),
        ("--csv", options.csv),
        ("--resend", options.resend),
        ("--report", options.report),
        ("--plan", options.plan),
    ):
        if path is not None and len(addresses) > 1:
            message = f"{option} {path}: it is for one broker, and {len(addresses)} are asked; give one by --broker"
            raise typer.BadParameter(message)
    if options.yes:
        return _sent(options, addresses)
    files = RowFiles(csv_path=options.csv, resend_path=options.resend, selection=selection)
    earlier = None if options.plan is None else _earlier_plan(options.plan, addresses[0])
    code, values = ExitCode.OK, []
    for address in addresses:
        with _copy_for(options) as copy:
            found = audited_broker(
                address,
                copy,
                options.version,
                files,
                bytes_per_s=options.rate * 1e6,
                everything=options.everything,
                limit=options.limit,
            )
            plan = (
                None if copy is None or options.plan is None else _planned(options.plan, earlier, address, found, copy)
            )
        if options.report is not None:
            from html_report.audit_page import write_audit_page

            write_audit_page(found.audit, options.report, options.limit)
        if options.as_json:
            values.append(found.to_json(everything=options.everything, limit=options.limit))
        else:
            from halfcheck.printing.running_broker import broker_in_words

            show(broker_in_words(found, wide_console().width, everything=options.everything, limit=options.limit))
            if plan is not None and options.plan is not None:
                from halfcheck.printing.plan import plan_in_words

                show(plan_in_words(plan, options.plan, options.limit))
        code = code or failing.exit_code(found.audit)
    if options.as_json:
        print_json(values[0] if len(values) == 1 else {"brokers": values})
    return code


@contextmanager
def _copy_for(options: AuditOptions) -> Iterator[Path | None]:
    """Where the copy of a broker is kept: where --copy says, or for a plan until it is made; nowhere otherwise."""
    if options.copy is not None or options.plan is None:
        yield options.copy
        return
    with TemporaryDirectory(prefix="halfcheck-") as folder:
        yield Path(folder) / "copy"


def _earlier_plan(file: Path, address: Address) -> BrokerPlan | None:
    """The plan whose place a new one takes, and which lends it its decisions; None if there is none."""
    from halfcheck.plan.plan import read_plan

    _require_new_or_a_file("--plan", file)
    if not file.exists():
        return None
    earlier = read_plan(file)
    if earlier.broker != str(address):
        message = f"--plan {file} is a plan for {earlier.broker}; give another file for {address}"
        raise typer.BadParameter(message)
    return earlier


def _planned(file: Path, earlier: BrokerPlan | None, address: Address, found: BrokerAudit, copy: Path) -> BrokerPlan:
    """The plan, written."""
    from halfcheck.plan.plan import carried_over, write_plan
    from halfcheck.plan.planning import plan_for
    from wire.client.channel import BrokerChannel

    with BrokerChannel(address) as channel:
        plan = plan_for(found, copy, channel)
    if earlier is not None:
        plan = carried_over(plan, earlier)
    write_plan(file, plan)
    return plan


def _sent(options: AuditOptions, addresses: Sequence[Address]) -> ExitCode:
    """What is decided in a plan's file, sent."""
    from halfcheck.plan.sending import send_plan
    from halfcheck.printing.plan import sent_in_words

    if options.plan is None:
        message = "--yes: give --plan FILE, the plan that was shown"
        raise typer.BadParameter(message)
    for option, given in (
        ("--topic", options.topics), ("--group", options.groups), ("--state", options.states),
        ("--since", options.since), ("--transaction", options.keys), ("--version", options.version),
        ("--copy", options.copy), ("--csv", options.csv), ("--resend", options.resend), ("--report", options.report),
        ("--fail-on", options.fail_on),
    ):  # fmt: skip
        if given:
            message = f"{option} {given} is for an audit; --plan FILE --yes sends all that is decided in FILE"
            raise typer.BadParameter(message)
    sent = send_plan(options.plan, addresses[0])
    if options.as_json:
        print_json(sent.plan.to_json())
    else:
        show(sent_in_words(sent.plan, sent.numbers))
    if sent.stopped:
        typer.echo(f"halfcheck: {options.plan}: {sent.stopped}", err=True)
    return ExitCode.BAD_CONTENT if sent.stopped else ExitCode.OK


def _addresses(options: AuditOptions) -> list[Address]:
    """The brokers that are asked for."""
    from wire.client.channel import BrokerChannel
    from wire.client.name_server import broker_groups

    def named(text: str) -> Address:
        return broker_address(
            text.strip(), options.access_key, options.secret_key, options.acl_file, options.tls_ca, tls=options.tls
        )

    if options.namesrv is None:
        if options.cluster is not None:
            message = f"--cluster {options.cluster}: give --namesrv, which knows the clusters"
            raise typer.BadParameter(message)
        return [named(text) for text in (options.broker or "").split(",")]
    if options.broker is not None:
        message = f"--namesrv {options.namesrv} and --broker {options.broker}: give one of them"
        raise typer.BadParameter(message)
    with BrokerChannel(named(options.namesrv)) as channel:
        groups = broker_groups(channel)
    chosen = [group for group in groups if options.cluster in (None, group.cluster)]
    if not chosen:
        known = ", ".join(sorted({group.cluster for group in groups})) or "none"
        message = f"--cluster {options.cluster}: the name server knows {known}"
        raise typer.BadParameter(message)
    for group in chosen:
        if not group.has_master:
            typer.echo(f"halfcheck: {group.name} has no master: the slave {group.first} is audited", err=True)
    return [named(str(group.first)) for group in chosen]


def _selection_of(options: AuditOptions) -> Selection:
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


def _require_places(options: AuditOptions, store: Path) -> None:
    """See that each answer has a place of its own, outside the store; raises `typer.BadParameter` and `BadFile`."""
    from model_check.cache_folder import can_be_written
    from model_check.errors import BadFile

    files = [
        (option, path)
        for option, path in (("--report", options.report), ("--csv", options.csv), ("--resend", options.resend))
        if path is not None
    ]
    folders = [
        (option, path) for option, path in (("--out", options.out), ("--work", options.work)) if path is not None
    ]
    for option, path in files:
        _require_new_or_a_file(option, path)
    for option, path in (*files, *folders):
        if not can_be_written(path.parent):
            message = f"{option} {path}: {path.absolute().parent} can't be written to; name another place"
            raise BadFile(message)
        _require_outside(option, path, [store, *(options.commit_log or ())])
    _require_different([*folders, *files])


def _require_new_or_a_file(option: str, path: Path) -> None:
    kind = what_is_no_file(path) or ("no name for a file" if path.name == "-" else "")
    if kind:
        message = f"{option} {path} is {kind}; give a file"
        raise typer.BadParameter(message)


def _require_outside(option: str, path: Path, read: Iterable[Path]) -> None:
    for folder in read:
        if _lies_in(path, folder):
            message = f"{option} {path} lies in {folder}, which an audit only reads; name a place outside of it"
            raise typer.BadParameter(message)


def _require_different(places: Sequence[tuple[str, Path]]) -> None:
    """A directory comes before what may lie in it."""
    for number, (option, path) in enumerate(places):
        for other, taken in places[:number]:
            if _lies_in(path, taken):
                message = f"{option} {path} lies where {other} {taken} goes; name another place"
                raise typer.BadParameter(message)


def _lies_in(path: Path, folder: Path) -> bool:
    """Whether a path is a folder's, or of something in it."""
    return path.resolve().is_relative_to(folder.resolve())
