"""Schedules with a name, the same for every release: a client's requests and waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from wire.client.transactions import COMMIT, ROLLBACK
from wire.errors import WireError
from wire.probe.orders import AwaitCheck, AwaitCopy, AwaitDiscard, Kill, Order, ProbePlan, SendEnd, SendHalf, Stop


class UnknownScenarioError(WireError):
    """There is no such scenario."""

    exit_code = 151


@dataclass(frozen=True, slots=True)
class ProbeScenario:
    """One scenario and its story.

    A story tells of an END_TRANSACTION that the broker accepts: `turn` is that one, where a broker may refuse it.
    """

    story: str
    orders: tuple[Order, ...]
    turn: SendEnd | None = None


def _sent(transaction: int, half: int, outcome: int, *, times: int = 1) -> tuple[Order, ...]:
    return (SendHalf(transaction, half), *(SendEnd(transaction, half, outcome, answers_check=False),) * times)


def _asked(transaction: int, copy: int, outcome: int) -> tuple[Order, ...]:
    return AwaitCheck(transaction, copy), SendEnd(transaction, copy, outcome, answers_check=True)


_OUTCOMES: Final = (
    *_sent(0, 0, COMMIT),
    *_sent(1, 1, ROLLBACK),
    SendHalf(2, 2),
    SendHalf(3, 3),
    *_asked(2, 4, COMMIT),
    *_asked(3, 5, ROLLBACK),
)
_LATE_END: Final = SendEnd(0, 0, COMMIT, answers_check=False)
_TWICE: Final = _sent(0, 0, COMMIT, times=2)
_IMMUNE: Final = (
    SendHalf(0, 0, immunity=4),
    AwaitCopy(0, 1),
    _LATE_END,
    *_asked(0, 2, COMMIT),
)

SCENARIOS: Final = {
    "outcomes": ProbeScenario(
        "a commit, a rollback, and two that are left to the checks: a commit and a rollback", _OUTCOMES
    ),
    "unanswered": ProbeScenario(
        "no check is answered, until the half is discarded", (SendHalf(0, 0), AwaitDiscard(0, 0))
    ),
    "twice": ProbeScenario("a commit arrives twice (A13)", _TWICE),
    "contradiction": ProbeScenario(
        "a rollback behind a commit, and a commit behind a rollback (A12)",
        (
            *_sent(0, 0, COMMIT),
            SendEnd(0, 0, ROLLBACK, answers_check=False),
            *_sent(1, 1, ROLLBACK),
            SendEnd(1, 1, COMMIT, answers_check=False),
        ),
    ),
    "late": ProbeScenario(
        "a commit arrives when its half was checked already, and the check is answered, too",
        (
            SendHalf(0, 0),
            AwaitCheck(0, 1),
            _LATE_END,
            SendEnd(0, 1, COMMIT, answers_check=True),
        ),
        _LATE_END,
    ),
    "immune": ProbeScenario("a commit within the immunity for which the half was put back (B01)", _IMMUNE, _LATE_END),
    "kill": ProbeScenario(
        "the broker is killed right behind a commit, and asks again (B02)",
        (*_sent(0, 0, COMMIT), Kill(), *_asked(0, 1, COMMIT)),
    ),
    "stop": ProbeScenario(
        "the broker is stopped right behind a commit, and asks again (B03)",
        (*_sent(0, 0, COMMIT), Stop(), *_asked(0, 1, COMMIT)),
    ),
}
"""By name."""


def scenario_called(name: str) -> ProbePlan:
    """The plan of a scenario; raises `UnknownScenarioError`, which names those that there are."""
    if name not in SCENARIOS:
        message = f"--scenario {name}: there is none of that name; there are {', '.join(SCENARIOS)}"
        raise UnknownScenarioError(message)
    return ProbePlan(SCENARIOS[name].orders)
