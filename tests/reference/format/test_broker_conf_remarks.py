"""What is said of a broker.conf: what the broker swallows, what a setting does, what looks like a mistake."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from reference.format import broker_conf_remarks
from reference.format.broker_conf_remarks import remarks_on_file, unread_keys
from reference.format.broker_keys import any_key, keys_of
from spec.constants import FAULTS

if TYPE_CHECKING:
    from pathlib import Path


def remarks(tmp_path: Path, text: str, release: str = "5.3.3") -> list[str]:
    path = tmp_path / "broker.conf"
    path.write_text(text, encoding="utf-8")
    return remarks_on_file(path, release)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("transactionTimeOut=6s", "'6s', not a whole number: the broker swallows it and runs with its default, 6000"),
        ("transactionTimeOut=6000 ", "'6000 ', not a whole number (a blank stands behind it): the broker swallows it"),
        (
            "transactionCheckInterval=20000 # 20 s",
            "(a comment has a line of its own): the broker swallows it and runs with",
        ),
        ("transactionOpBatchInterval=2147483648", "not a whole number below 2147483648: the broker swallows it"),
        ("transactionCheckMax=5 # 五次", "transactionCheckMax is '5 # 五次', not a whole number"),
        ("sendMessageThreadPoolNums=29*1", "line 1: sendMessageThreadPoolNums is '29*1', not a whole number below"),
        ("diskMaxUsedSpaceRatio=0.75", "'0.75', not a whole number below 2147483648: the broker swallows it"),
        (
            "flushDiskType=ASYNC",
            "'ASYNC', not SYNC_FLUSH or ASYNC_FLUSH: the broker swallows it and runs with its default, A",
        ),
        ("brokerRole=slave", "not ASYNC_MASTER or SYNC_MASTER or SLAVE: the broker swallows it"),
        ("rejectTransactionMessage=yes", "is 'yes', and what is not true is false to the broker"),
        ("enableSlaveActingMaster=true ", "and what is not true is false to the broker (a blank stands behind it)"),
        ("autoCreateTopicEnable=true # yes", "false to the broker (a comment has a line of its own)"),
    ],
)
def test_a_value_that_the_broker_does_not_take_is_told_with_what_is_in_force(
    tmp_path: Path, line: str, expected: str
) -> None:
    (remark,) = remarks(tmp_path, f"{line}\n")
    assert expected in remark
    assert remark.startswith("line 1: ")


@pytest.mark.parametrize(
    ("text", "release", "expected"),
    [
        (
            "transactionCheckInterval=10",
            "5.1.3",
            "transactionCheckInterval=10 is 10 ms between two rounds: all",
        ),
        (
            "transactionCheckInterval=2000",
            "5.3.3",
            "=2000 is less than transactionOpBatchInterval=3000: a round may come",
        ),
        ("transactionTimeOut=6", "4.9.7", "transactionTimeOut=6 is 6 ms: a half is checked before its local"),
        ("transactionTimeOut=7200000", "4.9.7", "transactionTimeOut=7200000 is 2 h: no half is checked sooner"),
        ("transactionOpBatchInterval=3", "5.1.0", "transactionOpBatchInterval=3 is 3 ms: almost every"),
        ("transactionCheckMax=60000", "4.9.7", "transactionCheckMax=60000 is 60000 checks, and no time"),
        ("transactionCheckMax=1000", "5.5.1", "a half is asked about for up to 8 h 20 min, and each check writes"),
        ("transactionCheckMax=-3", "5.5.1", "transactionCheckMax=-3: RocketMQ takes it as 1"),
        (
            "transactionCheckMax=2147483647\ntransactionCheckInterval=-1",
            "4.9.7",
            "transactionCheckMax=2147483647 is 2147483647 checks, and no time: a half is asked about for up to 0 s",
        ),
        ("transactionCheckMax=0", "4.9.7", "transactionCheckMax=0: RocketMQ takes it as 1"),
        ("fileReservedTime=3", "4.9.7", "fileReservedTime=3 is 3 hours: a half that is older is discarded"),
        ("flushConsumerOffsetInterval=5", "4.9.7", "=5 is 5 ms: consumer offsets"),
        ("flushConsumerOffsetInterval=0", "4.9.7", "=0: the broker does not start"),
        ("brokerRole=SLAVE", "4.9.7", "a slave's brokerId must be above 0, and it is 0"),
        ("brokerRole=SLAVE\nbrokerId=1", "4.9.7", "line 1: brokerRole=SLAVE: a slave refuses END_TRANSACTION"),
        ("namesrvAddr=10.0.0.5:9876 # ns", "4.9.7", "the broker does not start (exit -3): addresses HOST:PORT"),
        ("namesrvAddr=10.0.0.5", "5.3.3", "the broker does not start (exit -3): addresses HOST:PORT"),
        ("namesrvAddr=", "4.9.7", "the broker does not start (exit -3): addresses HOST:PORT"),
        (
            "enableControllerMode=true\nenableDLegerCommitLog=true",
            "5.3.3",
            "line 1: enableControllerMode=true: the broker does",
        ),
        (
            "enableControllerMode=true",
            "5.0.0",
            "the controller elects the master, whatever brokerRole says; halfcheck check --faults role",
        ),
        ("enableDLegerCommitLog=true", "4.9.7", "DLedger elects the master, whatever brokerRole says"),
        ("rejectTransactionMessage=true", "4.9.7", "the broker refuses every half"),
        ("enableSlaveActingMaster=true", "5.3.3", "--faults acting_slave asks"),
        (
            "minInSyncReplicas=2",
            "5.3.3",
            "it changes nothing here: a broker asks for it with enableControllerMode=true, or as SYNC_MASTER with",
        ),
        (
            "minInSyncReplicas=2\nenableAutoInSyncReplicas=true\nenableSlaveActingMaster=true\nbrokerRole=SYNC_MASTER",
            "5.3.3",
            "line 1: minInSyncReplicas=2: while fewer replicas are in sync, each commit is refused",
        ),
        (
            "minInSyncReplicas=2\nenableAutoInSyncReplicas=true\nenableSlaveActingMaster=true",
            "5.3.3",
            "line 1: minInSyncReplicas=2: it changes nothing here",
        ),
        ("transientStorePoolEnable=true", "4.9.7", "is in the memory of the broker's process only"),
        (
            "transientStorePoolEnable=true\nflushDiskType=SYNC_FLUSH",
            "4.9.7",
            "it changes nothing here: the pool is for",
        ),
        (
            "transientStorePoolEnable=true\nflushDiskType=SYNC_FLUSH",
            "5.1.4",
            "with flushDiskType=SYNC_FLUSH a half is often answered FLUSH_DISK_TIMEOUT",
        ),
        (
            "transientStorePoolEnable=true\nflushDiskType=SYNC_FLUSH",
            "5.3.3",
            "with flushDiskType=SYNC_FLUSH each message waits up to a second",
        ),
        (
            "transientStorePoolEnable=true\nflushDiskType=ASYNC_FLUSH",
            "5.3.3",
            "is in the memory of the broker's process",
        ),
        ("storeType=defaultRocksDB", "5.3.3", "how far the check service is stands in no consumerOffset.json"),
        ("storePathCommitLog=/a,/b", "4.9.7", "lie in several folders in turn: an audit needs all of them"),
        ("transRocksDBEnable=true", "5.4.0", "halves lie in the commit log, too"),
        ("transRocksDBEnable=true\ntransWriteOriginTransHalfEnable=false", "5.4.0", "nothing is said of them"),
        ("brokerRole=SYNC_MASTER\ninSyncReplicas=2", "5.3.3", "--faults bad_store_status asks what that does"),
        (
            "brokerRole=SYNC_MASTER\ninSyncReplicas=2\nenableSlaveActingMaster=true",
            "5.3.3",
            "line 2: inSyncReplicas=2: while fewer replicas are in sync, each commit is refused",
        ),
    ],
)
def test_a_setting_that_matters_to_messages_is_spoken_of_once(
    tmp_path: Path, text: str, release: str, expected: str
) -> None:
    found = remarks(tmp_path, f"{text}\n", release)
    assert sum(expected in one for one in found) == 1, found
    assert len({one.split("=")[0] for one in found}) == len(found)


def test_what_refuses_a_commit_in_controller_mode_names_its_end_and_how_to_ask(tmp_path: Path) -> None:
    found = remarks(
        tmp_path, "enableControllerMode=true\nallAckInSyncStateSet=true\nminInSyncReplicas=2\ntransactionCheckMax=5\n"
    )
    assert [one.partition(":")[0] for one in found] == ["line 1", "line 2", "line 3"]
    for one in found[1:]:
        assert "discarded after transactionCheckMax=5 checks" in one
        assert "#7709" in one
    assert "--faults put_failure" in found[2]


@pytest.mark.parametrize(
    "text",
    [
        "transactionTimeOut=6000\ntransactionCheckInterval=60000\ntransactionCheckMax=15\nfileReservedTime=48\n",
        "brokerRole=SYNC_MASTER\nflushDiskType=SYNC_FLUSH\nbrokerId=0\nnamesrvAddr=a:9876;b:9876;\n",
        "minInSyncReplicas=1\nallAckInSyncStateSet=false\nstorePathCommitLog=/a\nstoreType=default\n",
        "enableControllerMode=false\nenableDLegerCommitLog=FALSE\ntransientStorePoolEnable=false\n",
        "# 配置者: 全部关闭\nautoCreateTopicEnable=false\n",
    ],
)
def test_of_ordinary_settings_nothing_is_said(tmp_path: Path, text: str) -> None:
    assert remarks(tmp_path, text) == []


def test_what_a_release_does_not_have_is_not_spoken_of_but_as_ignored(tmp_path: Path) -> None:
    (remark,) = remarks(tmp_path, "minInSyncReplicas=2\n", "4.9.7")
    assert "is no setting of 4.9.7, whose broker ignores it; releases from 5.0.0 on have it" in remark
    assert remarks(tmp_path, "storePathCommitLog=/a,/b\n", "4.9.1") == []
    assert remarks(tmp_path, "brokerRole=SLAVE \nbrokerId=1\n", "5.1.4")[0].endswith("its default, ASYNC_MASTER")
    assert "a slave refuses" in remarks(tmp_path, "brokerRole=SLAVE \nbrokerId=1\n", "5.2.0")[0]


def test_a_key_in_another_script_is_shown_as_an_editor_shows_it(tmp_path: Path) -> None:
    (remark,) = remarks(tmp_path, "键=5\ntransactionCheckMax=5\n")
    assert remark == "line 1: 键 is no setting of 5.3.3, whose broker ignores it"


def test_a_later_line_of_a_key_is_told_and_judged(tmp_path: Path) -> None:
    assert remarks(tmp_path, "transactionCheckMax=5\ntransactionCheckMax=7 # more\n", "4.9.7") == [
        "line 2: transactionCheckMax stands in line 1 already; the broker takes the later one, '7 # more'",
        "line 2: transactionCheckMax is '7 # more', not a whole number below 2147483648 "
        "(a comment has a line of its own): the broker swallows it and runs with its default, 15",
    ]


def test_what_is_no_broker_conf_is_told_apart(tmp_path: Path) -> None:
    manifest = "apiVersion: v1\nkind: ConfigMap\ndata:\n  broker.conf: |\n    transactionCheckMax=5\n"
    assert remarks(tmp_path, manifest)[-1].startswith("it looks like a Kubernetes manifest")
    log = "2026-01-05 10:00:00 INFO main - transactionCheckMax=5\n" * 40
    assert remarks(tmp_path, log)[-1].startswith("it looks like a log")
    assert len(remarks(tmp_path, log)) <= 4
    assert remarks(tmp_path, "hello\n")[-1].endswith("is it a broker.conf?")
    assert remarks(tmp_path, "\0" * 100)[-1].startswith("it holds zero bytes")


def test_of_what_mqadmin_prints_fields_without_a_setter_are_no_mistakes(tmp_path: Path) -> None:
    text = "============a:10911============\nbrokerIdentity    =  x\ntransactionCheckMax   =  5\n"
    assert remarks(tmp_path, text) == []
    found = remarks(tmp_path, f"{text}enableControllerMode  =  false\n", "4.9.7")
    assert [one[:60] for one in found] == [
        "line 4: enableControllerMode is no setting of 4.9.7, whose b",
        "it is what mqadmin getBrokerConfig printed of a:10911: is 4.",
    ]
    assert [key.key for key in unread_keys(tmp_path / "broker.conf", "4.9.7")] == ["enableControllerMode"]


def test_each_row_speaks_of_keys_and_faults_that_there_are() -> None:
    for row in broker_conf_remarks._rows():
        named = {row.key, *row.when, *re.findall(r"{(\w+)}", row.says)} - {"as_time", "checks_time"}
        assert all(any_key(name) for name in named), row
        assert set(re.findall(r"--faults (\w+)", row.says)) <= set(FAULTS), row
        assert row.when.get(row.key), row
        assert all(
            name in keys_of("5.5.1") or row.key.endswith("Capacity") or name == "mapedFileSizeCommitLog"
            for name in named
        )
