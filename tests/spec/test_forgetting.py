"""What is over can be forgotten: nothing that is left behaves otherwise, and no root can be left out."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode
from model_check.any_length import NARROW, Bisimulation, compare, page
from model_check.check import check
from model_check.clauses import clauses_by_name
from model_check.counterexample.steps import read_path, replay
from model_check.cpython import explore as explore_slowly
from model_check.errors import EvaluationError, ModelCheckError
from model_check.explicit.search import explore
from model_check.finding import Verdict
from model_check.instances import load_instance
from model_check.question import Question
from model_check.world import World
from spec.faults import Faults
from spec.language import successors
from spec.profiles import PROFILES, distinct
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.sampled import sampled

if TYPE_CHECKING:
    from pathlib import Path

    from spec.constants import Instance
    from spec.language import Machine

MOST_STATES = 1_000_000


@pytest.fixture(autouse=True, params=["lasting"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def compared(
    profile: str, faults: tuple[str, ...], instance: Instance, machine: Machine = TRANSACTIONAL_MESSAGES
) -> Bisimulation:
    return compare(explore(machine, World.of(profile, faults, instance).constants, most_states=MOST_STATES))


@pytest.mark.parametrize(
    ("profile", "faults"),
    sampled([("4.9.7", ()), ("4.5.1", ("graceful_stop",)), ("fixed", ("lose_check", "clock_skew"))], 2),
)
def test_what_is_left_goes_on_as_before(profile: str, faults: tuple[str, ...]) -> None:
    found = compared(profile, faults, load_instance("lasting"))
    assert found.difference is None
    assert (found.without_room > 0) == (faults == ("graceful_stop",)), "a stop lets a round put back once more"
    assert found.compared > 10_000


def test_where_things_are_forgotten_the_oldest_record_of_the_log_is_the_half_and_not_its_op_message() -> None:
    constants = World.of("4.5.1", ("retention",), "pair").constants
    steps = "send_half t=0 immunity=-1; commit_locally t=0; store_real_message h=0; write_op h=0; delete_oldest_files "
    last = replay(TRANSACTIONAL_MESSAGES, constants, read_path(TRANSACTIONAL_MESSAGES, constants, f"{steps}records=1"))
    gone = {change.field: change.after for change in last.events[-1].changes if change.field.startswith("gone")}
    assert gone == {"gone.halves": "1"}


def test_a_difference_is_told_on_the_page(tmp_path: Path) -> None:
    machine = mutated(" or s.batch.names.has(h)", "", tmp_path)
    found = compared("5.3.3", (), load_instance("lasting"), machine)
    assert found.difference is not None
    told = page({World.of("5.3.3", (), NARROW): (found, True)})
    assert "1 differed" in told
    assert f"| the quiet world | **{found.difference}** |" in told
    same = page({World.of("5.3.3", ["crash"], NARROW): (replace(found, difference=None, without_room=2), False)})
    assert "none differed" in same
    assert f"| crash | first {found.states:,} · {found.compared - 2:,} (2) |" in same


@pytest.mark.sweep
@pytest.mark.parametrize("profile", distinct(PROFILES))
def test_so_it_does_with_every_fault(profile: str) -> None:
    for fault in vars(Faults()):
        assert compared(profile, (fault,), NARROW).difference is None, fault


MUTANTS = [
    ("h >= s.offsets.half or h >= s.saved.half or ", "h >= s.saved.half or ", "offset_regression"),
    ("h >= s.offsets.half or h >= s.saved.half or ", "h >= s.offsets.half or ", "crash"),
    (" or s.half[h].end != End.NONE", "", "late_end"),
    (" or s.half[h].check_in_flight", "", "late_end"),
    (" or s.batch.names.has(h)", "", ""),
    (" or may_be_named_again(s, c, h)", "", "resume_discarded"),
    (" or may_be_named_again(s, c, h)", "", "duplicate_end"),
    (" or may_be_named_again(s, c, h)", "", "wrong_end"),
    (" or may_be_named_again(s, c, h)", "", "offset_regression"),
    ("h + c.farthest_reach >= lowest", "False", "offset_regression"),
    ("names_halves and h + c.reach >= lowest", "False", "resume_discarded"),
    (" or may_be_lost(s, c, h)", "", "power_loss"),
    ("h >= s.flushed.halves\n                or ", "", "power_loss"),
    ("                or (was_copied and not has_a_lasting_copy(s, c, h))\n", "", "power_loss"),
    (
        "                or any(o >= s.flushed.ops and s.op[o].names.has(h) for o in range(c.op_slots))\n",
        "",
        "power_loss",
    ),
    ("s.half[h].copied_for_good or any(", "any(", "power_loss"),
    ("s.transaction[t].first_half == h and goes_on(s, c, t)", "False", ""),
    ("s.half[k].original == h and k < s.half_length and may_be_read(s, c, k)", "False", "twin_send"),
    ("s.transaction[t].local == Local.EXECUTING\n        or s", "s", "slow_local"),
    ("        or s.transaction[t].escaped > 0\n", "", "duplicate_end,power_loss,acting_slave"),
    ("        and s.transaction[t].local != Local.EXECUTING\n", "", "slow_local,power_loss"),
    ("        and s.transaction[t].escaped == 0\n", "", "power_loss,acting_slave"),
    ("        and o < s.offsets.op\n", "", "offset_regression"),
    ("        and o < s.saved.op\n", "", "crash"),
    ("        and not is_ahead_of_the_round\n", "", "twin_send"),
    ("        and not comes_back\n", "", "offset_regression"),
    ("        and (s.op[o].names - halves).is_empty()\n", "", ""),
    ("        s.transaction[t].halves_gone += 1\n", "        pass\n", ""),
    ("        s.transaction[t].checked_before = True\n", "        pass\n", "slow_local,late_end"),
    ("        s.transaction[t].resumed_before = True\n", "        pass\n", "resume_discarded"),
    ("            s.transaction[t].dropped_before = True\n", "            pass\n", "slow_local"),
    ("            s.transaction[t].unseen_before = True\n", "            pass\n", "slow_local,null_half"),
    ("            s.transaction[t].copy_lost_before = True\n", "            pass\n", "duplicate_end,power_loss"),
    ("            s.transaction[t].given_up_before = True\n", "            pass\n", "slow_local,acting_slave"),
    ("    s.had_halves = s.had_halves or not halves.is_empty()\n", "", "power_loss"),
    ("    s.had_ops = s.had_ops or not ops.is_empty()\n", "", "power_loss"),
]
"""A root, a reference or a note that is left out, and faults with which that shows."""

TWICE = {"check_max": 1, "half_slots": 5, "op_slots": 3, "mishaps": 2}

WIDER: dict[str, dict[str, Any]] = {
    "        or s.transaction[t].escaped > 0\n": TWICE,
    "        and s.transaction[t].escaped == 0\n": TWICE,
    "        and not comes_back\n": {"check_max": 4, "op_slots": 6},
}
"""Sizes that some of them need."""


def mutated(right: str, wrong: str, folder: Path) -> Machine:
    """The machine with another text of `spec/forgetting.py`."""
    text = resources.files("spec").joinpath("forgetting.py").read_text(encoding="utf-8")
    assert text.count(right) == 1, right
    file = folder / "mutant.py"
    file.write_text(text.replace(right, wrong))
    spec = importlib.util.spec_from_file_location("mutant", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return replace(TRANSACTIONAL_MESSAGES, forget=module.forget)


@pytest.mark.sweep
@pytest.mark.parametrize(("right", "wrong", "faults"), MUTANTS)
def test_nothing_of_it_can_be_left_out(right: str, wrong: str, faults: str, tmp_path: Path) -> None:
    machine, instance = mutated(right, wrong, tmp_path), replace(NARROW, **WIDER.get(right, {}))
    for profile in ("5.3.3", "4.5.1", "4.9.7", "fixed"):
        try:
            found = compared(profile, tuple(faults.split(",")) if faults else (), instance, machine)
        except (EvaluationError, OverflowError):
            return  # something refers to a place that is not there
        if found.difference is not None:
            return
    pytest.fail("nobody has noticed")


def test_both_engines_forget_the_same_in_states_of_runs_of_any_length() -> None:
    constants = World.of("4.9.7", (), load_instance("lasting")).constants
    found = explore(TRANSACTIONAL_MESSAGES, constants)
    assert found.complete
    assert found.full_queues() == ()
    assert found.distinct > 20_000
    again = explore(TRANSACTIONAL_MESSAGES, constants, threads=2)
    assert (again.distinct, again.generated, again.seen_at) == (found.distinct, found.generated, found.seen_at)

    packing, kernels, width = found.compiled.packing, found.compiled.module, found.compiled.packing.words
    switches = found.compiled.switches(constants)
    state, forgetting = (TRANSACTIONAL_MESSAGES.initial(constants) for _ in range(2))
    words = found.store.all_words()
    successor_words, before = np.zeros((2, 400 * width), np.int64)
    forgot = 0
    for number in np.random.default_rng(5).choice(len(words), 400, replace=False):
        state.load(packing.unpack(words[number]))
        after = [values for _, values in successors(state, constants, found.compiled.steps)]
        for place, values in enumerate(after):
            successor_words[place * width :][:width] = packing.pack(values)
        changed = kernels.forget(successor_words, len(after), switches, before)
        expected = [TRANSACTIONAL_MESSAGES.forgotten(forgetting, constants, values) for values in after]
        rows = successor_words.reshape(-1, width)
        assert [packing.unpack(rows[place]) for place in range(len(after))] == expected
        were = [values for values, left in zip(after, expected, strict=True) if values != left]
        assert [packing.unpack(before.reshape(-1, width)[place]) for place in range(changed)] == were
        assert kernels.forget(successor_words, len(after), switches, before) == 0, "nothing that is left is dead"
        forgot += changed
    assert forgot > 50


@pytest.mark.sweep
@pytest.mark.parametrize("profile", ["4.5.1", "4.9.7", "fixed"])
def test_the_slow_search_agrees(profile: str) -> None:
    constants = World.of(profile, (), load_instance("lasting")).constants
    found, slow = explore(TRANSACTIONAL_MESSAGES, constants), explore_slowly(TRANSACTIONAL_MESSAGES, constants)
    assert (found.distinct, found.generated, found.depth) == (slow.distinct, slow.generated, slow.depth)
    bits = range(len(TRANSACTIONAL_MESSAGES.clauses))
    depths = {clause: len(slow.path_to(state)) for clause, state in slow.violations.items()}
    assert depths == {TRANSACTIONAL_MESSAGES.clauses[bit]: found.seen_at[bit] for bit in bits if found.seen_at[bit]}
    assert found.full_queues() == slow.full_queues(TRANSACTIONAL_MESSAGES, constants) == ()


def test_a_counterexample_is_told_in_plain_offsets() -> None:
    """After 15 checks: the half queue has 16 halves of one transaction by then, of which the search held five."""
    answer = check(Question.of("4.9.7", (), "lasting", properties=["L2"]))
    row = answer.violated[clauses_by_name()["L2.immunity_burns_checks"]]
    assert row.verdict is Verdict.VIOLATED
    instance = row.world.instance
    assert instance.name.startswith("lasting@1x1")
    assert instance.forgets == 0
    assert row.replay is not None
    assert row.clause in row.replay.violated
    assert max(step.arguments[0] for step in row.path if step.action.name == "answer_check") >= 13
    assert load_instance(instance.name) == instance


def test_where_a_queue_is_full_nothing_is_said_to_hold() -> None:
    narrow = replace(load_instance("lasting"), half_slots=3, op_slots=2)
    answer = check(Question.of("4.9.7", (), narrow, properties=["S3"]))
    assert [row.verdict for row in answer.rows] == [Verdict.UNKNOWN] * len(answer.rows)
    assert "half_length" in answer.rows[0].why


def test_what_holds_is_said_to_hold_for_runs_of_any_length(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--profile", "4.9.7", "--instance", "lasting", "--property", "L4"]) == ExitCode.OK
    told = " ".join(capsys.readouterr().out.split())
    assert "lasting: 1 transaction alive at a time, in runs of any length, 15 checks" in told


@pytest.mark.parametrize("name", ["lasting@0x3x2", "lasting@1x3x80"])
def test_sizes_that_are_none_are_refused(name: str) -> None:
    with pytest.raises(ModelCheckError, match="give NAME@TRANSACTIONSxHALVESxOPS, each from 1 to 62"):
        load_instance(name)


@pytest.mark.parametrize(
    "command",
    [
        ["check", "--engine", "z3", "--property", "S3"],
        ["simulate", "--traces", "10", "--out", "traces"],
    ],
)
def test_what_knows_nothing_of_forgetting_refuses_it(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([*command, "--profile", "5.3.3", "--instance", "lasting"]) == ExitCode.BAD_OPTION
    told = capsys.readouterr().err
    assert "forgets what is over" in told
    assert told.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
