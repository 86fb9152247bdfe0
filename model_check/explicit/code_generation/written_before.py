"""What was written for a machine in an earlier process: kept in the folder of compiled code, by what it is made of.

To lower and to emit a large machine takes a second, and a portfolio has eleven instances. A file is named by the hash
of all that decides the text: the sources of the packages that the machine comes from, what their global names mean, the
steps, the claims and the layout of the instance, this project's own front end and emitter, and the version of Python.
Where one of these stands in no file, as a function that was made at run time, nothing is kept.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from model_check.explicit.code_generation.native import read_summed, write_summed
from model_check.front_end.written_once import modules_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spec.language import Machine, Slot, Step

T = TypeVar("T")

PACKAGES = ("front_end", "explicit/code_generation")
"""Of this project, what decides the text of a machine that is read."""


class WrittenBefore(Generic[T]):
    """Keeps what was written of a machine in a folder.

    Parameters
    ----------
    folder
        Where.
    machine, constants
        Of what; the switches in the constants do not matter.
    steps, slots
        Of the instance.

    Attributes
    ----------
    path
        The file; None where something that decides the text stands in no file.
    """

    def __init__(
        self, folder: Path, machine: Machine, constants: object, steps: tuple[Step, ...], slots: tuple[Slot, ...]
    ) -> None:
        self.path: Path | None = None
        try:
            parts = list(_made_of(machine, constants, steps, slots))
        except _HasNoFileError:
            return
        self.path = folder / f"written_{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:24]}.pickle"

    def __call__(self, write: Callable[[], T]) -> T:
        """What was kept; else what is written now, which is kept."""
        content = None if self.path is None else read_summed(self.path)
        if content is not None:
            kept: T = pickle.loads(content)  # noqa: S301 - of the user's own folder, beside machine code
            return kept
        written = write()
        if self.path is not None:
            write_summed(self.path, pickle.dumps(written))
        return written


class _HasNoFileError(Exception):
    """Something that decides the text stands in no file."""


def _made_of(machine: Machine, constants: object, steps: tuple[Step, ...], slots: tuple[Slot, ...]) -> Iterator[str]:
    """All that decides what is written, as texts."""
    if not is_dataclass(constants) or isinstance(constants, type):
        raise _HasNoFileError
    yield from (sys.version, _own_sources(), repr(machine.switches), repr(machine.symmetric), repr(slots))
    yield from (f"{f.name}={getattr(constants, f.name)!r}" for f in fields(constants) if f.name not in machine.switches)
    yield _named(type(constants))
    yield from map(str, steps)
    for action in machine.actions:
        yield from (_named(action.function), *(f"{name}={_named(show)}" for name, show in action.shows.items()))
    for claim in (*machine.clauses, *machine.witnesses):
        yield from (claim.identifier, claim.clause, _named(claim.function), repr(claim.arguments(constants)))
    yield "" if machine.forget is None else _named(machine.forget)
    packages = {_package(kind) for kind in (type(constants), machine.state)}
    for names in modules_of(machine):
        yield from (
            f"{name}={_named(value)}" for name, value in names.items() if name.isidentifier() and name[:2] != "__"
        )
    yield from map(_sources_of, sorted(packages))


def _named(value: Any) -> str:
    """What a global name means, by where it stands."""
    if isinstance(value, FunctionType):
        if value.__closure__:
            raise _HasNoFileError
        code = value.__code__
        if not Path(code.co_filename).exists():
            raise _HasNoFileError
        return f"{value.__qualname__} {value.__module__}:{code.co_firstlineno} {_sources_of(_package(value))}"
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, frozenset):
        return repr(sorted(map(repr, value)))  # its own order is another one in each process
    return repr(value) if isinstance(value, int | str | bool | tuple | None) else type(value).__qualname__


def _package(of: Any) -> str:
    return str(of.__module__).partition(".")[0]


@cache
def _sources_of(package: str) -> str:
    """A hash of all sources of a package, or of a module that is in none."""
    file = getattr(sys.modules.get(package), "__file__", None)
    if file is None:
        raise _HasNoFileError
    path = Path(file)
    return _hashed(path.parent.rglob("*.py") if path.name == "__init__.py" else [path])


@cache
def _own_sources() -> str:
    here = Path(__file__).parents[2]
    return _hashed(file for package in PACKAGES for file in (here / package).glob("*.py"))


def _hashed(files: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for file in sorted(files):
        found.update(file.read_bytes())
    return found.hexdigest()
