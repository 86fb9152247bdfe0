"""What a schedule is run in: a specification and a broker of one version, in one instance and environment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fuzz.left_out import DRIVEN
from fuzz.lockstep.fuzzed_instances import FUZZED, fuzzed_constants
from model_check.errors import ModelCheckError
from model_check.instances import unturned
from reference.broker.broker_controller import BrokerController
from reference.broker.broker_settings import BrokerSettings
from reference.simulation.virtual_clock import VirtualClock
from reference.versions.switches import VersionSwitches
from reference.versions.versions import VERSIONS

if TYPE_CHECKING:
    from spec.constants import Constants
    from spec.language import Machine, Step

MakeBroker = Callable[[VersionSwitches, BrokerSettings, VirtualClock], BrokerController]


@dataclass(frozen=True)
class World:
    """A pair that is to be compared.

    Attributes
    ----------
    profile
        The version of both.
    constants
        The specification's instance, profile and environment.
    machine
        The specification as far as it is driven (`fuzz.left_out`), or a broken one.
    make_broker
        Makes the broker, or a broken one.
    """

    profile: str
    constants: Constants
    machine: Machine = DRIVEN
    make_broker: MakeBroker = BrokerController

    @classmethod
    def of(cls, profile: str, faults: tuple[str, ...], instance: str = FUZZED.name) -> World:
        """The sound specification and the sound broker.

        Raises
        ------
        ModelCheckError
            There is no such broker; or as `fuzz.lockstep.fuzzed_instances.fuzzed_constants` does.
        """
        if unturned(profile) == "fixed":
            msg = f"no reference broker of the profile {profile!r}; there are {', '.join(VERSIONS)}"
            raise ModelCheckError(msg)
        return cls(profile, fuzzed_constants(profile, faults, instance))

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
