"""Coverage of a search: which guards were true, which conjunct was the first to be false, which clauses failed.

A conjunct that is never the first to be false could be left out of its guard without a change of the states; a guard
that is never true is an action that does not exist. Both say that a world is too small to show what the rule is for, or
that the rule is wrong. It is counted over the states of a finished search, by the compiled engine, and by CPython,
which judges that.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from model_check.cache_folder import cache_folder
from model_check.explicit.code_generation.coverage import CountedPlace, coverage_source
from model_check.front_end.source import WrittenConjunct, place_of_refusal, written_guard
from spec.language import Action, Machine, holds, is_witnessed, take

if TYPE_CHECKING:
    from model_check.explicit.code_generation.compile import Compiled
    from model_check.explicit.search import Exploration
    from model_check.explicit.state_store.store import StateStore

Place = tuple[str, tuple[int, ...]]
"""A conjunct in the counts: the action's name, and the place of `WrittenConjunct`."""


@dataclass(frozen=True, slots=True)
class ConjunctCoverage:
    """One conjunct of a guard."""

    kind: str
    label: str
    """Its rule; behind the second conjunct of the same words in a guard stands (2), and so on."""
    first_false: int
    """How often it was false and all conjuncts before it true, over all states and all choices of parameters."""


@dataclass(frozen=True, slots=True)
class ActionCoverage:
    """One action."""

    name: str
    enabled: int
    """How often its whole guard was true, over all states and all choices of parameters."""
    conjuncts: tuple[ConjunctCoverage, ...]


@dataclass(frozen=True, slots=True)
class Uncovered:
    """A gap: a guard that was never true (no rule), or a conjunct that was never the first false."""

    action: str
    rule: str | None

    def __str__(self) -> str:
        return f"{self.action}: {'never enabled' if self.rule is None else f'never the first false: {self.rule}'}"


@dataclass(frozen=True, slots=True)
class Coverage:
    """Coverage of guards and properties over some states."""

    states: int
    """How many were looked at."""
    actions: tuple[ActionCoverage, ...]
    """In the machine's order."""
    violated: dict[str, int]
    """Clause, such as `S1.immune_half` → states in which it is false for some choice of its parameters."""
    witnessed: dict[str, int]
    """Name of a witness → states in which it is true for some choice of its parameters."""

    def __add__(self, other: Coverage) -> Coverage:
        """The coverage of both, of the same machine in whatever instances and environments."""
        return Coverage(
            self.states + other.states,
            tuple(_join(mine, theirs) for mine, theirs in zip(self.actions, other.actions, strict=True)),
            {clause: n + other.violated[clause] for clause, n in self.violated.items()},
            {witness: n + other.witnessed[witness] for witness, n in self.witnessed.items()},
        )

    def uncovered(self) -> tuple[Uncovered, ...]:
        """The gaps, in the order of the source."""
        found: list[Uncovered] = []
        for action in self.actions:
            found += [Uncovered(action.name, None)] if action.enabled == 0 else []
            found += [Uncovered(action.name, c.label) for c in action.conjuncts if c.first_false == 0]
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        """The counts as plain data."""
        return {
            "states": self.states,
            "actions": {
                action.name: {
                    "enabled": action.enabled,
                    "conjuncts": [
                        {"kind": c.kind, "rule": c.label, "first_false": c.first_false} for c in action.conjuncts
                    ],
                }
                for action in self.actions
            },
            "violated": self.violated,
            "witnessed": self.witnessed,
            "uncovered": [asdict(gap) for gap in self.uncovered()],
        }


def _join(mine: ActionCoverage, theirs: ActionCoverage) -> ActionCoverage:
    conjuncts = tuple(
        ConjunctCoverage(c.kind, c.label, c.first_false + d.first_false)
        for c, d in zip(mine.conjuncts, theirs.conjuncts, strict=True)
    )
    return ActionCoverage(mine.name, mine.enabled + theirs.enabled, conjuncts)


def coverage_of(
    machine: Machine, states: int, enabled: Mapping[str, int], first_false: Mapping[Place, int], claims: Sequence[int]
) -> Coverage:
    """Put counts beside the source.

    Parameters
    ----------
    states : int
        How many were looked at.
    enabled, first_false : mapping
        Action's name, or place of a conjunct → count; what is not there is 0.
    claims : sequence of int
        States that violate each clause, then states that are each witness, in the machine's order.
    """
    clauses = [f"{clause.identifier}.{clause.clause}" for clause in machine.clauses]
    witnesses = [witness.name for witness in machine.witnesses]
    counts = dict(zip((*clauses, *witnesses), map(int, claims), strict=True))
    return Coverage(
        states,
        tuple(_action(action, enabled, first_false) for action in machine.actions),
        {name: counts[name] for name in clauses},
        {name: counts[name] for name in witnesses},
    )


def _action(action: Action, enabled: Mapping[str, int], first_false: Mapping[Place, int]) -> ActionCoverage:
    seen: Counter[str] = Counter()
    conjuncts: list[ConjunctCoverage] = []
    for written in written_guard(action.function):
        seen[written.rule] += 1
        conjuncts.append(
            ConjunctCoverage(
                written.kind, _label(written, seen[written.rule]), int(first_false.get((action.name, written.place), 0))
            )
        )
    return ActionCoverage(action.name, int(enabled.get(action.name, 0)), tuple(conjuncts))


def _label(written: WrittenConjunct, which: int) -> str:
    return written.rule if which == 1 else f"{written.rule} ({which})"


RUN = 1 << 18
"""States that one call of the kernel looks at: how often an interruption is heard."""


def cover_by_numba(found: Exploration) -> Coverage:
    """Ask the compiled guards once more about every state that a search stored, with as many threads as it had."""
    compiled, constants = found.compiled, found.constants
    address, counted = _counting(compiled, constants)
    count_states = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 5)(address)
    switches = compiled.switches(constants)
    claims = len(compiled.machine.clauses) + len(compiled.machine.witnesses)

    def count(run: tuple[int, int]) -> npt.NDArray[np.int64]:
        counts = np.zeros(len(counted) + claims, dtype=np.int64)
        count_states(found.store.regions.states.ctypes.data, *run, switches.ctypes.data, counts.ctypes.data)
        return counts

    total = np.zeros(len(counted) + claims, dtype=np.int64)
    with ThreadPoolExecutor(found.store.threads) as executor:
        for counts in executor.map(count, _runs(found.store)):
            total += counts
    enabled: Counter[str] = Counter()
    first_false: Counter[Place] = Counter()
    for what, number in zip(counted, total[: len(counted)].tolist(), strict=True):
        if what.place is None:
            enabled[what.action] += number
        else:
            first_false[what.action, what.place] += number
    return coverage_of(compiled.machine, found.distinct, enabled, first_false, total[len(counted) :].tolist())


_LOADED: dict[tuple[Machine, str], tuple[int, tuple[CountedPlace, ...]]] = {}


def _counting(compiled: Compiled, constants: object) -> tuple[int, tuple[CountedPlace, ...]]:
    """Where the counting code is; one serves all profiles and environments of a machine's instance, as the search's."""
    from model_check.explicit.code_generation.native import load_native

    key = (compiled.machine, compiled.native.name)
    if key not in _LOADED:
        source, counted = coverage_source(compiled.machine, constants, compiled.packing)
        _LOADED[key] = load_native(source, ("cover",), cache_folder()).addresses["cover"], counted
    return _LOADED[key]


def _runs(store: StateStore) -> Iterator[tuple[int, int]]:
    """Where the stored states lie, region by region, in pieces."""
    for region, count in enumerate(store.counts.tolist()):
        start = region * store.regions.room
        for first in range(start, start + count, RUN):
            yield first, min(first + RUN, start + count)


def cover_by_cpython(machine: Machine, constants: object, states: Iterable[tuple[int, ...]]) -> Coverage:
    """Run the actions themselves on canonical states, each of them once.

    Raises `SpecificationError` when an action writes a value outside its field's declared range.
    """
    steps = machine.steps(constants)
    state = machine.initial(constants)
    enabled: Counter[str] = Counter()
    first_false: Counter[Place] = Counter()
    claims = [0] * (len(machine.clauses) + len(machine.witnesses))
    number = 0
    for values in states:
        number += 1
        state.load(values)
        for bit, clause in enumerate(machine.clauses):
            claims[bit] += not holds(state, constants, clause)
        for bit, witness in enumerate(machine.witnesses, len(machine.clauses)):
            claims[bit] += is_witnessed(state, constants, witness)
        for step in steps:
            refused = take(state, constants, step)
            if refused is None:
                enabled[step.action.name] += 1
                state.load(values)
            else:
                first_false[step.action.name, place_of_refusal(refused)] += 1
    return coverage_of(machine, number, enabled, first_false, claims)
