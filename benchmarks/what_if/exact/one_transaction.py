"""One transaction on a broker of its own, as a Markov chain from check round to check round.

Nothing of it comes from the simulation or the reference broker. Its rules are those of RocketMQ for a half that stands
alone in its queue:

- In each round the last copy of a half that no op message names and that is older than transactionTimeOut is put back
  once more, and a check is sent, with the count of its checks one higher (``TransactionalMessageServiceImpl#check``,
  ``#putBackHalfMsgQueue``).
- A half whose count is transactionCheckMax is discarded when a round looks at it (``#needDiscard``). The copy that the
  last check has made is looked at in the same round, so that its answer comes too late.
- An answer names the copy that was asked for, the producer's own END_TRANSACTION the half that was sent. Once that was
  put back, it settles no copy (A11): the last copy is asked for once more, and a second commit delivers the message
  once more.
- The broker takes an END_TRANSACTION for a discarded half, too (A14).
- Up to 4.5.1 what is discarded leaves no record (A31), so that a message that was to be committed is lost.

With all repairs an END_TRANSACTION settles the copies of its half (A11), a half is discarded by the round behind the
one that has sent the last check (A10), and no discarded half is committed (A14).

The chain is exact where a request is lost with a fixed chance, the local transaction takes a geometric number of ticks,
and all else takes less than half a tick.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.what_if.exact.expected import expected_rewards

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator
    from random import Random

    from benchmarks.what_if.exact.expected import Step


@dataclass(frozen=True, slots=True)
class GeometricTicks:
    """A geometric number of ticks, less half a tick, so that nothing ends when a check round begins."""

    tick_ms: float
    ends: float
    """The chance to end in each tick."""

    def draw(self, random: Random) -> float:
        """Draw a length of time, in milliseconds."""
        ticks = 1
        while random.random() >= self.ends:
            ticks += 1
        return (ticks - 0.5) * self.tick_ms


@dataclass(frozen=True, slots=True)
class OneTransaction:
    """The chances of one transaction, and what its broker is set to."""

    loses_to_broker: float
    loses_from_broker: float
    ends: float
    """The chance of the local transaction to end in each tick."""
    ticks: int
    """Of a check interval."""
    checks: int
    """transactionCheckMax."""
    rolls_back: float = 0.0
    hangs: float = 0.0
    says_unknown: float = 0.0
    """Of producers' own END_TRANSACTIONs; these local transactions commit."""
    answers_unknown: float = 0.0
    """Of checks of a transaction that is over."""
    young_rounds: int = 0
    """Rounds before it is older than transactionTimeOut."""
    keeps_discarded: bool = True
    is_repaired: bool = False


class BeforeRound(NamedTuple):
    """A transaction that a check round will look at, where the chain is after each interval's end."""

    young_rounds: int
    checks: int = 0
    runs: bool = False
    commits: bool = False
    answers: float = 0.0
    """The chance that a check is answered with an outcome, once the local transaction is over."""
    ends_with: float = 0.0
    """The chance that the END_TRANSACTION behind the local transaction comes to the broker."""
    is_settled: bool = False
    is_delivered: bool = False


def expected_of(one: OneTransaction) -> dict[str, float]:
    """How often each thing befalls it, on the mean; what never does is left out."""

    def steps(state: Hashable) -> Iterator[Step]:
        if isinstance(state, BeforeRound):
            for chance, after, gains in _interval(one, state):
                if not isinstance(after, BeforeRound):
                    yield chance, None, gains
                    continue
                for then, last, more in _round(one, after):
                    yield chance * then, last, {key: gains.get(key, 0) + more.get(key, 0) for key in {*gains, *more}}
        else:
            yield from _sent(one)

    return expected_rewards("sent", steps)


def _sent(one: OneTransaction) -> Iterator[Step]:
    arrives, comes_back = 1 - one.loses_to_broker, 1 - one.loses_from_broker
    answered = comes_back * arrives
    stored = BeforeRound(one.young_rounds)
    yield one.loses_to_broker, None, {"sends_failed": 1}
    yield arrives * one.loses_from_broker, stored._replace(answers=answered), {"sends_failed": 1}
    known = arrives * comes_back
    yield known * one.hangs, stored, {}
    runs = stored._replace(runs=True, answers=answered * (1 - one.answers_unknown))
    for chance, commits, ends_with in (
        (one.rolls_back, False, arrives),
        (one.says_unknown, True, 0.0),
        (1 - one.rolls_back - one.says_unknown, True, arrives),
    ):
        yield known * (1 - one.hangs) * chance, runs._replace(commits=commits, ends_with=ends_with), {}


def _interval(one: OneTransaction, state: BeforeRound) -> Iterator[Step]:
    """Ticks pass, in one of which the local transaction may end."""
    if not state.runs:
        yield 1.0, state, {}
        return
    lasts = (1 - one.ends) ** one.ticks
    yield lasts, state, {}
    over = state._replace(runs=False)
    yield (1 - lasts) * (1 - state.ends_with), over, {}
    is_copied = state.checks > 0 and not one.is_repaired
    settled = over._replace(is_settled=True, is_delivered=state.commits) if is_copied else None
    yield (1 - lasts) * state.ends_with, settled, {"delivered": 1} if state.commits else {}


def _round(one: OneTransaction, state: BeforeRound) -> Iterator[Step]:
    """A check is sent, and answered before anything else; or the half is discarded."""
    if state.young_rounds:
        yield 1.0, state._replace(young_rounds=state.young_rounds - 1), {}
        return
    if state.checks == one.checks:
        yield 1.0, None, {"discarded": 1}
        return
    gains = {"checks": 1, "checked_needlessly": int(state.runs or state.is_settled)}
    after: BeforeRound | None = state._replace(checks=state.checks + 1)
    answers = 0.0 if state.runs else state.answers
    settled = ["doubled"] if state.is_delivered else ["delivered"]
    if state.checks + 1 == one.checks and not one.is_repaired:
        gains["discarded"] = 1
        after = None
        answers = state.ends_with if state.runs else state.answers  # that of the producer comes some time
        if not state.is_delivered:
            settled.append("delivered_after_discard")
    yield answers, None, gains | (dict.fromkeys(settled, 1) if state.commits else {})
    is_lost = after is None and state.commits and not state.is_delivered and not one.keeps_discarded
    yield 1 - answers, after, gains | ({"lost": 1} if is_lost else {})
