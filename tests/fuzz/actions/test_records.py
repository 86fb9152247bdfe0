"""Has each action one record, in the file of its chapter?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuzz.actions import broker
from fuzz.actions.record import MOVES, Excluded
from fuzz.lockstep.pairing import DRIVEN, DRIVEN_MACHINE, RECORDS, Pairing, driven, records_of
from spec.transactional_messages import TRANSACTIONAL_MESSAGES


def test_each_action_has_a_record_in_the_machine_s_order() -> None:
    assert list(RECORDS) == [action.name for action in TRANSACTIONAL_MESSAGES.actions]


def test_a_record_of_no_action_of_the_chapter_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "overtake", RECORDS["overtake"], raising=False)
    with pytest.raises(
        LookupError, match=r"^fuzz/actions/broker.py has a record of overtake: no action of its chapter"
    ):
        records_of(TRANSACTIONAL_MESSAGES)


def test_each_action_belongs_to_a_kind_of_move_or_is_excluded_with_a_reason() -> None:
    assert all(record.moves for record in DRIVEN.values())
    assert {move for record in DRIVEN.values() for move in record.moves} == set(MOVES) - {"whole round"}
    excluded = {name: record for name, record in RECORDS.items() if isinstance(record, Excluded)}
    assert DRIVEN.keys() == RECORDS.keys() - excluded.keys()
    assert all("no controller mode" in record.why for record in excluded.values())


def test_where_an_action_is_tried_after_another_they_are_of_one_kind_or_beside_it() -> None:
    assert {record.after for record in DRIVEN.values() if record.after} <= RECORDS.keys()


def test_each_exclusion_says_why() -> None:
    reasons = [record.unless.__doc__ for record in DRIVEN.values() if record.unless is not None]
    assert len(reasons) == 30
    assert all(reasons)


def test_the_machine_that_is_driven_has_the_driven_actions_in_the_machine_s_order() -> None:
    driven_in_releases = [name for name, record in DRIVEN.items() if not record.repairs]
    assert [action.name for action in DRIVEN_MACHINE.actions] == driven_in_releases
    assert [a.name for a in Pairing.of("fixed").machine.actions] == [
        name for name, record in DRIVEN.items() if record.repairs != ("skips_long_immunities",)
    ]


def test_an_action_without_a_record_is_an_error_that_names_the_file() -> None:
    new = replace(TRANSACTIONAL_MESSAGES.actions[0], function=new_action)
    with pytest.raises(LookupError, match=r"^new_action has no record: give it one in fuzz/actions/test_records\.py$"):
        driven(replace(TRANSACTIONAL_MESSAGES, actions=(*TRANSACTIONAL_MESSAGES.actions, new)))


def new_action(s: object, c: object, t: int) -> None: ...
