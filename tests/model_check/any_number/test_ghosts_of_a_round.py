"""What the comparison leaves out of a state decides nothing: no action reads the ghosts of a round, but to write them.

Read are the terms into which each action is lowered, with all that it calls: its guard, the tests and the places of its
effect, and all values that it writes to other fields, also by way of a local name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from model_check.any_number.compared_instances import SEARCHED, TRIO, WALKED
from model_check.any_number.projection import LEFT_OUT
from model_check.front_end.lower import Lowering
from model_check.front_end.terms import If, Let, LocalTerm, Read, Write, parts, statements_of
from model_check.instances import instance_names, load_instance
from model_check.world import World
from spec.constants import Constants
from spec.language import action, declared_action, require
from spec.state import Producer, State, Stuck
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from model_check.front_end.terms import Conjunct, Statement
    from spec.language import Machine


def reads_of_ghosts(guard: Sequence[Conjunct], effect: Sequence[Statement]) -> list[str]:
    """Where the ghosts are read: the rule of a conjunct, or the field that is written."""
    told: set[str] = set()
    """Local names whose values depend on a ghost."""

    def is_read(term: object) -> bool:
        return any(
            ".".join(part.path) in LEFT_OUT if isinstance(part, Read) else part.name in told
            for part in parts(term, once=True)
            if isinstance(part, Read | LocalTerm)
        )

    for statement in statements_of(effect):
        if isinstance(statement, Let) and is_read(statement.value):
            told.add(statement.name)
    return [
        *(conjunct.rule for conjunct in guard if is_read(conjunct.condition)),
        *_written_by_ghosts(effect, is_read, is_decided=False),
    ]


def _written_by_ghosts(
    effect: Sequence[Statement], is_read: Callable[[object], bool], *, is_decided: bool
) -> Iterator[str]:
    """Fields other than the ghosts whose new value, whose place or whose writing at all depends on a ghost."""
    for statement in effect:
        match statement:
            case If(test, then, otherwise):
                yield from _written_by_ghosts((*then, *otherwise), is_read, is_decided=is_decided or is_read(test))
            case Write(path, index, value):
                name = ".".join(path)
                if name not in LEFT_OUT and (is_decided or is_read(index) or is_read(value)):
                    yield name
            case Let():
                pass
            case _ if is_decided:
                yield type(statement).__name__


def readers(machine: Machine, constants: object) -> dict[str, set[str]]:
    """The actions that read the ghosts, each with where it does, with all switches open; forgetting, too."""
    lowering, found = Lowering(machine, constants), dict[str, set[str]]()
    for step in machine.steps(constants):
        lowered = lowering.action(step)
        if places := reads_of_ghosts(lowered.guard, lowered.effect):
            found.setdefault(lowered.name, set()).update(places)
    if places := reads_of_ghosts((), lowering.forgetting()):
        found["forget"] = set(places)
    return found


@pytest.mark.parametrize("instance", ["crowd", "crowd_odd", "small"])
def test_no_action_reads_a_ghost_of_a_round(instance: str) -> None:
    world = World.of("fixed", (), instance)
    assert readers(world.machine, world.constants) == {}


def test_the_ghosts_are_written() -> None:
    """So that what is said above is said of something."""
    world = World.of("fixed", (), "small")
    lowering = Lowering(world.machine, world.constants)
    written = {
        ".".join(statement.path)
        for step in world.machine.steps(world.constants)
        for statement in statements_of(lowering.action(step).effect)
        if isinstance(statement, Write)
    }
    assert written >= set(LEFT_OUT)


# --- what is refused --------------------------------------------------------------------------------------------------


@action(event="producer_back", place=710)
def asks_in_its_guard(s: State, c: Constants) -> None:
    """A guard."""
    require(s.producer == Producer.OFFLINE and s.stuck_rounds < 2, "no producer is connected, and no round is stuck")
    s.producer = Producer.ONLINE


@action(event="producer_back", place=710)
def asks_before_it_writes(s: State, c: Constants) -> None:
    """The test of a branch."""
    require(s.producer == Producer.OFFLINE, "no producer is connected")
    if s.op_left_behind:
        s.producer = Producer.ONLINE


@action(event="producer_back", place=710)
def writes_what_it_reads(s: State, c: Constants) -> None:
    """A value, by way of a local name and a function."""
    require(s.producer == Producer.OFFLINE, "no producer is connected")
    is_stuck = is_stuck_at_a_write(s)
    s.stuck_rounds = 1 if is_stuck else 0
    s.producer = Producer.ONLINE if is_stuck else Producer.OFFLINE


def is_stuck_at_a_write(s: State) -> bool:
    """What an action calls."""
    return s.stuck == Stuck.FAILED_PUT


@action(event="time_passed", place=900)
def lets_time_pass(s: State, c: Constants) -> None:
    """The clock itself."""
    if s.round.pulls_nothing:
        s.now += 1


@action(event="producer_back", place=710)
def reads_ghosts_for_ghosts(s: State, c: Constants) -> None:
    """This one may."""
    require(s.producer == Producer.OFFLINE, "no producer is connected")
    if s.stuck == Stuck.FAILED_PUT and s.op_left_behind:
        s.stuck_rounds = 0
    s.producer = Producer.ONLINE


@pytest.mark.parametrize(
    ("mutant", "where"),
    [
        (asks_in_its_guard, {"no producer is connected, and no round is stuck"}),
        (asks_before_it_writes, {"producer"}),
        (writes_what_it_reads, {"producer"}),
        (lets_time_pass, {"Tick"}),
        (reads_ghosts_for_ghosts, set()),
    ],
)
def test_an_action_that_reads_a_ghost_is_seen(mutant: Callable[..., None], where: set[str]) -> None:
    own = declared_action(mutant)
    machine = replace(TRANSACTIONAL_MESSAGES, actions=(own,))
    constants = World.of("fixed", (), "small").constants
    assert readers(machine, constants) == ({own.name: where} if where else {})


def test_where_runs_go_on_for_ever_the_clock_reads_one() -> None:
    """Which is why an instance that is endless is neither crowded nor compared with one that is."""
    constants = World.of("fixed", (), "endless").constants
    assert readers(TRANSACTIONAL_MESSAGES, constants) == {"tick": {"a round takes no time"}}
    crowded = [instance for name in instance_names() if (instance := load_instance(name)).crowded == 1]
    assert all(instance.endless == 0 for instance in (*crowded, *SEARCHED, TRIO, WALKED))
