"""Runs: 64 states laid out word by word (`%columns`), so that one vector instruction reads a field of all of them.

The words of eight states are loaded state by state and transposed by three rounds of shuffles, which takes half as long
as moving word by word. A byte of a word is extracted for all states of a run in the same way: the bytes of eight states
are sorted by their place in the word, then eight times eight of these pieces are transposed, thirty-two instructions
for all bytes of a word. One function extracts the bytes that it wants; where many read a run, all are extracted once,
and lie behind the words, in the same array.
"""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from model_check.explicit.code_generation.instructions import Instructions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from model_check.explicit.code_generation.packing import Packing

BYTE = 8  # bits of the smallest numbers, and bytes of a word
RUN = BYTE * BYTE  # states of a run
ALIGNMENT = 2 * RUN  # of the words of a run, in bytes
EIGHT = 8  # states that are transposed together, and words of each

EIGHT_WORDS = f"<{EIGHT} x i64>"
_MASKED_LOAD = f"{EIGHT_WORDS} @llvm.masked.load.v{EIGHT}i64.p0"
LOAD = f"declare {_MASKED_LOAD}(ptr, i32, <{EIGHT} x i1>, {EIGHT_WORDS})"
"""The declaration that a module with transpositions needs."""

# --- a function over all runs of some states --------------------------------------------------------------------------

_RUNS = """\
define i64 @{function}({given}) nounwind {{
entry:
  %columns = alloca [2 x [{words} x [{run} x i64]]], align {alignment}
  call void @llvm.memset.p0.i64(ptr align {alignment} %columns, i8 0, i64 {size}, i1 false)
  {entry}
  br label %lay.out
lay.out:
  %base = phi i64 [ %first, %entry ], [ %base.next, %call.{calls} ]
  %n = phi i64 [ 0, %entry ], [ {result}, %call.{calls} ]
  %rest = sub nsw i64 %last, %base
  %count = call i64 @llvm.smin.i64(i64 %rest, i64 {run})
  %last.state = sub nsw i64 %last, 1
  br label %eight
{transposition}
{body}
call.{calls}:
  %base.next = add nsw i64 %base, {run}
  %is.over = icmp sge i64 %base.next, %last
  br i1 %is.over, label %over, label %lay.out
over:
  ret i64 {result}
}}"""


def run_loop(
    words: int, function: str, given: str, body: Sequence[str], calls: int, result: str, entry: str = ""
) -> str:
    """A function that lays out the states from first to last, `RUN` at a time, in `columns`, and does the body.

    The body is the blocks `call.0` and so on, as many as there are calls, each going on to the next.
    """
    return _RUNS.format(
        function=function, given=given, words=words, run=RUN, size=8 * RUN * words, alignment=ALIGNMENT,
        transposition=transposition(words, "call.0"), body="\n".join(body), calls=calls, result=result, entry=entry,
    )  # fmt: skip


def transposition(words: int, then: str) -> str:
    """The block `eight`, which fills the columns; where states are missing, the last one is repeated."""
    code = Instructions()
    code.start("eight")
    code.do("%i = phi i64 [ 0, %lay.out ], [ %i.next, %eight ]")
    begin = code.value("add nsw i64 %base, %i")
    states = [code.value(f"add nsw i64 {begin}, {state}") for state in range(EIGHT)]
    states = [code.value(f"call i64 @llvm.smin.i64(i64 {x}, i64 %last.state)") for x in states]
    for first in range(0, words, EIGHT):
        count = min(words - first, EIGHT)
        columns = _transposed(code, [_row(code, x, words, first, count) for x in states])
        for word, column in enumerate(columns[:count], start=first):
            code.do(f"store {EIGHT_WORDS} {column}, ptr {column_address(code, word, '%i')}, align {EIGHT * BYTE}")
    code.do(f"%i.next = add nsw i64 %i, {EIGHT}")
    code.do("%are.all = icmp sge i64 %i.next, %count")
    code.branch("%are.all", then, "eight")
    return code.blocks_after_entry()


def column_address(code: Instructions, word: int, lane: str | int) -> str:
    """The address of a word of a state of the run."""
    return code.value(f"getelementptr inbounds [{RUN} x i64], ptr %columns, i64 {word}, i64 {lane}")


def _row(code: Instructions, x: str, words: int, first: int, count: int) -> str:
    """Some words of a state; memory behind them may be nobody's, and is not loaded."""
    at = code.value(f"add nsw i64 {code.value(f'mul nsw i64 {x}, {words}')}, {first}")
    address = code.value(f"getelementptr inbounds i64, ptr %states, i64 {at}")
    mask = ", ".join(f"i1 {int(i < count)}" for i in range(EIGHT))
    return code.value(
        f"call {_MASKED_LOAD}(ptr {address}, i32 {BYTE}, <{EIGHT} x i1> <{mask}>, {EIGHT_WORDS} zeroinitializer)"
    )


def _transposed(code: Instructions, rows: Sequence[str]) -> list[str]:
    """Rows as columns: in each round, rows that lie `apart` exchange half of their elements."""
    rows = list(rows)
    for apart in (4, 2, 1):
        for i in range(EIGHT):
            if not i & apart:
                left, right = rows[i], rows[i + apart]
                for side in (0, apart):
                    order = [lane & ~apart | side | (EIGHT if lane & apart else 0) for lane in range(EIGHT)]
                    rows[i + side] = _shuffled(code, EIGHT_WORDS, left, right, _lanes(order))
    return rows


def _shuffled(code: Instructions, kind: str, left: str, right: str, order: str) -> str:
    return code.value(f"shufflevector {kind} {left}, {kind} {right}, {order}")


def _lanes(order: Iterable[int]) -> str:
    """The mask of a shuffle."""
    lanes = [f"i32 {lane}" for lane in order]
    return f"<{len(lanes)} x i32> <{', '.join(lanes)}>"


# --- groups of eight states in several runs ---------------------------------------------------------------------------

_WRITE_BACK = """\
define internal void @put_back(ptr noalias nocapture readonly %masks, i64 %base, i64 %last.state, \
ptr noalias nocapture %states, ptr noalias nocapture readonly %all.columns) nounwind {{
{text}
over:
  ret void
}}"""


def write_back_function(words: int) -> str:
    """`put_back(masks, base, last.state, states, all.columns)`: writes the groups of which the masks have a bit.

    The last state, which fills the lanes where states are missing, is written from each of them; they are the same.
    """
    code = Instructions()
    begin_groups(code, words)
    code.do(f"%before = mul nsw i64 %eight, {EIGHT}")
    begin = code.value("add nsw i64 %base, %before")
    addresses = [column_address(code, word, "%lane") for word in range(words)]
    columns = [code.value(f"load {EIGHT_WORDS}, ptr {address}, align {EIGHT * BYTE}") for address in addresses]
    parts = []
    for first in range(0, words, EIGHT):
        part = columns[first : first + EIGHT]
        parts.append((len(part), _transposed(code, part + ["zeroinitializer"] * (EIGHT - len(part)))))
    for state in range(EIGHT):
        x = code.value(f"call i64 @llvm.smin.i64(i64 {code.value(f'add nsw i64 {begin}, {state}')}, i64 %last.state)")
        at = code.value(f"mul nsw i64 {x}, {words}")
        for number, (width, rows) in enumerate(parts):
            place = code.value(f"add nsw i64 {at}, {EIGHT * number}")
            address = code.value(f"getelementptr inbounds i64, ptr %states, i64 {place}")
            row = _shuffled(code, EIGHT_WORDS, rows[state], "poison", _lanes(range(width)))
            code.do(f"store <{width} x i64> {row}, ptr {address}, align {BYTE}")
    end_groups(code)
    return _WRITE_BACK.format(text=code.text())


def begin_groups(code: Instructions, words: int) -> None:
    """Begin a loop over the groups of eight states, in at most eight runs, of which `%masks` has a bit: `%are.these`.

    They are those from `%lane` on in `%columns`, the run number `%run` in `%all.columns`.
    """
    code.do(f"%mask = load <{RUN} x i{BYTE}>, ptr %masks, align {RUN}")
    code.do(f"%is.some = icmp ne <{RUN} x i{BYTE}> %mask, zeroinitializer")
    code.do(f"%eights = bitcast <{RUN} x i1> %is.some to i{RUN}")
    code.do("%is.none = icmp eq i64 %eights, 0")
    code.branch("%is.none", "over", "each")
    code.start("each")
    code.do("%todo = phi i64 [ %eights, %entry ], [ %todo.next, %kept ]")
    code.do("%eight = call i64 @llvm.cttz.i64(i64 %todo, i1 true)")
    code.do(f"%run = lshr i64 %eight, {EIGHT.bit_length() - 1}")
    code.do(f"%of.run = and i64 %eight, {EIGHT - 1}")
    code.do(f"%lane = mul nuw nsw i64 %of.run, {EIGHT}")
    code.do("%at = getelementptr inbounds i8, ptr %masks, i64 %eight")
    code.do(f"%bits = load i{EIGHT}, ptr %at")
    code.do(f"%are.these = bitcast i{EIGHT} %bits to <{EIGHT} x i1>")
    code.do(f"%columns = getelementptr inbounds [{words} x [{RUN} x i64]], ptr %all.columns, i64 %run")


def end_groups(code: Instructions) -> None:
    """End that loop: go on to `over`."""
    code.jump("kept")
    code.start("kept")
    code.next_bit()


# --- bytes of a run ---------------------------------------------------------------------------------------------------

_BYTES, _PIECES = f"<{RUN} x i8>", f"<{BYTE} x i64>"

_EXTRACTION = """\
define internal void @cut(ptr noalias nocapture %columns) nounwind {{
{text}
}}"""


def extracted_byte(code: Instructions, word: int, number: int) -> str:
    """A byte, counted from the lowest, of a word of all states of the run: a vector of as many bytes."""
    return code.value(f"bitcast {_PIECES} {_pieces(code, word, number, 0, BYTE)} to {_BYTES}")


def extraction_function(packing: Packing) -> str:
    """`cut(columns)`: stores the bytes of each word of the run, as far as fields lie in them, behind the words."""
    ends = [0] * packing.words
    for place in chain.from_iterable(packing.places.values()):
        ends[place.word] = max(ends[place.word], place.shift + place.width * place.length)
    code = Instructions()
    code.jump("some")
    code.start("some")
    for word, end in enumerate(ends):
        for number in range(-(-end // BYTE)):
            pieces = _pieces(code, word, number, 0, BYTE)
            code.do(f"store {_PIECES} {pieces}, ptr {_byte_address(code, packing.words, word, number)}, align {RUN}")
    code.do("ret void")
    return _EXTRACTION.format(text=code.text())


def stored_byte(code: Instructions, words: int, word: int, number: int) -> str:
    """A byte that `cut` has stored."""
    return code.value(f"load {_BYTES}, ptr {_byte_address(code, words, word, number)}, align {RUN}")


def _byte_address(code: Instructions, words: int, word: int, number: int) -> str:
    return code.value(f"getelementptr inbounds [{RUN} x i8], ptr %columns, i64 {(words + word) * BYTE + number}")


def _pieces(code: Instructions, word: int, number: int, first: int, groups: int) -> str:
    """A vector of pieces, each the same byte of eight states: that byte of so many groups of states, and others."""
    if groups == 1:
        return _sorted_by_byte(code, word, first)
    half = groups // 2
    left, right = (_pieces(code, word, number, group, half) for group in (first, first + half))
    return _shuffled(code, _PIECES, left, right, _interleaving(groups, number // half % 2))


@cache
def _interleaving(groups: int, side: int) -> str:
    """The mask that takes the lower or the upper half of so many groups from each of two vectors of pieces."""
    half = groups // 2
    starts = [unit * groups + side * half for unit in range(BYTE // groups)]
    return _lanes(start + i + BYTE * other for start in starts for other in (0, 1) for i in range(half))


def _sorted_by_byte(code: Instructions, word: int, group: int) -> str:
    """The words of eight states, all their lowest bytes first."""
    address = code.value(f"getelementptr inbounds [{RUN} x i64], ptr %columns, i64 {word}, i64 {BYTE * group}")
    states = code.value(f"load {_BYTES}, ptr {address}, align {RUN}")
    return code.value(f"bitcast {_BYTES} {_shuffled(code, _BYTES, states, 'poison', _BY_PLACE)} to {_PIECES}")


_BY_PLACE = _lanes(BYTE * state + byte for byte in range(BYTE) for state in range(BYTE))
