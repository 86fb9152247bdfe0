"""The answer of a sweep: each point with its rates, how it differs from what the user has, and which no other beats."""

from __future__ import annotations

from math import inf
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from traffic.rates.answer import TrafficAnswer
from traffic.rates.intervals import RateEstimate, batch_mean, rate_of
from traffic.simulation.counts import MEASURES
from traffic.sweep.differences import UNSEEN, PairedDifference, paired

if TYPE_CHECKING:
    from collections.abc import Sequence

    from traffic.simulation.counts import TrafficCounts
    from traffic.sweep.points import SweepPoint
    from traffic.sweep.swept_setting import SweptSetting

DOUBLED_OR_LOST: Final = "doubled_or_lost"
DELAY: Final = "delay_ms"
CHECKS: Final = "checks"
AIMS: Final = (DOUBLED_OR_LOST, DELAY, CHECKS)
"""What is to be small: messages doubled or lost a day, the mean milliseconds from commit to delivery, checks a day."""

_SECONDS_A_DAY: Final = 86_400


def _counted(counts: TrafficCounts, name: str) -> int:
    if name == DOUBLED_OR_LOST:
        return counts.total("doubled") + counts.total("lost")
    return counts.checks if name == CHECKS else counts.total(name)


class SweptAnswer:
    """One point and what its simulations say."""

    def __init__(self, point: SweepPoint, replications: Sequence[TrafficCounts]) -> None:
        self.point = point
        self.answer = TrafficAnswer(replications, point.workload.arrivals.per_second)
        transactions = [counts.transactions for counts in replications]
        self._a_day = self.answer.per_second * _SECONDS_A_DAY
        self._least = self._a_day * UNSEEN / max(sum(transactions), 1)
        self._each = {DELAY: [counts.commit_to_delivery_ms.mean for counts in replications]}
        delay = batch_mean(self._each[DELAY], fmean(self._each[DELAY]))
        self.aims = {DELAY: delay or RateEstimate(self._each[DELAY][0], 0.0, inf)}
        """The figure of each of `AIMS`, with its interval."""
        for name in (DOUBLED_OR_LOST, CHECKS, *MEASURES):
            counted = [_counted(counts, name) for counts in replications]
            self._each[name] = [self._a_day * seen / max(of, 1) for seen, of in zip(counted, transactions, strict=True)]
            found = rate_of(counted, transactions) if name in AIMS else None
            if name in AIMS:
                self.aims[name] = (found or RateEstimate(0.0, 0.0, 0.0)).times(self._a_day)

    def differs_from(self, other: SweptAnswer, name: str) -> PairedDifference:
        """By how much more of one of `AIMS`, or of `MEASURES` a day, this point has than another."""
        least = 0.0 if name == DELAY else max(self._least, other._least)
        return paired(other._each[name], self._each[name], least)

    def beats(self, other: SweptAnswer) -> bool:
        """Whether it has no more than another of any of `AIMS`, and less of one beyond the difference's interval."""
        found = [self.differs_from(other, name) for name in AIMS]
        return all(one.value <= 0 for one in found) and any(one.high < 0 for one in found)


class SweepAnswer:
    """What the counts of all points say.

    Attributes
    ----------
    points
        In the order of the sweep: what the files say first, in each release.
    front
        Those that no other of them beats: the fewest first that are doubled or lost.
    """

    def __init__(
        self, settings: Sequence[SweptSetting], points: Sequence[SweepPoint], counted: Sequence[list[TrafficCounts]]
    ) -> None:
        self.settings = tuple(settings)
        self.points = tuple(SweptAnswer(point, counts) for point, counts in zip(points, counted, strict=True))
        self.front = _front(self.points)

    @property
    def yours(self) -> SweptAnswer:
        """What the files say, in the first release."""
        return self.points[0]

    @property
    def releases(self) -> tuple[str, ...]:
        """The releases, in their order."""
        return tuple(dict.fromkeys(one.point.release for one in self.points))

    def of_release(self, release: str) -> tuple[SweptAnswer, ...]:
        """The points of a release."""
        return tuple(one for one in self.points if one.point.release == release)

    def best(self, aim: str, among: Sequence[SweptAnswer], than: SweptAnswer) -> SweptAnswer | None:
        """The point that has the least of one of `AIMS`, if it has less than another one beyond the interval.

        Of those that are no worse than the least beyond their interval, the one that changes the fewest settings.
        """
        better = [one for one in among if one.differs_from(than, aim).high < 0]
        if not better:
            return None
        least = min(better, key=lambda one: one.aims[aim].value)
        as_good = [one for one in better if not one.differs_from(least, aim).is_sure]
        return min(
            as_good, key=lambda one: (len(changed(one, than)), *self._price(one, than, aim), one.aims[aim].value)
        )

    def _price(self, one: SweptAnswer, than: SweptAnswer, aim: str) -> tuple[int]:
        """In how many other aims it is worse."""
        return (sum(one.differs_from(than, other).low > 0 for other in AIMS if other != aim),)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        places = {id(one): place for place, one in enumerate(self.points)}
        return {
            "settings": [{"name": one.name, "values": [value.text for value in one.values]} for one in self.settings],
            "points": [self._point_to_json(one) for one in self.points],
            "front": [places[id(one)] for one in self.front],
        }

    def _point_to_json(self, one: SweptAnswer) -> dict[str, Any]:
        names = (*AIMS, *MEASURES)
        return {
            "release": one.point.release,
            "settings": {
                setting.name: value.text for setting, value in zip(self.settings, one.point.values, strict=True)
            },
            "is_yours": one.point.is_yours,
            "aims": {name: _bounds_to_json(one.aims[name]) for name in AIMS},
            "more_than_yours": {name: _bounds_to_json(one.differs_from(self.yours, name)) for name in names},
            **one.answer.to_json(),
        }


def changed(one: SweptAnswer, than: SweptAnswer) -> tuple[int, ...]:
    """The places of the settings in which two points are not the same."""
    pairs = zip(one.point.values, than.point.values, strict=True)
    return tuple(place for place, (its, other) in enumerate(pairs) if its.text != other.text)


def _front(points: Sequence[SweptAnswer]) -> tuple[SweptAnswer, ...]:
    """The points that no other one beats; none can beat another in a circle, as it has no more of anything."""
    front: list[SweptAnswer] = []
    for one in sorted(points, key=lambda one: tuple(one.aims[name].value for name in AIMS)):
        if not any(other.beats(one) for other in front):
            front = [other for other in front if not one.beats(other)]
            front.append(one)
    return tuple(front)


def _bounds_to_json(found: PairedDifference | RateEstimate) -> dict[str, float]:
    return {"value": found.value, "low": found.low, "high": found.high}
