"""Traces that name the action of each event, as walks of the specification do: each is taken as it is named.

What an event does not say (a parameter of its action) stays open: the set of all states that the events so far allow is
carried along.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from model_check.counterexample.steps import TICKS
from model_check.trace_validation.workspace import with_faults
from model_check.world import Environment
from spec.constants import FAULTS, Constants
from spec.language import NONE, RangeViolation, Refused, Step, take
from spec.observation import itself
from spec.state import State
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SEEN: Final = ("transaction", "half", "copy", "op", "check_times", "outcome")
"""The fields of an event that its action shows."""

_MOST_STATES = 10_000
_MOST_NEAREST = 8


@dataclass(frozen=True, slots=True)
class NamedEvent:
    """An event with its action."""

    action: str
    time: int  # the ticks since the beginning
    seen: tuple[int, ...]  # the values of `SEEN`


@dataclass(frozen=True, slots=True)
class Followed:
    """How far a trace was followed."""

    explained: int  # so many events are steps of the specification
    faults: dict[str, int]  # the faults that they need, each with how often
    guard: str | None = None  # what refuses the next event, with its kind before the colon; None if all are explained
    nearest: tuple[str, ...] = ()  # actions that were possible instead


@dataclass(frozen=True, slots=True)
class _Way:
    """A state's values, and the faults that a way to it needs, each as often as it does."""

    values: tuple[int, ...]
    needed: tuple[str, ...]


class TooManyStatesError(Exception):
    """The events leave open so much that the states which they allow are too many to carry along."""


def follow(events: Iterable[NamedEvent], constants: Constants) -> Followed:
    """Take the steps that events tell of, from the initial state on.

    Faults that are off are turned on where an event needs them, and counted.

    Raises
    ------
    TooManyStatesError
        After some event.
    """
    return _Follower(constants).follow(events)


class _Follower:
    def __init__(self, constants: Constants) -> None:
        self._constants = constants
        self._state = State(constants)
        self._clock = 0
        self._steps: dict[str, list[Step]] = defaultdict(list)
        for step in TRANSACTIONAL_MESSAGES.steps(constants):
            self._steps[step.action.name].append(step)
        self._with: dict[str, Constants] = {}
        self._refused: Counter[str] = Counter()

    def follow(self, events: Iterable[NamedEvent]) -> Followed:
        start = self._state.canonical()
        ways = {start: _Way(start, ())}
        explained = 0
        for event in events:
            self._refused.clear()
            self._clock += self._ticks(event.action)
            further: dict[tuple[int, ...], _Way] = {}
            for way in ways.values():
                for reached in self._take(way, event):
                    known = further.get(reached.values)
                    if known is None or len(reached.needed) < len(known.needed):
                        further[reached.values] = reached
            if not further:
                return Followed(explained, _counted(ways.values()), self._guard(event), self._nearest(ways.values()))
            if len(further) > _MOST_STATES:
                message = f"event {explained} leaves more than {_MOST_STATES} states open"
                raise TooManyStatesError(message)
            ways = further
            explained += 1
        return Followed(explained, _counted(ways.values()))

    def _take(self, way: _Way, event: NamedEvent) -> Iterable[_Way]:
        """Each step of the event's action that is possible and shows what the event says."""
        event_fields = dict(zip(SEEN, event.seen, strict=True))
        for step in self._steps.get(event.action, ()):
            shown = step.action.shows
            first = next((event_fields[name] for name, function in shown.items() if function is itself), None)
            if first is not None and step.arguments[0] != first:
                continue
            world = self._world(way, step)
            if world is None:
                continue
            constants, needed = world
            gives = {name: self._shown(shown, name, step, constants) for name in SEEN}
            differing = next((name for name in SEEN if gives[name] != event_fields[name]), None)
            if differing is not None:
                self._refused[
                    f"record: {step} gives {differing} {gives[differing]}, not {event_fields[differing]}"
                ] += 1
            elif self._clock != event.time:
                self._refused[f"record: {step} leaves the broker's clock at {self._clock}, not {event.time}"] += 1
            else:
                yield _Way(self._state.canonical(), (*way.needed, *needed))

    def _ticks(self, action: str) -> int:
        return next((TICKS.get(step.action.event, 0) for step in self._steps.get(action, ())), 0)

    def _shown(self, shown: Any, name: str, step: Step, constants: Constants) -> int:
        if name not in shown:
            return 0 if name == "outcome" else NONE
        return int(shown[name](self._state, constants, *step.arguments[:1]))

    def _world(self, way: _Way, step: Step) -> tuple[Constants, tuple[str, ...]] | None:
        """Take the step, with the fault that it needs, if any; the constants under which it is possible."""
        refused = self._try(way, step, self._constants)
        if refused is None:
            return self._constants, ()
        if refused.kind == "assume":
            for fault in FAULTS:
                constants = self._with.setdefault(fault, with_faults(self._constants, Environment([fault])))
                if self._try(way, step, constants) is None:
                    return constants, (fault,)
        self._refused[f"{refused.kind}: {refused.rule}"] += 1
        return None

    def _try(self, way: _Way, step: Step, constants: Constants) -> Refused | None:
        self._state.load(way.values)
        try:
            refused = take(self._state, constants, step)
            self._state.canonical()
        except RangeViolation as violation:
            return Refused("range", str(violation))
        return refused

    def _guard(self, event: NamedEvent) -> str:
        """The guard that refused most of the ways to the event, a value that differs before a rule."""
        if event.action not in self._steps:
            return f"record: the specification has an action {event.action}"
        differing = [guard for guard in self._refused if guard.startswith("record: ")]
        if differing:
            return differing[0]
        if not self._refused:
            return f"record: the instance has the places that {event.action} names"
        return self._refused.most_common(1)[0][0]

    def _nearest(self, ways: Iterable[_Way]) -> tuple[str, ...]:
        """Steps that were possible, in the order of the specification."""
        way = next(iter(ways))
        possible = (
            str(step)
            for steps in self._steps.values()
            for step in steps
            if self._try(way, step, self._constants) is None
        )
        return tuple(step for step, _ in zip(possible, range(_MOST_NEAREST), strict=False))


def _counted(ways: Iterable[_Way]) -> dict[str, int]:
    fewest: Sequence[str] = min((way.needed for way in ways), key=len)
    return dict(sorted(Counter(fewest).items()))
