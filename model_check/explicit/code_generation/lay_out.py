"""Functions that go over states in runs, and lay each run out word by word, so that all of it can be computed at once.

The words of eight states are loaded state by state and transposed by three rounds of shuffles, which takes half as long
as moving word by word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.explicit.code_generation.bytes_of_run import BYTE, RUN
from model_check.explicit.code_generation.instructions import Instructions

if TYPE_CHECKING:
    from collections.abc import Sequence

ALIGNMENT = 2 * RUN
"""Of the words of a run, in bytes."""

EIGHT = 8
"""States that are transposed together, and words of each."""

EIGHT_WORDS = f"<{EIGHT} x i64>"
_LOADED = f"{EIGHT_WORDS} @llvm.masked.load.v{EIGHT}i64.p0"
LOAD = f"declare {_LOADED}(ptr, i32, <{EIGHT} x i1>, {EIGHT_WORDS})"
"""What a module declares that has such a function."""

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
{laid_out}
{body}
call.{calls}:
  %base.next = add nsw i64 %base, {run}
  %is.over = icmp sge i64 %base.next, %last
  br i1 %is.over, label %over, label %lay.out
over:
  ret i64 {result}
}}"""


def in_runs(
    words: int, function: str, given: str, body: Sequence[str], calls: int, result: str, entry: str = ""
) -> str:
    """A function that lays out the states from first to last, `RUN` at a time, in `columns`, and does the body.

    The body is the blocks `call.0` and so on, as many as there are calls, each going on to the next.
    """
    return _RUNS.format(
        function=function, given=given, words=words, run=RUN, size=8 * RUN * words, alignment=ALIGNMENT,
        laid_out=laid_out(words, "call.0"), body="\n".join(body), calls=calls, result=result, entry=entry,
    )  # fmt: skip


def laid_out(words: int, behind: str) -> str:
    """The block `eight`: the words of states in columns; where fewer are left, the last one several times."""
    code = Instructions()
    code.start("eight")
    code.do("%i = phi i64 [ 0, %lay.out ], [ %i.next, %eight ]")
    begin = code.value("add nsw i64 %base, %i")
    at = [code.value(f"add nsw i64 {begin}, {state}") for state in range(EIGHT)]
    at = [code.value(f"call i64 @llvm.smin.i64(i64 {x}, i64 %last.state)") for x in at]
    for first in range(0, words, EIGHT):
        wanted = min(words - first, EIGHT)
        columns = _transposed(code, [_row(code, x, words, first, wanted) for x in at])
        for word, column in enumerate(columns[:wanted], start=first):
            code.do(f"store {EIGHT_WORDS} {column}, ptr {place_in_columns(code, word, '%i')}, align {EIGHT * BYTE}")
    code.do(f"%i.next = add nsw i64 %i, {EIGHT}")
    code.do("%are.all = icmp sge i64 %i.next, %count")
    code.branch("%are.all", behind, "eight")
    return code.behind_entry()


def place_in_columns(code: Instructions, word: int, lane: str | int) -> str:
    """Where a word of a state of the run lies."""
    return code.value(f"getelementptr inbounds [{RUN} x i64], ptr %columns, i64 {word}, i64 {lane}")


_PUT_BACK = """\
define internal void @put_back(ptr noalias nocapture readonly %masks, i64 %base, i64 %last.state, \
ptr noalias nocapture %states, ptr noalias nocapture readonly %all.columns) nounwind {{
{text}
over:
  ret void
}}"""


def put_back(words: int) -> str:
    """`put_back(masks, base, last.state, states, all.columns)`: writes the eights of which the masks have a bit.

    Where fewer states are left, the last ones in the columns are all the last state, and are to be the same.
    """
    code = Instructions()
    begin_eights(code, words)
    code.do(f"%before = mul nsw i64 %eight, {EIGHT}")
    begin = code.value("add nsw i64 %base, %before")
    places = [place_in_columns(code, word, "%lane") for word in range(words)]
    columns = [code.value(f"load {EIGHT_WORDS}, ptr {place}, align {EIGHT * BYTE}") for place in places]
    rows = []
    for first in range(0, words, EIGHT):
        some = columns[first : first + EIGHT]
        rows.append((len(some), _transposed(code, some + ["zeroinitializer"] * (EIGHT - len(some)))))
    for state in range(EIGHT):
        x = code.value(f"call i64 @llvm.smin.i64(i64 {code.value(f'add nsw i64 {begin}, {state}')}, i64 %last.state)")
        at = code.value(f"mul nsw i64 {x}, {words}")
        for number, (width, row) in enumerate(rows):
            part = code.value(f"add nsw i64 {at}, {EIGHT * number}")
            place = code.value(f"getelementptr inbounds i64, ptr %states, i64 {part}")
            order = ", ".join(f"i32 {i}" for i in range(width))
            wanted = f"shufflevector {EIGHT_WORDS} {row[state]}, {EIGHT_WORDS} poison, <{width} x i32> <{order}>"
            code.do(f"store <{width} x i64> {code.value(wanted)}, ptr {place}, align {BYTE}")
    end_eights(code)
    return _PUT_BACK.format(text=code.text())


def begin_eights(code: Instructions, words: int) -> None:
    """Begin a loop over the eights of states, in at most eight runs, of which `%masks` have a bit: `%are.these`.

    They are those from `%lane` on in `%columns`, those of run number `%run` in `%all.columns`.
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


def end_eights(code: Instructions) -> None:
    """Go on with the next of these, or to `over`."""
    code.jump("kept")
    code.start("kept")
    code.next_bit()


def _row(code: Instructions, x: str, words: int, first: int, wanted: int) -> str:
    """So many words of a state from one on; what lies behind them may be nobody's."""
    at = code.value(f"add nsw i64 {code.value(f'mul nsw i64 {x}, {words}')}, {first}")
    place = code.value(f"getelementptr inbounds i64, ptr %states, i64 {at}")
    mask = ", ".join(f"i1 {int(i < wanted)}" for i in range(EIGHT))
    return code.value(
        f"call {_LOADED}(ptr {place}, i32 {BYTE}, <{EIGHT} x i1> <{mask}>, {EIGHT_WORDS} zeroinitializer)"
    )


def _transposed(code: Instructions, rows: Sequence[str]) -> list[str]:
    """Rows as columns: in each round two rows exchange half of their elements, which lie `apart` in both."""
    found = list(rows)
    for apart in (4, 2, 1):
        for i in range(EIGHT):
            if not i & apart:
                both = found[i], found[i + apart]
                for side in (0, apart):
                    order = [lane & ~apart | side | (EIGHT if lane & apart else 0) for lane in range(EIGHT)]
                    text = ", ".join(f"i32 {place}" for place in order)
                    found[i + side] = code.value(
                        f"shufflevector {EIGHT_WORDS} {both[0]}, {EIGHT_WORDS} {both[1]}, <{EIGHT} x i32> <{text}>"
                    )
    return found
