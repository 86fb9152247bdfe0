"""``make client-habits``: leads each client through each situation, and says what it did.

What was seen is kept in ``seen.toml``, and written from there to ``docs/generated/clients.md``. A client that is deaf
takes five minutes, which pass while others are led.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING, Final

from halfcheck.errors import ExitCode, one_line
from real_brokers.command_line import OneLineParser, exit_code_after
from real_brokers.errors import RealBrokerError
from real_brokers.habits.known import HABITS, Habit
from real_brokers.habits.led_clients import LED_CLIENTS, LedClient
from real_brokers.habits.page import write_page
from real_brokers.habits.seen import HABITS_SEEN, SeenHabit
from real_brokers.habits.stage import habit_stage
from wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_AT_ONCE: Final = 3
_writing = Lock()


def main(arguments: Sequence[str] | None = None) -> int:
    """Lead the clients that are named, or all, and write the page."""
    parser = OneLineParser(prog="python -m real_brokers.habits", description=__doc__)
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=f"of {', '.join(LED_CLIENTS)}; all if none")
    parser.add_argument("--habit", action="append", metavar="HABIT", help=f"of {', '.join(HABITS)}; all if none")
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    parser.add_argument("--check", action="store_true", help="write nothing, and compare with what is kept")
    options = parser.parse_args(arguments)
    for given, known in ((options.clients, LED_CLIENTS), (options.habit or [], HABITS)):
        for name in given:
            if name not in known:
                parser.error(f"no {name!r} here; there are {', '.join(known)}")
    clients = [] if options.page else options.clients or list(LED_CLIENTS)
    habits = [HABITS[name] for name in options.habit or HABITS]
    return exit_code_after(lambda: _lead_all([LED_CLIENTS[name] for name in clients], habits, keeps=not options.check))


def _lead_all(clients: Sequence[LedClient], habits: Sequence[Habit], *, keeps: bool) -> int:
    take = _keep if keeps else _is_as_kept
    with ThreadPoolExecutor(_AT_ONCE) as leading:
        failed = sum(leading.map(lambda led: _lead(led, habits, take), clients))
    if keeps:
        write_page(HABITS_SEEN.read())
    return ExitCode.SAFETY_VIOLATED if failed else ExitCode.OK


def _lead(led: LedClient, habits: Sequence[Habit], take: Callable[[SeenHabit], bool]) -> int:
    """Lead a client through each situation; how many came to no end, or to another one than was to be taken."""
    failed = 0
    for habit in (one for one in habits if led.hears_checks or not one.takes_checks):
        try:
            with TemporaryDirectory(prefix="halfcheck-habit-") as folder, habit_stage(led, Path(folder)) as stage:
                shown = habit.play(stage)
        except (RealBrokerError, WireError) as error:
            print(f"{led.name}, {habit.title}: FAILED: {one_line(error)}", file=sys.stderr, flush=True)
            failed += 1
            continue
        seen = SeenHabit(habit.name, led.name, shown.word, shown.breaks, tuple(shown.facts.items()))
        print(f"{led.name}, {habit.title}: {shown.word}", flush=True)
        failed += not take(seen)
    return failed


def _keep(seen: SeenHabit) -> bool:
    with _writing:
        known = HABITS_SEEN.read() | {seen.name: seen}
        names = [f"{habit} {client}" for habit in HABITS for client in LED_CLIENTS]
        HABITS_SEEN.write({name: known[name] for name in names if name in known})
    return True


def _is_as_kept(seen: SeenHabit) -> bool:
    kept = HABITS_SEEN.read().get(seen.name)
    if kept == seen:
        return True
    print(f"  kept of it: {kept}\n  seen now: {seen}", file=sys.stderr, flush=True)
    return False


if __name__ == "__main__":
    sys.exit(main())
