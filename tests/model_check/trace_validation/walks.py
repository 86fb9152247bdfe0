"""Random walks of the specification in milliseconds, and the records that they leave."""

from __future__ import annotations

import random
from functools import cache, lru_cache

from model_check.configuration import Configuration
from model_check.front_end.lower import Lowering
from model_check.front_end.terms import Switch
from model_check.trace_validation.observed import EventKind, ObservedEvent, Trace
from model_check.world import World
from spec.constants import FAULTS, Constants, Instance
from spec.language import NONE, Step, take
from spec.profiles import PROFILES
from spec.state import State
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

TICK_MS = 500
SETTINGS = Configuration.of_release(
    "5.3.3", check_max=3, timeout_ms=1_000, check_interval_ms=1_000, op_batch_interval_ms=500, op_pull_size=2
)
"""Times that are whole ticks."""

NO_LIMIT = 1_000_000

DRAIN = 40
"""So many steps more, in which only what is begun is ended: entries join the op buffer, and it is written."""

RARE = {
    "crash": 0.02,
    "stop": 0.2,
    "duplicate_end": 0.2,
    "lose_end": 0.3,
    "lose_check": 0.3,
    "lose_all_producers": 0.1,
    "restart_producers": 0.1,
    "persist_offsets": 0.3,
    "pull_more_ops": 0.3,
    "send_half": 0.5,
    "tick": 3.0,
}
"""How much more or less often than others an action is chosen, when it is possible."""

LAST = frozenset({"buffer_op", "write_op", "write_op_batch", "tick"})

DISCARDS = frozenset({"discard_half", "discard_instead_of_check"})

ENDS_OF_A_PROCESS = frozenset({"crash", "stop"})
"""No broker is back at once: a tick passes."""


def constants_for(profile: str, faults: tuple[str, ...]) -> Constants:
    instance = Instance(
        name="walked",
        transactions=5,
        half_slots=30,
        op_slots=24,
        check_max=SETTINGS.check_max,
        timeout=SETTINGS.timeout_ms,
        immunities=(NONE, 2_000),
        check_interval=SETTINGS.check_interval_ms,
        round_limit=SETTINGS.round_limit_ms,
        op_batch_interval=SETTINGS.op_batch_interval_ms,
        op_batch_size=31,
        op_pull_size=SETTINGS.op_pull_size,
        stray_ends=160,
        skews=(-TICK_MS, TICK_MS) if "clock_skew" in faults else (0,),
    )
    return World.of(profile, faults, instance).constants


def walk(profile: str, faults: tuple[str, ...], seed: int, steps: int) -> Trace:
    """The records of one walk; a store's own fields, nothing of what leaves no record."""
    chance = random.Random(f"{profile} {faults} {seed}")
    constants = constants_for(profile, faults)
    state = State(constants)
    state.now = 1_000_000
    events: list[ObservedEvent] = []
    buffered: list[int] = []
    for number in range(steps + DRAIN):
        cursor = state.round.cursor
        halves, ops = state.half_length, state.op_length
        tried = shuffled(weighted_steps(constants, halves, ops, is_ending=number >= steps), chance)
        step = next((step for step in tried if take(state, constants, step) is None), None)
        if step is None:
            break
        name = step.action.name
        if name == "tick":
            state.now += TICK_MS - 1
        elif name == "buffer_op":
            buffered.append(step.arguments[0])
        elif name in ENDS_OF_A_PROCESS:
            buffered = []
            state.now += TICK_MS
        if state.half_length > halves:
            events.append(half_event(state, halves, is_first=name.startswith("send_")))
        elif state.op_length > ops:
            names = buffered if constants.batches_ops else list(state.op[ops].names)
            events.append(op_event(state, ops, names, is_batched=constants.batches_ops))
            buffered = []
        elif name == "store_real_message":
            half = step.arguments[0]
            transaction = state.half[half].transaction
            events.append(ObservedEvent(kind=EventKind.DELIVERED, time=state.now, transaction=transaction, half=half))
        elif name in DISCARDS and constants.keeps_discarded:
            gone = state.half[cursor]
            events.append(
                ObservedEvent(
                    kind=EventKind.DISCARDED,
                    time=state.now,
                    transaction=gone.transaction,
                    check_times=gone.check_times,
                )
            )
    last = events[-1].time if events else state.now
    saved = ObservedEvent(kind=EventKind.OFFSETS_SAVED, time=last, half=state.saved.half, op=state.saved.op)
    return Trace((*events, saved))


@cache
def faults_assumed_by_actions() -> dict[str, frozenset[str]]:
    """The faults without which an action never is possible, by its name; of each its guard says so in a rule."""
    constants = World.of(next(iter(PROFILES)), (), "tiny").constants
    lowering = Lowering(TRANSACTIONAL_MESSAGES, constants)  # it leaves all switches open
    one_each = {step.action.name: step for step in TRANSACTIONAL_MESSAGES.steps(constants)}
    return {
        name: frozenset(
            rule.condition.name
            for rule in lowering.action(step).guard
            if rule.kind == "assume" and isinstance(rule.condition, Switch)
        )
        for name, step in one_each.items()
    }


@lru_cache(maxsize=2)
def all_steps(constants: Constants) -> tuple[Step, ...]:
    """All steps but those of actions that need a fault which is not there."""
    absent = {fault for fault in FAULTS if not getattr(constants, fault)}
    impossible = {name for name, assumed in faults_assumed_by_actions().items() if assumed & absent}
    steps = TRANSACTIONAL_MESSAGES.steps(constants)
    return tuple(step for step in steps if step.action.name not in impossible)


@lru_cache(maxsize=1_000)
def weighted_steps(constants: Constants, halves: int, ops: int, *, is_ending: bool) -> list[tuple[Step, float]]:
    """All steps but those that speak of a message which is not there, each with the inverse of its weight."""
    lengths = {"h": halves, "o": ops}
    return [
        (step, 1 / RARE.get(step.action.name, 1.0))
        for step in all_steps(constants)
        if (not is_ending or step.action.name in LAST)
        and all(step.arguments[i] < lengths.get(p, NO_LIMIT) for i, p in enumerate(step.action.parameters))
    ]


def shuffled(steps: list[tuple[Step, float]], chance: random.Random) -> list[Step]:
    """In an order in which each step comes first as often as its weight says; so does the first that is possible.

    Efraimidis and Spirakis, Weighted random sampling with a reservoir (2006).
    """
    draw = chance.random
    drawn = sorted([(draw() ** inverse, i) for i, (_, inverse) in enumerate(steps)], reverse=True)
    return [steps[i][0] for _, i in drawn]


def half_event(state: State, half: int, *, is_first: bool) -> ObservedEvent:
    stored = state.half[half]
    return ObservedEvent(
        kind=EventKind.HALF_STORED if is_first else EventKind.PUT_BACK,
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
        kind=EventKind.OP_STORED,
        time=state.now,
        op=op,
        names=tuple(names),
        born=state.now,
        is_batched=is_batched,
        body_size=len(body),
    )
