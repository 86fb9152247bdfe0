"""A walk-through as a test sees it: its run, its store as the project's reader decodes it, and what an audit says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reference.format.broker_conf import read_broker_conf
from reference.format.commit_log import CommitLog
from reference.format.consumer_offsets import ConsumerOffsets, read_consumer_offsets
from reference.format.errors import CorruptRegion
from reference.format.record import LogRecord
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC
from reference.scenarios.scenario import Scenario, ScenarioRun, run, write_store
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.explanation.recorded_verdict import RecordedQuestion, RecordedVerdict, judge_recorded
from spark_trace_analysis.audit.explanation.trace_verdict import profiles_for

if TYPE_CHECKING:
    from pathlib import Path

    from spark_trace_analysis.audit.audit import Audit

SEEDS = range(1, 6)


@dataclass
class PlayedStore:
    """One run's store."""

    run: ScenarioRun
    records: list[LogRecord]
    offsets: ConsumerOffsets
    audit: Audit
    recorded: RecordedVerdict

    def of(self, topic: str) -> list[LogRecord]:
        return [record for record in self.records if record.topic == topic]

    @property
    def halves(self) -> list[LogRecord]:
        return self.of(HALF_TOPIC)

    @property
    def ops(self) -> list[LogRecord]:
        return self.of(OP_TOPIC)

    @property
    def discarded(self) -> list[LogRecord]:
        return self.of(DISCARD_TOPIC)

    @property
    def saved(self) -> tuple[int, int]:
        """The saved half and op offset."""
        return self.offsets.get(HALF_TOPIC, 0) or 0, self.offsets.get(OP_TOPIC, 0) or 0

    def states(self) -> dict[str, list[str]]:
        """The bodies of the first halves by what the audit says of their transactions."""
        body_of = {half.properties["UNIQ_KEY"]: half.body.decode() for half in self.halves}
        by_state: dict[str, list[str]] = {}
        for row in self.audit.transactions:
            by_state.setdefault(row.state.value, []).append(body_of[row.unique_key])
        return by_state

    def assert_accepted_without_a_fault(self) -> None:
        """By its records, as an audit asks, and by the events that its broker recorded."""
        for verdict in (self.audit.trace, self.recorded):
            assert (verdict.accepted, verdict.is_complete, verdict.faults) == (True, True, {}), verdict.sentence()


def play(scenario: Scenario, folder: Path, seed: int = 1) -> PlayedStore:
    """Run a walk-through, write its store, and read it again."""
    return read(run(scenario, seed), folder)


def read(played: ScenarioRun, folder: Path) -> PlayedStore:
    """Write a run's store, and read it again; nothing in it is damaged."""
    write_store(played.cluster, folder)
    records = []
    for entry in CommitLog.open(folder).read():
        assert not isinstance(entry, CorruptRegion), entry
        assert isinstance(entry, LogRecord)
        assert entry.has_sound_body
        records.append(entry)
    audit = audit_store(folder, played.scenario.version)
    assert audit.corrupt == ()
    (profile,) = profiles_for(played.scenario.version)
    conf = read_broker_conf(folder / "broker.conf")
    question = RecordedQuestion(profile=profile, conf=conf)
    recorded = judge_recorded(folder / "trace.jsonl", question)
    return PlayedStore(played, records, read_consumer_offsets(folder), audit, recorded)
