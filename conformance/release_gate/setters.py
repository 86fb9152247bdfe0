"""The keys that a release's broker takes from its ``broker.conf``: the setters of its configuration classes.

``BrokerStartup`` reads the file, and ``MixAll#properties2Object`` asks for the key of each public setter whose first
parameter is a number, a truth or a text. Which classes it is given is read in the bytecode of ``BrokerStartup``, and
defaults in their constructors.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from conformance.release_gate.digests import Classes, pushed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.release_gate.class_file import ClassFile, Method, Token

_NEW, _INVOKE, _INVOKE_STATIC, _PUT_FIELD, _GET_STATIC, _LOAD = 187, 182, 184, 181, 178, {18, 20}
_DOUBLES: Final = {14: "0.0", 15: "1.0"}
_JUMPS: Final = frozenset({*range(153, 168), 198, 199})
_TYPES: Final = {
    "I": "int", "J": "long", "D": "double", "F": "float", "Z": "boolean", "Ljava/lang/String;": "String",
    "Ljava/lang/Integer;": "int", "Ljava/lang/Long;": "long", "Ljava/lang/Double;": "double",
    "Ljava/lang/Float;": "float", "Ljava/lang/Boolean;": "boolean",
}  # fmt: skip
"""Types that ``properties2Object`` reads, by descriptor; it passes over setters of anything else."""
_ZERO: Final = {"int": "0", "long": "0", "double": "0.0", "float": "0.0", "boolean": "false"}
_STARTUP: Final = "BrokerStartup"
_READER: Final = "properties2Object"
_READ_BY_ITSELF: Final = "properties2SystemEnv"
_TIERED: Final = ("TieredMessageStoreConfig", "org/apache/rocketmq/tieredstore/MessageStoreConfig")
"""The names that the class has had which the store's plug-in has filled (``MessageStorePluginContext``)."""


def keys_of(classes: Classes) -> dict[str, str]:
    """The type of each key of a release and its default where that is a constant, such as ``long 6000``.

    The type is `int`, `long`, `double`, `float`, `boolean`, `String`, or the names of an enum with `|` between them;
    with `int|` before them where the setter takes a number, too.
    """
    found: dict[str, str] = {}
    for name in _configurations(classes):
        for key, kind in _keys_of_class(classes, name).items():
            found.setdefault(key, kind)
    for method in _methods(classes, _STARTUP):
        found.update({key: f"{found[key].partition(' ')[0]} {value}" for key, value in _set_before(method)})
        if method.name == _READ_BY_ITSELF:
            texts = [str(token[1][1]) for token in method.code if token[0] in _LOAD and isinstance(token[1], tuple)]
            found.update({text: "String" for text in texts if re.fullmatch(r"[a-z]\w+", text)})
    return dict(sorted(found.items()))


def _configurations(classes: Classes) -> Iterator[str]:
    """The classes that ``BrokerStartup`` fills, and the one that the tiered store does."""
    made = {
        str(token[1][1])
        for method in _methods(classes, _STARTUP)
        for token in method.code
        if token[0] == _NEW and isinstance(token[1], tuple)
    }
    yield from sorted(name for name in made if re.fullmatch(r"[\w/]+Config", name))
    yield from (name for name in _TIERED if classes.named(name) is not None)


def _set_before(method: Method) -> Iterator[tuple[str, str]]:
    """The keys that ``BrokerStartup`` gives another default, in front of what the file says."""
    if not any(_is_reader(token) for token in method.code):
        return
    for before, token in pairwise(method.code):
        match token:
            case _ if _is_reader(token):
                return
            case (opcode, ("method", owner, name, _)) if (
                opcode == _INVOKE and str(owner).endswith("Config") and (value := pushed(before)) is not None
            ):
                yield _key_of(str(name)), str(value)


def _is_reader(token: Token) -> bool:
    match token:
        case (opcode, ("method", _, name, _)):
            return opcode == _INVOKE_STATIC and name == _READER
    return False


def _methods(classes: Classes, name: str) -> list[Method]:
    found = classes.named(name)
    return found.methods if found else []


def _keys_of_class(classes: Classes, name: str) -> dict[str, str]:
    """The keys of a class and of those that it extends."""
    found: dict[str, set[str]] = {}
    defaults: dict[str, str] = {}
    of_field: dict[str, str] = {}
    above: str | None = name
    while above and (own := classes.named(above)) is not None:
        defaults = {**_defaults(own), **defaults}
        for method in own.methods:
            parameter = re.fullmatch(r"\(([^;)L]|L[^;]+;).*\)V", method.descriptor)
            key = _key_of(method.name)
            if key and parameter and method.is_public and parameter[1] in _TYPES:
                found.setdefault(key, set()).add(_names_of_enum(classes, method) or _TYPES[parameter[1]])
                of_field.setdefault(key, _field_of(method) or key)
        above = own.above[0]
    return {
        key: " ".join(filter(None, (kind, defaults.get(of_field[key], _ZERO.get(kind, "")))))
        for key, types in found.items()
        for kind in ["|".join(sorted(types))]
    }


def _key_of(setter: str) -> str:
    """The key that ``properties2Object`` asks for; '' where the name is no setter's."""
    match = re.fullmatch(r"set(.)(.*)", setter)
    return match[1].lower() + match[2] if match else ""


def _field_of(method: Method) -> str | None:
    """The field that a setter puts its value into."""
    puts = [token[1] for token in method.code if token[0] == _PUT_FIELD]
    return str(puts[-1][2]) if puts and isinstance(puts[-1], tuple) else None


def _names_of_enum(classes: Classes, method: Method) -> str:
    """The names that a setter takes which asks an enum for its value; '' for another one."""
    for token in method.code:
        match token:
            case (opcode, ("method", owner, "valueOf", descriptor)) if opcode == _INVOKE_STATIC and str(
                descriptor
            ).startswith("(Ljava/lang/String;)"):
                of = classes.named(str(owner))
                return "|".join(each.name for each in of.fields if each.descriptor == f"L{owner};") if of else ""
    return ""


def _defaults(own: ClassFile) -> dict[str, str]:
    """The constants with which fields begin, as Java writes them; '' for one that is worked out, or null."""
    found = {each.name: _ZERO.get(_TYPES.get(each.descriptor, ""), "") for each in own.fields}
    for method in own.methods:
        if (method.name, method.descriptor) == ("<init>", "()V"):
            targets = {token[-1] for token in method.code if token[0] in _JUMPS}
            for number, (before, token) in enumerate(pairwise(method.code), start=1):
                match token:
                    case (opcode, ("field", _, name, descriptor)) if opcode == _PUT_FIELD:
                        found[str(name)] = "" if number in targets else _shown(before, str(descriptor))
    return found


def _shown(token: Token, descriptor: str) -> str:
    """The constant that an instruction pushes for a field of that type; '' where it pushes none."""
    match token:
        case (opcode, ("string", text)) if opcode in _LOAD:
            return str(text) if re.fullmatch(r"\S+", str(text)) else ""
        case (opcode, ("field", owner, name, _)) if opcode == _GET_STATIC and descriptor == f"L{owner};":
            return str(name)
        case (opcode,) if opcode in _DOUBLES:
            return _DOUBLES[int(str(opcode))]
        case (opcode, text) if opcode in _LOAD and descriptor in "DF":
            return str(text)
    number = pushed(token)
    if number is None:
        return ""
    return ("false", "true")[number] if descriptor == "Z" else str(number)
