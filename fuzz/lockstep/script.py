"""Scripts: steps that both take, and perhaps one question at their end; how one is run again and made shorter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fuzz.lockstep.forbidden import ask
from fuzz.lockstep.pairing import Mismatch, Pair, Pairing
from model_check.counterexample.steps import read_path, write_path

if TYPE_CHECKING:
    from spec.language import Step


@dataclass(frozen=True, slots=True)
class Script:
    """A sequence of steps for a pair."""

    steps: tuple[Step, ...]
    """In order; those that the specification refuses are passed over."""
    question: Step | None = None
    """A forbidden step that the broker is asked for at the end."""


def run(pairing: Pairing, script: Script) -> Pair:
    """Run a script on a new pair; raises `Mismatch` where the pair disagrees."""
    pair = Pair(pairing)
    _play(pair, script)
    return pair


def _play(pair: Pair, script: Script) -> None:
    for step in script.steps:
        pair.take(step)
    if script.question is not None:
        ask(pair, script.question)
    pair.collect()


def run_text(pairing: Pairing, steps: str, question: str = "") -> Pair:
    """The same from text, steps separated by semicolons; raises `ModelCheckError` for a step that is none."""
    path = read_path(pairing.machine, pairing.constants, steps)
    asked = read_path(pairing.machine, pairing.constants, question)[0] if question else None
    return run(pairing, Script(tuple(path), asked))


def write(script: Script) -> tuple[str, str]:
    """Steps and question as `run_text` reads them."""
    return write_path(script.steps), "" if script.question is None else str(script.question)


def shortest(pairing: Pairing, script: Script, mismatch: Mismatch) -> tuple[Script, Mismatch]:
    """Take steps out as long as the same variable still differs, larger parts first, until no single one can go.

    Gives the shortened script with its mismatch; a script that does not end in the mismatch comes back as it is.
    """
    shorter, found = script, mismatch
    length = len(script.steps)
    while length:
        at = 0
        while at < len(shorter.steps):
            tried = replace(shorter, steps=shorter.steps[:at] + shorter.steps[at + length :])
            again = _ends_in(pairing, tried, mismatch)
            if again is None:
                at += length
            else:
                shorter, found = again
        length //= 2
    return shorter, found


def _ends_in(pairing: Pairing, script: Script, mismatch: Mismatch) -> tuple[Script, Mismatch] | None:
    """The part of a script that ends in a mismatch of the same variable, without refused steps; None if none does."""
    pair = Pair(pairing)
    try:
        _play(pair, script)
    except Mismatch as again:
        if variable_of(again) == variable_of(mismatch):
            return Script(tuple(pair.taken), pair.asked), again
    return None


def variable_of(mismatch: Mismatch) -> str:
    """The variable that differs, without its place in an array.

    Examples
    --------
    >>> variable_of(Mismatch(1, "tick", "half[2].check_times", "1", "0"))
    'half.check_times'
    """
    name, _, rest = mismatch.variable.partition("[")
    return name + rest.partition("]")[2]
