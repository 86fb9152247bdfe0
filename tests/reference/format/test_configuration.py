"""The saved offsets and the broker's settings are read as a broker reads them, and refused in one clear line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import golden_store, golden_stores
from reference.format.broker_conf import BrokerConf, find_broker_conf, read_broker_conf
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


@pytest.mark.parametrize("text", ["transactionCheckMax=many", "transactionCheckMax=0", "garbage", "a=b\0", "=5"])
def test_a_broken_broker_conf_is_refused_with_its_path(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broker.conf"
    path.write_text(text)
    with pytest.raises(BrokenConfigError, match=r"broker\.conf"):
        read_broker_conf(path)
