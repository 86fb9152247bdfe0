"""The engines: each is asked a question and gives numbers, paths and the witnesses that it has seen.

An engine says itself what it can't do. To add one, give it a class here and its name in `ENGINES`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, Unpack

from model_check import cpython
from model_check.explicit.exploration import Progress
from model_check.explicit.state_store.resources import Resources
from model_check.finding import Numbers
from model_check.front_end.read_machine import read_machine, refuse_missing_constants
from model_check.guard_coverage import Coverage, cover_by_cpython, cover_by_numba

if TYPE_CHECKING:
    from model_check.question import Means, Question
    from spec.language import Property, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Explored:
    """The result of an engine's search."""

    numbers: Numbers
    depths: dict[Property, int]
    """Each clause that is violated, to the steps of its shortest violation."""
    paths: dict[Property, list[Step]]
    """The first of the shortest violations of each clause whose path was wanted."""
    seen: set[Property]
    """The witnesses that some state is."""
    full: tuple[str, ...] = ()
    """The lengths of queues that are as long as they may be in some state of an instance that forgets."""
    unknown: str = ""
    """Why what is not violated is not known to hold, where it is neither the number of states nor a full queue."""
    coverage: Coverage | None = field(default=None)

    @property
    def why_unknown(self) -> str:
        """Why what is not violated is not known to hold; empty if it is."""
        if self.unknown:
            return self.unknown
        if not self.numbers.complete:
            return f"none is found among {self.numbers.distinct:,} states"
        if self.full:
            return f"none is found; the instance has no room for more, as {' and '.join(self.full)} of some state say"
        return ""


class Engine(Protocol):
    """One way to search a world."""

    @property
    def name(self) -> str:
        """As `halfcheck check --engine` takes it."""

    @property
    def counts_states(self) -> bool:
        """Whether its numbers are those of all states."""

    def refuses(self, question: Question, **means: Unpack[Means]) -> str:
        """What it can't do of a question, and what to do instead; empty if it can be asked.

        Raises `NotInTheLanguage` or `ModelCheckError` when the machine is not in its language, or a constant is
        missing.
        """

    def search(self, question: Question, **means: Unpack[Means]) -> Explored:
        """Search the world of a question."""


class CompiledSearch:
    """The compiled search."""

    name = "numba"
    counts_states = True

    def refuses(self, question: Question, **means: Unpack[Means]) -> str:
        """See `Engine.refuses`; it reads the machine itself, when it compiles it."""
        refuse_missing_constants(question.machine.state, question.c)
        threads = means.get("threads", 1)
        return "" if threads >= 1 else f"{threads} threads: give at least one"

    def search(self, question: Question, **means: Unpack[Means]) -> Explored:
        """See `Engine.search`."""
        from model_check.explicit.search import explore

        machine = question.machine
        bits = {claim: bit for bit, claim in enumerate((*machine.clauses, *machine.witnesses))}
        found = explore(
            machine,
            question.c,
            until=[bits[clause] for clause in question.until],
            most_states=question.most_states,
            title=question.world.title,
            **means,
        )
        depths = {clause: depth for clause in question.asked if (depth := found.seen_at[bits[clause]]) is not None}
        paths = found.paths_to(bits[clause] for clause in depths if question.wants_path(clause))
        return Explored(
            numbers=Numbers.of(found),
            depths=depths,
            paths={clause: path for clause in depths if (path := paths.get(bits[clause])) is not None},
            seen={w for w in machine.witnesses if found.seen_at[bits[w]] is not None},
            full=found.full_queues(),
            coverage=cover_by_numba(found) if question.coverage else None,
        )


class CPythonSearch:
    """The slow judge, which runs the actions themselves."""

    name = "cpython"
    counts_states = True

    def refuses(self, question: Question, **means: Unpack[Means]) -> str:
        """See `Engine.refuses`."""
        read_machine(question.machine, question.c)
        return _without_resources(self.name, means)

    def search(self, question: Question, **means: Unpack[Means]) -> Explored:
        """See `Engine.search`."""
        machine, report = question.machine, means.get("report")

        def relay(*numbers: Any) -> None:
            if report is not None:
                report(Progress(*numbers))

        found = cpython.explore(
            machine, question.c, most_states=question.most_states, until=question.until, report=relay
        )
        paths = {
            clause: found.path_to(found.violations[clause]) for clause in question.asked if clause in found.violations
        }
        return Explored(
            numbers=Numbers.of(found),
            depths={clause: len(path) for clause, path in paths.items()},
            paths=paths,
            seen=set(found.witnesses),
            full=found.full_queues(machine, question.c),
            coverage=cover_by_cpython(machine, question.c, found.parents) if question.coverage else None,
        )


class BoundedSearch:
    """Bounded model checking, one search a clause: what is not violated is unknown beyond the bound."""

    name = "z3"
    counts_states = False

    def refuses(self, question: Question, **means: Unpack[Means]) -> str:
        """See `Engine.refuses`."""
        if question.most_steps < 0:
            return f"{question.most_steps} steps: give no negative number of steps"
        if question.coverage:
            return "coverage is counted over states, and the engine z3 stores none; ask numba or cpython"
        if getattr(question.c, "forgets", False):
            return "the instance forgets what is over, and the engine z3 knows nothing of that; ask numba or cpython"
        read_machine(question.machine, question.c)
        return _without_resources(self.name, means)

    def search(self, question: Question, **_means: Unpack[Means]) -> Explored:
        """See `Engine.search`; no states are counted."""
        from model_check.symbolic.bounded import search

        found = {c: search(question.machine, question.c, c, question.most_steps) for c in question.asked}
        paths = {clause: answer.path for clause, answer in found.items() if answer.path is not None}
        return Explored(
            numbers=Numbers(0, 0, question.most_steps, complete=False, seconds=sum(o.seconds for o in found.values())),
            depths={clause: len(path) for clause, path in paths.items()},
            paths=paths,
            seen=set(question.machine.witnesses),
            unknown=f"none is found in at most {question.most_steps} steps",
        )


def _without_resources(name: str, means: Means) -> str:
    if (means.get("resources") or Resources()) == Resources():
        return ""
    return f"the engine {name} knows no memory limit, disk, checkpoint or fingerprints: use numba"


COMPILED: Final = CompiledSearch()
CPYTHON: Final = CPythonSearch()
Z3: Final = BoundedSearch()

ENGINES: Final[dict[str, Engine]] = {engine.name: engine for engine in (COMPILED, CPYTHON, Z3)}
"""By the names under which they are asked for."""
