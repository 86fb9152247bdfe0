"""The stores that real brokers wrote, as test vectors: finds them and opens what is beside them.

``conformance/golden/VERSION/SCENARIO`` is a store directory as it is; the logs beside it are gzip files.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from conformance.recorded_run import RecordedRun

GOLDEN = Path(__file__).with_name("golden")
"""The folder of all golden stores."""


@dataclass(frozen=True)
class GoldenStore(RecordedRun):
    """One store, and what was recorded while it was written (``conformance/golden/README.md``)."""

    @property
    def version(self) -> str:
        """Of the broker and of the client that drove it."""
        return self.path.parent.name

    @property
    def scenario(self) -> str:
        """Its folder's name."""
        return self.path.name

    @property
    def name(self) -> str:
        """``version/scenario``."""
        return f"{self.version}/{self.scenario}"

    @property
    def keeps_halves_in_rocksdb(self) -> bool:
        """Whether its halves lie in RocksDB instead of the half queue."""
        return (self.path / "consumequeue" / "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC").is_dir()


def golden_path(path: Path) -> Path:
    """A path below ``conformance/golden`` where there is no checkout: the same file or folder as it was installed.

    Any other path is given back.

    Examples
    --------
    >>> golden_path(Path("/backup/store")).as_posix()
    '/backup/store'
    """
    if path.parts[:2] != ("conformance", "golden") or path.exists():
        return path
    installed = GOLDEN.joinpath(*path.parts[2:])
    return installed if installed.exists() else path


def golden_stores(*, in_rocksdb: bool = False) -> list[GoldenStore]:
    """The golden stores that the reference broker can write again, or those with halves in RocksDB, which it can't."""
    return [store for store in _all_stores() if store.keeps_halves_in_rocksdb is in_rocksdb]


def golden_store(version: str, scenario: str) -> GoldenStore:
    """One golden store; raises `LookupError` if there is none of that name."""
    for store in _all_stores():
        if (store.version, store.scenario) == (version, scenario):
            return store
    message = f"there is no golden store {version}/{scenario}"
    raise LookupError(message)


def _all_stores() -> list[GoldenStore]:
    return [GoldenStore(path.parent) for path in sorted(GOLDEN.glob("*/*/meta.json"))]
