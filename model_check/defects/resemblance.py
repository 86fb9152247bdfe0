"""Which known defect a counterexample shows: decided by its steps, and by the repairs that would stop it.

A repair stops a path when, with it, some step of the path is refused or the clause holds to its end. What stops a path
is a cause of it. A clause that is known for one defect may be broken through another one: S1.immune_half of a broker
that is rid of B01 is still broken through an op batch that is late (B05, A16).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import Any

from model_check.defects.affected import possible_with
from model_check.defects.catalogue import Defect, catalogue
from model_check.world import Profile
from spec.chapters import end_transaction, op_batch
from spec.constants import Constants
from spec.language import Machine, Property, Step, holds, take

Turns = dict[str, bool]
"""Switches, and how they stand with a repair."""


@cache
def repairs_of(identifier: str) -> tuple[Turns, ...]:
    """The repairs of a defect that a search has shown, each as the switches that it turns; none where none is known.

    That by which the profile of its search differs from those in which a search finds it gone. What the entry of a
    switch says of itself is a claim, and no repair (`model_check.defects.switch_effects`).

    Examples
    --------
    >>> repairs_of("B05")
    ({'batches_ops': False}, {'keeps_check_open': True})
    """
    search = catalogue()[identifier].search
    if search is None:
        return ()
    before = asdict(search.world.profile.switches)
    repaired = [asdict(one.switches) for one in (search.repaired_in, *search.also_repaired_in) if one is not None]
    return tuple({name: after[name] for name in before if before[name] != after[name]} for after in repaired)


def is_repaired(identifier: str, switches: object) -> bool:
    """Whether a profile (or constants) has one of the repairs of a defect, or never had it."""
    return any(all(getattr(switches, name) == on for name, on in turns.items()) for turns in repairs_of(identifier))


def unrepaired(clause: Property, switches: object) -> tuple[str, ...]:
    """Those that the clause resembles, that the release of a profile (or constants) has, and that it is not rid of."""
    return tuple(one for one in clause.resembles if possible_with(one, switches) and not is_repaired(one, switches))


def repaired_by_hand(clause: Property, profile: Profile) -> tuple[str, ...]:
    """The defects that the clause resembles and that the turned switches of a profile have repaired.

    Examples
    --------
    >>> from model_check.clauses import clauses_by_name
    >>> clause, release = clauses_by_name()["S1.immune_half"], Profile.of("5.4.0")
    >>> repaired_by_hand(clause, release), repaired_by_hand(clause, release.turn("+heeds_settled_originals"))
    ((), ('B01',))
    """
    before, after = Profile.of(profile.unturned).switches, profile.switches
    return tuple(one for one in clause.resembles if is_repaired(one, after) and not is_repaired(one, before))


def resembled(machine: Machine, constants: object, clause: Property, path: Sequence[Step]) -> tuple[str, ...]:
    """The defects that a path shows which breaks a clause.

    Of those that the clause resembles and that are not repaired here: the ones of which some repair stops the path and
    whose own steps (`DefectSearch.shows`) it takes; else those of which a repair stops it, those whose own faults may
    occur before all others; else those whose steps it takes, together with the defects of other clauses that break the
    property, whose steps it takes, too, and of which a repair stops it. Where nothing decides, all whose faults may
    occur, if there are any. A machine that has no profile resembles what its clause says.
    """
    if not isinstance(constants, Constants):
        return clause.resembles
    alive = [catalogue()[one] for one in unrepaired(clause, constants)]
    stopped = [d for d in alive if not repairs_of(d.identifier) or _is_stopped(machine, constants, clause, path, d)]
    shown = [d for d in alive if _takes_its_steps(d, path)]
    possible = [d for d in alive if _has_its_faults(d, constants)]
    best = (
        [d for d in stopped if d in shown]
        or [d for d in stopped if d in possible]
        or [d for d in alive if stopped and (d in stopped or d in possible)]
    )
    if not best and (shown or not alive):
        best = shown + [
            d
            for d in catalogue().values()
            if d not in alive
            and clause.identifier in d.properties
            and _takes_its_steps(d, path)
            and possible_with(d.identifier, constants)
            and not is_repaired(d.identifier, constants)
            and _is_stopped(machine, constants, clause, path, d)
        ]
    return tuple(d.identifier for d in best or possible)


def still_breaks(machine: Machine, constants: object, clause: Property, path: Sequence[Step]) -> bool:
    """Whether a path can be taken from the initial state and breaks the clause on its way."""
    state = machine.initial(constants)
    for step in path:
        if take(state, constants, step) is not None:
            return False
        state.canonical()
        if not holds(state, constants, clause):
            return True
    return False


def with_turns(
    machine: Machine, constants: Constants, path: Sequence[Step], turns: Turns
) -> tuple[Constants, list[Step]]:
    """The constants with some switches turned, and the path as such a broker takes it.

    Without op batches, what was buffered is written at once, and no batch is (up to RocketMQ 5.0).
    """
    given: dict[str, Any] = dict(turns)
    turned = replace(constants, **given)
    if turns.get("batches_ops", True) or not constants.batches_ops:
        return turned, list(path)
    write_op = {s.arguments: s for s in machine.steps(turned) if s.action.function is end_transaction.write_op}
    return turned, [
        write_op[step.arguments] if step.action.function is end_transaction.buffer_op else step
        for step in path
        if step.action.function is not op_batch.write_op_batch
    ]


def _is_stopped(machine: Machine, constants: Constants, clause: Property, path: Sequence[Step], defect: Defect) -> bool:
    return any(
        not still_breaks(machine, turned, clause, steps)
        for turned, steps in (with_turns(machine, constants, path, turns) for turns in repairs_of(defect.identifier))
    )


def _has_its_faults(defect: Defect, constants: Constants) -> bool:
    """Whether the faults are there with which its search finds it."""
    return defect.search is None or all(getattr(constants, fault) for fault in defect.search.world.environment)


def _takes_its_steps(defect: Defect, path: Sequence[Step]) -> bool:
    """Whether the path takes the steps that tell of the defect, in their order."""
    return defect.search is not None and first_step_missing(path, defect.search.shows) is None


def first_step_missing(path: Iterable[Step], shows: Sequence[str]) -> str | None:
    """The first of some steps that a path does not take behind those before it; none if it takes them all.

    A step may be one of several: `write_op h=0 | buffer_op h=0`.
    """
    taken = iter(path)
    for wanted in shows:
        if not any({step.action.name, str(step)} & set(wanted.split(" | ")) for step in taken):
            return wanted
    return None
