"""Results of a job's parts, cached until a source or a library changes.

A second run finds them there; a job that was cut short goes on the same way.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from files.reading import read_bytes
from files.writing import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from model_check.processes import Part, Result, Spread

PACKAGES = (
    "spec", "files", "document", "model_check", "reference", "fuzz", "spark_trace_analysis", "conformance", "wire",
    "halfcheck", "traffic",
)  # fmt: skip
_MISSING = object()


class ResultCache:
    """Cache of results that hands out only the missing parts; may stand wherever a `Spread` does.

    Anything that could change a result is in the folder's name. `found` counts results that were there before.
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
    """Sixteen hexadecimal digits of every file of the project, of Python and of all installed libraries.

    Who builds a wheel leaves metadata of this project in its folder, which is installed already.
    """
    libraries = sorted({f"{each.name}=={each.version}" for each in metadata.distributions()})
    digest = hashlib.sha256(" ".join([sys.version, *libraries]).encode())
    for package in PACKAGES:
        found = find_spec(package)
        for root in () if found is None else found.submodule_search_locations or ():
            for path in sorted(Path(root).rglob("*")):
                if path.is_file() and path.parent.name != "__pycache__":
                    digest.update(path.relative_to(root).as_posix().encode() + b"\0" + read_bytes(path) + b"\0")
    return digest.hexdigest()[:16]


def _read(place: Path) -> Any:
    try:
        return pickle.loads(read_bytes(place))  # noqa: S301 (this project's own file, below the user's own folder)
    except FileNotFoundError:
        return _MISSING


def _write(place: Path, result: object) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    write_whole(place, pickle.dumps(result))
