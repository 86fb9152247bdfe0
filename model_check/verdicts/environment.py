"""One environment, searched once: the verdict on every clause, and schedules for those that are of interest."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from model_check.check import Verdict
from model_check.counterexample.steps import replay, write_path
from model_check.counterexample.unfolded import unfolded, without_forgetting
from model_check.errors import EvaluationError
from model_check.explicit.search import explore
from model_check.instances import constants_for
from model_check.wording.clauses import clause_names
from spec.constants import FAULTS
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from model_check.explicit.search import Progress
    from spec.constants import Instance

QUIET = "quiet"
"""The name of the environment without faults."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A profile, a set of faults (in the order of `spec.constants.FAULTS`) and an instance."""

    profile: str
    faults: tuple[str, ...]
    instance: Instance

    @property
    def name(self) -> str:
        """The faults as `halfcheck check --faults` takes them; `quiet` for none."""
        return name_of(self.faults)

    def __str__(self) -> str:
        return f"{self.profile} {self.instance.name} {self.name}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the search of an environment has found.

    Attributes
    ----------
    distinct, generated, depth : int
        As in `model_check.check.CheckResult`, of what was searched.
    complete : bool
        Whether every reachable state was expanded.
    violated : dict
        Clause, as `S1.immune_half`, to the steps of its shortest violation, in the order of the machine's clauses.
    schedules : dict
        Clause to the first of its shortest violations, as `write_path` gives it, for the clauses that were wanted.
    seconds : float
        Of the search and of the schedules, compiling excluded.
    wants_room : bool
        Whether a queue of an instance that forgets was full in some state.
    """

    distinct: int
    generated: int
    depth: int
    complete: bool
    violated: dict[str, int]
    schedules: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    wants_room: bool = False

    @property
    def decides(self) -> bool:
        """Whether a clause that is not violated holds."""
        return self.complete and not self.wants_room

    def verdict(self, clause: str) -> Verdict:
        """Of a clause, by its name."""
        if clause in self.violated:
            return Verdict.VIOLATED
        return Verdict.HOLDS if self.decides else Verdict.UNKNOWN


def name_of(faults: Iterable[str]) -> str:
    """The name of a set of faults: they are joined by commas in their order, none is `quiet`.

    Examples
    --------
    >>> name_of({"crash", "lose_end"}), name_of(())
    ('lose_end,crash', 'quiet')
    """
    return ",".join(in_order(faults)) or QUIET


def in_words(faults: Sequence[str], between: str = " + ") -> str:
    """A set of faults for people.

    Examples
    --------
    >>> in_words(()), in_words(("lose_end", "crash")), in_words(("lose_end", "crash"), " and ")
    ('the quiet world', 'lose_end + crash', 'lose_end and crash')
    """
    return between.join(faults) or "the quiet world"


def in_order(faults: Iterable[str]) -> tuple[str, ...]:
    """Faults in the order in which they are declared."""
    chosen = set(faults)
    return tuple(fault for fault in FAULTS if fault in chosen)


def smaller_sets(faults: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The proper subsets of a set of faults, the smaller ones first.

    Examples
    --------
    >>> list(smaller_sets(("lose_end", "crash")))
    [(), ('lose_end',), ('crash',)]
    """
    for size in range(len(faults)):
        yield from combinations(faults, size)


def faults_of(name: str) -> tuple[str, ...]:
    """The faults of an environment, by its name.

    Examples
    --------
    >>> faults_of("quiet"), faults_of("lose_end,crash")
    ((), ('lose_end', 'crash'))
    """
    return () if name == QUIET else tuple(name.split(","))


def search_environment(
    environment: Environment,
    *,
    wanted: Collection[str] = (),
    until: Collection[str] = (),
    most_states: int | None = None,
    report: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Search an environment with one thread.

    Parameters
    ----------
    environment
    wanted
        Clauses whose schedules are of interest, should they be violated.
    until
        If given, the search may end as soon as all these clauses are violated.
    most_states
        Stop when so many are stored.
    report
        Called now and then with how far the search is; a `KeyboardInterrupt` from it ends the search.

    Raises
    ------
    EvaluationError
        When a value leaves its declared range, or a schedule does not replay; names the environment.
    """
    machine = TRANSACTIONAL_MESSAGES
    constants = constants_for(environment.profile, environment.faults, environment.instance)
    names = clause_names()
    try:
        found = explore(
            machine,
            constants,
            most_states=most_states,
            until=[names.index(clause) for clause in until],
            report=report,
        )
        violated = {name: depth for name, depth in zip(names, found.seen_at, strict=False) if depth is not None}
        schedules = {}
        paths = found.paths_to(names.index(name) for name in violated if name in wanted)
        for number, found_path in paths.items():
            path, plain = found_path or [], constants
            if environment.instance.forgets:
                told = unfolded(machine, constants, path)
                path, plain = list(told.steps), without_forgetting(constants, told.sizes)
            if machine.clauses[number] not in replay(machine, plain, path).violated:
                message = f"the schedule that should violate {names[number]} does not"
                raise EvaluationError(message)
            schedules[names[number]] = write_path(path)
    except EvaluationError as error:
        message = f"{environment}: {error}"
        raise EvaluationError(message) from error
    return Outcome(
        found.distinct, found.generated, found.depth, found.complete, violated, schedules, round(found.seconds, 3),
        bool(found.full_queues()),
    )  # fmt: skip


def make_ready(instance: Instance) -> None:
    """Compile what the searches of an instance call, before several of them begin at once."""
    profile_of_no_matter = "5.3.3"
    search_environment(Environment(profile_of_no_matter, (), instance), most_states=1)
