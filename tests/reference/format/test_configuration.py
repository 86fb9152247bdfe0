"""The saved offsets and the broker's settings are read as a broker reads them, and refused in one clear line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import golden_store, golden_stores
from reference.format.broker_conf import BrokerConf, find_broker_conf, mqadmin_broker, read_broker_conf
from reference.format.consumer_offsets import parse_consumer_offsets, read_consumer_offsets
from reference.format.errors import BrokenConfigError

if TYPE_CHECKING:
    from pathlib import Path

GOOD = '{"offsetTable":{"T@G":{0:16,12:3}},"dataVersion":{"counter":0}}'


def write(store: Path, name: str, text: str) -> None:
    (store / "config").mkdir(exist_ok=True)
    (store / "config" / name).write_text(text)


def test_unquoted_integer_keys_are_understood_and_digits_in_names_left_alone() -> None:
    table, _ = parse_consumer_offsets(b'{"offsetTable":{"a{1:b@{2:c":{0:16, 1 : 2},"T@G":{}}}')
    assert table == {"a{1:b@{2:c": {0: 16, 1: 2}, "T@G": {}}


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"offsetTable":{"T@G":{0:x}}}', '{"offsetTable":{"T@G":{0:-2}}}'])
def test_the_backup_is_read_when_the_file_is_not_understood(tmp_path: Path, broken: str) -> None:
    write(tmp_path, "consumerOffset.json", broken)
    write(tmp_path, "consumerOffset.json.bak", GOOD)
    offsets = read_consumer_offsets(tmp_path)
    assert (offsets.get("T", 0, "G"), offsets.get("T", 12, "G"), offsets.get("T", 1, "G")) == (16, 3, None)
    assert offsets.source == "config/consumerOffset.json.bak"
    assert (offsets.corrupt is None) is (broken == "")


def test_without_a_readable_backup_a_broken_file_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "consumerOffset.json", "{")
    with pytest.raises(BrokenConfigError, match=r"consumerOffset\.json can't be understood"):
        read_consumer_offsets(tmp_path)
    write(tmp_path, "consumerOffset.json.bak", '{"offsetTable":7}')
    with pytest.raises(BrokenConfigError, match=r"consumerOffset\.json can't be understood"):
        read_consumer_offsets(tmp_path)


def test_a_store_without_saved_offsets_has_none(tmp_path: Path) -> None:
    assert read_consumer_offsets(tmp_path).table == {}
    assert read_consumer_offsets(tmp_path).source is None


def test_settings_of_every_golden_broker_are_read() -> None:
    for store in golden_stores():
        path = find_broker_conf(store.path)
        assert path == store.path / "broker.conf"
        conf = read_broker_conf(path)
        assert conf.or_default("transactionCheckMax", store.version) == {"late": 3, "forever_short": 2}.get(
            store.scenario, 15
        )
        assert conf.file_reserved_hours == 48


def test_a_broker_conf_beside_the_store_counts(tmp_path: Path) -> None:
    at_kill = golden_store("5.3.3", "crash2").at_kill
    assert at_kill is not None
    assert find_broker_conf(at_kill) == at_kill.parent.resolve() / "broker.conf"
    assert find_broker_conf(tmp_path) is None


def test_comments_blanks_separators_continued_lines_and_unknown_keys(tmp_path: Path) -> None:
    path = tmp_path / "broker.conf"
    path.write_text(
        "# a comment\n! another\n\n transactionCheckMax : 7\ntransactionTimeOut=\\\n  500\nwhatever=x=y\n"
        "mapedFileSizeCommitLog 4096\nempty=\n"
    )
    assert read_broker_conf(path) == BrokerConf(
        transaction_check_max=7, transaction_timeout_ms=500, mapped_file_size=4096
    )


def test_what_a_file_leaves_out_is_the_default_of_the_release() -> None:
    conf = BrokerConf(transaction_timeout_ms=500)
    assert conf.or_default("transactionTimeOut", "5.3.3") == 500
    assert conf.or_default("transactionCheckMax", "5.3.3") == 15
    assert [conf.or_default("transactionCheckInterval", release) for release in ("5.1.0", "5.1.1")] == [60_000, 30_000]


@pytest.mark.parametrize(
    ("text", "lies_in_rocksdb"),
    [
        ("transRocksDBEnable=true\ntransWriteOriginTransHalfEnable=false", True),
        ("transRocksDBEnable=true", False),
        ("transWriteOriginTransHalfEnable=false", False),
        ("", False),
    ],
)
def test_halves_lie_in_rocksdb_where_both_settings_say_so(tmp_path: Path, text: str, lies_in_rocksdb: bool) -> None:
    path = tmp_path / "broker.conf"
    path.write_text(f"{text}\n")
    assert bool(read_broker_conf(path).halves_in_rocksdb("5.5.1")) is lies_in_rocksdb
    assert read_broker_conf(path).halves_in_rocksdb("5.3.3") == ""


@pytest.mark.parametrize(
    "text",
    ["transactionCheckMax=many", "garbage", "a=b\0", "=5", "transactionCheckMax=5\ntransactionCheckMax=6 # more", ""],
)
def test_what_a_broker_swallows_leaves_the_default(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broker.conf"
    path.write_text(text)
    assert read_broker_conf(path, "5.3.3") == BrokerConf()


def test_numbers_below_the_least_that_makes_a_difference_are_that_one(tmp_path: Path) -> None:
    path = tmp_path / "broker.conf"
    path.write_text(
        "transactionCheckMax=0\ntransactionTimeOut=-5\ntransactionCheckInterval=0\nfileReservedTime=-1\n"
        "mappedFileSizeCommitLog=0\nflushConsumerOffsetInterval=-1\n"
    )
    assert read_broker_conf(path, "5.3.3") == BrokerConf(
        transaction_check_max=1, transaction_timeout_ms=1, transaction_check_interval_ms=1, file_reserved_hours=0
    )


def test_a_release_decides_which_keys_are_read_and_how(tmp_path: Path) -> None:
    path = tmp_path / "broker.conf"
    path.write_text("transactionOpBatchInterval=10\nmapedFileSizeCommitLog=4096\nbrokerRole=SLAVE \n")
    assert read_broker_conf(path, "4.5.1") == BrokerConf(mapped_file_size=4096)
    assert read_broker_conf(path, "5.1.4") == BrokerConf(op_batch_interval_ms=10)
    assert read_broker_conf(path, "5.2.0") == BrokerConf(op_batch_interval_ms=10, broker_role="SLAVE")
    assert read_broker_conf(path) == BrokerConf(op_batch_interval_ms=10, mapped_file_size=4096, broker_role="SLAVE")


def test_words_and_the_later_of_two_settings_are_read(tmp_path: Path) -> None:
    path = tmp_path / "broker.conf"
    path.write_text(
        "brokerRole = SLAVE\nflushDiskType=SYNC_FLUSH\nrejectTransactionMessage=TRUE\nenableSlaveActingMaster=true \n"
        "flushConsumerOffsetInterval=1000\ntransactionCheckMax=3\ntransactionCheckMax=4\n"
    )
    assert read_broker_conf(path, "5.3.3") == BrokerConf(
        broker_role="SLAVE",
        flush_disk_type="SYNC_FLUSH",
        reject_transaction_message=True,
        enable_slave_acting_master=False,
        flush_consumer_offset_interval_ms=1000,
        transaction_check_max=4,
    )


def test_what_mqadmin_prints_is_read_and_of_two_brokers_one_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "mqadmin.txt"
    one = "============127.0.0.1:10911============\ntransactionCheckMax                     =  5\n\n"
    path.write_text(one)
    assert read_broker_conf(path, "5.3.3") == BrokerConf(transaction_check_max=5)
    assert mqadmin_broker(path) == "127.0.0.1:10911"
    path.write_text(one + "============My Master: 127.0.0.1:10911=====Slave: 127.0.0.1:10921============\na=  b\n")
    with pytest.raises(BrokenConfigError) as caught:
        read_broker_conf(path)
    assert str(caught.value) == (
        f"{path}: it holds the settings of 2 brokers: 127.0.0.1:10911 (line 1), "
        "My Master: 127.0.0.1:10911=====Slave: 127.0.0.1:10921 (line 4); leave the lines of one in it"
    )


def test_a_file_with_which_no_broker_starts_and_a_folder_are_refused_with_the_path(tmp_path: Path) -> None:
    path = tmp_path / "broker.conf"
    path.write_text("storePathRootDir=D:\\users\n")
    with pytest.raises(BrokenConfigError, match=r"broker\.conf, line 1: .* the broker does not start"):
        read_broker_conf(path)
    with pytest.raises(BrokenConfigError, match="is not a file"):
        read_broker_conf(tmp_path)
