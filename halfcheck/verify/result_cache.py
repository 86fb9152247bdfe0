"""What parts of a job have found, kept until a source, a store or a library changes: a second run finds it there.

A job that was cut short goes on the same way.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from halfcheck.verify.processes import Spread

Part = TypeVar("Part")
Result = TypeVar("Result")

PACKAGES = ("spec", "model_check", "reference", "fuzz", "spark_trace_analysis", "conformance", "halfcheck")
_MISSING = object()


class ResultCache:
    """Hands out only the parts whose results are not in the folder yet; may stand wherever a `Spread` does.

    Attributes
    ----------
    folder : Path
        Of this state of the project: anything that could change a result is in its name.
    found : int
        Results that were there before.
    """

    def __init__(self, folder: Path, spread: Spread) -> None:
        self.folder = folder / project_fingerprint()
        self.found = 0
        self._spread = spread

    def __call__(self, function: Callable[[Part], Result], parts: Iterable[Part], /) -> Iterator[Result]:
        """Give the results in the order of the parts, which `repr` tells apart; what is missing is handed out now."""
        places = [(part, self._place(function, part)) for part in parts]
        before = {place: result for _, place in places if (result := _read(place)) is not _MISSING}
        self.found += len(before)
        missing = [part for part, place in places if place not in before]
        return self._in_order([place for _, place in places], before, self._spread(function, missing))

    def _in_order(self, places: list[Path], before: dict[Path, Result], found: Iterator[Result]) -> Iterator[Result]:
        for place in places:
            if place in before:
                yield before[place]
            else:
                result = next(found)
                _write(place, result)
                yield result

    def _place(self, function: Callable[..., object], part: object) -> Path:
        return self.folder / f"{hashlib.sha256(f'{function.__qualname__} {part!r}'.encode()).hexdigest()[:32]}.pickle"


def project_fingerprint() -> str:
    """Sixteen hexadecimal digits of every file of the project, of Python and of all installed libraries."""
    libraries = sorted(f"{each.name}=={each.version}" for each in metadata.distributions())
    digest = hashlib.sha256(" ".join([sys.version, *libraries]).encode())
    for package in PACKAGES:
        found = find_spec(package)
        for root in () if found is None else found.submodule_search_locations or ():
            for path in sorted(Path(root).rglob("*")):
                if path.is_file() and path.parent.name != "__pycache__":
                    digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _read(place: Path) -> Any:
    try:
        return pickle.loads(place.read_bytes())  # noqa: S301 (this project's own file, below the user's own folder)
    except FileNotFoundError:
        return _MISSING


def _write(place: Path, result: object) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    unfinished = place.with_suffix(f".{os.getpid()}.unfinished")
    unfinished.write_bytes(pickle.dumps(result))
    unfinished.replace(place)
