"""A schedule in plain words: who does what, and when, in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from model_check.broker_conf.configuration import show_duration
from model_check.broker_conf.schedule import ROUND_ENDED, TICK
from model_check.errors import EvaluationError
from spec.language import NONE, Kind, Machine, Step, take

if TYPE_CHECKING:
    from collections.abc import Sequence

PHRASES = {
    "send_half": "the producer sends transaction {t}{immunity}; the broker stores its half at offset {last}",
    "commit_locally": "the local transaction {t} commits, and END_TRANSACTION(commit) is sent for half {first}",
    "roll_back_locally": "the local transaction {t} rolls back, and END_TRANSACTION(rollback) is sent for half {first}",
    "leave_it_unknown": "the producer does not know yet how the local transaction {t} will end",
    "resolve_to_commit": "the local transaction {t} turns out to be committed; no END_TRANSACTION says so",
    "resolve_to_rollback": "the local transaction {t} turns out to be rolled back; no END_TRANSACTION says so",
    "answer_check": "the producer answers the check of half {h}: {answer}",
    "answer_check_too_early": "the producer finds no trace of its local transaction and answers rollback for half {h}",
    "store_real_message": "the commit for half {h} arrives: transaction {of} is delivered ({deliveries})",
    "write_op": "the op message for half {h} is written, and the broker answers SUCCESS",
    "buffer_op": "the op entry for half {h} waits in the batch, and the broker answers SUCCESS",
    "refuse_late_end": "the END_TRANSACTION for half {h} is refused as late",
    "write_op_batch": "the op batch is written",
    "begin_round": "a check round begins at half {cursor}",
    "pass_settled_half": "the round passes half {passed}: an op message names it",
    "discard_half": "the round discards half {passed}: its checks are used up",
    "pass_half_of_settled_original": "the round passes half {passed}: an op message names its original",
    "put_back_immune_half": "half {passed} is immune: it is put back as half {last} (check {checks})",
    "put_back_and_check": "half {passed} is put back as half {last} (check {checks}), and its producer is asked",
    "pull_more_ops": "the round reads on in the op queue",
    "persist_offsets": "the consumer offsets are saved",
    "lose_end": "the END_TRANSACTION for half {h} is lost",
    "lose_check": "the check request for half {h} is lost",
    "duplicate_end": "the END_TRANSACTION for half {h} arrives a second time",
    "send_wrong_commit": "a commit for half {h} arrives that its producer did not decide",
    "send_wrong_rollback": "a rollback for half {h} arrives that its producer did not decide",
    "crash": "the broker's process dies and starts again",
}
"""Action → what it looks like. An action without a phrase is told by the first sentence of its docstring."""

_ANSWERS = {"commit": "commit", "rollback": "rollback"}


@dataclass(frozen=True, slots=True)
class Told:
    """One step that people want to read: when it happens, in milliseconds since the start, and what it is."""

    milliseconds: int
    step: Step
    words: str

    def __str__(self) -> str:
        return f"{self.milliseconds / 1000:.3f} s  {self.words}"

    def to_json(self) -> dict[str, Any]:
        """The step as plain data."""
        return {
            "milliseconds": self.milliseconds,
            "action": self.step.action.name,
            "parameters": dict(zip(self.step.action.parameters, self.step.arguments, strict=True)),
            "words": self.words,
        }


def tell(machine: Machine, constants: object, path: Sequence[Step], times: Sequence[int]) -> tuple[Told, ...]:
    """The steps in words; that time passes and that a round ends is left out.

    Parameters
    ----------
    machine
    constants
        In milliseconds.
    path, times
        A schedule, as `model_check.broker_conf.judge` accepts it.

    Raises
    ------
    EvaluationError
        When a guard refuses a step.
    """
    state = machine.initial(constants)
    clock = next(p for p, slot in enumerate(state.memory.slots) if slot.kind is Kind.CLOCK)
    told = []
    for step, time in zip(path, times, strict=True):
        if step.action.event == TICK:
            state.memory.values[clock] = state.horizon + time
            continue
        refused = take(state, constants, step)
        if refused is not None:
            msg = f"{step} at {time} ms is refused: {refused.rule}"
            raise EvaluationError(msg)
        if step.action.event != ROUND_ENDED:
            told.append(Told(time, step, _words(step, state.show())))
    return tuple(told)


def _words(step: Step, shown: dict[str, str]) -> str:
    phrase = PHRASES.get(step.action.name)
    if phrase is None:
        return " ".join((step.action.function.__doc__ or step.action.name).split("\n\n")[0].split())
    given = dict(zip(step.action.parameters, step.arguments, strict=True))
    transaction = given.get("t", shown.get(f"half[{given.get('h')}].transaction", ""))
    last = int(shown["half_length"]) - 1
    immunity = given.get("immunity", NONE)
    return phrase.format(
        t=given.get("t"),
        h=given.get("h"),
        of=transaction,
        first=shown.get(f"transaction[{transaction}].first_half"),
        deliveries=_count(shown.get(f"transaction[{transaction}].deliveries", "")),
        immunity="" if immunity == NONE else f", which is immune for {show_duration(immunity)}",
        answer=_ANSWERS.get(shown.get(f"half[{given.get('h')}].end", ""), "unknown"),
        last=last,
        checks=shown.get(f"half[{last}].check_times"),
        cursor=shown["round.cursor"],
        passed=int(shown["round.cursor"]) - 1,
    )


def _count(times: str) -> str:
    return {"1": "once", "2": "a second time"}.get(times, times)
