"""A chain as a file of Storm's explicit format, DRN: whole states, exact probabilities as fractions, clauses as labels.

The format is that of Storm's DirectEncodingParser (https://www.stormchecker.org/documentation/background/languages.html).
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Final

import numpy as np

from files.writing import appearing
from model_check.clauses import name_of
from model_check.errors import ModelCheckError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from model_check.probabilities.chain import Chain
    from spec.language import Property


SUFFIX: Final = ".drn"


def label_of(clause: Property) -> str:
    """The label of the states that violate a clause, a name in Storm's properties: `S1_immune_half`."""
    return name_of(clause).replace(".", "_")


def refuse_other_names(path: Path) -> None:
    """Refuse a file of another name, before a long search: `ModelCheckError`, which says what is expected."""
    if path.suffix != SUFFIX:
        message = f"{path}: expected the name of a file that ends in {SUFFIX}, the format of Storm"
        raise ModelCheckError(message)


def write_drn(chain: Chain, clauses: Sequence[Property], path: Path) -> None:
    """Write a whole chain; states that violate one of these clauses are labelled.

    Raises
    ------
    ModelCheckError
        Not all its states were expanded, so that another tool would take for an end what is none.
    UnwritableFileError
        The file cannot be written.
    """
    if not chain.is_whole:
        message = (
            f"{path}: {chain.states:,} states were found, and not all expanded: a file of them would say that runs "
            "end there; give a larger --max-states"
        )
        raise ModelCheckError(message)
    with appearing(path) as unfinished, unfinished.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in _lines(chain, clauses))


def _lines(chain: Chain, clauses: Sequence[Property]) -> Iterator[str]:
    yield f"// RocketMQ {chain.world.title}; weights: {chain.weights.name}"
    yield from ("@type: DTMC", "@parameters", "", "@reward_models", "")
    yield from ("@nr_states", str(chain.states), "@nr_choices", str(chain.states), "@model")
    weights = chain.weight_between
    starts, targets, parts = weights.indptr.tolist(), weights.indices.tolist(), weights.data.astype(np.int64).tolist()
    labels = [label_of(clause) for clause in clauses]
    violating = chain.violating(clauses)
    for state, violated in enumerate(violating):
        names = ["init"] * (state == 0) + [labels[place] for place in np.flatnonzero(violated)]
        yield " ".join([f"state {state}", *names])
        yield "\taction 0"
        row = range(starts[state], starts[state + 1])
        total = sum(parts[at] for at in row)
        for at in row:
            divisor = gcd(parts[at], total)
            yield f"\t\t{targets[at]} : {parts[at] // divisor}/{total // divisor}"
