"""A package with one text of one module replaced, beside the real one, which stays as it is.

Only the edited module and the modules that lean on it are loaded anew; everything else is shared, and so is every
enumeration, so that values of the two packages can be compared.
"""

from __future__ import annotations

import ast
import builtins
import importlib
from dataclasses import dataclass
from enum import EnumType
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from model_check.errors import NotInTheLanguage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Edit:
    """One text of a module, and what stands there instead."""

    module: str
    old: str
    new: str


class EditedPackage:
    """The modules that an edit reaches.

    Parameters
    ----------
    edit
        What is replaced. Raises `NotInTheLanguage` when the text does not stand in the module exactly once.
    """

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
        """What `import` calls while a reached module is loaded; the project has absolute imports only."""
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
    """What a module names in imports at its top level; what only types need stands in a block."""
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
    found = find_spec(name)
    loader: Any = None if found is None else found.loader
    return "" if loader is None else (loader.get_source(name) or "")
