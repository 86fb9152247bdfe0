"""What a watch counts and tells at each look is what an audit of the whole store says at that moment."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from conformance.golden_stores import golden_store, golden_stores
from halfcheck.watching.judged_rows import JudgedRows, shared_places
from halfcheck.watching.memory import half_place
from halfcheck.watching.news import REPORTED_STATES, Look
from halfcheck.watching.sources import BrokerSource, GrowingStore
from reference.format.store_paths import store_paths
from reference.format.system_topics import CHECK_GROUP, HALF_TOPIC, OP_TOPIC
from spark_trace_analysis.audit.audit_rows import AuditRows
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.columns.row_tables import table_of
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import HistoryEvent, TransactionRow
from tests.halfcheck.watching.watched import SETTINGS, Looking
from tests.sampled import sampled
from tests.wire.copying.traffic import COMMIT, OTHER, ROLLBACK, ordinary
from tests.wire.one_broker import broker
from tests.wire.one_producer import TOPIC, OneProducer
from wire.client.channel import Address, BrokerChannel
from wire.copying.broker_moment import BrokerMoment

if TYPE_CHECKING:
    from pathlib import Path

    from halfcheck.watching.sources import WatchedSource
    from spark_trace_analysis.audit.audit import Audit
    from tests.wire.one_producer import Half


SURELY = [state for state in REPORTED_STATES if state != TransactionState.UNKNOWN]
"""An unknown one is told when it stays so."""


def told_of(looks: list[Look]) -> Counter[tuple[str, str]]:
    return Counter((news.row.unique_key, news.what) for look in looks for news in look.news if news.row is not None)


def expected(audit: Audit) -> Counter[tuple[str, str]]:
    return Counter(
        (row.unique_key, state) for row in audit.transactions for state in (row.state, *row.also) if state in SURELY
    )


STORES = [store.name for store in golden_stores() if not store.keeps_halves_in_rocksdb]


@pytest.mark.parametrize("name", sampled(STORES, 9))
def test_a_second_look_at_a_store_that_stands_still_finds_the_same(tmp_path: Path, name: str) -> None:
    store = golden_store(*name.split("/")).path
    looking = Looking(tmp_path / "memory", GrowingStore(store_paths(store)))
    first, second = looking.look(), looking.look()
    assert first.counts == second.counts == audit_store(store).counts
    assert second.news == ()


def test_what_the_check_service_has_not_passed_is_not_settled(tmp_path: Path) -> None:
    store = tmp_path / "store"
    shutil.copytree(golden_store("5.3.3", "mixed").path, store)
    saved = store / "config" / "consumerOffset.json"
    looking = Looking(tmp_path / "memory", GrowingStore(store_paths(store)))
    looks = []
    for half, op in ((0, 0), (0, 17), (466, 17)):
        table = {f"{HALF_TOPIC}@{CHECK_GROUP}": {"0": half}, f"{OP_TOPIC}@{CHECK_GROUP}": {"0": op}}
        saved.write_text(json.dumps({"offsetTable": table}), encoding="utf-8")
        looks.append(looking.look())
        assert looks[-1].counts == audit_store(store).counts
    assert [look.remembered for look in looks] == [0, 0, 200]
    assert looks[0].counts != looks[1].counts


def test_two_halves_at_one_place_are_known(tmp_path: Path) -> None:
    def row(key: str, offset: int) -> TransactionRow:
        event = HistoryEvent("half", offset, 1, 0, offset)
        return TransactionRow(
            key, "g", "t", TransactionState.ROLLED_BACK, (), 0, 0, 0, (offset,), (), (), history=(event,)
        )

    for number, offsets in enumerate(((5, 6), (6, 7))):
        table = table_of([row(f"{number}{offset}", offset) for offset in offsets])
        pq.write_table(table, tmp_path / f"transactions-{number}.parquet")
    rows = AuditRows(tmp_path)
    shared = shared_places(rows)
    assert shared.tolist() == [half_place(0, 6)]
    there = [JudgedRows(table).stand_at(shared).tolist() for _, table in rows.tables()]
    assert there == [[False, True], [True, False]]


@pytest.mark.parametrize(("profile", "seed"), [("4.5.1", 1), ("5.5.1", 4)])
def test_each_look_counts_what_an_audit_of_the_whole_store_counts(tmp_path: Path, profile: str, seed: int) -> None:
    chance = random.Random(seed)
    store = tmp_path / "store"
    halves: list[Half] = []
    with broker(tmp_path, profile, conf=SETTINGS) as running, OneProducer(running.address) as one:
        running.controller.topic(TOPIC)
        running.controller.topic(OTHER)
        one.heartbeat()
        halves.append(one.half("first"))
        sources: list[WatchedSource] = [
            BrokerSource(Address.of(running.address), 1e9),
            GrowingStore(store_paths(store, broker_conf=tmp_path / "broker.conf")),
        ]
        looks: dict[str, list[Look]] = {source.name: [] for source in sources}
        for number in range(80):
            half = one.half(f"k{number}")
            halves.append(half)
            ordinary(one, number)
            if chance.random() < 0.6:
                one.end(half, chance.choice([COMMIT, COMMIT, ROLLBACK]))
            if chance.random() < 0.2:
                one.end(chance.choice(halves), chance.choice([COMMIT, ROLLBACK]))
            if chance.random() < 0.1:
                running.controller.push_clock(chance.randint(1_000, 30_000))
            if number % 20 == 19:
                running.controller.push_clock(5_000)
                for source in sources:
                    looking = Looking(tmp_path / f"{len(source.name)}.sqlite", source, version=profile)
                    looks[source.name].append(looking.look())
                (tmp_path / f"{number}").mkdir()
                with BrokerChannel(Address.of(running.address)) as channel:
                    BrokerMoment(channel).copy(tmp_path / f"{number}")
                moments = [audit_store(folder, profile) for folder in (tmp_path / f"{number}", store)]
                for found, audit in zip(looks.values(), moments, strict=True):
                    assert found[-1].counts == audit.counts
                    assert found[-1].remembered or number < 40
                    assert set(told_of(found)) >= set(expected(audit))
                    assert max(told_of(found).values(), default=1) == 1
    assert audit.counts["doubled"]
    assert audit.counts["parked" if profile != "4.5.1" else "pending"]
