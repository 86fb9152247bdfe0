"""Roles: a master becomes a slave, a slave acts for a dead master, and its halves escape to another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fuzz.actions.check_round import branch, uncertain_branch
from fuzz.actions.record import Driven, drives, expect
from reference.broker.broker_settings import BrokerRole
from reference.broker.response import SUCCESS
from reference.broker.transaction.check_outcome import CheckBranch, CheckStep
from spec.state import End

if TYPE_CHECKING:
    from fuzz.broker_side.broker_side import BrokerSide
    from spec.language import Refused, Step

_ACTING: Final = ("acting_slave escapes",)


def _sleep(side: BrokerSide) -> None:
    """The check thread sleeps between two tries, which takes no time in the specification."""
    running = side.broker.check_service.round
    if running is not None:
        by = max(running.wakes_at - side.clock.elapsed, 0)
        side.process.advance(by)
        side.process.set_clock(-by)
        side.process.oversleep(by)


def _must_be_known_here(side: BrokerSide, _: Step) -> bool:
    """What another master settles, where this one is to know which transactions are over (repairs).

    No broker hears of that; the specification tells it.
    """
    return side.constants.settles_once or side.constants.leaves_escaped


def _has_escaped_unclearly(side: BrokerSide, _: Step) -> bool:
    """The end of an acting slave, or of its patience, where a half has escaped and the answer was lost.

    A repaired master is to know what has escaped, and nobody has told its slave.
    """
    return side.constants.leaves_escaped and bool(side.other_master.unanswered)


def _settles_elsewhere(says: End) -> Driven:
    def do(side: BrokerSide, step: Step) -> None:
        code = side.other_master.settle(step.arguments[0], says)
        expect("the other master's answer to END_TRANSACTION", SUCCESS, code)

    return drives("elsewhere", needs=_ACTING, unless=_must_be_known_here)(do)


@drives("role")
def become_slave(side: BrokerSide, _: Step) -> None:
    side.mishaps += 1
    side.process.change_to_slave()


become_master = drives("back", needs=("role_change",))(lambda side, _: side.process.change_to_master())
let_half_escape = uncertain_branch(CheckBranch.ESCAPED, "escape", needs=_ACTING)(lambda side: side.process.step_round())


@uncertain_branch(CheckBranch.ESCAPE_FAILED, "escape", needs=_ACTING)
def let_half_escape_unclearly(side: BrokerSide) -> CheckStep | None:
    side.other_master.answers = False
    done = side.process.step_round()
    side.other_master.answers = True
    _sleep(side)
    return done


_PATIENCE: Final = 15
"""More tries than a release makes (MAX_RETRY_TIMES_FOR_ESCAPE)."""


def _wait_with_what_cannot_escape(side: BrokerSide, _: Step, refused: Refused) -> bool:
    """A repaired slave tries on, however often it fails."""
    is_asked = refused.rule == "a half is given up at last"
    if is_asked:
        side.other_master.takes_messages = False
        for _try in range(_PATIENCE):
            done = side.process.step_round()
            expect("the round's branch", CheckBranch.ESCAPE_FAILED.value, "" if done is None else done.branch.value)
            _sleep(side)
        side.other_master.takes_messages = True
    return is_asked


def _interrupt_escape(side: BrokerSide, _: Step, refused: Refused) -> bool:
    """A repaired slave is not interrupted between two tries."""
    is_asked = refused.rule == "an escape that was begun is broken off"
    if is_asked:
        side.other_master.takes_messages = False
        side.process.step_round()
        expect("the round that is interrupted", None, side.process.interrupt_round())
        _sleep(side)
        side.other_master.takes_messages = True
    return is_asked


@uncertain_branch(
    CheckBranch.GIVEN_UP, "escape", needs=_ACTING, unless=_has_escaped_unclearly, ask=_wait_with_what_cannot_escape
)
def give_half_up(side: BrokerSide) -> CheckStep | None:
    side.other_master.takes_messages = False
    done = side.process.step_round()
    while done is not None and done.branch is CheckBranch.ESCAPE_FAILED:
        _sleep(side)
        done = side.process.step_round()
    side.other_master.takes_messages = True
    return done


pull_more_ops_before_escape = branch(CheckBranch.OPS_PULLED, repairs=("reads_ops_before_escape",), dispatches=True)
deliver_escaped = _settles_elsewhere(End.COMMIT)
roll_back_escaped = _settles_elsewhere(End.ROLLBACK)


@drives("role")
def act_for_dead_master(side: BrokerSide, _: Step) -> None:
    """A slave acts with the same messages and the offsets that were saved."""
    side.mishaps += 1
    side.dispatch_old_files()
    side.process.crash()
    side.restart(BrokerRole.ACTING_MASTER)


def _bring_master_back(side: BrokerSide) -> None:
    """The end of the last round belongs to the group, not to a process."""
    last_ended = side.broker.check_service.last_ended
    side.dispatch_old_files()
    side.process.crash()
    side.replace()
    side.broker.check_service.last_ended = last_ended


@drives("back", needs=_ACTING, unless=_has_escaped_unclearly)
def bring_master_back(side: BrokerSide, _: Step) -> None:
    side.process.save_offsets()
    _bring_master_back(side)


bring_master_back_with_its_own_offsets = drives("back", needs=_ACTING, unless=_has_escaped_unclearly)(
    lambda side, _: _bring_master_back(side)
)


@uncertain_branch(
    CheckBranch.ABORTED, "escape", "back", needs=_ACTING, unless=_has_escaped_unclearly, ask=_interrupt_escape
)
def bring_master_back_amid_escape(side: BrokerSide) -> CheckStep | None:
    """The round comes to the half, cannot send it, and is interrupted in its sleep; a second sleep takes no time."""
    side.other_master.takes_messages = False
    done = side.process.step_round()
    while done is not None and done.branch is CheckBranch.ESCAPE_FAILED:
        done = side.process.interrupt_round() or side.process.step_round()
    side.other_master.takes_messages = True
    side.process.save_offsets()
    _bring_master_back(side)
    return done
