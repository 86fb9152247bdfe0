"""``halfcheck check --broker-conf``: from a file and options to a configuration, and from an answer to words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from halfcheck.errors import CommandLineError
from halfcheck.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from model_check.broker_conf.configuration import Configuration
    from reference.format.broker_conf import BrokerConf, Setting
    from reference.format.broker_keys import UnknownKey

_HOUR_MS = 3_600_000


def check_broker_conf(
    file: Path,
    version: str,
    immunities: Sequence[str],
    local: str | None,
    faults: Sequence[str],
    instance: str | None,
    *,
    as_json: bool,
    everything: bool,
    wants_suggestions: bool,
    is_version_given: bool,
    **question: Any,
) -> ExitCode:
    """Read the file, ask, and print; without an instance, over the sizes of a portfolio.

    Parameters
    ----------
    file, version, immunities, local, faults, instance
        As they were given on the command line.
    as_json
        Print JSON.
    everything
        List what holds, too.
    wants_suggestions
        Search what would mend what is broken.
    is_version_given
        False where the version is the default, which is said.
    question
        What `model_check.broker_conf.answer.check_configuration` takes besides.

    Raises
    ------
    CommandLineError
        When its halves lie in RocksDB, which is not modelled.
    """
    from halfcheck.check.broker_conf_answer import print_judgement
    from halfcheck.printing.search_progress import portfolio_progress
    from model_check.broker_conf.answer_json import judgement_to_json
    from model_check.broker_conf.portfolio import judge_configuration
    from model_check.broker_conf.suggestions import suggest
    from model_check.check import Verdict
    from model_check.instances import unturned
    from model_check.releases import profile_for
    from reference.format.broker_conf import read_broker_conf, repeated
    from reference.format.broker_conf import settings as settings_in
    from reference.format.broker_keys import known_keys, unknown_keys
    from spec.broker_defaults import defaults_of

    profile, why = profile_for(version, with_switches=True)
    conf = read_broker_conf(file)
    in_rocksdb = conf.halves_in_rocksdb(version)
    if in_rocksdb:
        message = f"{file}: {in_rocksdb}"
        raise NotJudgedError(message)
    configuration = configuration_of(conf, version, immunities, local)
    unknown = unknown_keys(file, version if known_keys(version) else unturned(profile))
    told = [told for told in (why, defaults_of(version).remark) if told]
    told += [_of_repeated_key(*pair) for pair in repeated(file)] + remarks(conf, unknown, unturned(profile))
    if unknown and len(unknown) == len(list(settings_in(file))):
        told.append("no line of it is a setting of the broker's, which takes its defaults: is it a broker.conf?")
    bases = _bases(instance, immunities, question.get("reading", "numba"))
    with portfolio_progress(f"{version} {file}", wanted=not as_json) as report:
        judgement = judge_configuration(configuration, faults, bases, report=report, **question)
    suggestions = None
    if wants_suggestions and judgement.broken:
        with portfolio_progress("suggestions", wanted=not as_json) as report:
            suggestions = suggest(judgement, faults, report=report, **question)
    if not is_version_given:
        typer.echo(f"halfcheck: {file}: no --version is given: {version} is taken", err=True)
    for remark in told:
        typer.echo(f"halfcheck: {file}: {remark}", err=True)
    if as_json:
        settings = settings_to_json(configuration, unknown, told) | {
            "version": version,
            "profile": profile,
            "judged_by": why,
        }
        answer = {**judgement_to_json(judgement), "broker_conf": settings}
        if suggestions is not None:
            answer["suggestions"] = suggestions.to_json()
        print(json.dumps(answer, ensure_ascii=False, indent=2))
    else:
        print_judgement(judgement, f"RocketMQ {version} with {file}", suggestions, everything=everything)
    if judgement.result.is_violated:
        return ExitCode.SAFETY_VIOLATED
    is_settled = all(row.verdict is Verdict.HOLDS for row in judgement.result.clauses)
    return ExitCode.OK if is_settled else ExitCode.OTHER


class NotJudgedError(CommandLineError):
    """The file is read, and what it sets is not modelled."""

    exit_code = ExitCode.BAD_CONTENT


def _bases(instance: str | None, immunities: Sequence[str], reading: str) -> tuple[str, ...]:
    """The instance that was asked for, or the portfolio; for the slow readings one that shows much."""
    from model_check.broker_conf.portfolio import BASES

    if instance is not None:
        return (instance,)
    return BASES if reading == "numba" else ("deep" if immunities else "tiny",)


def configuration_of(conf: BrokerConf, release: str, immunities: Sequence[str], local: str | None) -> Configuration:
    """The settings of a file with the defaults of a release, and what the options say of its messages.

    Raises
    ------
    ModelCheckError
        When there is no such release, a duration is none, or an immunity is no whole number of seconds.
    """
    from model_check.broker_conf.configuration import Configuration, read_duration
    from model_check.releases import profile_for

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
        file_reserved_ms=None if conf.file_reserved_hours is None else conf.file_reserved_hours * _HOUR_MS,
        save_interval_ms=conf.flush_consumer_offset_interval_ms,
        immunities_ms=immunities_ms,
        local_ms=None if local is None else read_duration("--local", local),
    )


def remarks(conf: BrokerConf, unknown: Sequence[UnknownKey], profile: str) -> list[str]:
    """What a reader of the answer must know of the file: ignored keys, and settings that the search does not heed."""
    told = [_of_unknown_key(key, profile) for key in unknown]
    if conf.reject_transaction_message:
        told.append("rejectTransactionMessage is true: the broker refuses every half, and what follows is about none")
    if conf.broker_role == "SLAVE":
        told.append("brokerRole is SLAVE: a slave refuses END_TRANSACTION; what follows is about its master")
    if conf.enable_slave_acting_master:
        told.append(
            "enableSlaveActingMaster is true: --faults acting_slave asks what a slave does that acts for its master"
        )
    return told


def _of_repeated_key(before: Setting, after: Setting) -> str:
    return (
        f"line {after.line}: {after.key} stands in line {before.line} already; "
        f"the broker takes the later one, {after.value!r}"
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


def _of_unknown_key(key: UnknownKey, version: str) -> str:
    told = f"line {key.line}: {key.key} is no setting of {version}, whose broker ignores it"
    if key.versions:
        return f"{told}; {', '.join(key.versions)} {'has' if len(key.versions) == 1 else 'have'} it"
    return told if key.nearest is None else f"{told}; did you mean {key.nearest}?"
