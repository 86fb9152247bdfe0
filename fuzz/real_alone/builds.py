"""The two builds that are held against each other: the classes of a jar, and those of its release as published."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, Self

from conformance.java.real_classes import RealClasses
from fuzz.real_alone.playing import play

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future
    from types import TracebackType

    from conformance.java.given_jar import GivenJar
    from fuzz.real_alone.playing import PlayedAlone
    from fuzz.real_alone.schedules import StagedSchedule

AT_A_TIME: Final = 2
"""So many schedules are played on the jar at a time."""


class Builds:
    """A jar, in two JVMs so that both cores have work, and its release in a third; they end with the `with` block.

    Raises as `RealClasses` does.
    """

    def __init__(self, given: GivenJar) -> None:
        self.given = given
        with ExitStack() as opened:
            self._jars = [opened.enter_context(RealClasses(given.release, given)) for _ in range(AT_A_TIME)]
            self._published = opened.enter_context(RealClasses(given.release))
            self._workers = opened.enter_context(ThreadPoolExecutor(AT_A_TIME))
            self._opened = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._opened.close()

    @property
    def jar(self) -> RealClasses:
        """The classes of the jar."""
        return self._jars[0]

    def on_both(self, schedule: StagedSchedule) -> tuple[PlayedAlone, PlayedAlone]:
        """A schedule on the jar and on its release."""
        of_jar = self._workers.submit(play, self.jar, schedule)
        of_release = self._workers.submit(play, self._published, schedule)
        return of_jar.result(), of_release.result()

    def on_jar(self, schedules: Sequence[StagedSchedule], *, settles: bool) -> list[Future[PlayedAlone]]:
        """Some schedules on the jar, `AT_A_TIME` at most, when those before are done."""
        return [
            self._workers.submit(play, real, schedule, settles=settles)
            for real, schedule in zip(self._jars, schedules, strict=False)
        ]
