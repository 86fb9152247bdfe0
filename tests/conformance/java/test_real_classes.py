"""Do RocketMQ's own classes do what specification and reference broker say, and is it noticed where they do not?

Maven must be there, which brings the jars of 4.9.7 once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.errors import JavaError
from conformance.java import real_classes
from conformance.java.real_classes import RealClasses
from conformance.java.watch import Watch
from fuzz.broker_side.broker_side import SMALL_FILES, settings_for
from fuzz.broker_side.producers import end_transaction, half_message
from fuzz.broker_side.twin_process import TwinProcess, TwinProcesses
from fuzz.lockstep.fuzzed_instances import FUZZED
from fuzz.lockstep.pairing import Mismatch, Pairing
from fuzz.lockstep.script import run_text
from fuzz.mutants.kill_table import hunt_beside
from fuzz.mutants.of_the_broker import BROKER_MUTANTS
from fuzz.search.campaign import run_campaign, write_test
from fuzz.search.examples import fuzz
from model_check.world import World
from reference.broker.broker_controller import BrokerController
from reference.broker.transaction.check_outcome import CheckBranch
from reference.format.record import CommitLogOffset
from reference.simulation.virtual_clock import VirtualClock
from reference.versions.versions import switches_of
from spec.constants import FAULTS
from spec.language import NONE
from spec.state import End
from tests.conformance.java.wanting_maven import MARKS, RELEASE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = MARKS


@pytest.fixture(scope="module")
def real() -> Iterator[RealClasses]:
    with RealClasses(RELEASE) as classes:
        yield classes


def beside(real: RealClasses, pairing: Pairing) -> Pairing:
    return replace(pairing, make_process=TwinProcesses(real))


def test_random_schedules_agree_in_every_answer_and_byte(real: RealClasses) -> None:
    twins = TwinProcesses(real)
    pairing = replace(Pairing.of_release(RELEASE, FAULTS), make_process=twins)
    before = sum(real.compared.values())
    done = fuzz(pairing, examples=40, steps=60, random_seed=7)
    assert done.failure is None
    assert done.steps > 1_000
    assert sum(real.compared.values()) - before > 1.5 * done.steps
    assert {"pass", "go on with end", "restart", "lose power", "delete files", "damage", "miss read"} <= set(
        real.compared
    )
    assert not twins.left_at


def test_another_release_is_another_one(real: RealClasses) -> None:
    with pytest.raises(Mismatch) as found:
        run_text(beside(real, Pairing.of_release("4.5.1")), "send_half t=0 immunity=-1")
    assert found.value.sides == ("the reference broker", "RocketMQ 4.9.7")
    assert str(found.value).startswith("step 1, send_half t=0 immunity=-1: the end of the log is 23")
    run_text(beside(real, Pairing.of_release(RELEASE)), "send_half t=0 immunity=-1; tick")


@pytest.mark.parametrize(
    "name",
    ["op write dropped", "op end taken as illegal", "op not done on a hit", "null in the list"],
)
def test_a_broken_broker_is_noticed_by_the_real_classes_alone(real: RealClasses, name: str) -> None:
    mutant = next(mutant for mutant in BROKER_MUTANTS if mutant.name == name)
    found = hunt_beside(TwinProcesses(real), mutant, random_seed=7).failure
    assert found is not None
    assert found.mismatch.sides == ("the reference broker", "RocketMQ 4.9.7")


def test_a_shutdown_saves_what_the_round_before_it_has_committed(real: RealClasses) -> None:
    mutant = next(mutant for mutant in BROKER_MUTANTS if mutant.name == "stop saves nothing")
    sound = beside(real, Pairing.of_release(RELEASE, mutant.pairing.world.environment))
    schedule = (
        "send_half_with_checks t=0 immunity=-1 checks=1; tick; send_half t=1 immunity=1; tick; tick; begin_round; "
        "put_back_and_check; put_back_and_check; discard_half; end_round_at_fresh_half; begin_stop; stop"
    )
    run_text(sound, schedule)
    assert {"begin shutdown", "end shutdown"} <= set(real.compared)
    with pytest.raises(Mismatch, match="step 12, stop: the offset of the half queue is -1 in the reference broker, 3"):
        run_text(replace(sound, make_broker=mutant.pairing.make_broker, compares_specification=False), schedule)


def test_a_difference_is_made_short_and_becomes_a_test(real: RealClasses, tmp_path: Path) -> None:
    mutant = next(mutant for mutant in BROKER_MUTANTS if mutant.name == "op write dropped")
    broken = replace(
        beside(real, mutant.pairing),
        make_broker=mutant.pairing.make_broker,
        compares_specification=False,
        release=RELEASE,
    )
    campaign = run_campaign(broken, examples=60, steps=50, random_seed=7)
    assert campaign.failure is not None
    assert len(campaign.failure.script.steps) <= 4
    assert campaign.to_json()["real"]["release"] == RELEASE
    text = write_test(tmp_path, broken, campaign.failure).read_text()
    assert 'with RealClasses("4.9.7") as real:' in text
    compile(text, "generated", "exec")


def test_classes_that_are_built_otherwise_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_classes, "REWRITTEN", {"stop: next half": 2})
    said = (
        "RocketMQ 4.9.7: these classes are built otherwise than those the agent knows: stop: next half 1 times, not 2"
    )
    with RealClasses(RELEASE) as classes, pytest.raises(JavaError, match=said):
        run_text(beside(classes, Pairing.of_release(RELEASE)), "tick")


def test_a_jvm_that_dies_is_told_in_one_line() -> None:
    with RealClasses(RELEASE) as classes:
        twins = beside(classes, Pairing.of_release(RELEASE))
        run_text(twins, "tick")
        classes.kill()
        with pytest.raises(JavaError, match=r"the JVM with RocketMQ 4\.9\.7 has ended with -9"):
            run_text(twins, "tick")


def test_a_jvm_that_gives_no_answer_is_killed_and_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with RealClasses(RELEASE) as classes:
        classes.ask("advance", ms=0)  # however long it takes to start
        classes._watch.end()
        monkeypatch.setattr(classes, "_watch", Watch(classes._jvm, 1))
        classes.stop()
        with pytest.raises(JavaError, match=r"the JVM with RocketMQ 4\.9\.7 gave no answer for 1 s, and was killed"):
            classes.ask("advance", ms=0)


# --- what the specification has no word for ---------------------------------------------------------------------------


@pytest.fixture
def process(real: RealClasses) -> TwinProcess:
    """A broker of which two halves lie in files of their own."""
    clock, constants = VirtualClock(50_000), World.of(RELEASE, (), FUZZED).constants
    broker = BrokerController(switches_of(RELEASE), settings_for(constants), clock, store_config=SMALL_FILES)
    twin = TwinProcesses(real)(broker)
    for transaction in range(2):
        twin.send(half_message(transaction, NONE, clock.now, padding=transaction))
        twin.roll_log()
    twin.dispatch()
    return twin


def test_where_the_place_0_is_deleted_the_first_record_that_is_left_is_read(process: TwinProcess) -> None:
    """The shorter half of the two is deleted: what is read in its place is cut off, and cannot be decoded."""
    process.advance(5_000)
    process.delete_files_before(CommitLogOffset(SMALL_FILES.mapped_file_size_commit_log))
    assert process.begin_round() is not None
    passed = process.step_round()
    assert passed is not None
    assert passed.branch is CheckBranch.NULL_HALF
    found = process.broker.message_store.look_message_by_offset(CommitLogOffset(0))
    assert found is not None
    assert found.queue_offset == 1
    ended = process.step_end(process.begin_end(end_transaction(1, CommitLogOffset(0), End.COMMIT, answers_check=False)))
    assert ended.response is not None
    assert ended.response.remark == "The commit log offset wrong"
    process.collect()
    assert process.difference is None
