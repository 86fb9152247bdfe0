"""Any byte of a word of 64 states at once, cut out of the words that are laid out one after the other.

The bytes of eight states are put together by their place in the word, and then eight times eight of these pieces are
transposed: thirty-two instructions for all bytes of a word, or those of them that the wanted ones need. One function
cuts those that it wants; where many look at a run, all are cut once, and lie behind the words, in the same array.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from model_check.explicit.code_generation.instructions import Instructions

BYTE = 8
"""Bits of the smallest numbers, and bytes of a word."""

RUN = BYTE * BYTE
"""States that are laid out, word by word in `%columns`, to be looked at by vector instructions."""

_BYTES, _PIECES = f"<{RUN} x i8>", f"<{BYTE} x i64>"


def byte_of_run(code: Instructions, word: int, number: int) -> str:
    """A byte, counted from the lowest, of a word of all states of the run: a vector of as many bytes."""
    return code.value(f"bitcast {_PIECES} {_pieces(code, word, number, 0, BYTE)} to {_BYTES}")


_CUT = """\
define internal void @cut(ptr noalias nocapture %columns) nounwind {{
{text}
}}"""


def cut_all(code: Instructions, widths: Sequence[int]) -> str:
    """`cut(columns)`: puts the bytes of each word of the run, so many as it has, behind the words."""
    code.jump("some")
    code.start("some")
    for word, width in enumerate(widths):
        for number in range(width):
            pieces = _pieces(code, word, number, 0, BYTE)
            code.do(f"store {_PIECES} {pieces}, ptr {_place_of_byte(code, len(widths), word, number)}, align {RUN}")
    code.do("ret void")
    return _CUT.format(text=code.text())


def byte_that_was_cut(code: Instructions, words: int, word: int, number: int) -> str:
    """The same behind `cut`."""
    return code.value(f"load {_BYTES}, ptr {_place_of_byte(code, words, word, number)}, align {RUN}")


def _place_of_byte(code: Instructions, words: int, word: int, number: int) -> str:
    return code.value(f"getelementptr inbounds [{RUN} x i8], ptr %columns, i64 {(words + word) * BYTE + number}")


def _pieces(code: Instructions, word: int, number: int, first: int, groups: int) -> str:
    """A vector of pieces, each the same byte of eight states: that byte of so many groups of states, and others."""
    if groups == 1:
        return _of_eight_states(code, word, first)
    half = groups // 2
    left, right = (_pieces(code, word, number, group, half) for group in (first, first + half))
    return _shuffled(code, _PIECES, left, right, _interleaving(groups, number // half % 2))


@cache
def _interleaving(groups: int, side: int) -> str:
    """Which of two vectors of pieces are taken: of each the lower or the upper half of so many groups of states."""
    half = groups // 2
    starts = [unit * groups + side * half for unit in range(BYTE // groups)]
    return _places(start + i + BYTE * other for start in starts for other in (0, 1) for i in range(half))


def _of_eight_states(code: Instructions, word: int, group: int) -> str:
    """The words of eight states, all their lowest bytes first."""
    place = code.value(f"getelementptr inbounds [{RUN} x i64], ptr %columns, i64 {word}, i64 {BYTE * group}")
    states = code.value(f"load {_BYTES}, ptr {place}, align {RUN}")
    return code.value(f"bitcast {_BYTES} {_shuffled(code, _BYTES, states, 'poison', _BY_PLACE)} to {_PIECES}")


def _shuffled(code: Instructions, kind: str, left: str, right: str, order: str) -> str:
    return code.value(f"shufflevector {kind} {left}, {kind} {right}, {order}")


def _places(order: Iterable[int]) -> str:
    places = [f"i32 {place}" for place in order]
    return f"<{len(places)} x i32> <{', '.join(places)}>"


_BY_PLACE = _places(BYTE * state + byte for byte in range(BYTE) for state in range(BYTE))
