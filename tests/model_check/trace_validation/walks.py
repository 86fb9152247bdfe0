"""Random walks of the specification in milliseconds, and the records that they leave."""

from __future__ import annotations

import random
from dataclasses import asdict
from typing import Any

from model_check.trace_validation.observed import Kind, ObservedEvent, Settings, Trace
from model_check.trace_validation.workspace import ACTIONS
from spec.constants import Constants, Instance
from spec.language import NONE, Step, take
from spec.profiles import PROFILES
from spec.state import State
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

TICK_MS = 500
SETTINGS = Settings(check_max=3, timeout=1_000, check_interval=1_000, op_batch_interval=500, op_pull_size=2)
"""Times that are whole ticks."""

DRAIN = 40
"""So many steps more, in which only what is begun is ended: entries join the op buffer, and it is written."""

RARE = {"crash": 0.02, "persist_offsets": 0.3, "send_half": 0.5, "tick": 3.0}
"""How much more or less often than others an action is chosen, when it is possible."""


def constants_for(profile: str, faults: tuple[str, ...]) -> Constants:
    instance = Instance(
        name="walked",
        transactions=5,
        half_slots=30,
        op_slots=24,
        check_max=SETTINGS.check_max,
        timeout=SETTINGS.timeout,
        immunities=(NONE, 2_000),
        check_interval=SETTINGS.check_interval,
        round_limit=SETTINGS.round_limit,
        op_batch_interval=SETTINGS.op_batch_interval,
        op_batch_size=31,
        op_pull_size=SETTINGS.op_pull_size,
        stray_ends=160,
    )
    given: dict[str, Any] = {**asdict(instance), **asdict(PROFILES[profile]), **dict.fromkeys(faults, True)}
    return Constants(**given)


def walk(profile: str, faults: tuple[str, ...], seed: int, steps: int) -> Trace:
    """The records of one walk; a store's own fields, nothing of what leaves no record."""
    chance = random.Random(f"{profile} {faults} {seed}")
    constants = constants_for(profile, faults)
    state = State(constants)
    state.now = 1_000_000
    possible = [step for step in TRANSACTIONAL_MESSAGES.steps(constants) if step.action.name != "tick"]
    tick = Step(ACTIONS["tick"], ())
    events: list[ObservedEvent] = []
    buffered: list[int] = []
    for number in range(steps + DRAIN):
        before = list(state.memory.values)
        enabled = []
        last = [step for step in possible if step.action.name in ("buffer_op", "write_op", "write_op_batch")]
        for step in (*(possible if number < steps else last), tick):
            if take(state, constants, step) is None:
                enabled.append(step)
                state.memory.values = list(before)
        if not enabled:
            break
        step = chance.choices(enabled, [RARE.get(step.action.name, 1.0) for step in enabled])[0]
        cursor = state.round.cursor
        halves, ops = state.half_length, state.op_length
        take(state, constants, step)
        if step.action.name == "tick":
            state.now += TICK_MS - 1
        elif step.action.name == "buffer_op":
            buffered.append(step.arguments[0])
        elif step.action.name == "crash":
            buffered = []
        if state.half_length > halves:
            events.append(half_event(state, halves, is_first=step.action.name == "send_half"))
        elif state.op_length > ops:
            names = buffered if constants.batches_ops else list(state.op[ops].names)
            events.append(op_event(state, ops, names, is_batched=constants.batches_ops))
            buffered = []
        elif step.action.name == "store_real_message":
            half = step.arguments[0]
            transaction = state.half[half].transaction
            events.append(ObservedEvent(kind=Kind.DELIVERED, time=state.now, transaction=transaction, half=half))
        elif step.action.name == "discard_half" and constants.keeps_discarded:
            gone = state.half[cursor]
            events.append(
                ObservedEvent(
                    kind=Kind.DISCARDED, time=state.now, transaction=gone.transaction, check_times=gone.check_times
                )
            )
    return Trace(tuple(events))


def half_event(state: State, half: int, *, is_first: bool) -> ObservedEvent:
    stored = state.half[half]
    return ObservedEvent(
        kind=Kind.HALF_STORED if is_first else Kind.PUT_BACK,
        time=state.now,
        transaction=stored.transaction,
        half=half,
        born=stored.born_at,
        check_times=stored.check_times,
        original=stored.original,
        immunity=state.transaction[stored.transaction].immunity,
    )


def op_event(state: State, op: int, names: list[int], *, is_batched: bool) -> ObservedEvent:
    """An op message, in whose body a half may stand as often as an END_TRANSACTION was handled for it."""
    assert set(names) == set(state.op[op].names)
    body = "".join(f"{name}," for name in names)
    return ObservedEvent(
        kind=Kind.OP_STORED,
        time=state.now,
        op=op,
        names=tuple(names),
        born=state.now,
        is_batched=is_batched,
        body_size=len(body),
    )
