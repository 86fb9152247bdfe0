"""Faults that do nothing in a version and an instance, whatever else goes wrong; they need no search of their own.

With the constants of a profile and an instance folded into the source, and all faults left open, a fault matters only
where a live action or a claim still asks about it. An action that some conjunct rules out is not live: a version
without op batches does not care how they are lost.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from model_check.front_end.lower import Lowering
from model_check.front_end.terms import FALSE, Switch, parts
from model_check.instances import constants_for
from spec.constants import FAULTS

if TYPE_CHECKING:
    from spec.constants import Instance
    from spec.language import Machine


@cache
def idle_faults(machine: Machine, profile: str, instance: Instance) -> tuple[str, ...]:
    """The faults that add no behaviour to any environment of the profile in the instance, in their order.

    The answer is on the safe side: a fault that it does not name may still do nothing.
    """
    constants = constants_for(profile, (), instance)
    lowering = Lowering(replace(machine, switches=FAULTS), constants)
    actions = (lowering.action(step) for step in machine.steps(constants))
    live = (a for a in actions if all(conjunct.condition != FALSE for conjunct in a.guard))
    claims = (
        lowering.claim(claim, arguments)
        for claim in (*machine.clauses, *machine.witnesses)
        for arguments in product(*(choice.values(constants) for choice in claim.parameters.values()))
    )
    asked = {part.name for part in parts((*live, *claims)) if isinstance(part, Switch)}
    return tuple(fault for fault in FAULTS if fault not in asked)
