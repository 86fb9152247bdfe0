"""Digests of the classes and methods of a release: equal where two releases do the same.

A digest takes in what a compiler sets apart and numbers in its own way, in the place where it is used: lambdas,
anonymous classes, accessors to private members. Packages count for nothing, as 5.x has moved classes between them.
"""

from __future__ import annotations

import hashlib
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final
from zipfile import BadZipFile, ZipFile

from conformance.errors import ReleaseGateError
from conformance.release_gate.class_file import ClassFile, Method, Token, read_class

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_DIGITS: Final = 12
_PACKAGE: Final = re.compile(r"(?:\w+/)+")
_NUMBER: Final = re.compile(r"\$\d+")
_ANONYMOUS: Final = re.compile(r".*\$\d+")
_MADE_BY_THE_COMPILER: Final = re.compile(r"lambda\$.*|access\$\d+")
_PUTS: Final = {179, 181}
_SMALL: Final = {**{3 + number: number for number in range(-1, 6)}, 9: 0, 10: 1}
_PUSHES: Final = {16, 17, 18, 20}
_RENAMED: Final = re.compile(r"Internal(?=Logger)")
"""The logger of 5.x, which has another package only."""


class Classes:
    """All classes in some jars, read when they are asked for; of two of one name, that in the first jar is meant."""

    def __init__(self, jars: Iterable[Path]) -> None:
        self._places: dict[str, tuple[ZipFile, str]] = {}
        self._by_simple_name: dict[str, str] = {}
        self._read: dict[str, ClassFile] = {}
        self._digests: dict[tuple[str, str, str], str] = {}
        for jar in jars:
            try:
                archive = ZipFile(jar)
            except (OSError, BadZipFile) as error:
                message = f"{jar}: not a jar that can be read ({error}); remove {jar.parent} to have it fetched anew"
                raise ReleaseGateError(message) from error
            for entry in archive.namelist():
                if entry.endswith(".class"):
                    name = entry.removesuffix(".class")
                    self._places.setdefault(name, (archive, entry))
                    self._by_simple_name.setdefault(simple(name).replace("$", "."), name)

    def named(self, name: str) -> ClassFile | None:
        """A class by its simple name, ``Outer.Inner`` for an inner one, or by its whole one with slashes."""
        found = (name if name in self._places else None) if "/" in name else self._by_simple_name.get(name)
        return None if found is None else self._class(found)

    def digest(self, name: str) -> str:
        """The digest of a ``Class``, or of all methods ``Class#method``; '' where there is none."""
        simple_name, _, method = name.partition("#")
        found = self.named(simple_name)
        if found is None:
            return ""
        if not method:
            return self._of_class(found)
        parts = [self._of_method(found, each) for each in found.methods if each.name == method]
        return _hashed(*sorted(parts)) if parts else ""

    def methods(self, simple_name: str) -> dict[str, str]:
        """The digest of each method of a class by its name, without those that a compiler has made."""
        found = self.named(simple_name)
        names = {method.name for method in found.methods} if found else set()
        return {
            name: self.digest(f"{simple_name}#{name}") for name in names if not _MADE_BY_THE_COMPILER.fullmatch(name)
        }

    def initial_value(self, simple_name: str, field: str) -> int | None:
        """The number with which a field begins, as a constant or put into it; None if it is no such one."""
        found = self.named(simple_name)
        if found is None or field not in {each.name for each in found.fields}:
            return None
        constants = [each.constant for each in found.fields if each.name == field]
        if isinstance(constants[0], str):
            return int(constants[0])
        for method in found.methods:
            if method.name in {"<init>", "<clinit>"}:
                for before, token in pairwise(method.code):
                    match token:
                        case (opcode, ("field", _, name, _)) if opcode in _PUTS and name == field:
                            return pushed(before)
        return None

    def _class(self, name: str) -> ClassFile:
        if name not in self._read:
            archive, entry = self._places[name]
            self._read[name] = read_class(archive.read(entry), f"{archive.filename}: {entry}")
        return self._read[name]

    def _of_class(self, found: ClassFile) -> str:
        methods = [
            self._of_method(found, method)
            for method in found.methods
            if not _MADE_BY_THE_COMPILER.fullmatch(method.name)
        ]
        fields = [
            (each.name, simple(each.descriptor), each.constant)
            for each in found.fields
            if not each.name.startswith(("this$", "val$", "$"))
        ]
        return _hashed([simple(name) for name in found.above], sorted(map(repr, fields)), sorted(methods))

    def _of_method(self, found: ClassFile, method: Method) -> str:
        key = (found.name, method.name, method.descriptor)
        if key not in self._digests:
            name = "" if _MADE_BY_THE_COMPILER.fullmatch(method.name) else method.name
            code = [[self._operand(part) for part in token] for token in method.code]
            handlers = [[self._operand(part) for part in token] for token in method.handlers]
            self._digests[key] = _hashed(name, simple(method.descriptor), method.flags, code, handlers)
        return self._digests[key]

    def _operand(self, part: object) -> object:
        """An operand with nothing in it that a compiler numbers."""
        if isinstance(part, str):
            return simple(part)
        if not isinstance(part, tuple):
            return part
        kind = part[0]
        if kind == "string":
            return part
        if kind == "method":
            _, owner, name, descriptor = part
            if _MADE_BY_THE_COMPILER.fullmatch(str(name)) and str(owner) in self._places:
                there = self._class(str(owner))
                for method in there.methods:
                    if (method.name, method.descriptor) == (name, descriptor):
                        return "inlined", self._of_method(there, method)
            if name == "<init>" and _ANONYMOUS.fullmatch(str(owner)) and str(owner) in self._places:
                return "anonymous", self._of_class(self._class(str(owner)))
        return tuple(self._operand(each) for each in part)


def simple(name: str) -> str:
    """The name of a class, or a descriptor, without packages and without the numbers of anonymous classes.

    Examples
    --------
    >>> simple("(Lorg/apache/rocketmq/store/CommitLog$1;J)Ljava/lang/Object;")
    '(CommitLog$;J)Object;'
    """
    return _RENAMED.sub("", _NUMBER.sub("$", _PACKAGE.sub("", name)))


def pushed(token: Token) -> int | None:
    """The whole number that an instruction pushes."""
    opcode, *operands = token
    if opcode in _SMALL:
        return _SMALL[opcode]
    if opcode in _PUSHES and isinstance(operands[0], int | str):
        return int(operands[0])
    return None


def _hashed(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
