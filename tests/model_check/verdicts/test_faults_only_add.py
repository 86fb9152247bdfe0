"""A fault only adds behaviour: what smaller sets of faults reach and break, larger ones reach and break, too.

The search for minimal sets relies on it. Shown in two ways: on the source, where faults may only open guards, and by
searching random environments and larger ones around them.
"""

from __future__ import annotations

import pathlib
import random
from dataclasses import fields, is_dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pytest

from model_check.explicit.search import Exploration, explore
from model_check.front_end.lower import Lowering
from model_check.front_end.terms import Apply, If, Let, LocalTerm, Read, Switch, Write
from model_check.world import Environment, World
from spec.constants import FAULTS
from spec.language import Kind, widest_layout
from spec.profiles import PROFILES, distinct
from spec.state import State
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.sampled import sampled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model_check.front_end.terms import Path, Statement

MACHINE = TRANSACTIONAL_MESSAGES
MOST_STATES = 100_000

Words = npt.NDArray[np.uint64]


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def faults_in(term: object) -> set[str]:
    if isinstance(term, Switch):
        return {term.name}
    if isinstance(term, tuple):
        return {name for part in term for name in faults_in(part)}
    if is_dataclass(term):
        return {name for field in fields(term) for name in faults_in(getattr(term, field.name))}
    return set()


def faults_that_may_close(condition: object) -> set[str]:
    """Those that stand anywhere but under `and` and `or`: turned on, they might make the condition false."""
    if isinstance(condition, Switch):
        return set()
    if isinstance(condition, Apply) and condition.operator in ("and", "or"):
        return {name for part in condition.arguments for name in faults_that_may_close(part)}
    return faults_in(condition)


IDLE = {"4.5.1": {"acting_slave"}, "4.9.7": {"acting_slave"}, "fixed": {"slow_dispatch", "op_write_failure"}}
"""Faults that open no guard of a version: what they need is not in it."""

OF_PROXIES = {"restart_proxy", "other_proxy", "slow_proxy", "shared_topic"}
"""Those that open no guard where no proxy stands."""

IDLE_HERE = {"tiny": {"late_persist", *OF_PROXIES}, "proxied": {"late_persist", "clock_skew"}}
"""Those that open no guard of the instances that are read here, which save offsets whenever they like."""

PROXIED = str(pathlib.Path(__file__).parents[1] / "instances" / "nano_proxied.toml")

BOOKKEEPING: dict[tuple[str, ...], str] = {("flushed", "halves"): "power_loss", ("flushed", "ops"): "power_loss"}
"""Fields that are kept only where a fault may ask for them, so that other worlds have no more states for them.

Nothing but an action that needs the fault reads them: `spec.chapters.broker.flush`, which a repair calls in every
world, leaves zero in them where no power loss can come.
"""


def written_by_fault(statements: tuple[Statement, ...], known: frozenset[str] = frozenset()) -> dict[Path, set[str]]:
    """Each field with the faults that decide what is written into it; `known` are those that decide whether."""
    written: dict[Path, set[str]] = {}
    of_local: dict[str, set[str]] = {}

    def faults_of(term: object) -> set[str]:
        return faults_in(term) | {name for local in locals_in(term) for name in of_local.get(local, set())}

    for statement in statements:
        if isinstance(statement, Let):
            of_local[statement.name] = of_local.get(statement.name, set()) | faults_of(statement.value) | known
        elif isinstance(statement, Write):
            names = faults_of(statement.value) | faults_of(statement.index) | known
            written.setdefault(statement.path, set()).update(names)
        elif isinstance(statement, If):
            test = known | faults_of(statement.test)
            for branch in (statement.then, statement.otherwise):
                for path, names in written_by_fault(branch, frozenset(test)).items():
                    written.setdefault(path, set()).update(names)
        else:
            assert not known, "the clock depends on a fault"
    return {path: names for path, names in written.items() if names}


def parts_of(term: object) -> Iterator[object]:
    """The term and all terms in it."""
    yield term
    if isinstance(term, tuple):
        for part in term:
            yield from parts_of(part)
    elif is_dataclass(term):
        for field in fields(term):
            yield from parts_of(getattr(term, field.name))


def beside_bookkeeping(statements: tuple[Statement, ...]) -> Iterator[object]:
    """All but what writes such a field: it may well be made of what stood there."""
    for statement in statements:
        if isinstance(statement, If):
            yield statement.test
            yield from (*beside_bookkeeping(statement.then), *beside_bookkeeping(statement.otherwise))
        elif not isinstance(statement, Write) or statement.path not in BOOKKEEPING:
            yield statement


def locals_in(term: object) -> set[str]:
    return {part.name for part in parts_of(term) if isinstance(part, LocalTerm)}


@pytest.mark.parametrize(("instance", "profile"), [*product(["tiny"], distinct(PROFILES)), ("proxied", "5.5.1")])
def test_in_the_source_faults_only_open_guards(instance: str, profile: str) -> None:
    constants = World.of(profile, (), instance).constants
    lowering = Lowering(replace(MACHINE, switches=FAULTS), constants)
    opened: set[str] = set()
    for step in MACHINE.steps(constants):
        action = lowering.action(step)
        assumed: set[str] = set()
        for conjunct in action.guard:
            assert faults_that_may_close(conjunct.condition) == set(), f"{step}: {conjunct.rule}"
            found = faults_in(conjunct.condition)
            assert not found or conjunct.kind == "assume", f"{step}: {conjunct.rule}"
            assumed |= {conjunct.condition.name} if isinstance(conjunct.condition, Switch) else set()
            opened |= found
        for path, names in written_by_fault(action.effect).items():
            assert names == {BOOKKEEPING.get(path)}, f"the effect of {step} on {path} depends on a fault"
        for part in parts_of((action.guard, *beside_bookkeeping(action.effect))):
            if isinstance(part, Read) and part.path in BOOKKEEPING:
                assert BOOKKEEPING[part.path] in assumed, f"{step} reads {part.path}"
    assert set(FAULTS) - opened == IDLE.get(profile, set()) | IDLE_HERE[instance]


def test_in_the_source_no_property_knows_of_faults() -> None:
    constants = World.of("5.3.3", (), "tiny").constants
    lowering = Lowering(replace(MACHINE, switches=FAULTS), constants)
    for claim in (*MACHINE.clauses, *MACHINE.witnesses):
        chosen = product(*(choices.values(constants) for choices in claim.parameters.values()))
        told = tuple(lowering.claim(claim, arguments) for arguments in chosen)
        assert faults_in(told) == set()
        assert not {part.path for part in parts_of(told) if isinstance(part, Read)} & set(BOOKKEEPING)


def explored(profile: str, faults: tuple[str, ...], instance: str = "tiny") -> Exploration:
    return explore(MACHINE, World.of(profile, faults, instance).constants, most_states=MOST_STATES)


def reached(found: Exploration, depth: int) -> Words:
    """The states at most so many steps from the start; searched with one thread, so that levels follow one another.

    What is kept for a fault only is left out: the fields of `BOOKKEEPING`, and of each age the tick that a step back of
    the clock would take, so that instants which all guards take for long ago are the same in all worlds.
    """
    words = found.store.all_words()[: int(found.levels[depth + 1].sum())].view(np.uint64).copy()
    places = found.compiled.packing.places
    for slot in widest_layout(State, found.constants):
        if slot.kind is Kind.CLOCK:
            continue
        (place,) = (p for p in places[slot.path] if p.first <= (slot.index or 0) < p.first + p.length)
        shift = np.uint64(place.shift + place.width * ((slot.index or 0) - place.first))
        mask = np.uint64((1 << place.width) - 1)
        value = (words[:, place.word] >> shift) & mask
        kept = value * np.uint64(slot.path not in BOOKKEEPING)
        if slot.kind is Kind.INSTANT:
            kept = np.maximum(kept, np.uint64(1))
        words[:, place.word] ^= (value ^ kept) << shift
    return words


def is_subset(few: Words, many: Words) -> bool:
    """All rows of the one are rows of the other."""
    rows, whole = (np.ascontiguousarray(words).view(f"V{words.shape[1] * 8}").ravel() for words in (few, many))
    return bool(np.isin(rows, whole).all())


@pytest.mark.parametrize("seed", sampled(range(12), 3))
def test_a_larger_environment_reaches_and_breaks_all_that_a_smaller_one_does(seed: int) -> None:
    chance = random.Random(seed)
    profile = chance.choice(distinct(PROFILES))
    smaller = Environment.of(chance.sample(FAULTS, chance.randint(0, 2)))
    larger = Environment.of({*smaller, *chance.sample(FAULTS, chance.randint(1, 2))})
    few, many = explored(profile, smaller), explored(profile, larger)
    depth = min(whole_levels(few), whole_levels(many))
    assert depth >= 5
    assert is_subset(reached(few, depth), reached(many, depth))
    for at, sooner in zip(few.seen_at, many.seen_at, strict=True):
        if at is not None and at <= depth:
            assert sooner is not None
            assert sooner <= at


@pytest.mark.parametrize("fault", sampled(FAULTS, 3))
def test_each_fault_adds_to_the_quiet_world(fault: str) -> None:
    """All that is reached and broken without a fault is reached and broken with it, in all versions and as repaired."""
    instance = PROXIED if fault in OF_PROXIES else "tiny"
    for profile in ("4.5.1", "5.3.3", "fixed"):
        few, many = explored(profile, (), instance), explored(profile, (fault,), instance)
        assert few.complete
        depth = min(whole_levels(few), whole_levels(many))
        assert depth >= 15
        assert is_subset(reached(few, depth), reached(many, depth))
        assert all(
            sooner is not None and sooner <= at
            for at, sooner in zip(few.seen_at, many.seen_at, strict=True)
            if at is not None and at <= depth
        )


def whole_levels(found: Exploration) -> int:
    return found.depth if found.complete else found.depth - 1
