"""A parser of Java class files, complete enough to compare two releases (the JVM's specification, chapter 4).

What a compiler may number in its own way is resolved: the constant pool, jumps (as numbers of instructions), the width
of ``ldc``. Line numbers, names of local variables, stack maps, annotations and generic signatures are left out. It is
no use of ``javap``: what that prints is laid down nowhere, and differs between JDKs.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from conformance.errors import ReleaseGateError

Constant: TypeAlias = "str | int | float | tuple[object, ...]"
Token: TypeAlias = tuple[object, ...]

_MAGIC: Final = 0xCAFEBABE
_PUBLIC: Final = 0x0001
_STATIC_SYNCHRONIZED_NATIVE_ABSTRACT: Final = 0x0008 | 0x0020 | 0x0100 | 0x0400

_UTF8, _INTEGER, _FLOAT, _LONG, _DOUBLE, _CLASS, _STRING = 1, 3, 4, 5, 6, 7, 8
_REFERENCES: Final = {9: "field", 10: "method", 11: "method"}
_NAME_AND_TYPE, _HANDLE, _TYPE, _DYNAMIC, _INVOKE_DYNAMIC = 12, 15, 16, 17, 18
_NUMBERS: Final = {_INTEGER: ">i", _FLOAT: ">f", _LONG: ">q", _DOUBLE: ">d"}

_LDC, _LDC_W, _IINC, _GOTO, _JSR = 18, 19, 132, 167, 168
_TABLE_SWITCH, _LOOKUP_SWITCH, _INVOKE_INTERFACE, _CALL_DYNAMIC, _WIDE, _MULTI_ARRAY = 170, 171, 185, 186, 196, 197
_GOTO_W, _JSR_W = 200, 201
_ONE_BYTE: Final = {16, *range(21, 26), *range(54, 59), 169, 188}
_TWO_BYTES: Final = {17}
_CONSTANTS: Final = {_LDC_W, 20, *range(178, 188), 189, 192, 193, _MULTI_ARRAY}
_JUMPS: Final = {*range(153, 169), 198, 199}


@dataclass(frozen=True, slots=True)
class JavaField:
    """A field: its descriptor, and its constant where it is one that the compiler knows."""

    name: str
    descriptor: str
    constant: Constant | None


@dataclass(frozen=True, slots=True)
class Method:
    """A method: what it is called, and its instructions with what they name."""

    name: str
    descriptor: str
    flags: int
    """Only whether it is static, synchronized, native or abstract."""
    code: tuple[Token, ...]
    """A tuple an instruction: its opcode and its operands; what stands in the constant pool is resolved."""
    handlers: tuple[Token, ...]
    """First and last instruction that each guards, its own first one, and the exception."""
    is_public: bool = True
    """Whether any class may call it."""


@dataclass(slots=True)
class ClassFile:
    """A class; names are internal ones, such as ``java/lang/Object``."""

    name: str = ""
    above: tuple[str, ...] = ()
    """Its superclass, then its interfaces."""
    fields: list[JavaField] = field(default_factory=list)
    methods: list[Method] = field(default_factory=list)


class _ClassBytes:
    """The bytes, and how far they are read."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, form: str) -> int:
        """The next number, of a form of `struct`."""
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return int(value)

    def u1(self) -> int:
        return self.take(">B")

    def u2(self) -> int:
        return self.take(">H")

    def u4(self) -> int:
        return self.take(">I")

    def part(self, length: int) -> bytes:
        """The next bytes."""
        found = self.data[self.at : self.at + length]
        self.at += length
        return found


def read_class(data: bytes, where: str = "a class file") -> ClassFile:
    """Read a class; `ReleaseGateError`, which names `where`, if it is none, or is cut short."""
    try:
        return _Class(_ClassBytes(data)).read()
    except (struct.error, IndexError, KeyError, ValueError) as error:
        message = f"{where}: not a class file that can be read ({error}); remove its jar to have it fetched anew"
        raise ReleaseGateError(message) from error


class _Class:
    def __init__(self, reader: _ClassBytes) -> None:
        self._reader = reader
        self._pool: list[tuple[int, object]] = []
        self._bootstraps: list[tuple[int, ...]] = []

    def read(self) -> ClassFile:
        reader = self._reader
        if reader.u4() != _MAGIC:
            message = "it does not begin with CAFEBABE"
            raise ValueError(message)
        reader.u4()  # the version
        self._read_pool()
        reader.u2()  # access flags
        found = ClassFile(name=self._text(reader.u2()))
        superclass = reader.u2()
        interfaces = [self._text(reader.u2()) for _ in range(reader.u2())]
        found.above = ((self._text(superclass) if superclass else ""), *interfaces)
        members = [[self._member() for _ in range(reader.u2())] for _ in range(2)]
        for kind, data in self._attributes():
            if kind == "BootstrapMethods":
                inner = _ClassBytes(data)
                for _ in range(inner.u2()):
                    handle = inner.u2()
                    self._bootstraps.append((handle, *(inner.u2() for _ in range(inner.u2()))))
        found.fields = [self._field(*member) for member in members[0]]
        found.methods = [self._method(*member) for member in members[1]]
        return found

    def _read_pool(self) -> None:
        reader = self._reader
        count = reader.u2()
        self._pool = [(0, None)]
        while len(self._pool) < count:
            tag = reader.u1()
            value: object
            if tag == _UTF8:
                value = reader.part(reader.u2()).decode("utf-8", "surrogatepass")
            elif tag in _NUMBERS:
                (value,) = struct.unpack(_NUMBERS[tag], reader.part(struct.calcsize(_NUMBERS[tag])))
            elif tag == _HANDLE:
                value = (reader.u1(), reader.u2())
            elif tag in {_CLASS, _STRING, _TYPE, 19, 20}:
                value = reader.u2()
            else:
                value = (reader.u2(), reader.u2())
            self._pool.append((tag, value))
            if tag in {_LONG, _DOUBLE}:
                self._pool.append((0, None))

    def _text(self, index: int) -> str:
        """A name or a string, also behind a class or a string constant."""
        tag, value = self._pool[index]
        return self._text(int(str(value))) if tag in {_CLASS, _STRING, _TYPE} else str(value)

    def _constant(self, index: int) -> Constant:
        """The value of an entry of the constant pool, without the numbers of entries."""
        tag, value = self._pool[index]
        if tag in _NUMBERS:
            return repr(value)
        if tag in {_UTF8, _STRING}:
            return ("string", self._text(index))
        if tag in {_CLASS, _TYPE}:
            return ("type", self._text(index))
        first, second = value if isinstance(value, tuple) else (0, 0)
        if tag in _REFERENCES:
            return (_REFERENCES[tag], self._text(first), *self._name_and_type(second))
        if tag == _HANDLE:
            return ("handle", first, self._constant(second))
        bootstrap = self._bootstraps[first]
        return ("dynamic", *self._name_and_type(second), *(self._constant(each) for each in bootstrap))

    def _name_and_type(self, index: int) -> tuple[str, str]:
        value = self._pool[index][1]
        name, descriptor = value if isinstance(value, tuple) else (0, 0)
        return self._text(name), self._text(descriptor)

    def _attributes(self) -> list[tuple[str, bytes]]:
        """Each by its name, unread."""
        reader = self._reader
        return [(self._text(reader.u2()), reader.part(reader.u4())) for _ in range(reader.u2())]

    def _member(self) -> tuple[int, str, str, list[tuple[str, bytes]]]:
        reader = self._reader
        return reader.u2(), self._text(reader.u2()), self._text(reader.u2()), self._attributes()

    def _field(self, _: int, name: str, descriptor: str, attributes: list[tuple[str, bytes]]) -> JavaField:
        constants = [self._constant(_ClassBytes(data).u2()) for kind, data in attributes if kind == "ConstantValue"]
        return JavaField(name, descriptor, constants[0] if constants else None)

    def _method(self, flags: int, name: str, descriptor: str, attributes: list[tuple[str, bytes]]) -> Method:
        code: tuple[Token, ...] = ()
        handlers: tuple[Token, ...] = ()
        for kind, data in attributes:
            if kind == "Code":
                code, handlers = self._code(_ClassBytes(data))
        flags_that_matter = flags & _STATIC_SYNCHRONIZED_NATIVE_ABSTRACT
        return Method(name, descriptor, flags_that_matter, code, handlers, bool(flags & _PUBLIC))

    def _code(self, reader: _ClassBytes) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
        reader.u4()  # the sizes of stack and locals
        body = _ClassBytes(reader.part(reader.u4()))
        starts: dict[int, int] = {}
        found: list[tuple[int, list[object], list[int]]] = []
        while body.at < len(body.data):
            starts[body.at] = len(found)
            found.append(self._instruction(body))
        starts[body.at] = len(found)
        code = tuple((opcode, *operands, *(starts[to] for to in targets)) for opcode, operands, targets in found)
        handlers = []
        for _ in range(reader.u2()):
            first, last, handler, kind = (reader.u2() for _ in range(4))
            handlers.append((starts[first], starts[last], starts[handler], self._text(kind) if kind else "any"))
        return code, tuple(handlers)

    def _instruction(self, body: _ClassBytes) -> tuple[int, list[object], list[int]]:
        """Opcode, operands, and the places to which it may jump."""
        start, opcode = body.at, body.u1()
        if opcode == _LDC:
            return opcode, [self._constant(body.u1())], []
        if opcode in _CONSTANTS:
            operands: list[object] = [self._constant(body.u2())]
            if opcode in {_INVOKE_INTERFACE, _CALL_DYNAMIC}:
                body.u2()
            elif opcode == _MULTI_ARRAY:
                operands.append(body.u1())
            return (_LDC if opcode == _LDC_W else opcode), operands, []
        if opcode in _JUMPS:
            return opcode, [], [start + body.take(">h")]
        if opcode in {_GOTO_W, _JSR_W}:
            return (_GOTO if opcode == _GOTO_W else _JSR), [], [start + body.take(">i")]
        if opcode in {_TABLE_SWITCH, _LOOKUP_SWITCH}:
            return self._switch(body, start, opcode)
        if opcode == _WIDE:
            widened = body.u1()
            return widened, [body.u2(), body.take(">h")] if widened == _IINC else [body.u2()], []
        if opcode == _IINC:
            return opcode, [body.u1(), body.take(">b")], []
        if opcode in _ONE_BYTE:
            return opcode, [body.take(">b") if opcode == min(_ONE_BYTE) else body.u1()], []
        return opcode, [body.take(">h")] if opcode in _TWO_BYTES else [], []

    @staticmethod
    def _switch(body: _ClassBytes, start: int, opcode: int) -> tuple[int, list[object], list[int]]:
        body.at += -body.at % 4
        targets = [start + body.take(">i")]
        if opcode == _TABLE_SWITCH:
            low, high = body.take(">i"), body.take(">i")
            targets += [start + body.take(">i") for _ in range(high - low + 1)]
            return opcode, [low, high], targets
        keys: list[object] = []
        for _ in range(body.take(">i")):
            keys.append(body.take(">i"))
            targets.append(start + body.take(">i"))
        return opcode, keys, targets
