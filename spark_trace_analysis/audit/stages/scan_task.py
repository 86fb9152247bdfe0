"""The parameters of an audit's first stage, and the buckets of its rows.

Apart from the stage itself, so that the driver, which only names the tasks, need not load the kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from files.remote_path import Location
    from reference.format.store_paths import StorePaths


_HALF_ROWS = 1024
"""So many places of the half queue in a row share a bucket."""


@dataclass(frozen=True, slots=True)
class ScanTask:
    """The parameters of all tasks of the stage; an unreadable immunity stands for the timeout."""

    paths: StorePaths
    folder: Location
    buckets: int
    timeout_ms: int

    def path(self, kind: str, split: int, suffix: str = "arrow") -> Location:
        """A file of one split."""
        return self.folder / f"{kind}-{split:06d}.{suffix}"


def half_bucket(queue_id: np.ndarray[Any, Any], offset: np.ndarray[Any, Any], buckets: int) -> np.ndarray[Any, Any]:
    """The bucket of places of the half queue."""
    return np.asarray((offset // _HALF_ROWS + queue_id) % buckets)


def key_bucket(key_hash: np.ndarray[Any, Any], buckets: int) -> np.ndarray[Any, Any]:
    """The bucket of transactions."""
    return np.asarray(key_hash.view(np.uint64) % np.uint64(buckets))
