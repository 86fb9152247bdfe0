"""Has each action one record, in the file of its chapter?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fuzz.actions import record
from fuzz.actions.record import MOVES, Driven, Excluded
from fuzz.actions.records import DRIVEN, DRIVEN_MACHINE, RECORDS, driven, records_in
from model_check.errors import ModelCheckError
from spec.transactional_messages import TRANSACTIONAL_MESSAGES


def test_each_record_stands_in_the_file_of_its_action_s_chapter_and_no_other_does() -> None:
    files = {path.stem for path in Path(record.__file__).parent.glob("*.py")}
    gathered = [(chapter, name) for chapter in files for name in records_in(chapter)]
    actions = {(a.function.__module__.rpartition(".")[2], a.name) for a in TRANSACTIONAL_MESSAGES.actions}
    assert len(gathered) == len(actions) == len(RECORDS) == 90
    assert set(gathered) == actions


def test_each_action_belongs_to_a_kind_of_move_or_is_excluded_with_a_reason() -> None:
    assert all(record.moves for record in DRIVEN.values())
    assert {move for record in DRIVEN.values() for move in record.moves} == set(MOVES) - {"whole round"}
    excluded = {name: record for name, record in RECORDS.items() if isinstance(record, Excluded)}
    assert DRIVEN.keys() == RECORDS.keys() - excluded.keys()
    assert all("repair" in record.why for record in excluded.values())


def test_where_an_action_is_tried_after_another_they_are_of_one_kind_or_beside_it() -> None:
    assert {record.after for record in DRIVEN.values() if record.after} <= RECORDS.keys()


def test_each_exclusion_says_why() -> None:
    reasons = [record.unless.__doc__ for record in DRIVEN.values() if record.unless is not None]
    assert len(reasons) == 12
    assert all(reasons)


def test_the_machine_that_is_driven_has_the_driven_actions_in_the_machine_s_order() -> None:
    assert [action.name for action in DRIVEN_MACHINE.actions] == [
        name for name, record in RECORDS.items() if isinstance(record, Driven)
    ]


def test_an_action_without_a_record_is_an_error_that_names_the_file() -> None:
    new = replace(TRANSACTIONAL_MESSAGES.actions[0], function=new_action)
    with pytest.raises(ModelCheckError, match=r"^fuzz/actions/test_records\.py has no record of the action new_action"):
        driven(replace(TRANSACTIONAL_MESSAGES, actions=(*TRANSACTIONAL_MESSAGES.actions, new)))


def new_action(s: object, c: object, t: int) -> None: ...
