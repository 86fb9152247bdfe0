"""How a random walk chooses among the steps that are enabled: the tables, as data.

*uniform*: each enabled step has the same chance. Where many faults are possible, they are most of what happens.

*weighted*: a step's chance is proportional to the weight of its action, that of `usual_weights` or one that is given.

*swarm*: the same weights, and each walk draws a subset of the optional actions, each with probability 1/2, which alone
are switched on in it (A. Groce, C. Zhang, E. Eide, Y. Chen and J. Regehr, "Swarm testing", ISSTA 2012): an action that
is left out can't keep another one from happening.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from model_check.did_you_mean import require_known
from model_check.front_end.source import written_guard
from spec.chapters import broker, producer, proxy, putting_back, shutdown
from spec.language.rules import ASSUME
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spec.language import Step

CHOICES: Final = ("uniform", "weighted", "swarm")

GUIDED: Final = "guided"
"""The choice of `model_check.walks.guided`: weighted walks, some split and others given up, no sample of them."""

ORDINARY: Final = 8  # the weight of a step of a producer, of an END_TRANSACTION or within a round
FAULT: Final = 2  # the weight of an action that only an environment with faults allows

WEIGHTS: Final = {
    broker.crash: 1,
    shutdown.begin_stop: 1,
    broker.lose_power: 1,
    broker.step_clock_back: 1,
    broker.tick: 12,
    broker.persist_offsets: 4,
    producer.leave_it_unknown: 4,
}
"""Those of the other actions that are not `ORDINARY`.

Checks need time to pass, of which a uniform walk has too little; a process that dies at every fifth step gets nowhere.
"""

OPTIONAL: Final = (
    producer.roll_back_locally,
    producer.leave_it_unknown,
    producer.resolve_to_rollback,
    producer.answer_check,
    proxy.roll_back_through_proxy,
    proxy.answer_check_through_proxy,
    broker.persist_offsets,
)
"""Actions that a walk can do without, beside faults; without one of the others, walks would end early."""

QUIET: Final = (
    putting_back.put_back_and_check,
    proxy.commit_through_proxy,
    proxy.roll_back_through_proxy,
    proxy.commit_unknown_to_proxy,
    proxy.roll_back_unknown_to_proxy,
    proxy.answer_check_through_proxy,
    proxy.answer_unknown_to_proxy,
    broker.tick,
)
"""Actions that happen without faults, too, although their guards take something for granted."""


@cache
def fault_actions() -> tuple[str, ...]:
    """The actions that only an environment with faults allows: their guards take for granted that it has none."""
    return tuple(
        action.name
        for action in TRANSACTIONAL_MESSAGES.actions
        if action.function not in QUIET and any(conjunct.kind == ASSUME for conjunct in written_guard(action.function))
    )


@dataclass(frozen=True, slots=True)
class StepTables:
    """A choice for the steps of one machine in one instance."""

    weights: npt.NDArray[np.int64]  # shape (steps,): how likely each step is
    switches: npt.NDArray[np.int64]  # shape (steps,): which switch must be on for it; switch 0 always is

    @property
    def number_of_switches(self) -> int:
        """Switch 0 included."""
        return int(self.switches.max(initial=0)) + 1


@cache
def usual_weights() -> Mapping[str, int]:
    """The weight of each action of the specification where nobody gives another one."""
    weight_of = dict.fromkeys(fault_actions(), FAULT) | {action.__name__: weight for action, weight in WEIGHTS.items()}
    return {action.name: weight_of.get(action.name, ORDINARY) for action in TRANSACTIONAL_MESSAGES.actions}


def step_tables(choice: str, steps: Sequence[Step], weights: Mapping[str, int] | None = None) -> StepTables:
    """The tables of a choice, with a weight for each action in place of `usual_weights` where they are given.

    The weights of all steps that may be enabled together add up to less than 2^32. `ModelCheckError` when there is no
    such choice, which names what there is.
    """
    require_known("choice", choice, CHOICES)
    names = [step.action.name for step in steps]
    given = usual_weights() if weights is None else weights
    optional = (*fault_actions(), *(action.__name__ for action in OPTIONAL))
    switch_of = {name: number for number, name in enumerate(optional, start=1)} if choice == "swarm" else {}
    in_order = [1 if choice == "uniform" else given[name] for name in names]
    switches = [switch_of.get(name, 0) for name in names]
    return StepTables(np.array(in_order, dtype=np.int64), np.array(switches, dtype=np.int64))
