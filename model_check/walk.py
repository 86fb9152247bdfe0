"""Random walks of the specification, as columns of events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from model_check.clock_events import TICKS
from model_check.errors import EvaluationError, ModelCheckError
from model_check.explicit.compile import compile_machine
from model_check.explicit.emit import OBSERVED
from model_check.instances import constants_for
from spec.events import EVENTS, FIELDS
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

_LARGEST_SEED = 2**63 - 1


class Walker:
    """Walks the specification at random; a walk depends on it, on the names below, its seed and its number only.

    Parameters
    ----------
    profile, instance : str
    faults : sequence of str
        As for `model_check.instances.constants_for`.

    Attributes
    ----------
    events, actions : tuple of str
        What the codes in the columns `event` and `action` stand for.
    """

    def __init__(self, profile: str, faults: Sequence[str], instance: str) -> None:
        machine = TRANSACTIONAL_MESSAGES
        self._constants = constants_for(profile, faults, instance)
        self._compiled = compile_machine(machine, self._constants)
        self._switches = self._compiled.switches(self._constants)
        self._initial = self._compiled.packing.pack(machine.initial(self._constants).canonical())
        self.events = EVENTS
        self.actions = tuple(action.name for action in machine.actions)
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
        if not 0 <= seed <= _LARGEST_SEED:
            msg = f"seed {seed} is not a number from 0 to {_LARGEST_SEED}"
            raise ModelCheckError(msg)
        if first < 0 or count < 0 or steps < 1:
            msg = f"walks from {first}, {count} of them, of {steps} steps: give positive numbers"
            raise ModelCheckError(msg)
        most = count * steps
        columns: dict[str, npt.NDArray[Any]] = {
            "trace": np.empty(most, np.int64),
            "time": np.empty(most, np.int64),
            "step": np.empty(most, np.int32),
        }
        taken, rows = np.empty(most, np.int32), np.empty((most, len(OBSERVED)), np.int32)
        room = len(self._compiled.steps)
        buffers = (
            np.empty(room * self._compiled.packing.words, np.int64),
            np.empty(room, np.int32),
            np.empty(room, np.int64),
        )
        written = int(
            self._compiled.module.walk(
                self._initial, seed, first, count, steps, self._tick, self._switches, *buffers,
                columns["trace"], columns["time"], columns["step"], taken, rows,
            )
        )  # fmt: skip
        if written < 0:
            msg = f"{self._compiled.steps[-1 - written]}: a value left its declared range in a walk"
            raise EvaluationError(msg)
        columns = {name: column[:written] for name, column in columns.items()}
        columns["event"] = self._event_of[taken[:written]]
        columns["action"] = self._action_of[taken[:written]]
        for place, name in enumerate(OBSERVED):
            columns[name] = rows[:written, place]
        columns["outcome"] = columns["outcome"].astype(np.int8)
        return {field.name: columns[field.name] for field in FIELDS}
