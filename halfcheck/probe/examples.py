"""Hypothesis draws schedules, which are played on a broker, and makes the first one shorter that fails.

A play takes seconds, so that each schedule is played once, and Hypothesis is told of the same schedule the same again:
it never sees a broker that is not deterministic. Where the specification breaks the clause by the schedule itself,
it is asked first whether a shorter one breaks it, too.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, cast

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st

from document.words import counted
from fuzz.search.examples import leave_no_files_here
from halfcheck.probe.schedules import Schedule
from halfcheck.probe.shrinking import Failure, Plays, Search, failure_of, shrink
from model_check.counterexample.steps import write_path
from model_check.world import Environment, World
from spec.language import NONE, Property, Step, holds, take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from wire.probe.choices import Choice, ClientSchedules
from wire.probe.orders import SendHalf

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from halfcheck.probe.session import Played
    from spec.state import State
    from wire.probe.rhythm import Tempo

EXAMPLES: Final = "examples"
_MOST_VISITS: Final = 8
_MOST_CHOICES: Final = 4
_ALIKE: Final = 4
"""So many times as many are drawn as are played at most: some are alike, or send nothing."""
_TIMEOUT_TICKS: Final = 2
_TRANSACTIONS: Final = 2
_HALVES: Final = 12
_OPS: Final = 8
_IMMUNE_ROUNDS: Final = 3
"""So many rounds an immunity outlasts."""
_SECOND: Final = 1_000
"""Milliseconds; an immunity is given in seconds."""


def client_schedules(world: World, tempo: Tempo, *, can_die: bool) -> ClientSchedules:
    """The schedules of clients for a broker, with its time between rounds and its number of checks."""
    sizes = world.instance
    ticks = max(1, round(tempo.check_interval / tempo.tick))
    own = replace(
        sizes,
        forgets=0,
        transactions=max(sizes.transactions, _TRANSACTIONS),
        half_slots=_HALVES,
        op_slots=_OPS,
        timeout=_TIMEOUT_TICKS,
        check_interval=ticks,
        check_max=tempo.check_max,
        immunities=(NONE,) if tempo.tick % _SECOND else (NONE, _IMMUNE_ROUNDS * ticks),
    )
    # On a clock a round that finds a half just as old as it has to be goes on a little later.
    slow = World(world.profile, Environment.of({*world.environment, "slow_round"}), own)
    return ClientSchedules(slow.constants, ticks, with_faults=bool(world.environment), can_die=can_die)


class _FailedError(Exception):
    """The error by which Hypothesis learns of a play with the failure that is looked for."""


class _Enough(BaseException):
    """No more is to be played."""


@dataclass(slots=True)
class _Examples:
    """The test that Hypothesis runs: the first failure, for which all further plays are made, and its shortest play."""

    plays: Plays
    schedules: ClientSchedules
    wanted: Collection[Property]
    shrinking_plays: int
    before: int = 0
    drawn: int = 0
    failure: Failure | None = None
    best: Played | None = None
    first_orders: int = 0
    is_the_specifications: bool = False

    def test(self, visits: Sequence[Sequence[Choice]]) -> None:
        """Play one, and fail if it does."""
        path, plan = self.schedules.schedule(visits)
        if not any(isinstance(order, SendHalf) for order in plan.orders):
            return
        if self.is_the_specifications and not self._breaks_it(path):
            return
        name = f"example {self.drawn + (self.failure is None)}"
        why = "drawn" if self.failure is None else f"shorter, {counted(len(path), 'step')}"
        played = self.plays.of(Schedule(name, write_path(path), plan), why)
        if played is None:
            raise _Enough
        if self.failure is None:
            self.drawn = self.plays.count - self.before
            self.failure = failure_of(played, self.wanted)
            if self.failure is not None:
                self.first_orders = len(plan.orders)
                self.is_the_specifications = self._breaks_it(path)
                self.plays.allow(self.shrinking_plays // 2)
        if self.failure is not None and self.failure.is_in(played):
            if self.best is None or len(plan.orders) <= len(self.best.schedule.plan.orders):
                self.best = played
            raise _FailedError

    def _breaks_it(self, path: Sequence[Step]) -> bool:
        """Whether the steps of a path break the failure's clause in the specification."""
        constants, clause = self.schedules.constants, None if self.failure is None else self.failure.clause
        if clause is None:
            return False
        state = cast("State", TRANSACTIONAL_MESSAGES.initial(constants))
        return any(take(state, constants, step) is None and not holds(state, constants, clause) for step in path)


def search_examples(
    plays: Plays,
    schedules: ClientSchedules,
    wanted: Collection[Property],
    *,
    examples: int,
    shrinking_plays: int,
    random_seed: int,
) -> Search:
    """Draw and play schedules until one fails, and make that one shorter; the same seed draws the same.

    Parameters
    ----------
    wanted
        The clauses that count as failures.
    examples
        How many are played at most.
    shrinking_plays
        How many plays it may take to make it shorter: half of them choices are left out, and then orders.
    """
    leave_no_files_here()
    began, before = time.monotonic(), plays.count
    plays.allow(examples)
    one = _Examples(plays, schedules, wanted, shrinking_plays, before)
    choices = st.tuples(st.sampled_from(schedules.actions), st.integers(0, 2))
    visits = st.lists(st.lists(choices, max_size=_MOST_CHOICES), min_size=1, max_size=_MOST_VISITS)

    @seed(random_seed)
    @_few(examples)
    @given(visits)
    def run(drawn: list[list[Choice]]) -> None:
        one.test(drawn)

    with suppress(_FailedError, _Enough):
        run()
    if one.failure is None or one.best is None:
        ended = plays.ended if plays.left else ""
        return Search(name=EXAMPLES, drawn=one.drawn, seconds=time.monotonic() - began, ended=ended)
    plays.allow(shrinking_plays - (plays.count - before - one.drawn))
    shortest = shrink(plays, one.best, one.failure)
    return replace(
        shortest,
        name=EXAMPLES,
        drawn=one.drawn,
        plays=plays.count - before - one.drawn - shortest.again,
        orders=one.first_orders,
        seconds=time.monotonic() - began,
    )


def _few(examples: int) -> settings:
    """No file, no deadline, nothing printed: a play takes as long as it takes."""
    return settings(
        max_examples=_ALIKE * examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        report_multiple_bugs=False,
    )
