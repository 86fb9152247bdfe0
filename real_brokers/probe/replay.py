"""``make replay-on-real``: plays the counterexamples that a client can play on the real broker of each release."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from conformance.errors import ConformanceError
from files.writing import write_whole
from halfcheck.errors import ExitCode
from halfcheck.probe.schedules import Schedule
from halfcheck.probe.session import Played, Session, identify
from model_check.clauses import name_of
from model_check.trace_validation.observed import EventKind, Trace
from model_check.world import Profile
from real_brokers.command_line import OneLineParser, exit_code_after
from real_brokers.errors import RealBrokerError
from real_brokers.probe.outcomes import (
    PAGE,
    RELEASES,
    BrokerReplay,
    ReplayOutcome,
    Task,
    page_of,
    read_replays,
    table_of,
    tasks_of,
    write_replays,
)
from real_brokers.rocketmq.broker import RealBroker
from spec.chapters import discarding, end_transaction
from spec.language import take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from wire.client.transactions import ROLLBACK
from wire.errors import WireError
from wire.probe.orders import AwaitOp, SendEnd
from wire.probe.player import EARLY, LATE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from spec.state import State

_PHASES: Final = LATE, EARLY
"""The attempts at each."""
_SHORT_MS: Final = 500
_LONG_MS: Final = 1_000
"""A tick; whole seconds where messages have an immunity."""
_STARTS: Final = 3
"""So often in a row a start may fail: another process may take a port that was free."""
_MANY_TICKS: Final = 10
"""Schedules that are longer come last."""
_A_BROKER: Final = 40
"""So many are played on one broker: then the time is looked at."""
_OF_PRODUCERS: Final = frozenset({
    "wrong_end", "slow_local", "late_end", "lose_end", "duplicate_end", "reorder", "offline_producer",
    "restarted_producer", "clock_skew",
})  # fmt: skip
"""Faults of which a broker writes down no more than what an END_TRANSACTION leads to."""
_OF_ITS_PROCESS: Final = frozenset({"crash", "graceful_stop"})

Settings = tuple[tuple[str, str], ...]


def settings_for(task: Task) -> Settings:
    """The settings of ``broker.conf`` in which a schedule's ticks are as long as its instance wants."""
    instance, tick = task.one.instance, tick_of(task)
    return (
        ("transactionCheckInterval", str(task.plan.interval * tick)),
        ("transactionTimeOut", str(instance.timeout * tick)),
        ("transactionCheckMax", str(instance.check_max)),
        ("transactionOpBatchInterval", str(int(_batch_ticks(task) * tick))),
    )


def _batch_ticks(task: Task) -> float:
    """The batch is written soon where the schedule has it written or has no rounds, and else behind all that it has."""
    is_soon = not task.plan.rounds or any(isinstance(order, AwaitOp) for order in task.plan.orders)
    return 0.5 if is_soon else task.plan.ticks + 1


def tick_of(task: Task) -> int:
    """Milliseconds of a tick."""
    return _LONG_MS if any(getattr(order, "immunity", None) is not None for order in task.plan.orders) else _SHORT_MS


def replay(release: str, tasks: Sequence[Task], played: dict[tuple[str, str, str], BrokerReplay]) -> None:
    """Play tasks of one release; a broker that is stuck, or can't change its settings, gives way to a fresh one.

    Raises
    ------
    ConformanceError
        The broker does not start.
    """
    waiting, failed = list(tasks), 0
    while waiting:
        settings = settings_for(waiting[0])
        with ExitStack() as stack:
            try:
                broker = stack.enter_context(RealBroker(release, "probe", dict(settings)))
            except RealBrokerError:
                if (failed := failed + 1) == _STARTS:
                    raise
                continue
            failed = 0
            session = _session(broker, release, waiting[0])
            is_sound = True
            while waiting and is_sound:
                task = waiting.pop(0)
                if settings_for(task) != settings:
                    session.close()
                    broker.change(dict(settings := settings_for(task)))
                    session = _session(broker, release, task)
                result, is_sound = _replayed(session, task)
                played[task.key] = result
                write_replays(release, played)
                print(f"{release} {' '.join(task.key[1:])}: {result.outcome} {result.reason}", flush=True)
                is_sound = is_sound and (not waiting or _can_change(release, settings, settings_for(waiting[0])))
            session.close()


def _session(broker: RealBroker, release: str, task: Task) -> Session:
    return Session(identify(broker.address, Profile.of(release), None), operator=broker, tick_ms=tick_of(task))


def _can_change(release: str, before: Settings, after: Settings) -> bool:
    """Whether a running broker takes the settings: up to 5.0 the check service reads its interval at its start only.

    RocketMQ: TransactionalMessageCheckService#run.
    """
    interval = "transactionCheckInterval"
    return not release.startswith("4.") or dict(before)[interval] == dict(after)[interval]


def _replayed(session: Session, task: Task) -> tuple[BrokerReplay, bool]:
    """The replay of a task, and whether the broker is as before."""
    schedule = Schedule(name_of(task.one.clause), task.one.steps, task.plan)
    for attempt, phase in enumerate(_PHASES, start=1):
        try:
            one = session.play(schedule, phase, asks_others=False)
        except (WireError, ConformanceError) as error:
            return task.became(ReplayOutcome.NOT_SEEN, f"the broker was not played on: {error}", attempt), False
        outcome, reason = judged(task, one)
        if outcome in (ReplayOutcome.SEEN, ReplayOutcome.CONTRADICTED) or not one.is_settled or task.plan.finer:
            break
    return task.became(outcome, reason, attempt), one.is_settled


def judged(task: Task, one: Played) -> tuple[ReplayOutcome, str]:
    """The outcome of a play of a counterexample, and the reason where it was not seen."""
    if one.judgement is None:
        return ReplayOutcome.NOT_SEEN, one.unfit
    if not one.judgement.is_explained:
        found = one.judgement.verdict.divergence
        return (
            ReplayOutcome.CONTRADICTED,
            "" if found is None else f"event {found.number} ({found.event}): {found.guard}",
        )
    if any(broken.clause == task.one.clause for broken in one.judgement.broken):
        return ReplayOutcome.SEEN, ""
    is_as_scheduled = one.missed is None and written_in(one.probed.trace).begins_with(written_by_schedule(task))
    if is_as_scheduled and depends_on_producers(task):
        return ReplayOutcome.SEEN, "record by record; the clause speaks of what only the producers know"
    if task.plan.finer:
        return ReplayOutcome.NOT_SEEN, task.why_finer
    if one.missed is not None:
        return ReplayOutcome.NOT_SEEN, f"did not come: {one.missed}"
    if is_as_scheduled:
        return ReplayOutcome.NOT_SEEN, "all records are those of the schedule; what breaks the clause leaves none"
    return ReplayOutcome.NOT_SEEN, "the broker went another way, which keeps the clause"


# --- what a broker has written ----------------------------------------------------------------------------------------
#
# A schedule was played to the letter, as records go, if the broker wrote what it has, in its order. What a producer has
# decided for itself is in no record, so that no path through the records alone can tell a commit that was sent by
# mistake from one that was decided. The probe knows, as it has played that producer.


def depends_on_producers(task: Task) -> bool:
    """Whether a counterexample turns on what only its producers know, and else on nothing that a probe does not see.

    That is a fault of theirs; or when a rollback arrived, which no record tells where its op message comes later.
    """
    faults = task.one.environment
    rolls_back = any(isinstance(order, SendEnd) and order.outcome == ROLLBACK for order in task.plan.orders)
    is_known = not _OF_PRODUCERS.isdisjoint(faults) or (rolls_back and Profile.of(task.release).switches.batches_ops)
    return is_known and (_OF_PRODUCERS | _OF_ITS_PROCESS).issuperset(faults)


@dataclass(frozen=True, slots=True)
class WrittenRecords:
    """Halves by transaction, deliveries by half and discards, in the order of the log; and what op messages name."""

    records: tuple[tuple[str, int], ...]
    names: frozenset[int]

    def begins_with(self, other: WrittenRecords) -> bool:
        """Whether all of another one is there first, in its order."""
        return self.records[: len(other.records)] == other.records and other.names <= self.names


def written_by_schedule(task: Task) -> WrittenRecords:
    """The records that the steps of a counterexample write."""
    machine, one = TRANSACTIONAL_MESSAGES, task.one
    profile = Profile.of(task.release)
    constants = one.world(profile).constants
    state = cast("State", machine.initial(constants))
    records: list[tuple[str, int]] = []
    names: set[int] = set()
    for step in one.path(profile):
        halves, ops, cursor = state.half_length, state.op_length, state.round.cursor
        take(state, constants, step)
        records += [("half", state.half[half].transaction) for half in range(halves, state.half_length)]
        if step.action.function is end_transaction.store_real_message:
            records.append(("delivered", step.arguments[0]))
        if step.action.function is discarding.discard_half and constants.keeps_discarded:
            records.append(("discarded", state.half[cursor].transaction))
        for op in range(ops, state.op_length):
            names |= {half for half in range(constants.half_slots) if state.op[op].names.has(half)}
    return WrittenRecords(tuple(records), frozenset(names))


def written_in(trace: Trace) -> WrittenRecords:
    """The records that a trace has."""
    records: list[tuple[str, int]] = []
    names: set[int] = set()
    for event in trace.events:
        if event.kind in (EventKind.HALF_STORED, EventKind.PUT_BACK):
            records.append(("half", event.transaction))
        elif event.kind is EventKind.DELIVERED:
            records.append(("delivered", event.half))
        elif event.kind is EventKind.DISCARDED:
            records.append(("discarded", event.transaction))
        elif event.kind is EventKind.OP_STORED:
            names |= set(event.names)
    return WrittenRecords(tuple(records), frozenset(names))


# --- the command line -------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Play what is asked for, and write the page."""
    parser = OneLineParser(prog="python -m real_brokers.probe.replay", description=__doc__)
    parser.add_argument("--release", action="append", choices=RELEASES, help="only of this release; repeatable")
    parser.add_argument("--clause", action="append", help="only this clause; repeatable")
    parser.add_argument("--environment", action="append", help="only this environment; repeatable")
    parser.add_argument("--again", action="store_true", help="also what was played already")
    parser.add_argument("--unseen", action="store_true", help="also what was not seen, where that may come")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin with no further broker after so long")
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    options = parser.parse_args(arguments)
    return exit_code_after(lambda: _main(options))


def _main(options: argparse.Namespace) -> int:
    played = read_replays()
    try:
        if not options.page:
            _play_all(options, played)
    finally:
        write_whole(PAGE, page_of(list(table_of(played))))
    is_contradicted = any(each.outcome is ReplayOutcome.CONTRADICTED for each in table_of(played))
    return ExitCode.SAFETY_VIOLATED if is_contradicted else ExitCode.OK


def _play_all(options: argparse.Namespace, played: dict[tuple[str, str, str], BrokerReplay]) -> None:
    end = time.monotonic() + options.minutes * 60
    for release in options.release or RELEASES:
        tasks = [task for task in tasks_of(release)[0] if _is_asked(task, options, played)]
        tasks.sort(key=lambda task: (task.plan.restarts, task.plan.ticks > _MANY_TICKS, settings_for(task)))
        while tasks and time.monotonic() < end:
            replay(release, tasks[:_A_BROKER], played)
            del tasks[:_A_BROKER]


def _is_asked(task: Task, options: argparse.Namespace, played: Mapping[tuple[str, str, str], BrokerReplay]) -> bool:
    known = played.get(task.key)
    outcome = None if known is None else known.outcome
    is_unseen = outcome is ReplayOutcome.CONTRADICTED or (outcome is ReplayOutcome.NOT_SEEN and not task.plan.finer)
    is_wanted_again = options.again or (options.unseen and is_unseen)
    if known is not None and known.steps == task.one.steps and not is_wanted_again:
        return False
    return (not options.clause or task.one.clause in options.clause) and (
        not options.environment or task.key[2] in options.environment
    )


if __name__ == "__main__":
    sys.exit(main())
