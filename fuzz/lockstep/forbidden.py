"""Forbidden requests: the broker must refuse what the specification forbids, and stay as it is.

The requests: an END_TRANSACTION (too late, for no half, for a half under another group or offset, of a slave), a
send to a slave, a round before its time, beside another or on a slave, a batch that is not due, offsets that are saved
already. A forbidden pass of the round is asked for by letting the round take its one pass: `Pair.take` compares the
branch, and here the specification must allow exactly one, unless store or network decide. Nobody can ask a broker for
what its environment does not send.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fuzz.actions import check_round, discarding, end_transaction
from fuzz.actions.record import AnswerDifference
from fuzz.broker_side.broker_process import Doing
from fuzz.lockstep.pairing import DRIVEN, Pair, is_excluded
from spec.chapters import end_transaction as spec_of_ends
from spec.language import Refused, Step, take
from spec.state import End

if TYPE_CHECKING:
    from reference.broker.processor.end_transaction_processor import EndTransactionRequestHeader

_CHOICE: Final = {discarding.discard_half, check_round.end_round_before_dispatch}
"""Passes that the specification leaves open: stored records may be dispatched or not."""


def is_allowed(pair: Pair, step: Step) -> Refused | None:
    """The rule that refuses a step now; None if the specification allows it. The state stays as it is."""
    memory = pair.state.memory
    memory.undo = []
    refused = take(pair.state, pair.constants, step)
    memory.take_back(0)
    memory.undo = None
    return refused


def ask(pair: Pair, step: Step) -> Refused | None:
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
    pair.side.process.doing = Doing(len(pair.taken), step, is_question=True)
    record = DRIVEN[step.action.name]
    try:
        is_asked = record.ask is not None and record.ask(pair.side, step, refused)
    except AnswerDifference as difference:
        pair.disagree(f"asked for {step}", *difference.found)
    if record.part and not is_asked:
        is_asked = True
        if record.part == "end":
            _ask_end(pair, step)
        else:
            _ask_round(pair)
    if is_asked:
        pair.compare()
    return refused


def _ask_round(pair: Pair) -> None:
    """A round that runs has one pass to take, unless the instance or the environment has no room for it."""
    if not pair.state.round.running or _has_no_pass(pair):
        return
    passes = {name: record for name, record in DRIVEN.items() if record.part in ("pass", "uncertain pass")}
    steps = {name: pair.pairing.steps_of[name][0] for name in passes if name in pair.pairing.steps_of}
    refusals = {name: is_allowed(pair, step) for name, step in steps.items()}
    allowed = [name for name, refused in refusals.items() if refused is None]
    certain = [name for name in allowed if passes[name].part == "pass"]
    taken = [name for name in certain if not is_excluded(passes[name], pair.side, steps[name])]
    has_no_room = any(refused is not None and refused.kind != "require" for refused in refusals.values())
    is_settled = 1 in (len(certain), len(taken)) or (not certain and bool(allowed))
    if not is_settled and not has_no_room and {passes[name] for name in certain} != _CHOICE:
        pair.disagree("asked for a pass of the round", "passes allowed", ", ".join(sorted(certain)) or "none", "one")


def _has_no_pass(pair: Pair) -> bool:
    """A half that cannot be decoded, which a repaired master puts aside, and no slave that acts for one.

    The specification gives such a slave nothing to do but to wait for its time limit.
    """
    is_slave = pair.constants.parks_poison and pair.side.broker.role.is_slave
    return is_slave and check_round.half_at_cursor(pair.side) is None


def _ask_end(pair: Pair, step: Step) -> None:
    """An END_TRANSACTION that must be refused: the one that arrives, if it is late; else one that fits no half."""
    half = step.arguments[0]
    first = pair.side.network.first(half)
    header = pair.side.header(half, End.COMMIT if first is None else first.says)
    if pair.side.broker.role.is_slave:
        as_slave = end_transaction.refuse_end_as_slave.expected
        _expect_refusal(pair, header, "an END_TRANSACTION of a slave", as_slave)
    elif half >= pair.state.half_length:
        _expect_refusal(pair, header, "an END_TRANSACTION for no half")
    elif first is None:
        # They answer a check, so that they are never late.
        answer = replace(header, from_transaction_check=True)
        of_another = replace(answer, producer_group=header.producer_group + "-2")
        _expect_refusal(pair, of_another, "an END_TRANSACTION of another group")
        beside = type(header.tran_state_table_offset)(header.tran_state_table_offset + 1)
        beside_it = replace(answer, tran_state_table_offset=beside)
        _expect_refusal(pair, beside_it, "an END_TRANSACTION for another offset")
    elif first.handling is None and pair.side.broker.is_stopping and pair.constants.awaits_ends_on_stop:
        _expect_refusal(pair, header, "an END_TRANSACTION of a broker that stops")
    elif first.handling is None and _is_late(pair, half):
        _expect_refusal(pair, header, "a late END_TRANSACTION", end_transaction.refuse_late_end.expected)


def _is_late(pair: Pair, half: int) -> bool:
    """Both refuse it as late, and the broker for nothing else."""
    step = pair.pairing.steps_of[spec_of_ends.refuse_late_end.__name__][half]
    return not is_excluded(end_transaction.refuse_late_end, pair.side, step) and is_allowed(pair, step) is None


def _expect_refusal(
    pair: Pair, header: EndTransactionRequestHeader, what: str, refusal: str = end_transaction.NOT_THE_HALF
) -> None:
    answer = end_transaction.answer_of(pair.side.ask_end(header))
    if answer != refusal:
        pair.disagree(f"asked for {what}", end_transaction.ANSWER, refusal, answer)
