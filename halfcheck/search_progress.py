"""The live line of a search on stderr: states, states a second, depth, queue."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from model_check.explicit.search import Progress


def words(progress: Progress) -> str:
    """How far a search is, as one line."""
    speed = progress.distinct / max(progress.seconds, 1e-9)
    rate = f"{speed / 1e6:.2f} M states/s"
    return f"{progress.distinct:,} states · {rate} · depth {progress.depth} · queue {progress.queue:,}"


@contextmanager
def search_progress(title: str, *, wanted: bool = True) -> Iterator[Callable[[Progress], None] | None]:
    """Give a function that shows how far a search is; `None` when nobody watches (no terminal, or not wanted).

    Parameters
    ----------
    title
        What is searched.
    wanted
        False with `--json`.
    """
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{title}: making the search ready for this instance") as status:
        yield lambda progress: status.update(f"{title}: {words(progress)}")
