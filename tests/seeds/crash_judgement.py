"""What a crashed walk-through came to, held against the specification and against a plain count.

The specification judges twice. Trace validation says whether some path of its steps leaves just the records of the
store, and which faults that path needs. The clauses that the end of that path breaks must be among those which the
table of verdicts (``verdicts.toml``) lists for the version and the manner of the crash. The count knows nothing of
the specification: it compares each message's records with those of the run without a crash.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from model_check.clauses import name_of
from model_check.trace_validation.observed import EventKind, Trace
from model_check.trace_validation.path_search import PAUSES
from model_check.trace_validation.validate import validate
from model_check.verdicts.table import read_table, table_file
from reference.format.broker_conf import read_broker_conf
from reference.format.consumer_offsets import read_consumer_offsets
from reference.format.errors import StoreError
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC
from reference.scenarios.scenario import FILE_SIZES, Scenario, ScenarioRun, begin, write_store
from reference.store.message_store import MessageStore
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.explanation.trace_verdict import profiles_for, validation_settings
from spark_trace_analysis.audit.opened_store import StoreQuestion
from spark_trace_analysis.ingest.driver_log import read_driver_log
from spark_trace_analysis.ingest.store_trace import read_store_trace
from spark_trace_analysis.records.transaction_record import RecordKind, classify
from spec.language import holds
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.trace_validation.retake import replay
from tests.seeds.crash import Boundary, Manner, crash, run_to_rest

if TYPE_CHECKING:
    from model_check.world import Profile
    from reference.format.record import LogRecord
    from spec.constants import Constants
    from spec.state import State

FAULT_OF = {Manner.PROCESS: "crash", Manner.TORN: "crash", Manner.POWER: "power_loss"}
_FILE_BYTES = FILE_SIZES.mapped_file_size_commit_log
LOSS_AND_DOUBLING = ("S1", "S2", "S3", "S4", "S5", "L1")
"""The properties that speak of what is delivered, parked or lost."""


@dataclass
class Judgement:
    """What became of one crash.

    Attributes
    ----------
    deaths
        How often the broker's process died.
    not_sent, lost, doubled, parked_twice
        The bodies of messages: of a send that was never acknowledged; acknowledged and decided as in the run without a
        crash, and yet delivered less often; delivered more often; discarded more often.
    clauses
        The clauses about loss and doubling that the specification's path breaks.
    faults
        The faults that the path needs.
    wrong
        What must not be, in words; empty if all is as the specification allows.
    """

    deaths: int = 0
    not_sent: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    parked_twice: list[str] = field(default_factory=list)
    clauses: list[str] = field(default_factory=list)
    faults: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Fates:
    """How often each message was stored as a half, delivered and discarded, by its body."""

    halves: Counter[str]
    delivered: Counter[str]
    discarded: Counter[str]

    @classmethod
    def of(cls, records: tuple[LogRecord, ...]) -> Fates:
        counts = {kind: Counter[str]() for kind in RecordKind}
        for record in records:
            counts[classify(record)][record.body.decode()] += 1
        return cls(counts[RecordKind.FIRST_HALF], counts[RecordKind.DELIVERED], counts[RecordKind.DISCARDED])


@cache
def without_a_crash(scenario: Scenario, seed: int) -> Fates:
    """What becomes of the messages when nothing dies."""
    return Fates.of(_records(run_to_rest(begin(scenario, seed))))


def judge_crash(scenario: Scenario, seed: int, boundary: Boundary, manner: Manner) -> Judgement:
    """Crash a run at a boundary, run it to rest, and judge what is left."""
    try:
        crashed = crash(scenario, seed, boundary, manner)
    except StoreError as error:
        return Judgement(wrong=[f"the store does not open again: {error}"])
    judgement = Judgement(deaths=len(crashed.cluster.died_at))
    _count(crashed, without_a_crash(scenario, seed), judgement, manner)
    with tempfile.TemporaryDirectory() as folder:
        write_store(crashed.cluster, Path(folder))
        if manner is Manner.TORN:
            _cut_behind_the_end(crashed, Path(folder))
        _ask_the_specification(crashed, Path(folder), judgement, manner)
    if judgement.doubled and not any(clause.startswith("S1.") for clause in judgement.clauses):
        judgement.wrong.append(f"{judgement.doubled} were delivered twice, and the path breaks no clause of S1")
    return judgement


def _count(crashed: ScenarioRun, expected: Fates, judgement: Judgement, manner: Manner) -> None:
    records = _records(crashed)
    fates = Fates.of(records)
    acknowledged = {
        act["transactionId"]
        for producer in crashed.cluster.producers.values()
        for act in producer.log
        if act["ev"] == "execLocal"
    }
    body_of = {record.properties.get("UNIQ_KEY"): record.body.decode() for record in records}
    sent = sorted(body_of[key] for key in acknowledged if key in body_of)
    judgement.not_sent = sorted(expected.halves.keys() - set(sent))
    undecided = [body for body in judgement.not_sent if fates.delivered[body]]
    judgement.wrong += [f"{body!r} was never decided, and delivered" for body in undecided]
    for body in sent:
        delivered, usual = fates.delivered[body], expected.delivered[body]
        if delivered > usual:
            judgement.doubled.append(body)
            if not usual:
                judgement.wrong.append(f"{body!r} was not committed, and delivered")
        elif delivered < usual:
            judgement.lost.append(body)
            judgement.wrong.append(f"{body!r} was committed and is in the store, and not delivered")
        if fates.discarded[body] > expected.discarded[body]:
            judgement.parked_twice.append(body)
        elif fates.discarded[body] < expected.discarded[body]:
            judgement.wrong.append(f"{body!r} was not discarded")
    gone = len(acknowledged - body_of.keys())
    if gone:
        judgement.lost += [f"{gone} halves"]
    if judgement.deaths != 1:
        judgement.wrong.append(f"the process died {judgement.deaths} times")
    if manner is not Manner.POWER:
        consumed = {consumption.unique_key for consumption in crashed.consumer.consumed}
        unseen = {r.properties["UNIQ_KEY"] for r in records if classify(r) is RecordKind.DELIVERED} - consumed
        judgement.wrong += [f"{key} was delivered and never consumed" for key in sorted(unseen)]
        judgement.wrong += [f"{key} was acknowledged, and is not in the store" for key in acknowledged - body_of.keys()]


def _cut_behind_the_end(crashed: ScenarioRun, folder: Path) -> None:
    """Take away the rest of a torn record behind the log's end, where nothing came to be written over it.

    Every recovery ends before it, and a reader who has no broker's memory to ask calls it damage.
    """
    cluster = crashed.cluster
    end = MessageStore(cluster.switches, cluster.clock, cluster.disk.copy(), FILE_SIZES).max_phy_offset
    file = folder / "commitlog" / f"{end // _FILE_BYTES * _FILE_BYTES:020d}"
    with file.open("r+b") as log:
        log.truncate(end % _FILE_BYTES)
        log.truncate(_FILE_BYTES)


def _records(crashed: ScenarioRun) -> tuple[LogRecord, ...]:
    """The records as a broker finds them that opens the store once more."""
    cluster = crashed.cluster
    return MessageStore(cluster.switches, cluster.clock, cluster.disk.copy(), FILE_SIZES).records()


def _ask_the_specification(crashed: ScenarioRun, folder: Path, judgement: Judgement, manner: Manner) -> None:
    """Whether the specification has a path with just this crash, and what it breaks at that path's end.

    A loss of power may leave no log at all, where nothing was sent behind it; of that there is nothing to ask.
    """
    if not crashed.cluster.disk.names("commitlog"):
        return
    audit = audit_store(folder, crashed.scenario.version, question=StoreQuestion(most_events=0))
    judgement.wrong += [str(region) for region in audit.corrupt]
    if audit.corrupt:
        return
    store, _ = read_store_trace(folder)
    saved = read_consumer_offsets(folder)
    store.add_saved_offsets(saved.get(HALF_TOPIC, 0) or 0, saved.get(OP_TOPIC, 0) or 0)
    (profile,) = profiles_for(crashed.scenario.version)
    conf = read_broker_conf(folder / "broker.conf")
    driver = read_driver_log(folder / "driver.jsonl")
    events = tuple(store.events)
    records = [event for event in events if event.kind is not EventKind.OFFSETS_SAVED]
    crashes = tuple(sum(event.time <= died_at for event in records) for died_at in crashed.cluster.died_at)
    trace = Trace(events, driver.requests, driver.checked, tuple(gap for gap in crashes if gap))
    verdict = validate(trace, validation_settings(conf, profile.name), profile.switches)
    judgement.faults = verdict.faults
    if not verdict.accepted:
        judgement.wrong.append(f"refused with the crash before event {crashes}: {verdict.divergence}")
        return
    if Counter(verdict.faults) != Counter(crash=len(trace.crashes or ())):
        judgement.wrong.append(f"explained with {verdict.faults} and the crash before event {crashes}")

    def see_end(s: State, c: Constants) -> None:
        judgement.clauses = [
            name_of(claim)
            for claim in TRANSACTIONAL_MESSAGES.clauses
            if claim.identifier in LOSS_AND_DOUBLING and not holds(s, c, claim)
        ]

    judgement.wrong += filter(None, [replay(trace, verdict.path, verdict.constants, see_end)])
    beyond = sorted(set(judgement.clauses) - allowed_clauses(profile, FAULT_OF[manner]))
    if beyond:
        judgement.wrong.append(f"the path breaks {', '.join(beyond)}, which a crash does not in {profile}")


@cache
def allowed_clauses(profile: Profile, fault: str) -> frozenset[str]:
    """The clauses that a fault breaks in a version, in whichever instance of the table of verdicts.

    With it come the pauses that no real broker does without.
    """
    return frozenset(
        name_of(clause)
        for entries in read_table(table_file()).entries[profile.name].values()
        for environment, entry in entries.items()
        if environment.is_within((fault, *PAUSES))
        for clause in entry.violated
    )
