"""``make replay-on-real``: plays the counterexamples that a client can play on the real broker of each release."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from halfcheck.errors import exit_code_of, one_line
from halfcheck.probe.real.hosted import HostedBroker
from halfcheck.probe.real.page import PAGE, page_of
from halfcheck.probe.real.replays import (
    RELEASES,
    Outcome,
    Replay,
    Task,
    read_replays,
    table_of,
    tasks_of,
    write_replays,
)
from halfcheck.probe.schedules import Schedule
from halfcheck.probe.session import Session, identify
from model_check.counterexample.files import write_whole
from model_check.instances import load_instance
from wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from halfcheck.probe.session import Played

_ATTEMPTS: Final = 2
_SHORT_MS: Final = 500
_LONG_MS: Final = 1_000
"""A tick; whole seconds where messages have an immunity."""
_TERMINATED: Final = 143

Settings = tuple[tuple[str, str], ...]


def settings_for(task: Task) -> Settings:
    """The settings of ``broker.conf`` in which a schedule's ticks are as long as its instance wants."""
    instance, tick = load_instance(task.one.instance), tick_of(task)
    return (
        ("transactionCheckInterval", str(task.plan.interval * tick)),
        ("transactionTimeOut", str(instance.timeout * tick)),
        ("transactionCheckMax", str(instance.check_max)),
        ("transactionOpBatchInterval", str(instance.op_batch_interval * tick)),
    )


def tick_of(task: Task) -> int:
    """Milliseconds of a tick."""
    return _LONG_MS if any(getattr(order, "immunity", None) is not None for order in task.plan.orders) else _SHORT_MS


def replay(release: str, tasks: Sequence[Task], played: dict[tuple[str, str, str], Replay]) -> None:
    """Play tasks of one release that want the same settings; a broker that is stuck gives way to a fresh one.

    Raises
    ------
    ConformanceError
        The broker does not start.
    """
    waiting = list(tasks)
    while waiting:
        with HostedBroker(release, dict(settings_for(waiting[0]))) as broker:
            session = Session(identify(broker.address, release, None), operator=broker, tick_ms=tick_of(waiting[0]))
            is_sound = True
            while waiting and is_sound:
                task = waiting.pop(0)
                result, is_sound = _replayed(session, task)
                played[task.key] = result
                write_replays(played)
                print(f"{release} {' '.join(task.key[1:])}: {result.outcome} {result.reason}", flush=True)
            session.close()


def _replayed(session: Session, task: Task) -> tuple[Replay, bool]:
    """What became of it, and whether the broker is as before."""
    schedule = Schedule(task.one.clause, task.one.steps, task.plan)
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            one = session.play(schedule, asks_others=False)
        except WireError as error:
            return task.became(Outcome.NOT_SEEN, f"the broker was not played on: {error}", attempt), False
        outcome, reason = judged(task, one)
        if outcome in (Outcome.SEEN, Outcome.CONTRADICTED) or not one.is_settled:
            break
    return task.became(outcome, reason, attempt), one.is_settled


def judged(task: Task, one: Played) -> tuple[Outcome, str]:
    """What a play shows of a counterexample, and why not more."""
    if one.judgement is None:
        return Outcome.NOT_SEEN, one.unfit
    if not one.judgement.is_explained:
        found = one.judgement.verdict.divergence
        return Outcome.CONTRADICTED, "" if found is None else f"event {found.number} ({found.event}): {found.guard}"
    if any(broken.name == task.one.clause for broken in one.judgement.broken):
        return Outcome.SEEN, ""
    if task.plan.finer:
        return Outcome.NOT_SEEN, f"nobody can choose from outside that {task.plan.finer[0]}"
    if one.missed is not None:
        return Outcome.NOT_SEEN, f"did not come: {one.missed}"
    return Outcome.NOT_SEEN, "the records are explained by a path that keeps the clause"


def main(arguments: Sequence[str] | None = None) -> int:
    """Play what is asked for, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m halfcheck.probe.real.replay_on_real", description=__doc__)
    parser.add_argument("--release", action="append", choices=RELEASES, help="only of this release; repeatable")
    parser.add_argument("--clause", action="append", help="only this clause; repeatable")
    parser.add_argument("--environment", action="append", help="only this environment; repeatable")
    parser.add_argument("--again", action="store_true", help="also what was seen already")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin with no further broker after so long")
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))
    played = read_replays()
    try:
        if not options.page:
            _play_all(options, played)
    except (WireError, Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - it becomes a line and an exit code
        print(one_line(error), file=sys.stderr)
        return exit_code_of(error)
    finally:
        write_whole(PAGE, page_of(list(table_of(played))))
    return 12 if any(each.outcome is Outcome.CONTRADICTED for each in table_of(played)) else 0


def _play_all(options: argparse.Namespace, played: dict[tuple[str, str, str], Replay]) -> None:
    end = time.monotonic() + options.minutes * 60
    for release in options.release or RELEASES:
        groups: defaultdict[Settings, list[Task]] = defaultdict(list)
        for task in tasks_of(release)[0]:
            known = played.get(task.key)
            is_known = known is not None and known.steps == task.one.steps and not options.again
            is_asked = (not options.clause or task.one.clause in options.clause) and (
                not options.environment or task.key[2] in options.environment
            )
            if is_asked and not is_known:
                groups[settings_for(task)].append(task)
        for tasks in sorted(groups.values(), key=len, reverse=True):
            if time.monotonic() > end:
                return
            replay(release, sorted(tasks, key=lambda task: task.plan.restarts), played)


if __name__ == "__main__":
    sys.exit(main())
