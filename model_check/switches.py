"""Records of the switches of a profile, read from where it is declared and used: `spec/switches.py` is the record.

The entry of a switch in its class's docstring says what it does, names the defects of the catalogue that it mends or
makes (`B01`; not those of which it mends a part) and the switches without which it does nothing (needs `NAME`). Which
Java it models stands behind `RocketMQ:` in the docstrings of the functions of `spec/` that read it.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from typing import Any

from model_check.did_you_mean import require_known
from model_check.errors import ModelCheckError
from model_check.world import Profile
from spec.switches import RepairSwitches, SearchSwitches, VersionSwitches, WrongRepairSwitches

KINDS = {
    "version": VersionSwitches,
    "repair": RepairSwitches,
    "wrong repair": WrongRepairSwitches,
    "search": SearchSwitches,
}
"""Kind of a switch → the class that declares those."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A function of `spec/` that asks for a switch."""

    function: str
    """Module and name: `check_round.pass_half_of_settled_original`."""
    java: tuple[str, ...]
    """The classes and methods that its docstring names as its source, or else its module's."""


@dataclass(frozen=True, slots=True)
class SwitchRecord:
    """A switch, and all that its declaration and its readers say."""

    name: str
    kind: str
    """One of `KINDS`."""
    says: str
    """Its entry: what is so where it is on."""
    defects: tuple[str, ...]
    """The ids that the entry names: of a repair, those that it mends."""
    needs: tuple[str, ...]
    """Switches without which it does nothing."""
    profiles: tuple[Profile, ...]
    """Where it is on."""
    readers: tuple[Reader, ...]

    @property
    def java(self) -> tuple[str, ...]:
        """The Java that its readers model, each once."""
        return tuple(dict.fromkeys(name for reader in self.readers for name in reader.java))

    def to_json(self) -> dict[str, Any]:
        """The record as the plain data that scripts rely on (`halfcheck switches --json`)."""
        return {
            "kind": self.kind,
            "says": self.says,
            "defects": list(self.defects),
            "needs": list(self.needs),
            "profiles": [profile.name for profile in self.profiles],
            "java": list(self.java),
            "read_by": [reader.function for reader in self.readers],
        }


@cache
def switch_records() -> dict[str, SwitchRecord]:
    """All switches by their names, in the order in which they are declared.

    Examples
    --------
    >>> record = switch_records()["flushes_on_stop"]
    >>> record.kind, record.defects, record.needs, [profile.name for profile in record.profiles]
    ('repair', (), ('batches_ops',), ['fixed'])
    """
    readers = _readers()
    found = {}
    for kind, declared in KINDS.items():
        entries = _entries(inspect.getdoc(declared) or "")
        for name in (field.name for field in fields(declared)):
            says = entries[name]
            needs = tuple(re.findall(r"needs `(\w+)`", says))
            found[name] = SwitchRecord(
                name,
                kind,
                says,
                tuple(dict.fromkeys(re.findall(r"(?<!part of )\b[AB]\d\d\b", says))),
                needs,
                _where_it_is_on(name, kind, needs),
                tuple(readers.get(name, ())),
            )
    return found


def _where_it_is_on(name: str, kind: str, needs: tuple[str, ...]) -> tuple[Profile, ...]:
    """The profiles in which it is on; of what releases do, only where it has what it needs."""
    asked = (name, *needs) if kind == "version" else (name,)
    return tuple(one for one in Profile.all() if all(getattr(one.switches, switch) for switch in asked))


def switch_called(name: str) -> SwitchRecord:
    """The record of a switch, by its name.

    Raises `ModelCheckError`, which names what may have been meant, when there is none.
    """
    if re.fullmatch(r"[AB]\d\d|[SLR]\d+(\.\w+)?", name, re.IGNORECASE):
        msg = f"{name} is no switch; halfcheck defects {name} says what repairs it"
        raise ModelCheckError(msg)
    require_known("switch", name, switch_records(), listed_by="halfcheck switches")
    return switch_records()[name]


def turned_in_vain(profile: Profile) -> list[str]:
    """The switches of a profile that were turned although it changes nothing, a sentence each.

    Examples
    --------
    >>> turned_in_vain(Profile.of("5.4.0-settles_once+batches_ops")), turned_in_vain(Profile.of("5.4.0+settles_once"))
    (['settles_once is off in 5.4.0 anyway', 'batches_ops is on in 5.4.0 anyway'], [])
    >>> turned_in_vain(Profile.of("4.9.7+flushes_on_stop"))
    ['flushes_on_stop does nothing in 4.9.7 without batches_ops']
    >>> turned_in_vain(Profile.of("4.9.7+batches_ops+flushes_on_stop"))
    []
    """
    name, after = profile.unturned, profile.switches
    before = Profile.of(name).switches
    found = []
    for switch in dict.fromkeys(turn[1:] for turn in profile.turned):
        missing = [need for need in switch_called(switch).needs if not getattr(after, need)]
        if getattr(before, switch) == getattr(after, switch):
            found.append(f"{switch} is {'on' if getattr(after, switch) else 'off'} in {name} anyway")
        elif getattr(after, switch) and missing:
            found.append(f"{switch} does nothing in {name} without {' and '.join(missing)}")
    return found


def _entries(docstring: str) -> dict[str, str]:
    """Name to text, from the section `Attributes`."""
    section = docstring.partition("Attributes\n----------\n")[2]
    parts = re.split(r"^(\w+) : bool\n", section, flags=re.MULTILINE)[1:]
    return {name: " ".join(text.split()) for name, text in zip(parts[::2], parts[1::2], strict=True)}


def _readers() -> dict[str, list[Reader]]:
    """Switch to the functions that read it as `c.NAME`, module by module."""
    found: dict[str, list[Reader]] = {}
    spec = resources.files("spec")
    folders = (spec, spec.joinpath("chapters"), spec.joinpath("properties"))
    for file in sorted((file for folder in folders for file in folder.iterdir()), key=lambda file: file.name):
        if file.name.endswith(".py"):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            models = _java(ast.get_docstring(tree))
            for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
                java = _java(ast.get_docstring(function)) or models
                reader = Reader(f"{file.name.removesuffix('.py')}.{function.name}", java)
                for name in dict.fromkeys(_read(function)):
                    found.setdefault(name, []).append(reader)
    return found


def _read(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "c":
            yield node.attr


def _java(docstring: str | None) -> tuple[str, ...]:
    """The classes and methods that a docstring names behind `RocketMQ:`, up to the end of its paragraph.

    A method without its class is of the class before it.
    """
    found = re.search(r"RocketMQ: (.+?)(?:\n\n|$)", docstring or "", re.DOTALL)
    text = re.sub(r"\s+(?=#)", " ", " ".join(found[1].split())) if found else ""
    named: list[str] = []
    of_class = ""
    for name, method in re.findall(r"(\b[A-Z][a-z]+[A-Z]\w*(?:\.[A-Z]\w+)?)?(?: ?#([a-z]\w+))?", text):
        of_class = name or of_class
        if name or method:
            named.append(f"{of_class}#{method}" if method else of_class)
    return tuple(dict.fromkeys(named))
