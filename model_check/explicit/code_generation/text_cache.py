"""The emitted text of a machine, and its fingerprint, cached on disk from process to process.

To lower and to emit a large machine takes a second, and a portfolio has eleven instances. A file is named by the hash
of all that decides the text: the sources of the packages that the machine comes from, the values of their global names,
the steps, the claims and the layout of the instance, this project's own front end and emitter, and the version of
Python. Where one of these stands in no file, as a function that was made at run time, nothing is cached.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from files.alone import alone
from model_check.explicit.code_generation.native import read_summed, write_summed
from model_check.front_end.memo import global_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spec.language import Machine, Slot, Step

T = TypeVar("T")

PACKAGES = ("front_end", "explicit/code_generation")
"""The packages of `model_check` that decide the text of a machine."""


def text_file(
    folder: Path,
    machine: Machine,
    constants: object,
    steps: tuple[Step, ...],
    slots: tuple[Slot, ...],
    *,
    more: Iterable[str | Callable[..., object]] = (),
) -> Path | None:
    """The place of a machine's text in a cache, whatever the switches in the constants.

    With `more`, the place of another value, which also these texts and the sources of these functions decide. None
    where something that decides it stands in no file.
    """
    try:
        parts = [*_key_parts(machine, constants, steps, slots), *map(_identity, more)]
    except _HasNoFileError:
        return None
    return folder / f"written_{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:24]}.pickle"


def cached_value(path: Path | None, make: Callable[[], T]) -> T:
    """The value that a file holds; made now and written there, if it is not."""
    if path is None:
        return make()
    content = read_summed(path)
    if content is None:
        with alone(path):
            content = read_summed(path)
            if content is None:
                made = make()
                write_summed(path, pickle.dumps(made))
                return made
    cached: T = pickle.loads(content)  # noqa: S301 - of the user's own folder, beside machine code
    return cached


class _HasNoFileError(Exception):
    """Something that decides the text stands in no file."""


def _key_parts(machine: Machine, constants: object, steps: tuple[Step, ...], slots: tuple[Slot, ...]) -> Iterator[str]:
    """All that decides the text, as texts."""
    if not is_dataclass(constants) or isinstance(constants, type):
        raise _HasNoFileError
    yield from (sys.version, _own_sources(), repr(machine.switches), repr(machine.symmetric), repr(slots))
    yield from (f"{f.name}={getattr(constants, f.name)!r}" for f in fields(constants) if f.name not in machine.switches)
    yield _identity(type(constants))
    yield from map(str, steps)
    for action in machine.actions:
        yield from (_identity(action.function), *(f"{name}={_identity(show)}" for name, show in action.shows.items()))
    for claim in (*machine.clauses, *machine.witnesses):
        yield from (claim.identifier, claim.clause, _identity(claim.function), repr(claim.arguments(constants)))
    yield "" if machine.forget is None else _identity(machine.forget)
    packages = {_package(kind) for kind in (type(constants), machine.state)}
    for names in global_names(machine):
        yield from (
            f"{name}={_identity(value)}" for name, value in names.items() if name.isidentifier() and name[:2] != "__"
        )
    yield from map(_sources_of, sorted(packages))


def _identity(value: Any) -> str:
    """The value of a global name as a text that is the same in each process."""
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
    return _hash_of(path.parent.rglob("*.py") if path.name == "__init__.py" else [path])


@cache
def _own_sources() -> str:
    here = Path(__file__).parents[2]
    return _hash_of(file for package in PACKAGES for file in (here / package).glob("*.py"))


def _hash_of(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()
