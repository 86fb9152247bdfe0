"""The keys that a broker reads: those of real files are known, misspelled ones are named with what was meant."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import golden_stores
from reference.format.broker_conf import BrokerConf, find_broker_conf, read_broker_conf, settings
from reference.format.broker_keys import UnknownKey, known_keys, nearest_key, unknown_keys
from reference.format.errors import BrokenConfigError

if TYPE_CHECKING:
    from pathlib import Path

VERSIONS = ("4.5.1", "4.9.7", "5.3.3", "5.4.0", "5.5.0", "5.5.1")


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "broker.conf"
    path.write_text(text)
    return path


def test_every_key_that_a_golden_broker_was_started_with_is_known() -> None:
    seen = 0
    for store in golden_stores():
        path = find_broker_conf(store.path)
        assert path is not None
        version = store.version if store.version in VERSIONS else "5.3.3"
        ignored = {key.key for key in unknown_keys(path, version)}
        # The harness writes one file for all versions; 4.x has no timer wheel, and 4.5.1 spells mapped with one p.
        assert ignored <= {"4.5.1": OF_LATER_VERSIONS, "4.9.7": {"timerWheelEnable"}}.get(version, set())
        seen += len(list(settings(path)))
    assert seen > 100


OF_LATER_VERSIONS = {"timerWheelEnable", "mappedFileSizeCommitLog", "mappedFileSizeConsumeQueue"}


def test_each_group_of_versions_lists_its_own_keys_in_order() -> None:
    groups = json.loads(resources.files("reference.format").joinpath("broker_keys.json").read_text(encoding="utf-8"))
    every = [key for keys in groups.values() for key in keys]
    assert len(every) == len(set(every))
    for versions, keys in groups.items():
        assert versions.split() == [version for version in VERSIONS if version in versions.split()]
        assert keys == sorted(keys)
    for version in VERSIONS:
        assert len(known_keys(version)) == sum(len(keys) for group, keys in groups.items() if version in group.split())


@pytest.mark.parametrize(
    ("key", "versions"),
    [
        ("transactionTimeOut", "4.5.1 4.9.7 5.3.3 5.4.0 5.5.0 5.5.1"),
        ("transactionCheckInterval", "4.5.1 4.9.7 5.3.3 5.4.0 5.5.0 5.5.1"),
        ("transactionOpBatchInterval", "5.3.3 5.4.0 5.5.0 5.5.1"),
        ("transactionMetricFlushInterval", "5.3.3 5.4.0 5.5.0 5.5.1"),
        ("enableSlaveActingMaster", "5.3.3 5.4.0 5.5.0 5.5.1"),
        ("transRocksDBEnable", "5.4.0 5.5.0 5.5.1"),
        ("transactionCheckRocksdbMaxThreads", "5.5.0 5.5.1"),
        ("enableLiteEventMode", "5.5.0"),
        ("maxCheckMessageReuseBufferSize", "5.5.1"),
        ("mapedFileSizeCommitLog", "4.5.1"),
        ("brokerIP1", "4.5.1 4.9.7 5.3.3 5.4.0 5.5.0 5.5.1"),
        ("listenPort", "4.5.1 4.9.7 5.3.3 5.4.0 5.5.0 5.5.1"),
        ("transactionTimeout", ""),
    ],
)
def test_a_key_is_known_to_the_versions_that_read_it(key: str, versions: str) -> None:
    assert [version for version in VERSIONS if key in known_keys(version)] == versions.split()


def test_misspelled_foreign_and_later_keys_are_told_apart(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "# a comment\ntransactionTimeout=10000\nfileReservedTime=48\ncolour=red\ntransactionOpBatchInterval=10\n"
        "TransactionCheckMax=3\n",
    )
    assert unknown_keys(path, "4.9.7") == (
        UnknownKey(2, "transactionTimeout", "transactionTimeOut", ()),
        UnknownKey(4, "colour", None, ()),
        UnknownKey(5, "transactionOpBatchInterval", "transactionCheckInterval", ("5.3.3", "5.4.0", "5.5.0", "5.5.1")),
        UnknownKey(6, "TransactionCheckMax", "transactionCheckMax", ()),
    )
    assert nearest_key("transactionTimeout", "6.0") is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "transactionTimeOut=6s",
            "line 2: transactionTimeOut is '6s', expected a positive whole number of milliseconds",
        ),
        ("transactionTimeOut=-1", "'-1', expected a positive"),
        ("transactionTimeOut=6000 ", "'6000 ', expected a positive whole number of milliseconds up to 9"),
        ("transactionOpBatchInterval=2147483648", "up to 2147483647, without a unit or a blank"),
        ("transactionCheckMax=1e3", "'1e3', expected a positive whole number up to"),
        ("fileReservedTime=2d", "expected a positive whole number of hours"),
        ("flushDiskType=ASYNC", "flushDiskType is 'ASYNC', expected ASYNC_FLUSH or SYNC_FLUSH"),
        ("brokerRole=MASTER", "expected ASYNC_MASTER or SYNC_MASTER or SLAVE"),
        ("rejectTransactionMessage=yes", "'yes', expected true or false"),
        ("enableSlaveActingMaster=true ", "'true ', expected true or false"),
    ],
)
def test_a_value_that_the_broker_would_pass_over_is_refused(tmp_path: Path, line: str, expected: str) -> None:
    with pytest.raises(BrokenConfigError) as refusal:
        read_broker_conf(written(tmp_path, f"brokerName=a\n{line}\n"))
    assert expected in str(refusal.value)


def test_words_and_the_later_of_two_settings_are_read(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "brokerRole = SLAVE \nflushDiskType=SYNC_FLUSH\nrejectTransactionMessage=TRUE\nenableSlaveActingMaster=false\n"
        "flushConsumerOffsetInterval=1000\ntransactionCheckMax=3\ntransactionCheckMax=4\n",
    )
    assert read_broker_conf(path) == BrokerConf(
        broker_role="SLAVE",
        flush_disk_type="SYNC_FLUSH",
        reject_transaction_message=True,
        enable_slave_acting_master=False,
        flush_consumer_offset_interval_ms=1000,
        transaction_check_max=4,
    )
