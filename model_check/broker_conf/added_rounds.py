"""Where rounds may be added to a path, and how many cannot do: one more is tried behind those that were tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.broker_conf.timed_path import ANSWER, ROUND_BEGAN, ROUND_ENDED, NoInstantsError, PathTimer
from spec.chapters import broker, escape, network, producer, shutdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spec.language import Step

_ASKS = (ANSWER, escape.deliver_escaped.__name__)
_DECISIONS = (producer.resolve_to_commit.__name__, producer.resolve_to_rollback.__name__)
_SILENCERS = tuple(action.__name__ for action in (network.lose_check, shutdown.stop, broker.crash))


def decided_late(path: Sequence[Step]) -> tuple[Step, ...]:
    """The path in which an unknown outcome is known only when a check is answered: until then others are answered so.

    Nothing else asks for it, so that the path leads to the same state.
    """
    steps: list[Step] = []
    waiting: list[Step] = []
    for step in path:
        if step.action.name in _DECISIONS:
            waiting.append(step)
            continue
        if step.action.name in _ASKS:
            steps += waiting
            waiting = []
        steps.append(step)
    return (*steps, *waiting)


def places_between_rounds(path: Sequence[Step]) -> list[int]:
    """Where rounds may be put in: before a round begins and after one has ended, the last place first."""
    begins = [place for place, step in enumerate(path) if step.action.event == ROUND_BEGAN]
    ends = [place + 1 for place, step in enumerate(path) if step.action.event == ROUND_ENDED]
    return sorted({*begins, *ends} - {0}, reverse=True)


def silencers_of(path: Sequence[Step]) -> list[str | None]:
    """How checks of added rounds may go on: they are lost as one is in the path, are answered, or end as one does."""
    lost, *others = [name if any(step.action.name == name for step in path) else None for name in _SILENCERS]
    return list(dict.fromkeys((lost, None, *others)))


class GrowingRounds:
    """Adds rounds at one place of a path, one after the other, and says how far each number of them comes.

    Parameters
    ----------
    timer
        With room for as many copies as the most rounds make.
    path, preferred
        As for `PathTimer.schedule`.
    place, silencer
        As of `MoreRounds`.
    """

    def __init__(
        self,
        timer: PathTimer,
        path: Sequence[Step],
        preferred: Sequence[Sequence[bool]],
        place: int,
        silencer: str | None,
    ) -> None:
        self._timer = timer
        self._rest = path[place:], preferred[place:]
        self._silencer = silencer
        self._rounds = self._oldest_copy = 0
        self._refusal: NoInstantsError | None = None
        try:
            self._oldest_copy = timer.before_rounds(path[:place], preferred)
        except NoInstantsError as refusal:
            self._refusal = refusal

    def refusal(self, rounds: int, half_slots: int) -> NoInstantsError | None:
        """What refuses so many rounds, no fewer than were asked about before, where there is room for so many halves.

        None where nothing does, and where less room than the timer has might make a difference.
        """
        timer = self._timer
        try:
            while self._refusal is None and self._rounds < rounds:
                timer.round(self._silencer)
                self._rounds += 1
        except NoInstantsError as refusal:
            self._refusal = refusal
        if self._refusal is not None:
            return self._refusal if timer.most_halves <= half_slots else None
        mark = timer.mark()
        try:
            timer.finish(*self._rest, self._oldest_copy)
        except NoInstantsError as refusal:
            return refusal if timer.most_halves <= half_slots else None
        finally:
            timer.back(mark)
        return None
