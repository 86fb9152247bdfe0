"""A check of a whole machine before an engine runs it, so that all engines refuse the same sources in the same words.

The CPython engine runs the actions as they are. It would take an action that writes and then refuses, a field that
nobody has declared, or any other Python; and go on from states that the machine does not have.
"""

from __future__ import annotations

import inspect

from model_check.errors import NotInTheLanguage
from model_check.front_end.lower import Lowering
from model_check.front_end.memo import memoized_by_instance
from model_check.front_end.source import declared_fields
from spec.language import Kind, Machine, MachineState


@memoized_by_instance
def read_machine(machine: Machine, constants: object) -> None:
    """Read each action with all its parameters, the forgetting and each claim; once for an instance.

    `NotInTheLanguage` when some source uses something that is not part of the language; names the file and the line.
    """
    refuse_missing_constants(machine.state, constants)
    lowering = Lowering(machine, constants)
    for step in machine.steps(constants):
        lowering.action(step)
    lowering.forgetting()
    for claim in (*machine.clauses, *machine.witnesses):
        for arguments in claim.arguments(constants):
            lowering.claim(claim, arguments)


def refuse_missing_constants(state: type[MachineState], constants: object) -> None:
    """Refuse a field whose declaration names a constant that the instance lacks: `NotInTheLanguage` names both."""
    clocks, instants = [], False
    for path, field, length in declared_fields(state):
        name = ".".join(path)
        ends = (field.low.constant, field.high.constant, field.ahead, field.slack, field.length, length)
        clocks += [name] if field.kind is Kind.CLOCK else []
        instants = instants or field.kind is Kind.INSTANT
        for constant in filter(None, ends):
            if not hasattr(constants, constant):
                _refuse(state, name, constants, f"no constant {constant!r}, which its declaration names")
    if clocks and instants and not hasattr(constants, "horizon"):
        why = "no 'horizon', from which the clock goes on: give it one above the largest cut of an instant"
        _refuse(state, clocks[0], constants, why)


def _refuse(state: type[MachineState], field: str, constants: object, why: str) -> None:
    _, first = inspect.getsourcelines(state)
    given = sorted(name for name in dir(constants) if not name.startswith("_"))
    where = f"{inspect.getsourcefile(state)}:{first}: {state.__name__}.{field}"
    msg = f"{where}: {type(constants).__name__} has {why}; it has {', '.join(given) or 'none'}"
    raise NotInTheLanguage(msg)
