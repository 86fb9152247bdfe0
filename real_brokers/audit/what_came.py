"""Holds a forecast of a pending half against the rest of its history.

What came is held, whoever answered meanwhile: an END that names an older copy settles nothing. What did not come is a
miss, unless the half was answered, or the broker went away, within an interval of the time for which it was foretold.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from files.durations import moment
from reference.format.properties import CHECK_TIMES
from spark_trace_analysis.audit.rules.transaction_row import DELIVERED, DISCARDED, OP, PUT_BACK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from halfcheck.pending_transactions import PendingTransaction
    from reference.format.commit_log import CommitLog
    from spark_trace_analysis.audit.rules.transaction_row import HistoryEvent, TransactionRow

_ANSWERS: Final = (OP, DELIVERED)


class Foretold(enum.StrEnum):
    """What a forecast names a time for."""

    CHECK = "check"
    DISCARD = "discard"


@dataclass(frozen=True, slots=True)
class HeldForecast:
    """One time that was foretold, and when it came; milliseconds by the broker's clock, None for never."""

    unique_key: str
    what: Foretold
    foretold: int | None
    came: int | None
    interval_ms: int

    @property
    def intervals_off(self) -> float:
        """How far apart both are, in check intervals; infinite where one of them never is."""
        if self.foretold is None or self.came is None:
            return 0.0 if self.foretold == self.came else float("inf")
        return abs(self.came - self.foretold) / self.interval_ms

    @property
    def is_within(self) -> bool:
        """Whether it came within one check interval."""
        return self.intervals_off <= 1

    def __str__(self) -> str:
        if self.foretold is None or self.came is None:
            came = "never came" if self.came is None else "came, foretold as never"
            return f"{self.what} of {self.unique_key} {came}"
        late_ms = self.came - self.foretold
        return f"{self.what} of {self.unique_key} came {moment(abs(late_ms))} {'late' if late_ms > 0 else 'early'}"


@dataclass(frozen=True, slots=True)
class RestOfRun:
    """What became of halves behind one moment of a run.

    Parameters
    ----------
    end
        The commit log offset up to which that moment has the log.
    rows
        By unique key, of the store that was left.
    checks_of
        TRANSACTION_CHECK_TIMES of the copy at a commit log offset.
    logged_discards
        By unique key when the broker's own log has it discarded, where it leaves no record (until 4.5.1, A31).
    went_away_at
        When the broker was stopped or killed first behind the moment; None if it never was.
    interval_ms
        ``transactionCheckInterval``.
    """

    end: int
    rows: Mapping[str, TransactionRow]
    checks_of: Callable[[int], int]
    interval_ms: int
    logged_discards: Mapping[str, int]
    went_away_at: int | None = None

    def held(self, half: PendingTransaction) -> list[HeldForecast]:
        """The forecasts of a half that can be held against what came; none where nothing was foretold."""
        if half.forecast is None:
            return []
        row = self.rows[half.row.unique_key]
        later = [event for event in row.history if event.at >= self.end]
        asked = min(
            (
                event.time
                for event in later
                if event.event == PUT_BACK
                and self.checks_of(event.at) > half.row.checks
                and event.time >= row.born + half.immunity_ms
            ),
            default=None,
        )
        discarded = min((event.time for event in later if event.event == DISCARDED), default=None)
        discarded = self.logged_discards.get(row.unique_key) if discarded is None else discarded
        ended_at = self._ended_at(later)
        both = (
            HeldForecast(row.unique_key, Foretold.CHECK, half.forecast.next_check_at, asked, self.interval_ms),
            HeldForecast(row.unique_key, Foretold.DISCARD, half.forecast.discarded_at, discarded, self.interval_ms),
        )
        return [one for one in both if self._counts(one, ended_at)]

    def _ended_at(self, later: Sequence[HistoryEvent]) -> int | None:
        times = [event.time for event in later if event.event in _ANSWERS]
        times += [] if self.went_away_at is None else [self.went_away_at]
        return min(times, default=None)

    def _counts(self, one: HeldForecast, ended_at: int | None) -> bool:
        if one.came is not None:
            return self.went_away_at is None or one.came < self.went_away_at
        if one.foretold is None:
            return ended_at is None
        return ended_at is None or one.foretold + self.interval_ms < ended_at


def checks_in(log: CommitLog) -> Callable[[int], int]:
    """TRANSACTION_CHECK_TIMES of the copy at a commit log offset of a log; 0 where it has none."""
    return lambda at: int(log.record_at(at).properties.get(CHECK_TIMES, "0"))
