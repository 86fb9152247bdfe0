"""How a run lies in folders: the names of its manifest and its partitions, and where runs are looked for.

Spark, pandas and DuckDB read the folder of a run as a table: names that begin with ``_`` or ``.`` are passed over.
"""

from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from files.remote_path import Location

MANIFEST: Final = "_manifest.json"

OLDER_MANIFEST: Final = "manifest.json"
"""Its name before tables were documented; readers of folders took it for a file of traces."""

_RUN: Final = "run="


def manifest_of(folder: Location) -> Location:
    """The manifest of a run's folder, under the name that it has there; under today's where there is none."""
    older = folder / OLDER_MANIFEST
    return older if older.is_file() and not (folder / MANIFEST).exists() else folder / MANIFEST


def has_manifest(folder: Location) -> bool:
    """Whether a folder is a run's."""
    return manifest_of(folder).exists()


def run_folders(folder: Location) -> Iterator[Location]:
    """The folder itself if it is a run's, or those of runs in it, or in its partitions, in the order of their names."""
    if has_manifest(folder):
        yield folder
        return
    within = sorted(path for pattern in ("*", f"*=*/{_RUN}*") for path in folder.glob(pattern))
    yield from (path for path in within if not path.name.startswith(".") and path.is_dir() and has_manifest(path))


def run_name(folder: Location) -> str:
    """The name of the run in a folder, as it stands in tables.

    Examples
    --------
    >>> from pathlib import Path
    >>> run_name(Path("traces/5.3.3-crash")), run_name(Path("traces/profile=5.3.3/run=small%20one"))
    ('5.3.3-crash', 'small one')
    """
    name = folder.resolve().name
    return unquote(name.removeprefix(_RUN)) if name.startswith(_RUN) else name
