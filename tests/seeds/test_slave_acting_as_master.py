"""Walk-through f: a slave acts as master and lets unresolved halves escape; what the master does when it is back."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from model_check.configuration import Configuration
from model_check.trace_validation.observed import Trace, constants_of
from reference.broker.response import SLAVE_NOT_AVAILABLE
from reference.format.properties import CHECK_TIMES, WAIT_STORE_OK
from reference.scenarios.acting_slave import (
    ACTING_SLAVE,
    COMMITTED_LATER,
    OWN_OFFSETS,
    ROLLED_BACK_LATER,
    SETTLED,
    SLOW,
    TOPIC,
)
from reference.scenarios.scenario import Scenario, run, write_store
from spark_trace_analysis.audit.audit_store import audit_store
from spec.faults import Faults
from spec.language import NONE, Step, holds, take
from spec.profiles import PROFILES
from spec.state import State
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.seeds.played_store import SEEDS, PlayedStore, read

if TYPE_CHECKING:
    from pathlib import Path

    from spec.constants import Constants

ESCAPED = (COMMITTED_LATER, ROLLED_BACK_LATER, SLOW)


def tell_both(scenario: Scenario, folder: Path, seed: int = 1) -> tuple[PlayedStore, PlayedStore]:
    """The stores of the group whose master dies, and of the other master."""
    played = run(scenario, seed)
    other = played.cluster.other_master
    assert other is not None
    return read(played, folder / "group"), read(replace(played, cluster=other), folder / "other")


def bodies(store: PlayedStore, topic: str) -> list[str]:
    return sorted(record.body.decode() for record in store.of(topic))


# --- the facts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_what_no_op_message_settles_escapes_as_new_halves_and_is_settled_by_the_other_master(
    seed: int, tmp_path: Path
) -> None:
    group, other = tell_both(ACTING_SLAVE, tmp_path, seed)
    first = [half for half in other.halves if CHECK_TIMES not in half.properties]
    assert tuple(half.body.decode() for half in first) == ESCAPED
    assert bodies(other, TOPIC) == sorted([COMMITTED_LATER, SLOW])
    assert other.states() == {"delivered": [COMMITTED_LATER, SLOW], "rolled_back": [ROLLED_BACK_LATER]}
    assert bodies(group, TOPIC) == [SETTLED]
    other.assert_accepted_without_a_fault()


def test_an_escaped_half_is_the_message_that_its_producer_might_have_sent(tmp_path: Path) -> None:
    """But for WAIT: nobody waits until it is flushed (``EscapeBridge#putMessage``)."""
    group, other = tell_both(ACTING_SLAVE, tmp_path)
    for mine, theirs in zip(group.halves[1:], other.halves[:3], strict=True):
        assert mine.properties[WAIT_STORE_OK] == "true"
        assert theirs.properties == mine.properties | {WAIT_STORE_OK: "false"}
        assert (theirs.body, theirs.born_timestamp) == (mine.body, mine.born_timestamp)
        assert theirs.born_host == mine.store_host != mine.born_host
        assert theirs.store_timestamp > mine.store_timestamp


def test_the_acting_slave_writes_nothing_and_refuses_end_transactions(tmp_path: Path) -> None:
    group, _ = tell_both(ACTING_SLAVE, tmp_path)
    ((code, _remark, request),) = group.run.cluster.refused
    assert code == SLAVE_NOT_AVAILABLE
    assert group.halves[request.tran_state_table_offset].body.decode() == SLOW
    died_at = group.run.cluster.died_at[0]
    assert all(record.store_timestamp <= died_at for record in group.records)


def test_the_master_that_takes_the_slaves_offsets_passes_what_escaped(tmp_path: Path) -> None:
    group, _ = tell_both(ACTING_SLAVE, tmp_path)
    assert group.saved == (4, 1)
    assert len(group.halves) == 4


def test_b23_the_master_that_keeps_its_own_offsets_checks_the_halves_too_and_delivers_again(tmp_path: Path) -> None:
    group, other = tell_both(OWN_OFFSETS, tmp_path)
    checked = [half.body.decode() for half in group.halves if CHECK_TIMES in half.properties]
    assert tuple(checked) == ESCAPED
    assert bodies(group, TOPIC) == sorted([SETTLED, COMMITTED_LATER, SLOW])
    assert bodies(other, TOPIC) == sorted([COMMITTED_LATER, SLOW])


def test_a_store_alone_does_not_show_that_its_halves_have_escaped(tmp_path: Path) -> None:
    played = run(ACTING_SLAVE, 1)
    write_store(played.cluster, tmp_path)
    acts = sum(len(producer.log) for producer in played.cluster.producers.values())
    assert len((tmp_path / "driver.jsonl").read_text(encoding="utf-8").splitlines()) == acts > 0
    trace = audit_store(tmp_path, "5.3.3").trace
    assert trace.accepted is False
    assert trace.verdict is not None
    assert trace.verdict.divergence is not None
    assert "no round gets the offsets further than half" in trace.verdict.divergence.guard


# --- the specification ------------------------------------------------------------------------------------------------


def steps_for(row: dict[str, Any], s: State, deaths: int, back: str) -> list[list[tuple[str, int]]]:
    """Which steps of the specification an event of the group's broker may stand for, the first possible one counts."""
    t, h = int(row["transaction"]), int(row["half"])
    sends_unknown: list[tuple[str, int]] = [("leave_it_unknown", t)]
    answers = [("answer_check", h)]
    by_event: dict[str, list[list[tuple[str, int]]]] = {
        "message_delivered": [
            [("commit_locally", t), ("store_real_message", h)],
            [("resolve_to_commit", t), *answers, ("store_real_message", h)],
            [*answers, ("store_real_message", h)],
        ],
        "half_rolled_back": [[("resolve_to_rollback", t), *answers], answers],
        "op_buffered": [[("buffer_op", h)]],
        "op_stored": [[("write_op_batch", NONE)]] if row["op"] == s.op_length else [[]],
        "crashed": [[("act_for_dead_master", NONE)], [(back, NONE)]][deaths : deaths + 1],
        "end_refused": [[("commit_locally", t), ("refuse_end_as_slave", h)]],
        "round_began": [[("begin_round", NONE)]],
        "half_passed": [[("pass_settled_half", NONE)]],
        "half_escaped": [[("let_half_escape", NONE)], [*sends_unknown, ("let_half_escape", NONE)]],
        "ops_pulled": [[("pull_more_ops", NONE)]],
        "put_back_for_check": [[("put_back_and_check", NONE)], [*sends_unknown, ("put_back_and_check", NONE)]],
        "round_ended": [[("end_round_at_queue_end", NONE)], [("end_round_at_fresh_half", NONE)]],
        "offsets_persisted": [[("persist_offsets", NONE)], []],
        "check_sent": [[]],
        "stop_began": [[]],
        "stopped": [[]],
    }
    return by_event[str(row["event"])]


def steps_elsewhere(row: dict[str, Any], t: int) -> list[list[tuple[str, int]]]:
    """The same for an event of the other master, about a transaction of the group."""
    outcome = {
        "message_delivered": ("commit", "deliver_escaped"),
        "half_rolled_back": ("rollback", "roll_back_escaped"),
    }
    if row["event"] not in outcome:
        return [[]]
    word, action = outcome[str(row["event"])]
    return [
        [(f"resolve_to_{word}", t), (action, t)],
        [(action, t)],
        [("leave_it_unknown", t), (f"resolve_to_{word}", t), (action, t)],
    ]


class Walk:
    """The specification, walked along the events of both brokers."""

    def __init__(self, group: PlayedStore, other: PlayedStore, back: str) -> None:
        assert group.audit.trace.trace is not None
        trace = Trace(tuple(group.audit.trace.trace.events))
        faults = Faults(acting_slave=True, slow_local=True, slow_round=True, slow_dispatch=True, lose_end=True)
        self.constants: Constants = constants_of(trace, Configuration.of_release("5.3.3"), PROFILES["5.3.3"], faults)
        self.state = State(self.constants)
        self._actions = {action.name: action for action in TRANSACTIONAL_MESSAGES.actions}
        transaction_of = {half.properties["UNIQ_KEY"]: t for t, half in enumerate(group.halves[:4])}
        deaths = 0
        rows = [(int(row["time"]), 0, row) for row in group.run.cluster.recorder.rows]
        rows += [(int(row["time"]), 1, row) for row in other.run.cluster.recorder.rows]
        for time, broker, row in sorted(rows, key=lambda at: at[:2]):
            self.state.now = time
            if broker:
                half = int(row["half"])
                t = transaction_of[other.halves[half].properties["UNIQ_KEY"]] if 0 <= half < len(other.halves) else NONE
                self._take_one(row, steps_elsewhere(row, t))
            elif row["event"] == "half_stored":
                self._send_half(int(row["transaction"]))
            else:
                self._take_one(row, steps_for(row, self.state, deaths, back))
                deaths += row["event"] == "crashed"
                self._compare(row)

    def _send_half(self, t: int) -> None:
        assert take(self.state, self.constants, Step(self._actions["send_half"], (t, NONE))) is None

    def _take_one(self, row: dict[str, Any], ways: list[list[tuple[str, int]]]) -> None:
        before, refusals = tuple(self.state.memory.values), []
        for way in ways:
            self.state.memory.values[:] = before
            refused = next(filter(None, map(self._take, way)), None)
            if refused is None:
                return
            refusals.append(f"{way}: {refused}")
        pytest.fail(f"{row} is no step of the specification: {refusals}")

    def _take(self, named: tuple[str, int]) -> str | None:
        name, argument = named
        refused = take(self.state, self.constants, Step(self._actions[name], () if argument == NONE else (argument,)))
        return None if refused is None else f"{name}: {refused}"

    def _compare(self, row: dict[str, Any]) -> None:
        s = self.state
        if row["event"] == "round_ended":
            assert s.offsets.half == row["half"]
        elif row["event"] == "put_back_for_check":
            assert s.half_length == row["copy"] + 1

    def deliveries(self) -> list[int]:
        return [self.state.transaction[t].deliveries for t in range(4)]

    def broken(self) -> set[str]:
        """The clauses about loss and doubling that do not hold in the end."""
        return {
            f"{claim.identifier}.{claim.clause}"
            for claim in TRANSACTIONAL_MESSAGES.clauses
            if claim.identifier in ("S1", "S2", "S3", "L1") and not holds(self.state, self.constants, claim)
        }


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("scenario", "back", "broken"),
    [
        (ACTING_SLAVE, "bring_master_back", set()),
        (OWN_OFFSETS, "bring_master_back_with_its_own_offsets", {"S1.escaped_and_kept"}),
    ],
    ids=["slave's offsets", "own offsets"],
)
def test_the_specification_accepts_every_event_and_says_what_is_broken(
    scenario: Scenario, back: str, broken: set[str], seed: int, tmp_path: Path
) -> None:
    group, other = tell_both(scenario, tmp_path, seed)
    walk = Walk(group, other, back)
    counts = Counter(bodies(group, TOPIC)) + Counter(bodies(other, TOPIC))
    assert walk.deliveries() == [counts[half.body.decode()] for half in group.halves[:4]]
    assert walk.broken() == broken
