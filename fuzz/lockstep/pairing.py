"""The specification and the broker of one version, in one instance and environment, step by step side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, cast

from fuzz.actions.record import ActionRecord, AnswerDifference, Driven
from fuzz.broker_side.broker_process import BrokerProcess, Doing, MakeBroker, MakeProcess
from fuzz.broker_side.broker_side import BrokerSide
from fuzz.lockstep.broker_versions import version_of
from fuzz.lockstep.fuzzed_instances import FUZZED, fuzzed_world
from fuzz.lockstep.refinement_mapping import RefinementMapping
from model_check.by_chapter import by_chapter
from model_check.errors import ModelCheckError
from model_check.releases import profile_for
from reference.broker.broker_controller import BrokerController
from reference.errors import BrokerError
from reference.versions.versions import STORE_VERSIONS, WITHOUT_STORES, switches_of
from spec.language import Machine, Refused, Step, take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from model_check.world import Profile, World
    from spec.constants import Constants
    from spec.state import State
    from spec.switches import Switches


def records_of(machine: Machine) -> Mapping[str, ActionRecord]:
    """The record of each action of a machine, by its name; raises `LookupError` as `by_chapter` does."""
    return by_chapter("fuzz.actions", ActionRecord, "record", machine)


RECORDS: Final = records_of(TRANSACTIONAL_MESSAGES)

DRIVEN: Final[Mapping[str, Driven]] = {name: record for name, record in RECORDS.items() if isinstance(record, Driven)}
"""Of the actions that are done to the broker as well."""


def driven(machine: Machine, switches: Switches | None = None) -> Machine:
    """The machine without the excluded actions, and without those of repairs that are not among the switches.

    Raises `LookupError` as `by_chapter` does.
    """
    records = records_of(machine)

    def is_driven(record: ActionRecord) -> bool:
        return isinstance(record, Driven) and (
            not record.repairs or any(getattr(switches, name, False) for name in record.repairs)
        )

    return replace(machine, actions=tuple(a for a in machine.actions if is_driven(records[a.name])))


RELEASES: Final = tuple(sorted(STORE_VERSIONS | WITHOUT_STORES))
"""Of which there is a reference broker."""

DRIVEN_MACHINE: Final = driven(TRANSACTIONAL_MESSAGES)
"""The specification of releases, as far as the lockstep drives it."""


@dataclass(frozen=True)
class Pairing:
    """A pair that is to be compared."""

    world: World
    machine: Machine = DRIVEN_MACHINE
    """The specification as far as it is driven (`fuzz.actions`), or a broken one."""
    make_broker: MakeBroker = BrokerController
    make_process: MakeProcess = BrokerProcess
    """Makes what is done to the broker, perhaps with the real classes beside it."""
    release: str = ""
    """The broker's version, where it is not the profile's."""
    compares_specification: bool = True
    """Whether the specification judges the broker; else the real classes alone, which run beside it."""
    given: Constants | None = None
    """The constants of the specification, where they are more than the world's."""

    @classmethod
    def of(cls, profile: str | Profile, faults: Iterable[str] = (), instance: str = FUZZED.name) -> Pairing:
        """The sound specification and the sound broker, by the names of their world.

        Raises
        ------
        ModelCheckError
            As `fuzz.lockstep.fuzzed_instances.fuzzed_world` does.
        """
        world = fuzzed_world(profile, faults, instance)
        return cls(world, driven(TRANSACTIONAL_MESSAGES, world.profile.switches))

    @classmethod
    def of_release(cls, release: str, faults: Iterable[str] = (), instance: str = FUZZED.name) -> Pairing:
        """The same of a release that need not have a profile: the specification is its nearest.

        Where a round dies of a half that cannot be decoded but not of an op message (4.6.0 to 4.9.4, 5.0.0), no op
        message rots: the specification has one switch for both.

        Raises
        ------
        ModelCheckError
            There is no such release, or no broker of it; or as `fuzz.lockstep.fuzzed_instances.fuzzed_world` does.
        """
        profile, _ = profile_for(release, with_switches=True)
        if release not in RELEASES:
            msg = f"no reference broker of the release {release!r}; there are {', '.join(RELEASES)}"
            raise ModelCheckError(msg)
        leaves_ops_out = switches_of(release).needs_decodable_half
        kept = [fault for fault in faults if not (leaves_ops_out and fault == "undecodable_op")]
        return cls(fuzzed_world(profile, kept, instance), release=release)

    @property
    def constants(self) -> Constants:
        """The constants of the specification."""
        return self.given or self.world.constants

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


class Mismatch(AssertionError):  # noqa: N818 (it is a finding, and reads as one)
    """The specification and the broker disagree."""

    exit_code = 12

    def __init__(
        self,
        number: int,
        doing: str,
        variable: str,
        spec: str,
        broker: str,
        sides: tuple[str, str] = ("the specification", "the broker"),
    ) -> None:
        first, second = sides
        super().__init__(f"step {number}, {doing}: {variable} is {spec} in {first}, {broker} in {second}")
        self.number = number
        """Place of the step in the script, from 1; a question that the broker was asked counts as the step before
        it."""
        self.doing = doing
        """The step, or what the broker was asked."""
        self.variable = variable
        """The difference: a slot of the state as `round.cursor` or `half[2].check_times`, or a part of an answer."""
        self.spec = spec
        self.broker = broker
        """Its two values."""
        self.sides = sides
        """Whose they are: of specification and broker, or of the broker and RocketMQ's own classes."""


class StrayedError(Exception):
    """A broker that nobody has judged yet does not follow the specification, which can lead it no further."""


_BROKEN = (BrokerError, LookupError, ValueError, ArithmeticError, TypeError, AttributeError, StopIteration)
"""Exceptions that a broken broker may raise instead of answering."""


class Pair:
    """A pair of a specification's state and a broker, both at the beginning."""

    def __init__(self, pairing: Pairing) -> None:
        self.pairing = pairing
        self.constants = pairing.constants
        self.state = cast("State", pairing.machine.initial(pairing.constants))
        self._mapping = RefinementMapping(self.state, pairing.constants)
        self.side = BrokerSide(
            pairing.constants,
            pairing.release or version_of(pairing.world.profile),
            pairing.make_broker,
            self._mapping.records,
            pairing.make_process,
        )
        self.taken: list[Step] = []
        self.asked: Step | None = None
        """The forbidden step that the broker was asked for since the last that both have taken."""

    def take(self, step: Step) -> Refused | None:
        """Take a step in both and compare them; where it is refused, nothing happens to either.

        Gives the conjunct that refuses; an excluded step (`fuzz.actions`) is refused as beyond the lockstep.

        Raises
        ------
        Mismatch
            The broker answers otherwise, or its state maps to another one.
        SpecificationError
            The step leaves a declared range of the specification.
        """
        record = DRIVEN[step.action.name]
        if is_excluded(record, self.side, step):
            return Refused("within", "the broker can take the same step")
        refused = take(self.state, self.constants, step)
        if refused is not None:
            return refused
        self.taken.append(step)
        self.asked = None
        self.side.process.doing = Doing(len(self.taken), step)
        if self.side.broker.message_store.is_behind and must_dispatch(record, self.side):
            self.side.process.dispatch()
        try:
            record.do(self.side, step)
        except AnswerDifference as difference:
            self.disagree(str(step), *difference.found)
        except _BROKEN as error:
            self.disagree(str(step), "the broker's exception", "none", repr(error))
        self.side.roll()
        self.side.relay_checks()
        self.compare()
        return None

    def compare(self) -> None:
        """Raise `Mismatch` if some compared slot differs."""
        self._mapping.update(self.side)
        if self.pairing.compares_specification:
            difference = self._mapping.first_difference(self.state)
            if difference is not None:
                self.disagree(self.side.process.doing.what, *difference)
        self._compare_twin()

    def collect(self) -> None:
        """Raise `Mismatch` if a broker beside this one, whose answers come later, differs anywhere."""
        self.side.process.collect()
        self._compare_twin()

    def _compare_twin(self) -> None:
        found = self.side.process.difference
        if found is None:
            return
        doing = found.where
        del self.taken[doing.number :]
        self.asked = doing.asked
        sides = ("the reference broker", found.whose)
        raise Mismatch(doing.number, doing.what, found.part, found.predicted, found.given, sides)

    def disagree(self, doing: str, variable: str, spec: str, broker: str) -> None:
        """Raise `Mismatch` at the last step taken; where the specification judges nothing, `StrayedError`."""
        if not self.pairing.compares_specification:
            self.collect()
            raise StrayedError(doing)
        raise Mismatch(len(self.taken), doing, variable, spec, broker)


def is_excluded(record: Driven, side: BrokerSide, step: Step) -> bool:
    """Whether a step is excluded in this state."""
    return record.unless is not None and record.unless(side, step)


def must_dispatch(record: Driven, side: BrokerSide) -> bool:
    """Whether the broker must dispatch all stored records before the step; see `Driven.dispatches`."""
    if record.dispatches is not None:
        return record.dispatches
    if side.constants.settles_once and "pass" in record.part:
        return True  # a round may end with the pass, and then reads all op messages
    return side.broker.check_service.round is None or not side.cursor_is_dispatched
