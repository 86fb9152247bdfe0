"""Random walks of the specification, as columns of events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from model_check.counterexample.steps import TICKS
from model_check.errors import EvaluationError, ModelCheckError
from model_check.explicit.code_generation.compile import compile_machine
from model_check.explicit.code_generation.emit import OBSERVED
from model_check.explicit.kernel_texts.records import Odds, WalkEvents
from model_check.instances import refuse_crowd, refuse_forgetting
from model_check.walks.choices import step_tables
from spec.events import EVENTS, FIELDS
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from model_check.world import World
    from spec.language import Step

_LARGEST_SEED = 2**63 - 1
_TOO_MUCH = 2**32


class Walker:
    """Walks the specification at random; a walk depends on it, on the world, the choice, its seed and its number only.

    The choice, one of `model_check.walks.choices.CHOICES`, says how a step is chosen among those that are enabled; of
    one with weights, those of the actions may be given.

    Raises
    ------
    ModelCheckError
        When there is no such choice, or the instance forgets or is crowded; names what there is.
    """

    def __init__(self, world: World, choice: str = "uniform", weights: Mapping[str, int] | None = None) -> None:
        machine = TRANSACTIONAL_MESSAGES
        self._constants = world.constants
        refuse_crowd(self._constants, "a walk takes no steps of theirs")
        refuse_forgetting(self._constants, "a walk")
        self._tables = step_tables(choice, machine.steps(self._constants), weights)
        require_exact_draws(self._tables.weights)
        self._compiled = compile_machine(machine, self._constants)
        self._K = self._compiled.switches(self._constants)
        self._initial = self._compiled.packing.pack(machine.initial(self._constants).canonical())
        self.events = EVENTS  # the codes in the column `event`
        self.actions = tuple(action.name for action in machine.actions)  # those in the column `action`
        steps = self._compiled.steps
        self._event_of = np.array([EVENTS.index(step.action.event) for step in steps], dtype=np.int16)
        self._action_of = np.array([self.actions.index(step.action.name) for step in steps], dtype=np.int16)
        self._tick = np.array([TICKS.get(step.action.event, 0) for step in steps], dtype=np.int64)

    def walk(self, seed: int, first: int, count: int, steps: int) -> dict[str, npt.NDArray[np.generic]]:
        """Walks number `first` to `first + count - 1`, each of at most `steps` steps.

        Returns
        -------
        dict
            One array a field of `spec.events.FIELDS`, all of the same length, rows in the order of (trace, step);
            `event` and `action` hold codes.

        Raises
        ------
        ModelCheckError
            When a number is negative or too large.
        EvaluationError
            When a step leaves a declared range.
        """
        columns, taken = self._walk(seed, first, count, steps)
        columns["event"] = self._event_of[taken]
        columns["action"] = self._action_of[taken]
        columns["outcome"] = columns["outcome"].astype(np.int8)
        return {field.name: columns[field.name] for field in FIELDS}

    def path(self, seed: int, number: int, steps: int) -> tuple[Step, ...]:
        """The steps that a walk takes, with their parameters: what `halfcheck replay --steps` takes again.

        Raises what `walk` does.
        """
        _, taken = self._walk(seed, number, 1, steps)
        return tuple(self._compiled.steps[step] for step in taken.tolist())

    def visited(self, seed: int, first: int, count: int, steps: int) -> npt.NDArray[np.uint64]:
        """The states that these walks see, the initial one included: 64-bit hashes, each once, in ascending order.

        Two different states have the same hash with probability 2^-64 (see `explicit/kernel_texts/hashing.py`), and
        states that differ in their clock only are the same, as in a search: so that the number of hashes can be
        compared with the number of states that a search of the same instance finds. Hashes of one instance may be
        compared across profiles, environments, choices and processes.

        Raises what `walk` does.
        """
        require_numbers(seed, first, count, steps)
        hashes = np.empty(count * (steps + 1), np.uint64)
        seen = self._look(seed, first, count, steps, hashes, np.empty((0, self._compiled.verdict_words), np.int64))
        distinct: npt.NDArray[np.uint64] = np.unique(hashes[:seen])
        return distinct

    def violated(self, seed: int, first: int, count: int, steps: int) -> tuple[npt.NDArray[np.int64], int]:
        """The bits of the clauses that each of these walks violates, shape (count, words), and the steps of all.

        Clause i of the specification is bit i % `CLAIMS_A_WORD` of word i // `CLAIMS_A_WORD`; the witnesses
        stand behind the clauses.

        Raises what `walk` does.
        """
        require_numbers(seed, first, count, steps)
        found = np.zeros((count, self._compiled.verdict_words), dtype=np.int64)
        seen = self._look(seed, first, count, steps, np.empty(0, np.uint64), found)
        return found, seen - count

    def _look(self, seed: int, first: int, count: int, steps: int, *out: npt.NDArray[Any]) -> int:
        """Note what there is room for of the states that these walks see; returns how many these are."""
        walk = seed, first, count, steps
        return self._checked(
            self._compiled.module.walk_over(self._initial, *walk, self._odds(), self._K, self._room(), *out)
        )

    def _walk(
        self, seed: int, first: int, count: int, steps: int
    ) -> tuple[dict[str, npt.NDArray[Any]], npt.NDArray[np.int32]]:
        """The columns that need no table, and the step numbers."""
        require_numbers(seed, first, count, steps)
        most = count * steps
        columns: dict[str, npt.NDArray[Any]] = {
            "trace": np.empty(most, np.int64),
            "time": np.empty(most, np.int64),
            "step": np.empty(most, np.int32),
        }
        taken, rows = np.empty(most, np.int32), np.empty((len(OBSERVED), most), np.int32)
        events = WalkEvents(columns["trace"], columns["time"], columns["step"], taken, rows)
        walk = seed, first, count, steps
        length = self._checked(
            self._compiled.module.walk(self._initial, *walk, self._odds(), self._tick, self._K, self._room(), events)
        )
        columns |= dict(zip(OBSERVED, rows, strict=True))
        return {name: column[:length] for name, column in columns.items()}, taken[:length]

    def _odds(self) -> Odds:
        """The tables of the choice, and room for the switches that are on."""
        is_on = np.empty((self._compiled.module.LOCK_STEP, self._tables.number_of_switches), np.int64)
        return Odds(self._tables.weights, self._tables.switches, is_on)

    def _room(self) -> tuple[npt.NDArray[Any], ...]:
        """Room for the successors of the walks that are taken together, the steps to them and their parents."""
        room = self._compiled.module.LOCK_STEP * len(self._compiled.steps)
        words = self._compiled.packing.words
        return np.empty(room * words, np.int64), np.empty(room, np.int32), np.empty(room, np.int64)

    def _checked(self, length: int) -> int:
        """The result of a kernel, if it is a number of rows."""
        if length < 0:
            msg = f"{self._compiled.steps[-1 - int(length)]}: a value left its declared range in a walk"
            raise EvaluationError(msg)
        return int(length)


def require_exact_draws(weights: npt.NDArray[np.int64]) -> None:
    """Refuse the weights of all steps, shape (steps,), where a draw could not tell their sum: 2^32 is too much.

    `ModelCheckError`, which says what to do.
    """
    if weights.sum() >= _TOO_MUCH:
        msg = (
            f"the weights of all {len(weights)} steps add up to {weights.sum():.0e} times their common unit, and a "
            f"walk draws from less than {_TOO_MUCH:.0e}: round them"
        )
        raise ModelCheckError(msg)


def require_numbers(seed: int, first: int, count: int, steps: int) -> None:
    """Refuse what no walk has: `ModelCheckError` when a number is negative or too large."""
    if not 0 <= seed <= _LARGEST_SEED:
        msg = f"seed {seed} is not a number from 0 to {_LARGEST_SEED}"
        raise ModelCheckError(msg)
    if first < 0 or count < 0 or steps < 1:
        msg = f"walks from {first}, {count} of them, of {steps} steps: give positive numbers"
        raise ModelCheckError(msg)
