"""The golden stores are complete, small, clean of foreign paths, and count what their README says."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from conformance.golden_stores import GOLDEN, GoldenStore, golden_store, golden_stores
from reference.format.commit_log import CommitLog
from reference.format.consumer_offsets import read_consumer_offsets
from tests.conformance.decoded_store import consume_queue_entries, decoded_records

HALF, OP, DISCARD = "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC"

FINAL = {
    # halves, ops, delivered, discarded, saved half offset, saved op offset
    "4.5.1/five": (22, 4, 2, 0, 22, 4),
    "4.5.1/forever": (16, 0, 0, 0, 16, None),
    "4.5.1/immunity": (26, 8, 8, 0, 26, 8),
    "4.5.1/late": (16, 15, 12, 0, 16, 15),
    "4.5.1/mixed": (564, 298, 184, 0, 564, 298),
    "4.5.1/ten": (29, 9, 6, 0, 29, 9),
    "4.9.7/crash2": (94, 6, 4, 6, 94, 6),
    "4.9.7/five": (22, 4, 2, 1, 22, 4),
    "4.9.7/forever": (16, 0, 0, 1, 16, None),
    "4.9.7/gone": (38, 4, 3, 0, 38, 4),
    "4.9.7/immunity": (26, 8, 8, 0, 26, 8),
    "4.9.7/late": (16, 15, 12, 3, 16, 15),
    "4.9.7/mixed": (460, 194, 117, 6, 460, 194),
    "4.9.7/ten": (29, 9, 6, 1, 29, 9),
    "4.9.7/wide": (1431, 1408, 1252, 1, 1431, 1408),
    "5.0.0/forever_short": (3, 0, 0, 1, 3, None),
    "5.1.0/forever_short": (3, 0, 0, 1, 3, None),
    "5.2.0/forever_short": (3, 0, 0, 1, 3, None),
    "5.3.3/crash": (174, 4, 10, 4, 174, 4),
    "5.3.3/crash2": (50, 6, 6, 2, 50, 6),
    "5.3.3/five": (22, 2, 2, 1, 22, 2),
    "5.3.3/forever": (16, 0, 0, 1, 16, None),
    "5.3.3/immunity": (25, 4, 8, 0, 25, 4),
    "5.3.3/late": (16, 8, 11, 3, 16, 8),
    "5.3.3/mixed": (466, 17, 121, 6, 466, 17),
    "5.3.3/seed394": (16, 0, 0, 1, 16, None),
    "5.3.3/ten": (29, 3, 6, 1, 29, 3),
    "5.3.3/wide": (1454, 3, 1271, 1, 1454, 3),
    "5.4.0/crash": (86, 6, 10, 4, 86, 6),
    "5.4.0/five": (22, 2, 2, 1, 22, 2),
    "5.4.0/forever": (16, 0, 0, 1, 16, None),
    "5.4.0/immunity": (26, 5, 8, 0, 26, 5),
    "5.4.0/late": (16, 8, 11, 2, 16, 8),
    "5.4.0/ten": (29, 3, 6, 1, 29, 3),
    "5.5.0/crash2": (51, 7, 6, 2, 51, 7),
    "5.5.0/five": (22, 3, 2, 1, 22, 3),
    "5.5.0/immunity": (26, 6, 8, 0, 26, 6),
    "5.5.0/late": (16, 10, 11, 3, 16, 10),
    "5.5.0/mixed": (466, 19, 121, 6, 466, 19),
    "5.5.1/five": (22, 3, 2, 1, 22, 3),
    "5.5.1/gone": (38, 4, 3, 0, 38, 4),
    "5.5.1/immunity": (25, 5, 8, 0, 25, 5),
    "5.5.1/late": (16, 10, 11, 3, 16, 10),
}

STORES = golden_stores()


@pytest.mark.parametrize("store", STORES, ids=lambda store: store.name)
def test_final_counts_and_saved_offsets(store: GoldenStore) -> None:
    counts = Counter(record.topic for record in CommitLog.open(store.path).records())
    real = sum(count for topic, count in counts.items() if topic not in (HALF, OP, DISCARD))
    saved = read_consumer_offsets(store.path)
    final = (counts[HALF], counts[OP], real, counts[DISCARD], saved.get(HALF, 0), saved.get(OP, 0))
    assert final == FINAL[store.name]


def test_the_readme_shows_the_same_counts() -> None:
    rows = re.findall(
        r"^\| ([\d.]+) \| (\w+) \|((?: [\d–]+ \|){6})$",
        (GOLDEN / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    shown = {
        f"{version}/{scenario}": tuple(None if cell == "–" else int(cell) for cell in cells.replace("|", "").split())
        for version, scenario, cells in rows
    }
    assert shown == FINAL


def test_every_store_can_be_opened_with_all_its_logs() -> None:
    for store in [*STORES, *golden_stores(in_rocksdb=True)]:
        assert store.meta()["version"] == store.version
        assert store.driver_events()[0]["ev"] == "begin"
        assert sum(1 for _ in decoded_records(store)) > 0
        assert sum(1 for _ in consume_queue_entries(store)) > 0
        assert store.transaction_log()
        assert (store.at_kill is not None) is (store.scenario in ("crash", "crash2"))
    with pytest.raises(LookupError, match=r"no golden store 1\.0/x"):
        golden_store("1.0", "x")


def test_halves_in_rocksdb_are_none_of_the_half_queue() -> None:
    halves, ops = "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC"
    counts = {
        store.name: Counter(record.topic for record in CommitLog.open(store.path).records())
        for store in golden_stores(in_rocksdb=True)
    }
    assert counts == {
        "5.5.1/rocksdb_five": {halves: 5, ops: 4, "T5": 2},
        "5.5.1/rocksdb_immunity": {halves: 7, ops: 7, "TopicImm": 7},
    }


def test_they_are_less_than_11_million_bytes_and_name_no_machine() -> None:
    files = [path for path in GOLDEN.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 11_000_000
    for path in files:
        raw = path.read_bytes()
        if path.suffix == ".gz":
            assert raw[4:8] == bytes(4), f"{path} holds a time"
        elif path.suffix in (".json", ".conf", ".bak"):
            assert not re.search(rb"/(home|root|work|tmp|Users)/", raw), path
