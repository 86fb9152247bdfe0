"""Fits the unrecorded choices of a schedule, so that the reference broker can follow the real one.

A round's rest between two writes decides whether it sees its own copies; two times within a millisecond or two decide
which came first. Each is tried where the broker first leaves the store, and stays if the broker then gets further.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.broker_schedule import Act, BrokerSchedule, EndGoesOn, RoundBegins, RoundGoesOn, StartAct
from conformance.compare_stores import StoreComparison, StoreSide, compare_stores
from conformance.errors import NoScheduleError
from conformance.extract_schedule import extract_schedule
from conformance.scheduled_run import ScheduledRun
from files.reading import read_bytes
from reference.format.consumer_offsets import read_consumer_offsets
from reference.store.memory_disk import MemoryDisk
from reference.versions.versions import STORE_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.recorded_run import RecordedRun

_MOST_ROUNDS_BACK = 4
_TIMER_STEP_MS = 10


class Fit:
    """A schedule with the run of it."""

    def __init__(self, schedule: BrokerSchedule, run: RecordedRun, log: dict[int, bytes]) -> None:
        self.schedule = schedule
        """The schedule, as far as it could be fitted."""
        self.run = run
        self.disk = MemoryDisk()
        """Holds the store that the reference broker wrote."""
        self.replay = ScheduledRun(schedule, self.disk).run()
        """The reference broker's run under it."""
        self._log = log
        self.reached = self._prefix()

    @property
    def is_whole(self) -> bool:
        """Whether the commit logs are the same and every act was carried out."""
        return self.replay.departure is None and self.reached is None

    def compare(self) -> StoreComparison:
        """Hold the real store against the one that the reference broker wrote."""
        sides = StoreSide.of_directory(self.run.path), StoreSide.of_memory(self.disk)
        return compare_stores(*sides, masks_stale_bytes=self.masks_stale_bytes)

    @property
    def masks_stale_bytes(self) -> bool:
        """Whether the version leaves stale bytes behind an end-of-file record."""
        return STORE_VERSIONS[self.schedule.version].copies_stale_bytes

    def saves_what_was_saved(self) -> bool:
        """Whether each killed process left the offsets that the real one left."""
        if self.run.at_kill is None or not self.replay.saved_at_kill:
            return True
        table = read_consumer_offsets(self.run.at_kill).table
        return self.replay.saved_at_kill[0] == {key: {**queues} for key, queues in table.items()}

    def _prefix(self) -> int | None:
        """The first byte at which the logs differ; None if they do not."""
        files = self.disk.files()
        ours = {int(name): files[f"commitlog/{name}"] for name in self.disk.names("commitlog")}
        for start in sorted(self._log.keys() | ours.keys()):
            left, right = self._log.get(start, b""), ours.get(start, b"")
            if left != right:
                length = min(len(left), len(right))
                if left[:length] == right[:length]:
                    return start + length
                return start + next(i for i in range(length) if left[i] != right[i])
        return None


def fit_schedule(run: RecordedRun) -> Fit:
    """The schedule of a recorded run, fitted, with the reference broker's run under it.

    The run may still differ from the store: then the reference broker does, and :meth:`Fit.compare` says where.

    Raises
    ------
    NoScheduleError, StoreError
        The logs or the store can't be used.
    """
    log = {int(path.name): read_bytes(path).rstrip(b"\0") for path in (run.path / "commitlog").glob("[0-9]*")}
    fit = _fit(Fit(extract_schedule(run), run, log), log)
    if fit.saves_what_was_saved():
        return fit
    starts = [act for act in fit.schedule.acts if isinstance(act, StartAct)]
    interval = fit.schedule.broker_settings().flush_consumer_offset_interval_ms
    for lead in range(0, interval, _TIMER_STEP_MS):
        acts: list[Act] = [
            replace(act, chosen_at=act.at - lead) if act is starts[0] else act for act in fit.schedule.acts
        ]
        other = _fit(Fit(replace(fit.schedule, acts=acts), run, log), log)
        if other.saves_what_was_saved():
            return other
    message = f"{run.path}: no phase of the timers saves the offsets that at_kill/ holds"
    raise NoScheduleError(message)


def _fit(fit: Fit, log: dict[int, bytes]) -> Fit:
    while not fit.is_whole:
        better = next((other for other in _others(fit, log) if _is_further(other, fit)), None)
        if better is None:
            return fit
        fit = better
    return fit


def _is_further(other: Fit, fit: Fit) -> bool:
    if other.is_whole:
        return True
    departures = [1 << 60 if f.replay.departure is None else f.replay.departure.act for f in (other, fit)]
    reached = [1 << 60 if f.reached is None else f.reached for f in (other, fit)]
    return (reached[0], departures[0]) > (reached[1], departures[1])


def _others(fit: Fit, log: dict[int, bytes]) -> Iterator[Fit]:
    """Runs under schedules that differ in one choice, near the act at which this one went wrong."""
    at = _wrong_act(fit)
    for index in range(at, -1, -1):
        act = fit.schedule.acts[index]
        for acts in _changes(fit.schedule.acts, index, fit):
            yield Fit(replace(fit.schedule, acts=acts), fit.run, log)
        if isinstance(act, RoundBegins) and at - index > _MOST_ROUNDS_BACK:
            return


def _wrong_act(fit: Fit) -> int:
    """The act that was not carried out, or wrote the first record that differs."""
    acts = len(fit.replay.positions)
    departure = acts - 1 if fit.replay.departure is None else fit.replay.departure.act
    if fit.reached is None:
        return departure
    wrote = next((i for i in range(acts - 1, -1, -1) if fit.replay.positions[i] <= fit.reached), 0)
    return min(departure, wrote)


def _changes(acts: list[Act], index: int, fit: Fit) -> Iterator[list[Act]]:
    act = acts[index]
    if isinstance(act, RoundGoesOn):
        departure = fit.replay.departure
        used = departure.used if departure is not None and departure.act == index else len(act.stored_at)
        for at in dict.fromkeys((used, *range(1, len(act.stored_at)))):
            if 0 < at < len(act.stored_at):
                yield _with(
                    acts, index, replace(act, stored_at=act.stored_at[:at]), RoundGoesOn(act.stored_at[at:], None, True)
                )
        yield _with(acts, index, replace(act, paused=not act.paused))
        if not act.stored_at and act.at is not None:
            for by in (-1, 1, 2):
                yield _with(acts, index, replace(act, at=act.at + by))
    elif isinstance(act, RoundBegins):
        for by in (1, 2, -1):
            yield _with(acts, index, replace(act, at=act.at + by))
    elif isinstance(act, EndGoesOn) and act.stored_at is None and index + 1 < len(acts):
        following = acts[index + 1]
        if isinstance(following, EndGoesOn):
            yield _with(acts[: index + 1] + acts[index + 2 :], index, following, act)


def _with(acts: list[Act], index: int, *instead: Act) -> list[Act]:
    return [*acts[:index], *instead, *acts[index + 1 :]]
