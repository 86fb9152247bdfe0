"""``halfcheck conf``: which guarantees a broker.conf gives, in its own times, and what to change."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from halfcheck.errors import CommandLineError, ExitCode
from halfcheck.options import (
    USUAL_PROFILE,
    AsJson,
    Everything,
    Faults,
    InstanceName,
    MostStates,
    Properties,
    environment_of,
    instances_of,
    print_json,
)
from halfcheck.printing.progress import portfolio_progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.configuration import Configuration
    from reference.format.broker_conf import BrokerConf
    from reference.format.broker_keys import UnknownKey

_HOUR_MS = 3_600_000

Immunity = Annotated[
    list[str] | None,
    typer.Option(metavar="TIME", help="Some messages are immune so long: 60s. May be repeated."),
]
Local = Annotated[str | None, typer.Option(metavar="TIME", help="Each commit or rollback has arrived by then: 2s.")]


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A broker.conf.")],
    *,
    version: Annotated[
        str | None, typer.Option(metavar="V", help=f"A release from 4.3.0 on; {USUAL_PROFILE} if none is given.")
    ] = None,
    faults: Faults = "",
    immunity: Immunity = None,
    local: Local = None,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="Search what to change, what it mends, and what it costs.")
    ] = False,
    instance: InstanceName = None,
    properties: Properties = None,
    engine: Annotated[str, typer.Option(help="numba; or cpython, the slow judge; or z3, of 20 steps.")] = "numba",
    max_states: MostStates = None,
    threads: Annotated[int | None, typer.Option(min=1, max=64, help="Threads of each search; all processors.")] = None,
    everything: Everything = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Judge a broker.conf: which guarantees its release breaks with its times, what that does to a message, what to do.

    Its times are searched in instances of tiny, deep, small and trio sizes; each counterexample is told in seconds. The
    exit code is 12 when a guarantee is broken, 0 when all hold, 255 when one is unknown.

    Examples
    --------
    halfcheck conf broker.conf --version 5.3.3 --immunity 60s
    halfcheck conf broker.conf --version 5.5.1 --local 1s --suggest
    """
    from halfcheck.printing.remarks import print_remarks
    from model_check.broker_conf.judgement import BASES, judge_configuration
    from model_check.broker_conf.suggestions import suggest as search_suggestions
    from model_check.clauses import chosen_clauses
    from model_check.did_you_mean import require_known
    from model_check.engines import COMPILED, ENGINES
    from model_check.finding import Holds
    from model_check.instances import load_instance
    from model_check.releases import profile_for
    from reference.format.broker_conf import read_broker_conf
    from reference.format.broker_conf_remarks import remarks_on_file, unread_keys
    from spec.releases.broker_defaults import defaults_of

    release = version or USUAL_PROFILE
    _, why = profile_for(release, with_switches=True)
    require_known("engine", engine, ENGINES)
    conf = read_broker_conf(file, release)
    refuse_rocksdb(file, conf, release)
    configuration = configuration_of(conf, release, immunity or [], local)
    unknown = unread_keys(file, release)
    remarks = [line for line in (why, defaults_of(release).remark) if line] + remarks_on_file(file, release)
    searched: dict[str, Any] = {
        "clauses": chosen_clauses(properties or ()),
        "engine": ENGINES[engine],
        "threads": threads or os.cpu_count() or 1,
        "most_steps": 20,
        "most_states": max_states,
    }
    slow = () if ENGINES[engine] is COMPILED else (load_instance("deep" if immunity else "tiny"),)
    bases = instances_of(instance, "was compared with many in its own times only") or slow or BASES
    with portfolio_progress(f"{release} {file}", wanted=not as_json) as report:
        judgement = judge_configuration(configuration, environment_of(faults), bases, report=report, **searched)
    suggestions = None
    if suggest and judgement.broken:
        with portfolio_progress("suggestions", wanted=not as_json) as report:
            suggestions = search_suggestions(judgement, report=report, **searched)
    if version is None:
        typer.echo(f"halfcheck: {file}: no --version is given: {release} is taken", err=True)
    print_remarks(file, remarks)
    if as_json:
        settings = settings_to_json(configuration, unknown, remarks)
        settings |= {"version": release, "profile": configuration.profile.name, "judged_by": why}
        answer = {**judgement.to_json(), "broker_conf": settings}
        if suggestions is not None:
            answer["suggestions"] = suggestions.to_json()
        print_json(answer)
    else:
        from halfcheck.printing.broker_conf import print_judgement

        print_judgement(judgement, f"RocketMQ {release} with {file}", suggestions, everything=everything)
    return ExitCode.of_verdict(
        is_broken=bool(judgement.broken), is_complete=all(isinstance(row, Holds) for row in judgement.whole.rows)
    )


class NotJudgedError(CommandLineError):
    """The file is read, and what it sets is not modelled."""

    exit_code = ExitCode.BAD_CONTENT


def refuse_rocksdb(file: Path, conf: BrokerConf, release: str) -> None:
    """Raise `NotJudgedError` for a configuration whose halves lie in RocksDB, which is not modelled."""
    in_rocksdb = conf.halves_in_rocksdb(release)
    if in_rocksdb:
        message = f"{file}: {in_rocksdb}"
        raise NotJudgedError(message)


def configuration_of(conf: BrokerConf, release: str, immunities: Sequence[str], local: str | None) -> Configuration:
    """The settings of a file, the defaults of a release, and the times that options give; raises `ModelCheckError`."""
    from model_check.configuration import Configuration, read_duration

    immunities_ms = tuple(read_duration("--immunity", text) for text in immunities)
    for text, milliseconds in zip(immunities, immunities_ms, strict=True):
        if milliseconds % 1000:
            message = f"--immunity {text}: CHECK_IMMUNITY_TIME_IN_SECONDS is a whole number of seconds"
            raise CommandLineError(message)
    return Configuration.of_release(
        release,
        timeout_ms=conf.transaction_timeout_ms,
        check_max=conf.transaction_check_max,
        check_interval_ms=conf.transaction_check_interval_ms,
        op_batch_interval_ms=conf.op_batch_interval_ms,
        op_message_max_size=conf.op_message_max_size,
        file_reserved_ms=None if conf.file_reserved_hours is None else max(1, conf.file_reserved_hours * _HOUR_MS),
        save_interval_ms=conf.flush_consumer_offset_interval_ms,
        immunities_ms=immunities_ms,
        local_ms=None if local is None else read_duration("--local", local),
    )


def settings_to_json(
    configuration: Configuration, unknown: Sequence[UnknownKey], remarks: Sequence[str]
) -> dict[str, Any]:
    """The settings that the answer rests on, under RocketMQ's names, as plain data."""
    return {
        "version": configuration.profile.name,
        "transactionTimeOut": configuration.timeout_ms,
        "transactionCheckMax": configuration.check_max,
        "transactionCheckInterval": configuration.check_interval_ms,
        "transactionOpBatchInterval": configuration.op_batch_interval_ms,
        "transactionOpMsgMaxSize": configuration.op_message_max_size,
        "fileReservedTime": configuration.file_reserved_ms // _HOUR_MS,
        "flushConsumerOffsetInterval": configuration.save_interval_ms,
        "immunities_ms": list(configuration.immunities_ms),
        "local_ms": configuration.local_ms,
        "unknown_keys": [
            {"line": key.line, "key": key.key, "nearest": key.nearest, "versions": list(key.versions)}
            for key in unknown
        ],
        "remarks": list(remarks),
    }
