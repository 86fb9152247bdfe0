"""Many worlds, several at a time in one process, so that one compiled module serves them all.

Finished searches are cached in a file, so that a run that was interrupted goes on where it stopped: one line of JSON a
search, appended when it is done. The file's name has the fingerprints of the specification and of the engine: what was
found with other sources is never read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from threading import Event, Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from files.content import parse_json
from files.reading import read_bytes
from model_check.cache_folder import cache_folder
from model_check.check import check
from model_check.clauses import name_of
from model_check.counterexample.steps import read_path
from model_check.counterexample.unfolded import without_forgetting
from model_check.errors import EvaluationError
from model_check.finding import Bounds, Finding, Holds, Numbers, Row, Unknown, Violated
from model_check.fingerprint import engine_fingerprint, specification_fingerprint
from model_check.question import Question
from model_check.verdicts.same_searches import of_the_oldest_profile
from model_check.world import SIZES, Environment, Profile, World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from pathlib import Path

    from model_check.explicit.search import Progress
    from spec.constants import Instance

SHOWN_EVERY = 0.2
"""Seconds between two reports of the progress."""


def cache_file() -> Path:
    """Where finished searches are cached: beside the generated modules, which HALFCHECK_CACHE moves."""
    return cache_folder() / "verdicts" / f"{specification_fingerprint()}-{engine_fingerprint()}.jsonl"


class CachedSearches:
    """The finished searches of this specification and engine, all asked about all clauses.

    The file is made with the first search that is cached; a last line that was cut off is ignored. When `fresh`,
    nothing is read, but what is found is cached all the same, and counts from then on.
    """

    def __init__(self, file: Path, *, fresh: bool = False) -> None:
        self.file = file
        self._lock = Lock()
        self._found: dict[str, list[tuple[int | None, dict[str, Any]]]] = {}
        if not fresh and file.exists():
            for line in read_bytes(file).decode(errors="replace").splitlines():
                self._read(line)

    def answer(self, question: Question) -> Finding | None:
        """The newest cached finding that says all that a search would.

        An incomplete one is a prefix of the whole: of a search with another limit it is not offered. None is of one
        transaction among others.
        """
        if question.world.is_crowded:
            return None
        for limit, record in reversed(self._found.get(question.world.key, [])):
            if record["complete"] or limit == question.most_states:
                finding = _from_json(question.world, record)
                if _answers(question, finding):
                    return finding
        return None

    def add(self, question: Question, finding: Finding) -> None:
        """Append a search; a complete one counts for every limit.

        Verdicts on one transaction among others depend on more than the sources that the file is named after, and have
        reasons of their own: they are not cached.
        """
        if question.world.is_crowded:
            return
        key, record = question.world.key, _to_json(finding)
        line = json.dumps({"world": key, "limit": question.most_states, "finding": record}).encode() + b"\n"
        with self._lock:
            self._found.setdefault(key, []).append((question.most_states, record))
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a+b") as file:
                torn = file.seek(0, 2) and (file.seek(-1, 2), file.read(1))[1] != b"\n"
                file.write((b"\n" if torn else b"") + line)

    def _read(self, line: str) -> None:
        try:
            record: dict[str, Any] = parse_json(line)
            finding = record["finding"]
            _ = [finding[name] for name in _RECORD]
            self._found.setdefault(record["world"], []).append((record["limit"], finding))
        except (ValueError, TypeError, KeyError):
            return  # cut off in the middle; the search is done again


_RECORD: Final = ("distinct", "generated", "depth", "complete", "seconds", "why", "violated", "paths")


def _to_json(finding: Finding) -> dict[str, Any]:
    violated = finding.violated.values()
    return {
        **finding.numbers.size_to_json(),
        "seconds": round(finding.numbers.seconds, 3),
        "why": finding.undecided,
        "violated": {row.name: row.depth for row in violated},
        "paths": {
            row.name: [row.steps, *(getattr(row.world.instance, name) for name in SIZES)]
            for row in violated
            if row.path
        },
    }


def _from_json(world: World, record: dict[str, Any]) -> Finding:
    numbers = Numbers(*(record[name] for name in ("distinct", "generated", "depth", "complete", "seconds")))
    bounds, rows = (Bounds.of(world.instance, numbers),), list[Row]()
    for clause in TRANSACTIONAL_MESSAGES.clauses:
        name = name_of(clause)
        if name not in record["violated"]:
            rows.append(Unknown(clause, record["why"]) if record["why"] else Holds(clause, bounds))
            continue
        row = Violated(clause, record["violated"][name], world)
        if name in record["paths"]:
            steps, *sizes = record["paths"][name]
            if world.instance.forgets:
                plain = without_forgetting(world.instance, dict(zip(SIZES, sizes, strict=True)))
                row = replace(row, world=world.on(plain))
            row = replace(row, path=tuple(read_path(TRANSACTIONAL_MESSAGES, row.world.constants, steps)))
        rows.append(row)
    return Finding(world, tuple(rows), numbers)


def _answers(question: Question, finding: Finding) -> bool:
    """Whether a cached finding says all that a search would."""
    violated, numbers = finding.violated, finding.numbers
    is_at_its_limit = question.most_states is not None and numbers.distinct >= question.most_states
    is_decided = bool(question.until) and set(question.until) <= violated.keys()
    has_paths = all(row.path for clause, row in violated.items() if question.wants_path(clause))
    return has_paths and (numbers.complete or is_at_its_limit or is_decided)


@dataclass(frozen=True, slots=True)
class SearchesProgress:
    """How far a batch of searches is."""

    done: int
    wanted: int
    """Worlds, as `done`."""
    distinct: int
    """States found since the first search, those under way included."""
    seconds: float
    """Since then."""
    under_way: tuple[str, ...]
    """Worlds that are being searched."""

    def __str__(self) -> str:
        rate = self.distinct / max(self.seconds, 1e-9) / 1e6
        now = " and ".join(self.under_way)
        return f"{self.done:,} of {self.wanted:,} searches · {self.distinct:,} states · {rate:.2f} M states/s · {now}"


class Searches:
    """Searches worlds, and caches what it has found.

    So many `threads` search at a time, each search with one, and no number depends on it; a search is cut short at
    `most_states`; `report` is called now and then. Counts the searches that it has `searched`, and those `found` among
    the cached ones instead.
    """

    def __init__(
        self,
        cached: CachedSearches,
        *,
        threads: int = 1,
        most_states: int | None = None,
        report: Callable[[SearchesProgress], None] | None = None,
    ) -> None:
        self.most_states = most_states
        self.searched = self.found = 0
        self._cached, self._threads, self._report = cached, threads, report
        self._stopped, self._lock = Event(), Lock()
        self._under_way: dict[str, int] = {}
        self._distinct = 0
        self._started: float | None = None

    def run(self, questions: Sequence[Question]) -> dict[World, Finding]:
        """Search what is not cached; the findings are in the order of the questions.

        Of profiles that do the same in an environment, the oldest is searched for all. Raises `EvaluationError` from a
        search, when the others are given up, and `KeyboardInterrupt` after Ctrl-C, when all that is finished is cached.
        """
        asked = [replace(question, most_states=self.most_states) for question in questions]
        oldest = {question: replace(question, world=of_the_oldest_profile(question.world)) for question in asked}
        found: dict[Question, Finding] = {}
        left: list[Question] = []
        for question in dict.fromkeys(oldest.values()):
            cached = self._cached.answer(question)
            if cached is None:
                left.append(question)
            else:
                self.found += 1
                found[question] = cached
        if left:
            for instance in dict.fromkeys(question.world.instance for question in left):
                make_ready(instance)
            self._started = self._started or perf_counter()
            found |= self._search(left)
        return {question.world: found[oldest[question]].in_profile(question.world.profile) for question in asked}

    def _search(self, questions: Sequence[Question]) -> dict[Question, Finding]:
        found: dict[Question, Finding] = {}
        with ThreadPoolExecutor(self._threads) as executor:
            futures: dict[Future[Finding], Question] = {
                executor.submit(self._one, question): question for question in questions
            }
            waiting = set(futures)
            try:
                while waiting:
                    done, waiting = wait(waiting, timeout=SHOWN_EVERY, return_when=FIRST_COMPLETED)
                    for future in done:
                        found[futures[future]] = future.result()
                    self._show(len(found), len(questions))
            except BaseException:
                self._stopped.set()
                executor.shutdown(cancel_futures=True)
                raise
        return found

    def _one(self, question: Question) -> Finding:
        name = str(question.world)

        def watch(progress: Progress) -> None:
            self._under_way[name] = progress.distinct
            if self._stopped.is_set():
                raise KeyboardInterrupt

        try:
            finding = check(question, report=watch)
        except EvaluationError as error:
            message = f"{name}: {error}"
            raise EvaluationError(message) from error
        if self._stopped.is_set():
            raise KeyboardInterrupt  # it may have been cut short, and is not cached
        self._cached.add(question, finding)
        with self._lock:
            self._under_way.pop(name, None)
            self._distinct += finding.numbers.distinct
            self.searched += 1
        return finding

    def _show(self, done: int, wanted: int) -> None:
        if self._report is not None and self._started is not None:
            with self._lock:
                under_way = dict(self._under_way)
                distinct = self._distinct + sum(under_way.values())
            seconds = perf_counter() - self._started
            self._report(SearchesProgress(done, wanted, distinct, seconds, tuple(under_way)))


def make_ready(instance: Instance) -> None:
    """Compile what the searches of an instance call, before several of them begin at once."""
    profile_of_no_matter = Profile.of("5.3.3")
    check(Question(world=World(profile_of_no_matter, Environment(), instance), paths=(), most_states=1))
