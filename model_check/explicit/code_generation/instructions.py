"""The text of one function in LLVM's intermediate representation, with its common subexpressions written once."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

UNLIKELY = "!prof !0"
"""The mark of a branch that is hardly ever taken; the module defines it by `METADATA`."""

METADATA = '!0 = !{!"branch_weights", i32 1, i32 1000000}'


class Instructions:
    """Instructions of one function; an operand is a text such as `%v3`, `17` or `true`."""

    def __init__(self) -> None:
        self.block = "entry"  # the one that is being written
        self._entry: list[str] = []
        self._lines: list[str] = []
        self._count = 0
        self._everywhere: dict[str, str] = {}
        self._known: dict[str, str] = {}
        self.operands: dict[tuple[int, bool], tuple[object, str]] = {}
        """The operand of each term that was written since the state changed, as a number or as a truth; the terms are
        held, so that none gets the id of another."""

    def text(self) -> str:
        """All blocks, the entry first."""
        return "\n".join(["entry:", *self._entry, self.blocks_after_entry()])

    def blocks_after_entry(self) -> str:
        """All other blocks."""
        return "\n".join(self._lines)

    # --- values -------------------------------------------------------------------------------------------------------

    def value(self, instruction: str) -> str:
        """The result of an instruction without effect; the same as before, if it was computed on every way here."""
        if self.block == "entry":
            return self.at_entry(instruction)
        known = self._known.get(instruction) or self._everywhere.get(instruction)
        if known is None:
            known = self._known[instruction] = self._new("v")
            self._lines.append(f"  {known} = {instruction}")
        return known

    def at_entry(self, instruction: str) -> str:
        """The result of an instruction without effect, hoisted into the entry; its operands are hoisted, too."""
        known = self._everywhere.get(instruction)
        if known is None:
            known = self._everywhere[instruction] = self._new("e")
            self._entry.append(f"  {known} = {instruction}")
        return known

    def splat(self, lanes: int, kind: str, scalar: str) -> str:
        """A hoisted vector of so many lanes that all hold a hoisted value."""
        vector = f"<{lanes} x {kind}>"
        first = self.at_entry(f"insertelement {vector} poison, {kind} {scalar}, i64 0")
        return self.at_entry(f"shufflevector {vector} {first}, {vector} poison, <{lanes} x i32> zeroinitializer")

    def phi(self, kind: str, ways: Iterable[tuple[str, str]]) -> str:
        """The operand of the block from which this one was reached: pairs of an operand and a block."""
        result = self._new("p")
        pairs = ", ".join(f"[ {operand}, %{block} ]" for operand, block in ways)
        self._lines.append(f"  {result} = phi {kind} {pairs}")
        return result

    # --- effects and blocks -------------------------------------------------------------------------------------------

    def do(self, instruction: str) -> None:
        """Write an instruction for its effect."""
        self._lines.append(f"  {instruction}")

    def label(self) -> str:
        """A new name for a block."""
        return self._new("b")[1:]

    def start(self, block: str) -> None:
        """Begin a block."""
        self.block = block
        self._lines.append(f"{block}:")

    def jump(self, block: str) -> None:
        """End the block by a jump."""
        self.do(f"br label %{block}")

    def branch(self, condition: str, then: str, otherwise: str, *marks: str) -> None:
        """End the block by a branch."""
        self.do(", ".join([f"br i1 {condition}, label %{then}, label %{otherwise}", *marks]))

    def leave_entry_unless(self, condition: str, block: str) -> None:
        """Branch from the entry to a block where a hoisted condition is false."""
        label = self.label()
        self._entry += [f"  br i1 {condition}, label %{label}, label %{block}", f"{label}:"]

    def next_bit(self) -> None:
        """End a loop over the bits of `%todo`: go on with `%todo.next` in `each`, or in `over` if it has none."""
        self.do("%one.less = add i64 %todo, -1")
        self.do("%todo.next = and i64 %todo, %one.less")
        self.do("%is.done = icmp eq i64 %todo.next, 0")
        self.branch("%is.done", "over", "each")

    @contextmanager
    def conditional(self) -> Iterator[None]:
        """The scope of a branch: values that are computed inside are unknown after it."""
        known_before, operands_before = self._known, self.operands
        self._known, self.operands = known_before.copy(), {}
        yield
        self._known, self.operands = known_before, operands_before

    def _new(self, prefix: str) -> str:
        self._count += 1
        return f"%{prefix}{self._count}"
