"""The traces of the golden stores, with the settings of their brokers, each read once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from conformance.golden_stores import golden_store
from model_check.trace_validation.observed import Trace
from reference.format.broker_conf import find_broker_conf, read_broker_conf
from reference.format.commit_log import CommitLog
from reference.format.consumer_offsets import read_consumer_offsets
from reference.format.frame import Frame
from reference.format.record import LogRecord
from spark_trace_analysis.audit.explanation.trace_verdict import profiles_for, validation_settings
from spark_trace_analysis.ingest.driver_log import find_driver_log, read_driver_log
from spark_trace_analysis.ingest.store_trace import StoreTrace
from spark_trace_analysis.records.transaction_record import HALF_TOPIC, OP_TOPIC, classify, concerns_a_transaction

if TYPE_CHECKING:
    from model_check.configuration import Configuration
    from model_check.world import Profile
    from spec.switches import Switches


@dataclass(frozen=True)
class GoldenTrace:
    """A store's trace, with and without what its producers logged."""

    alone: Trace
    with_driver: Trace
    settings: Configuration
    profile: Profile

    @property
    def switches(self) -> Switches:
        """The switches of the version that wrote it."""
        return self.profile.switches


@cache
def golden_trace(name: str) -> GoldenTrace:
    """The trace of one golden store."""
    store = golden_store(*name.split("/")).path
    conf_path = find_broker_conf(store)
    assert conf_path is not None
    conf = read_broker_conf(conf_path)
    assert conf.transaction_timeout_ms is not None
    trace = StoreTrace(conf.transaction_timeout_ms)
    for record in CommitLog.open(store).read(concerns_a_transaction):
        if isinstance(record, Frame):
            continue
        assert isinstance(record, LogRecord)
        trace.add(record, classify(record))
    saved = read_consumer_offsets(store)
    trace.add_saved_offsets(saved.get(HALF_TOPIC, 0) or 0, saved.get(OP_TOPIC, 0) or 0)
    assert not trace.unfit
    log = find_driver_log(store)
    assert log is not None
    driver = read_driver_log(log)
    (profile,) = profiles_for(name.split("/", maxsplit=1)[0])
    events = tuple(trace.events)
    settings = validation_settings(conf, profile.name)
    return GoldenTrace(Trace(events), Trace(events, driver.requests, driver.checked), settings, profile)
