"""Ask RocketMQ's own classes for the defects of the catalogue: `python -m fuzz.defects.on_classes [ID…]`.

They are given the schedules that searches find, the scenarios of the reference broker, and questions of their own.
Writes `model_check/defects/classes_findings.toml` and `docs/generated/defects.md`; with ids, what is on record of the
others stays. `make defects-on-classes` runs it.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from inspect import getsource
from textwrap import dedent
from typing import TYPE_CHECKING, Final, Self

from conformance.errors import ConformanceError
from conformance.java.real_classes import RealClasses
from conformance.releases.jars import RELEASES
from fuzz.broker_side.operated_twin import OperatedTwin
from fuzz.defects.questions import questions
from fuzz.defects.scenario import BrokerProfile, DefectScenario, ScenarioError, scenarios
from fuzz.lockstep.real_replays import RealOutcome, RealReplay, replay_on
from model_check.counterexample.steps import read_path, write_path
from model_check.counterexample.unfolded import with_room_for
from model_check.defects.catalogue import catalogue, defect_called
from model_check.defects.findings import CLASSES_FINDINGS, ClassesFinding, digits_of
from model_check.defects.page import write_page
from model_check.defects.search import find, without_repair
from model_check.errors import EvaluationError
from model_check.fingerprint import meaning_of
from model_check.world import Profile
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType

    from fuzz.broker_side.broker_process import MakeProcess
    from fuzz.defects.questions import DefectQuestionOfClasses
    from model_check.defects.catalogue import Defect, DefectSearch
    from model_check.world import World
    from reference.broker.broker_controller import BrokerController
    from spec.language import Property, Step

_BROKERS: Final = 2
"""So many brokers does a scenario have at a time, each with a JVM of its own."""


class TwinsOfReleases:
    """Brokers of releases with their own classes beside them, in JVMs that end with the `with` block."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self._jvms: dict[tuple[str, int], RealClasses] = {}
        self._made: list[OperatedTwin] = []
        self._left_at: Counter[str] = Counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._open.close()

    def jvm(self, release: str, number: int = 0) -> RealClasses:
        """One of the JVMs of a release; raises `ConformanceError` where its classes can't be run."""
        if (release, number) not in self._jvms:
            self._jvms[release, number] = self._open.enter_context(RealClasses(release))
        return self._jvms[release, number]

    def end(self) -> None:
        """End all JVMs."""
        self._open.close()
        self._jvms.clear()

    def makes(self, release: str) -> MakeProcess:
        """What makes twins of a release; the one before the last has come to its end then."""
        return partial(self._made_of, release)

    def _made_of(self, release: str, broker: BrokerController) -> OperatedTwin:
        real = self.jvm(release, len(self._made) % _BROKERS)
        store = real.folder / f"scenario-{len(self._made)}"
        if broker.message_store.max_phy_offset:
            self._made[-1].end_for_good()
            store = self._made[-1].store
        twin = OperatedTwin(broker, real, self._left_at, store)
        for group, channel in broker.producer_manager.connected():
            twin.connect(group, channel)
        self._made.append(twin)
        return twin

    def play(self, scenario: DefectScenario, release: str) -> RealReplay:
        """Play a scenario on brokers of a release; their answers must be those of the real classes."""
        self._made.clear()
        self._left_at.clear()
        try:
            seen = scenario.play(replace(BrokerProfile.of(release), makes=self.makes))
        except ScenarioError as error:
            return RealReplay(release, RealOutcome.DIFFERENT, 0, str(error))
        for twin in self._made:
            twin.collect()
            if twin.difference is not None:
                found = twin.difference
                said = f"{found.order}: {found.part} is {found.predicted} in the reference broker, {found.given} in it"
                return RealReplay(release, RealOutcome.DIFFERENT, 0, said)
        if self._left_at:
            return RealReplay(release, RealOutcome.LEFT_OUT, 0, f"it has {next(iter(self._left_at))}")
        if not seen.symptom:
            return RealReplay(release, RealOutcome.DIFFERENT, 0, "it does not show the defect")
        return RealReplay(release, RealOutcome.TAKEN, sum(twin.orders for twin in self._made))


@dataclass(frozen=True, slots=True)
class AskedOfClasses:
    """One defect that is asked of one release."""

    identifier: str
    by: str
    release: str
    digits: str
    ask: Callable[[TwinsOfReleases], RealReplay]


def schedules_of(search: DefectSearch) -> Iterator[tuple[World, tuple[Step, ...]]]:
    """The shortest schedules of a search in each release that has the defect, each with its world.

    Where it is in profiles with turned switches only, the one of them, in the release whose switches were turned. A
    release in which the clause is broken sooner by another defect is left out.
    """
    plain = [profile for profile in (search.world.profile, *search.also_in) if profile.name == profile.unturned]
    found = [each for each in map(partial(_schedule_in, search), plain) if each is not None]
    yield from found or filter(None, [_schedule_in(search, search.world.profile)])


def _schedule_in(search: DefectSearch, profile: Profile) -> tuple[World, tuple[Step, ...]] | None:
    world = search.world.in_profile(profile)
    asked = replace(search, world=world, shows=_shown_in(profile, search))
    try:
        steps = find(without_repair(asked)).violated.steps
    except EvaluationError:
        if profile == search.world.profile:
            raise
        return None
    roomy = _with_room(world, steps)
    return roomy, tuple(read_path(TRANSACTIONAL_MESSAGES, roomy.constants, steps))


def given_to_classes(world: World, steps: str) -> tuple[str, str]:
    """What the real classes are given of a schedule that was found in a world: their world, and the steps."""
    return _with_room(world, steps).options, steps


def _with_room(world: World, steps: str) -> World:
    """The release's world, with room for all of the steps."""
    return world.in_profile(Profile.of(world.profile.unturned)).on(with_room_for(world.instance, steps))


def _shown_in(profile: Profile, search: DefectSearch) -> tuple[str, ...]:
    """The steps that make a schedule one of the defect; a release writes each op message by itself, or in batches."""
    if profile.switches.batches_ops == search.world.profile.switches.batches_ops:
        return search.shows
    names = {"write_op": "buffer_op", "buffer_op": "write_op"}
    steps = (step for step in search.shows if not step.startswith("write_op_batch"))
    return tuple(re.sub(r"\b(write_op|buffer_op)\b", lambda found: names[found[0]], step) for step in steps)


def tasks_of(defect: Defect) -> Iterator[AskedOfClasses]:
    """What is asked for a defect: a question, the schedules of its search, or its scenario."""
    name = defect.identifier
    if name in questions():
        asked = questions()[name]
        for release in asked.releases:
            yield AskedOfClasses(name, "question", release, asked.digits, partial(_answered, asked, release))
    elif defect.search is not None:
        for world, path in schedules_of(defect.search):
            release = world.profile.name
            ask = partial(_replayed, world, path, defect.search.clause)
            yield AskedOfClasses(name, "schedule", release, digits_of(world.options, write_path(path)), ask)
    elif name in scenarios():
        scenario = scenarios()[name]
        for profile in (scenario.affected, *scenario.also_in):
            if profile.name == profile.release:
                digits = digits_of(meaning_of(dedent(getsource(scenario.play))))
                yield AskedOfClasses(name, "scenario", profile.name, digits, partial(_played, scenario, profile.name))


def _answered(asked: DefectQuestionOfClasses, release: str, twins: TwinsOfReleases) -> RealReplay:
    return asked.replay(twins.jvm(release))


def _replayed(world: World, path: tuple[Step, ...], clause: Property, twins: TwinsOfReleases) -> RealReplay:
    return replay_on(twins.jvm(world.profile.name), world, path, clause)


def _played(scenario: DefectScenario, release: str, twins: TwinsOfReleases) -> RealReplay:
    return twins.play(scenario, release)


def ask_all(tasks: Iterable[AskedOfClasses]) -> Iterator[tuple[AskedOfClasses, RealReplay]]:
    """Ask release by release; where there are no jars of one, that is the reason."""
    by_release: defaultdict[str, list[AskedOfClasses]] = defaultdict(list)
    for task in tasks:
        by_release[task.release].append(task)
    for release, asked in sorted(by_release.items()):
        with TwinsOfReleases() as twins:
            for task in asked:
                if release in RELEASES:
                    yield task, task.ask(twins)
                else:
                    why = f"no jars of RocketMQ {release} are kept"
                    yield task, RealReplay(release, RealOutcome.LEFT_OUT, 0, why)


def findings_of(answers: Iterable[tuple[AskedOfClasses, RealReplay]]) -> dict[str, ClassesFinding]:
    """The records of what was asked, by the ids of the defects."""
    rows: defaultdict[tuple[str, str], list[tuple[str, int, str, str]]] = defaultdict(list)
    for task, replay in answers:
        rows[task.identifier, task.by].append((task.release, replay.steps, task.digits, replay.reason))
    return {name: ClassesFinding(by, tuple(sorted(asked))) for (name, by), asked in sorted(rows.items())}


def main(arguments: Sequence[str]) -> int:
    """Ask, record, write the page; the exit code is 12 where RocketMQ does otherwise than is said."""
    wanted = [defect_called(name) for name in arguments] or list(catalogue().values())
    answers = []
    try:
        for task, replay in ask_all(task for defect in wanted for task in tasks_of(defect)):
            print(f"{task.identifier} {task.release}: {replay.outcome} {replay.reason}".rstrip(), flush=True)
            answers.append((task, replay))
    except ConformanceError as error:
        print(f"halfcheck: {error}", file=sys.stderr)
        return error.exit_code
    recorded = CLASSES_FINDINGS.read() if CLASSES_FINDINGS.path.exists() and arguments else {}
    findings = recorded | findings_of(answers)
    CLASSES_FINDINGS.write({name: findings[name] for name in sorted(findings)})
    write_page()
    return 12 if any(replay.is_different for _, replay in answers) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
