"""How a random walk chooses among the steps that are enabled: the tables, as data.

*uniform*: each enabled step has the same chance. Where many faults are possible, they are most of what happens.

*weighted*: a step's chance is proportional to the weight of its action.

*swarm*: the same weights, and each walk draws a subset of the optional actions, each with probability 1/2, which alone
are switched on in it (A. Groce, C. Zhang, E. Eide, Y. Chen and J. Regehr, "Swarm testing", ISSTA 2012): an action that
is left out can't keep another one from happening.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from model_check.did_you_mean import require_known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spec.language import Step

CHOICES: Final = ("uniform", "weighted", "swarm")

GUIDED: Final = "guided"
"""The choice of `model_check.walks.guided`: weighted walks, some split and others given up, no sample of them."""

ORDINARY: Final = 8
"""The weight of an action that is not named below: a step of a producer, of an END_TRANSACTION or within a round."""

FAULT_ACTIONS: Final = (
    "send_half_by_another_clock",
    "send_poison_half",
    "send_undecodable_half",
    "send_half_again",
    "roll_back_unrun",
    "answer_check_too_early",
    "fail_to_write_op",
    "refuse_commit_unstored",
    "fail_to_write_op_batch",
    "discard_half_unrecorded",
    "end_round_before_dispatch",
    "jump_over_half",
    "end_round_at_missed_half",
    "abort_at_null_result",
    "spin_at_failed_check",
    "spin_at_failed_immunity",
    "corrupt_op",
    "flush_log",
    "lose_end",
    "lose_check",
    "duplicate_end",
    "double_end",
    "overtake",
    "send_wrong_commit",
    "send_wrong_rollback",
    "answer_with_wrong_commit",
    "answer_with_wrong_rollback",
    "lose_all_producers",
    "restart_producers",
    "become_slave",
    "act_for_dead_master",
    "set_half_offset_back",
    "set_op_offset_back",
    "resume_discarded",
    "stop",
    "crash",
    "lose_power",
    "step_clock_back",
)
"""What only an environment with faults allows."""

WEIGHTS: Final = {
    **dict.fromkeys(FAULT_ACTIONS, 2),
    "crash": 1,
    "stop": 1,
    "lose_power": 1,
    "step_clock_back": 1,
    "tick": 12,
    "persist_offsets": 4,
    "leave_it_unknown": 4,
}
"""By the action's name; the others are `ORDINARY`.

Checks need time to pass, of which a uniform walk has too little; a process that dies at every fifth step gets nowhere.
"""

OPTIONAL_ACTIONS: Final = (
    *FAULT_ACTIONS,
    "roll_back_locally",
    "leave_it_unknown",
    "resolve_to_rollback",
    "answer_check",
    "persist_offsets",
)
"""What a walk can do without; where one of the others were missing, walks would end early."""


@dataclass(frozen=True, slots=True)
class StepTables:
    """A choice for the steps of one machine in one instance.

    Attributes
    ----------
    weights
        How likely each step is, shape (steps,).
    switches
        Which switch must be on for it, shape (steps,); switch 0 always is.
    """

    weights: npt.NDArray[np.int64]
    switches: npt.NDArray[np.int64]

    @property
    def number_of_switches(self) -> int:
        """Switch 0 included."""
        return int(self.switches.max(initial=0)) + 1


def step_tables(choice: str, steps: Sequence[Step]) -> StepTables:
    """The tables of a choice.

    Raises
    ------
    ModelCheckError
        There is no such choice; names what there is.
    """
    require_known("choice", choice, CHOICES)
    names = [step.action.name for step in steps]
    weights = [1 if choice == "uniform" else WEIGHTS.get(name, ORDINARY) for name in names]
    optional = {name: place for place, name in enumerate(OPTIONAL_ACTIONS, start=1)} if choice == "swarm" else {}
    switches = [optional.get(name, 0) for name in names]
    return StepTables(np.array(weights, dtype=np.int64), np.array(switches, dtype=np.int64))
