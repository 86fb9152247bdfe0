"""The specification in one instance, profile and environment, to be walked or searched a thousand states at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from model_check.errors import EvaluationError
from model_check.explicit.code_generation.compile import Compiled, compile_machine
from model_check.explicit.code_generation.emit import CLAIMS_A_WORD
from model_check.instances import refuse_crowd, refuse_forgetting
from model_check.walks.choices import step_tables
from model_check.walks.guided.views import GRAINS, Hashes, ViewTable, Words, view_keys, view_table
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from model_check.world import World

LAW = "weighted"
"""The choice whose walks are split, and of which the shares are."""


class Successors(NamedTuple):
    """Successors, in the order of the states and, for each, of the steps; valid until more are asked for."""

    states: Words  # shape (count, words)
    steps: npt.NDArray[np.int32]  # shape (count,): the number of the step
    parents: Words  # shape (count,): which of the states it was taken from
    weights: npt.NDArray[np.float64]  # shape (count,): how likely it is among its parent's, times their sum


@dataclass(frozen=True)
class StateSpace:
    """One world."""

    compiled: Compiled
    switches: Words  # of the profile and the environment, as the kernels want them
    initial: Words  # shape (words,)
    weights: npt.NDArray[np.float64]  # shape (steps,): of each step in `LAW`
    table: ViewTable

    @classmethod
    def of(cls, world: World, weights: Mapping[str, int] | None = None) -> StateSpace:
        """That of a world, whose instance neither forgets nor is crowded; with other weights where they are given."""
        machine, constants = TRANSACTIONAL_MESSAGES, world.constants
        refuse_crowd(constants, "a walk takes no steps of theirs")
        refuse_forgetting(constants, "a walk")
        compiled = compile_machine(machine, constants)
        return cls(
            compiled,
            compiled.switches(constants),
            compiled.packing.pack(machine.initial(constants).canonical()),
            step_tables(LAW, compiled.steps, weights).weights.astype(np.float64),
            view_table(compiled, constants.transactions),
        )

    @property
    def words(self) -> int:
        """Words a state."""
        return self.compiled.packing.words

    def after(self, states: Words) -> Successors:
        """All steps from these states, shape (count, words), of at most `AT_ONCE`.

        `EvaluationError` when a step leaves a declared range.
        """
        found, steps, parents = self._room
        flat, room = states.reshape(-1), len(steps)
        count, _ = self.compiled.module.expand(flat, 0, len(states), self.switches, found, steps, parents, room)
        if count < 0:
            msg = f"{self.compiled.steps[-1 - count]}: a value left its declared range in a walk"
            raise EvaluationError(msg)
        after = found[: count * self.words].reshape(count, self.words)
        return Successors(after, steps[:count], parents[:count], self.weights[steps[:count]])

    @cached_property
    def _room(self) -> tuple[Words, npt.NDArray[np.int32], Words]:
        most = AT_ONCE * len(self.compiled.steps)
        return np.empty(most * self.words, np.int64), np.empty(most, np.int32), np.empty(most, np.int64)

    def verdicts(self, states: Words) -> Words:
        """The bits of the clauses that each state violates, shape (count, words of a verdict)."""
        found = np.empty((len(states), self.compiled.verdict_words), dtype=np.int64)
        self.compiled.module.judge_each(states.reshape(-1), len(states), self.switches, found)
        return found & self.compiled.clause_masks

    def hashes(self, states: Words) -> Hashes:
        """A hash of each state, as `model_check.walks.walk.Walker.visited` gives them."""
        found = np.empty(len(states), dtype=np.uint64)
        self.compiled.module.hash_each(np.ascontiguousarray(states).reshape(-1), len(states), found)
        return found

    def views(self, states: Words) -> Hashes:
        """The hashes of all views of each state, as `model_check.walks.guided.views.view_keys` gives them."""
        found = np.empty((len(states), self.table.transactions + 1, GRAINS), dtype=np.uint64)
        view_keys(states, self.table, found)
        return found


AT_ONCE = 1024
"""States that are expanded together."""


def are_violated(verdicts: Words, clauses: Sequence[int] | Words) -> npt.NDArray[np.bool_]:
    """Whether each verdict has the bit of each of these clauses, shape (count, clauses)."""
    bits = np.asarray(clauses, dtype=np.int64)
    found: npt.NDArray[np.bool_] = (verdicts[:, bits // CLAIMS_A_WORD] >> (bits % CLAIMS_A_WORD) & 1).astype(np.bool_)
    return found
