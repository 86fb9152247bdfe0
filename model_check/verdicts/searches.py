"""Many environments, several at a time in one process, so that one compiled module serves them all.

Finished searches are kept in a file, so that a run that was interrupted goes on where it stopped: one line of JSON a
search, appended when it is done. The file's name has the fingerprints of the specification and of the engine: what was
found with other sources is never read.
"""

from __future__ import annotations

import json
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from threading import Event, Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any

from files.content import parse_json
from files.reading import read_bytes
from model_check.explicit.code_generation.compile import kernel_cache
from model_check.verdicts.environment import Environment, Outcome, make_ready, search_environment
from model_check.verdicts.fingerprint import engine_fingerprint, specification_fingerprint
from model_check.verdicts.same_searches import of_the_oldest_profile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from model_check.explicit.search import Progress

SHOWN_EVERY = 0.2
"""Seconds between two reports of the progress."""


def kept_file() -> Path:
    """Where finished searches are kept: beside the generated modules, which HALFCHECK_CACHE moves."""
    return kernel_cache() / "verdicts" / f"{specification_fingerprint()}-{engine_fingerprint()}.jsonl"


class KeptSearches:
    """The finished searches of this specification and engine.

    Parameters
    ----------
    file : Path
        Made with the first search that is kept. A last line that was cut off is ignored.
    fresh : bool
        Read nothing; what is found is kept all the same, and counts from then on.
    """

    def __init__(self, file: Path, *, fresh: bool = False) -> None:
        self.file = file
        self._lock = Lock()
        self._found: dict[str, list[tuple[int | None, Outcome]]] = {}
        if not fresh and file.exists():
            for line in read_bytes(file).decode(errors="replace").splitlines():
                self._read(line)

    def find(self, environment: Environment, most_states: int | None) -> list[Outcome]:
        """What is kept of an environment that a search with this limit would also have found, the newest first.

        An incomplete outcome is a prefix of the whole: of a search with another limit it is not offered.
        """
        found = self._found.get(_key(environment), [])
        return [outcome for limit, outcome in reversed(found) if outcome.complete or limit == most_states]

    def keep(self, environment: Environment, most_states: int | None, outcome: Outcome) -> None:
        """Append a search; a complete one counts for every limit."""
        key = _key(environment)
        told = {"environment": key, "limit": most_states, "outcome": asdict(outcome)}
        with self._lock:
            self._remember(key, most_states, outcome)
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a+b") as file:
                torn = file.seek(0, 2) and (file.seek(-1, 2), file.read(1))[1] != b"\n"
                file.write((b"\n" if torn else b"") + json.dumps(told).encode() + b"\n")

    def _read(self, line: str) -> None:
        try:
            told: dict[str, Any] = parse_json(line)
            self._remember(told["environment"], told["limit"], Outcome(**told["outcome"]))
        except (ValueError, TypeError, KeyError):
            return  # cut off in the middle; the search is done again

    def _remember(self, key: str, limit: int | None, outcome: Outcome) -> None:
        self._found.setdefault(key, []).append((limit, outcome))


def _key(environment: Environment) -> str:
    return json.dumps([environment.profile, environment.name, asdict(environment.instance)])


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

    def of_the_oldest_profile(self) -> Request:
        """The same request in the oldest profile that does the same there."""
        return replace(self, environment=of_the_oldest_profile(self.environment))

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

        Of profiles that do the same in an environment, the oldest is searched for all.

        Raises
        ------
        EvaluationError
            From a search; the others are given up.
        KeyboardInterrupt
            After Ctrl-C; what is finished is kept.
        """
        searched = {request: request.of_the_oldest_profile() for request in requests}
        answers: dict[Request, Outcome] = {}
        left: list[Request] = []
        for request in dict.fromkeys(searched.values()):
            kept = self._kept.find(request.environment, self.most_states)
            known = next((outcome for outcome in kept if request.is_answered_by(outcome, self.most_states)), None)
            if known is None:
                left.append(request)
            else:
                answers[request] = known
        self.found += len(answers)
        if left:
            for instance in dict.fromkeys(request.environment.instance for request in left):
                make_ready(instance)
            self._started = self._started or perf_counter()
            answers |= self._search(left)
        return {request.environment: answers[searched[request]] for request in requests}

    def _search(self, requests: Sequence[Request]) -> dict[Request, Outcome]:
        answers: dict[Request, Outcome] = {}
        with ThreadPoolExecutor(self._threads) as executor:
            futures: dict[Future[Outcome], Request] = {
                executor.submit(self._one, request): request for request in requests
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
