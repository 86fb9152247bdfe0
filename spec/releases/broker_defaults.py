"""RocketMQ's defaults that bear on its transactions, as plain data: what each is, release by release.

Read in the sources of every release from 4.3.0 to 5.5.1. A setting of `broker.conf` stands under its key, a constant
under its Java name; nothing here is part of the state machine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

NEWEST_RELEASE: Final = "5.5.1"
"""The newest release whose sources were read."""


class BrokerDefault(NamedTuple):
    """One default: its name, the Java class and field that hold it, its unit, and its value from each release on."""

    name: str
    java: str
    unit: str
    since: tuple[tuple[str, int], ...]


_IMPL = "broker.transaction.queue.TransactionalMessageServiceImpl"

DEFAULTS: Final = (
    BrokerDefault("transactionTimeOut", "BrokerConfig#transactionTimeOut", "ms", (("4.3.0", 3_000), ("4.3.1", 6_000))),
    BrokerDefault("transactionCheckMax", "BrokerConfig#transactionCheckMax", "checks", (("4.3.0", 5), ("4.3.1", 15))),
    BrokerDefault(
        "transactionCheckInterval",
        "BrokerConfig#transactionCheckInterval",
        "ms",
        (("4.3.0", 60_000), ("5.1.1", 30_000)),
    ),
    BrokerDefault("transactionOpBatchInterval", "BrokerConfig#transactionOpBatchInterval", "ms", (("5.1.0", 3_000),)),
    BrokerDefault("transactionOpMsgMaxSize", "BrokerConfig#transactionOpMsgMaxSize", "characters", (("5.1.0", 4_096),)),
    BrokerDefault(
        "transactionMetricFlushInterval",
        "BrokerConfig#transactionMetricFlushInterval",
        "ms",
        (("5.2.0", 3_000), ("5.4.0", 10_000)),
    ),
    BrokerDefault("flushConsumerOffsetInterval", "BrokerConfig#flushConsumerOffsetInterval", "ms", (("4.3.0", 5_000),)),
    BrokerDefault("fileReservedTime", "MessageStoreConfig#fileReservedTime", "hours", (("4.3.0", 72),)),
    BrokerDefault(
        "mappedFileSizeCommitLog",
        "MessageStoreConfig#mappedFileSizeCommitLog, mapedFileSizeCommitLog up to 4.5.1",
        "bytes",
        (("4.3.0", 1 << 30),),
    ),
    BrokerDefault("transRocksDBEnable", "MessageStoreConfig#transRocksDBEnable", "truth", (("5.4.0", 0),)),
    BrokerDefault(
        "transWriteOriginTransHalfEnable",
        "MessageStoreConfig#transWriteOriginTransHalfEnable",
        "truth",
        (("5.4.0", 1),),
    ),
    BrokerDefault("MAX_PROCESS_TIME_LIMIT", f"{_IMPL}#MAX_PROCESS_TIME_LIMIT", "ms", (("4.3.0", 60_000),)),
    BrokerDefault(
        "MAX_RETRY_COUNT_WHEN_HALF_NULL", f"{_IMPL}#MAX_RETRY_COUNT_WHEN_HALF_NULL", "reads", (("4.3.0", 1),)
    ),
    BrokerDefault(
        "OP_MSG_PULL_NUMS",
        f"{_IMPL}#OP_MSG_PULL_NUMS; a number in #fillOpRemoveMap before 5.1.0",
        "op messages",
        (("4.3.0", 32),),
    ),
    BrokerDefault("MAX_RETRY_TIMES_FOR_ESCAPE", f"{_IMPL}#MAX_RETRY_TIMES_FOR_ESCAPE", "sends", (("5.1.0", 10),)),
    BrokerDefault("SLEEP_WHILE_NO_OP", f"{_IMPL}#SLEEP_WHILE_NO_OP", "ms", (("5.1.0", 1_000),)),
    BrokerDefault(
        "op context queue", f"{_IMPL}#deletePrepareMessage, new MessageQueueOpContext", "entries", (("5.1.0", 20_000),)
    ),
    BrokerDefault(
        "check pool",
        "AbstractTransactionalMessageCheckListener: 5 threads, a queue of 2000",
        "checks",
        (("4.3.0", 2_005),),
    ),
    BrokerDefault(
        "first flush of consumer offsets", "BrokerController#initialize, initialDelay", "ms", (("4.3.0", 10_000),)
    ),
)


@dataclass(frozen=True, slots=True)
class BrokerDefaults:
    """The defaults of one release: `defaults["transactionTimeOut"]`.

    Attributes
    ----------
    release : str
        Whose they are.
    values : dict
        Each by its name, in the unit of its `BrokerDefault`. What came with a later release has the value that it had
        first: nothing in this release asks for it.
    remark : str
        Why they are those of another release than was asked for; empty where they are its own.
    """

    release: str
    values: dict[str, int]
    remark: str

    def __getitem__(self, name: str) -> int:
        return self.values[name]


def defaults_of(release: str | None) -> BrokerDefaults:
    """What a release does where its `broker.conf` says nothing; the only place that decides it.

    A release between two that are named in `DEFAULTS` has the values of the earlier one. One that is newer than
    `NEWEST_RELEASE`, one that is not known (None) and a name without a number (such as `fixed`) have the newest
    values, one older than 4.3.0 the oldest; `remark` says so. Of a profile with turned switches, the release counts.

    Examples
    --------
    >>> defaults_of("5.1.0")["transactionCheckInterval"], defaults_of("5.1.1+batches_ops")["transactionCheckInterval"]
    (60000, 30000)
    >>> defaults_of("6.0.0").remark
    '6.0.0 is newer than any release that was read: its defaults are taken to be those of 5.5.1'
    """
    numbers = release_numbers(release or "")
    oldest, newest = (release_numbers(name) for name in (DEFAULTS[0].since[0][0], NEWEST_RELEASE))
    whose, remark = release or NEWEST_RELEASE, ""
    if not numbers:
        whose, remark = NEWEST_RELEASE, f"the release is not known: the defaults are those of {NEWEST_RELEASE}"
    elif numbers > newest:
        whose = NEWEST_RELEASE
        remark = f"{release} is newer than any release that was read: its defaults are taken to be those of {whose}"
    elif numbers < oldest:
        whose = DEFAULTS[0].since[0][0]
        remark = f"{release} is older than transactional messages: its defaults are taken to be those of {whose}"
    numbers = release_numbers(whose)
    values = {}
    for default in DEFAULTS:
        known = [value for first, value in default.since if release_numbers(first) <= numbers]
        values[default.name] = known[-1] if known else default.since[0][1]
    return BrokerDefaults(whose, values, remark)


def release_numbers(release: str) -> tuple[int, ...]:
    """The numbers at the front of a release's name, to compare releases by; none where it has none.

    Examples
    --------
    >>> release_numbers("5.3.3+heeds_settled_originals") < release_numbers("5.10.0")
    True
    """
    match = re.match(r"\d+(\.\d+)*", release)
    return () if match is None else tuple(int(part) for part in match[0].split("."))
