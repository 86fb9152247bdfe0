"""The answer of `halfcheck odds` in words: the probability of each clause to all its digits, and what bounds them."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING, Final

from document.parts import Paragraph, Part, Tone, tabulated
from document.words import counted
from files.durations import taken
from model_check.wording.clauses import meaning_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model_check.probabilities.answer import ClauseProbability, ProbabilityAnswer
    from model_check.probabilities.solve import Probability

MOST_DIGITS: Final = 12


def odds(answer: ProbabilityAnswer) -> Iterator[Part]:
    """What a run may violate, likeliest first; what walks say of it; what never happens, and what is left out."""
    world, size = answer.world, answer.world.instance
    yield Paragraph(
        f"RocketMQ {world.profile} {world.environment.beside_a_profile}, instance {size.name} "
        f"({counted(size.transactions, 'transaction')}), weights {answer.weights.name}: how likely a run is to violate "
        "each clause",
        Tone.TITLE,
    )
    if answer.rows:
        columns = ["clause", ">ever", ">once in"]
        if answer.steps is not None:
            columns.append(f">within {answer.steps} steps")
        if answer.sampled:
            columns += [">of the walks", "95 %"]
        if answer.split is not None:
            columns += [">by splitting", "95 %"]
        yield tabulated(*columns, "~what it does", rows=[_cells(answer, row) for row in answer.rows])
    if answer.never:
        yield Paragraph(f"no run violates {counted(len(answer.never), 'other clause')} of those asked for", Tone.GOOD)
    yield from _bounds(answer)


def _cells(answer: ProbabilityAnswer, row: ClauseProbability) -> Iterator[str]:
    yield row.name
    yield in_digits(row.ever)
    yield f"{1 / row.ever.value:,.0f}" if row.ever.value else "-"
    if row.within is not None:
        yield in_digits(row.within)
    if answer.sampled:
        share = answer.sampled[row.clause]
        yield f"{share.share:.6g}"
        yield _between(*share.interval())
    if answer.split is not None:
        estimate = answer.split.estimates.get(row.clause)
        yield f"{estimate.share:.4g}" if estimate else "not met"
        yield _between(*estimate.interval) if estimate else ""
    yield meaning_of(row.clause).harm


def _between(low: float, high: float) -> str:
    return f"{low:.4g} to {high:.4g}"


def in_digits(probability: Probability) -> str:
    """A probability to the digits that its error leaves, twelve at most; or between what it is at least and at most.

    Examples
    --------
    >>> from model_check.probabilities.solve import Probability
    >>> in_digits(Probability(1 / 3, 1e-6)), in_digits(Probability(1 / 3, 1e-16)), in_digits(Probability(0.0, 0.0))
    ('0.33333', '0.333333333333', '0')
    >>> in_digits(Probability(0.25, 1e-16, 0.125))
    '0.25 to 0.375'
    """
    value = probability.value
    if probability.unknown:
        return _between(value, min(value + probability.unknown, 1.0))
    if not value:
        return "0"
    digits = MOST_DIGITS if not probability.error else floor(-log10(probability.error / value))
    return f"{value:.{min(max(digits, 1), MOST_DIGITS)}g}"


def _bounds(answer: ProbabilityAnswer) -> Iterator[Part]:
    """How large the chain is, and what it does not know."""
    size = answer.world.instance
    error = max((row.ever.error for row in answer.rows), default=0.0)
    extent = "all reachable states" if answer.is_whole else "CUT SHORT: not all reachable states"
    yield Paragraph(
        f"{extent}: {answer.states:,}, {answer.transitions:,} transitions; solved to {error:.0e}, rounding included; "
        f"{taken(answer.seconds)}"
    )
    if not answer.is_whole:
        yield Paragraph("from .. to: what runs that leave the expanded states may add; --max-states expands more")
    if answer.split is not None:
        yield Paragraph(f"split walks: {answer.split.expanded:,} states expanded, searches included")
    least = "at least " if answer.full_queue.unknown else ""
    yield Paragraph(
        f"of an instance: {counted(size.mishaps, 'mishap')} of the broker in a run at most, queues of "
        f"{size.half_slots} halves and {size.op_slots} op messages; {least}{answer.full_queue.value:.1%} of the runs "
        "fill one of them, and what a longer one would let happen then is left out"
    )
