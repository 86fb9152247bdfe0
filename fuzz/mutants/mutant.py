"""A mutant: one replaced text of the broker, of the specification or of a property, and how it must be noticed.

Its package is loaded beside the real one, which stays as it is. Only the edited module and the modules that lean on it
are loaded anew; everything else is shared, and so is every enumeration, so that values of the two can be compared.
"""

from __future__ import annotations

import ast
import builtins
import importlib
from dataclasses import dataclass, replace
from enum import Enum, EnumType
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from files.reading import read_text
from fuzz.lockstep.fuzzed_instances import FUZZED, fuzzed_world
from fuzz.lockstep.pairing import Pairing, driven
from fuzz.search.workloads import USUAL_FAULTS
from model_check.errors import NotInTheLanguage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from model_check.world import World
    from spec.language import Machine


@dataclass(frozen=True, slots=True)
class Edit:
    """One text of a module, and what stands there instead."""

    module: str
    old: str
    new: str


class EditedPackage:
    """The modules that an edit reaches; `NotInTheLanguage` if its text does not stand in the module exactly once."""

    def __init__(self, edit: Edit) -> None:
        found = _source(edit.module).count(edit.old)
        if found != 1:
            msg = f"{edit.old!r} stands in {edit.module} {found} times, not once; say more of what is around it"
            raise NotInTheLanguage(msg)
        self._edit = edit
        self._loaded: dict[str, ModuleType] = {}

    def load(self, name: str) -> ModuleType:
        """The module of this name as it is with the edit."""
        if not self._is_reached(name):
            return importlib.import_module(name)
        if name not in self._loaded:
            module = self._loaded[name] = ModuleType(name)
            source = _source(name)
            if name == self._edit.module:
                source = source.replace(self._edit.old, self._edit.new)
            vars(module)["__builtins__"] = vars(builtins) | {"__import__": self._import}
            exec(compile(source, f"<edited {name}>", "exec"), vars(module))  # noqa: S102
            real = vars(importlib.import_module(name))
            vars(module).update({each: real[each] for each, value in real.items() if isinstance(value, EnumType)})
        return self._loaded[name]

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,  # noqa: A002 (Python's own name)
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """The hook for `import` while a reached module is loaded; the project has absolute imports only."""
        if fromlist and self._is_reached(name):
            return self.load(name)
        module = __import__(name, globals, locals, fromlist, level)
        reached = {part: self.load(f"{name}.{part}") for part in fromlist or () if self._is_reached(f"{name}.{part}")}
        if not reached:
            return module
        beside = ModuleType(name)
        vars(beside).update(vars(module) | reached)
        return beside

    def _is_reached(self, name: str) -> bool:
        return self._edit.module in _leans_on(name)


class MutatedPart(Enum):
    """The part of the project that a mutant breaks."""

    BROKER = "broker"
    SPEC = "spec"
    PROPERTY = "property"


@dataclass(frozen=True)
class Mutant:
    """One deliberate error."""

    name: str
    """Its id in the kill table."""
    part: MutatedPart
    what: str
    resembles: tuple[str, ...]
    """Ids of the catalogue that it is taken from."""
    edit: Edit
    seen_in: frozenset[str]
    """The variables that it touches: the first difference must be in one of them. For a property, the clauses whose
    verdict must change."""
    world: World

    @cached_property
    def pairing(self) -> Pairing:
        """The pair with the error in it; the project's own modules stay as they are."""
        sound = Pairing(self.world)
        if self.part is MutatedPart.BROKER:
            broken = EditedPackage(self.edit).load("reference.broker.broker_controller")
            return replace(sound, make_broker=broken.BrokerController)
        return replace(sound, machine=driven(self.machine))

    @cached_property
    def machine(self) -> Machine:
        """The specification with the error in it."""
        machine: Machine = EditedPackage(self.edit).load("spec.transactional_messages").TRANSACTIONAL_MESSAGES
        return machine


def mutant(
    part: MutatedPart,
    name: str,
    what: str,
    where: str,
    old: str,
    new: str,
    seen_in: str,
    *,
    like: str = "",
    profile: str = "5.3.3",
    faults: tuple[str, ...] = USUAL_FAULTS,
    beside: str = "",
    instance: str = FUZZED.name,
) -> Mutant:
    """A mutant whose lists are text: `seen_in` by commas, the ids it is `like` and the faults `beside` by spaces."""
    variables = frozenset(map(str.strip, seen_in.split(",")))
    edit = Edit(where, old, new)
    world = fuzzed_world(profile, (*faults, *beside.split()), instance)
    return Mutant(name, part, what, tuple(like.split()), edit, variables, world)


@cache
def _leans_on(name: str) -> frozenset[str]:
    """The module and those of its package that it imports, directly or not, when it is run."""
    package = name.partition(".")[0]
    seen: set[str] = set()
    found = [name]
    while found:
        module = found.pop()
        if module not in seen and module.partition(".")[0] == package and _is_module(module):
            seen.add(module)
            found += _imports(module)
    return frozenset(seen)


def _imports(name: str) -> list[str]:
    """Names in the imports at a module's top level; those for types alone stand in a block."""
    imported: list[str] = []
    for statement in ast.parse(_source(name)).body:
        if isinstance(statement, ast.ImportFrom) and statement.module is not None:
            imported += [statement.module, *(f"{statement.module}.{alias.name}" for alias in statement.names)]
    return imported


@cache
def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@cache
def _source(name: str) -> str:
    """A module's text, by its file: the loader may be that of a test runner, which gives none."""
    found = find_spec(name)
    return "" if found is None or not found.origin else read_text(Path(found.origin))
