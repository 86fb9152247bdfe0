"""What a mutant is: one text of the broker, of the specification or of a property replaced, and how it must be seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from fuzz.actions.records import driven
from fuzz.lockstep.fuzzed_instances import FUZZED
from fuzz.lockstep.pairing import Pairing
from fuzz.mutants.edited_package import Edit, EditedPackage
from fuzz.search.workloads import USUAL_FAULTS
from spec.constants import FAULTS

if TYPE_CHECKING:
    from spec.language import Machine


class Part(Enum):
    """What a mutant is a mutant of."""

    BROKER = "broker"
    SPEC = "spec"
    PROPERTY = "property"


@dataclass(frozen=True)
class Mutant:
    """One deliberate error.

    Attributes
    ----------
    name
        Its id in the kill table.
    part
        What is broken.
    what
        What it does, in words.
    resembles
        Ids of the catalogue that it is taken from.
    edit
        The text that is replaced.
    seen_in
        The variables that it touches: the first difference must be in one of them. For a property, the clauses whose
        verdict must change.
    profile, faults, instance
        Under which it is hunted.
    """

    name: str
    part: Part
    what: str
    resembles: tuple[str, ...]
    edit: Edit
    seen_in: frozenset[str]
    profile: str = "5.3.3"
    faults: tuple[str, ...] = FAULTS
    instance: str = FUZZED.name

    @cached_property
    def pairing(self) -> Pairing:
        """The pair with the error in it; the project's own modules stay as they are."""
        sound = Pairing.of(self.profile, self.faults, self.instance)
        if self.part is Part.BROKER:
            broken = EditedPackage(self.edit).load("reference.broker.broker_controller")
            return replace(sound, make_broker=broken.BrokerController)
        return replace(sound, machine=driven(self.machine))

    @cached_property
    def machine(self) -> Machine:
        """The specification with the error in it."""
        machine: Machine = EditedPackage(self.edit).load("spec.transactional_messages").TRANSACTIONAL_MESSAGES
        return machine


def mutant(
    part: Part,
    name: str,
    what: str,
    where: str,
    old: str,
    new: str,
    seen_in: str,
    *,
    like: str = "",
    profile: str = "5.3.3",
    faults: tuple[str, ...] = USUAL_FAULTS,
    beside: str = "",
    instance: str = FUZZED.name,
) -> Mutant:
    """A mutant whose lists are text: `seen_in` by commas, the ids it is `like` and the faults `beside` by spaces."""
    variables = frozenset(map(str.strip, seen_in.split(",")))
    edit = Edit(where, old, new)
    return Mutant(name, part, what, tuple(like.split()), edit, variables, profile, (*faults, *beside.split()), instance)
