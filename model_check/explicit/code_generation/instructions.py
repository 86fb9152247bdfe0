"""The text of one function in LLVM's intermediate representation, written instruction by instruction.

A value that was computed on every way to a place is not computed there again.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

UNLIKELY = "!prof !0"
"""What a branch bears that is hardly ever taken; the module defines it by `METADATA`."""

METADATA = '!0 = !{!"branch_weights", i32 1, i32 1000000}'


class Instructions:
    """Instructions of one function; an operand is a text such as `%v3`, `17` or `true`.

    Attributes
    ----------
    block : str
        The block that is being written.
    entry_end : str
        The block in which the entry ends.
    """

    def __init__(self) -> None:
        self.block = self.entry_end = "entry"
        self._entry: list[str] = []
        self._lines: list[str] = []
        self._count = 0
        self._everywhere: dict[str, str] = {}
        self._known: dict[str, str] = {}

    def text(self) -> str:
        """Everything written, the entry block first."""
        return "\n".join(["entry:", *self._entry, self.behind_entry()])

    def behind_entry(self) -> str:
        """What was written into other blocks."""
        return "\n".join(self._lines)

    # --- values -------------------------------------------------------------------------------------------------------

    def value(self, instruction: str) -> str:
        """The result of an instruction without effect."""
        if self.block == "entry":
            return self.at_entry(instruction)
        known = self._known.get(instruction) or self._everywhere.get(instruction)
        if known is None:
            known = self._known[instruction] = self._new("v")
            self._lines.append(f"  {known} = {instruction}")
        return known

    def at_entry(self, instruction: str) -> str:
        """The result of an instruction without effect, computed once a call, from other such results."""
        known = self._everywhere.get(instruction)
        if known is None:
            known = self._everywhere[instruction] = self._new("e")
            self._entry.append(f"  {known} = {instruction}")
        return known

    def splat(self, lanes: int, kind: str, one: str) -> str:
        """A vector of so many lanes that all have a value which is known at the entry; computed once a call, too."""
        vector = f"<{lanes} x {kind}>"
        first = self.at_entry(f"insertelement {vector} poison, {kind} {one}, i64 0")
        return self.at_entry(f"shufflevector {vector} {first}, {vector} poison, <{lanes} x i32> zeroinitializer")

    def join(self, kind: str, ways: Iterable[tuple[str, str]]) -> str:
        """The value that belongs to the block from which this one was reached: pairs of an operand and a block."""
        result = self._new("p")
        pairs = ", ".join(f"[ {operand}, %{block} ]" for operand, block in ways)
        self._lines.append(f"  {result} = phi {kind} {pairs}")
        return result

    # --- effects and blocks -------------------------------------------------------------------------------------------

    def do(self, instruction: str) -> None:
        """Write an instruction for its effect."""
        self._lines.append(f"  {instruction}")

    def label(self) -> str:
        """A name for a block."""
        return self._new("b")[1:]

    def start(self, block: str) -> None:
        """What follows belongs to this block."""
        self.block = block
        self._lines.append(f"{block}:")

    def jump(self, block: str) -> None:
        """Go on in a block."""
        self.do(f"br label %{block}")

    def branch(self, condition: str, then: str, otherwise: str, *marks: str) -> None:
        """Go on in one of two blocks."""
        self.do(", ".join([f"br i1 {condition}, label %{then}, label %{otherwise}", *marks]))

    def leave_entry_unless(self, condition: str, block: str) -> None:
        """Go to a block from the entry where a condition computed there is false."""
        going_on = self.label()
        self._entry += [f"  br i1 {condition}, label %{going_on}, label %{block}", f"{going_on}:"]
        self.entry_end = going_on

    def next_bit(self) -> None:
        """End a loop over the bits of `%todo`: go on with `%todo.next` in `each`, or in `over` if it has none."""
        self.do("%one.less = add i64 %todo, -1")
        self.do("%todo.next = and i64 %todo, %one.less")
        self.do("%is.done = icmp eq i64 %todo.next, 0")
        self.branch("%is.done", "over", "each")

    @contextmanager
    def on_one_way(self) -> Iterator[None]:
        """What is computed in here is not known behind it."""
        known_before = self._known
        self._known = known_before.copy()
        yield
        self._known = known_before

    def _new(self, prefix: str) -> str:
        self._count += 1
        return f"%{prefix}{self._count}"
