"""What steps are taken in: a specification and a broker of one version, in one instance and environment."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fuzz.actions.records import DRIVEN_MACHINE
from fuzz.lockstep.fuzzed_instances import FUZZED, fuzzed_constants
from model_check.errors import ModelCheckError
from model_check.instances import unturned
from reference.broker.broker_controller import BrokerController
from reference.versions.versions import VERSIONS

if TYPE_CHECKING:
    from fuzz.broker_side.broker_side import MakeBroker
    from spec.constants import Constants
    from spec.language import Machine, Step


@dataclass(frozen=True)
class Pairing:
    """A pair that is to be compared.

    Attributes
    ----------
    profile, faults, instance
        The version of both, and the names of their environment and instance.
    constants
        The same for the specification.
    machine
        The specification as far as it is driven (`fuzz.actions`), or a broken one.
    make_broker
        Makes the broker, or a broken one.
    """

    profile: str
    faults: tuple[str, ...]
    instance: str
    constants: Constants
    machine: Machine = DRIVEN_MACHINE
    make_broker: MakeBroker = BrokerController

    @classmethod
    def of(cls, profile: str, faults: tuple[str, ...], instance: str = FUZZED.name) -> Pairing:
        """The sound specification and the sound broker.

        Raises
        ------
        ModelCheckError
            There is no such broker; or as `fuzz.lockstep.fuzzed_instances.fuzzed_constants` does.
        """
        if unturned(profile) == "fixed":
            msg = f"no reference broker of the profile {profile!r}; there are {', '.join(VERSIONS)}"
            raise ModelCheckError(msg)
        return cls(profile, faults, instance, fuzzed_constants(profile, faults, instance))

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Every step of the specification, in the order of its actions."""
        return self.machine.steps(self.constants)

    @cached_property
    def steps_of(self) -> dict[str, tuple[Step, ...]]:
        """The steps of each action."""
        names: dict[str, list[Step]] = {action.name: [] for action in self.machine.actions}
        for step in self.steps:
            names[step.action.name].append(step)
        return {name: tuple(steps) for name, steps in names.items()}
