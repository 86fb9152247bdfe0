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

    from model_check.broker_conf.answer import Answer
    from model_check.broker_conf.configuration import Configuration
    from model_check.check import ClauseResult
    from reference.store.broker_conf import BrokerConf, Setting
    from reference.store.broker_keys import UnknownKey

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
    **question: Any,
) -> ExitCode:
    """Read the file, ask, and print; the instance's sizes are those of tiny, or of deep where messages are immune.

    Parameters
    ----------
    file, version, immunities, local, faults, instance
        As they were given on the command line.
    as_json
        Print JSON.
    question
        What `model_check.broker_conf.answer.check_configuration` takes besides.
    """
    from halfcheck.search_progress import search_progress
    from model_check.broker_conf.answer import check_configuration
    from model_check.broker_conf.answer_json import answer_to_json
    from model_check.check import Verdict
    from reference.store.broker_conf import read_broker_conf, repeated
    from reference.store.broker_keys import unknown_keys

    conf = read_broker_conf(file)
    configuration = configuration_of(conf, version, immunities, local)
    unknown = unknown_keys(file, version)
    told = [_of_repeated_key(*pair) for pair in repeated(file)] + remarks(conf, unknown, configuration)
    sizes = instance or ("deep" if immunities else "tiny")
    with search_progress(f"{version} {file}", wanted=not as_json) as report:
        answer = check_configuration(configuration, faults, sizes, report=report, **question)
    for remark in told:
        typer.echo(f"halfcheck: {file}: {remark}", err=True)
    if as_json:
        settings = settings_to_json(configuration, unknown, told)
        print(json.dumps({**answer_to_json(answer), "broker_conf": settings}, ensure_ascii=False, indent=2))
    else:
        print_answer(answer, file)
    if answer.result.is_violated:
        return ExitCode.SAFETY_VIOLATED
    is_known = all(row.verdict is Verdict.HOLDS for row in answer.result.clauses)
    return ExitCode.OK if is_known else ExitCode.OTHER


def configuration_of(conf: BrokerConf, version: str, immunities: Sequence[str], local: str | None) -> Configuration:
    """The settings of a file with the defaults of a version, and what the options say of its messages.

    Raises
    ------
    CommandLineError
        When there is no such version; names the nearest.
    ModelCheckError
        When a duration is none, or an immunity is no whole number of seconds.
    """
    from model_check.broker_conf.configuration import Configuration, read_duration
    from spec.profiles import VERSIONS

    if version not in VERSIONS:
        message = f"no version {version!r}; there are {', '.join(VERSIONS)}, {_nearest(version, VERSIONS)}"
        raise CommandLineError(message)
    immunities_ms = tuple(read_duration("--immunity", text) for text in immunities)
    for text, milliseconds in zip(immunities, immunities_ms, strict=True):
        if milliseconds % 1000:
            message = f"--immunity {text}: CHECK_IMMUNITY_TIME_IN_SECONDS is a whole number of seconds"
            raise CommandLineError(message)
    return Configuration.of_release(
        version,
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


def remarks(conf: BrokerConf, unknown: Sequence[UnknownKey], configuration: Configuration) -> list[str]:
    """What a reader of the answer must know of the file: ignored keys, and settings that the search does not heed."""
    told = [_of_unknown_key(key, configuration.version) for key in unknown]
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


def print_answer(answer: Answer, file: Path) -> None:
    """The guarantees that a configuration gives, those that it breaks with a schedule in seconds, and what is open."""
    from halfcheck.counterexample_table import wide_console
    from model_check.broker_conf.phrases import FAULTS_IN_WORDS
    from model_check.broker_conf.words import tell
    from model_check.check import Verdict

    result, console = answer.result, wide_console()
    world = "with " + ", ".join(result.faults) if result.faults else "in the quiet world"
    console.print(f"RocketMQ {result.profile} with {file}, {world}", markup=False, soft_wrap=True)
    for fault in result.faults:
        console.print(f"  {fault}: {FAULTS_IN_WORDS[fault]}", markup=False, soft_wrap=True)
    console.print(_settings(answer.configuration), markup=False, soft_wrap=True)
    for verdict, title in (
        (Verdict.HOLDS, "These guarantees are given:"),
        (Verdict.VIOLATED, "These are broken:"),
        (Verdict.UNKNOWN, "These are open:"),
    ):
        rows = [row for row in result.clauses if row.verdict is verdict]
        if rows:
            console.print(f"\n{title}")
        for row in rows:
            console.print(f"  {_name(row)}: {row.clause.sentence}", markup=False, soft_wrap=True)
            if row.reason:
                console.print(f"      {row.reason}", markup=False, soft_wrap=True)
            schedule = answer.schedules.get(row.clause)
            if schedule is not None:
                for step in tell(schedule.machine, schedule.constants, schedule.path, schedule.times):
                    console.print(
                        f"    {step.milliseconds / 1000:>10.3f} s  {step.words}", markup=False, soft_wrap=True
                    )
                if schedule.late_ms:
                    late = f"{schedule.late_ms / 1000:.3f} s"
                    console.print(f"      (a round comes {late} later than transactionCheckInterval asks)")
    sizes = result.instance
    counted = f"{sizes.transactions} transaction{'s' if sizes.transactions > 1 else ''}"
    searched = f"{counted}, {sizes.half_slots} half slots and {sizes.op_slots} op slots, {answer.quotient.sentence()}"
    console.print(f"\nSearched: {searched}", markup=False, soft_wrap=True)
    console.print("Not asked: what happens where clocks differ or step back (clock_skew, clock_step)", soft_wrap=True)
    extent = "every reachable state" if result.complete else "CUT SHORT: not every reachable state"
    console.print(f"{extent}: {result.distinct:,} distinct, depth {result.depth}, {result.seconds:.3f} s")


def _name(row: ClauseResult) -> str:
    like = f" ({', '.join(row.resembles)})" if row.resembles else ""
    return f"{row.clause.identifier}.{row.clause.clause}{like}"


def _settings(configuration: Configuration) -> str:
    from model_check.broker_conf.configuration import show_duration
    from spec.profiles import PROFILES

    told = [
        f"transactionTimeOut {show_duration(configuration.timeout_ms)}",
        f"transactionCheckInterval {show_duration(configuration.check_interval_ms)}",
        f"transactionCheckMax {configuration.check_max}",
    ]
    if PROFILES[configuration.version].batches_ops:
        told.append(f"transactionOpBatchInterval {show_duration(configuration.op_batch_interval_ms)}")
    immune = ", ".join(show_duration(milliseconds) for milliseconds in configuration.immunities_ms)
    told.append(f"messages without an immunity{' or with one of ' + immune if immune else ''}")
    if configuration.reserved_ms is not None:
        told.append(f"fileReservedTime {show_duration(configuration.reserved_ms)}, which a half may reach (B45)")
    if configuration.local_ms is not None:
        told.append(f"local transactions of at most {show_duration(configuration.local_ms)}")
    return "; ".join(told)


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
        return f"{told}; {', '.join(key.versions)} have it"
    return told if key.nearest is None else f"{told}; did you mean {key.nearest}?"


def _nearest(version: str, known: Sequence[str]) -> str:
    """The version that is nearest by its numbers, the later one of two."""
    import re

    numbers = [int(part) for part in re.findall(r"\d+", version)[:3]]
    if not numbers:
        return "such as " + known[-1]

    def distance(other: str) -> tuple[int, ...]:
        theirs = [int(part) for part in other.split(".")]
        return tuple(abs(one - two) for one, two in zip([*numbers, 0, 0][:3], theirs, strict=True))

    return "the nearest is " + min(reversed(known), key=distance)
