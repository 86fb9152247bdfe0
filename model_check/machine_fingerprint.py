"""Fingerprints of what a machine does in an instance: where it is the same, so is all that a search finds.

The specification's source is lowered with the profile and the instance folded in and the faults left open. What a
profile or an instance rules out does not count, so that a chapter about something else makes no verdict stale. It takes
a second, and is cached on disk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from model_check.cache_folder import cache_folder
from model_check.front_end.lower import Lowering
from model_check.front_end.terms import FALSE, TRUE, Conjunct, Int, Let, LocalTerm, Read, Write
from model_check.world import NO_FAULTS, Profile, World
from spec.constants import FAULTS, Instance
from spec.language import Kind
from spec.language.state import layout

if TYPE_CHECKING:
    from spec.language import Machine
    from spec.language.fields import Slot

_DIGITS = 16


@cache
def machine_fingerprint(profile: Profile, instance: Instance) -> str:
    """16 hexadecimal digits for what a profile does in an instance, whatever goes wrong, and what is claimed of it."""
    from model_check.explicit.code_generation.text_cache import cached_value, text_file

    world = World(profile, NO_FAULTS, instance)
    machine, constants = world.machine, world.constants
    turned = [f"{name}={getattr(constants, name)!r}" for name in machine.switches]
    steps, slots = machine.steps(constants), layout(machine.state, constants)
    file = text_file(cache_folder(), machine, constants, steps, slots, more=(fingerprint_of, *turned))
    return cached_value(file, partial(fingerprint_of, machine, constants))


def fingerprint_of(machine: Machine, constants: object) -> str:
    """16 hexadecimal digits for what a machine does under some constants, whatever the faults in them are.

    It counts in which order actions are tried, as the first of the shortest schedules follows it. Words do not count,
    nor a guard or a claim that is always true there, nor how large a number may become, as a search ends with an error
    at one that is larger.
    """
    lowering = Lowering(replace(machine, switches=FAULTS), constants)
    actions = [lowering.action(step) for step in machine.steps(constants)]
    live = [one for one in actions if not any(conjunct.condition == FALSE for conjunct in one.guard)]
    forgetting = lowering.forgetting()
    claims = [
        (claim.identifier, claim.clause, arguments, term)
        for claim in (*machine.clauses, *machine.witnesses)
        for arguments in claim.arguments(constants)
        if not isinstance(term := lowering.claim(claim, arguments), Int)
    ]
    digests = _Digests()
    parts = [digests.of((*live, *forgetting, *claims)), machine.symmetric]
    parts += [digests.of(slot) for slot in _slots(machine, constants, digests.paths)]
    parts += [f"{queue} {machine.room(constants, queue)}" for queue in machine.queues]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:_DIGITS]


def fingerprint_of_machines(profile: Profile, instances: Iterable[Instance]) -> str:
    """16 hexadecimal digits for what the profile does in all of some instances."""
    machines = " ".join(machine_fingerprint(profile, instance) for instance in instances)
    return hashlib.sha256(machines.encode()).hexdigest()[:_DIGITS]


def _slots(machine: Machine, constants: object, paths: set[tuple[str, ...]]) -> Iterator[tuple[object, ...]]:
    """The slots of the fields that are read or written: where each begins, and how old instants are told apart."""
    for slot in layout(machine.state, constants):
        if slot.path in paths:
            yield slot.path, slot.index, slot.kind.value, *_range(slot, int(getattr(constants, "horizon", 0)))


def _range(slot: Slot, horizon: int) -> tuple[object, ...]:
    if slot.kind is Kind.INSTANT:
        return slot.low - horizon, slot.high - horizon, slot.slack
    return (0 if slot.kind is Kind.CLOCK else slot.low,)


class _Digests:
    """Digests of terms, each made once, as most stand in many places; and the fields that they speak of."""

    def __init__(self) -> None:
        self.paths: set[tuple[str, ...]] = set()
        self._known: dict[int, str] = {}
        self._terms: list[object] = []
        """What the identities in `_known` stand for."""

    def of(self, part: object) -> str:
        """The digest of a term, a statement or a tuple of them."""
        if part is None or isinstance(part, (str, int)):
            return repr(part)
        if id(part) not in self._known:
            self._terms.append(part)
            self._known[id(part)] = hashlib.sha256(self._text(part).encode()).hexdigest()
        return self._known[id(part)]

    def _text(self, part: object) -> str:
        match part:
            case Sequence():
                return f"({' '.join(self.of(one) for one in part if not _is_met(one))})"
            case LocalTerm(name):
                return f"local {_number(name)}"
            case Let(name, value):
                return f"let {_number(name)} {self.of(value)}"
            case Conjunct():
                return f"{part.kind} {self.of(part.condition)}"
            case Read(path) | Write(path):
                self.paths.add(path)
        if not is_dataclass(part):
            message = f"{part!r} is no term, no statement and no action"
            raise TypeError(message)
        return f"{type(part).__name__} {' '.join(self.of(getattr(part, field.name)) for field in fields(part))}"


def _is_met(part: object) -> bool:
    """A conjunct that is true whatever the state is."""
    return isinstance(part, Conjunct) and part.condition == TRUE


def _number(local: str) -> str:
    """The number of a value that an action names, without the name that its source gives it."""
    return local.rpartition("_")[2]
