"""Plays a plan on a running broker, as fast as the broker goes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from reference.format.properties import UNIQUE_KEY
from reference.format.system_topics import DISCARD_TOPIC, OP_TOPIC
from wire.client.channel import BrokerChannel
from wire.client.queries import end_of_queue
from wire.client.transactions import ROLLBACK, HalfName
from wire.errors import WireError
from wire.probe import orders
from wire.probe.producers import ProbeProducers, now_ms

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.format.record import LogRecord
    from wire.probe.rhythm import Rhythm, Tempo
    from wire.probe.view import Baseline, BrokerView

_A_LOOK_S: Final = 0.05
_MARGIN_MS: Final = 60_000
_SETTLING_S: Final = 0.3
_A_ROUND_S: Final = 0.1
"""So long a round may take to show."""

_BETWEEN_WORDS_S: Final = 30.0

FIRST_SAVE_S: Final = 11.0
"""A broker saves its offsets for the first time 10 s after its start (``BrokerController#initialize``)."""


@dataclass(frozen=True, slots=True)
class Phase:
    """The phase of events within a tick, in ticks: a round comes behind the clients' actions of its tick.

    In the specification the age of a half may be just the timeout, which no clock shows: a little more counts as old,
    a little less as young.
    """

    of_tick: float
    """When a tick comes, from the second on."""
    of_round: float
    """How much later its round comes."""


LATE: Final = Phase(0.0, 0.5)
"""A round finds halves half a tick older than the schedule says."""

EARLY: Final = Phase(-0.75, 0.35)
"""A round finds halves of the first tick a little younger."""


class Operator(Protocol):
    """The interface of an operator, who can end and start the broker's process.

    Attributes
    ----------
    saves_from
        From when on the broker saves its offsets, by the machine's steady clock in seconds.
    died_ms
        When its process was last gone, by the probe's clock.
    """

    saves_from: float
    died_ms: int

    def kill(self) -> None:
        """Kill it, and start it again."""

    def restart(self) -> None:
        """Shut it down, and start it again."""


class NoOperatorError(WireError):
    """A plan wants the broker to die, and nobody can do that."""

    exit_code = 151


@dataclass(frozen=True, slots=True)
class Done:
    """One order as it was carried out, with its moment by the probe's clock: of a process's end, when it was gone."""

    order: orders.Order
    at_ms: int
    answer: int | None = None


@dataclass(slots=True)
class Player:
    """Carries orders out."""

    view: BrokerView
    producers: ProbeProducers
    baseline: Baseline
    tempo: Tempo
    rhythm: Rhythm
    phase: Phase = LATE
    operator: Operator | None = None
    say: Callable[[str], None] | None = None
    """Called every half minute of a wait with what is waited for and how long it may take."""
    done: list[Done] = field(default_factory=list)
    missed: orders.Order | None = None
    """The order that did not come true in time; None if all did."""
    _names: dict[int, HalfName] = field(default_factory=dict)
    _copies: dict[str, list[LogRecord]] = field(default_factory=dict)
    _seen_until: int = 0
    _awaited: dict[str, int] = field(default_factory=dict)
    _heard: dict[str, int] = field(default_factory=dict)
    _immunities: dict[int, int] = field(default_factory=dict)
    _ops: int = 0
    _began: float = 0.0

    def play(self, plan: orders.ProbePlan) -> None:
        """Carry all orders out, until one does not come true.

        Raises
        ------
        NoOperatorError
            The broker has to die, and there is no operator.
        NoAnswerError
            The broker does not answer.
        """
        if plan.restarts and self.operator is None:
            message = "the schedule kills or stops the broker: give --kill CMD and --start CMD, or another schedule"
            raise NoOperatorError(message)
        self._seen_until, self._ops = self.baseline.half, self.baseline.op
        self.producers.connect()
        if plan.restarts:
            self._await_saved()
        self._begin(plan)
        for order in plan.orders:
            at_ms, answer = now_ms(), None
            if not isinstance(order, orders.SendEnd):
                came = self._carry_out(order)
            else:
                half = self._names.get(order.half)
                came = half is not None
                if half is not None:
                    answer = self.producers.end(half, order.outcome, answers_check=order.answers_check)
            if not came:
                self.missed = order
                return
            if isinstance(order, orders.Kill | orders.Stop) and self.operator is not None:
                at_ms = self.operator.died_ms
            self.done.append(Done(order, at_ms, answer))

    def _begin(self, plan: orders.ProbePlan) -> None:
        """Begin so that the first round comes in its tick: what is before and behind it finds room."""
        tick_s, first = self.tempo.tick / 1_000, plan.rounds[0] if plan.rounds else 0
        ahead = self._moment_of(first) + self.phase.of_round * tick_s
        self._began = self.rhythm.first_from(time.monotonic() + ahead) - ahead if plan.rounds else time.monotonic()
        self._sleep(self._began - time.monotonic())

    def _moment_of(self, ticks: int) -> float:
        """When a tick comes, in seconds from the begin on."""
        return max(ticks + self.phase.of_tick, 0.0) * self.tempo.tick / 1_000

    def _carry_out(self, order: orders.Order) -> bool:
        """Carry an order out; whether it came true."""
        match order:
            case orders.SendHalf(transaction, half, immunity, skew, is_too_old):
                tick_s = self.tempo.tick // 1_000
                self._immunities[transaction] = 0 if immunity is None else immunity * self.tempo.tick
                behind_ms = self.tempo.keeping + _MARGIN_MS if is_too_old else -skew * self.tempo.tick
                self.producers.send(transaction, None if immunity is None else immunity * tick_s, -behind_ms)
                self._names[half] = self.producers.halves[transaction].name
                return True
            case orders.AwaitCopy(transaction, half) | orders.AwaitCheck(transaction, half):
                key = self._key(transaction)
                is_check = isinstance(order, orders.AwaitCheck)
                longest = self.tempo.longest(self._immunities[transaction])
                return self._await(order, lambda: self._has_copy(key, half, is_check=is_check), longest)
            case orders.AwaitDiscard(transaction):
                key = self._key(transaction)
                longest = self.tempo.longest_settling() + self._immunities[transaction] / 1_000
                return self._await(order, lambda: self._is_discarded(key), longest)
            case orders.AwaitOp():
                return self._await(order, self._has_op, self.tempo.longest(0))
            case orders.AwaitTick(ticks):
                self._sleep(self._began + self._moment_of(ticks) - time.monotonic())
            case orders.AwaitRound(ticks):
                behind = self._began + self._moment_of(ticks)
                self._sleep(self.rhythm.first_from(max(behind, time.monotonic())) + _A_ROUND_S - time.monotonic())
            case orders.AwaitSaved():
                self._await_saved()
            case orders.Kill() | orders.Stop() if self.operator is not None:
                self._end_process(is_killed=isinstance(order, orders.Kill))
            case orders.Disconnect():
                self.producers.disconnect()
        return True

    def settle(self, seconds: float) -> bool:
        """Roll back what is still asked about, until nothing is pending; False if something is after that time.

        Beside others nobody waits for theirs. A transaction whose outcome has been said is left to the check service,
        which ends it sooner or later.
        """
        ended = {each.half.unique_key for each in self.producers.ends if each.code == 0}
        answered = {key: len(checks) for key, checks in self.producers.checks.items()}
        end = time.monotonic() + seconds
        for sent in self.producers.halves.values():
            if sent.name.unique_key not in ended:
                self.producers.end(sent.name, ROLLBACK, answers_check=False)
        while self.baseline.is_quiet and time.monotonic() < end:
            if self.rhythm.watch(self.view, _SETTLING_S) and self.view.stays_quiet():
                return True
            self.producers.hear()
            for key, checks in self.producers.checks.items():
                for half in checks[answered.get(key, 0) :]:
                    self.producers.end(half, ROLLBACK, answers_check=True)
                answered[key] = len(checks)
        return False

    def _await_saved(self) -> None:
        """Until the broker has saved the offsets that it has now."""
        first = 0.0 if self.operator is None else self.operator.saves_from - time.monotonic()
        self._sleep(max(first, 0.0) + 2 * self.tempo.save_interval / 1_000)

    # --- what shows ---------------------------------------------------------------------------------------------------

    def _key(self, transaction: int) -> str:
        return self.producers.halves[transaction].name.unique_key

    def _look(self) -> None:
        """Take in the copies that have come, and the checks."""
        self.producers.hear()
        for record in self.view.halves(self._seen_until):
            self._seen_until = record.queue_offset + 1
            self._copies.setdefault(record.properties.get(UNIQUE_KEY, ""), []).append(record)

    def _has_copy(self, key: str, half: int, *, is_check: bool) -> bool:
        self._look()
        copies = self._copies.get(key, [])
        if is_check:
            checks = self.producers.checks.get(key, [])
            if len(checks) <= self._heard.get(key, 0):
                return False
            self._heard[key], self._names[half] = len(checks), checks[-1]
        else:
            if len(copies) <= max(self._awaited.get(key, 0), 1):
                return False
            last = copies[-1]
            self._names[half] = HalfName(last.queue_offset, last.physical_offset, key, "")
        self._awaited[key] = len(copies)
        return True

    def _is_discarded(self, key: str) -> bool:
        self._look()
        discarded = self.view.discards(self.baseline.discard)
        if any(record.properties.get(UNIQUE_KEY) == key for record in discarded):
            return True
        has_discard_record = end_of_queue(self.view.channel, DISCARD_TOPIC) > 0
        return not has_discard_record and self.view.is_quiet()

    def _has_op(self) -> bool:
        length = end_of_queue(self.view.channel, OP_TOPIC)
        if length <= self._ops:
            return False
        self._ops = length
        return True

    def _await(self, order: orders.Order, has_come: Callable[[], bool], seconds: float) -> bool:
        began = spoke = time.monotonic()
        while not has_come():
            now = time.monotonic()
            if now > began + seconds:
                return False
            if self.say is not None and now > spoke + _BETWEEN_WORDS_S:
                checks = sum(map(len, self.producers.checks.values()))
                self.say(f"{order}: {now - began:.0f} s of at most {seconds:.0f} s, checks so far: {checks}")
                spoke = now
            time.sleep(_A_LOOK_S)
        return True

    def _sleep(self, seconds: float) -> None:
        """Let time pass, but hear what comes."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, _A_LOOK_S))
            self.producers.hear()

    def _end_process(self, *, is_killed: bool) -> None:
        if self.operator is None:
            return
        self.producers.disconnect()
        if is_killed:
            self.operator.kill()
        else:
            self.operator.restart()
        self.view.channel.close()
        self.view.channel = BrokerChannel(self.view.channel.address)
        self.producers.connect()
        self.rhythm.seen = None
