"""``halfcheck check --broker-conf``: from a file and options to a configuration, and from an answer to words."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import typer

from halfcheck.check.check_options import COMPILED, OF_FILES, OF_ONE_SEARCH, CheckOptions
from halfcheck.errors import CommandLineError, ExitCode
from halfcheck.printing.progress import portfolio_progress
from halfcheck.printing.remarks import print_remarks
from model_check.broker_conf.configuration import Configuration, read_duration
from model_check.broker_conf.judgement import BASES, judge_configuration
from model_check.broker_conf.suggestions import suggest
from model_check.check import Verdict
from model_check.releases import profile_for
from reference.format.broker_conf import read_broker_conf
from reference.format.broker_conf_remarks import remarks_on_file, unread_keys
from spec.releases.broker_defaults import defaults_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reference.format.broker_conf import BrokerConf
    from reference.format.broker_keys import UnknownKey

_HOUR_MS = 3_600_000


def run(options: CheckOptions, file: Path) -> ExitCode:
    """Read the file, ask, and print; without an instance, over the sizes of a portfolio.

    Raises
    ------
    CommandLineError
        When its halves lie in RocksDB, which is not modelled.
    """
    options.refuse(
        (*OF_ONE_SEARCH, *OF_FILES, "fresh"),
        "does not go with --broker-conf, which searches in memory and tells its counterexamples in words and JSON",
    )
    version = options.version if options.version and not options.profile else options.asked.name
    profile, why = profile_for(version, with_switches=True)
    conf = read_broker_conf(file, version)
    refuse_rocksdb(file, conf, version)
    configuration = configuration_of(conf, version, options.immunity or [], options.local)
    unknown = unread_keys(file, version)
    said = [line for line in (why, defaults_of(version).remark) if line] + remarks_on_file(file, version)
    searched: dict[str, Any] = {
        "properties": options.clauses,
        "engine": options.engine,
        "threads": options.threads or os.cpu_count() or 1,
        "most_steps": options.max_depth,
        "most_states": options.max_states,
    }
    with portfolio_progress(f"{version} {file}", wanted=not options.as_json) as report:
        judgement = judge_configuration(configuration, options.environment, _bases(options), report=report, **searched)
    suggestions = None
    if options.suggest and judgement.broken:
        with portfolio_progress("suggestions", wanted=not options.as_json) as report:
            suggestions = suggest(judgement, options.environment, report=report, **searched)
    if not (options.version or options.profile):
        typer.echo(f"halfcheck: {file}: no --version is given: {version} is taken", err=True)
    print_remarks(file, said)
    if options.as_json:
        settings = settings_to_json(configuration, unknown, said)
        settings |= {"version": version, "profile": profile, "judged_by": why}
        answer = {**judgement.to_json(), "broker_conf": settings}
        if suggestions is not None:
            answer["suggestions"] = suggestions.to_json()
        print(json.dumps(answer, ensure_ascii=False, indent=2))
    else:
        from halfcheck.printing.broker_conf import print_judgement

        title = f"RocketMQ {version} with {file}"
        print_judgement(judgement, title, suggestions, everything=options.everything)
    return ExitCode.of_verdict(
        is_broken=judgement.result.is_violated,
        is_complete=all(row.verdict is Verdict.HOLDS for row in judgement.result.clauses),
    )


class NotJudgedError(CommandLineError):
    """The file is read, and what it sets is not modelled."""

    exit_code = ExitCode.BAD_CONTENT


def refuse_rocksdb(file: Path, conf: BrokerConf, release: str) -> None:
    """Refuse a configuration whose halves lie in RocksDB, which is not modelled.

    Raises
    ------
    NotJudgedError
    """
    in_rocksdb = conf.halves_in_rocksdb(release)
    if in_rocksdb:
        message = f"{file}: {in_rocksdb}"
        raise NotJudgedError(message)


def _bases(options: CheckOptions) -> tuple[str, ...]:
    """The instance that was asked for, or the portfolio; for the slow engines one that shows much."""
    if options.instance is not None:
        return (options.instance,)
    return BASES if options.engine == COMPILED else ("deep" if options.immunity else "tiny",)


def configuration_of(conf: BrokerConf, release: str, immunities: Sequence[str], local: str | None) -> Configuration:
    """The settings of a file with the defaults of a release, and what the options say of its messages.

    Raises
    ------
    ModelCheckError
        When there is no such release, a duration is none, or an immunity is no whole number of seconds.
    """
    immunities_ms = tuple(read_duration("--immunity", text) for text in immunities)
    for text, milliseconds in zip(immunities, immunities_ms, strict=True):
        if milliseconds % 1000:
            message = f"--immunity {text}: CHECK_IMMUNITY_TIME_IN_SECONDS is a whole number of seconds"
            raise CommandLineError(message)
    return Configuration.of_release(
        release,
        version=profile_for(release, with_switches=True)[0],
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
    configuration: Configuration, unknown: Sequence[UnknownKey], told: Sequence[str]
) -> dict[str, Any]:
    """The settings that the answer rests on, under RocketMQ's names, as plain data."""
    return {
        "version": configuration.version,
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
        "remarks": list(told),
    }
