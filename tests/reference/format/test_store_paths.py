"""The log of a store is found where its settings say that it lies, also in a copy; what is not found is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from conformance.golden_stores import golden_store
from reference.format.commit_log import CommitLog
from reference.format.errors import NotAStoreError
from reference.format.store_paths import store_paths
from spark_trace_analysis.audit.audit_store import audit_store
from tests.spark_trace_analysis.audit.both_audits import NO_TRACE, assert_both

WIDE = golden_store("5.3.3", "wide").path
IN_TURN = "storePathRootDir=/r\nstorePathCommitLog=/r/x,/r/y\nreadOnlyCommitLogStorePaths=/r/z"
ELECTED = "enableDLegerCommitLog=true\ndLegerSelfId=n1"
FIRST, MIDDLE, LAST = (f"{start:020d}" for start in (0, 524_288, 1_048_576))


def store_of(folder: Path, conf: str = "", *logs: str) -> Path:
    """A store with folders that hold the beginnings of files, and its settings."""
    folder.mkdir()
    for number, log in enumerate(logs or ("commitlog",)):
        (folder / log).mkdir(parents=True, exist_ok=True)
        (folder / log / f"{number << 20:020d}").touch()
    if conf:
        (folder / "broker.conf").write_text(conf.format(store=folder, beside=folder.parent))
    return folder


def names(store: Path) -> list[str]:
    where = store_paths(store)
    return [where.name_of(folder) for folder in where.log_folders]


@pytest.mark.parametrize(
    ("conf", "logs", "found"),
    [
        ("", ["commitlog"], ["commitlog"]),
        ("storePathCommitLog=/of/another/machine/commitlog", ["commitlog"], ["commitlog"]),
        ("storePathCommitLog=/of/another/machine/log", ["commitlog"], ["commitlog"]),
        ("storePathCommitLog=/another/machine/log", ["machine/log"], ["machine/log"]),
        ("storePathCommitLog={store}/a,{store}/b", ["a", "b"], ["a", "b"]),
        ("storePathCommitLog=/d1/log,/d2/log", ["d1/log", "d2/log"], ["d1/log", "d2/log"]),
        ("storePathCommitLog=/d1/commitlog,/d2/commitlog", ["commitlog"], ["commitlog"]),
        (IN_TURN, ["x", "y", "z"], ["x", "y", "z"]),
        ("storePathCommitLog=/r/x\nreadOnlyCommitLogStorePaths=/r/z", ["x", "z"], ["x"]),
        (ELECTED, ["dledger-n0/data", "dledger-n1/data"], ["dledger-n1/data"]),
        (ELECTED, ["commitlog", "dledger-n1/data"], ["dledger-n1/data", "commitlog"]),
        ("enableDLegerCommitLog=TRUE\nstorePathDLedgerCommitLog=/a/x,/a/y", ["x", "y"], ["x", "y"]),
        ("", ["dledger-n2/data"], ["dledger-n2/data"]),
        ("", ["commitlog", "dledger-n2/data"], ["commitlog", "dledger-n2/data"]),
    ],
)  # fmt: skip
def test_a_log_is_found_where_the_settings_say(tmp_path: Path, conf: str, logs: list[str], found: list[str]) -> None:
    assert names(store_of(tmp_path / "s", conf, *logs)) == found


def test_of_its_own_store_the_settings_count_and_of_a_copy_what_lies_in_it(tmp_path: Path) -> None:
    conf = "storePathRootDir={store}\nstorePathCommitLog={beside}/disk1/commitlog\n"
    own = store_of(tmp_path / "s", conf)
    (tmp_path / "disk1" / "commitlog").mkdir(parents=True)
    (tmp_path / "disk1" / "commitlog" / FIRST).touch()
    assert store_paths(own).log_folders == (tmp_path / "disk1" / "commitlog",)
    copy = shutil.copytree(own, tmp_path / "copy")
    assert names(copy) == ["commitlog"]
    shutil.rmtree(copy / "commitlog")
    assert store_paths(copy).log_folders == (tmp_path / "disk1" / "commitlog",)


@pytest.mark.parametrize(
    ("conf", "log", "said"),
    [
        ("storePathCommitLog=/gone/a,/gone/b", "a", "names more than one path, and /gone/b is neither there nor below"),
        (
            "storePathCommitLog=/gone/a",
            "b",
            "has no commitlog/ in it, and storePathCommitLog=/gone/a of .* is not there",
        ),
        ("", "b", "has no commitlog/ in it, so it is not a RocketMQ store"),
        ("", ".", "/s is the log itself: give the store that it belongs to, with commitlog/ and config/ in it"),
    ],
)
def test_a_path_that_is_not_found_is_named(tmp_path: Path, conf: str, log: str, said: str) -> None:
    with pytest.raises(NotAStoreError, match=said):
        store_paths(store_of(tmp_path / "s", conf, log))


def test_of_several_brokers_of_a_group_one_has_to_be_named(tmp_path: Path) -> None:
    store = store_of(tmp_path / "s", "", "dledger-n0/data", "dledger-n1/data")
    with pytest.raises(NotAStoreError, match="dledger-n0/data, dledger-n1/data"):
        store_paths(store)
    assert store_paths(store, log_folders=[store / "dledger-n1/data"]).log_folders == (store / "dledger-n1/data",)


def wide(folder: Path, conf: str, *second: str) -> Path:
    """A golden store of three files, the second of them elsewhere, or nowhere."""
    for part in ("commitlog", "config", "consumequeue"):
        shutil.copytree(WIDE / part, folder / part)
    if second:
        target = folder.joinpath(*second)
        target.mkdir(parents=True)
        shutil.copy(folder / "commitlog" / MIDDLE, target)
    (folder / "commitlog" / MIDDLE).unlink()
    (folder / "broker.conf").write_text(conf)
    return folder


def test_files_in_turn_in_two_folders_are_one_log(tmp_path: Path) -> None:
    store = wide(tmp_path / "s", "storePathCommitLog=/d/commitlog,/d/disk2/commitlog\n", "disk2", "commitlog")
    found = audit_store(store, question=NO_TRACE)
    assert found.counts == audit_store(WIDE, question=NO_TRACE).counts
    assert (found.damage, found.notes) == (0, ("its log is read from commitlog and disk2/commitlog",))


def test_without_the_second_folder_the_missing_file_and_the_path_are_named(tmp_path: Path) -> None:
    store = wide(tmp_path / "s", "storePathCommitLog=/d/commitlog,/e/commitlog\nmappedFileSizeCommitLog=524288\n")
    with pytest.raises(
        NotAStoreError, match=f"/e/commitlog is neither there .* --commit-log DIR .*{MIDDLE} is missing"
    ):
        CommitLog.open(store)


def test_a_missing_file_is_one_piece_of_damage(tmp_path: Path) -> None:
    store = wide(tmp_path / "s", "mappedFileSizeCommitLog=524288\n")
    found = assert_both(store, split_bytes=200_000, bucket_bytes=400_000)
    assert [str(region) for region in found.corrupt] == [f"commitlog/{MIDDLE}, byte 0: the file is missing"]


def test_two_folders_that_hold_the_same_file_are_no_log(tmp_path: Path) -> None:
    store = store_of(tmp_path / "s", "storePathCommitLog=/d/a,/d/b", "a", "b")
    (store / "b" / f"{0:020d}").touch()
    with pytest.raises(NotAStoreError, match="only one of them can count"):
        CommitLog.open(store)


def test_folders_are_named_below_the_store_however_it_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_of(tmp_path / "s", "storePathRootDir={store}\nstorePathCommitLog={store}/a,{store}/b\n", "a", "b")
    monkeypatch.chdir(tmp_path)
    assert names(Path("s")) == ["a", "b"]
