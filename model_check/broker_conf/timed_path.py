"""From a path in ticks to instants in milliseconds: when each step may happen so that the real guards let it.

A `tick` of the path becomes a stretch of time of any positive length. The path is taken once in ticks, to see how each
comparison of instants comes out, and once with open instants and the real constants, where each comparison is answered
the same way if that contradicts nothing. The earliest instants that fit all answers are the schedule.

The shortest path leaves rounds out that do nothing for it, and needs few of them where the instance of ticks scales
`transactionCheckMax` down. So rounds may be put in between, in which the check service does what it must.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from model_check.broker_conf.moments import DeadEndError, Milliseconds, Moment, Ticks, Timeline, let_instants_be_moments
from spec.chapters import broker, escape, network, producer, shutdown
from spec.language import Kind, Machine, MachineState, RangeViolation, Refused, Step, take

TICK = "time_passed"
ROUND_BEGAN = "round_began"
ROUND_ENDED = "round_ended"
CRASHED = "crashed"
ROLE_CHANGED = "role_changed"
"""Events of the actions that make time pass, that begin and end a round, that end the process, that change roles."""

ROUNDS_WAIT_FROM = (ROUND_ENDED, CRASHED, "stopped", "power_lost")
"""Events from which the check service waits for an interval: the end of a round, and a start of the process."""

_STEPS_OF_A_ROUND = (
    "half_passed",
    "put_back_for_immunity",
    "put_back_for_check",
    "put_back_unasked",
    "ops_pulled",
    ROUND_ENDED,
)
ANSWER = producer.answer_check.__name__
_MOST_ATTEMPTS = 4096
_MOST_STEPS_OF_A_ROUND = 64

_ASKS = (ANSWER, escape.deliver_escaped.__name__)
_DECISIONS = (producer.resolve_to_commit.__name__, producer.resolve_to_rollback.__name__)
_SILENCERS = tuple(action.__name__ for action in (network.lose_check, shutdown.stop, broker.crash))


@dataclass(frozen=True, slots=True)
class MoreRounds:
    """Rounds to put in: how many, and before which step of the path, from 0.

    `silencer` is the action by which the checks of each stay without an answer, as that of the path does; with None
    producers answer.
    """

    count: int
    place: int
    silencer: str | None = None


@dataclass(frozen=True, slots=True)
class TimedPath:
    """A path with its instants."""

    path: tuple[Step, ...]
    """The steps, those of the added rounds included."""
    times: tuple[int, ...]
    """Milliseconds since the start at which each happens; for a `tick`, the instant at which it ends."""


class NoInstantsError(Exception):
    """Why there are no instants: the number of the step, from 1, and the rule that refuses it."""

    def __init__(self, number: int, step: Step, rule: str) -> None:
        super().__init__(number, step, rule)
        self.number = number
        self.step = step
        self.rule = rule

    def __str__(self) -> str:
        return f"step {self.number}, {self.step}, is refused: {self.rule}"


def is_path(machine: Machine, constants: object, path: Sequence[Step]) -> bool:
    """Whether the machine takes all steps, one after the other, where a tick is a tick."""
    state = machine.initial(constants)
    return all(take(state, constants, step) is None for step in path)


def answers_in_ticks(machine: Machine, constants: object, path: Sequence[Step]) -> list[list[bool]]:
    """How each comparison of instants comes out, step by step, where a tick is a tick. The path must be one."""
    state = machine.initial(constants)
    let_instants_be_moments(state)
    clock = place_of_clock(state)
    answers: list[list[bool]] = []
    ticks = 0
    oracle = Ticks()
    for step in path:
        state.memory.values[clock] = _moment(oracle, ticks, state.horizon)
        oracle.answers = []
        refused = take(state, constants, step)
        if refused is not None:
            raise AssertionError(step, refused)
        answers.append(oracle.answers)
        ticks += step.action.event == TICK
    return answers


@dataclass(frozen=True, slots=True)
class Habits:
    """Intervals by which a broker does what the specification lets it do at any time."""

    save_interval_ms: int
    """`flushConsumerOffsetInterval`: what a crash loses of the consumer offsets is no older."""
    latest_round_ms: int | None
    """A round begins at most so long after the one before it has ended; the first one behind a change of roles may
    begin at any time. The specification lets every round, from `transactionCheckInterval` on, and so does None."""


class PathTimer:
    """Takes a path with the real constants, in milliseconds, and instants that are open."""

    def __init__(self, machine: Machine, constants: object, habits: Habits) -> None:
        self.constants = constants
        self.habits = habits
        self.state = machine.initial(constants)
        let_instants_be_moments(self.state)
        self.actions = {action.name: action for action in machine.actions}
        self.fillers = [Step(a, ()) for a in machine.actions if a.event in _STEPS_OF_A_ROUND and not a.parameters]
        self.tick = Step(next(a for a in machine.actions if a.event == TICK), ())
        self.begin = Step(next(a for a in machine.actions if a.event == ROUND_BEGAN), ())
        self.timeline = Timeline()
        self.oracle = Milliseconds(self.timeline)
        self.clock = place_of_clock(self.state)
        self.offsets = _offsets(self.state)
        self.length, self.running = (
            next(place for place, slot in enumerate(self.state.memory.slots) if slot.label == label)
            for label in ("half_length", "round.running")
        )
        self.now = 0
        self.round_ended: int | None = None
        self.unsaved_since: int | None = None
        self.path: list[Step] = []
        self.instants: list[int] = []
        self.stretches: list[tuple[int, list[int], int]] = []
        self.most_halves = 0

    def schedule(
        self, path: Sequence[Step], preferred: Sequence[Sequence[bool]], more: MoreRounds
    ) -> TimedPath | NoInstantsError:
        """The earliest instants at which the steps may happen.

        `preferred` says for each step how its comparisons should come out, `more` which rounds to put in.
        """
        try:
            if not more.count:
                self.finish(path, preferred)
            else:
                oldest_copy = self.before_rounds(path[: more.place], preferred)
                for _ in range(more.count):
                    self.round(more.silencer)
                self.finish(path[more.place :], preferred[more.place :], oldest_copy)
        except NoInstantsError as refusal:
            return refusal
        return TimedPath(tuple(self.path), tuple(self.timeline.instants[instant] for instant in self.instants))

    def before_rounds(self, path: Sequence[Step], preferred: Sequence[Sequence[bool]]) -> int:
        """Take the steps before the added rounds; the number of halves then."""
        for step, answers in zip(path, preferred, strict=False):
            self._take(step, answers)
        return self.state.memory.values[self.length]

    def finish(self, path: Sequence[Step], preferred: Sequence[Sequence[bool]], oldest_copy: int | None = None) -> None:
        """Take the steps behind the added rounds, which made the halves from `oldest_copy` on, if there were any."""
        copies = 0
        if oldest_copy is not None:
            self._take(self.tick, ())
            copies = self.state.memory.values[self.length] - oldest_copy
        for step, answers in zip(path, preferred, strict=True):
            self._take(_about_a_later_copy(step, oldest_copy or 0, copies), answers)
        self._judge_stretches()

    def mark(self) -> tuple[Any, ...]:
        """A place to go back to."""
        known = self.now, self.round_ended, self.unsaved_since, self.most_halves
        lengths = len(self.path), len(self.instants), len(self.stretches)
        return list(self.state.memory.values), self.timeline.mark(), known, lengths

    def back(self, mark: tuple[Any, ...]) -> None:
        """Take back all steps since the mark."""
        values, timeline, known, lengths = mark
        self.state.memory.values = list(values)
        self.timeline.back(timeline)
        self.now, self.round_ended, self.unsaved_since, self.most_halves = known
        del self.path[lengths[0] :], self.instants[lengths[1] :], self.stretches[lengths[2] :]

    def _take(self, step: Step, preferred: Sequence[bool]) -> None:
        """Take a step at some instant that fits; raises `NoInstantsError`."""
        number, event = len(self.path) + 1, step.action.event
        self.state.memory.values[self.clock] = _moment(self.oracle, self.now, self.state.horizon)
        before = list(self.state.memory.values) if event == TICK else []
        if event == CRASHED and not self._is_soon_after(self.unsaved_since, self.habits.save_interval_ms):
            raise NoInstantsError(number, step, "the consumer offsets would have been saved before")
        if event == ROUND_BEGAN and not self._is_soon_after(self.round_ended, self.habits.latest_round_ms):
            raise NoInstantsError(number, step, "another round would have come before")
        refused = self._attempt(step, preferred)
        if refused is not None:
            raise NoInstantsError(number, step, refused.rule)
        self.path.append(step)
        if event == TICK:
            self.now = self.timeline.after(self.now)
            self.stretches.append((number, before, self.now))
        if event in ROUNDS_WAIT_FROM:
            self.round_ended = self.now
        elif event == ROLE_CHANGED:
            self.round_ended = None
        self.instants.append(self.now)
        since = self.now if self.unsaved_since is None else self.unsaved_since
        self.unsaved_since = since if self._is_unsaved() else None

    def _is_unsaved(self) -> bool:
        """The consumer offsets in memory are not those in the file."""
        values = self.state.memory.values
        return any(values[place] != values[file] for place, file in self.offsets)

    def round(self, silencer: str | None) -> None:
        """One round more: time passes, the check service does what it must, and producers answer what they know."""
        self._take(self.tick, ())
        self._take(self.begin, ())
        for _ in range(_MOST_STEPS_OF_A_ROUND):
            taken = self._first_of(self.fillers)
            if taken.action.event == ROUND_ENDED:
                break
        action = self.actions[silencer or ANSWER]
        if not action.parameters:
            if silencer == shutdown.stop.__name__:
                self._begin_stop()
            self._take(Step(action, ()), ())
            return
        for half in range(self.state.memory.values[self.length]):
            answer = Step(action, (half,))
            if self._attempt(answer, ()) is None:
                self.path.append(answer)
                self.instants.append(self.now)

    def _begin_stop(self) -> None:
        """A shutdown begins, and its last round, if it has one, comes to its end."""
        self._take(Step(self.actions[shutdown.begin_stop.__name__], ()), ())
        for _ in range(_MOST_STEPS_OF_A_ROUND):
            if not self.state.memory.values[self.running]:
                break
            self._first_of(self.fillers)

    def _first_of(self, steps: Sequence[Step]) -> Step:
        """Take the first step that some instants fit."""
        last: NoInstantsError | None = None
        for step in steps:
            try:
                self._take(step, ())
            except NoInstantsError as refusal:
                last = refusal
            else:
                return step
        raise last or AssertionError(steps)

    def _is_soon_after(self, instant: int | None, interval: int | None) -> bool:
        """Let it be at most an interval since an instant; false when that fits nothing."""
        return instant is None or interval is None or self.timeline.require(instant, self.now, -interval)

    def _judge_stretches(self) -> None:
        """Each stretch of time must be allowed in its last millisecond, too."""
        for number, before, later in self.stretches:
            self.state.memory.values = list(before)
            self.state.memory.values[self.clock] = _moment(self.oracle, later, self.state.horizon - 1)
            refused = self._attempt(self.tick, ())
            if refused is not None:
                raise NoInstantsError(number, self.tick, refused.rule)

    def _attempt(self, step: Step, preferred: Sequence[bool]) -> Refused | None:
        """Take a step with the first answers that let it happen; the state is as before when there are none."""
        self.oracle.begin(preferred)
        first: Refused | None = None
        for _ in range(_MOST_ATTEMPTS):
            values, mark = list(self.state.memory.values), self.timeline.mark()
            try:
                refused = take(self.state, self.constants, step)
            except (DeadEndError, RangeViolation) as error:
                refused = Refused("range", str(error) or "no instants are left that would fit")
            if refused is None:
                self.most_halves = max(self.most_halves, self.state.memory.values[self.length])
                return None
            first = first or refused
            self.state.memory.values = values
            self.timeline.back(mark)
            if not self.oracle.turn():
                break
        return first


def _about_a_later_copy(step: Step, oldest_copy: int, copies: int) -> Step:
    """The step, about a half that is so many places further on if it is about a copy made after the added rounds."""
    arguments = tuple(
        value + copies if choices.constant == "half_slots" and value >= oldest_copy else value
        for value, choices in zip(step.arguments, step.action.parameters.values(), strict=True)
    )
    return Step(step.action, arguments)


def _offsets(state: MachineState) -> list[tuple[int, int]]:
    """Where each consumer offset lies in memory and in the file."""
    places = {slot.path: place for place, slot in enumerate(state.memory.slots)}
    files = {path: ("saved", *path[1:]) for path in places if path[0] == "offsets"}
    return [(places[path], places[file]) for path, file in files.items() if file in places]


def place_of_clock(state: MachineState) -> int:
    """Where the clock lies in the memory of a state."""
    return next(p for p, slot in enumerate(state.memory.slots) if slot.kind is Kind.CLOCK)


def _moment(oracle: Ticks | Milliseconds, instant: int, offset: int) -> int:
    """The clock's reading at a numbered instant; the specification takes it for a number."""
    return cast("int", Moment(oracle, {instant: 1} if instant else {}, offset))


def decided_late(path: Sequence[Step]) -> tuple[Step, ...]:
    """The path in which an unknown outcome is known only when a check is answered: until then others are answered so.

    Nothing else asks for it, so that the path leads to the same state.
    """
    steps: list[Step] = []
    waiting: list[Step] = []
    for step in path:
        if step.action.name in _DECISIONS:
            waiting.append(step)
            continue
        if step.action.name in _ASKS:
            steps += waiting
            waiting = []
        steps.append(step)
    return (*steps, *waiting)


def places_between_rounds(path: Sequence[Step]) -> list[int]:
    """Where rounds may be put in: before a round begins and after one has ended, the last place first."""
    begins = [place for place, step in enumerate(path) if step.action.event == ROUND_BEGAN]
    ends = [place + 1 for place, step in enumerate(path) if step.action.event == ROUND_ENDED]
    return sorted({*begins, *ends} - {0}, reverse=True)


def silencers_of(path: Sequence[Step]) -> list[str | None]:
    """How checks of added rounds may go on: they are lost as one is in the path, are answered, or end as one does."""
    lost, *others = [name if any(step.action.name == name for step in path) else None for name in _SILENCERS]
    return list(dict.fromkeys((lost, None, *others)))


class GrowingRounds:
    """Adds rounds at one place of a path, one after the other, and says how far each number of them comes.

    The timer has room for as many copies as the most rounds make; path and preferred answers are as for
    `PathTimer.schedule`, place and silencer as of `MoreRounds`.
    """

    def __init__(
        self,
        timer: PathTimer,
        path: Sequence[Step],
        preferred: Sequence[Sequence[bool]],
        place: int,
        silencer: str | None,
    ) -> None:
        self._timer = timer
        self._rest = path[place:], preferred[place:]
        self._silencer = silencer
        self._rounds = self._oldest_copy = 0
        self._refusal: NoInstantsError | None = None
        try:
            self._oldest_copy = timer.before_rounds(path[:place], preferred)
        except NoInstantsError as refusal:
            self._refusal = refusal

    def refusal(self, rounds: int, half_slots: int) -> NoInstantsError | None:
        """The refusal of so many rounds, no fewer than were asked about before, where there is room for so many halves.

        None where nothing does, and where less room than the timer has might make a difference.
        """
        timer = self._timer
        try:
            while self._refusal is None and self._rounds < rounds:
                timer.round(self._silencer)
                self._rounds += 1
        except NoInstantsError as refusal:
            self._refusal = refusal
        if self._refusal is not None:
            return self._refusal if timer.most_halves <= half_slots else None
        mark = timer.mark()
        try:
            timer.finish(*self._rest, self._oldest_copy)
        except NoInstantsError as refusal:
            return refusal if timer.most_halves <= half_slots else None
        finally:
            timer.back(mark)
        return None
