"""Hypothesis drives the pair: an example is a workload and a string of draws (`fuzz.search.workloads`).

A found script is not shrunk draw by draw, because what a draw means depends on the state; `fuzz.lockstep.script`
takes single steps out instead.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir

from fuzz.lockstep.forbidden import ask
from fuzz.lockstep.pairing import Mismatch, Pair, Pairing, StrayedError
from fuzz.lockstep.script import Script
from fuzz.search.workloads import MoveTable, Note
from model_check.cache_folder import cache_folder

if TYPE_CHECKING:
    from collections.abc import Callable


_STRIDE = 7_919
"""A prime: so that the probes of an example go through all steps in an order of their own."""


_HYPOTHESIS_FOLDER = "HYPOTHESIS_STORAGE_DIRECTORY"

_BYTES = 3
"""Bytes of a draw."""


@dataclass(frozen=True, slots=True)
class FuzzFailure:
    """A mismatch, and the script on which it was found."""

    mismatch: Mismatch
    script: Script


@dataclass
class Fuzzing:
    """The result of some examples."""

    examples: int = 0
    steps: int = 0
    """How many were run, and how many steps both took in them."""
    failure: FuzzFailure | None = None
    """The first mismatch, which ends the run."""
    states: set[tuple[int, ...]] = field(default_factory=set)
    """The canonical states that were seen, where they are counted."""
    seconds: float = 0.0


def fuzz(
    pairing: Pairing,
    *,
    examples: int,
    steps: int,
    random_seed: int,
    note: Note = lambda *_: None,
    counts_states: bool = False,
    report: Callable[[Fuzzing], None] | None = None,
) -> Fuzzing:
    """Run examples until one fails; the same seed gives the same examples.

    Parameters
    ----------
    steps
        The most steps of an example.
    note
        Called with each step that was tried, and the rule that refused it.
    counts_states
        Whether to keep the canonical states, for small instances.
    report
        Is called after each example.
    """
    leave_no_files_here()
    done = Fuzzing()
    table = MoveTable.of(pairing)
    started = perf_counter()

    def example(workload: int, drawn: bytes) -> None:
        pair = Pair(pairing)
        is_replayed = done.failure is not None
        try:
            _run(pair, table, workload, _numbers(drawn), steps, note, done.states if counts_states else None)
            pair.collect()
        except StrayedError:
            pass
        except Mismatch as mismatch:
            if not is_replayed:
                done.failure = FuzzFailure(mismatch, Script(tuple(pair.taken), pair.asked))
            raise
        finally:
            if not is_replayed:
                done.examples += 1
                done.steps += len(pair.taken)
                done.seconds = perf_counter() - started
        if report is not None:
            report(done)

    # One long string, not a list: Hypothesis would repeat and copy elements of a list, and examples would look alike.
    drawn = st.binary(min_size=steps * _BYTES, max_size=steps * _BYTES)
    run = given(st.integers(0, len(table.draws) - 1), drawn)(example)
    # Hypothesis ends with the first mismatch, which it shows once more; that one is not counted.
    with suppress(Mismatch):
        seed(random_seed)(_generate_only(examples)(run))()
    return done


def _generate_only(examples: int) -> settings:
    return settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        report_multiple_bugs=False,
    )


def leave_no_files_here() -> None:
    """Let Hypothesis store the constants of modules in the project's cache, unless a folder is set."""
    if _HYPOTHESIS_FOLDER not in os.environ:
        set_hypothesis_home_dir(cache_folder() / "hypothesis")


def _numbers(drawn: bytes) -> list[int]:
    return [int.from_bytes(drawn[at : at + _BYTES], "big") for at in range(0, len(drawn), _BYTES)]


def _run(
    pair: Pair,
    table: MoveTable,
    workload: int,
    draws: list[int],
    steps: int,
    note: Note,
    states: set[tuple[int, ...]] | None,
) -> None:
    """One example: after each move, one question about what may be forbidden."""
    for step in table.starts[workload]:
        note(step, pair.take(step))
    for number, draw in enumerate(draws):
        table.move(pair, workload, draw, note)
        probe = table.probes[(draw + number * _STRIDE) % len(table.probes)]
        note(probe, ask(pair, probe))
        if states is not None:
            states.add(pair.state.canonical())
        if len(pair.taken) >= steps:
            return
