"""Asking the broker for what the specification forbids: it must refuse, and stay as it is.

What can be asked: an END_TRANSACTION (too late, for no half, for a half under another group or offset, of a slave), a
send to a slave, a round before its time, beside another or on a slave, a batch that is not due, offsets that are saved
already. A forbidden pass of the round is asked for by letting the round take its one pass: `Lockstep.take` compares the
branch, and here the specification must allow exactly one, unless store or network decide. Nobody can ask a broker for
what its environment does not send.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fuzz.answers import BRANCHES, ENDS, MISHAPS, NOT_THE_HALF, answered, told_end
from fuzz.broker_side.broker_side import as_wrong_group, as_wrong_offset
from fuzz.broker_side.requests import half_message
from fuzz.steered import batch_is_full, is_left_out
from reference.broker.broker_role import BrokerRole
from reference.broker.response import SERVICE_NOT_AVAILABLE
from spec.language import take
from spec.state import End, Producer

if TYPE_CHECKING:
    from fuzz.lockstep.pair import Lockstep
    from reference.broker.processor.end_transaction_processor import EndTransactionOutcome, EndTransactionRequestHeader
    from spec.language import Refused, Step

_DECODABLE: Final = "the first op messages can be decoded, or left out"
"""Where a round would begin all the same, and be over at once."""

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
    if name in BRANCHES or name in MISHAPS:
        _ask_round(pair)
    elif name in ENDS:
        _ask_end(pair, step)
    elif name == "send_half":
        _ask_send(pair, step)
    elif name == "begin_round" and refused.rule != _DECODABLE:
        began = pair.side.broker.begin_check_round() is not None
        pair.expect(f"asked for {step}", "whether a round begins", "False", str(began))
    elif name == "write_op_batch" and not pair.side.broker.role.is_slave and not batch_is_full(pair.side):
        written = len(pair.side.broker.run_op_batch_service().written)
        pair.expect(f"asked for {step}", "op messages written", "0", str(written))
    elif name == "persist_offsets" and pair.side.broker.role is not BrokerRole.ACTING_MASTER:
        pair.side.broker.persist_consumer_offsets()
    else:
        return refused
    pair.compare(f"asked for {step}")
    return refused


def _ask_round(pair: Lockstep) -> None:
    """A round that runs has one pass to take, unless the instance or the environment has no room for it."""
    if not pair.state.round.running:
        return
    refusals = {name: is_allowed(pair, pair.world.steps_of[name][0]) for name in (*BRANCHES, *MISHAPS)}
    allowed = {name for name, refused in refusals.items() if refused is None and name in BRANCHES}
    may_go_wrong = any(refusals[name] is None for name in MISHAPS)
    has_no_room = any(refused is not None and refused.kind != "require" for refused in refusals.values())
    is_settled = len(allowed) == 1 or (may_go_wrong and not allowed)
    if not is_settled and not has_no_room and allowed != _CHOICE:
        pair.disagree("asked for a pass of the round", "passes allowed", ", ".join(sorted(allowed)) or "none", "one")


def _ask_send(pair: Lockstep, step: Step) -> None:
    """A slave takes no messages; a producer that it does not know would be known by the try."""
    if pair.side.broker.role.is_slave and pair.side.producers.are is Producer.ONLINE:
        request = half_message(step.arguments[0], step.arguments[1], pair.side.clock.now)
        code = pair.side.broker.send_message(request).response.code
        pair.expect(f"asked for {step}", "the answer to the send", str(SERVICE_NOT_AVAILABLE), str(code))


def _ask_end(pair: Lockstep, step: Step) -> None:
    """An END_TRANSACTION that must be refused: the one that arrives, if it is late; else one that fits no half."""
    half = step.arguments[0]
    first = pair.side.network.first(half)
    header = pair.header(half, End.COMMIT if first is None else first.says)
    if pair.side.broker.role.is_slave:
        _expect_refusal(pair, header, "an END_TRANSACTION of a slave", ENDS["refuse_end_as_slave"])
    elif half >= pair.state.half_length:
        _expect_refusal(pair, header, "an END_TRANSACTION for no half", NOT_THE_HALF)
    elif first is None:
        _expect_refusal(pair, as_wrong_group(header), "an END_TRANSACTION of another group", NOT_THE_HALF)
        _expect_refusal(pair, as_wrong_offset(header), "an END_TRANSACTION for another offset", NOT_THE_HALF)
    elif first.handling is None and _is_late(pair, half):
        _expect_refusal(pair, header, "a late END_TRANSACTION", ENDS["refuse_late_end"])


def _is_late(pair: Lockstep, half: int) -> bool:
    """Both refuse it as late, and the broker for nothing else."""
    step = pair.world.steps_of["refuse_late_end"][half]
    return not is_left_out(step, pair) and is_allowed(pair, step) is None


def _expect_refusal(
    pair: Lockstep,
    header: EndTransactionRequestHeader,
    what: str,
    refusal: tuple[EndTransactionOutcome, int | None],
) -> None:
    answer = answered(pair.side.ask_end(header))
    pair.expect(f"asked for {what}", "the answer to END_TRANSACTION", told_end(refusal), told_end(answer))
