"""Do neighbours break the clause by other schedules, and do the nearest have what half a repair forgets?"""

from __future__ import annotations

from itertools import islice
from random import Random

from fuzz.real_alone.neighbours import Insertion, neighbours, varied
from fuzz.real_alone.schedules import as_played, texts_of
from tests.fuzz.real_alone.counterexamples import PROFILE, counterexamples_of

(IMMUNE,) = counterexamples_of("S1.immune_half", faults="quiet")
FIRST = as_played(IMMUNE, PROFILE)


def test_the_counterexample_is_played_step_by_step() -> None:
    assert FIRST is not None
    assert texts_of(FIRST.steps) == IMMUNE.steps
    assert FIRST.broken("S1") == {"S1.immune_half"}
    assert FIRST.broken("S2") == set()


def test_a_schedule_with_a_step_that_no_lone_broker_takes_is_none() -> None:
    (lost,) = counterexamples_of("S8.copy_lost", faults="power_loss")
    assert as_played(lost, PROFILE) is None


def test_one_more_transaction_comes_between_and_the_steps_behind_it_are_about_the_same_halves() -> None:
    assert FIRST is not None
    other = varied(FIRST, FIRST.staged, [Insertion(0, ("send",))], IMMUNE.clause)
    words = texts_of(other.steps)
    assert words.startswith("send_half t=0 immunity=-1; leave_it_unknown t=0; ") or "t=1" in words
    assert other.broken("S1") <= {"S1.immune_half"}


def test_many_of_the_first_ones_break_it_and_no_two_are_alike() -> None:
    assert FIRST is not None
    found = [one for one in islice(neighbours(FIRST, IMMUNE.clause, Random(7)), 150) if one.broken("S1")]
    assert len(found) > 30
    assert all(one.broken("S1") == {"S1.immune_half"} for one in found)
    assert len({one.steps for one in found}) > 20
    assert any(sum(str(step) == "begin_round" for step in one.steps) > 2 for one in found)
