"""Many environments, several at a time in one process, so that one compiled module serves them all."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event, Lock
from time import perf_counter
from typing import TYPE_CHECKING

from model_check.verdicts.environment import Environment, Outcome, make_ready, search_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from model_check.explicit.search import Progress
    from model_check.verdicts.kept import KeptSearches

SHOWN_EVERY = 0.2
"""Seconds between two reports of the progress."""


@dataclass(frozen=True, slots=True)
class Request:
    """An environment to be searched.

    Attributes
    ----------
    wanted : tuple of str
        Clauses whose schedules are of interest.
    until : tuple of str
        If any, the search may end when all these clauses are violated.
    """

    environment: Environment
    wanted: tuple[str, ...] = ()
    until: tuple[str, ...] = ()

    def is_answered_by(self, outcome: Outcome, most_states: int | None) -> bool:
        """Whether a kept outcome says all that a search would."""
        is_at_its_limit = most_states is not None and outcome.distinct >= most_states
        is_decided = bool(self.until) and set(self.until) <= outcome.violated.keys()
        has_schedules = all(clause in outcome.schedules for clause in self.wanted if clause in outcome.violated)
        return has_schedules and (outcome.complete or is_at_its_limit or is_decided)


@dataclass(frozen=True, slots=True)
class SearchesProgress:
    """How far a batch of searches is.

    Attributes
    ----------
    done, wanted : int
        Environments.
    distinct : int
        States found since the first search, those under way included.
    seconds : float
        Since then.
    under_way : tuple of str
        Environments that are being searched.
    """

    done: int
    wanted: int
    distinct: int
    seconds: float
    under_way: tuple[str, ...]

    def __str__(self) -> str:
        rate = self.distinct / max(self.seconds, 1e-9) / 1e6
        now = " and ".join(self.under_way)
        return f"{self.done:,} of {self.wanted:,} searches · {self.distinct:,} states · {rate:.2f} M states/s · {now}"


class Searches:
    """Searches environments, and keeps what it has found.

    Parameters
    ----------
    kept : KeptSearches
    threads : int
        Searches at a time, each with one thread; no number depends on it.
    most_states : int or None
        At which a search is cut short.
    report : callable, optional
        Called now and then with a `SearchesProgress`.

    Attributes
    ----------
    searched, found : int
        Searches done, and those found among the kept ones instead.
    """

    def __init__(
        self,
        kept: KeptSearches,
        *,
        threads: int = 1,
        most_states: int | None = None,
        report: Callable[[SearchesProgress], None] | None = None,
    ) -> None:
        self.most_states = most_states
        self.searched = self.found = 0
        self._kept, self._threads, self._report = kept, threads, report
        self._stopped, self._lock = Event(), Lock()
        self._under_way: dict[str, int] = {}
        self._distinct = 0
        self._started: float | None = None

    def run(self, requests: Sequence[Request]) -> dict[Environment, Outcome]:
        """Search what is not kept; the outcomes are in the order of the requests.

        Raises
        ------
        EvaluationError
            From a search; the others are given up.
        KeyboardInterrupt
            After Ctrl-C; what is finished is kept.
        """
        answers: dict[Environment, Outcome] = {}
        left: list[Request] = []
        for request in requests:
            kept = self._kept.find(request.environment, self.most_states)
            known = next((outcome for outcome in kept if request.is_answered_by(outcome, self.most_states)), None)
            if known is None:
                left.append(request)
            else:
                answers[request.environment] = known
        self.found += len(answers)
        if left:
            for instance in dict.fromkeys(request.environment.instance for request in left):
                make_ready(instance)
            self._started = self._started or perf_counter()
            answers |= self._search(left)
        return {request.environment: answers[request.environment] for request in requests}

    def _search(self, requests: Sequence[Request]) -> dict[Environment, Outcome]:
        answers: dict[Environment, Outcome] = {}
        with ThreadPoolExecutor(self._threads) as executor:
            futures: dict[Future[Outcome], Environment] = {
                executor.submit(self._one, request): request.environment for request in requests
            }
            waiting = set(futures)
            try:
                while waiting:
                    done, waiting = wait(waiting, timeout=SHOWN_EVERY, return_when=FIRST_COMPLETED)
                    for future in done:
                        answers[futures[future]] = future.result()
                    self._show(len(answers), len(requests))
            except BaseException:
                self._stopped.set()
                executor.shutdown(cancel_futures=True)
                raise
        return answers

    def _one(self, request: Request) -> Outcome:
        name = str(request.environment)

        def watch(progress: Progress) -> None:
            self._under_way[name] = progress.distinct
            if self._stopped.is_set():
                raise KeyboardInterrupt

        outcome = search_environment(
            request.environment,
            wanted=request.wanted,
            until=request.until,
            most_states=self.most_states,
            report=watch,
        )
        if self._stopped.is_set():
            raise KeyboardInterrupt  # it may have been cut short, and is not kept
        self._kept.keep(request.environment, self.most_states, outcome)
        with self._lock:
            self._under_way.pop(name, None)
            self._distinct += outcome.distinct
            self.searched += 1
        return outcome

    def _show(self, done: int, wanted: int) -> None:
        if self._report is not None and self._started is not None:
            with self._lock:
                under_way = dict(self._under_way)
                distinct = self._distinct + sum(under_way.values())
            seconds = perf_counter() - self._started
            self._report(SearchesProgress(done, wanted, distinct, seconds, tuple(under_way)))
