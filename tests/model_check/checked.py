"""One check, made once a worker however many tests look at it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from functools import cache, wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from model_check.check import check
from model_check.engines import ENGINES
from model_check.question import Question
from model_check.world import Environment, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from model_check.finding import Finding

P = ParamSpec("P")
R = TypeVar("R")


@cache
def checked(profile: str, environment: str, instance: str, engine: str = "numba", threads: int = 1) -> Finding:
    """`check` with the faults as one text, such as `crash,slow_round`; `quiet` is the world without faults."""
    with untraced():
        world = World.of(profile, Environment.named(environment), instance)
        return check(Question(world=world), ENGINES[engine], threads=threads)


@contextmanager
def untraced() -> Iterator[None]:
    """A search takes the same lines a million times; smaller tests show the coverage tool that they were taken."""
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)


def at_full_speed(function: Callable[P, R]) -> Callable[P, R]:
    """The function, each call of it untraced: for the long parts of a test that is traced otherwise."""

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> R:
        with untraced():
            return function(*arguments, **named)

    return call


def violations(finding: Finding) -> dict[str, int]:
    """Clause → depth of its shortest violation."""
    return {row.name: row.depth for row in finding.violated.values()}
