"""What a watch counts and tells at each look is what an audit of the whole store says at that moment."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import golden_store, golden_stores
from halfcheck.watching.news import TOLD_STATES, Look
from halfcheck.watching.sources import BrokerSource, GrowingStore
from reference.format.store_paths import store_paths
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.rules.state import TransactionState
from tests.halfcheck.watching.watched import SETTINGS, Looking
from tests.sampled import sampled
from tests.wire.copying.traffic import COMMIT, OTHER, ROLLBACK, ordinary
from tests.wire.one_broker import broker
from tests.wire.one_producer import TOPIC, OneProducer
from wire.client.channel import Address, BrokerChannel
from wire.copying.broker_moment import BrokerMoment

if TYPE_CHECKING:
    from pathlib import Path

    from halfcheck.watching.sources import Source
    from spark_trace_analysis.audit.audit import Audit
    from tests.wire.one_producer import Half


SURELY = [state for state in TOLD_STATES if state != TransactionState.UNKNOWN]
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
        sources: list[Source] = [
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
