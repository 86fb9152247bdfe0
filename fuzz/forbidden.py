"""Asking the broker for what the specification forbids: it must refuse, and stay as it is.

What can be asked: an END_TRANSACTION (too late, for no half, for a half under another group or offset), a round before
its time or beside another, a batch that is not due, offsets that are saved already. A forbidden pass of the round is
asked for by letting the round take its one pass: `Lockstep.take` compares the branch, and here the specification must
allow exactly one. Nobody can ask a broker for what its environment does not send.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fuzz.answers import BRANCHES, ENDS, NOT_THE_HALF, answered, told_end
from fuzz.broker_side import as_wrong_group, as_wrong_offset
from fuzz.steered import batch_is_full
from spec.language import take
from spec.state import End

if TYPE_CHECKING:
    from fuzz.lockstep import Lockstep
    from reference.end_transaction_request import EndTransactionRequestHeader
    from reference.end_transaction_step import EndTransactionOutcome
    from spec.language import Refused, Step

_CHOICE: Final = {"end_round_before_dispatch", "discard_half"}
"""Where the specification leaves a choice: what is stored may be dispatched or not."""


def is_allowed(pair: Lockstep, step: Step) -> Refused | None:
    """Whether the specification allows a step now (None), or what refuses it; the state stays as it is."""
    memory = pair.state.memory
    memory.undo = []
    refused = take(pair.state, pair.constants, step)
    memory.take_back(0)
    memory.undo = None
    return refused


def ask(pair: Lockstep, step: Step) -> Refused | None:
    """Ask for a step, if it is forbidden and the broker can be asked for it; what refuses it in the specification.

    Raises
    ------
    Mismatch
        The broker does not refuse, or is no longer as it was.
    """
    refused = is_allowed(pair, step)
    if refused is None or refused.kind != "require":
        return refused
    pair.asked = step
    name = step.action.name
    if name in BRANCHES:
        _ask_round(pair)
    elif name in ENDS:
        _ask_end(pair, step)
    elif name == "begin_round":
        began = pair.side.broker.begin_check_round() is not None
        pair.expect(f"asked for {step}", "whether a round begins", "False", str(began))
    elif name == "write_op_batch" and not batch_is_full(pair.side):
        written = len(pair.side.broker.run_op_batch_service().written)
        pair.expect(f"asked for {step}", "op messages written", "0", str(written))
    elif name == "persist_offsets":
        pair.side.broker.persist_consumer_offsets()
    else:
        return refused
    pair.compare(f"asked for {step}")
    return refused


def _ask_round(pair: Lockstep) -> None:
    """A round that runs has one pass to take, unless the instance or the environment has no room for it."""
    if not pair.state.round.running:
        return
    refusals = {name: is_allowed(pair, pair.world.steps_of[name][0]) for name in BRANCHES}
    allowed = {name for name, refused in refusals.items() if refused is None}
    has_no_room = any(refused is not None and refused.kind != "require" for refused in refusals.values())
    if len(allowed) != 1 and not has_no_room and allowed != _CHOICE:
        pair.disagree("asked for a pass of the round", "passes allowed", ", ".join(sorted(allowed)) or "none", "one")


def _ask_end(pair: Lockstep, step: Step) -> None:
    """An END_TRANSACTION that must be refused: the one that arrives, if it is late; else one that fits no half."""
    half = step.arguments[0]
    sender = pair.sender_for(half)
    if half >= pair.state.half_length:
        header = pair.header(half, replace(sender, end=End.COMMIT))
        _expect_refusal(pair, header, "an END_TRANSACTION for no half", NOT_THE_HALF)
    elif sender.end == End.NONE:
        header = pair.header(half, replace(sender, end=End.COMMIT))
        _expect_refusal(pair, as_wrong_group(header), "an END_TRANSACTION of another group", NOT_THE_HALF)
        _expect_refusal(pair, as_wrong_offset(header), "an END_TRANSACTION for another offset", NOT_THE_HALF)
    elif is_allowed(pair, pair.world.steps_of["refuse_late_end"][half]) is None:
        _expect_refusal(pair, pair.header(half, sender), "a late END_TRANSACTION", ENDS["refuse_late_end"])


def _expect_refusal(
    pair: Lockstep,
    header: EndTransactionRequestHeader,
    what: str,
    refusal: tuple[EndTransactionOutcome, int | None],
) -> None:
    answer = answered(pair.side.begin_end(header))
    pair.expect(f"asked for {what}", "the answer to END_TRANSACTION", told_end(refusal), told_end(answer))
