"""Class files made by hand, so that a test says byte by byte what a compiler might have written."""

from __future__ import annotations

import struct
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

RETURN = b"\xb1"


class MadeClass:
    """A class whose methods and fields are added one by one.

    Parameters
    ----------
    name
        Its internal name.
    filler
        How many constants stand in front that nothing uses: they move the numbers of all others.
    line
        The line number that all its code claims to come from; none if 0.
    """

    def __init__(self, name: str, *, filler: int = 0, line: int = 0) -> None:
        self._pool: list[bytes] = []
        self._methods: list[bytes] = []
        self._fields: list[bytes] = []
        self._line = line
        for number in range(filler):
            self._constant(b"\x01" + _sized(f"unused {number}".encode(), ">H"))
        self._name, self._above = self._class(name), self._class("java/lang/Object")

    def _constant(self, content: bytes) -> int:
        if content not in self._pool:
            self._pool.append(content)
        return self._pool.index(content) + 1

    def _text(self, text: str) -> int:
        return self._constant(b"\x01" + _sized(text.encode(), ">H"))

    def _class(self, name: str) -> int:
        return self._constant(struct.pack(">BH", 7, self._text(name)))

    def _member(self, tag: int, owner: str, name: str, descriptor: str) -> int:
        named = self._constant(struct.pack(">BHH", 12, self._text(name), self._text(descriptor)))
        return self._constant(struct.pack(">BHH", tag, self._class(owner), named))

    def text(self, text: str) -> bytes:
        """Push a string, by whichever instruction its number takes."""
        number = self._constant(struct.pack(">BH", 8, self._text(text)))
        return struct.pack(">BB", 18, number) if number < 256 else struct.pack(">BH", 19, number)

    def call(self, owner: str, name: str, descriptor: str = "()V") -> bytes:
        """Call a static method."""
        return struct.pack(">BH", 184, self._member(10, owner, name, descriptor))

    def put(self, owner: str, name: str, descriptor: str) -> bytes:
        """Put what is on the stack into a static field."""
        return struct.pack(">BH", 179, self._member(9, owner, name, descriptor))

    def create(self, name: str) -> bytes:
        """Call a constructor."""
        return struct.pack(">BH", 183, self._member(10, name, "<init>", "()V"))

    def field(self, name: str, descriptor: str, constant: int | None = None) -> None:
        """Add a field, a constant if a number is given."""
        attributes = struct.pack(">H", 0)
        if constant is not None:
            number = self._constant(struct.pack(">Bi", 3, constant))
            attributes = struct.pack(">HH", 1, self._text("ConstantValue")) + _sized(struct.pack(">H", number), ">I")
        self._fields.append(struct.pack(">HHH", 9, self._text(name), self._text(descriptor)) + attributes)

    def method(self, name: str, code: bytes, *, flags: int = 9) -> MadeClass:
        """Add a method without parameters, public and static unless said otherwise."""
        inner = struct.pack(">H", 0)
        if self._line:
            table = struct.pack(">HHH", 1, 0, self._line)
            inner = struct.pack(">HH", 1, self._text("LineNumberTable")) + _sized(table, ">I")
        body = struct.pack(">HH", 4, 4) + _sized(code, ">I") + struct.pack(">H", 0) + inner
        head = struct.pack(">HHHH", flags, self._text(name), self._text("()V"), 1)
        self._methods.append(head + struct.pack(">H", self._text("Code")) + _sized(body, ">I"))
        return self

    def content(self) -> bytes:
        """The file."""
        return b"".join(
            (
                struct.pack(">IHHH", 0xCAFEBABE, 0, 52, len(self._pool) + 1),
                *self._pool,
                struct.pack(">HHHH", 1, self._name, self._above, 0),
                struct.pack(">H", len(self._fields)),
                *self._fields,
                struct.pack(">H", len(self._methods)),
                *self._methods,
                struct.pack(">H", 0),
            )
        )


def _sized(content: bytes, form: str) -> bytes:
    return struct.pack(form, len(content)) + content


def jar(path: Path, classes: Mapping[str, MadeClass]) -> Path:
    """Write a jar of classes by their internal names."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, made in classes.items():
            archive.writestr(f"{name}.class", made.content())
    return path
