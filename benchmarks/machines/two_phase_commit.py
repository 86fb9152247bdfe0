"""Two-phase commit, as in Gray and Lamport, "Consensus on Transaction Commit", ACM TODS 31(1), 2006 (TwoPhase.tla).

Resource managers agree with a transaction manager on whether to commit. Messages stay in the set of messages once they
are sent, so that each can be received any number of times. There is no clock. The names of actions, and the order in
which they are declared, are those of the TLA+ module.

The field's counts of distinct and generated states, the initial state included in both:

=================  ========  =========
resource managers  distinct  generated
=================  ========  =========
3                       288      1,146
5                     8,832     58,146
7                   296,448  2,744,706
=================  ========  =========
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from spec.language import (
    Bits,
    Machine,
    MachineState,
    Record,
    action,
    always,
    bits,
    declared_action,
    declared_always,
    declared_sometimes,
    each,
    flag,
    one_of,
    record,
    records,
    require,
    sometimes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Constants:
    """How many resource managers there are (RM in the TLA+ module)."""

    resource_managers: int


class RMState(IntEnum):
    """What a resource manager has decided."""

    WORKING = 0
    PREPARED = 1
    COMMITTED = 2
    ABORTED = 3


class TMState(IntEnum):
    """What the transaction manager has decided."""

    INIT = 0
    COMMITTED = 1
    ABORTED = 2


class ResourceManager(Record):
    """One participant."""

    state: RMState = one_of(RMState)  # rmState[r]


class Messages(Record):
    """The set of messages that were sent (msgs)."""

    prepared: Bits = bits("resource_managers")  # [type |-> "Prepared", rm |-> r]
    commit: bool = flag()  # [type |-> "Commit"]
    abort: bool = flag()  # [type |-> "Abort"]


class State(MachineState):
    """The four variables of the TLA+ module."""

    resource_manager: Sequence[ResourceManager] = records("resource_managers", ResourceManager)
    tm_state: TMState = one_of(TMState)
    tm_prepared: Bits = bits("resource_managers")  # who is known to the transaction manager to be prepared
    messages: Messages = record(Messages)


# --- the transaction manager ------------------------------------------------------------------------------------------


@action(r=each("resource_managers"))
def tm_rcv_prepared(s: State, c: Constants, r: int) -> None:
    """TMRcvPrepared(r): the transaction manager receives a Prepared message from resource manager r."""
    require(s.tm_state == TMState.INIT, "the transaction manager has not decided")
    require(s.messages.prepared.has(r), "a Prepared message of this resource manager was sent")
    s.tm_prepared.add(r)


@action()
def tm_commit(s: State, c: Constants) -> None:
    """TMCommit: the transaction manager commits the transaction."""
    require(s.tm_state == TMState.INIT, "the transaction manager has not decided")
    require(
        all(s.tm_prepared.has(r) for r in range(c.resource_managers)), "every resource manager is known to be prepared"
    )
    s.tm_state = TMState.COMMITTED
    s.messages.commit = True


@action()
def tm_abort(s: State, c: Constants) -> None:
    """TMAbort: the transaction manager spontaneously aborts the transaction."""
    require(s.tm_state == TMState.INIT, "the transaction manager has not decided")
    s.tm_state = TMState.ABORTED
    s.messages.abort = True


# --- the resource managers --------------------------------------------------------------------------------------------


@action(r=each("resource_managers"))
def rm_prepare(s: State, c: Constants, r: int) -> None:
    """RMPrepare(r): resource manager r prepares."""
    require(s.resource_manager[r].state == RMState.WORKING, "this resource manager works")
    s.resource_manager[r].state = RMState.PREPARED
    s.messages.prepared.add(r)


@action(r=each("resource_managers"))
def rm_choose_to_abort(s: State, c: Constants, r: int) -> None:
    """RMChooseToAbort(r): resource manager r spontaneously decides to abort; it sends nothing."""
    require(s.resource_manager[r].state == RMState.WORKING, "this resource manager works")
    s.resource_manager[r].state = RMState.ABORTED


@action(r=each("resource_managers"))
def rm_rcv_commit_msg(s: State, c: Constants, r: int) -> None:
    """RMRcvCommitMsg(r): resource manager r is told by the transaction manager to commit."""
    require(s.messages.commit, "the Commit message was sent")
    s.resource_manager[r].state = RMState.COMMITTED


@action(r=each("resource_managers"))
def rm_rcv_abort_msg(s: State, c: Constants, r: int) -> None:
    """RMRcvAbortMsg(r): resource manager r is told by the transaction manager to abort."""
    require(s.messages.abort, "the Abort message was sent")
    s.resource_manager[r].state = RMState.ABORTED


# --- the property -----------------------------------------------------------------------------------------------------


@always("TCConsistent", clause="commit_and_abort", r=each("resource_managers"), q=each("resource_managers"))
def resource_managers_agree(s: State, c: Constants, r: int, q: int) -> bool:
    """No resource manager has committed while another has aborted."""
    return not (s.resource_manager[r].state == RMState.COMMITTED and s.resource_manager[q].state == RMState.ABORTED)


@sometimes("TCConsistent")
def all_resource_managers_commit(s: State, c: Constants) -> bool:
    """Every resource manager has committed."""
    return all(s.resource_manager[r].state == RMState.COMMITTED for r in range(c.resource_managers))


@sometimes("TCConsistent")
def a_prepared_resource_manager_aborts(s: State, c: Constants) -> bool:
    """Every resource manager has aborted, one of them after it was prepared."""
    return (
        all(s.resource_manager[r].state == RMState.ABORTED for r in range(c.resource_managers))
        and not s.messages.prepared.is_empty()
    )


TWO_PHASE_COMMIT = Machine(
    name="two_phase_commit",
    state=State,
    actions=tuple(
        declared_action(f)
        for f in (
            tm_rcv_prepared,
            tm_commit,
            tm_abort,
            rm_prepare,
            rm_choose_to_abort,
            rm_rcv_commit_msg,
            rm_rcv_abort_msg,
        )
    ),
    clauses=(declared_always(resource_managers_agree),),
    witnesses=(
        declared_sometimes(all_resource_managers_commit),
        declared_sometimes(a_prepared_resource_manager_aborts),
    ),
)
"""The machine; it has no switches, since there are no versions of it."""
