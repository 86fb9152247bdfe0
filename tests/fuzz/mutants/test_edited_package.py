"""Is only the copy edited, and is whatever leans on it edited with it?"""

from __future__ import annotations

import importlib
import inspect
import sys

import pytest

from fuzz.mutants.kill_table import MUTANTS
from fuzz.mutants.mutant import Edit, EditedPackage
from model_check.errors import NotInTheLanguage
from reference.broker import broker_controller
from reference.broker.transaction import check_outcome, check_round
from reference.broker.transaction import transactional_message_check_service as check_service
from reference.store import message_store
from spec import half_queue
from spec import state as spec_state
from spec.chapters import broker
from spec.chapters import putting_back as spec_putting_back
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

EDIT = Edit("reference.broker.transaction.half_judge", "half.record.store_timestamp >= self.start_time", "False")


def test_the_edited_module_and_those_that_lean_on_it_are_loaded_anew_and_the_others_are_shared() -> None:
    package = EditedPackage(EDIT)
    controller = package.load("reference.broker.broker_controller")
    assert controller.BrokerController is not broker_controller.BrokerController
    assert (
        package.load("reference.broker.transaction.transactional_message_check_service").CheckRound
        is not check_round.CheckRound
    )
    assert package.load("reference.broker.transaction.check_round").CheckBranch is check_outcome.CheckBranch
    assert controller.MessageStore is message_store.MessageStore


def test_the_real_modules_stay_as_they_are() -> None:
    before = {name: module for name, module in sys.modules.items() if name.startswith("reference")}
    EditedPackage(EDIT).load("reference.broker.broker_controller")
    assert {name: module for name, module in sys.modules.items() if name.startswith("reference")} == before
    assert vars(check_service)["CheckRound"] is check_round.CheckRound


def test_a_package_that_is_imported_by_its_parts_has_the_edited_part() -> None:
    package = EditedPackage(Edit("spec.half_queue", "s.half[h].check_times + checks", "s.half[h].check_times"))
    machine = package.load("spec.transactional_messages").TRANSACTIONAL_MESSAGES
    names = [action.name for action in TRANSACTIONAL_MESSAGES.actions]
    assert [action.name for action in machine.actions] == names
    changed = {a.name for a, b in zip(machine.actions, TRANSACTIONAL_MESSAGES.actions, strict=True) if a is not b}
    assert {"put_back_and_check", "put_back_immune_half", "crash"} <= changed
    assert machine.state is spec_state.State
    assert vars(spec_putting_back)["append_copy"] is half_queue.append_copy
    assert broker.crash is next(a.function for a in TRANSACTIONAL_MESSAGES.actions if a.name == "crash")


def test_every_mutant_is_bound_to_a_text_that_is_there() -> None:
    for mutant in MUTANTS:
        text = inspect.getsource(importlib.import_module(mutant.edit.module))
        assert text.count(mutant.edit.old) == 1, mutant.name
        assert mutant.edit.old != mutant.edit.new, mutant.name


@pytest.mark.parametrize(("old", "found"), [("no such text", "0 times"), ("self", "times, not once")])
def test_a_text_that_does_not_stand_there_once_is_refused(old: str, found: str) -> None:
    with pytest.raises(NotInTheLanguage, match=found):
        EditedPackage(Edit("reference.broker.transaction.check_round", old, ""))
