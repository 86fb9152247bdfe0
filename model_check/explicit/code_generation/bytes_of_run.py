"""Any byte of a word of 64 states at once, cut out of the words that are laid out one after the other.

The bytes of eight states are put together by their place in the word, and then eight times eight of these pieces are
transposed: thirty-two instructions for all bytes of a word, or those of them that the wanted ones need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model_check.explicit.code_generation.instructions import Instructions

BYTE = 8
"""Bits of the smallest numbers, and bytes of a word."""

RUN = BYTE * BYTE
"""States that are laid out, word by word in `%columns`, to be looked at by vector instructions."""

_BYTES, _PIECES = f"<{RUN} x i8>", f"<{BYTE} x i64>"


def byte_of_run(code: Instructions, word: int, number: int) -> str:
    """A byte, counted from the lowest, of a word of all states of the run: a vector of as many bytes."""
    return code.value(f"bitcast {_PIECES} {_pieces(code, word, number, 0, BYTE)} to {_BYTES}")


def _pieces(code: Instructions, word: int, number: int, first: int, groups: int) -> str:
    """A vector of pieces, each the same byte of eight states: that byte of so many groups of states, and others."""
    if groups == 1:
        return _of_eight_states(code, word, first)
    half = groups // 2
    left, right = (_pieces(code, word, number, group, half) for group in (first, first + half))
    taken = [unit * groups + number // half % 2 * half for unit in range(BYTE // groups)]
    order = [start + i + BYTE * side for start in taken for side in (0, 1) for i in range(half)]
    return _shuffled(code, _PIECES, left, right, order)


def _of_eight_states(code: Instructions, word: int, group: int) -> str:
    """The words of eight states, all their lowest bytes first."""
    place = code.value(f"getelementptr inbounds [{RUN} x i64], ptr %columns, i64 {word}, i64 {BYTE * group}")
    states = code.value(f"load {_BYTES}, ptr {place}, align {RUN}")
    order = [BYTE * state + byte for byte in range(BYTE) for state in range(BYTE)]
    return code.value(f"bitcast {_BYTES} {_shuffled(code, _BYTES, states, 'poison', order)} to {_PIECES}")


def _shuffled(code: Instructions, kind: str, left: str, right: str, order: list[int]) -> str:
    places = ", ".join(f"i32 {place}" for place in order)
    return code.value(f"shufflevector {kind} {left}, {kind} {right}, <{len(order)} x i32> <{places}>")
