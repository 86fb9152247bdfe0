"""Each step of 4.9.7 and `fixed` is followed for any number of transactions; what is wrong is not proved."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
import z3

from model_check.any_number.claims import proved_worlds
from model_check.any_number.unbounded import obligations
from model_check.any_number.unbounded.effects import take
from model_check.any_number.unbounded.following import ways_to_follow
from model_check.any_number.unbounded.invariants import invariants
from model_check.any_number.unbounded.obligations import LEFT_OPEN, StepProver
from model_check.any_number.unbounded.proofs import COUNTED, FOLLOWED_FAULTS, WORLDS, counts_of, prove_all, prover
from model_check.any_number.unbounded.values import QueueEffect
from model_check.explicit.search import explore
from model_check.instances import load_instance
from model_check.world import Profile, World
from spec.constants import FAULTS, SWITCHES, Constants
from spec.language import action, declared_action, each, successors
from spec.state import State
from spec.transactional_messages import AMONG_OTHERS, TRANSACTIONAL_MESSAGES
from tests.model_check.any_number.test_lemmas import among, pull_ops_among_others
from tests.sampled import sampled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from model_check.any_number.unbounded.following import ManyStep, Way
    from model_check.any_number.unbounded.formulas import State as Seen
    from model_check.any_number.unbounded.obligations import Obligation
    from spec.language import Action

LITTLE = 3_000_000
"""Steps of the solver; each obligation that is asked for here is proved with fewer, where it is."""

SAMPLE = ("send_half", "write_op", "begin_round", "pull_more_ops", "put_back_and_check")
"""Actions of which all obligations are asked for, in one world or the other; of the others in the sweep."""

NEEDED_INVARIANTS = {
    "done_was_read": ("write_op", "its own half: round.done"),
    "enumerations": ("send_half", "another's: producer"),
    "first_half_is_its_own": ("put_back_and_check", "its own half: transaction.first_half"),
    "halves_are_stored_in_order": ("pull_more_ops", "the half before the cursor was there before the round"),
    "nothing_behind_the_end": ("write_op", "op_message_names_a_half is preserved"),
    "nothing_without_a_round": ("begin_round", "settled_by_what_was_read is preserved"),
    "op_message_is_not_of_the_future": ("put_back_and_check", "no more op messages are to be expected for it"),
    "op_message_names_a_half": ("put_back_and_check", "its own half: op.names"),
    "original_is_of_same_transaction": ("put_back_and_check", "no copy of it is known further on in the queue"),
    "positions_are_in_their_queues": ("commit_locally", "its own: round.met"),
    "removed_by_an_op_that_names_it": ("put_back_and_check", "its own half: round.removed_by"),
    "round_began_at_op_offset": ("end_round_at_queue_end", "its own half, an op message left: it stands before"),
    "round_reads_forward": ("pull_more_ops", "settled_by_what_was_read is preserved"),
    "round_takes_no_time": ("put_back_and_check", "no more op messages are to be expected for it"),
    "settled_by_what_was_read": ("pass_settled_half", "done_was_read is preserved"),
}
"""Without such an invariant, an obligation of an action is not proved."""

NEEDED_IN_A_RELEASE = {"only_faults_spoil_what_is_stored": ("begin_round", "amid the op queue: round.last_pull")}
"""The same of 4.9.7, of which a pull looks for an op message that can be decoded."""

OF_BATCHES = {"batch_cut", "op_batch_interval", "op_batch_size"}
"""What an instance says of op batches, which 4.9.7 and `fixed` do not write."""

HELD_BY_THE_FORMULAS = {"no_other_fault", "unresolved_is_named"}
"""Invariants that the formulas of a state have built in; that they are preserved is asked all the same."""


def action_of(name: str) -> Action:
    return next(action for action in TRANSACTIONAL_MESSAGES.actions if action.name == name)


@cache
def with_crashes(profile: str, *without: str) -> StepProver:
    """The prover of a profile with crashes, quicker than that with all faults."""
    return StepProver(World.of(profile, ["crash"], COUNTED).constants, without=without)


def named(by: StepProver, of: Action, words: str) -> list[Obligation]:
    found = [obligation for obligation in by.obligations(of) if words in obligation.name]
    assert found, words
    return found


@pytest.mark.parametrize("profile", WORLDS, ids=str)
def test_the_invariants_hold_initially(profile: Profile) -> None:
    proof = prover(profile).prove_initially()
    assert proof.is_proved, proof.unknown


@pytest.mark.parametrize(("name", "profile"), sampled(product(SAMPLE, WORLDS), 3), ids=str)
def test_a_step_is_followed(name: str, profile: Profile) -> None:
    proof = prover(profile).prove(action_of(name))
    assert proof.is_proved, proof.unknown
    assert proof.actions == [name]
    assert proof.obligations > 150


@pytest.mark.sweep
def test_each_step_is_followed() -> None:
    proofs = prove_all(lambda _: None)
    assert all(proof.is_proved for proof in proofs.values())
    assert counts_of(proofs) == proved_worlds()


def test_the_proofs_are_of_this_specification() -> None:
    assert list(proved_worlds()) == list(WORLDS.items()), "make any-number"


@pytest.mark.parametrize(
    ("profile", "name", "of", "words"),
    [
        *sampled([("fixed", name, *needed) for name, needed in NEEDED_INVARIANTS.items()], 2),
        *(("4.9.7", name, *needed) for name, needed in NEEDED_IN_A_RELEASE.items()),
    ],
)
def test_each_invariant_is_needed(profile: str, name: str, of: str, words: str) -> None:
    whole, mutant = with_crashes(profile), with_crashes(profile, name)
    assert all(obligation.is_proved(LITTLE) for obligation in named(whole, action_of(of), words))
    assert not all(obligation.is_proved(LITTLE) for obligation in named(mutant, action_of(of), words))


def test_no_invariant_is_left_out_here() -> None:
    every = {
        claim.name
        for claim in invariants(
            with_crashes("fixed").before, with_crashes("fixed").slots, with_crashes("fixed").constants
        )
    }
    assert every == {*NEEDED_INVARIANTS, *NEEDED_IN_A_RELEASE, *HELD_BY_THE_FORMULAS}


def test_a_lemma_that_says_more_is_not_proved() -> None:
    mutant = StepProver(World.of("fixed", ["crash"], COUNTED).constants, among(pull_ops_among_others))
    of, words = action_of("pull_more_ops"), "was there before the round"
    assert all(obligation.is_proved(LITTLE) for obligation in named(with_crashes("fixed"), of, words))
    assert not all(obligation.is_proved(LITTLE) for obligation in named(mutant, of, words))


@pytest.mark.parametrize("profile", sampled(WORLDS, 2), ids=str)
def test_no_action_that_a_search_takes_is_left_out(profile: Profile) -> None:
    """An action of which no state is found in which it is enabled has no obligations."""
    constants = World(profile, WORLDS[profile], replace(load_instance("tiny"), stray_ends=1)).constants
    found = explore(TRANSACTIONAL_MESSAGES, constants, most_states=200_000)
    packing, steps = found.compiled.packing, TRANSACTIONAL_MESSAGES.steps(constants)
    rows = found.store.arrays.states[: 200_000 // 2 * packing.words].reshape(-1, packing.words)
    state, taken = TRANSACTIONAL_MESSAGES.initial(constants), set[str]()
    for row in rows[::97]:
        taken |= {step.action.name for step, _ in successors(state.load(packing.unpack(row)), constants, steps)}
    assert len(taken) > 30
    for name in taken:
        assert next(prover(profile).obligations(action_of(name)), None) is not None, name


def the_first(_: object) -> bool:
    return True


def the_other(_: object) -> bool:
    return False


@pytest.mark.parametrize("profile", sampled(WORLDS, 2), ids=str)
def test_no_constant_of_an_instance_is_read_but_those_that_are_left_open(profile: Profile) -> None:
    """What is proved is said of any times and bounds: what else is asked for makes the one what it is."""
    asked, by = set[str](), StepProver(World(profile, WORLDS[profile], COUNTED).constants)

    class Asked(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            asked.add(name)
            return super().__getitem__(name)

    by.many.constants, by.one.constants = Asked(by.many.constants), Asked(by.one.constants)
    for one, decide in product(AMONG_OTHERS.actions, (the_first, the_other)):
        arguments = [z3.Int(name) for name in one.parameters]
        take(by.many, one.function, arguments, QueueEffect(by.before.fields), decide)
        take(by.one, one.function, arguments, QueueEffect(by.seen), decide)
    assert asked >= {*LEFT_OPEN, *FOLLOWED_FAULTS}
    left = {name for name in asked if isinstance(by.many.constants.get(name), int)}
    assert left - {*SWITCHES, *FAULTS} <= {"forgets", "endless", "crowded", "proxies", *OF_BATCHES}


# --- actions that are wrong -------------------------------------------------------------------------------------------


@action(event="half_passed", place=1, h=each("half_slots"))
def give_away(s: State, c: Constants, h: int) -> None:
    """A half becomes another transaction's."""
    s.half[h].transaction = 0


@action(event="half_passed", place=1, h=each("half_slots"), o=each("op_slots"))
def name_another(s: State, c: Constants, h: int, o: int) -> None:
    """An op message names one half more."""
    s.op[o].names.add(h)


@action(event="half_passed", place=1, h=each("half_slots"), o=each("op_slots"))
def await_another(s: State, c: Constants, h: int, o: int) -> None:
    """An op message waits for a half that it does not name."""
    s.pulled_op[o].unresolved.add(h)


@action(event="half_passed", place=1)
def add_two(s: State, c: Constants) -> None:
    """Two halves are stored at once."""
    s.half_length += 2


@action(event="half_passed", place=1)
def go_wrong(s: State, c: Constants) -> None:
    """Something is counted that no fault accounts for."""
    s.mishaps += 1


@action(event="half_passed", place=1)
def carry(s: State, c: Constants) -> None:
    """A turn of a loop reads what another one has written."""
    for h in range(c.half_slots):
        if h > 0 and s.half[h - 1].check_in_flight:
            s.half[h].check_in_flight = True


WRONG: list[tuple[Callable[..., None], str]] = [
    (give_away, "halves stay"),
    (name_another, "an op message names one half"),
    (await_another, "unresolved_is_named is preserved"),
    (add_two, "one message more at most"),
    (go_wrong, "no_other_fault is preserved"),
    (carry, "has its form"),
]


@pytest.mark.parametrize(("wrong", "words"), WRONG, ids=lambda given: getattr(given, "__name__", ""))
def test_what_the_formulas_take_for_granted_is_asked(wrong: Callable[..., None], words: str) -> None:
    asked = (each for each in with_crashes("fixed").obligations(declared_action(wrong)) if words in each.name)
    assert any(not obligation.is_proved(LITTLE) for obligation in asked)


def test_a_way_that_leads_elsewhere_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    def stay(step: ManyStep, seen: Seen) -> Iterator[Way]:
        return (replace(way, steps=()) for way in ways_to_follow(step, seen))

    of, words = action_of("begin_round"), "round.running"
    assert all(obligation.is_proved(LITTLE) for obligation in named(with_crashes("fixed"), of, words))
    monkeypatch.setattr(obligations, "ways_to_follow", stay)
    assert not any(obligation.is_proved(LITTLE) for obligation in named(with_crashes("fixed"), of, words))
